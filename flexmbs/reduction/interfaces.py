"""Interfaces and frames of a part: six rigid motions of a set (three in the plane) as rows over nodal coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.errors import ModelError, ProjectionError
from flexmbs.mesh.mesh import Which
from flexmbs.projection import Averaged, Projection, averaging_rows
from flexmbs.projection.model import NAMES
from flexmbs.reduction.part import Part

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Interface:
    """Where a part is held on to: a rigid set, an averaging one, or a single node.

    ``rows`` give its coordinates from nodal ones, (6, n); plane parts 3, single nodes without rotations 3 or 2.
    ``columns`` give the nodal coordinates of its nodes from its own, None for averaging sets. ``labels`` name its
    coordinates: x, y, z, rx, ry, rz.
    """

    name: str
    nodes: Index
    position: Array
    rows: sp.csr_array
    columns: sp.csr_array | None
    labels: tuple[str, ...]


def interface(part: Part, given: Any) -> Interface:
    """Read one interface: a set name, ``Averaged``, a node number or several."""
    averaged = isinstance(given, Averaged)
    which: Any = given.nodes if isinstance(given, Averaged) else given
    name = named(which)
    numbers = part.nodes([int(which)] if isinstance(which, int | np.integer) else which)
    if not len(numbers):
        raise ModelError(f"{part.name}: interface {name} holds no nodes; check the selection.")
    if len(numbers) == 1 and part.dofs_per_node != 6:
        p = part.dofs_per_node
        columns = sp.csr_array((np.ones(p), (numbers[0] * p + np.arange(p), np.arange(p))), shape=(part.n_dofs, p))
        return Interface(name, numbers, part.points[numbers[0]], sp.csr_array(columns.T), columns, NAMES[:p])
    target = which if isinstance(which, str) else numbers
    labels = ("x", "y", "rz") if part.axes == 2 else NAMES
    try:
        rows, position = averaging_rows(part, target)
        if averaged:
            return Interface(name, numbers, position, rows, None, labels)
        count = rows.shape[0]
        rigid = sp.csr_array(Projection.rigid(part, target).matrix[:, -count:])
    except ProjectionError as error:
        raise ModelError(f"{part.name}: {error}") from error
    return Interface(name, numbers, position, rows, rigid, labels)


def interfaces(part: Part, given: Any) -> tuple[Interface, ...]:
    """Read all interfaces: one or a list. Rigid ones must not share nodes with any other."""
    if given is None:
        return ()
    if isinstance(given, str | Averaged | int | np.integer):
        given = [given]
    if not isinstance(given, Iterable):
        raise ModelError(f"{part.name}: interfaces are sets, Averaged(set) or node numbers, in a list, not {given!r}.")
    found = tuple(interface(part, item) for item in given)
    for k, one in enumerate(found):
        for other in found[:k]:
            if one.name == other.name:
                raise ModelError(f"{part.name}: interface {one.name!r} is listed twice.")
            shared = np.intersect1d(one.nodes, other.nodes)
            if len(shared) and not (one.columns is None and other.columns is None):
                raise ModelError(
                    f"{part.name}: interfaces {other.name!r} and {one.name!r} share {len(shared)} nodes (the first is "
                    f"node {shared[0]}); rigid ones must not touch. Make them averaging, or take fewer nodes."
                )
    return found


def named(which: Any) -> str:
    """What an interface or frame is called: its set, or its nodes."""
    if isinstance(which, Averaged):
        return named(which.nodes)
    if isinstance(which, str):
        return which
    if isinstance(which, Sequence) and which and all(isinstance(w, str) for w in which):
        return "+".join(which)
    numbers = np.atleast_1d(np.asarray(which)).ravel()
    return "node " + ", ".join(str(n) for n in numbers[:3]) + (" ..." if len(numbers) > 3 else "")


def frame_rows(part: Part, which: Which | int) -> tuple[Array, sp.csr_array]:
    """Position of a set, and its mean displacement and rotation as rows (6, n) over nodal coordinates.

    Nodes of beams have rotations of their own; for a node of a solid, or nodes on one line, the rotation is that of
    the nodes around them. In the plane z, rx and ry are zero.
    """
    numbers = part.nodes([int(which)] if isinstance(which, int | np.integer) else which)
    if not len(numbers):
        raise ModelError(f"{part.name}: a frame needs nodes; the selection {which!r} is empty.")
    target = which if isinstance(which, str) else numbers
    p, axes = part.dofs_per_node, part.axes
    try:
        rows, position = averaging_rows(part, target)
    except ProjectionError:
        weights = part.weights(target)
        position = weights @ part.points[numbers]
        spots = (numbers * p)[:, None] + np.arange(axes)
        mean = sp.csr_array(
            (np.repeat(weights, axes), (np.tile(np.arange(axes), len(numbers)), spots.ravel())),
            shape=(axes, part.n_dofs),
        )
        around = part.neighbours(numbers)
        try:
            turn, _ = averaging_rows(part, around)
        except ProjectionError as error:
            raise ModelError(
                f"{part.name}: {named(which)} and the nodes around it define no rotation: {error}"
            ) from error
        rows = sp.csr_array(sp.vstack([mean, turn[axes:]]))
    if axes == 2:
        empty = sp.csr_array((3, part.n_dofs))
        rows = sp.csr_array(sp.vstack([rows[:2], empty, rows[2:]]))
    return np.asarray(position), sp.csr_array(rows)
