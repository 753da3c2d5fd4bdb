"""From a part to a reduced one: shapes, reference conditions, orthonormal coordinates, constants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.errors import ModelError
from flexmbs.fem.elements import Elements
from flexmbs.linalg.threads import one_blas_thread
from flexmbs.progress import shown
from flexmbs.projection import Projection
from flexmbs.reduction.constants import ModalConstants
from flexmbs.reduction.damping import damping_coefficients
from flexmbs.reduction.full import full_part
from flexmbs.reduction.interfaces import interfaces as read_interfaces
from flexmbs.reduction.methods import CraigBampton, FullOrder, ModalTruncation, Reduction
from flexmbs.reduction.orthonormal import orthonormalised
from flexmbs.reduction.part import Part, as_part
from flexmbs.reduction.reduced import FrameShapes, ReducedPart, frame_shapes
from flexmbs.reduction.reference import MeanAxes, floating_frame, reference_rows
from flexmbs.reduction.space import Conditions, Space
from flexmbs.reduction.stiffening import LoadCases, inertia_loads, load_cases, load_vectors, reduced_coordinates
from flexmbs.reduction.table import ModeRow, energy_shares

Array = NDArray[np.float64]

HELD = "tangent where it is fixed"
"""The floating frame, in words, of a part that is fixed somewhere."""


@shown("reducing a flexible body")
@one_blas_thread
def reduce(
    model: Elements | Part,
    method: Reduction | None = None,
    *,
    interfaces: Any = None,
    fixed: Any = None,
    frame: Any = None,
    damping: Any = None,
    loads: Mapping[str, Any] | None = None,
    stiffening: bool = True,
) -> ReducedPart:
    """Reduce a part to few coordinates in a floating frame.

    Parameters
    ----------
    model : Elements, or a Part made of matrices from another program.
    method : CraigBampton, FreeInterface, StaticCondensation, ModalTruncation, Krylov or FullOrder; by default
        CraigBampton(modes=8) where there are interfaces and ModalTruncation(modes=10) where there are none, or as many
        modes as a small part has.
    interfaces : sets (rigid), ``Averaged(set)`` or node numbers where the part is held on to; one or a list.
    fixed : what does not move in the frame: sets, node numbers, or a mapping from sets to components ("xz").
    frame : "tangent", "chord", "mean", Tangent(set), Chord(set, set) or MeanAxes(); by default chord with two
        interfaces, otherwise mean axes. A part that is fixed is held there.
    damping : Rayleigh, ModalDamping, or one damping ratio; none by default.
    loads : named load sets (Force, Pressure, ... or nodal forces), which get their own geometric stiffness.
    stiffening : compute the geometric stiffness of the unit loads.
    """
    part = as_part(model)
    if method is not None and not isinstance(method, Reduction):
        raise ModelError(f"{part.name}: {method!r} is no reduction; give CraigBampton(modes=8), for example.")
    places = read_interfaces(part, interfaces)
    space = Space(part, places, fixed)
    if method is None:
        method = _usual(space)
    chosen = floating_frame(part, frame, places, space.R.shape[1] == 0)
    extra = load_vectors(part, loads)
    held, text = _conditions(space, chosen)
    if isinstance(method, FullOrder) and method.stays_sparse(space):
        return full_part(space, held, text, extra, damping, stiffening)
    on_nodes = inertia_loads(part)
    found = method.shapes(space, np.asarray(space.projection.project_columns(on_nodes)))
    z, coefficients = _in_frame(space, held, found.columns)
    if not z.any():
        raise ModelError(f"{part.name}: nothing is left to deform; ask for modes, or add an interface.")
    psi, stiffness, mixing = _diagonal(part, np.asarray(space.projection.expand_rates(z)))
    error = np.zeros(len(stiffness)) if isinstance(method, FullOrder) else _errors(space, held, psi, stiffness)
    first, origin = part.first_moments(), part.origin_moments()
    mass, s0, second = part.moments()
    S = origin.T @ psi
    constants = ModalConstants(
        mass, s0, second, S, first @ psi, part.reduced_mass(psi), stiffness,
        damping_coefficients(damping, stiffness, part.name),
    )  # fmt: skip
    mean = isinstance(chosen, MeanAxes)
    cases = load_cases(space, held, mean, psi, stiffness, on_nodes, extra, stiffening)
    shape_stiffness = found.columns.T @ space.forces(found.columns)
    shares = energy_shares(found.labels, coefficients @ mixing, shape_stiffness)
    rows = tuple(
        ModeRow(float(f), (float(m[0]), float(m[1]), float(m[2])), share, float(e))
        for f, m, share, e in zip(constants.frequencies, S.T**2, shares, error, strict=True)
    )
    return ReducedPart(
        part.name, part.mesh, part.dofs_per_node, psi, constants, cases, tuple(p.name for p in places),
        _frames(part, psi, places, cases), text, rows, float(np.sqrt(found.neglected) / (2 * np.pi)), part,
        dict(zip(extra[0], extra[1].T, strict=True)),
    )  # fmt: skip


def full_order_projection(
    model: Elements | Part, *, interfaces: Any = None, fixed: Any = None, frame: Any = None
) -> Projection:
    """Every node of a part but its rigid motion: nodal coordinates from those that are left, sparse.

    Conditions on single places keep it sparse; mean axes and chords make few coordinates follow from many.
    """
    part = as_part(model)
    places = read_interfaces(part, interfaces)
    space = Space(part, places, fixed)
    chosen = floating_frame(part, frame, places, space.R.shape[1] == 0)
    held, _ = _conditions(space, chosen)
    return space.projection @ Projection.constraints(held.B) if held.B.shape[0] else space.projection


def _usual(space: Space) -> Reduction:
    """What is done where nobody said how: no more modes than there are."""
    if space.places:
        return CraigBampton(modes=max(0, min(8, space.size - space.C.shape[0])))
    return ModalTruncation(modes=max(1, min(10, space.size - space.R.shape[1])))


def _conditions(space: Space, chosen: Any) -> tuple[Conditions, str]:
    """The reference conditions as seen from z, and the frame in words."""
    if chosen is None:
        return space.under(sp.csr_array((0, space.size))), HELD
    rows, text = reference_rows(space.part, chosen, space.places)
    return space.under(space.rows(rows)), text


def _in_frame(space: Space, held: Conditions, columns: Array) -> tuple[Array, Array]:
    """Shapes z with B z = 0 that with R span what the given ones and R do, and their coefficients in the given."""
    count = space.R.shape[1]
    size = np.linalg.norm(columns, axis=0)
    if (size == 0).any():
        raise ModelError(f"{space.part.name}: a shape of the reduction is zero; an interface may carry no load.")
    scaled = columns / size
    if count == 0:
        return scaled, np.diag(1.0 / size)
    motion = np.asarray(held.B @ space.R)
    back = np.linalg.solve(motion, np.asarray(held.B @ scaled))  # the rigid motion that each shape holds
    rigid = space.R @ back
    flat = scaled - rigid
    nothing = np.linalg.norm(flat, axis=0) < 1e-10 * np.linalg.norm(rigid, axis=0)  # all of it was rigid
    return flat * ~nothing, np.diag(~nothing / size)


def _diagonal(part: Part, psi: Array) -> tuple[Array, Array, Array]:
    """Ψ with ΨᵀMΨ = 1 and ΨᵀKΨ diagonal (ascending), the diagonal, and the coefficients in the given shapes."""
    mixing = np.eye(psi.shape[1])
    for _ in range(2):  # twice, since the first shapes may be far from orthogonal
        step = orthonormalised(psi.T @ part.momentum(psi))
        psi, mixing = psi @ step, mixing @ step
    stiff = psi.T @ part.elastic_forces(psi)
    values, vectors = scipy.linalg.eigh((stiff + stiff.T) / 2)
    psi, mixing = psi @ vectors, mixing @ vectors
    largest = np.abs(psi).argmax(axis=0)
    sign = np.sign(psi[largest, range(psi.shape[1])])
    if values[0] <= 1e-12 * values[-1]:
        pieces = part.mesh.n_pieces if part.mesh.dimension else 1  # a part of matrices has no cells
        raise ModelError(
            f"{part.name}: a reduced coordinate has no stiffness; the part is a mechanism, or its frame is not held."
            + (f" Its mesh is in {pieces} pieces; merged_nodes() ties pieces that touch." if pieces > 1 else "")
        )
    return psi * sign, values, mixing * sign


def _errors(space: Space, held: Conditions, psi: Array, stiffness: Array) -> Array:
    """Relative errors of the frequencies: half of |K ψ - λ M ψ|² in the norm of K⁻¹, over λ (Rayleigh-Ritz)."""
    z = reduced_coordinates(space, psi)
    residual = space.forces(z) - space.momentum(z) * stiffness
    return np.maximum(np.einsum("ik,ik->k", residual, held.solve(residual)) / stiffness / 2, 0.0)


def _frames(part: Part, psi: Array, places: Any, cases: LoadCases) -> dict[str, FrameShapes]:
    """Frames on the interfaces, then on every set of the mesh that has a place and an orientation."""
    out = {}
    for place in places:
        where = place.name if place.name in part.mesh.sets else place.nodes
        out[place.name] = frame_shapes(part, psi, where, place.name, cases)
    for name in part.mesh.sets:
        if name not in out:
            try:
                out[name] = frame_shapes(part, psi, name)
            except ModelError:  # a set that defines no rotation has no frame until someone asks for it
                continue
    return out
