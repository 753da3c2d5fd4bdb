"""Plots of results by Matplotlib, one call each: histories, energies, reactions, phase portraits, frequency responses,
convergence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.analyses.frequency_response import FrequencyResponse
from flexmbs.analyses.linear_model import LinearModel
from flexmbs.bodies.body import Body, Frame
from flexmbs.bodies.ground import Ground
from flexmbs.errors import AnalysisError
from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.joint import Joint, Measure
from flexmbs.joints.measures import ANGLE, AXIS, DISTANCE
from flexmbs.results import Result
from flexmbs.view.look import COLORS
from flexmbs.view.units import with_prefix

Array = NDArray[np.float64]

LINES = (COLORS[0], COLORS[5], COLORS[2], COLORS[3], COLORS[1], COLORS[4], COLORS[6], COLORS[7])
"""Colours of curves, those that differ most first."""
TOTAL = "#20262b"
LONG = 24
"""Letters of an axis label above which only its unit is written."""


class Curve(NamedTuple):
    """One curve of a panel: its name, the label of its axis, values (time,), and times where they are its own."""

    name: str
    label: str
    values: Array
    t: Array | None = None


def plot(result: Result, quantities: Any, *, title: str = "", size: tuple[float, float] | None = None) -> Any:
    """Histories over time, one panel for each quantity, as a Matplotlib Figure.

    A quantity is a joint's coordinate (``hinge.angle``, ``slider.distance``), a frame or body (its position), a drive
    or coupling (its force or torque), a pair ``("label [unit]", values)`` with values (time,) or (time, n), the same
    with times of its own, ``("label [unit]", times, values)``, or a list of such that share a panel. ``size``: inches.
    """
    _a_result(result, "plot")
    listed = list(quantities) if isinstance(quantities, list) else [quantities]
    if not listed:
        raise AnalysisError("plot: give at least one quantity, e.g. view.plot(result, [hinge.angle]).")
    panels = [[c for one in (q if isinstance(q, list) else [q]) for c in _timed(result, one)] for q in listed]
    figure, axes = _figure(len(panels), size, title)
    for axis, curves in zip(axes, panels, strict=True):
        _draw(axis, result.t, curves)
    axes[-1].set_xlabel("time [s]")
    return figure


def energies(result: Result, *, title: str = "", size: tuple[float, float] | None = None) -> Any:
    """Energies over time: kinetic and total; potential, strain, supplied and dissipated where there are any; Figure."""
    _a_result(result, "energies")
    energy = result.energy
    named = {"kinetic": energy.kinetic}
    for name in ("potential", "strain", "supplied", "dissipated"):
        values = getattr(energy, name)
        if np.abs(values).max(initial=0.0) > 1e-9 * max(np.abs(energy.kinetic).max(initial=0.0), 1e-300):
            named[name] = values
    named["total"] = energy.total
    scaled, unit = _scaled(np.stack(list(named.values()), axis=1), "J")
    figure, axes = _figure(1, size or (8.0, 4.2), title)
    _draw(axes[0], result.t, [Curve(name, f"energy [{unit}]", y) for name, y in zip(named, scaled.T, strict=True)])
    total = axes[0].get_lines()[-1]
    total.set(color=TOTAL, linestyle="--", linewidth=1.8)  # seen also where it lies on another
    axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    axes[0].set_xlabel("time [s]")
    return figure


def reactions(result: Result, joint: Any, *, title: str = "", size: tuple[float, float] | None = None) -> Any:
    """What a joint exerts on its second body over time (a drive along its coordinate; the ground in total); a Figure.

    Forces above, moments below, in global axes, with the size of the force.
    """
    _a_result(result, "reactions")
    if isinstance(joint, Drive | Coupling):
        return plot(result, [joint], title=title or joint.name, size=size)
    if not isinstance(joint, Joint | Ground):
        raise AnalysisError(f"reactions: a joint, a drive or the ground is needed, not {joint!r}.")
    values = result.reaction(joint)
    planar = values.shape[1] == 3
    force, unit = _scaled(values[:, : 2 if planar else 3], "N")
    moment, moment_unit = _scaled(values[:, 2:] if planar else values[:, 3:], "N m")
    curves = [Curve(f"F{'xyz'[k]}", f"force [{unit}]", y) for k, y in enumerate(force.T)]
    curves.append(Curve("size", f"force [{unit}]", np.linalg.norm(force, axis=1)))
    names = ("z",) if planar else ("x", "y", "z")
    turning = [Curve(f"M{n}", f"moment [{moment_unit}]", y) for n, y in zip(names, moment.T, strict=True)]
    shown = [curves]
    if np.abs(moment).max(initial=0.0) > 0 and np.abs(values[:, 2 if planar else 3 :]).max() > 1e-9 * _reach(values):
        shown.append(turning)
    figure, axes = _figure(len(shown), size, title or f"{joint.name}: reaction")
    for axis, some in zip(axes, shown, strict=True):
        _draw(axis, result.t, some)
    axes[-1].set_xlabel("time [s]")
    return figure


def phase(result: Result, coordinate: Any, *, title: str = "", size: tuple[float, float] | None = None) -> Any:
    """Phase portrait of a joint's coordinate: its rate over its value, start and end marked; a Figure."""
    _a_result(result, "phase")
    if not isinstance(coordinate, Measure):
        raise AnalysisError(f"phase: a joint's coordinate is needed, e.g. hinge.angle, not {coordinate!r}.")
    if len(result.t) < 3:
        raise AnalysisError(f"phase: a motion is needed; the result has {len(result.t)} instants.")
    value = result.coordinate(coordinate)
    rate = _rate(result, coordinate, value)
    unit = "rad" if coordinate.kind == ANGLE else "m"
    figure, axes = _figure(1, size or (5.6, 4.8), title)
    axis = axes[0]
    axis.plot(value, rate, color=LINES[0], linewidth=1.4)
    ring = {"markersize": 11, "markerfacecolor": "white", "markeredgewidth": 1.8, "zorder": 3}  # the end may be in it
    axis.plot(value[0], rate[0], "o", color=LINES[0], label="start", **ring)
    axis.plot(value[-1], rate[-1], "s", color=LINES[1], markersize=5, label="end", zorder=4)
    axis.set_xlabel(f"{coordinate.name or 'coordinate'} [{unit}]")
    axis.set_ylabel(f"its rate [{unit}/s]")
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9)
    return figure


