"""Compiled loops over the elements of one block whose shape functions are N = φ ⊗ I.

With g_a = ∂φ_a/∂x, every stiffness is K_ij[a,b] = C_ikjl ∫ g_a,k g_b,l dV. The products of gradients are summed
over the Gauss points first, and the elasticity tensor is applied once per element, whatever the material.
Internal (incompatible) modes are further "nodes" of the same sum, condensed at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}


@njit(**_options)
def invert(jacobian, inverse):  # type: ignore[no-untyped-def]
    """Inverse of a 1 x 1, 2 x 2 or 3 x 3 matrix; returns the determinant."""
    d = jacobian.shape[0]
    j = jacobian
    if d == 2:
        det = j[0, 0] * j[1, 1] - j[0, 1] * j[1, 0]
        inverse[0, 0] = j[1, 1] / det
        inverse[0, 1] = -j[0, 1] / det
        inverse[1, 0] = -j[1, 0] / det
        inverse[1, 1] = j[0, 0] / det
        return det
    c00 = j[1, 1] * j[2, 2] - j[1, 2] * j[2, 1]
    c01 = j[1, 2] * j[2, 0] - j[1, 0] * j[2, 2]
    c02 = j[1, 0] * j[2, 1] - j[1, 1] * j[2, 0]
    det = j[0, 0] * c00 + j[0, 1] * c01 + j[0, 2] * c02
    inverse[0, 0] = c00 / det
    inverse[1, 0] = c01 / det
    inverse[2, 0] = c02 / det
    inverse[0, 1] = (j[0, 2] * j[2, 1] - j[0, 1] * j[2, 2]) / det
    inverse[1, 1] = (j[0, 0] * j[2, 2] - j[0, 2] * j[2, 0]) / det
    inverse[2, 1] = (j[0, 1] * j[2, 0] - j[0, 0] * j[2, 1]) / det
    inverse[0, 2] = (j[0, 1] * j[1, 2] - j[0, 2] * j[1, 1]) / det
    inverse[1, 2] = (j[0, 2] * j[1, 0] - j[0, 0] * j[1, 2]) / det
    inverse[2, 2] = (j[0, 0] * j[1, 1] - j[0, 1] * j[1, 0]) / det
    return det


@njit(**_options)
def jacobian_at(points, nodes, reference, jacobian):  # type: ignore[no-untyped-def]
    """∂x_i/∂ξ_k of one element as jacobian[k, i]."""
    d = jacobian.shape[0]
    for k in range(d):
        for i in range(d):
            total = 0.0
            for a in range(nodes.shape[0]):
                total += reference[a, k] * points[nodes[a], i]
            jacobian[k, i] = total


@njit(**_options)
def gradients_at(points, nodes, reference, internal, centre, jacobian, inverse, g):  # type: ignore[no-untyped-def]
    """Gradients g[i, a] of nodes and internal modes at one Gauss point; returns det J.

    ``centre`` is the inverse Jacobian at the cell's centre with its determinant in the last row: internal modes are
    mapped by it and scaled by det J0 / det J, so that they do no work on a constant stress (Taylor, Beresford
    and Wilson 1976) and the patch test holds on any shape.
    """
    d = jacobian.shape[0]
    n = nodes.shape[0]
    jacobian_at(points, nodes, reference, jacobian)
    det = invert(jacobian, inverse)
    for i in range(d):
        for a in range(n):
            total = 0.0
            for k in range(d):
                total += inverse[i, k] * reference[a, k]
            g[i, a] = total
        for m in range(internal.shape[0]):
            total = 0.0
            for k in range(d):
                total += centre[i, k] * internal[m, k]
            g[i, n + m] = total * centre[d, 0] / det
    return det


@njit(**_options)
def centre_of(points, nodes, reference, jacobian, centre):  # type: ignore[no-untyped-def]
    """Inverse Jacobian at the centre, and its determinant in the row below."""
    d = jacobian.shape[0]
    jacobian_at(points, nodes, reference, jacobian)
    centre[d, 0] = invert(jacobian, centre[:d])


@njit(**_options)
def gradient_products(points, nodes, reference, internal, centre_reference, weights, work, products):  # type: ignore[no-untyped-def]
    """products[k, l, a, b] = ∫ g_a,k g_b,l dV of one element, for k <= l only."""
    jacobian, inverse, centre, g = work
    d = jacobian.shape[0]
    n = g.shape[1]
    products[:] = 0.0
    if internal.shape[1] > 0:
        centre_of(points, nodes, centre_reference, jacobian, centre)
    for q in range(weights.shape[0]):
        det = gradients_at(points, nodes, reference[q], internal[q], centre, jacobian, inverse, g)
        w = weights[q] * det
        for k in range(d):
            for a in range(n):
                scaled = w * g[k, a]
                for m in range(k, d):
                    row = products[k, m, a]
                    for b in range(n):
                        row[b] += scaled * g[m, b]


@njit(**_options)
def contract(products, tensor, factor, k_full):  # type: ignore[no-untyped-def]
    """k_full[i, j, a, b] = factor · C_ikjl ∫ g_a,k g_b,l, all i and j."""
    d = products.shape[0]
    n = products.shape[2]
    for k in range(d):
        for m in range(k):
            for a in range(n):
                for b in range(n):
                    products[k, m, a, b] = products[m, k, b, a]
    for i in range(d):
        for j in range(i, d):
            k_full[i, j] = 0.0
            for k in range(d):
                for m in range(d):
                    c = factor * tensor[i, k, j, m]
                    if c != 0.0:
                        for a in range(n):
                            for b in range(n):
                                k_full[i, j, a, b] += c * products[k, m, a, b]
    for i in range(d):
        for j in range(i):
            for a in range(n):
                for b in range(n):
                    k_full[i, j, a, b] = k_full[j, i, b, a]


@njit(**_options)
def internal_solution(k_full, nodes, solution):  # type: ignore[no-untyped-def]
    """solution = K_mm⁻¹ K_mn: the internal modes' answer to nodal displacements, with opposite sign."""
    d = k_full.shape[0]
    modes = k_full.shape[2] - nodes
    size = modes * d
    lower = np.empty((size, size))
    for m in range(modes):
        for i in range(d):
            r = m * d + i
            for p in range(modes):
                for j in range(d):
                    lower[r, p * d + j] = k_full[i, j, nodes + m, nodes + p]
            for b in range(nodes):
                for j in range(d):
                    solution[r, b * d + j] = k_full[i, j, nodes + m, b]
    for c in range(size):  # Cholesky, then forward and backward substitution on all columns
        for r in range(c, size):
            total = lower[r, c]
            for p in range(c):
                total -= lower[r, p] * lower[c, p]
            lower[r, c] = np.sqrt(total) if r == c else total / lower[c, c]
    columns = solution.shape[1]
    for r in range(size):
        for p in range(r):
            for c in range(columns):
                solution[r, c] -= lower[r, p] * solution[p, c]
        for c in range(columns):
            solution[r, c] /= lower[r, r]
    for r in range(size - 1, -1, -1):
        for p in range(r + 1, size):
            for c in range(columns):
                solution[r, c] -= lower[p, r] * solution[p, c]
        for c in range(columns):
            solution[r, c] /= lower[r, r]


