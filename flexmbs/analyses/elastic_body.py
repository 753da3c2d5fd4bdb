"""One flexible body whose frame moves as prescribed: its matrices as combinations of constants, reduced or full.

With f = (a - g, ε, ω_i ω_j) the twelve factors of the moving frame (``inertia_factors``), the last block row is

    m d'' + (D + ω_i C_i) d' + (K + f_k X_k) d = f_k q_k + loads,

C_i = 2∫ρ Nᵀ e_i~ N, X_k the K(ε) or K(ω) of a unit factor and the stress stiffness of its inertia load q_k.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray

from flexmbs.analyses.elastic_response import ElasticResponse
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError, FlexmbsError, SolverError
from flexmbs.fem.blocks import Blocks
from flexmbs.fem.elements import Elements
from flexmbs.fem.prestress import prestress
from flexmbs.fem.rigid import rigid_motions
from flexmbs.integrators.newmark import LARGEST_CYCLE, DenseMotion, LinearMotion
from flexmbs.linalg import factorize
from flexmbs.profiles import as_profile
from flexmbs.projection import Projection
from flexmbs.projection.model import NAMES
from flexmbs.reduction import CraigBampton, ModalTruncation, Part, Rayleigh, ReducedPart, reduce
from flexmbs.reduction.space import fixed_coordinates
from flexmbs.reduction.stiffening import acceleration_fields, inertia_factors, inertia_loads, load_vectors

Array = NDArray[np.float64]

STEADY = 1e-12
"""Change of ω, ε and a over time, relative to their sizes, below which the matrices are constant."""


@dataclass(frozen=True, eq=False)
class MovingBody:
    """A body ready to be moved: who it is, and its constants, as full arrays (n, n) or sparse matrices.

    ``gyroscopic`` are the three C_i, ``cases`` the X_k of the inertia factors and of the loads that follow them,
    ``loads`` (n, k) the q_k.
    """

    name: str
    part: Part | None
    reduced: ReducedPart | None
    projection: Projection | None
    mass: Any
    damping: Any
    stiffness: Any
    gyroscopic: Any
    cases: Any
    loads: Array
    load_names: tuple[str, ...]
    resultants: Array
    """(6, loads on sets) force and moment about the origin of each."""

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.loads.shape[0]


def reduced_body(reduced: ReducedPart, name: str, loads: Mapping[str, Any] | None) -> MovingBody:
    """The constants of a reduced body."""
    c, r = reduced.constants, reduced.size
    labels = reduced.cases.names
    on_interfaces = {f"{place} {axis}" for place in reduced.interfaces for axis in NAMES}
    names = tuple(label for label in labels[12:] if label not in on_interfaces)
    chosen = [*range(12), *(labels.index(n) for n in names)]
    cases = np.zeros((len(chosen), r, r))
    if len(reduced.cases.K_g):
        cases += reduced.cases.K_g[chosen]
    cases[3:12] += np.einsum("kij,ijrs->krs", acceleration_fields(), c.m)
    gyroscopic = 2 * np.einsum("kij,ijrs->krs", acceleration_fields()[:3], c.m)
    return MovingBody(
        name, reduced.part, reduced, None, np.eye(r), np.diag(c.damping), np.diag(c.stiffness), gyroscopic, cases,
        reduced.cases.loads[:, chosen], names, _resultants(reduced.part, loads),
    )  # fmt: skip


def full_body(
    part: Part, name: str, fixed: Any, damping: Any, stiffening: bool, loads: Mapping[str, Any] | None,
    needed: NDArray[np.bool_],
) -> MovingBody:  # fmt: skip
    """The constants of a body with every node that is not held, sparse; of the inertia cases those ``needed`` (12,)."""
    if part.elements is None:
        raise AnalysisError(f"{name}: full order needs the finite elements of a body, not only its matrices.")
    elements = part.elements
    try:
        free = np.flatnonzero(~fixed_coordinates(part, fixed))
        pick = sp.csr_array((np.ones(len(free)), (free, np.arange(len(free)))), shape=(part.n_dofs, len(free)))
        projection = Projection(pick)
        names, vectors = load_vectors(part, loads)
        mass, stiffness = projection.project(part.mass), projection.project(part.stiffness)
        factor = factorize(stiffness)
    except SolverError as error:
        raise AnalysisError(f"{name}: the body is not held in its frame; name more supports= ({error}).") from error
    except FlexmbsError as error:
        raise AnalysisError(f"{name}: {error}") from error
    on_nodes = np.hstack([inertia_loads(part), vectors])
    columns = np.asarray(projection.project_columns(on_nodes))
    cases = [sp.csr_array(mass.shape) for _ in range(on_nodes.shape[1])]
    linear, fields = np.zeros((len(cases), 3)), np.zeros((len(cases), 3, 3))
    linear[:3], fields[3:12] = np.eye(3), acceleration_fields()
    u = np.asarray(projection.expand_rates(factor.solve(columns))) if stiffening else None
    for k in range(len(cases)):
        if k < 12 and not needed[k]:
            continue
        nodal = sp.csr_array((part.n_dofs, part.n_dofs))
        if fields[k].any():
            nodal = nodal + elements.assemble(Blocks(elements, "matrix", inertia=fields[k]))
        if u is not None and np.abs(columns[:, k]).max(initial=0.0) > 0:
            shape = np.ascontiguousarray(u[:, k].reshape(elements.mesh.n_nodes, -1))
            stress = prestress(elements, shape, linear[k], fields[k])
            nodal = nodal + elements.assemble(elements.geometric_stiffness(stress))
            if elements.scalar_mass is None and fields[k].any():
                nodal = nodal + elements.assemble(Blocks(elements, "matrix", turning=fields[k]))
        cases[k] = projection.project(sp.csr_array(nodal))
        cases[k].eliminate_zeros()
    gyroscopic = [
        projection.project(elements.assemble(Blocks(elements, "matrix", inertia=2 * field)))
        for field in acceleration_fields()[:3]
    ]
    if damping is None:
        own = sp.csr_array(mass.shape)
    elif isinstance(damping, Rayleigh):
        own = damping.mass * mass + damping.stiffness * stiffness
    else:
        raise AnalysisError(f"{name}: full order takes Rayleigh damping; {damping!r} needs modes, so reduce the body.")
    return MovingBody(
        name, part, None, projection, mass, own, stiffness, gyroscopic, cases, columns, names,
        _resultants(part, loads),
    )  # fmt: skip


def moving_body(
    body: FlexibleBody | Elements, supports: Any, full_order: bool, needed: NDArray[np.bool_]
) -> MovingBody:
    """The body held at its supports: reduced in the same way as it is, or in full order."""
    if isinstance(body, Elements):
        return full_body(Part.of_elements(body), body.mesh.name, supports, None, True, None, needed)
    reduced, fixed = body.reduced, _together(body.fixed, supports, body.name)
    if supports is None and not full_order:
        return reduced_body(reduced, body.name, body.loads)
    if reduced.part is None:
        raise AnalysisError(
            f"{body.name}: a body that was loaded cannot be held elsewhere; reduce it with fixed= where it is held."
        )
    if full_order:
        return full_body(reduced.part, body.name, fixed, body.damping, body.stiffening, body.loads, needed)
    held, left = _nodes(reduced.part, fixed, body.name), []
    given = [] if body.interfaces is None else body.interfaces
    for item in [given] if isinstance(given, str | int | np.integer) or not np.iterable(given) else given:
        where = getattr(item, "nodes", item)
        if not np.isin(_nodes(reduced.part, where, body.name), held).any():
            left.append(item)
    method = body.reduction or (CraigBampton(modes=8) if given else ModalTruncation(modes=10))
    try:
        again = reduce(
            reduced.part, method, interfaces=left or None, fixed=fixed, damping=body.damping, loads=body.loads,
            stiffening=body.stiffening,
        )  # fmt: skip
    except FlexmbsError as error:
        raise AnalysisError(f"{body.name}, held at {supports!r}: {error}") from error
    return reduced_body(again, body.name, body.loads)


class _Moved(LinearMotion):
    """What a body in full arrays and a sparse one share: factors over time, loads, resistance."""

    def __init__(self, body: MovingBody, step: float, spin: Array, factors: Array) -> None:
        self.body, self.step, self.steps = body, step, len(spin) - 1
        self.size, self.spin, self.factors = body.size, spin, factors
        # loads on sets stiffen too, and so must be constant as well
        changes = np.abs(np.hstack([spin, factors]) - np.hstack([spin[0], factors[0]])).max(initial=0.0)
        self.constant = bool(changes <= STEADY * max(np.abs(spin).max(initial=0.0), np.abs(factors).max(initial=0.0)))
        if not self.constant:
            stiffening = [k for k in range(factors.shape[1]) if _nonzero(body.cases[k])]
            changing = np.abs(factors[:, stiffening] - factors[0, stiffening]).max(initial=0.0)
            turning = np.abs(spin - spin[0]).max(initial=0.0)
            self.constant = not changing and not turning

    def load(self, k: int) -> Array:
        """f at instant k."""
        return np.asarray(self.body.loads @ self.factors[k])


class MovedReduced(_Moved, DenseMotion):
    """Equations of a reduced body in motion."""

    def __init__(self, body: MovingBody, step: float, spin: Array, factors: Array) -> None:
        DenseMotion.__init__(self)
        _Moved.__init__(self, body, step, spin, factors)
        self._last: tuple[int, tuple[Array, Array, Array]] | None = None

    def dense(self, k: int) -> tuple[Array, Array, Array]:
        """M, C, K at instant k."""
        if self._last is not None and (self.constant or self._last[0] == k):
            return self._last[1]
        b = self.body
        found = (
            b.mass,
            b.damping + np.tensordot(self.spin[k], b.gyroscopic, axes=1),
            b.stiffness + np.tensordot(self.factors[k], b.cases, axes=1),
        )
        self._last = (k, found)
        return found


class MovedFull(_Moved):
    """Equations of a body with every node, sparse: solved with the factor of its own M, D, K as preconditioner.

    Where nothing changes with time the factor is that of the whole matrix.
    """

    def __init__(self, body: MovingBody, step: float, spin: Array, factors: Array) -> None:
        super().__init__(body, step, spin, factors)
        self._kept: dict[tuple[float, float, float], Callable[[Array], Array]] = {}

    def terms(self, k: int) -> tuple[list[tuple[float, Any]], ...]:
        """M, C, K at instant k as sums of constant matrices with their factors."""
        b = self.body
        damping = [(1.0, b.damping), *zip(self.spin[k], b.gyroscopic, strict=True)]
        stiffness = [(1.0, b.stiffness), *zip(self.factors[k], b.cases, strict=True)]
        return [(1.0, b.mass)], [t for t in damping if t[0]], [t for t in stiffness if t[0]]

    def whole(self, k: int, factors: tuple[float, float, float]) -> Any:
        """c_m M + c_d C + c_k K at instant k, assembled."""
        out = sp.csr_array(2 * (self.size,))
        for c, terms in zip(factors, self.terms(k), strict=True):
            for factor, matrix in terms if c else ():
                out = out + (c * factor) * matrix
        return out

    def dense(self, k: int) -> tuple[Array, Array, Array]:
        """M, C, K of a small body as full arrays."""
        if self.size > LARGEST_CYCLE:
            return super().dense(k)
        unit = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        m, c, stiffness = (self.whole(k, factors).toarray() for factors in unit)
        return m, c, stiffness

    def resistance(self, k: int, y: Array, v: Array) -> Array:
        """C y' + K y."""
        _, damping, stiffness = self.terms(k)
        out = np.zeros_like(y)
        for x, terms in ((v, damping), (y, stiffness)):
            for factor, matrix in terms:
                out += factor * (matrix @ x)
        return out

    def solve(self, k: int, factors: tuple[float, float, float], b: Array) -> Array:
        """Solve with a combination of M, C and K."""
        if factors not in self._kept:
            own = (self.body.mass, self.body.damping, self.body.stiffness)
            if self.constant:
                self._kept[factors] = scipy.sparse.linalg.splu(sp.csc_array(self.whole(k, factors))).solve
            else:
                empty = sp.csr_array(2 * (self.size,))
                near = sum((c * m for c, m in zip(factors, own, strict=True) if c), empty)
                self._kept[factors] = factorize(near).solve
        near = self._kept[factors]
        if self.constant:
            return np.asarray(near(b))
        listed = [(c * f, m) for c, terms in zip(factors, self.terms(k), strict=True) if c for f, m in terms]

        def product(x: Array) -> Array:
            return np.asarray(sum(f * (m @ x) for f, m in listed))

        operators = [scipy.sparse.linalg.LinearOperator(2 * (self.size,), f, dtype=float) for f in (product, near)]
        columns = b.reshape(self.size, -1)
        found = np.empty_like(columns)
        for j in range(columns.shape[1]):
            found[:, j], failed = scipy.sparse.linalg.gmres(
                operators[0], columns[:, j], near(columns[:, j]), rtol=1e-11, restart=60, maxiter=20, M=operators[1]
            )
            if failed:
                return np.asarray(scipy.sparse.linalg.splu(sp.csc_array(self.whole(k, factors))).solve(b))
        return found.reshape(b.shape)


