"""Floating frames: linear conditions B d = 0 that take the rigid motion out of a part's deformation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.errors import ModelError
from flexmbs.fem.rigid import rigid_motions
from flexmbs.mesh.mesh import Which
from flexmbs.reduction.interfaces import Interface, frame_rows, named
from flexmbs.reduction.part import Part

Array = NDArray[np.float64]

MEAN = "mean axes"
"""What mean axes are called in words."""


@dataclass(frozen=True)
class Tangent:
    """The frame moves with a set (by default the first interface): its mean displacement and rotation are zero."""

    at: Which | int | None = None


@dataclass(frozen=True)
class Chord:
    """The frame's line through two sets (by default the first two interfaces) is the body's own.

    The first does not move, the second only along the line; the twist about it is zero in the mean of both.
    """

    first: Which | int | None = None
    second: Which | int | None = None


@dataclass(frozen=True)
class MeanAxes:
    """Buckens' frame: the deformation has no momentum and no moment of momentum, S d = 0 and G(0) d = 0."""


FloatingFrame = Tangent | Chord | MeanAxes


def floating_frame(part: Part, given: Any, places: tuple[Interface, ...], held: bool) -> FloatingFrame | None:
    """Read ``frame=``: "tangent", "chord", "mean", one of the declarations, or None for what fits the part."""
    if held:
        if given not in (None, "tangent"):
            raise ModelError(
                f"{part.name}: where a part is fixed its frame is held too; leave frame= out, or fixed= for {given!r}."
            )
        return None
    words = {"tangent": Tangent(), "chord": Chord(), "mean": MeanAxes()}
    if given is None:
        return Chord() if len(places) == 2 else MeanAxes()
    frame = words.get(given) if isinstance(given, str) else given
    if not isinstance(frame, Tangent | Chord | MeanAxes):
        raise ModelError(
            f'{part.name}: frame= is "tangent", "chord", "mean", Tangent(set), Chord(set, set) or MeanAxes(), '
            f"not {given!r}."
        )
    return frame


def reference_rows(part: Part, frame: FloatingFrame, places: tuple[Interface, ...]) -> tuple[sp.csr_array, str]:
    """B with B d = 0, six rows (three in the plane), and the frame in words."""
    if isinstance(frame, MeanAxes):
        rows = part.momentum(rigid_motions(part)).T
        return sp.csr_array(rows), MEAN
    if isinstance(frame, Tangent):
        at = _place(part, frame.at, places, 0, "tangent")
        rows, text = frame_rows(part, at)[1], f"tangent at {named(at)}"
        return sp.csr_array(rows[[0, 1, 5]] if part.axes == 2 else rows), text
    one = _place(part, frame.first, places, 0, "chord")
    two = _place(part, frame.second, places, 1, "chord")
    (start, a), (end, b) = frame_rows(part, one), frame_rows(part, two)
    line = end - start
    length = float(np.linalg.norm(line))
    if length <= 1e-9 * part.mesh.size:
        raise ModelError(f"{part.name}: a chord needs two places; {named(one)} and {named(two)} are at the same one.")
    along = line / length
    text = f"chord from {named(one)} to {named(two)}"
    if part.axes == 2:
        across = sp.csr_array(np.array([[-along[1], along[0]]]))
        return sp.csr_array(sp.vstack([a[:2], across @ b[:2]])), text
    across = sp.csr_array(np.linalg.svd(along[None, :])[2][1:])
    twist = sp.csr_array(along[None, :] / 2) @ (a[3:] + b[3:])
    return sp.csr_array(sp.vstack([a[:3], across @ b[:3], twist])), text


def _place(part: Part, given: Any, places: tuple[Interface, ...], number: int, kind: str) -> Any:
    if given is not None:
        return given
    if number >= len(places):
        raise ModelError(
            f"{part.name}: a {kind} frame needs {number + 1} interface{'s' if number else ''}, and there "
            f"{'is one' if len(places) == 1 else 'are none'}; name the sets, e.g. "
            + ('Tangent("set").' if kind == "tangent" else 'Chord("one", "other").')
        )
    nodes = places[number].nodes
    return places[number].name if places[number].name in part.mesh.sets else nodes
