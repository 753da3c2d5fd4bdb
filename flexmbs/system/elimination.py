"""Block elimination along the joint graph: the order found once, the numbers refreshed at every step.

Newton's matrix of a mechanism couples bodies through joints only. Each body is a node that carries the rows of the joint
by which it hangs on its parent (its tree joint); joints that close loops, and couplings, are nodes of their own. Nodes
are eliminated from the leaves to the roots, closing nodes as soon as their loop is gone, so that the work grows with the
number of bodies for chains and trees. A node's own rows are seen by no other node: only its first ``coupling``
coordinates are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_options: dict[str, Any] = {"cache": True, "error_model": "numpy"}


class Plan(NamedTuple):
    """Where every block of the matrix lies, and what eliminating each node changes.

    Node k has ``size[k]`` unknowns from ``first[k]`` on; its diagonal block starts at ``diagonal[k]``. Its later
    neighbours are ``neighbour[start[k]:start[k+1]]``, with blocks U (size x coupling) at ``upper`` and L (coupling x size)
    at ``lower``. ``target``, ``stride`` say where L U of each pair of neighbours is subtracted.
    """

    size: Index
    coupling: Index
    first: Index
    diagonal: Index
    start: Index
    neighbour: Index
    upper: Index
    lower: Index
    pair_start: Index
    target: Index
    stride: Index
    values: int  # length of the data array
    unknowns: int


def plan(coupling: Sequence[int], internal: Sequence[int], edges: Iterable[tuple[int, int]]) -> Plan:
    """The plan for nodes numbered in the order of elimination."""
    count = len(coupling)
    later: list[set[int]] = [set() for _ in range(count)]
    for a, b in edges:
        if a != b:
            later[min(a, b)].add(max(a, b))
    for k in range(count):
        for j in later[k]:
            later[j] |= {m for m in later[k] if m > j}
    size = np.array(coupling, dtype=np.int64) + np.array(internal, dtype=np.int64)
    struct = [sorted(s) for s in later]
    start = np.concatenate([[0], np.cumsum([len(s) for s in struct])]).astype(np.int64)
    diagonal, upper, lower, at = [], {}, {}, 0
    for k in range(count):
        diagonal.append(at)
        at += int(size[k]) ** 2
        for j in struct[k]:
            upper[k, j] = at
            at += int(size[k]) * coupling[j]
            lower[j, k] = at
            at += int(size[k]) * coupling[j]
    target, stride, pairs = [], [], [0]
    for k in range(count):
        for i in struct[k]:
            for j in struct[k]:
                place, step = _place(i, j, diagonal, upper, lower, size, coupling)
                target.append(place)
                stride.append(step)
        pairs.append(len(target))
    index = lambda values: np.array(values, dtype=np.int64).reshape(-1)  # noqa: E731
    return Plan(
        size=size,
        coupling=index(coupling),
        first=np.concatenate([[0], np.cumsum(size)]).astype(np.int64)[:-1],
        diagonal=index(diagonal),
        start=start,
        neighbour=index([j for s in struct for j in s]),
        upper=index([upper[k, j] for k in range(count) for j in struct[k]]),
        lower=index([lower[j, k] for k in range(count) for j in struct[k]]),
        pair_start=index(pairs),
        target=index(target),
        stride=index(stride),
        values=at,
        unknowns=int(size.sum()),
    )


def block_place(p: Plan, i: int, j: int) -> tuple[int, int]:
    """First value and row stride of the block that couples nodes i (rows) and j (columns)."""
    if i == j:
        return int(p.diagonal[i]), int(p.size[i])
    k, m = min(i, j), max(i, j)
    at = int(p.start[k]) + int(np.flatnonzero(p.neighbour[p.start[k] : p.start[k + 1]] == m)[0])
    return (int(p.upper[at]), int(p.coupling[j])) if i < j else (int(p.lower[at]), int(p.size[j]))


def _place(i: int, j: int, diagonal: Any, upper: Any, lower: Any, size: Any, coupling: Any) -> tuple[int, int]:
    if i == j:
        return diagonal[i], int(size[i])
    return (upper[i, j], coupling[j]) if i < j else (lower[i, j], int(size[j]))


@njit(**_options)
def factor_dense(a, pivots, scale):
    """LU with row exchanges in place; returns the number of pivots that vanish against ``scale``.

    A vanishing pivot belongs to a redundant row: its unknown is set to zero.
    """
    n = a.shape[0]
    dropped = 0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        pivots[k] = p
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
        if abs(a[k, k]) <= scale:
            a[k, k] = np.inf
            dropped += 1
        inverse = 1.0 / a[k, k]
        for i in range(k + 1, n):
            factor = a[i, k] * inverse
            a[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    a[i, j] -= factor * a[k, j]
    return dropped


@njit(**_options)
def solve_dense(a, pivots, b):
    """b (n, m) becomes a⁻¹ b."""
    n, m = b.shape
    for k in range(n):
        p = pivots[k]
        if p != k:
            for j in range(m):
                b[k, j], b[p, j] = b[p, j], b[k, j]
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k]
            if factor != 0.0:
                for j in range(m):
                    b[i, j] -= factor * b[k, j]
    for k in range(n - 1, -1, -1):
        inverse = 1.0 / a[k, k]
        for j in range(m):
            total = b[k, j]
            for i in range(k + 1, n):
                total -= a[k, i] * b[i, j]
            b[k, j] = total * inverse


@njit(**_options)
def factorise(p, data, pivots, tolerance):
    """Eliminate all nodes; returns how many pivots vanished. ``tolerance`` is relative to the node's largest entry."""
    dropped = 0
    for k in range(p.size.size):
        n = p.size[k]
        d = data[p.diagonal[k] : p.diagonal[k] + n * n].reshape((n, n))
        largest = 0.0
        for i in range(n):
            for j in range(n):
                largest = max(largest, abs(d[i, j]))
        dropped += factor_dense(d, pivots[p.first[k] : p.first[k] + n], tolerance * largest)
        first, last = p.start[k], p.start[k + 1]
        for s in range(first, last):
            m = p.coupling[p.neighbour[s]]
            solve_dense(d, pivots[p.first[k] : p.first[k] + n], data[p.upper[s] : p.upper[s] + n * m].reshape((n, m)))
        pair = p.pair_start[k]
        for s in range(first, last):
            rows = p.coupling[p.neighbour[s]]
            left = data[p.lower[s] : p.lower[s] + rows * n].reshape((rows, n))
            for u in range(first, last):
                columns = p.coupling[p.neighbour[u]]
                right = data[p.upper[u] : p.upper[u] + n * columns].reshape((n, columns))
                at, stride = p.target[pair], p.stride[pair]
                for i in range(rows):
                    for q in range(n):
                        factor = left[i, q]
                        if factor != 0.0:
                            for j in range(columns):
                                data[at + i * stride + j] -= factor * right[q, j]
                pair += 1
    return dropped


@njit(**_options)
def substitute(p, data, pivots, x):
    """x becomes the solution."""
    for k in range(p.size.size):
        n = p.size[k]
        d = data[p.diagonal[k] : p.diagonal[k] + n * n].reshape((n, n))
        own = x[p.first[k] : p.first[k] + n]
        solve_dense(d, pivots[p.first[k] : p.first[k] + n], own.reshape((n, 1)))
        for s in range(p.start[k], p.start[k + 1]):
            j = p.neighbour[s]
            for i in range(p.coupling[j]):
                total = 0.0
                for q in range(n):
                    total += data[p.lower[s] + i * n + q] * own[q]
                x[p.first[j] + i] -= total
    for k in range(p.size.size - 1, -1, -1):
        n = p.size[k]
        for s in range(p.start[k], p.start[k + 1]):
            j = p.neighbour[s]
            m = p.coupling[j]
            for i in range(n):
                total = 0.0
                for q in range(m):
                    total += data[p.upper[s] + i * m + q] * x[p.first[j] + q]
                x[p.first[k] + i] -= total
