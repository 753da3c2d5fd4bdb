"""Compiled loops over the elements of one block whose shape functions are N = φ ⊗ I.

With g_a = ∂φ_a/∂x, every stiffness is K_ij[a,b] = C_ikjl ∫ g_a,k g_b,l dV. The products of gradients are summed over
the Gauss points first, as one small matrix product, and the elasticity tensor is applied once per element, whatever
the material. In an affine cell the map x(ξ) has one Jacobian, and the products are those of the reference cell,
transformed: ∫ g_a,k g_b,l dV = det J ∂ξ_p/∂x_k ∂ξ_r/∂x_l ∫ ∂φ_a/∂ξ_p ∂φ_b/∂ξ_r dξ (Kirby and Logg 2006). Internal
(incompatible) modes are further "nodes" of the same sum, condensed at the end.

Work arrays are ordered component by component (k·total + a), so that the innermost loops run over nodes.
``tables`` is (gradients (q·d, a), internal gradients (q, modes, d), gradients at the centre (d, a), weights (q,),
products of the reference cell (d·d, total·total)).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}


@njit(**_options)
def gather(points, nodes, x):
    """Coordinates x (a, d) of one element's nodes."""
    for a in range(nodes.shape[0]):
        for i in range(x.shape[1]):
            x[a, i] = points[nodes[a], i]


@njit(**_options)
def determinant(j):
    """det J of a 2 × 2 or 3 × 3 matrix."""
    if j.shape[1] == 2:
        return j[0, 0] * j[1, 1] - j[0, 1] * j[1, 0]
    return (
        j[0, 0] * (j[1, 1] * j[2, 2] - j[1, 2] * j[2, 1])
        + j[0, 1] * (j[1, 2] * j[2, 0] - j[1, 0] * j[2, 2])
        + j[0, 2] * (j[1, 0] * j[2, 1] - j[1, 1] * j[2, 0])
    )


@njit(**_options)
def invert(j, m):
    """m[i, k] = ∂ξ_k/∂x_i from j[k, i] = ∂x_i/∂ξ_k; returns the determinant."""
    det = determinant(j)
    r = 1.0 / det  # one division instead of nine
    if j.shape[1] == 2:
        m[0, 0] = r * j[1, 1]
        m[0, 1] = -r * j[0, 1]
        m[1, 0] = -r * j[1, 0]
        m[1, 1] = r * j[0, 0]
        return det
    m[0, 0] = r * (j[1, 1] * j[2, 2] - j[1, 2] * j[2, 1])
    m[1, 0] = r * (j[1, 2] * j[2, 0] - j[1, 0] * j[2, 2])
    m[2, 0] = r * (j[1, 0] * j[2, 1] - j[1, 1] * j[2, 0])
    m[0, 1] = r * (j[0, 2] * j[2, 1] - j[0, 1] * j[2, 2])
    m[1, 1] = r * (j[0, 0] * j[2, 2] - j[0, 2] * j[2, 0])
    m[2, 1] = r * (j[0, 1] * j[2, 0] - j[0, 0] * j[2, 1])
    m[0, 2] = r * (j[0, 1] * j[1, 2] - j[0, 2] * j[1, 1])
    m[1, 2] = r * (j[0, 2] * j[1, 0] - j[0, 0] * j[1, 2])
    m[2, 2] = r * (j[0, 0] * j[1, 1] - j[0, 1] * j[1, 0])
    return det


@njit(**_options)
def workspace(n, total, q, d):
    """Scratch arrays of one element: coordinates, Jacobians, an inverse, the inverse at the centre, gradients, weighted
    gradients, volumes, products, an elasticity tensor.
    """
    return (
        np.empty((n, d)),
        np.empty((q * d, d)),
        np.empty((d, d)),
        np.empty((d, d)),
        np.empty((q, d * total)),
        np.empty((q, d * total)),
        np.empty(q),
        np.empty((d * total, d * total)),
        np.empty((d * d, d * d)),
    )


