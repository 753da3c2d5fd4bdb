"""A stand-in for a mesh: points, sets, unequal weights; and elements with a connectivity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp


@dataclass(frozen=True)
class FakeModel:
    points: np.ndarray
    dofs_per_node: int
    sets: dict[str, list[int]]

    def nodes(self, which: Any) -> np.ndarray:
        if isinstance(which, str):
            which = self.sets[which]
        elif len(which) and isinstance(which[0], str):
            which = np.concatenate([self.sets[name] for name in which])
        return np.unique(np.asarray(which, dtype=np.int64))

    def weights(self, which: Any) -> np.ndarray:
        share = 1.0 + self.nodes(which) % 3
        return share / share.sum()

    @property
    def size(self) -> int:
        return len(self.points) * self.dofs_per_node


@dataclass(frozen=True)
class FakeBlocks:
    """Element matrices (e, k, k), vectors (e, k) or columns (e, k, c)."""

    values: np.ndarray
    kind: str
    is_blocks: bool = True

    def block_diagonal(self) -> Any:
        return sp.csr_array(sp.block_diag(list(self.values)))

    def stacked(self) -> np.ndarray:
        return self.values.reshape(-1, *self.values.shape[2:])


@dataclass(frozen=True)
class FakeAssembler:
    """Scatter-add over elements with given nodal coordinates, (e, k), and a rotation for each element."""

    dofs: np.ndarray
    rotations: np.ndarray
    count: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.dofs.size, self.count

    def assemble(self, blocks: FakeBlocks) -> Any:
        assert blocks.values.shape[:2] == self.dofs.shape
        T = self.rotations
        if blocks.kind == "matrix":
            local = np.einsum("eji,ejk,ekl->eil", T, blocks.values, T)
            rows, columns = np.broadcast_arrays(self.dofs[:, :, None], self.dofs[:, None, :])
            return sp.csr_array((local.ravel(), (rows.ravel(), columns.ravel())), shape=(self.count, self.count))
        total = np.zeros((self.count, *blocks.values.shape[2:]))
        np.add.at(total, self.dofs, np.einsum("eji,ej...->ei...", T, blocks.values))
        return total

    def matrix(self) -> Any:
        e, k = self.dofs.shape
        rows = np.broadcast_to(np.arange(e * k).reshape(e, k, 1), (e, k, k))
        columns = np.broadcast_to(self.dofs[:, None, :], (e, k, k))
        return sp.csr_array((self.rotations.ravel(), (rows.ravel(), columns.ravel())), shape=self.shape)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def make_model(rng: np.random.Generator) -> Callable[[int], FakeModel]:
    def make(dofs_per_node: int) -> FakeModel:
        points = rng.normal(size=(12, 3))
        if dofs_per_node == 2:
            points[:, 2] = 0.0
        points[9] = points[8] + 0.5 * (points[7] - points[8])  # 7, 8, 9 on one line
        sets = {"left": [0, 1, 2, 3], "right": [3, 4, 5, 6], "line": [7, 8, 9], "end": [11], "top": [4, 5, 6, 10]}
        return FakeModel(points, dofs_per_node, sets)

    return make


@pytest.fixture
def solid(make_model: Callable[[int], FakeModel]) -> FakeModel:
    return make_model(3)


@pytest.fixture
def beam(make_model: Callable[[int], FakeModel]) -> FakeModel:
    return make_model(6)


@pytest.fixture
def plane(make_model: Callable[[int], FakeModel]) -> FakeModel:
    return make_model(2)


@pytest.fixture(params=[2, 3, 6], ids=["plane", "solid", "beam"])
def model(request: pytest.FixtureRequest, make_model: Callable[[int], FakeModel]) -> FakeModel:
    return make_model(request.param)


@pytest.fixture
def blocks() -> type[FakeBlocks]:
    return FakeBlocks


@pytest.fixture
def assembler(rng: np.random.Generator) -> FakeAssembler:
    dofs = np.array([[0, 1, 2, 3], [2, 3, 4, 5], [5, 4, 6, 0], [6, 7, 1, 3]])
    rotations = np.linalg.qr(rng.normal(size=(4, 4, 4)))[0]
    return FakeAssembler(dofs, rotations, 8)
