"""The plots of a page: energies, reactions, deformation and stress, or what the user asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import AnalysisError
from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.joint import Joint
from flexmbs.results import Result
from flexmbs.view.flesh import Flesh
from flexmbs.view.plots import LINES, _curves, _scaled
from flexmbs.view.report_packing import floats
from flexmbs.view.units import with_prefix

Array = NDArray[np.float64]

NAMED = ("energies", "reactions", "moments", "drives", "coordinates", "deformation", "stress")
FIRST = ("energies", "reactions", "drives", "deformation", "stress")
"""Plots of a page where none were asked for."""
POINTS = 1500
"""Points of a curve; of longer ones the least and largest values of short intervals are drawn."""
SEVERAL = 8
"""Curves of one plot; of more joints those with the largest reactions are taken."""


@dataclass(frozen=True, eq=False)
class Plot:
    """Curves over the same times: name and values (time,) of each; ``label`` names the axis, with its unit."""

    title: str
    label: str
    t: Array
    curves: tuple[tuple[str, Array], ...]

    def entry(self) -> dict[str, Any]:
        """What the page is told."""
        drawn = []
        for k, (name, values) in enumerate(self.curves):
            t, y = thinned(self.t, values)
            dashed = {"dashed": True} if name in ("supplied", "dissipated") and self.title == "Energy" else {}
            drawn.append({"name": name, "color": LINES[k % len(LINES)], "t": floats(t), "y": floats(y)} | dashed)
        return {"title": self.title, "label": self.label, "curves": drawn}


@dataclass(frozen=True, eq=False)
class Seen:
    """What is known of the surfaces of flexible bodies, by number, at the times shown.

    ``stress`` (time, points) at times ``stress_t`` is in the unit that its ``stress_title`` ends with; ``worst`` is the
    largest [Pa] of all instants of the result, and its time.
    """

    t: Array
    elastic: Sequence[Array]
    flesh: dict[int, Flesh]
    stress: dict[int, Array]
    stress_t: Array
    stress_title: str
    worst: dict[int, tuple[float, float]]


def plots(result: Result, asked: Any, seen: Seen) -> list[Plot]:
    """The plots asked for; by default those of ``FIRST`` that the mechanism has."""
    if asked is None:
        if len(result.t) == 1:
            return []  # a position has no histories
        found = [_named(result, name, seen) for name in FIRST]
        return [plot for plot in found if plot is not None]
    out = []
    for one in asked if isinstance(asked, list | tuple) and not _is_pair(asked) else [asked]:
        if isinstance(one, str):
            plot = _named(result, one, seen)
            if plot is None:
                raise AnalysisError(f"plots: there is no {one!r}: {_why(result, one)}.")
            out.append(plot)
        else:
            out.append(_own(result, one))
    return out


def _is_pair(asked: Any) -> bool:
    return isinstance(asked, tuple) and len(asked) == 2 and isinstance(asked[0], str) and not isinstance(asked[1], str)


def _own(result: Result, quantity: Any) -> Plot:
    """A quantity as ``view.plot`` takes it."""
    curves = [c for one in (quantity if isinstance(quantity, list) else [quantity]) for c in _curves(result, one)]
    title = curves[0][0] if len(curves) == 1 else ", ".join(dict.fromkeys(n.partition(":")[0] for n, _, _ in curves))
    return Plot(title, _label(curves), result.t, tuple((name, values) for name, _, values in curves))


def _label(curves: Sequence[tuple[str, str, Array]]) -> str:
    """One label for all: their common one, or only their common unit, or all of them."""
    labels = list(dict.fromkeys(label for _, label, _ in curves))
    units = {label.partition("[")[2] for label in labels}
    return f"[{units.pop()}" if len(labels) > 1 and len(units) == 1 and "" not in units else " / ".join(labels)


def _named(result: Result, name: str, seen: Seen) -> Plot | None:
    """A plot by its name, None if the mechanism has nothing to show in it."""
    if name == "energies":
        return _energies(result)
    if name in ("reactions", "moments"):
        return _reactions(result, name)
    if name == "drives":
        return _drives(result)
    if name == "coordinates":
        return _coordinates(result)
    if name == "deformation":
        return _deformation(result, seen)
    if name == "stress":
        return _stress(result, seen)
    raise AnalysisError(f"plots: {name!r} is no plot; there are {', '.join(NAMED)}, and all that view.plot takes.")


def _why(result: Result, name: str) -> str:
    if name in ("reactions", "moments", "drives") and not result.forces_known:
        return "kinematics computes no forces, ask inverse_dynamics"
    return {
        "reactions": "the mechanism has no joints",
        "moments": "no joint exerts a moment",
        "drives": "the mechanism has no drives",
        "coordinates": "no joint has a coordinate",
        "deformation": "no body deforms",
        "stress": "no flexible body has elements",
    }[name]


def _energies(result: Result) -> Plot:
    energy = result.energy
    named = {"total": energy.total, "kinetic": energy.kinetic, "potential": energy.potential}
    for name in ("strain", "supplied", "dissipated") if result.forces_known else ("strain",):
        values = getattr(energy, name)
        if np.abs(values).max(initial=0.0) > 1e-9 * max(np.abs(energy.kinetic).max(initial=0.0), 1e-300):
            named[name] = values
    scaled, unit = _scaled(np.stack(list(named.values()), axis=1), "J")
    return Plot("Energy", f"energy [{unit}]", result.t, tuple(zip(named, scaled.T, strict=True)))


def _reactions(result: Result, name: str) -> Plot | None:
    """Sizes of the forces or moments of joints."""
    if not result.forces_known:
        return None
    sizes = {}
    for joint in result.system.joints:
        if isinstance(joint, Joint):
            both = result.reaction(joint)
            half = 2 if both.shape[1] == 3 else 3
            sizes[joint.name] = np.linalg.norm(both[:, :half] if name == "reactions" else both[:, half:], axis=1)
    largest = sorted(sizes, key=lambda key: -sizes[key].max(initial=0.0))[:SEVERAL]
    top = max((sizes[key].max(initial=0.0) for key in largest), default=0.0)
    kept = [key for key in sizes if key in largest and sizes[key].max(initial=0.0) > 1e-6 * top]
    if not kept:
        return None
    scaled, unit = _scaled(np.stack([sizes[key] for key in kept], axis=1), "N" if name == "reactions" else "N m")
    title, label = ("Reaction forces", "force") if name == "reactions" else ("Reaction moments", "moment")
    return Plot(title, f"{label} [{unit}]", result.t, tuple(zip(kept, scaled.T, strict=True)))


def _drives(result: Result) -> Plot | None:
    if not result.forces_known:
        return None
    drives = [j for j in result.system.joints if isinstance(j, Drive | Coupling)][:SEVERAL]
    if not drives:
        return None
    curves = [c for drive in drives for c in _curves(result, drive)]
    return Plot("Drives", _label(curves), result.t, tuple((name, values) for name, _, values in curves))


def _coordinates(result: Result) -> Plot | None:
    found = [getattr(j, key, None) for j in result.system.joints for key in ("angle", "distance")]
    measures = [m for m in found if m is not None and not callable(m)][:SEVERAL]
    if not measures:
        return None
    curves = [c for m in measures for c in _curves(result, m)]
    return Plot("Joint coordinates", _label(curves), result.t, tuple((name, values) for name, _, values in curves))


def _deformation(result: Result, seen: Seen) -> Plot | None:
    """Largest deformation of the surface of each flexible body, measured from its joints."""
    sizes = {
        result.system.bodies[b].name: np.array([piece.deformation(d).max() for d in seen.elastic[b]])
        for b, piece in list(seen.flesh.items())[:SEVERAL]
    }
    if not sizes:
        return None
    scaled, unit = with_prefix(np.stack(list(sizes.values()), axis=1), "m")
    return Plot("Largest deformation", f"deformation [{unit}]", seen.t, tuple(zip(sizes, scaled.T, strict=True)))


def _stress(result: Result, seen: Seen) -> Plot | None:
    """Largest equivalent stress on the surface of each flexible body."""
    if not seen.stress:
        return None
    names = [result.system.bodies[b].name for b in seen.stress]
    tops = [history.max(axis=1) for history in seen.stress.values()]
    title = "Largest " + seen.stress_title.partition("[")[0].strip().removeprefix("largest ")
    return Plot(title, seen.stress_title, seen.stress_t, tuple(zip(names, tops, strict=True))[:SEVERAL])


def thinned(t: Array, y: Array) -> tuple[Array, Array]:
    """The curve with at most ``POINTS`` points, keeping the least and largest values of short intervals."""
    if len(t) <= POINTS:
        return t, y
    edges = np.linspace(0, len(t), POINTS // 2 + 1).astype(int)
    kept = {0, len(t) - 1}
    for a, b in pairwise(edges):
        kept |= {a + int(y[a:b].argmin()), a + int(y[a:b].argmax())}
    some = sorted(kept)
    return t[some], y[some]