@njit(**_options)
def condense(k_full, nodes, solution):  # type: ignore[no-untyped-def]
    """Remove the internal modes: K_nn - K_nm K_mm⁻¹ K_mn, in place in the nodal part of k_full."""
    d = k_full.shape[0]
    modes = k_full.shape[2] - nodes
    internal_solution(k_full, nodes, solution)
    for i in range(d):
        for j in range(d):
            for a in range(nodes):
                for m in range(modes):
                    for p in range(d):
                        factor = k_full[i, p, a, nodes + m]
                        for b in range(nodes):
                            k_full[i, j, a, b] -= factor * solution[m * d + p, b * d + j]


@njit(**_options)
def workspace(d, n):  # type: ignore[no-untyped-def]
    """Scratch arrays of one element: Jacobian, inverse, centre data, gradients."""
    return np.empty((d, d)), np.empty((d, d)), np.empty((d + 1, d)), np.empty((d, n))


@njit(**_options)
def stiffness_blocks(points, cells, reference, internal, centre, weights, tensors, law, factors, out):  # type: ignore[no-untyped-def]
    """Element stiffness matrices (elements, d·a, d·a), coordinates node by node."""
    d, n = reference.shape[2], cells.shape[1]
    total = n + internal.shape[1]
    work = workspace(d, total)
    products, k_full = np.empty((d, d, total, total)), np.empty((d, d, total, total))
    solution = np.empty((d * internal.shape[1], d * n))
    for e in range(cells.shape[0]):
        gradient_products(points, cells[e], reference, internal, centre, weights, work, products)
        contract(products, tensors[law[e]], factors[e], k_full)
        if internal.shape[1] > 0:
            condense(k_full, n, solution)
        for a in range(n):
            for i in range(d):
                for b in range(n):
                    for j in range(d):
                        out[e, a * d + i, b * d + j] = k_full[i, j, a, b]


@njit(**_options)
def stiffness_scatter(  # type: ignore[no-untyped-def]
    points, cells, reference, internal, centre, weights, tensors, law, factors, indptr, positions, scale, data
):
    """Evaluate element stiffness matrices and add them straight into the values of the assembled CSR matrix."""
    d, n = reference.shape[2], cells.shape[1]
    total = n + internal.shape[1]
    work = workspace(d, total)
    products, k_full = np.empty((d, d, total, total)), np.empty((d, d, total, total))
    solution = np.empty((d * internal.shape[1], d * n))
    for e in range(cells.shape[0]):
        gradient_products(points, cells[e], reference, internal, centre, weights, work, products)
        contract(products, tensors[law[e]], scale * factors[e], k_full)
        if internal.shape[1] > 0:
            condense(k_full, n, solution)
        for a in range(n):
            node = cells[e, a]
            stride = d * (indptr[node + 1] - indptr[node])
            start = d * d * indptr[node]
            for i in range(d):
                for b in range(n):
                    at = start + i * stride + d * positions[e, a, b]
                    for j in range(d):
                        data[at + j] += k_full[i, j, a, b]


