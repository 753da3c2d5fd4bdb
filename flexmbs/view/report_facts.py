"""The tables of a page: the model, the run, and the largest of what happened, in words and numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.joint import Joint
from flexmbs.results import Result
from flexmbs.view.report_plots import Plot, Seen
from flexmbs.view.units import with_prefix

Array = NDArray[np.float64]
Fact = tuple[str, str, float | None]
"""Name, value with its unit, and the time at which it was, if at any."""


def tables(result: Result, seen: Seen) -> list[tuple[str, list[Fact]]]:
    """Titles and rows; tables without rows are left out."""
    found = [("Model", _model(result)), ("Run", _run(result)), ("Largest values", _largest(result, seen))]
    return [(title, rows) for title, rows in found if rows]


def ranges(plots: Sequence[Plot]) -> list[str]:
    """The plots in words, for those who cannot see them."""
    out = []
    for plot in plots:
        said = [f"{name} from {y.min():.4g} to {y.max():.4g}" for name, y in plot.curves if len(y)]
        out.append(f"{plot.title}, {plot.label}: {'; '.join(said)}")
    return out


def _model(result: Result) -> list[Fact]:
    system = result.system
    joints = sum(isinstance(j, Joint) for j in system.joints)
    drives = sum(isinstance(j, Drive) for j in system.joints)
    rows: list[Fact] = [
        ("Bodies", str(len(system.bodies)), None),
        ("Mass", f"{float(np.sum(system.layout.mass)):.4g} kg", None),
        ("Joints", str(joints), None),
        *([("Drives", str(drives), None)] if drives else []),
        ("Mobility", str(system.mobility), None),
    ]
    count = int(np.count_nonzero(system.elastic))
    if count:
        rows += [
            ("Elastic coordinates", str(count), None),
            ("Mobility, deformation locked", str(system.rigid().mobility), None),
        ]
    if system.redundant:
        rows.append(("Redundant rows", str(len(system.redundant)), None))
    return rows


def _run(result: Result) -> list[Fact]:
    energy = result.energy
    noise = 1e-9 * float(np.abs([energy.kinetic, energy.potential, energy.strain]).max(initial=0.0))
    several = len(result.t) > 1
    rows: list[Fact] = [
        ("Outcome", result.outcome, None),
        ("Time", f"{result.t[0]:.6g} to {result.t[-1]:.6g} s" if several else f"{result.t[0]:.6g} s", None),
        ("Instants kept", str(len(result.t)), None),
        ("Energy at the start", _number(energy.total[0], "J", noise), None),
        ("Energy at the end", _number(energy.total[-1], "J", noise), None),
    ]
    if result.forces_known and several:
        rows += [
            ("Supplied by drives", _number(energy.supplied[-1], "J", noise), None),
            ("Taken by forces and damping", _number(energy.dissipated[-1], "J", noise), None),
            ("Unexplained", _number(energy.drift[-1], "J", 0.0, 3), None),
        ]
    rows.append(("Largest constraint error", _signed(f"{result.constraint_error.max():.2g}"), None))
    rows += [(name[:1].upper() + name[1:], f"{count}", None) for name, count in result.counters.items()]
    if result.wall_time:
        rows.append(("Wall time", f"{result.wall_time:.3g} s", None))
    return rows


def _largest(result: Result, seen: Seen) -> list[Fact]:
    """What is largest over the whole motion, and when."""
    system = result.system
    rows: list[Fact] = []
    what = seen.stress_title.removeprefix("largest ").partition(" [")[0]
    for b, (top, when) in seen.worst.items():
        rows.append((f"{system.bodies[b].name}: {what}", _number(top, "Pa", 0.0), when if len(result.t) > 1 else None))
    for b, piece in seen.flesh.items():
        sizes = np.array([piece.deformation(d).max() for d in seen.elastic[b]])
        rows.append(_top(f"{system.bodies[b].name}: deformation", sizes, seen.t, "m"))
    for joint in system.joints if result.forces_known else ():
        if isinstance(joint, Joint):
            both = result.reaction(joint)
            force = np.linalg.norm(both[:, : 2 if both.shape[1] == 3 else 3], axis=1)
            rows.append(_top(f"{joint.name}: force", force, result.t, "N"))
        elif isinstance(joint, Drive | Coupling):
            what, unit = ("torque", "N m") if joint.rows[0].terms[0][1].is_angle else ("force", "N")
            rows.append(_top(f"{joint.name}: {what}", np.abs(result.reaction(joint)), result.t, unit))
    return [row for row in rows if not row[1].startswith("0 ")]


def _top(name: str, values: Array, t: Array, unit: str) -> Fact:
    k = int(np.argmax(values))
    return name, _number(float(values[k]), unit, 0.0), float(t[k]) if len(t) > 1 else None


def _number(value: float, unit: str, noise: float, digits: int = 4) -> str:
    """A value with its unit; what is mere noise is 0."""
    if abs(value) <= noise:
        return f"0 {unit}"
    scaled, named = with_prefix(np.array([value]), unit)
    return _signed(f"{scaled[0]:.{digits}g} {named}")


def _signed(text: str) -> str:
    """With a true minus, as in print."""
    return text.replace("-", "−")
