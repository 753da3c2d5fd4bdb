"""Ways to reduce a part: each names shapes in which it may move, beside the six rigid motions that the frame takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flexmbs.errors import ModelError, SolverError
from flexmbs.linalg import factorize
from flexmbs.reduction.orthonormal import orthonormalised
from flexmbs.reduction.space import Conditions, Space

Array = NDArray[np.float64]

LARGEST_FULL = 600
"""Coordinates up to which a part is kept in full order as dense modes."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """Columns in z (size, count) with what each is, and the first eigenvalue that was left out (infinite: none)."""

    columns: Array
    labels: tuple[str, ...]
    neglected: float = np.inf


@dataclass(frozen=True)
class Reduction(ABC):
    """What all reductions do: give shapes in the coordinates of a Space, which with R hold its rigid motions."""

    @abstractmethod
    def shapes(self, space: Space, inertia: Array) -> Shapes:
        """The shapes; ``inertia`` (size, k) are the inertia loads of a moving frame."""


@dataclass(frozen=True)
class CraigBampton(Reduction):
    """Static shapes for the interface coordinates, and ``modes`` natural modes with the interfaces held.

    Statics under loads on the interfaces are exact. Averaging interfaces are held in the mean.
    """

    modes: int = 8

    def __post_init__(self) -> None:
        _count(self, self.modes, "modes", 0)

    def shapes(self, space: Space, inertia: Array) -> Shapes:
        """Interface shapes, then modes with the interfaces held."""
        if space.C.shape[0] == 0 and space.R.shape[1]:
            raise ModelError(
                f"{space.part.name}: {type(self).__name__} needs interfaces=, or fixed=; for a part without either use "
                "ModalTruncation."
            )
        held = space.under(space.C)
        static = np.zeros((space.size, 0))
        if space.C.shape[0]:
            count = space.C.shape[0]
            static = held.solve(np.zeros((space.size, count)), np.eye(count))
        columns, neglected = _modes(self, space, held, self.modes)
        labels = [f"interface {p.name} {c}" for p in space.places for c in p.labels]
        return Shapes(
            np.hstack([static, columns]), (*labels, *_numbered("held mode", columns.shape[1])), neglected
        )  # fmt: skip


@dataclass(frozen=True)
class StaticCondensation(Reduction):
    """Static shapes for the interface coordinates only (Guyan)."""

    def shapes(self, space: Space, inertia: Array) -> Shapes:
        """Interface shapes."""
        if space.C.shape[0] <= space.R.shape[1]:
            raise ModelError(
                f"{space.part.name}: static condensation needs two interfaces, or one and fixed=; nothing would be "
                "left to deform."
            )
        return CraigBampton(0).shapes(space, inertia)


@dataclass(frozen=True)
class FreeInterface(Reduction):
    """``modes`` natural modes with the interfaces free, and the shapes under unit loads on them (attachment modes).

    What the modes already hold of those is taken out, so that the rest is the residual flexibility. Statics under
    loads on the interfaces are exact.
    """

    modes: int = 8

    def __post_init__(self) -> None:
        _count(self, self.modes, "modes", 0)

    def shapes(self, space: Space, inertia: Array) -> Shapes:
        """Free modes, then residual attachment modes."""
        free = _elastic(space)
        columns, neglected = _modes(self, space, free, self.modes)
        attached = free.solve(space.C.T.toarray())
        attached -= columns @ (columns.T @ space.momentum(attached))
        labels = [f"attachment {p.name} {c}" for p in space.places for c in p.labels]
        return Shapes(
            np.hstack([columns, attached]), (*_numbered("free mode", columns.shape[1]), *labels), neglected
        )  # fmt: skip


@dataclass(frozen=True)
class ModalTruncation(Reduction):
    """The lowest ``modes`` natural modes of the part: held where it is fixed, otherwise free."""

    modes: int = 20

    def __post_init__(self) -> None:
        _count(self, self.modes, "modes", 1)

    def shapes(self, space: Space, inertia: Array) -> Shapes:
        """Natural modes."""
        columns, neglected = _modes(self, space, _elastic(space), self.modes)
        return Shapes(columns, _numbered("mode", columns.shape[1]), neglected)


@dataclass(frozen=True)
class Krylov(Reduction):
    """Moment matching: the response to loads on the interfaces, expanded about a ``frequency`` [Hz].

    ``moments`` terms of the expansion in ω² are matched, for as many shapes per load. ``inertia`` adds the loads of a
    moving frame (accelerations and spin) to those on the interfaces.
    """

    moments: int = 2
    frequency: float = 0.0
    inertia: bool = True

    def __post_init__(self) -> None:
        _count(self, self.moments, "moments", 1)
        if not (np.isfinite(self.frequency) and self.frequency >= 0):
            raise ModelError(f"Krylov: frequency must be a number of Hz, not {self.frequency!r}.")

    def shapes(self, space: Space, inertia: Array) -> Shapes:
        """A basis of the Krylov space, orthonormal in M."""
        loads = np.hstack([space.C.T.toarray(), inertia if self.inertia else inertia[:, :0]])
        loads = loads[:, np.linalg.norm(loads, axis=0) > 0]  # those across a plane part
        if loads.shape[1] == 0:
            raise ModelError(f"{space.part.name}: Krylov needs loads to match: give interfaces=, or inertia=True.")
        free = _elastic(space)
        solve = free.solve
        if self.frequency:
            shift = (2 * np.pi * self.frequency) ** 2
            try:
                factor = factorize(space.K - shift * space.M, definite=False)
            except SolverError as error:
                raise ModelError(
                    f"{space.part.name}: Krylov cannot expand about {self.frequency} Hz, at or near a natural "
                    f"frequency: {error}"
                ) from error

            def solve(f: Array, c: Array | float = 0.0) -> Array:
                found = factor.solve(f)
                known = space.momentum(space.R)  # what is rigid in it is left to the frame
                return np.asarray(found - space.R @ np.linalg.solve(space.R.T @ known, known.T @ found))

        on_places = space.C.shape[0]
        block = solve(loads)
        basis = np.zeros((space.size, 0))
        for _ in range(self.moments):
            if basis.shape[1]:
                block = solve(space.momentum(block))
            start = basis.shape[1]
            # interfaces first: what rounding cannot tell apart is lost to the inertia loads, not to them
            for some in (block[:, :on_places], block[:, on_places:]):
                basis = np.hstack([basis, _beside(space, basis, some)])
            on_places = min(on_places, basis.shape[1] - start)
            block = basis[:, start:]
            if not block.shape[1]:
                break
        return Shapes(basis, _numbered("Krylov shape", basis.shape[1]))


@dataclass(frozen=True)
class FullOrder(Reduction):
    """Every nodal coordinate: as dense modes of a small part, or ``sparse`` (None: where the part is too large).

    Sparse, a body runs in ``forward_dynamics`` with GeneralizedAlpha, without geometric stiffening.
    """

    sparse: bool | None = None

    def __post_init__(self) -> None:
        if not (self.sparse is None or isinstance(self.sparse, bool)):
            raise ModelError(f"FullOrder: sparse is True, False or None, not {self.sparse!r}.")

    def stays_sparse(self, space: Space) -> bool:
        """Whether a part is kept sparse: by itself, one that is too large and has one scalar mass matrix."""
        if self.sparse is not None:
            return self.sparse
        return space.size > LARGEST_FULL and space.part.scalar_mass is not None

    def shapes(self, space: Space, inertia: Array) -> Shapes:
        """Unit displacement of every coordinate."""
        if space.size > LARGEST_FULL:
            raise ModelError(
                f"{space.part.name}: all {space.size} coordinates as dense modes is too much (limit {LARGEST_FULL}); "
                "reduce it with CraigBampton or ModalTruncation and more modes."
            )
        return Shapes(np.eye(space.size), _numbered("coordinate", space.size))


def _elastic(space: Space) -> Conditions:
    """Static solutions of the part held where it is fixed; a free one in mean axes, loads balanced by inertia."""
    return space.under(sp.csr_array(space.momentum(space.R).T) if space.R.shape[1] else sp.csr_array((0, space.size)))


def _beside(space: Space, basis: Array, block: Array) -> Array:
    """What a block adds to an orthonormal basis, orthonormal in M."""
    size = np.sqrt(np.maximum(np.einsum("ik,ik->k", block, space.momentum(block)), 0.0))
    for lengths in (size, None):  # twice is enough
        block = block - basis @ (basis.T @ space.momentum(block))
        block = block @ orthonormalised(block.T @ space.momentum(block), lengths)
    return block


def _modes(method: Reduction, space: Space, under: Conditions, count: int) -> tuple[Array, float]:
    """Lowest modes, and the eigenvalue of the first that is left out."""
    most = space.size - under.B.shape[0]
    if count > most:
        raise ModelError(
            f"{space.part.name}: {count} modes were asked for, but {type(method).__name__} has only {most} here; "
            "ask for fewer, or refine the mesh."
        )
    if most == 0:
        return np.zeros((space.size, 0)), np.inf
    try:
        values, vectors = space.modes(min(count + 1, most), under)
    except SolverError as error:
        raise ModelError(f"{space.part.name}: {type(method).__name__} found no modes: {error}.") from error
    return vectors[:, :count], float(values[count]) if count < len(values) else np.inf


def _count(method: Reduction, value: int, what: str, least: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ModelError(f"{type(method).__name__}: {what} must be a whole number of at least {least}, not {value!r}.")


def _numbered(what: str, count: int) -> tuple[str, ...]:
    return tuple(f"{what} {k + 1}" for k in range(count))