def frame_factors(terms: tuple[Array, Array, Array]) -> Array:
    """Factors (times, 12) of the inertia cases of a, ω, ε over time."""
    acceleration, spin, spin_rate = terms
    return np.array([inertia_factors(a, e, w) for a, e, w in zip(acceleration, spin_rate, spin, strict=True)])


def moved(
    body: MovingBody, times: Array, terms: tuple[Array, Array, Array], loads: Mapping[str, Any] | None
) -> tuple[MovedReduced | MovedFull, Array]:
    """The equations of a body over time, and the factors (times, k) of its unit loads."""
    spin, spin_rate = terms[1:]
    planar = any(of is not None and of.axes == 2 for of in (body.part, body.reduced))
    if planar and (np.abs(spin[:, :2]).max() > 0 or np.abs(spin_rate[:, :2]).max() > 0):
        raise AnalysisError(f"{body.name}: a plane body turns about z only.")
    factors = np.hstack([frame_factors(terms), np.zeros((len(times), len(body.load_names)))])
    for name, law in (loads or {}).items():
        if name not in body.load_names:
            known = ", ".join(map(repr, body.load_names)) or "none"
            raise AnalysisError(f"{body.name}: no load {name!r}; the loads of the body are: {known}.")
        try:
            factors[:, 12 + body.load_names.index(name)] = as_profile(law).value(times)
        except FlexmbsError as error:
            raise AnalysisError(f"{body.name}: load {name!r}: {error}") from error
    step = float(times[1] - times[0])
    kind = MovedFull if body.reduced is None else MovedReduced
    return kind(body, step, spin, factors), factors


