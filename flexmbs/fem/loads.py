"""Loads on a part: each gives the nodal load vector Q, and, where it follows the deformation, a stiffness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import AnalysisError
from flexmbs.fem.blocks import Blocks
from flexmbs.fem.continuum import Continuum
from flexmbs.fem.elements import Elements
from flexmbs.mesh.integrals import face_geometry
from flexmbs.mesh.mesh import Which
from flexmbs.mesh.topology import block_starts, group_faces
from flexmbs.projection import averaging_rows
from flexmbs.rotations import skew

Array = NDArray[np.float64]


@runtime_checkable
class Load(Protocol):
    """What an analysis asks of a load."""

    def vector(self, elements: Elements) -> Array:
        """Nodal load vector Q (coordinates,)."""

    def stiffness(self, elements: Elements) -> Blocks | None:
        """Change of the load with the deformation, on the side of the stiffness; None where there is none."""


class _DeadLoad:
    """A load that does not follow the deformation."""

    def stiffness(self, elements: Elements) -> Blocks | None:
        """None."""
        return None


@dataclass(frozen=True)
class Force(_DeadLoad):
    """A force, and a moment about the set's centroid, spread over the nodes of a set by their share of its area."""

    nodes: Which
    force: ArrayLike
    moment: ArrayLike | None = None

    def vector(self, elements: Elements) -> Array:
        """Q with the given resultants."""
        d, axes = elements.dofs_per_node, elements.axes
        force = _components(self.force, axes, f"force on {self.nodes!r}")
        out = np.zeros((elements.mesh.n_nodes, d))
        nodes = elements.nodes(self.nodes)
        if not len(nodes):
            raise AnalysisError("force: the set of nodes given is empty; check the selection.")
        out[nodes, :axes] = elements.weights(self.nodes)[:, None] * force
        if self.moment is None:
            return out.ravel()
        moment = _moment(self.moment, axes, f"moment on {self.nodes!r}")
        if d == 6 and len(nodes) == 1:
            out[nodes[0], 3:] += moment
            return out.ravel()
        rows, _ = averaging_rows(elements, self.nodes)
        return np.asarray(out.ravel() + rows.T @ np.concatenate([np.zeros(axes), moment]))


@dataclass(frozen=True)
class Traction(_DeadLoad):
    """Force per area [N/m²] on the faces of a set: a vector, or a function of (x, y, z) giving its components."""

    faces: Which
    value: ArrayLike | Callable[..., Any]

    def vector(self, elements: Elements) -> Array:
        """Q = ∫ Nᵀ t dA."""
        axes = elements.axes

        def at(x: Array, area: Array) -> Array:
            size = np.linalg.norm(area, axis=2, keepdims=True)
            label = f"traction on {self.faces!r}"
            if not callable(self.value):
                return _components(self.value, axes, label) * size
            given = self.value(*np.moveaxis(x, 2, 0))
            if not isinstance(given, tuple | list | np.ndarray) or len(given) not in (axes, 3):
                raise AnalysisError(f"{label}: the function must return {axes} components, not {_kind(given)}.")
            field = np.stack([_field(component, x, label) for component in given], axis=-1)
            if field[..., axes:].any():
                raise AnalysisError(f"{label}: a plane mesh takes loads in its plane; the function gives one along z.")
            return np.asarray(field[..., :axes] * size)

        return _face_load(elements, self.faces, at)


@dataclass(frozen=True)
class Pressure(_DeadLoad):
    """Pressure [Pa] on the faces of a set, positive into the body: a number, or a function of (x, y, z)."""

    faces: Which
    value: float | Callable[..., Any]

    def vector(self, elements: Elements) -> Array:
        """Q = -∫ Nᵀ p n dA."""

        def at(x: Array, area: Array) -> Array:
            p = self.value(*np.moveaxis(x, 2, 0)) if callable(self.value) else self.value
            return -_field(p, x, f"pressure on {self.faces!r}")[..., None] * area[..., : elements.axes]

        return _face_load(elements, self.faces, at)


@dataclass(frozen=True)
class Gravity(_DeadLoad):
    """Weight: the acceleration of free fall g [m/s²], e.g. (0, 0, -9.81)."""

    acceleration: ArrayLike = (0.0, 0.0, -9.81)

    def vector(self, elements: Elements) -> Array:
        """Q = m_O g."""
        return np.asarray(
            elements.assemble(elements.mass_origin()) @ _components(self.acceleration, elements.axes, "gravity")
        )


