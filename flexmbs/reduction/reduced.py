"""ReducedPart: a part with few coordinates, and everything its body needs of it as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ModelError
from flexmbs.mesh.mesh import Mesh, Which
from flexmbs.nullspace.readonly import frozen
from flexmbs.projection import Projection
from flexmbs.projection.model import NAMES
from flexmbs.reduction.constants import ModalConstants
from flexmbs.reduction.interfaces import frame_rows, named
from flexmbs.reduction.part import Part
from flexmbs.reduction.stiffening import LoadCases
from flexmbs.reduction.table import ModeRow, written

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FrameShapes:
    """A frame on a flexible part: ``position`` (3,), and its small displacement and rotation (3, r) each from d.

    ``second`` (6, r, r) is the part of second order, ½ dᵀ second d, of displacement and rotation (foreshortening): what
    makes the reactions at an interface stiffen the part. Known for interfaces of a part with stiffening, else zero.
    """

    name: str
    position: Array
    displacement: Array
    rotation: Array
    second: Array

    def __post_init__(self) -> None:
        for key in ("position", "displacement", "rotation", "second"):
            object.__setattr__(self, key, frozen(np.array(getattr(self, key), dtype=float, order="C")))


@dataclass(frozen=True, eq=False)
class ReducedPart:
    """A part in reduced coordinates d, orthonormal in its mass: M = 1, K and D diagonal, no rigid motion in d.

    Attributes
    ----------
    basis : Ψ (nodal coordinates, r): nodal coordinates = Ψ d.
    constants : the integrals of the equations of motion.
    cases : unit loads with their geometric stiffness, static corrections and errors.
    interfaces : names of the interfaces, in order.
    frames : frames by name: the interfaces and all sets of the mesh.
    reference : the floating frame in words.
    rows : what each coordinate is; see ``modes_table``.
    neglected : frequency [Hz] of the first component mode that was left out (infinite: none was).
    part : K, M and elements of all nodes; None for a part that was loaded from a file.
    loads : nodal forces (nodal coordinates,) of the load sets, by name.
    """

    name: str
    mesh: Mesh
    dofs_per_node: int
    basis: Array
    constants: ModalConstants
    cases: LoadCases
    interfaces: tuple[str, ...]
    frames: Mapping[str, FrameShapes]
    reference: str
    rows: tuple[ModeRow, ...]
    neglected: float
    part: Part | None = field(default=None, repr=False)
    loads: Mapping[str, Array] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "basis", frozen(np.array(self.basis, dtype=float, order="C")))
        object.__setattr__(self, "frames", MappingProxyType(dict(self.frames)))
        object.__setattr__(self, "loads", MappingProxyType({k: frozen(np.array(x)) for k, x in self.loads.items()}))

    def __repr__(self) -> str:
        f = self.constants.frequencies
        ends = f"{f[0]:.4g} to {f[-1]:.4g} Hz" if len(f) else "none"
        return f"<ReducedPart {self.name!r}: {len(f)} coordinates, {ends}, {self.reference}>"

    @property
    def size(self) -> int:
        """Number of reduced coordinates r."""
        return self.basis.shape[1]

    @property
    def axes(self) -> int:
        """Directions in which it moves: 2 for plane parts, else 3."""
        return 2 if self.dofs_per_node == 2 else 3

    @cached_property
    def projection(self) -> Projection:
        """Nodal coordinates from reduced ones."""
        return Projection.basis(self.basis)

    def displacement(self, d: ArrayLike) -> Array:
        """Nodal coordinates (nodes, per node) of reduced ones (r,)."""
        given = np.asarray(d, dtype=float)
        if given.shape != (self.size,):
            raise ModelError(f"{self.name}: {self.size} reduced coordinates are needed, not shape {given.shape}.")
        return np.asarray(self.basis @ given).reshape(self.mesh.n_nodes, self.dofs_per_node)

    def frame(self, which: Which | int) -> FrameShapes:
        """The frame on a set, a node or several nodes: position, displacement and rotation from d."""
        if isinstance(which, str) and which in self.frames:
            return self.frames[which]
        if self.part is None:
            if isinstance(which, str):
                raise ModelError(f"{self.name}: no set {which!r}; it has {', '.join(map(repr, self.frames))}.")
            raise ModelError(f"{self.name}: a part that was loaded has frames on its sets only, not on {which!r}.")
        return frame_shapes(self.part, self.basis, which)

    def frame_at(self, point: ArrayLike) -> FrameShapes:
        """The frame at a point: it moves rigidly with the nearest node and those around it."""
        where = np.zeros(3)
        given = np.asarray(point, dtype=float)
        if given.shape not in ((2,), (3,)) or not np.isfinite(given).all():
            raise ModelError(f"{self.name}: a point is two or three numbers, not {point!r}.")
        where[: len(given)] = given
        near = self.frame(self.mesh.nearest_node(where))
        lever = where - near.position
        shift = np.cross(near.rotation, lever, axisa=0).T  # θ × lever
        return FrameShapes(f"point {where}", where, near.displacement + shift, near.rotation, near.second)

    def modes_table(self) -> str:
        """What each coordinate is, with frequency, effective masses and error, as a table of text."""
        return written(self.rows, self.neglected, self.cases, self.axes)


def frame_shapes(
    part: Part, basis: Array, which: Any, name: str | None = None, cases: LoadCases | None = None
) -> FrameShapes:
    """Rows of a frame in reduced coordinates; of an interface with its unit load cases, by its name."""
    position, rows = frame_rows(part, which)
    values = np.asarray(rows @ basis)
    r = basis.shape[1]
    second = np.zeros((6, r, r))
    if cases is not None and len(cases.K_g):
        for k, label in enumerate(NAMES):
            if f"{name} {label}" in cases.names:
                second[k] = -cases.K_g[cases.names.index(f"{name} {label}")]
    return FrameShapes(name or named(which), position, values[:3], values[3:], second)
