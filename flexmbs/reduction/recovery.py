"""Stress of a reduced part at chosen nodes, as a linear function of its coordinates and of the unit load factors."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ModelError
from flexmbs.fem.beam import Beam
from flexmbs.fem.continuum import Continuum
from flexmbs.fem.elements import Elements
from flexmbs.fem.stress import von_mises
from flexmbs.linalg.threads import one_blas_thread
from flexmbs.mesh.mesh import Which
from flexmbs.nullspace.readonly import frozen
from flexmbs.reduction.full import FullPart
from flexmbs.reduction.reduced import ReducedPart
from flexmbs.reduction.stiffening import acceleration_fields

Array = NDArray[np.float64]
Index = NDArray[np.int64]

CHUNK = 4_000_000
"""Numbers that an envelope holds at once."""
NOTHING = 1e-11
"""Share of the strain energy of a unit load below which the coordinates leave nothing out of it."""


@dataclass(frozen=True, eq=False)
class Envelope:
    """Largest equivalent stress of each node over time, and the index of the time at which it occurs."""

    nodes: Index
    largest: Array
    when: Index


@dataclass(frozen=True, eq=False)
class StressModes:
    """Stress at ``nodes`` (k): σ = values · d + correction · factors + inertia · d''.

    ``values`` (places, 6, r) are stresses (xx, yy, zz, yz, zx, xy) averaged at the nodes; of beams the section forces
    N, V_y, V_z, T, M_y, M_z at the ends of elements, with ``owner`` the number in ``nodes`` of each place and ``fibre``
    (places, 3) what makes of |N|, |M_y| and |M_z| the largest fibre stress. ``correction`` (places, 6, cases) is the
    stress of what the coordinates leave out of the static response to the unit loads of ``part.cases``. Of beams it
    also balances these inertia forces within each element, and ``inertia`` (places, 6, r) those of vibration.
    """

    nodes: Index
    owner: Index
    values: Array
    correction: Array
    fibre: Array | None = None
    inertia: Array | None = None

    def __post_init__(self) -> None:
        for name in ("nodes", "owner", "values", "correction", "fibre", "inertia"):
            if getattr(self, name) is not None:
                frozen(getattr(self, name))

    def at(self, d: ArrayLike, factors: ArrayLike | None = None, second: ArrayLike | None = None) -> Array:
        """Components (..., places, 6) for coordinates d (..., r), factors (..., cases) of the unit loads, and d''."""
        history = checked(d, self.values.shape[2], "reduced coordinates")
        # flat, as a product that reads the modes as they lie: tensordot would copy all of them at every call
        out = history @ self.values.reshape(-1, self.values.shape[2]).T
        if factors is not None:
            given = checked(factors, self.correction.shape[2], "factors of unit loads")
            out += given @ self.correction.reshape(-1, self.correction.shape[2]).T
        if second is not None and self.inertia is not None:
            given = checked(second, self.values.shape[2], "accelerations of reduced coordinates")
            out += given @ self.inertia.reshape(-1, self.inertia.shape[2]).T
        return np.asarray(out.reshape(*out.shape[:-1], -1, 6))

    def equivalent(self, d: ArrayLike, factors: ArrayLike | None = None, second: ArrayLike | None = None) -> Array:
        """Von Mises stress at the nodes (..., k); of beams the largest fibre stress of the elements there."""
        stress = self.at(d, factors, second)
        if self.fibre is None:
            return von_mises(stress)
        places = np.einsum("...pc,pc->...p", np.abs(stress[..., [0, 4, 5]]), self.fibre)
        out = np.zeros((*places.shape[:-1], len(self.nodes)))
        np.maximum.at(np.moveaxis(out, -1, 0), self.owner, np.moveaxis(places, -1, 0))
        return out

    @one_blas_thread
    def envelope(self, d: ArrayLike, factors: ArrayLike | None = None, second: ArrayLike | None = None) -> Envelope:
        """Largest equivalent stress over a history d (times, r), chunk by chunk."""
        history = checked(d, self.values.shape[2], "reduced coordinates")
        if history.ndim != 2 or not len(history):
            raise ModelError(f"an envelope needs a history (times, {self.values.shape[2]}), not shape {history.shape}.")
        given = None if factors is None else checked(factors, self.correction.shape[2], "factors of unit loads")
        rates = None if second is None else checked(second, self.values.shape[2], "accelerations")
        step = max(1, CHUNK // max(1, self.values.shape[0] * 6))
        largest, when = np.full(len(self.nodes), -1.0), np.zeros(len(self.nodes), dtype=np.int64)
        for start in range(0, len(history), step):
            some = slice(start, start + step)
            now = history[some], None if given is None else given[some], None if rates is None else rates[some]
            if self.fibre is None:
                _keep_largest(self.at(*now), start, largest, when)
                continue
            stress = self.equivalent(*now)
            index = stress.argmax(axis=0)
            top = stress[index, range(len(self.nodes))]
            better = top > largest
            largest[better], when[better] = top[better], start + index[better]
        if self.fibre is None:
            largest = np.sqrt(np.maximum(largest, 0.0))
        return Envelope(self.nodes, frozen(largest), frozen(when))


@njit(cache=True)
def _keep_largest(stress, start, largest, when):  # type: ignore[no-untyped-def]
    """Keep the largest square of von Mises' stress of each node among stress (times, nodes, 6), and its time."""
    for t in range(stress.shape[0]):
        for k in range(stress.shape[1]):
            x, y, z, yz, zx, xy = stress[t, k]
            square = ((x - y) ** 2 + (y - z) ** 2 + (z - x) ** 2) / 2 + 3 * (yz * yz + zx * zx + xy * xy)
            if square > largest[k]:
                largest[k], when[k] = square, start + t


