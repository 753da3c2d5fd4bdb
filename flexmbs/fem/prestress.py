"""Stress states for the geometric stiffness: beams under inertia loads, whose axial force varies within an element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.fem.beam import Beam
from flexmbs.fem.elements import Elements
from flexmbs.fem.loads import Acceleration, Centrifugal, Gravity
from flexmbs.rotations import skew

Array = NDArray[np.float64]


def prestress(elements: Elements, displacement: Array, acceleration: Array, field: Array) -> tuple[Array, ...]:
    """Stress under nodal displacements (nodes, dofs) and inertia forces -ρ (a + W x), for ``geometric_stiffness``.

    That of beams is (elements, 3, 6): start, mean and end. The strain of an element gives the mean of its axial force
    only; the balance of its ends gives both ends, and the three the parabola that a load growing with x leaves.
    """
    u = np.ascontiguousarray(displacement, dtype=float)
    out = []
    for block in elements.blocks:
        state = block.stress_state(u)
        if isinstance(block, Beam):
            ends = block.elastic_forces(u[block.cells].reshape(len(block.cells), block.size, 1))[:, :, 0]
            axis = block.local_axes[:, :, 0]
            load = -(block.inertia_load(field) + block.origin() @ acceleration)
            mean = state.mean(axis=1)
            state = np.stack([state[:, 0], mean, state[:, 1]], axis=1)
            state[:, 0, 0] = load[:, 0] - np.einsum("ei,ei->e", axis, ends[:, :3])
            state[:, 2, 0] = np.einsum("ei,ei->e", axis, ends[:, 6:9]) - load[:, 6]
        out.append(state)
    return tuple(out)


def inertia_of(loads: Sequence[Any]) -> tuple[Array, Array]:
    """a and W of the inertia forces -ρ (a + W x) among some loads; forces on nodes and faces have none."""
    linear, field = np.zeros(3), np.zeros((3, 3))
    for load in loads:
        if isinstance(load, Centrifugal):
            omega, centre = np.atleast_1d(load.omega), np.asarray(load.center, dtype=float)
            w = skew(np.array([0.0, 0.0, float(omega[0])]) if len(omega) == 1 else omega)
            field += w @ w
            linear -= w @ w @ np.pad(centre, (0, 3 - len(centre)))
        elif isinstance(load, Acceleration):
            angular, a = np.atleast_1d(load.angular), np.asarray(load.linear, dtype=float)
            field += skew(np.array([0.0, 0.0, float(angular[0])]) if len(angular) == 1 else angular)
            linear += np.pad(a, (0, 3 - len(a)))
        elif isinstance(load, Gravity):
            g = np.asarray(load.acceleration, dtype=float)
            linear -= np.pad(g, (0, 3 - len(g)))
    return linear, field