def response(
    body: MovingBody, times: Array, history: tuple[Array, Array, Array], terms: tuple[Array, Array, Array],
    factors: Array, wall_time: float, steps: int,
) -> ElasticResponse:  # fmt: skip
    """What is handed to the user."""
    return ElasticResponse(
        body.name,
        times,
        *history,
        *terms,
        factors,
        body.resultants,
        body.part,
        body.reduced,
        body.projection,
        steps,
        wall_time,
    )


def _resultants(part: Part | None, loads: Mapping[str, Any] | None) -> Array:
    if part is None or not loads:
        return np.zeros((6, len(loads or {})))
    found = rigid_motions(part).T @ load_vectors(part, loads)[1]
    out = np.zeros((6, found.shape[1]))
    out[[0, 1, 5] if part.axes == 2 else slice(None)] = found
    return out


def _nonzero(matrix: Any) -> bool:
    return bool(matrix.nnz if sp.issparse(matrix) else np.any(matrix))


def _together(fixed: Any, supports: Any, name: str) -> Any:
    """What is fixed already, and the supports."""
    if supports is None or fixed is None:
        return fixed if supports is None else supports
    if isinstance(fixed, Mapping) or isinstance(supports, Mapping):
        raise AnalysisError(f"{name}: it is fixed already, by components; name all supports in fixed=.")
    if not np.iterable(supports) and not isinstance(supports, int | np.integer):
        raise AnalysisError(f"{name}: supports are sets, nodes or {{set: components}}, not {supports!r}.")
    both = [[x] if isinstance(x, str | int | np.integer) else list(x) for x in (fixed, supports)]
    return [*both[0], *both[1]]


def _nodes(part: Part, which: Any, name: str) -> NDArray[np.int64]:
    """Nodes of supports or of an interface."""
    try:
        if isinstance(which, Mapping):
            return np.unique(np.concatenate([part.nodes(w) for w in which]))
        return part.nodes([int(which)] if isinstance(which, int | np.integer) else which)
    except FlexmbsError as error:
        raise AnalysisError(f"{name}: {error}") from error