def frequency_response(
    model: LinearModel | FrequencyResponse,
    frequencies: ArrayLike | None = None,
    *,
    outputs: Sequence[str] | None = None,
    title: str = "",
    size: tuple[float, float] | None = None,
) -> Any:
    """Gain and phase over frequencies [Hz], for every input and the outputs named; a Figure.

    Of a result of ``fm.frequency_response``, which has its frequencies, or of a linear model at the frequencies given.
    The gain is output over input in SI units; the outputs are by default those that are no rates.
    """
    if isinstance(model, FrequencyResponse):
        if frequencies is not None:
            raise AnalysisError("frequency_response: a result of fm.frequency_response has its frequencies already.")
        f = model.frequencies
    elif isinstance(model, LinearModel):
        f = np.asarray(np.nan if frequencies is None else frequencies, dtype=float)
    else:
        raise AnalysisError(
            "frequency_response: a result of fm.frequency_response or a model from fm.linearise is needed, not "
            f"{type(model).__name__}."
        )
    if f.ndim != 1 or len(f) < 2 or not np.isfinite(f).all() or not (f > 0).all():
        raise AnalysisError("frequency_response: at least two positive frequencies [Hz] are needed.")
    names = [n for n in model.outputs if not n.endswith(" rate")] if outputs is None else list(outputs)
    for name in names:
        if name not in model.outputs:
            raise AnalysisError(f"frequency_response: no output {name!r}; the model has {', '.join(model.outputs)}.")
    if isinstance(model, FrequencyResponse):
        gains = model.response
    else:
        gains = np.array([model.transfer(2j * np.pi * x) for x in f])
    figure, (above, below) = _figure(2, size, title)
    pairs = [(name, given) for name in names for given in range(len(model.inputs))]
    for k, (name, given) in enumerate(pairs):
        one = gains[:, model.outputs.index(name), given]
        color, label = LINES[k % len(LINES)], f"{name} / {model.inputs[given]}"
        above.loglog(f, np.abs(one), color=color, linewidth=1.5, label=label)
        below.semilogx(f, np.degrees(np.unwrap(np.angle(one))), color=color, linewidth=1.5, label=label)
    above.set_ylabel("gain [SI]")
    below.set_ylabel("phase [degrees]")
    below.set_xlabel("frequency [Hz]")
    below.set_xlim(f.min(), f.max())
    above.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    return figure


