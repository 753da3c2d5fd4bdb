"""Block elimination along the joint graph: the order found once, the numbers refreshed at every step.

Newton's matrix of a mechanism couples bodies through joints only. Each body is a node that carries the rows of the
joint by which it hangs on its parent (its tree joint); joints that close loops, and couplings, are nodes of their own.
Nodes are eliminated from the leaves to the roots, closing nodes as soon as their loop is gone, so that the work grows
with the number of bodies for chains and trees. A node's own rows are seen by no other node: only its first
``coupling`` coordinates are.

Every node has a *front*: a dense matrix of its own unknowns and, after them, those of its later neighbours. Eliminating
the node leaves in the neighbours' corner what is added to their fronts (Duff and Reid 1983). The node's own rows are
eliminated from all others, above and below (Gauss-Jordan): with [A B; C D] the front becomes [A⁻¹ A⁻¹B; -CA⁻¹ D-CA⁻¹B].
That costs more than triangular factors, but a solution is then made of products with whole rows alone, no unknown of a
node waits for another, and there are many solutions to one elimination.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.system.lanes import LANES, dot_lanes, scale_lanes, subtract_lanes

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_options: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"contract"},
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
_inlined: dict[str, Any] = {**_options, "forceinline": True}
_inner: dict[str, Any] = {**_inlined, "no_cpython_wrapper": True}

_at = np.uint64  # an unsigned index needs no check for counting from the end


class Plan(NamedTuple):
    """Where every block of the matrix lies, and what eliminating each node changes.

    Node k has ``size[k]`` unknowns from ``first[k]`` on, the first ``coupling[k]`` of which are seen by others. Its
    front starts at ``front[k]``, rows ``stride[k]`` apart; its later neighbours, ``neighbour[start[k]:start[k+1]]``,
    have their unknowns at ``offset`` in it. ``target``, ``target_stride`` say where the corner of each pair of
    neighbours goes.
    """

    size: Index
    coupling: Index
    closing: NDArray[np.bool_]
    first: Index
    width: Index  # unknowns in the front: own and neighbours'
    front: Index
    stride: Index
    start: Index
    neighbour: Index
    offset: Index
    pair_start: Index
    target: Index
    target_stride: Index
    values: int  # length of the data array
    unknowns: int


class Factors(NamedTuple):
    """The numbers that belong to a plan: the fronts, which become factors, and scratch."""

    data: Array  # all fronts; what is assembled goes here
    order: Index  # (unknowns,) order of rows within each node
    scale: Array  # (unknowns,) what pivots are measured by, and its inverse
    known: Array  # (widest front,)


def factor_arrays(p: Plan) -> Factors:
    """Arrays for one matrix at a time."""
    return Factors(
        np.zeros(p.values),
        np.zeros(p.unknowns, np.int64),
        np.zeros(p.unknowns),
        np.zeros(int(p.stride.max(initial=0))),
    )


def plan(
    coupling: Sequence[int],
    internal: Sequence[int],
    edges: Iterable[tuple[int, int]],
    closing: Collection[int] = (),
) -> Plan:
    """The plan for nodes numbered in the order of elimination; those in ``closing`` are rows of constraints alone."""
    count = len(coupling)
    later: list[set[int]] = [set() for _ in range(count)]
    for a, b in edges:
        if a != b:
            later[min(a, b)].add(max(a, b))
    for k in range(count):  # eliminating a node makes its neighbours neighbours of each other
        for j in later[k]:
            later[j] |= {m for m in later[k] if m > j}
    struct = [sorted(s) for s in later]
    size = _index(coupling) + _index(internal)
    offsets = [np.cumsum([size[k], *(coupling[j] for j in struct[k])]) for k in range(count)]
    width = _index([o[-1] for o in offsets])
    stride = -(-width // LANES) * LANES
    length = width * stride
    front = np.cumsum([0, *length])[:-1]
    p = Plan(
        size=size,
        coupling=_index(coupling),
        closing=np.array([k in closing for k in range(count)], dtype=np.bool_),
        first=_index(np.cumsum([0, *size])[:-1]),
        width=width,
        front=_index(front),
        stride=stride,
        start=_index(np.cumsum([0, *map(len, struct)])),
        neighbour=_index([j for s in struct for j in s]),
        offset=_index([o for own in offsets for o in own[:-1]]),
        pair_start=_index(np.cumsum([0, *(len(s) ** 2 for s in struct)])),
        target=_index([]),
        target_stride=_index([]),
        values=int(length.sum()),
        unknowns=int(size.sum()),
    )
    targets = [block_place(p, i, j) for s in struct for i in s for j in s]
    return p._replace(target=_index([t for t, _ in targets]), target_stride=_index([t for _, t in targets]))


def block_place(p: Plan, i: int, j: int) -> tuple[int, int]:
    """First value and row stride of the block that couples nodes i (rows) and j (columns)."""
    k = min(i, j)
    row, column = (0 if m == k else _offset(p, k, m) for m in (i, j))
    return int(p.front[k] + row * p.stride[k] + column), int(p.stride[k])


def _offset(p: Plan, k: int, neighbour: int) -> int:
    first, last = p.start[k], p.start[k + 1]
    return int(p.offset[first + np.searchsorted(p.neighbour[first:last], neighbour)])


def _index(values: Any) -> Index:
    return np.array(values, dtype=np.int64).reshape(-1)


@njit(**_inner)
def choose(data, front, stride, order, first, k, n, coupling, weight):
    """Place in ``order`` of the row that eliminates column k.

    A row of the tree joint is taken as soon as it is good enough: its multipliers' columns are empty, so little fills
    up, and what is left of the body is its inertia in the free directions. Otherwise the largest entry, each row
    measured by its ``weight``.
    """
    best, size = k, 0.0
    for i in range(k, n):
        row = order[_at(first + i)]
        value = abs(data[_at(front + row * stride + k)]) * weight[_at(first + row)]
        if value > size:
            best, size = i, value
            if value > 0.5 and row >= coupling:
                break
    return best


@njit(**_inner)
def collect(p, k, c, source, data, scale):
    """Add to ``scale`` what eliminating column c takes from the diagonals of closing neighbours.

    Their diagonal is nothing but this, and vanishes where a row is redundant.
    """
    for s in range(p.start[k], p.start[k + 1]):
        other, offset = p.neighbour[s], p.offset[s]
        if p.closing[other]:
            for i in range(p.coupling[other]):
                factor = data[_at(p.front[k] + (offset + i) * p.stride[k] + c)]
                scale[_at(p.first[other] + i)] += abs(factor * data[_at(source + offset + i)])


@njit(**_inner)
def pass_on(p, k, data):
    """Add the neighbours' corner of front k to their fronts."""
    front, stride, pair = p.front[k], p.stride[k], p.pair_start[k]
    for s in range(p.start[k], p.start[k + 1]):
        above, rows = front + p.offset[s] * stride, p.coupling[p.neighbour[s]]
        for u in range(p.start[k], p.start[k + 1]):
            columns = p.coupling[p.neighbour[u]]
            for i in range(rows):
                source, target = above + i * stride + p.offset[u], p.target[pair] + i * p.target_stride[pair]
                for j in range(columns):
                    data[_at(target + j)] += data[_at(source + j)]
            pair += 1