@dataclass(frozen=True)
class Acceleration(_DeadLoad):
    """Inertia load of a frame whose origin accelerates by ``linear`` and that turns with ``angular`` acceleration."""

    linear: ArrayLike = (0.0, 0.0, 0.0)
    angular: ArrayLike = (0.0, 0.0, 0.0)

    def vector(self, elements: Elements) -> Array:
        """Q = -m_O a - q(ε)."""
        a = _components(self.linear, elements.axes, "acceleration")
        origin = elements.assemble(elements.mass_origin()) @ a
        return np.asarray(-origin - elements.assemble(elements.load_epsilon(self.angular)))


@dataclass(frozen=True)
class Centrifugal:
    """Centrifugal load of a frame turning steadily with angular velocity ω [rad/s] about an axis through ``center``.

    It grows with the displacement, K(ω) d (spin softening); ``softening=False`` leaves that out.
    """

    omega: ArrayLike
    center: ArrayLike = (0.0, 0.0, 0.0)
    softening: bool = True

    def vector(self, elements: Elements) -> Array:
        """Q = -∫ρ Nᵀ ω~ω~ (x - c)."""
        q = elements.assemble(elements.load_omega(self.omega))
        omega = np.asarray(self.omega, dtype=float)
        w = skew(omega if omega.ndim else [0.0, 0.0, float(omega)])
        given = _numbers(self.center)
        if given.shape not in ((2,), (3,)) or not np.isfinite(given).all():
            raise AnalysisError(f"centrifugal load: the center must be a point of three numbers, not {self.center!r}.")
        centre = np.pad(given, (0, 3 - len(given)))
        shift = elements.assemble(elements.mass_origin()) @ (w @ w @ centre)[: elements.axes]
        return np.asarray(shift - q)

    def stiffness(self, elements: Elements) -> Blocks | None:
        """K(ω)."""
        return elements.stiffness_omega(self.omega) if self.softening else None


def _components(given: Any, axes: int, label: str) -> Array:
    vector = _numbers(given)
    if axes == 2 and vector.shape == (3,):
        if vector[2]:
            raise AnalysisError(f"{label}: a plane mesh takes loads in its plane, not {given!r}.")
        vector = vector[:2]
    if vector.shape != (axes,) or not np.isfinite(vector).all():
        raise AnalysisError(f"{label}: {axes} numbers are needed, not {given!r}.")
    return vector


def _moment(given: Any, axes: int, label: str) -> Array:
    """Three components; in the plane one, about z."""
    vector = np.atleast_1d(_numbers(given))
    if axes == 2 and vector.shape == (3,) and not vector[:2].any():
        vector = vector[2:]
    count = 1 if axes == 2 else 3
    if vector.shape != (count,) or not np.isfinite(vector).all():
        needed = "one number, about z, is" if axes == 2 else "3 numbers are"
        raise AnalysisError(f"{label}: {needed} needed, not {given!r}.")
    return vector


def _numbers(given: Any) -> Array:
    """An array of numbers; NaN where they are none, which every caller refuses in its own words."""
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return np.array(np.nan)


def _field(given: Any, x: Array, label: str) -> Array:
    """One finite number for each point of x (faces, points, 3)."""
    values = _numbers(given)
    if values.shape not in ((), x.shape[:2]):
        raise AnalysisError(f"{label}: one number per point is needed, not {_kind(given)} for {x.shape[:2]} points.")
    if not np.isfinite(values).all():
        raise AnalysisError(
            f"{label}: the value is not a finite number" + (f": {given!r}." if not values.ndim else ".")
        )
    return np.broadcast_to(values, x.shape[:2])


def _kind(given: Any) -> str:
    return f"an array of shape {given.shape}" if isinstance(given, np.ndarray) else repr(given)


def _face_load(elements: Elements, which: Which, at: Callable[[Array, Array], Array]) -> Array:
    """∫ Nᵀ t dA with t dA = at(positions, area vectors), plane meshes times their thickness."""
    mesh = elements.mesh
    if mesh.dimension < 2:
        raise AnalysisError(f"{mesh.name}: pressure and traction act on faces; a line mesh has none. Use Force.")
    out = np.zeros((mesh.n_nodes, elements.dofs_per_node))
    pairs = mesh.faces(which)
    thickness = _thickness(elements)[pairs[:, 0]]
    for value in np.unique(thickness):
        for kind, nodes in group_faces(mesh.cells, pairs[thickness == value]):
            shape, x, area = face_geometry(mesh.points, kind, nodes)
            load = value * np.einsum("qa,eqi->eai", shape, at(x, area))
            np.add.at(out, nodes.ravel(), load.reshape(-1, load.shape[2]))
    return out.ravel()


def _thickness(elements: Elements) -> Array:
    """Thickness of every cell, 1 for solids."""
    out = np.ones(elements.mesh.n_cells)
    starts = block_starts(elements.mesh.cells)
    for block, start, stop in zip(elements.blocks, starts[:-1], starts[1:], strict=False):
        if isinstance(block, Continuum):
            out[start:stop] = block.thickness
    return out