@njit(**_options)
def gradients(points, nodes, tables, work):
    """Gradients g[q, i·total + a] and volumes w·det J at all Gauss points of one element.

    Internal modes are mapped by the inverse Jacobian at the cell's centre and scaled by det J₀ / det J, so that they do
    no work on a constant stress (Taylor, Beresford and Wilson 1976) and the patch test holds on any shape.
    """
    reference, internal, centre_reference, weights, _ = tables
    x, jacobians, inverse, centre, g, _, volume, _, _ = work
    n, d = x.shape
    total = g.shape[1] // d
    modes = internal.shape[1]
    gather(points, nodes, x)
    centre_det = 0.0
    if modes > 0:
        centre_det = invert(np.dot(centre_reference, x), centre)
    np.dot(reference, x, jacobians)
    for q in range(weights.shape[0]):
        det = invert(jacobians[q * d : (q + 1) * d], inverse)
        volume[q] = weights[q] * det
        for i in range(d):
            out = g[q, i * total : (i + 1) * total]
            first = reference[q * d]
            for a in range(n):
                out[a] = inverse[i, 0] * first[a]
            for k in range(1, d):
                row = reference[q * d + k]
                for a in range(n):
                    out[a] += inverse[i, k] * row[a]
            for m in range(modes):
                value = 0.0
                for k in range(d):
                    value += centre[i, k] * internal[q, m, k]
                out[n + m] = value * centre_det / det


@njit(**_options)
def element_stiffness(points, nodes, affine, tables, terms, coefficients, factor, work, k):
    """k[i, j, a, b] = factor · C_ikjl ∫ g_a,k g_b,l dV, internal modes included."""
    if affine:
        affine_stiffness(points, nodes, tables, terms, coefficients, factor, work, k)
        return
    gradients(points, nodes, tables, work)
    _, _, _, _, g, weighted, volume, products, _ = work
    total = k.shape[2]
    for q in range(volume.shape[0]):
        for r in range(g.shape[1]):
            weighted[q, r] = volume[q] * g[q, r]
    np.dot(weighted.T, g, products)
    k[:] = 0.0
    for t in range(terms.shape[0]):
        i, j, p, m = terms[t]
        c = factor * coefficients[t]
        for a in range(total):
            out = k[i, j, a]
            source = products[p * total + a, m * total : (m + 1) * total]
            for b in range(total):
                out[b] += c * source[b]


@njit(**_options)
def affine_stiffness(points, nodes, tables, terms, coefficients, factor, work, k):
    """The same in an affine cell: det J C_ikjl ∂ξ_p/∂x_k ∂ξ_r/∂x_l, times the products of the reference cell."""
    x, inverse, tensor = work[0], work[2], work[8]
    d, total = x.shape[1], k.shape[2]
    gather(points, nodes, x)
    det = invert(np.dot(tables[2], x), inverse)
    tensor[:] = 0.0
    for t in range(terms.shape[0]):
        i, j, m, n = terms[t]
        c = factor * det * coefficients[t]
        for p in range(d):
            for r in range(d):
                tensor[i * d + j, p * d + r] += c * inverse[m, p] * inverse[n, r]
    np.dot(tensor, tables[4], k.reshape(d * d, total * total))


