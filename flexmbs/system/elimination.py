"""Block elimination along the joint graph: the order found once, the numbers refreshed at every step.

Newton's matrix of a mechanism couples bodies through joints only. Each body is a node that carries the rows of the
joint by which it hangs on its parent (its tree joint); joints that close loops, and couplings, are nodes of their own.
Nodes are eliminated from the leaves to the roots, closing nodes as soon as their loop is gone, so that the work grows
with the number of bodies for chains and trees. A node's own rows are seen by no other node: only its first
``coupling`` coordinates are.

Every node has a *front*: a dense matrix of its own unknowns and, after them, those of its later neighbours. Eliminating
the node leaves in the neighbours' corner what is added to their fronts (Duff and Reid 1983).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexmbs.system.lanes import LANES, dot_lanes, subtract_lanes

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
    neighbours goes; ``lower`` where the factors of the node's own rows are kept.
    """

    size: Index
    coupling: Index
    closing: NDArray[np.bool_]
    first: Index
    width: Index  # unknowns in the front: own and neighbours'
    front: Index
    stride: Index
    lower: Index
    lower_stride: Index
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
    stride, lower_stride = (-(-width // LANES) * LANES, -(-size // LANES) * LANES)
    length = width * stride + size * lower_stride
    front = np.cumsum([0, *length])[:-1]
    p = Plan(
        size=size,
        coupling=_index(coupling),
        closing=np.array([k in closing for k in range(count)], dtype=np.bool_),
        first=_index(np.cumsum([0, *size])[:-1]),
        width=width,
        front=_index(front),
        stride=stride,
        lower=_index(front + width * stride),
        lower_stride=lower_stride,
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
def subtract_row(data, target, factor, source, first, last):
    """Row at ``target`` -= factor · row at ``source``, from the lane that holds column ``first`` on."""
    for c in range(first - first % LANES, last, LANES):
        subtract_lanes(data, target + c, factor, source + c)


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
def pass_on(p, k, data, order, scale):
    """Add the neighbours' corner of front k to their fronts; ``scale`` collects what diagonals of rows are made of."""
    n, front, stride, pair = p.size[k], p.front[k], p.stride[k], p.pair_start[k]
    for s in range(p.start[k], p.start[k + 1]):
        other, above = p.neighbour[s], front + p.offset[s] * stride
        rows, offset = p.coupling[other], p.offset[s]
        for u in range(p.start[k], p.start[k + 1]):
            columns = p.coupling[p.neighbour[u]]
            for i in range(rows):
                source, target = above + i * stride + p.offset[u], p.target[pair] + i * p.target_stride[pair]
                for j in range(columns):
                    data[_at(target + j)] += data[_at(source + j)]
            pair += 1
        if p.closing[other]:  # its diagonal is nothing but this, and vanishes where a row is redundant
            for i in range(rows):
                for c in range(n):
                    pivot_row = front + order[p.first[k] + c] * stride
                    scale[p.first[other] + i] += abs(
                        data[_at(above + i * stride + c)] * data[_at(pivot_row + offset + i)]
                    )


@njit(**_inlined)
def factorise(p, factors, tolerance):
    """Eliminate all nodes; returns how many pivots vanished against ``tolerance`` times what they came from.

    A vanishing pivot belongs to a redundant row: its unknown is set to zero.
    """
    data, order, scale, _ = factors
    dropped = 0
    scale[:] = 0.0
    for k in range(p.size.size):
        n, width, coupling, stride = p.size[k], p.width[k], p.coupling[k], p.stride[k]
        front, first, lower, lower_stride = p.front[k], p.first[k], p.lower[k], p.lower_stride[k]
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
            data[_at(source + c)] = inverse
            # left of its pivot a row is zero, so that whole lanes can be combined without harm to what is kept there
            for i in range(c + 1, n):
                row = order[_at(first + i)]
                target = front + row * stride
                factor = data[_at(target + c)] * inverse
                data[_at(lower + row * lower_stride + c)] = factor
                if factor != 0.0:
                    subtract_row(data, target, factor, source, c, width)
                data[_at(target + c)] = 0.0
            for target in range(front + n * stride, front + width * stride, stride):
                factor = data[_at(target + c)] * inverse
                if factor != 0.0:
                    subtract_row(data, target, factor, source, c, width)
                data[_at(target + c)] = factor
        pass_on(p, k, data, order, scale)
    return dropped


@njit(**_inner)
def dot_row(data, at, y, first, last):
    """Σ data[at + j] y[j] to column ``last``, from the lane that holds column ``first`` on."""
    total = 0.0
    for c in range(first - first % LANES, last, LANES):
        total += dot_lanes(data, at + c, y, c)
    return total


@njit(**_inlined)
def substitute(p, factors, x):
    """x becomes the solution."""
    data, order, _, y = factors
    for k in range(p.size.size):
        n, front, stride, first = p.size[k], p.front[k], p.stride[k], p.first[k]
        lower, lower_stride = p.lower[k], p.lower_stride[k]
        for c in range(n):
            row = order[first + c]
            at, total = lower + row * lower_stride, x[_at(first + row)]
            for j in range(c):
                total -= data[_at(at + j)] * y[_at(j)]
            y[_at(c)] = total
        for c in range(n, lower_stride):  # whole lanes are added below
            y[_at(c)] = 0.0
        for c in range(n):
            x[_at(first + c)] = y[_at(c)]
        for s in range(p.start[k], p.start[k + 1]):
            other, above = p.first[p.neighbour[s]], front + p.offset[s] * stride
            for i in range(p.coupling[p.neighbour[s]]):
                x[_at(other + i)] -= dot_row(data, above + i * stride, y, 0, n)
    for k in range(p.size.size - 1, -1, -1):
        n, front, stride, first = p.size[k], p.front[k], p.stride[k], p.first[k]
        for c in range(stride):
            y[_at(c)] = 0.0
        for s in range(p.start[k], p.start[k + 1]):
            other = p.first[p.neighbour[s]]
            for i in range(p.coupling[p.neighbour[s]]):
                y[_at(p.offset[s] + i)] = x[_at(other + i)]
        for c in range(n):
            x[_at(first + c)] -= dot_row(data, front + order[first + c] * stride, y, n, p.width[k])
        for c in range(n - 1, -1, -1):
            source, total = front + order[first + c] * stride, x[_at(first + c)]
            for j in range(c + 1, n):
                total -= data[_at(source + j)] * x[_at(first + j)]
            x[_at(first + c)] = total * data[_at(source + c)]
