"""What a mechanism is, in words: bodies, joints, mobility, redundant rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.nullspace import NullSpace, null_space

Array = NDArray[np.float64]


def rank_decision(system: Any) -> NullSpace:
    """Null space of J at the start, rows and velocities scaled by the mechanism's size."""
    state = system.initial
    jacobian = system.jacobian(system.evaluate(0.0, state.q, state.v, state.angles))
    scaled = jacobian.multiply(1.0 / system.length_weights[None, :]).tocsr()
    return null_space(scaled, "partition")


def report(system: Any) -> str:
    """The report of a system as text."""
    decision = system.rank_decision
    lines = [f"{len(system.bodies)} bodies, {len(system.joints)} joints and drives, {system.n_v} velocities"]
    for body in system.bodies:
        mass = body.mass_parameters[0]
        lines.append(f"  {body.name}: {type(body).__name__}" + (f", {mass:.4g} kg" if mass else ""))
    for joint in system.joints:
        frames = f" {joint.frame_i} - {joint.frame_j}" if hasattr(joint, "frame_i") else ""
        lines.append(f"  {joint.name}: {type(joint).__name__}{frames}, {len(joint.rows)} rows")
    rows = f"{decision.rank} independent of {len(system.rows)} rows"
    lines.append(f"mobility {system.mobility}: {system.n_v} velocities, {rows}")
    if system.redundant:
        lines.append("redundant rows (the motion is unique, these reactions are shared by least norm):")
        lines.extend(f"  {label}" for label in system.redundant)
    return "\n".join(lines)
