"""The tables of a page: the model, the run, and the largest of what happened, in words and numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.joint import Joint
from flexmbs.results import Result
from flexmbs.view.report_plots import Plot, Seen
from flexmbs.view.units import with_prefix

Rows = list[tuple[str, str]]


def tables(result: Result, seen: Seen) -> list[tuple[str, Rows]]:
    """Titles and rows; tables without rows are left out."""
    found = [("Model", _model(result)), ("Run", _run(result)), ("Largest values", _largest(result, seen))]
    return [(title, rows) for title, rows in found if rows]


def _model(result: Result) -> Rows:
    system = result.system
    joints = [j for j in system.joints if isinstance(j, Joint)]
    drives = [j for j in system.joints if isinstance(j, Drive)]
    rows = [
        ("Bodies", f"{len(system.bodies)}, together {float(np.sum(system.layout.mass)):.4g} kg"),
        (
            "Joints",
            f"{len(joints)}" + (f", and {len(drives)} drives" if len(drives) > 1 else ", and a drive" * len(drives)),
        ),
        ("Mobility", str(system.mobility)),
    ]
    count = int(np.count_nonzero(system.elastic))
    if count:
        rows.append(("Elastic coordinates", str(count)))
    if system.redundant:
        rows.append(("Redundant rows", str(len(system.redundant))))
    return rows


def _run(result: Result) -> Rows:
    energy = result.energy
    rows = [
        ("Outcome", result.outcome),
        ("Time", f"{result.t[0]:.6g} to {result.t[-1]:.6g} s" if len(result.t) > 1 else f"{result.t[0]:.6g} s"),
        ("Instants kept", str(len(result.t))),
        ("Energy, start", _number(energy.total[0], "J")),
        ("Energy, end", _number(energy.total[-1], "J")),
    ]
    if result.forces_known and len(result.t) > 1:
        rows += [
            ("Supplied by drives", _number(energy.supplied[-1], "J")),
            ("Taken by forces", _number(energy.dissipated[-1], "J")),
            ("Unexplained", f"{energy.drift[-1]:.2g} J"),
        ]
    rows.append(("Largest constraint error", f"{result.constraint_error.max():.2g}"))
    rows += [(name[:1].upper() + name[1:], f"{count}") for name, count in result.counters.items()]
    if result.wall_time:
        rows.append(("Wall time", f"{result.wall_time:.3g} s"))
    return rows


def _largest(result: Result, seen: Seen) -> Rows:
    """What is largest over the whole motion, and when."""
    system = result.system
    rows: Rows = []
    if seen.stress is not None:
        for b, history in seen.stress.stress.items():
            name = seen.stress.bar.title.partition("[")[0].strip().removeprefix("largest ")
            rows.append((f"{system.bodies[b].name}: {name}", _when(history.max(axis=1), seen.stress.shown.t, "Pa")))
    for b, piece in seen.flesh.items():
        sizes = np.array([piece.deformation(d).max() for d in seen.elastic[b]])
        rows.append((f"{system.bodies[b].name}: deformation", _when(sizes, seen.t, "m")))
    if result.forces_known:
        for joint in system.joints:
            if isinstance(joint, Joint):
                both = result.reaction(joint)
                force = np.linalg.norm(both[:, : 2 if both.shape[1] == 3 else 3], axis=1)
                if force.max(initial=0.0) > 0:
                    rows.append((f"{joint.name}: force", _when(force, result.t, "N")))
            elif isinstance(joint, Drive | Coupling):
                angle = joint.rows[0].terms[0][1].is_angle
                rows.append((f"{joint.name}", _when(np.abs(result.reaction(joint)), result.t, "N m" if angle else "N")))
    return rows


def ranges(plots: Sequence[Plot]) -> list[str]:
    """The plots in words, for those who cannot see them."""
    out = []
    for plot in plots:
        said = [f"{name} from {y.min():.4g} to {y.max():.4g}" for name, y in plot.curves if len(y)]
        out.append(f"{plot.title}, {plot.label}: {'; '.join(said)}")
    return out


def _when(values: np.ndarray, t: np.ndarray, unit: str) -> str:
    k = int(np.argmax(values))
    at = f" at {t[k]:.5g} s" if len(t) > 1 else ""
    return _number(float(values[k]), unit) + at


def _number(value: float, unit: str) -> str:
    scaled, named = with_prefix(np.array([value]), unit)
    return f"{scaled[0]:.4g} {named}"