@njit(**_inlined)
def factorise(p, factors, tolerance):
    """Eliminate all nodes; returns how many pivots vanished against ``tolerance`` times what they came from.

    A vanishing pivot belongs to a redundant row: its unknown is set to zero.
    """
    data, order, scale, _ = factors
    dropped = 0
    scale[:] = 0.0
    for k in range(p.size.size):
        n, coupling, stride, front, first = p.size[k], p.coupling[k], p.stride[k], p.front[k], p.first[k]
        end = front + p.width[k] * stride
        for i in range(n):
            order[_at(first + i)] = i + coupling if i < n - coupling else i + coupling - n
            largest = scale[_at(first + i)]
            for j in range(coupling):
                largest = max(largest, abs(data[_at(front + i * stride + j)]))
            scale[_at(first + i)] = 1.0 / largest
        for c in range(n):
            i = choose(data, front, stride, order, first, c, n, coupling, scale)
            own = order[_at(first + i)]
            order[_at(first + i)] = order[_at(first + c)]
            order[_at(first + c)] = own
            source = front + own * stride
            pivot = data[_at(source + c)]
            inverse = 1.0 / pivot
            if not abs(pivot) * scale[_at(first + own)] > tolerance:
                inverse = 0.0
                dropped += 1
            scale_lanes(data, source, inverse, stride)
            data[_at(source + c)] = inverse
            collect(p, k, c, source, data, scale)
            for target in range(front, end, stride):
                factor = data[_at(target + c)]
                if factor != 0.0 and target != source:
                    subtract_lanes(data, target, factor, source, stride)
                    data[_at(target + c)] = -factor * inverse
        pass_on(p, k, data)
    return dropped


@njit(**_inlined)
def substitute(p, factors, x):
    """x becomes the solution."""
    data, order, _, y = factors
    for k in range(p.size.size):
        n, front, stride, first = p.size[k], p.front[k], p.stride[k], p.first[k]
        for c in range(n):
            y[_at(c)] = x[_at(first + order[_at(first + c)])]
        last = -(-n // LANES) * LANES  # whole lanes are added
        for c in range(n, last):
            y[_at(c)] = 0.0
        for c in range(n):
            x[_at(first + c)] = y[_at(c)]
        for s in range(p.start[k], p.start[k + 1]):
            other, above = p.first[p.neighbour[s]], front + p.offset[s] * stride
            for i in range(p.coupling[p.neighbour[s]]):
                x[_at(other + i)] += dot_lanes(data, above + i * stride, y, last)
    for k in range(p.size.size - 1, -1, -1):
        n, front, stride, first = p.size[k], p.front[k], p.stride[k], p.first[k]
        for c in range(n):
            y[_at(c)] = x[_at(first + c)]
        for s in range(p.start[k], p.start[k + 1]):
            other = p.first[p.neighbour[s]]
            for i in range(p.coupling[p.neighbour[s]]):
                y[_at(p.offset[s] + i)] = -x[_at(other + i)]
        for c in range(p.width[k], stride):
            y[_at(c)] = 0.0
        for c in range(n):
            x[_at(first + c)] = dot_lanes(data, front + order[_at(first + c)] * stride, y, stride)
