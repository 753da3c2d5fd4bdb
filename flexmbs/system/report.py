"""What a mechanism is, in words: bodies, joints, mobility, redundant rows, singular positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexmbs.system.degenerate import NEAR, nearly_singular


def report(system: Any) -> str:
    """The report of a system as text."""
    decision = system.rank_decision
    lines = [f"{len(system.bodies)} bodies, {len(system.joints)} joints and drives, {system.n_v} velocities"]
    for body in system.bodies:
        mass = body.mass_parameters[0]
        weight = f", {mass:.4g} kg" if mass else ""
        bends = f", {body.modes} elastic coordinates" if body.modes else ""
        lines.append(f"  {body.name}: {type(body).__name__}{weight}{bends}")
    lines.append(f"  together {float(np.sum(system.layout.mass)):.4g} kg")
    for joint in system.joints:
        frames = f" {joint.frame_i} - {joint.frame_j}" if hasattr(joint, "frame_i") else ""
        lines.append(f"  {joint.name}: {type(joint).__name__}{frames}, {len(joint.rows)} rows")
    for force in system.forces:
        lines.append(f"  {getattr(force, 'name', 'gravity')}: {type(force).__name__}")
    rows = f"{decision.rank} independent of {len(system.rows)} rows"
    lines.append(f"mobility {system.mobility}: {system.n_v} velocities, {rows}")
    if system.elastic.any():
        _deforming(system, lines)
    if system.redundant:
        lines.append("redundant rows (the motion is unique, these reactions are shared by least norm):")
        lines.extend(f"  {label}" for label in system.redundant)
    if system.singular:
        lines.append("singular position: at the start, and only there, these rows follow from others:")
        lines.extend(f"  {label}" for label in system.singular)
    else:
        ratio, label = nearly_singular(system if system.condensed is None else system.condensed.system)
        if ratio < NEAR:
            lines.append(f"nearly singular position: {label} hardly holds at the start (singular values {ratio:.1e})")
    return "\n".join(lines)


def _deforming(system: Any, lines: list[str]) -> None:
    """What deformation adds, and what it takes up of a mechanism whose joints would be redundant without it."""
    rigid, count = system.rigid(), int(np.count_nonzero(system.elastic))
    lines.append(f"rigid mobility {rigid.mobility} with deformation locked; {count} elastic coordinates")
    borne = [label for label in rigid.redundant if label not in set(system.redundant)]
    if borne:
        lines.append("rows that are redundant with deformation locked (their reactions follow from the deformation):")
        lines.extend(f"  {label}" for label in borne)