@njit(**_options)
def internal_solution(k, n, coupling, solution):
    """solution = K_mm⁻¹ K_mn, the internal modes' answer to nodal coordinates (of opposite sign), by Cholesky.

    ``coupling`` becomes K_mn; its columns are ordered as j·n + b.
    """
    d, modes = k.shape[0], k.shape[2] - n
    lower = np.empty((d * modes, d * modes))
    for i in range(d):
        for m in range(modes):
            for j in range(d):
                for b in range(n):
                    coupling[i * modes + m, j * n + b] = k[i, j, n + m, b]
                for b in range(modes):
                    lower[i * modes + m, j * modes + b] = k[i, j, n + m, n + b]
    solution[:] = coupling
    size = d * n
    for c in range(d * modes):
        for r in range(c, d * modes):
            value = lower[r, c]
            for p in range(c):
                value -= lower[r, p] * lower[c, p]
            lower[r, c] = np.sqrt(value) if r == c else value / lower[c, c]
    for r in range(d * modes):
        for p in range(r):
            for c in range(size):
                solution[r, c] -= lower[r, p] * solution[p, c]
        for c in range(size):
            solution[r, c] /= lower[r, r]
    for r in range(d * modes - 1, -1, -1):
        for p in range(r + 1, d * modes):
            for c in range(size):
                solution[r, c] -= lower[p, r] * solution[p, c]
        for c in range(size):
            solution[r, c] /= lower[r, r]


@njit(**_options)
def condense(k, n, coupling, solution):
    """Remove the internal modes in place: K_nn - K_nm K_mm⁻¹ K_mn."""
    internal_solution(k, n, coupling, solution)
    for i in range(k.shape[0]):
        for a in range(n):
            for j in range(k.shape[0]):
                out = k[i, j, a]
                for r in range(coupling.shape[0]):
                    factor = coupling[r, i * n + a]
                    answer = solution[r, j * n : (j + 1) * n]
                    for b in range(n):
                        out[b] -= factor * answer[b]


@njit(**_options)
def stiffness_blocks(points, cells, affine, tables, terms, coefficients, law, factors, out):
    """Element stiffness matrices (elements, d·a, d·a), coordinates node by node."""
    d, n = tables[1].shape[2], cells.shape[1]
    total = n + tables[1].shape[1]
    work = workspace(n, total, tables[3].shape[0], d)
    k = np.empty((d, d, total, total))
    coupling, solution = np.empty((d * (total - n), d * n)), np.empty((d * (total - n), d * n))
    for e in range(cells.shape[0]):
        element_stiffness(points, cells[e], affine[e], tables, terms, coefficients[law[e]], factors[e], work, k)
        if total > n:
            condense(k, n, coupling, solution)
        for i in range(d):
            for j in range(d):
                for a in range(n):
                    for b in range(n):
                        out[e, a * d + i, b * d + j] = k[i, j, a, b]


@njit(**_options)
def stiffness_scatter(points, cells, affine, tables, terms, coefficients, law, factors, indptr, positions, scale, data):
    """Evaluate element stiffness matrices and add them straight into the values of the assembled CSR matrix."""
    d, n = tables[1].shape[2], cells.shape[1]
    total = n + tables[1].shape[1]
    work = workspace(n, total, tables[3].shape[0], d)
    k = np.empty((d, d, total, total))
    coupling, solution = np.empty((d * (total - n), d * n)), np.empty((d * (total - n), d * n))
    for e in range(cells.shape[0]):
        element_stiffness(points, cells[e], affine[e], tables, terms, coefficients[law[e]], factors[e], work, k)
        if total > n:
            condense(k, n, coupling, solution)
        for a in range(n):
            node = cells[e, a]
            stride = d * (indptr[node + 1] - indptr[node])
            for i in range(d):
                row = d * d * indptr[node] + i * stride
                for b in range(n):
                    at = row + d * positions[e, a, b]
                    for j in range(d):
                        data[at + j] += scale * k[i, j, a, b]


@njit(**_options)
def geometric_scalar(points, cells, tables, stress, factors, out):
    """∫ g_aᵀ σ g_b dV of each element (elements, a, a); ``stress`` is (elements, Gauss points, d, d)."""
    d, n = tables[1].shape[2], cells.shape[1]
    work = workspace(n, n + tables[1].shape[1], tables[3].shape[0], d)
    g, volume = work[4], work[6]
    total = g.shape[1] // d
    for e in range(cells.shape[0]):
        gradients(points, cells[e], tables, work)
        out[e] = 0.0
        for q in range(volume.shape[0]):
            for a in range(n):
                for m in range(d):
                    flux = 0.0
                    for k in range(d):
                        flux += g[q, k * total + a] * stress[e, q, k, m]
                    flux *= volume[q] * factors[e]
                    for b in range(n):
                        out[e, a, b] += flux * g[q, m * total + b]


