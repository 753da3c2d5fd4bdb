"""Wrenches of forces over a motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.forces.laws import MEASURE
from flexmbs.forces.user import UserForce

Array = NDArray[np.float64]


def force_wrenches(system: Any, t: Array, q: Array, v: Array, angles: Array, multipliers: Array) -> Array:
    """(time, forces, 2, 6): force and torque of every compiled force on its first and second frame, in global axes.

    Forces are in the order of ``system.compiled_forces``; a force on one frame acts on the second. Multipliers press
    where joints rub under their own reaction.
    """
    out = np.zeros((len(t), len(system.compiled_forces), 2, 6))
    for k, state in enumerate(zip(t, q, v, angles, multipliers, strict=True)):
        out[k] = system.evaluate(*state).forces.wrench.reshape(-1, 2, 6)
    return out


def user_wrenches(system: Any, force: UserForce, t: Array, q: Array, v: Array, angles: Array) -> Array:
    """(time, frames, 6): what a force written in Python exerts on each of its frames, in global axes."""
    out = np.zeros((len(t), len(force.frames), 6))
    for k, state in enumerate(zip(t, q, v, angles, strict=True)):
        out[k] = system.user_forces.wrenches(force, float(t[k]), system.evaluate(*state))
    return out


def coordinate_forces(
    system: Any, number: int, t: Array, q: Array, v: Array, angles: Array, multipliers: Array
) -> Array:
    """(time,): the force or torque of a compiled force along its coordinate, positive where it raises it.

    The wrench is this force times the gradient of the coordinate, so that it is found from either.
    """
    measure = system.layout.forces.table[number, MEASURE]
    out = np.zeros(len(t))
    for k, state in enumerate(zip(t, q, v, angles, multipliers, strict=True)):
        work = system.evaluate(*state)
        gradient = work.gradient[measure, [0, 1, 2, 6, 7, 8]]
        out[k] = work.forces.wrench[number, 6:] @ gradient / (gradient @ gradient)
    return out