def convergence(
    steps: ArrayLike,
    errors: Any,
    *,
    orders: Sequence[float] = (),
    xlabel: str = "step [s]",
    ylabel: str = "error",
    title: str = "",
    size: tuple[float, float] | None = None,
) -> Any:
    """Errors over steps (or sizes of elements) in decades, with the orders observed in the legend; a Figure.

    ``errors`` is one sequence, or a mapping from names to several; ``orders`` draws straight lines of these slopes.
    """
    h = np.asarray(steps, dtype=float)
    named = dict(errors) if isinstance(errors, Mapping) else {"error": errors}
    if h.ndim != 1 or len(h) < 2 or not (h > 0).all():
        raise AnalysisError("convergence: at least two positive steps are needed.")
    figure, (axis,) = _figure(1, size or (6.4, 4.6), title)
    for k, (name, values) in enumerate(named.items()):
        e = np.asarray(values, dtype=float)
        if e.shape != h.shape or not (np.isfinite(e) & (e > 0)).all():
            raise AnalysisError(f"convergence: {name!r} needs {len(h)} positive errors, one for each step.")
        slope = float(np.polyfit(np.log(h), np.log(e), 1)[0])
        axis.loglog(h, e, "o-", color=LINES[k % len(LINES)], linewidth=1.5, label=f"{name}: order {slope:.2f}")
    first = np.asarray(next(iter(named.values())), dtype=float)
    for order in orders:
        axis.loglog(h, 0.5 * first[0] * (h / h[0]) ** order, "--", color="#8d969e", label=f"slope {order:g}")
    if len(h) <= 8:  # the steps themselves, rather than powers of ten that none of them is
        axis.set_xticks(h, labels=[f"{x:.3g}" for x in h])
        axis.minorticks_off()
    axis.set_xlabel(xlabel)
    axis.set_ylabel(ylabel)
    axis.legend(frameon=False, fontsize=9)
    return figure


def _a_result(result: Any, what: str) -> None:
    if not isinstance(result, Result):
        raise AnalysisError(f"{what}: a Result of an analysis of a mechanism is needed, not {type(result).__name__}.")


def _timed(result: Result, quantity: Any) -> list[Curve]:
    """The curves of a quantity, which may have times of its own."""
    if isinstance(quantity, tuple) and len(quantity) == 3 and isinstance(quantity[0], str):
        times, values = (np.asarray(x, dtype=float) for x in quantity[1:])
        if times.ndim != 1 or values.ndim not in (1, 2) or len(times) != len(values):
            raise AnalysisError(
                f"plot: {quantity[0]!r} has times of shape {times.shape} and values of shape {values.shape}."
            )
        return [Curve(*curve, times) for curve in _columns(quantity[0], values)]
    return [Curve(*curve) for curve in _curves(result, quantity)]


def _columns(label: str, values: Array) -> list[tuple[str, str, Array]]:
    """Curves of values (time,) or (time, n), numbered if there are several."""
    columns = values[:, None] if values.ndim == 1 else values
    name = label.split("[")[0].strip()
    several = columns.shape[1] > 1
    return [(f"{name} {k + 1}" if several else name, label, y) for k, y in enumerate(columns.T)]