@njit(**_options)
def displacement_gradients(points, cells, tables, terms, coefficients, law, u, out):
    """∂u_i/∂x_k (elements, Gauss points, d, d) under nodal displacements u.

    The internal modes take the amplitudes that make them stress-free, as in the stiffness.
    """
    d, n = tables[1].shape[2], cells.shape[1]
    total = n + tables[1].shape[1]
    work = workspace(n, total, tables[3].shape[0], d)
    g = work[4]
    k = np.empty((d, d, total, total))
    coupling, solution = np.empty((d * (total - n), d * n)), np.empty((d * (total - n), d * n))
    amplitude = np.zeros(d * total)
    for e in range(cells.shape[0]):
        for i in range(d):
            for a in range(n):
                amplitude[i * total + a] = u[cells[e, a], i]
        if total > n:
            element_stiffness(points, cells[e], False, tables, terms, coefficients[law[e]], 1.0, work, k)
            internal_solution(k, n, coupling, solution)
            for i in range(d):
                for m in range(total - n):
                    value = 0.0
                    for j in range(d):
                        for b in range(n):
                            value -= solution[i * (total - n) + m, j * n + b] * amplitude[j * total + b]
                    amplitude[i * total + n + m] = value
        else:
            gradients(points, cells[e], tables, work)
        for q in range(g.shape[0]):
            for i in range(d):
                for m in range(d):
                    value = 0.0
                    for a in range(total):
                        value += amplitude[i * total + a] * g[q, m * total + a]
                    out[e, q, i, m] = value


@njit(**_options)
def element_mass(points, nodes, affine, reference_mass, values, references, weights, work, out):
    """∫ φ_a φ_b dV of one element; affine cells scale the integral over the reference cell."""
    x, jacobians, weighted = work
    d = x.shape[1]
    gather(points, nodes, x)
    if affine:
        det = determinant(np.dot(references[:d], x))
        for a in range(out.shape[0]):
            for b in range(out.shape[0]):
                out[a, b] = det * reference_mass[a, b]
        return
    np.dot(references, x, jacobians)
    for q in range(weights.shape[0]):
        volume = weights[q] * determinant(jacobians[q * d : (q + 1) * d])
        for a in range(out.shape[0]):
            weighted[q, a] = volume * values[q, a]
    np.dot(weighted.T, values, out)


@njit(**_options)
def mass_blocks(points, cells, affine, reference_mass, values, references, weights, density, out):
    """Scalar mass matrices ∫ρ φ_a φ_b dV (elements, a, a)."""
    n, d = cells.shape[1], references.shape[0] // weights.shape[0]
    work = (np.empty((n, d)), np.empty((references.shape[0], d)), np.empty(values.shape))
    for e in range(cells.shape[0]):
        element_mass(points, cells[e], affine[e], reference_mass, values, references, weights, work, out[e])
        out[e] *= density[e]


@njit(**_options)
def mass_scatter(points, cells, affine, reference_mass, values, references, weights, density, indptr, positions, data):
    """Evaluate scalar mass matrices and add them straight into the values of the assembled CSR matrix."""
    n, d = cells.shape[1], references.shape[0] // weights.shape[0]
    work = (np.empty((n, d)), np.empty((references.shape[0], d)), np.empty(values.shape))
    mass = np.empty((n, n))
    for e in range(cells.shape[0]):
        element_mass(points, cells[e], affine[e], reference_mass, values, references, weights, work, mass)
        for a in range(n):
            start = indptr[cells[e, a]]
            for b in range(n):
                data[start + positions[e, a, b]] += density[e] * mass[a, b]