def stress_modes(reduced: ReducedPart, which: Which = "all") -> StressModes:
    """Stress modes of a reduced part at the nodes of a set, or the nodes given."""
    elements = None if reduced.part is None else reduced.part.elements
    if elements is None:
        raise ModelError(f"{reduced.name}: stress needs the part's own elements, not only its matrices.")
    nodes = np.array(reduced.mesh.nodes(which))
    if isinstance(reduced, FullPart):
        empty = np.zeros((len(nodes), 6, 0))
        return NodalStress(nodes, np.arange(len(nodes)), empty, empty, part=reduced)
    r, left = reduced.size, np.flatnonzero(reduced.cases.missed > NOTHING)
    columns = np.hstack([reduced.basis, reduced.cases.residual[:, left]])
    fields = np.ascontiguousarray(columns.T).reshape(columns.shape[1], reduced.mesh.n_nodes, -1)

    def made(owner: Index, values: Array, fibre: Array | None = None, held: Array | None = None) -> StressModes:
        correction = np.zeros((*values.shape[:-1], len(reduced.cases.names)))
        correction[..., left] = values[..., r:]
        inertia = None
        if held is not None:
            correction[..., :12] += held[..., :12]
            inertia = np.ascontiguousarray(held[..., 12:])
        return StressModes(nodes, owner, np.ascontiguousarray(values[..., :r]), correction, fibre, inertia)

    if elements.mesh.dimension != 1:
        return made(np.arange(len(nodes)), np.stack([_nodal(elements, u, nodes) for u in fields], axis=-1))
    place = np.full(reduced.mesh.n_nodes, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    parts, owners, fibres, held = [], [], [], []
    for block in elements.blocks:
        if not isinstance(block, Beam):
            continue
        chosen, end = np.nonzero(place[block.cells] >= 0)
        parts.append(np.stack([block.stress_state(u)[chosen, end] for u in fields], axis=-1))
        held.append(_held_forces(block, fields[:r])[chosen, end])
        owners.append(place[block.cells[chosen, end]])
        factors = [1 / block.area, block.extent[:, 1] / block.second_y, block.extent[:, 0] / block.second_z]
        fibres.append(np.stack(factors, axis=1)[chosen])
    if not parts:
        raise ModelError(f"{reduced.name}: stress modes exist for solids, plane parts and beams.")
    return made(np.concatenate(owners), np.concatenate(parts), np.concatenate(fibres), np.concatenate(held))


def _held_forces(block: Beam, shapes: Array) -> Array:
    """Section forces (elements, 2, 6, 12 + r) of beams held at their ends, under unit inertia loads and each d''."""
    still, straight = np.zeros(3), np.zeros((3, 3))
    linear = [block.held_forces(a, straight) for a in np.eye(3)]
    angular = [block.held_forces(still, w) for w in acceleration_fields()]
    return np.stack([*linear, *angular, *(block.held_forces(still, straight, u) for u in shapes)], axis=-1)


@dataclass(frozen=True, eq=False, kw_only=True)
class NodalStress(StressModes):
    """Stress of a part in full order, from its elements at every instant: stress modes would be as many as nodes."""

    part: FullPart

    def at(self, d: ArrayLike, factors: ArrayLike | None = None, second: ArrayLike | None = None) -> Array:
        """Components (..., nodes, 6) for nodal coordinates (..., size); full order leaves nothing out for the rest."""
        history = checked(d, self.part.size, "nodal coordinates")
        return nodal_fields(self.part, history, self.nodes).reshape(*history.shape[:-1], -1, 6)

    def envelope(self, d: ArrayLike, factors: ArrayLike | None = None, second: ArrayLike | None = None) -> Envelope:
        """Largest von Mises stress over a history d (times, size), one instant at a time."""
        history = checked(d, self.part.size, "nodal coordinates")
        if history.ndim != 2 or not len(history):
            raise ModelError(f"an envelope needs a history (times, {self.part.size}), not shape {history.shape}.")
        largest, when = np.full(len(self.nodes), -1.0), np.zeros(len(self.nodes), dtype=np.int64)
        for k in range(len(history)):
            _keep_largest(self.at(history[k : k + 1]), k, largest, when)
        return Envelope(self.nodes, frozen(np.sqrt(np.maximum(largest, 0.0))), frozen(when))


def nodal_fields(part: FullPart, history: Array, nodes: Index, strain: bool = False) -> Array:
    """Stress or strain (times, nodes, 6) of a part in full order, for its coordinates (..., size)."""
    assert part.part is not None
    assert part.part.elements is not None
    elements, flat = part.part.elements, history.reshape(-1, part.size)
    return np.stack([_nodal(elements, part.displacement(d), nodes, strain) for d in flat])


KEPT = 4
"""Selections of nodes of one part whose stress modes are remembered."""
_remembered: WeakKeyDictionary[ReducedPart, dict[bytes, StressModes]] = WeakKeyDictionary()


def remembered(reduced: ReducedPart, which: Which = "all") -> StressModes:
    """``stress_modes``, computed once for as long as the part lives: they cost far more than a stress field."""
    key = np.ascontiguousarray(reduced.mesh.nodes(which)).tobytes()
    known = _remembered.setdefault(reduced, {})
    if key not in known:
        while len(known) >= KEPT:
            known.pop(next(iter(known)))
        known[key] = stress_modes(reduced, which)
    return known[key]


@dataclass(frozen=True, eq=False)
class StrainGauges:
    """Strain along a direction at each gauge: values · d + correction · factors; values (gauges, r).

    Of beams, inertia · d'' is added: see StressModes.
    """

    values: Array
    correction: Array
    inertia: Array | None = None

    def at(self, d: ArrayLike, factors: ArrayLike | None = None, second: ArrayLike | None = None) -> Array:
        """Strains (..., gauges) for coordinates d (..., r), factors (..., cases) of the unit loads, and d''."""
        out = checked(d, self.values.shape[1], "reduced coordinates") @ self.values.T
        if factors is not None:
            out = out + checked(factors, self.correction.shape[1], "factors of unit loads") @ self.correction.T
        if second is not None and self.inertia is not None:
            out = out + checked(second, self.values.shape[1], "accelerations") @ self.inertia.T
        return np.asarray(out)


@dataclass(frozen=True, eq=False, kw_only=True)
class NodalGauges(StrainGauges):
    """Strain gauges on a part in full order: weights (gauges, 6) of the strains at nodes, some used twice."""

    part: FullPart
    nodes: Index
    place: Index
    weights: Array

    def at(self, d: ArrayLike, factors: ArrayLike | None = None, second: ArrayLike | None = None) -> Array:
        """Strains (..., gauges) for nodal coordinates (..., size)."""
        history = checked(d, self.part.size, "nodal coordinates")
        strains = nodal_fields(self.part, history, self.nodes, strain=True)[:, self.place]
        return np.asarray(np.einsum("kc,tkc->tk", self.weights, strains).reshape(*history.shape[:-1], -1))


def strain_gauges(reduced: ReducedPart, nodes: ArrayLike, directions: ArrayLike) -> StrainGauges:
    """Strain gauges on nodes (k) of a solid or plane part, along directions (k, 3), or one (3,) for all."""
    elements = None if reduced.part is None else reduced.part.elements
    if elements is None or elements.mesh.dimension < 2:
        raise ModelError(f"{reduced.name}: strain gauges need the elements of a solid or plane part.")
    places = np.atleast_1d(np.asarray(nodes))
    known = np.issubdtype(places.dtype, np.integer) and places.ndim == 1 and places.size
    if not known or places.min() < 0 or places.max() >= reduced.mesh.n_nodes:
        raise ModelError(f"{reduced.name}: gauges sit on node numbers from 0 to {reduced.mesh.n_nodes - 1}.")
    along = np.broadcast_to(np.asarray(directions, dtype=float), (len(places), 3))
    length = np.linalg.norm(along, axis=1, keepdims=True)
    if not (np.isfinite(length).all() and (length > 0).all()):
        raise ModelError(f"{reduced.name}: a gauge needs a direction of three numbers, not all zero.")
    x, y, z = (along / length).T
    weights = np.stack([x * x, y * y, z * z, y * z, z * x, x * y], axis=1)  # engineering shear strains
    every, inverse = np.unique(places, return_inverse=True)
    if isinstance(reduced, FullPart):
        empty = np.zeros((len(places), 0))
        return NodalGauges(empty, empty, part=reduced, nodes=every, place=inverse, weights=weights)
    columns = np.hstack([reduced.basis, reduced.cases.residual])
    fields = np.ascontiguousarray(columns.T).reshape(columns.shape[1], reduced.mesh.n_nodes, -1)
    values = np.stack([_nodal(elements, u, every, strain=True)[inverse] for u in fields], axis=-1)
    along_gauge = np.einsum("kc,kcr->kr", weights, values)
    return StrainGauges(frozen(along_gauge[:, : reduced.size].copy()), frozen(along_gauge[:, reduced.size :].copy()))


def fibre_gauges(reduced: ReducedPart, points: ArrayLike) -> StrainGauges:
    """Strain gauges along a part of beams, on fibres through points (k, 3).

    Each is on the element nearest to it: ε = N/EA + z M_y/EI_y - y M_z/EI_z, with section forces between those of its
    ends.
    """
    elements = None if reduced.part is None else reduced.part.elements
    beams = [] if elements is None else [block for block in elements.blocks if isinstance(block, Beam)]
    if not beams:
        raise ModelError(f"{reduced.name}: gauges on fibres need the elements of a part of beams.")
    columns = np.hstack([reduced.basis, reduced.cases.residual])
    fields = np.ascontiguousarray(columns.T).reshape(columns.shape[1], reduced.mesh.n_nodes, -1)
    forces = [np.stack([block.stress_state(u) for u in fields], axis=-1) for block in beams]
    r, held = reduced.size, [_held_forces(block, fields[: reduced.size]) for block in beams]
    rows, inertia = [], []
    for point in np.atleast_2d(np.asarray(points, dtype=float)):
        away = []
        for block in beams:
            start, axes = reduced.mesh.points[block.cells[:, 0]], np.asarray(block.rotation)
            local = np.einsum("ei,eij->ej", point - start, axes)  # x along the element, y, z
            s = np.clip(local[:, 0] / block.length, 0.0, 1.0)
            missed = np.linalg.norm(point - start - (s * block.length)[:, None] * axes[:, :, 0], axis=1)
            away.append((float(missed.min()), int(missed.argmin()), s, local))
        b = min(range(len(beams)), key=lambda k: away[k][0])
        _, e, s, local = away[b]
        fibre = np.zeros(6)
        fibre[[0, 4, 5]] = 1.0, local[e, 2], -local[e, 1]
        fibre[[0, 4, 5]] /= beams[b].axial[e], beams[b].bending_y[e], beams[b].bending_z[e]
        row = fibre @ _between(forces[b][e], s[e])
        load = _between(held[b][e], s[e])
        load[4:] *= 1 - 6 * s[e] * (1 - s[e])  # moments of a held beam under a uniform load, a parabola
        row[r : r + 12] += fibre @ load[:, :12]
        rows.append(row)
        inertia.append(fibre @ load[:, 12:])
    values = np.array(rows)
    return StrainGauges(frozen(values[:, :r].copy()), frozen(values[:, r:].copy()), frozen(np.array(inertia)))


def _between(ends: Array, s: float) -> Array:
    """What lies at s from 0 to 1 between the two ends of an element."""
    return np.asarray(ends[0] * (1 - s) + ends[1] * s)


def checked(given: ArrayLike, size: int, what: str) -> Array:
    """An array whose last axis has the size needed."""
    array = np.asarray(given, dtype=float)
    if array.ndim == 0 or array.shape[-1] != size:
        raise ModelError(f"{size} {what} are needed (last axis), not an array of shape {array.shape}.")
    return array


def _nodal(elements: Elements, u: Array, nodes: Index, strain: bool = False) -> Array:
    """Stress or strain at some nodes (k, 6), as TensorField.nodal, from the cells that touch them."""
    place = np.full(elements.mesh.n_nodes, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    total, count = np.zeros((len(nodes), 6)), np.zeros(len(nodes))
    for block in elements.blocks:
        if isinstance(block, Continuum):
            chosen = np.flatnonzero((place[block.cells] >= 0).any(axis=1))
            own = block.some(chosen)
            at_nodes = np.einsum(
                "aq,eqc->eac", block.extrapolation(), own.full_strain(u) if strain else own.stress_state(u)
            )
            cells = place[block.cells[chosen]]
            inside = cells >= 0
            np.add.at(total, cells[inside], at_nodes[inside])
            np.add.at(count, cells[inside], 1.0)
    return np.asarray(total / np.maximum(count, 1.0)[:, None])