def _curves(result: Result, quantity: Any) -> list[tuple[str, str, Array]]:
    """Name, axis label and values (time,) of the curves of a quantity."""
    if isinstance(quantity, Measure):
        values = result.coordinate(quantity)
        name = quantity.name or "coordinate"
        if quantity.kind == ANGLE:
            return [(name, "angle [rad]", values)]
        scaled, unit = with_prefix(values, "m")
        return [(name, f"distance [{unit}]", scaled)]
    if isinstance(quantity, Frame | Body):
        place, unit = with_prefix(result.position(quantity), "m")
        name = quantity.name if isinstance(quantity, Body) else str(quantity)
        moving = [k for k in range(3) if np.ptp(place[:, k]) > 0 or np.abs(place[:, k]).max() > 0]
        return [(f"{name}: {'xyz'[k]}", f"position [{unit}]", place[:, k]) for k in moving or [0]]
    if isinstance(quantity, Drive | Coupling):
        angle = quantity.rows[0].terms[0][1].kind == ANGLE
        scaled, unit = _scaled(result.reaction(quantity), "N m" if angle else "N")
        return [(quantity.name, f"{'torque' if angle else 'force'} [{unit}]", scaled)]
    if isinstance(quantity, tuple) and len(quantity) == 2 and isinstance(quantity[0], str):
        values = np.asarray(quantity[1], dtype=float)
        if values.ndim not in (1, 2) or len(values) != len(result.t):
            raise AnalysisError(
                f"plot: {quantity[0]!r} has values of shape {values.shape}; the result has {len(result.t)} instants."
            )
        return _columns(quantity[0], values)
    raise AnalysisError(
        f"plot: {quantity!r} is no quantity: give joint coordinates (hinge.angle), frames, bodies, drives, or pairs "
        '("label [unit]", values).'
    )


def _scaled(values: Array, unit: str) -> tuple[Array, str]:
    """Values with an SI prefix before the unit, large ones only: nobody reads millinewtons."""
    if np.abs(values).max(initial=0.0) < 1.0:
        return values, unit
    return with_prefix(values, unit)


def _reach(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))


def _rate(result: Result, measure: Measure, value: Array) -> Array:
    """Rate of a coordinate: exact for hinges, sliders and distances, from the relative twist of their frames."""
    i, j = measure.frame_i, measure.frame_j
    if measure.kind == ANGLE:
        axis = result.rotation(i) @ np.cross(measure.a, measure.a2)
        return np.asarray(np.sum((result.angular_velocity(j) - result.angular_velocity(i)) * axis, axis=1))
    away, leaving = result.position(j) - result.position(i), result.velocity(j) - result.velocity(i)
    if measure.kind == DISTANCE:
        return np.asarray(np.sum(away * leaving, axis=1) / np.linalg.norm(away, axis=1))
    if measure.kind == AXIS:
        seen = leaving - np.cross(result.angular_velocity(i), away)
        return np.asarray(np.sum((result.rotation(i) @ measure.a) * seen, axis=1))
    return np.asarray(np.gradient(value, result.t, edge_order=2))


def _figure(rows: int, size: tuple[float, float] | None, title: str) -> tuple[Any, list[Any]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or (8.0, 1.0 + 2.3 * rows), dpi=110, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(np.atleast_1d(figure.subplots(rows, 1, sharex=True)))
    for axis in axes:
        axis.grid(True, color="#dfe3e7", linewidth=0.8)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=9)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure, axes


def _draw(axis: Any, t: Array, curves: Sequence[Curve]) -> None:
    """Curves into one panel, with a legend beside it if there are several."""
    for k, curve in enumerate(curves):
        style = "-" if k < len(LINES) else "--"
        when = t if curve.t is None else curve.t
        axis.plot(when, curve.values, style, color=LINES[k % len(LINES)], linewidth=1.5, label=curve.name)
    labels = list(dict.fromkeys(curve.label for curve in curves))
    units = {label.partition("[")[2] for label in labels}
    if len(labels) > 1 and len(units) == 1 and "" not in units:  # several names of one unit
        joined = ", ".join(label.partition("[")[0].strip() for label in labels)
        labels = [f"{joined if len(joined) <= LONG else ''} [{units.pop()}".strip()]  # the legend names them too
    axis.set_ylabel(" / ".join(labels))
    if len(t) > 1:
        axis.set_xlim(t[0], t[-1])
    if len(curves) > 1:
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    elif not curves[0].label.startswith(curves[0].name):  # the name says more than the axis does
        axis.set_title(curves[0].name, fontsize=9.5, loc="left")
