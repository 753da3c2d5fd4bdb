"""Fill-reducing order of the unknowns by nested dissection of the matrix graph.

Unknowns with the same neighbours (the components of one node) are merged first. Each piece of the graph is then
cut near its middle between two far ends; the cut is turned into a small vertex separator by Fiduccia–Mattheyses
moves, and the separator is numbered after the two halves. Separators and leaves are the fronts of a factorisation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

Index = NDArray[np.int64]
Array = NDArray[np.float64]

LEAF = 40  # unknowns of a piece that is not cut further
IMBALANCE = 1.0  # how much lighter a separator must be to be taken away from the middle
SMOOTHING = 8  # averagings that turn whole-numbered graph distances into a smooth height


class Ordering(NamedTuple):
    """Order of the unknowns: `permutation[k]` is eliminated k-th; front f owns `starts[f]:starts[f + 1]`."""

    permutation: Index
    starts: Index


def dissect(matrix: sp.csc_matrix) -> Ordering:
    """Nested dissection of a matrix with symmetric pattern."""
    n = matrix.shape[0]
    group, weight = _merge_equal_columns(matrix)
    members = np.argsort(group, kind="stable")
    first = np.concatenate(([0], np.cumsum(weight)))
    representative = members[first[:-1]]
    # the graph of merged unknowns, without loops; both directions even where a zero is stored on one side only
    pattern = sp.csc_matrix((np.ones(matrix.nnz, np.int8), matrix.indices, matrix.indptr), shape=matrix.shape)
    graph = pattern[:, representative][representative]
    graph = sp.csc_matrix(graph + graph.T)
    graph.setdiag(0)
    graph.eliminate_zeros()
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    order, starts = _dissect(indptr, indices, weight, LEAF)
    sizes = weight[order]
    ends = np.concatenate(([0], np.cumsum(sizes)))
    offset = np.repeat(first[order] - ends[:-1], sizes)
    return Ordering(members[offset + np.arange(n)], ends[starts])


def _merge_equal_columns(matrix: sp.csc_matrix) -> tuple[Index, Index]:
    """Group number of each unknown and the size of each group; columns of a group have the same pattern."""
    n = matrix.shape[0]
    key = np.random.default_rng(7).integers(0, 2**63, n, dtype=np.uint64)
    # the wrapping sum of random keys is a fingerprint of the set of rows of a column
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(key[matrix.indices], dtype=np.uint64)))
    fingerprint = sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]]
    _, group, weight = np.unique(fingerprint, return_inverse=True, return_counts=True)
    # keep groups in the order of the unknowns: neighbours in memory stay neighbours
    first = np.full(len(weight), n)
    np.minimum.at(first, group, np.arange(n))
    rank = np.empty(len(weight), np.int64)
    rank[np.argsort(first)] = np.arange(len(weight))
    return rank[group], weight[np.argsort(first)].astype(np.int64)


@njit(cache=True)
def _distances(indptr, indices, piece, label, root, distance, queue):  # type: ignore[no-untyped-def]
    """Breadth-first distances from `root` inside piece `label`; returns how many nodes were reached."""
    distance[root] = 0
    queue[0] = root
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        for k in range(indptr[v], indptr[v + 1]):
            u = indices[k]
            if piece[u] == label and distance[u] < 0:
                distance[u] = distance[v] + 1
                queue[tail] = u
                tail += 1
    return tail


@njit(cache=True)
def _heights(indptr, indices, piece, label, nodes, height, work, distance, queue):  # type: ignore[no-untyped-def]
    """Fill a smooth height over the piece, from one far end to the other; False if it is not connected."""
    root = nodes[0]
    for sweep in range(4):
        for v in nodes:
            distance[v] = -1
        reached = _distances(indptr, indices, piece, label, root, distance, queue)
        if reached < len(nodes):
            return False
        if sweep == 2:
            for v in nodes:
                height[v] = distance[v]
        elif sweep == 3:
            for v in nodes:
                height[v] -= distance[v]
        root = queue[reached - 1]
    for _ in range(SMOOTHING):
        for v in nodes:
            total, count = height[v], 1
            for k in range(indptr[v], indptr[v + 1]):
                u = indices[k]
                if piece[u] == label:
                    total += height[u]
                    count += 1
            work[v] = total / count
        for v in nodes:
            height[v] = work[v]
    return True


@njit(cache=True)
def _cut(indptr, indices, weight, piece, label, ranked, total, side, rank):  # type: ignore[no-untyped-def]
    """Cut the piece, ranked by height, where the separator is lightest for its distance from the middle."""
    n = len(ranked)
    for i in range(n):
        rank[ranked[i]] = i
    # v separates the cut after rank t if rank[v] <= t < the highest rank among its neighbours
    change = np.zeros(n + 1, np.int64)
    for i in range(n):
        v = ranked[i]
        top = i
        for k in range(indptr[v], indptr[v + 1]):
            u = indices[k]
            if piece[u] == label:
                top = max(top, rank[u])
        if top > i:
            change[i] += weight[v]
            change[top] -= weight[v]
    best, cut = np.inf, 0
    below, separator = 0, 0
    for t in range(n - 1):
        below += weight[ranked[t]]
        separator += change[t]
        off = abs(2 * below - separator - total) / total
        value = separator * (1.0 + IMBALANCE * off * off)
        if (off < 0.4 and value < best) or (best == np.inf and 2 * below >= total):
            best, cut = value, t
    for i in range(n):
        v = ranked[i]
        side[v] = 0 if i <= cut else 1
        if i <= cut:
            for k in range(indptr[v], indptr[v + 1]):
                u = indices[k]
                if piece[u] == label and rank[u] > cut:
                    side[v] = 2
                    break


@njit(cache=True)
def _enter(indptr, indices, weight, piece, label, side, pull, v):  # type: ignore[no-untyped-def]
    """Put v into the separator; pull[s, v] is the weight of its neighbours on side s."""
    old = side[v]
    side[v] = 2
    pull[0, v] = 0
    pull[1, v] = 0
    for k in range(indptr[v], indptr[v + 1]):
        u = indices[k]
        if piece[u] != label:
            continue
        if side[u] < 2:
            pull[side[u], v] += weight[u]
        else:
            pull[old, u] -= weight[v]


@njit(cache=True)
def _refine(indptr, indices, weight, piece, label, nodes, side, pull):  # type: ignore[no-untyped-def]
    """Fiduccia–Mattheyses passes: move separator nodes to a side while the best separator seen gets lighter."""
    size = np.zeros(3, np.int64)
    for v in nodes:
        size[side[v]] += weight[v]
    total = size.sum()
    heaviest = int(0.6 * total)
    capacity = len(nodes)
    separator = np.empty(capacity, np.int64)
    moved = np.empty(capacity, np.int64)
    log_node = np.empty(8 * capacity + 64, np.int64)
    log_side = np.empty(8 * capacity + 64, np.int64)
    for _ in range(6):
        count = 0
        for v in nodes:
            if side[v] == 2:
                separator[count] = v
                count += 1
                pull[0, v] = 0
                pull[1, v] = 0
                for k in range(indptr[v], indptr[v + 1]):
                    u = indices[k]
                    if piece[u] == label and side[u] < 2:
                        pull[side[u], v] += weight[u]
        best = size[2] + abs(size[0] - size[1]) * 0.02
        start_value = best
        logged, best_logged, since, moves = 0, 0, 0, 0
        while since < 60 and logged < 4 * capacity:
            choice, to, gain = -1, 0, -(1 << 60)
            for i in range(count):
                v = separator[i]
                for s in range(2):
                    g = weight[v] - pull[1 - s, v]
                    if size[s] + weight[v] > heaviest and size[s] >= size[1 - s]:
                        continue
                    if g > gain or (g == gain and size[s] < size[to]):
                        choice, to, gain = i, s, g
            if choice < 0:
                break
            v = separator[choice]
            count -= 1
            separator[choice] = separator[count]
            log_node[logged], log_side[logged] = v, 2
            logged += 1
            side[v] = to
            size[2] -= weight[v]
            size[to] += weight[v]
            moved[moves] = v
            moves += 1
            for k in range(indptr[v], indptr[v + 1]):
                u = indices[k]
                if piece[u] != label:
                    continue
                if side[u] == 2:
                    pull[to, u] += weight[v]
                elif side[u] == 1 - to:
                    log_node[logged], log_side[logged] = u, 1 - to
                    logged += 1
                    size[1 - to] -= weight[u]
                    size[2] += weight[u]
                    _enter(indptr, indices, weight, piece, label, side, pull, u)
                    # a node that has moved before stays in the separator for the rest of the pass
                    again = False
                    for j in range(moves):
                        if moved[j] == u:
                            again = True
                            break
                    if not again:
                        separator[count] = u
                        count += 1
            since += 1
            value = size[2] + abs(size[0] - size[1]) * 0.02
            if value < best:
                best, best_logged, since = value, logged, 0
        for j in range(logged - 1, best_logged - 1, -1):
            size[side[log_node[j]]] -= weight[log_node[j]]
            side[log_node[j]] = log_side[j]
            size[log_side[j]] += weight[log_node[j]]
        if best >= start_value:
            break


@njit(cache=True)
def _dissect(indptr, indices, weight, leaf):  # type: ignore[no-untyped-def]
    n = len(weight)
    order = np.arange(n)
    piece = np.zeros(n, np.int64)
    side = np.zeros(n, np.int64)
    height, work = np.zeros(n), np.zeros(n)
    pull = np.zeros((2, n), np.int64)
    distance, queue = np.zeros(n, np.int64), np.zeros(n, np.int64)
    is_start = np.zeros(n + 1, np.bool_)
    is_start[n] = True
    stack = [(0, n)]  # pieces still to be cut, as ranges of the order
    label = 0
    while len(stack) > 0:
        low, high = stack.pop()
        nodes = order[low:high].copy()
        total = 0
        for v in nodes:
            total += weight[v]
        if total <= leaf or high - low < 4:
            is_start[low] = True
            continue
        label += 1
        for v in nodes:
            piece[v] = label
        if not _heights(indptr, indices, piece, label, nodes, height, work, distance, queue):
            # separate components, the small ones gathered into common leaves
            for v in nodes:
                distance[v] = -1
            at, gathered = low, leaf + 1
            for v in nodes:
                if distance[v] >= 0:
                    continue
                reached = _distances(indptr, indices, piece, label, v, distance, queue)
                size = 0
                for i in range(reached):
                    order[at + i] = queue[i]
                    size += weight[queue[i]]
                gathered += size
                if size > leaf:
                    stack.append((at, at + reached))
                    gathered = leaf + 1
                elif gathered > leaf:
                    is_start[at] = True
                    gathered = size
                at += reached
            continue
        _cut(indptr, indices, weight, piece, label, nodes[np.argsort(height[nodes])], total, side, distance)
        _refine(indptr, indices, weight, piece, label, nodes, side, pull)
        at = low
        bounds = np.zeros(4, np.int64)
        bounds[0] = low
        for s in range(3):
            for v in nodes:
                if side[v] == s:
                    order[at] = v
                    at += 1
            bounds[s + 1] = at
        if bounds[2] < high:
            is_start[bounds[2]] = True
            # the separator is a finished front, no longer part of any piece
            for v in order[bounds[2] : high]:
                piece[v] = -1
        if bounds[1] - low == high - low or bounds[2] - bounds[1] == high - low:
            is_start[low] = True
            continue
        for s in range(2):
            if bounds[s + 1] > bounds[s]:
                stack.append((bounds[s], bounds[s + 1]))
    return order, np.flatnonzero(is_start)
