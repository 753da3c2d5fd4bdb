"""Projection: full = A · reduced + offset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ProjectionError
from flexmbs.nullspace.readonly import frozen
from flexmbs.projection import constraints as _constraints
from flexmbs.projection import interfaces as _interfaces
from flexmbs.projection.intersection import intersect
from flexmbs.projection.model import Components, NodalModel, Nodes
from flexmbs.projection.stages import Assembler, Connectivity, Selection, Stage, stage_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Projection:
    """full = A · reduced + offset, with AᵀXA and Aᵀx for everything that lives on the full coordinates.

    `P @ Q` composes (first P's full coordinates, then Q's reduced ones); the factors are kept as `stages`,
    and each projects in its fastest way. `P & Q` makes both hold on the same full coordinates. points:
    reduced coordinates of named interface points, 6 each (plane 3). redundant: constraint rows (labels or
    numbers) that followed from the others.
    """

    stages: tuple[Stage, ...]
    points: Mapping[str, IntArray]
    redundant: tuple[str | int, ...]
    _per_node: int
    __array_ufunc__: ClassVar[None] = None  # so that P @ array is refused, not spread over the array's entries

    def __init__(self, matrix: Any, offset: ArrayLike | None = None) -> None:
        self._set((stage_of(matrix, offset),))

    def _set(
        self,
        stages: tuple[Stage, ...],
        points: Mapping[str, IntArray] | None = None,
        redundant: tuple[str | int, ...] = (),
        per_node: int = 0,
    ) -> None:
        named = {k: frozen(np.array(v, dtype=np.int64)) for k, v in (points or {}).items()}
        object.__setattr__(self, "stages", stages)
        object.__setattr__(self, "points", MappingProxyType(named))
        object.__setattr__(self, "redundant", redundant)
        object.__setattr__(self, "_per_node", per_node)

    @classmethod
    def _of(cls, *stages: Stage, **rest: Any) -> Projection:
        new = object.__new__(cls)
        new._set(stages, **rest)
        return new

    # ---- what it is

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of full and of reduced coordinates."""
        return self.stages[0].shape[0], self.stages[-1].shape[1]

    @cached_property
    def matrix(self) -> Any:
        """A as a csr_array (a dense array if a stage has dense columns); built when first asked for."""
        product = self.stages[-1].matrix
        for stage in reversed(self.stages[:-1]):
            product = stage.apply(product) if isinstance(product, np.ndarray) else stage.matrix @ product
        return frozen(product)

    @cached_property
    def offset(self) -> FloatArray:
        """Full coordinates at reduced = 0."""
        if all(stage.offset is None for stage in self.stages):
            return frozen(np.zeros(self.shape[0]))
        return frozen(self.expand(np.zeros(self.shape[1])))

    def __repr__(self) -> str:
        kinds = " @ ".join(type(stage).__name__.lower() for stage in self.stages)
        points = f", points {', '.join(self.points)}" if self.points else ""
        return f"Projection({self.shape[0]} full from {self.shape[1]} reduced: {kinds}{points})"

    # ---- algebra

    def __matmul__(self, other: Projection) -> Projection:
        if not isinstance(other, Projection):
            return NotImplemented
        if self.shape[1] != other.shape[0]:
            raise ProjectionError(
                f"cannot compose: the left projection has {self.shape[1]} reduced coordinates, "
                f"the right one {other.shape[0]} full ones; they must be equal"
            )
        return Projection._of(*self.stages, *other.stages, points=other.points, redundant=other.redundant)

    def __and__(self, other: Projection) -> Projection:
        if not isinstance(other, Projection):
            return NotImplemented
        if self.shape[0] != other.shape[0]:
            raise ProjectionError(
                f"both projections of & must have the same full coordinates, got {self.shape[0]} and {other.shape[0]}"
            )
        twice = set(self.points) & set(other.points)
        if twice:
            raise ProjectionError(f"both projections of & name a point {sorted(twice)[0]!r}: name= them differently")
        per_node = self._per_node or other._per_node
        A, offset, redundant, moved, moved_other = intersect(
            sp.csr_array(self.matrix), self.offset, sp.csr_array(other.matrix), other.offset,
            _indices(self.points), _indices(other.points), per_node,
        )  # fmt: skip
        points = {k: moved[v] for k, v in self.points.items()} | {k: moved_other[v] for k, v in other.points.items()}
        return Projection._of(
            stage_of(A, offset),
            points={k: v for k, v in points.items() if np.all(v >= 0)},
            redundant=self.redundant + other.redundant + redundant,
            per_node=per_node,
        )

    # ---- use

    def project(self, x: Any) -> Any:
        """AᵀXA of a full × full matrix, Aᵀx of a vector or of columns (full, k); also of Blocks of elements.

        A sparse matrix gives a csr_array (a small dense array if A has dense columns), a dense one a dense
        array. A square array is read as a matrix: for as many columns as full coordinates use
        project_columns.
        """
        if getattr(x, "is_blocks", False):
            return self._project_blocks(x)
        x = self._checked(x)
        return self._congruence(x) if x.ndim == 2 and x.shape[1] == x.shape[0] else self._transposed(x)

    def project_columns(self, x: Any) -> Any:
        """Aᵀx of columns (full, k), whatever k is."""
        return self._transposed(self._checked(x))

    def project_system(self, K: Any, f: Any) -> tuple[Any, Any]:
        """AᵀKA and Aᵀ(f − K·offset): the linear system K x = f, seen from the reduced coordinates."""
        rest: Projection | None = self
        if getattr(K, "is_blocks", False) or getattr(f, "is_blocks", False):
            first = Projection._of(self.stages[0])
            if self.stages[0].offset is not None:
                raise ProjectionError("Blocks with an offset on element coordinates: assemble them first")
            K, f = first.project(K), first.project(f)
            rest = Projection._of(*self.stages[1:]) if len(self.stages) > 1 else None
        if rest is None:
            return K, f
        K, f = rest._checked(K), rest._checked(f)
        if K.ndim != 2 or K.shape[1] != K.shape[0]:
            raise ProjectionError(f"the matrix of a system is square, got shape {K.shape}")
        for stage in rest.stages:
            if stage.offset is not None:
                load = K @ stage.offset
                f = f - (load if f.ndim == 1 else load[:, None])
            K, f = stage.congruence(K), stage.transposed(f)
        return K, f

    def expand(self, y: ArrayLike) -> Any:
        """Full coordinates A y + offset of reduced ones, (reduced,) or columns (reduced, k)."""
        return self._expand(y, offsets=True)

    def expand_rates(self, y: ArrayLike) -> Any:
        """A y without the offset: velocities, accelerations, variations, mode shapes."""
        return self._expand(y, offsets=False)

    def _expand(self, y: ArrayLike, offsets: bool) -> Any:
        x = np.asarray(y)
        if x.ndim not in (1, 2) or x.shape[0] != self.shape[1]:
            raise ProjectionError(
                f"cannot expand an array of shape {x.shape}: this projection has {self.shape[1]} reduced "
                f"coordinates ({self.shape[0]} full); give ({self.shape[1]},) or ({self.shape[1]}, k)"
            )
        for stage in reversed(self.stages):
            x = stage.apply(x)
            if offsets and stage.offset is not None:
                x = x + (stage.offset if x.ndim == 1 else stage.offset[:, None])
        return x

    def _congruence(self, x: Any) -> Any:
        for stage in self.stages:
            x = stage.congruence(x)
        return x

    def _transposed(self, x: Any) -> Any:
        for stage in self.stages:
            x = stage.transposed(x)
        return x

    def _checked(self, x: Any) -> Any:
        x = sp.csr_array(x) if sp.issparse(x) else np.asarray(x)
        if x.ndim not in (1, 2) or x.shape[0] != self.shape[0]:
            raise ProjectionError(
                f"cannot project an array of shape {x.shape}: this projection has {self.shape[0]} full "
                f"coordinates ({self.shape[1]} reduced); give ({self.shape[0]}, {self.shape[0]}), "
                f"({self.shape[0]},) or ({self.shape[0]}, k)"
            )
        return x

    def _project_blocks(self, blocks: Any) -> Any:
        first = self.stages[0]
        if isinstance(first, Connectivity):
            x, stages = first.assembler.assemble(blocks), self.stages[1:]
        else:
            x = self._checked(blocks.block_diagonal() if blocks.kind == "matrix" else blocks.stacked())
            stages = self.stages
        for stage in stages:
            x = stage.congruence(x) if blocks.kind == "matrix" else stage.transposed(x)
        return x

    # ---- constructors

    @classmethod
    def identity(cls, count: int) -> Projection:
        """The projection that changes nothing."""
        return cls._of(Selection(frozen(np.arange(count)), count))

    @classmethod
    def basis(cls, Psi: Any, offset: ArrayLike | None = None) -> Projection:
        """Full coordinates as combinations of the columns of Psi (modes); a dense Psi stays dense."""
        return cls(Psi, offset)

    @classmethod
    def connectivity(cls, assembler: Assembler) -> Projection:
        """Element coordinates from nodal ones: project(Blocks) is the fused assembly of the assembler."""
        return cls._of(Connectivity(assembler))

    @classmethod
    def fix(
        cls, model: NodalModel, nodes: Nodes, components: Components | None = None, values: ArrayLike = 0.0
    ) -> Projection:
        """Fixed nodes, or components of them ("x", "xy", ("x", "rz"), indices), also at prescribed values.

        values: one number, one for each component, or (nodes, components) in the order of the nodes given
        (sets: in the order of their sorted node numbers).
        """
        return cls._of(_constraints.fixed(model, nodes, components, values), per_node=model.dofs_per_node)

    @classmethod
    def tie(
        cls,
        model: NodalModel,
        slaves: Nodes,
        masters: Nodes,
        components: Components | None = None,
        tolerance: float | None = None,
    ) -> Projection:
        """Slave nodes move as master nodes: by position for set names, in the order given for node numbers.

        tolerance: largest distance between partners, by default 1e-6 of the model's size. A node tied to
        itself (shared by both sets) is left alone.
        """
        A, offset, redundant = _constraints.tied(model, slaves, masters, components, tolerance)
        return cls._of(stage_of(A, offset), redundant=redundant, per_node=model.dofs_per_node)

    @classmethod
    def constraints(
        cls,
        B: Any,
        c: ArrayLike | None = None,
        labels: Sequence[str] | None = None,
        tol: float | None = None,
        keep: ArrayLike | None = None,
    ) -> Projection:
        """General multi-point constraints B d = c by coordinate partitioning of B (m × n, sparse).

        Rank decision: rows are scaled to unit norm, and pivots at most tol (default 1e-10) are zero. Rows
        that follow from others are listed in `redundant`; rows that contradict them raise ProjectionError.
        Reduced coordinates are the independent full ones, in order; keep: coordinates to leave independent
        where possible.
        """
        A, offset, redundant = _constraints.multi_point(B, c, labels, tol, keep)
        return cls._of(stage_of(A, offset), redundant=redundant)

    @classmethod
    def symmetry(cls, model: NodalModel, nodes: Nodes, normal: str | ArrayLike) -> Projection:
        """Mirror plane: no displacement along its normal (axis name or vector), beams no rotation across it.

        Reduced coordinates: those of the other nodes, then two tangential displacements (plane: one) for each
        node of the set, for beams followed by the rotation about the normal.
        """
        return cls._of(stage_of(_constraints.symmetric(model, nodes, normal)), per_node=model.dofs_per_node)

    @classmethod
    def rigid(cls, model: NodalModel, nodes: Nodes, name: str | None = None, at: ArrayLike | None = None) -> Projection:
        """Rigid interface: all nodes of the set follow a point, u = U + θ × r (beams: their rotations too).

        The point sits at the set's weighted centroid or `at`; its coordinates (6, plane 3) come last, and are
        found in `points` under `name` (by default the set's name).
        """
        A, _ = _interfaces.rigid(model, nodes, at)
        return cls._of(stage_of(A), points=_named(A, model, nodes, name), per_node=model.dofs_per_node)

    @classmethod
    def averaging(
        cls, model: NodalModel, nodes: Nodes, name: str | None = None, at: ArrayLike | None = None
    ) -> Projection:
        """Averaging interface: a point follows the weighted mean motion of the set (see averaging_rows).

        Reduced coordinates: all nodal ones but as many pivots in the set as the point has, then the point's
        (6, plane 3), found in `points` under `name` (by default the set's name). For large sets prefer
        bordered solves with averaging_rows: AᵀKA couples all coordinates of the set.
        """
        A, _ = _interfaces.averaging(model, nodes, at)
        return cls._of(stage_of(A), points=_named(A, model, nodes, name), per_node=model.dofs_per_node)


def _named(A: Any, model: NodalModel, nodes: Nodes, name: str | None) -> dict[str, IntArray]:
    key = name if name is not None else nodes if isinstance(nodes, str) else None
    count = 3 if model.dofs_per_node == 2 else 6
    return {} if key is None else {key: np.arange(A.shape[1] - count, A.shape[1])}


def _indices(points: Mapping[str, IntArray]) -> IntArray:
    return np.concatenate([np.empty(0, dtype=np.int64), *points.values()])
