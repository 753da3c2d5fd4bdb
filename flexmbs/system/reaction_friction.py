"""Friction of joints under their own reactions, at one instant.

Where accelerations are solved for, the multipliers are affine in the normal forces, λ = λ₀ + Λ N, for friction is
proportional to them; and N_k = |C_k λ|. A few linear solves give Λ, and Newton's iteration on as many numbers as there
are such frictions finds N.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import SolverError
from flexmbs.forces.laws import MEASURE
from flexmbs.forces.reaction_kernel import friction_by_reactions, friction_under
from flexmbs.joints.measures import A2, ANGLE, A, pulls
from flexmbs.system.evaluate import Work
from flexmbs.system.layout import Layout

Array = NDArray[np.float64]

ITERATIONS = 50
TOLERANCE = 1e-13


def settle_friction(layout: Layout, work: Work, solve: Callable[[], Array]) -> None:
    """Bring the wrenches in ``work`` to the friction that belongs to the reactions; ``solve`` gives λ for them.

    Raises SolverError where no normal forces fit (Painlevé's paradox).
    """
    across, frictions = _across(layout, work), layout.forces.pressed[:, 0]
    friction_under(layout, np.zeros(len(frictions)), work)
    base = solve()
    influence = np.zeros((layout.n_rows, len(frictions)))
    for k in range(len(frictions)):
        friction_under(layout, np.eye(len(frictions))[k], work)
        influence[:, k] = solve() - base
    normal, missing = np.linalg.norm(across @ base, axis=1), np.zeros(len(frictions))
    for share in np.linspace(0.25, 1.0, 4):  # in stages: where several fit, those that go on from no friction
        normal, missing = _balanced(across, base, share * influence, normal)
        if missing.any():
            break
    else:
        friction_by_reactions(layout, base + influence @ normal, work)
        return
    worst = int(frictions[int(np.argmax(np.abs(missing)))])
    raise SolverError(
        f"friction under the reactions of joints has no solution here (Painlevé's paradox): the reaction that presses "
        f"force number {worst + 1} grows with its friction without end. Take a smaller coefficient."
    )


def _balanced(across: Array, base: Array, influence: Array, normal: Array) -> tuple[Array, Array]:
    """N of N_k = |C_k (λ₀ + Λ N)|, and by how much they miss; zero where they are found."""
    for _ in range(ITERATIONS):
        force = across @ (base + influence @ normal)  # (frictions, 3)
        found = np.linalg.norm(force, axis=1)
        missing = normal - found
        if np.abs(missing).max() <= TOLERANCE * max(float(found.max()), float(np.abs(across @ base).max())):
            return normal, np.zeros(len(normal))
        unit = force / np.where(found > 0, found, 1.0)[:, None]
        slope = np.eye(len(normal)) - np.einsum("kp,kpr,rj->kj", unit, across, influence)
        if not np.linalg.det(slope) > 0.0:  # beyond this the reaction falls where friction rises
            break
        normal = np.maximum(normal - np.linalg.solve(slope, missing), 0.0)
    return normal, missing


def _across(layout: Layout, work: Work) -> Array:
    """C (frictions, 3, rows): the force across the axis of each friction, by all multipliers."""
    out = np.zeros((len(layout.forces.pressed), 3, layout.n_rows))
    for k, (f, first, last) in enumerate(layout.forces.pressed):
        m = layout.forces.table[f, MEASURE]
        axis = work.vectors[m, A]
        if layout.measure_kind[m] == ANGLE:
            axis = np.cross(axis, work.vectors[m, A2])
        for r in range(first, last):
            for term in range(layout.row_start[r], layout.row_start[r + 1]):
                own = layout.term_measure[term]
                if pulls(layout.measure_kind[own]):
                    out[k, :, r] += layout.term_factor[term] * work.gradient[own, :3]
        out[k] -= np.outer(axis, axis @ out[k])
    return out