@njit(**_options)
def geometric_scalar(points, cells, reference, weights, stress, factors, out):  # type: ignore[no-untyped-def]
    """∫ g_aᵀ σ g_b dV of each element (elements, a, a); ``stress`` is (elements, Gauss points, d, d)."""
    d, n = reference.shape[2], cells.shape[1]
    jacobian, inverse, centre, g = workspace(d, n)
    internal = np.zeros((0, d))
    for e in range(cells.shape[0]):
        out[e] = 0.0
        for q in range(weights.shape[0]):
            det = gradients_at(points, cells[e], reference[q], internal, centre, jacobian, inverse, g)
            w = weights[q] * det * factors[e]
            for a in range(n):
                for m in range(d):
                    flux = 0.0
                    for k in range(d):
                        flux += g[k, a] * stress[e, q, k, m]
                    flux *= w
                    for b in range(n):
                        out[e, a, b] += flux * g[m, b]


@njit(**_options)
def strain_at_points(  # type: ignore[no-untyped-def]
    points, cells, reference, internal, centre_reference, weights, at, at_internal, tensors, law, u, out
):
    """Displacement gradients ∂u_i/∂x_k (elements, points, d, d) at the reference points ``at``.

    The internal modes take the amplitudes that make them stress-free, as in the stiffness.
    """
    d, n = reference.shape[2], cells.shape[1]
    modes = internal.shape[1]
    total = n + modes
    work = workspace(d, total)
    jacobian, inverse, centre, g = work
    products, k_full = np.empty((d, d, total, total)), np.empty((d, d, total, total))
    solution = np.empty((d * modes, d * n))
    amplitude = np.zeros((total, d))
    for e in range(cells.shape[0]):
        for a in range(n):
            for i in range(d):
                amplitude[a, i] = u[cells[e, a], i]
        if modes > 0:
            gradient_products(
                points, cells[e], reference, internal, centre_reference, weights, work, products
            )
            contract(products, tensors[law[e]], 1.0, k_full)
            internal_solution(k_full, n, solution)
            for r in range(d * modes):
                value = 0.0
                for a in range(n):
                    for j in range(d):
                        value -= solution[r, a * d + j] * amplitude[a, j]
                amplitude[n + r // d, r % d] = value
            centre_of(points, cells[e], centre_reference, jacobian, centre)
        for q in range(at.shape[0]):
            gradients_at(points, cells[e], at[q], at_internal[q], centre, jacobian, inverse, g)
            for i in range(d):
                for k in range(d):
                    value = 0.0
                    for a in range(total):
                        value += amplitude[a, i] * g[k, a]
                    out[e, q, i, k] = value


@njit(**_options)
def element_scalar_mass(points, nodes, affine, reference, values, gradients, weights, work, out):  # type: ignore[no-untyped-def]
    """∫ φ_a φ_b dV of one element; affine cells scale the integral over the reference cell."""
    jacobian, inverse = work
    n = nodes.shape[0]
    if affine:
        jacobian_at(points, nodes, gradients[0], jacobian)
        det = invert(jacobian, inverse)
        for a in range(n):
            for b in range(n):
                out[a, b] = det * reference[a, b]
        return
    out[:] = 0.0
    for q in range(weights.shape[0]):
        jacobian_at(points, nodes, gradients[q], jacobian)
        w = weights[q] * invert(jacobian, inverse)
        for a in range(n):
            scaled = w * values[q, a]
            for b in range(n):
                out[a, b] += scaled * values[q, b]


@njit(**_options)
def mass_blocks(points, cells, affine, reference, values, gradients, weights, density, out):  # type: ignore[no-untyped-def]
    """Scalar mass matrices ∫ρ φ_a φ_b dV (elements, a, a)."""
    d = gradients.shape[2]
    work = (np.empty((d, d)), np.empty((d, d)))
    for e in range(cells.shape[0]):
        element_scalar_mass(points, cells[e], affine[e], reference, values, gradients, weights, work, out[e])
        out[e] *= density[e]


@njit(**_options)
def mass_scatter(
    points, cells, affine, reference, values, gradients, weights, density, indptr, positions, data
):  # type: ignore[no-untyped-def]
    """Evaluate scalar mass matrices and add them straight into the values of the assembled CSR matrix."""
    d, n = gradients.shape[2], cells.shape[1]
    work = (np.empty((d, d)), np.empty((d, d)))
    mass = np.empty((n, n))
    for e in range(cells.shape[0]):
        element_scalar_mass(points, cells[e], affine[e], reference, values, gradients, weights, work, mass)
        for a in range(n):
            start = indptr[cells[e, a]]
            for b in range(n):
                data[start + positions[e, a, b]] += density[e] * mass[a, b]
