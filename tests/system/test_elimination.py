"""Elimination along a graph gives what a dense solution gives, whatever the graph."""

from __future__ import annotations

import numpy as np
import pytest

from flexmbs.system.elimination import Plan, block_place, factor_arrays, factorise, plan, substitute


def random_graph(rng, count, loops):
    """Sizes of nodes and the edges of a random tree (towards later nodes) with extra edges."""
    coupling = rng.integers(1, 8, count)
    internal = np.array([rng.integers(0, c + 1) for c in coupling])
    edges = [(k, int(rng.integers(k + 1, count))) for k in range(count - 1)]
    edges += [tuple(rng.choice(count, 2, replace=False)) for _ in range(loops)]
    return coupling, internal, edges


def fill(p: Plan, data, block, i, j):
    """Write a block of node i's rows and node j's columns into the fronts."""
    at, stride = block_place(p, i, j)
    for r, row in enumerate(block):
        data[at + r * stride : at + r * stride + len(row)] = row


def solve(p: Plan, data, b, tolerance=1e-12):
    factors, x = factor_arrays(p)._replace(data=data), b.copy()
    dropped = factorise(p, factors, tolerance)
    substitute(p, factors, x)
    return x, dropped


def saddle(rng, p: Plan, coupling, internal, edges, dense_joints=False):
    """A random matrix of the plan's structure, in fronts and dense: positive bodies, rows with an empty diagonal."""
    dense, data = np.zeros((p.unknowns, p.unknowns)), np.zeros(p.values)
    for k, (c, m) in enumerate(zip(coupling, internal, strict=True)):
        own = np.zeros((c + m, c + m))
        own[:c, :c] = rng.normal(size=(c, c)) * 0.1 + np.eye(c) * rng.uniform(1, 50)
        own[c:, :c] = rng.normal(size=(m, c))
        own[:c, c:] = -own[c:, :c].T
        put(p, dense, data, own, k, k)
    for i, j in {(min(e), max(e)) for e in edges}:
        put(p, dense, data, 0.1 * rng.normal(size=(p.size[i], coupling[j])), i, j)
        put(p, dense, data, 0.1 * rng.normal(size=(coupling[j], p.size[i])), j, i)
    return dense, data


def put(p: Plan, dense, data, block, i, j):
    dense[p.first[i] : p.first[i] + block.shape[0], p.first[j] : p.first[j] + block.shape[1]] = block
    fill(p, data, block, i, j)


@pytest.mark.parametrize("loops", [0, 1, 5, 40])
@pytest.mark.parametrize("count", [1, 2, 7, 25])
def test_equals_dense_solution(count, loops):
    rng = np.random.default_rng([count, loops])
    coupling, internal, edges = random_graph(rng, count, loops if count > 1 else 0)
    p = plan(coupling, internal, edges)
    dense, data = saddle(rng, p, coupling, internal, edges)
    b = rng.normal(size=p.unknowns)
    x, dropped = solve(p, data, b)
    assert dropped == 0
    np.testing.assert_allclose(dense @ x, b, atol=1e-9 * np.abs(dense).max() * np.abs(x).max())
    np.testing.assert_allclose(x, np.linalg.solve(dense, b), atol=1e-8 * np.abs(x).max())


def test_factors_serve_many_right_hand_sides():
    rng = np.random.default_rng(7)
    coupling, internal, edges = random_graph(rng, 9, 3)
    p = plan(coupling, internal, edges)
    dense, data = saddle(rng, p, coupling, internal, edges)
    factors = factor_arrays(p)._replace(data=data)
    factorise(p, factors, 1e-12)
    for _ in range(3):
        b = rng.normal(size=p.unknowns)
        x = b.copy()
        substitute(p, factors, x)
        np.testing.assert_allclose(dense @ x, b, atol=1e-9)


def test_massless_bodies_on_joints():
    """Inertia may vanish where the joint holds the body: the joint's rows come first."""
    rng = np.random.default_rng(7)
    p = plan([6], [4], [])
    J, free = rng.normal(size=(4, 6)), rng.normal(size=(6, 2))
    A = np.linalg.svd(J)[2][4:].T
    A = A @ np.diag([2.0, 3.0]) @ A.T  # inertia in the free directions only
    dense = np.block([[A, -J.T], [J, np.zeros((4, 4))]])
    data = np.zeros(p.values)
    fill(p, data, dense, 0, 0)
    b = np.concatenate([free @ [1.0, 2.0], rng.normal(size=4)])
    x, dropped = solve(p, data, b)
    assert dropped == 0
    np.testing.assert_allclose(x, np.linalg.solve(dense, b), atol=1e-9)


@pytest.mark.parametrize("extra", [1, 3])
@pytest.mark.parametrize("only", [False, True])
def test_redundant_rows_are_dropped(extra, only):
    """Closing rows that follow from others, even all of a node, change nothing but their own multipliers."""
    rng = np.random.default_rng(7)
    # two bodies, a joint between them that is a tree row of the first, and a closing node that repeats combinations
    coupling, internal = [6, extra if only else extra + 2, 6], [3, 0, 0]
    p = plan(coupling, internal, [(0, 2), (0, 1), (1, 2)], {1})
    M = [np.diag(rng.uniform(1, 3, 6)) for _ in range(2)]
    J0, J2 = rng.normal(size=(3, 6)), rng.normal(size=(3, 6))
    C0, C2 = (rng.normal(size=(0 if only else 2, 6)) for _ in range(2))
    mix = rng.normal(size=(extra, 3 + len(C0)))
    K0, K2 = np.vstack([C0, mix @ np.vstack([J0, C0])]), np.vstack([C2, mix @ np.vstack([J2, C2])])
    data, dense = np.zeros(p.values), np.zeros((p.unknowns, p.unknowns))
    put(p, dense, data, np.block([[M[0], -J0.T], [J0, np.zeros((3, 3))]]), 0, 0)
    put(p, dense, data, np.vstack([np.zeros((6, 6)), J2]), 0, 2)
    put(p, dense, data, np.hstack([np.zeros((6, 6)), -J2.T]), 2, 0)
    put(p, dense, data, np.vstack([-K0.T, np.zeros((3, len(K0)))]), 0, 1)
    put(p, dense, data, np.hstack([K0, np.zeros((len(K0), 3))]), 1, 0)
    put(p, dense, data, K2, 1, 2)
    put(p, dense, data, -K2.T, 2, 1)
    put(p, dense, data, M[1], 2, 2)
    b = dense @ rng.normal(size=p.unknowns)
    x, dropped = solve(p, data, b, 1e-10)
    assert dropped == extra
    np.testing.assert_allclose(dense @ x, b, atol=1e-9)
