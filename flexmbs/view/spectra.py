"""Spectra of histories by Matplotlib: of a whole history, and one after the other as a waterfall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import AnalysisError
from flexmbs.view.plots import LINES, _figure

Array = NDArray[np.float64]

WINDOWS = ("hann", "hamming", "blackman", "flattop", "none")
PIECES = 6
"""By default a waterfall cuts a history into pieces as long as the whole over this."""
TALL = 4.0
"""Height of the tallest peak of a waterfall, in distances between its lines."""


def spectrum(
    t: ArrayLike,
    y: ArrayLike,
    *,
    window: str = "hann",
    unit: str = "",
    log: bool = False,
    highest: float | None = None,
    title: str = "",
    size: tuple[float, float] | None = None,
) -> Any:
    """Amplitude spectrum of a history (or several, (time, n)), its mean removed; a Figure with axes in Hz.

    ``window`` is "hann", "hamming", "blackman", "flattop" or "none"; amplitudes are corrected for it, so that a sine
    shows its own. Instants that are not equidistant are interpolated. ``log``: decades; ``highest`` frequency shown.
    """
    frequencies, amplitudes = amplitude_spectrum(t, y, window)
    figure, axes = _figure(1, size or (8.0, 4.2), title)
    axis = axes[0]
    for k, a in enumerate(amplitudes.T):
        axis.plot(frequencies, a, color=LINES[k % len(LINES)], linewidth=1.4, label=str(k + 1))
    if amplitudes.shape[1] > 1:
        axis.legend(frameon=False)
    axis.set_xlim(0.0, frequencies[-1] if highest is None else float(highest))
    if log:
        axis.set_yscale("log")
        top, least = amplitudes.max(), np.where(amplitudes > 0, amplitudes, np.inf).min(initial=np.inf)
        axis.set_ylim(max(1e-6 * top, min(0.5 * least, 0.1 * top)), 2 * top)
    else:
        axis.set_ylim(0.0, 1.08 * amplitudes.max() or 1.0)
    axis.set_xlabel("frequency [Hz]")
    axis.set_ylabel(f"amplitude [{unit}]" if unit else "amplitude")
    return figure


def amplitude_spectrum(t: ArrayLike, y: ArrayLike, window: str = "hann") -> tuple[Array, Array]:
    """Frequencies [Hz] and amplitudes (frequency, n) of histories, see ``spectrum``."""
    time, values = np.asarray(t, dtype=float), np.asarray(y, dtype=float)
    values = values[:, None] if values.ndim == 1 else values
    if time.ndim != 1 or len(time) < 8 or values.shape[0] != len(time) or not np.isfinite(values).all():
        raise AnalysisError(
            f"spectrum: at least eight instants and as many finite values are needed; t has shape {time.shape}, "
            f"y {np.shape(y)}."
        )
    if not np.all(np.diff(time) > 0):
        raise AnalysisError("spectrum: the times must increase.")
    if window not in WINDOWS:
        raise AnalysisError(f"spectrum: window is one of {', '.join(WINDOWS)}, not {window!r}.")
    n = len(time)
    even = np.linspace(time[0], time[-1], n)
    if np.abs(time - even).max() > 1e-6 * (time[1] - time[0]):
        values = np.stack([np.interp(even, time, column) for column in values.T], axis=1)
    weights = _window(window, n)
    mean = weights @ values / weights.sum()
    transformed = np.fft.rfft((values - mean) * weights[:, None], axis=0)
    amplitudes = 2 / weights.sum() * np.abs(transformed)
    return np.fft.rfftfreq(n, even[1] - even[0]), amplitudes


def waterfall(
    t: ArrayLike,
    y: ArrayLike,
    *,
    window: str = "hann",
    length: float | None = None,
    count: int = 30,
    speed: ArrayLike | None = None,
    orders: Sequence[float] = (),
    rpm: bool = False,
    unit: str = "",
    highest: float | None = None,
    kind: str = "lines",
    log: bool = False,
    title: str = "",
    size: tuple[float, float] | None = None,
) -> Any:
    """How the spectrum of a history changes: amplitude spectra of ``count`` overlapping pieces, over time; a Figure.

    Pieces are ``length`` seconds long (frequencies are told apart by about 2 / length), by default a sixth of the
    whole. With a ``speed`` history [rad/s] spectra stand at the speeds of their pieces (in turns per minute if
    ``rpm``), and ``orders`` are drawn as rays. ``kind="lines"`` draws one line behind the other, ``"map"`` a map in
    colours with a bar, in decades if ``log``. Windows are those of ``spectrum``.
    """
    if kind not in ("lines", "map"):
        raise AnalysisError(f'waterfall: kind is "lines" or "map", not {kind!r}.')
    middles, frequencies, amplitudes = short_spectra(t, y, window, length, count)
    top = frequencies[-1] if highest is None else float(highest)
    if not (np.isfinite(top) and top > frequencies[1]):
        raise AnalysisError(f"waterfall: highest must be a frequency above {frequencies[1]:.4g} Hz, not {highest!r}.")
    places, label = middles, "time [s]"
    turns: Array | None = None
    if speed is not None:
        time, history = np.asarray(t, dtype=float), np.asarray(speed, dtype=float)
        if history.shape != time.shape or not np.isfinite(history).all():
            raise AnalysisError(f"waterfall: speed needs one finite value for each time; its shape is {history.shape}.")
        turns = np.interp(middles, time, history)
        places, label = (turns * 30 / np.pi, "speed [rpm]") if rpm else (turns, "speed [rad/s]")
        rising = np.diff(places)
        if not ((rising > 0).all() or (rising < 0).all()):
            raise AnalysisError("waterfall: the speed must rise (or fall) all the time; leave speed= out, or cut it.")
    elif len(orders):
        raise AnalysisError("waterfall: orders are multiples of the speed; give speed= too.")
    figure, (axis,) = _figure(1, size or (8.0, 5.4), title)
    shown = frequencies <= top
    frequencies, amplitudes = frequencies[shown], amplitudes[:, shown]
    if kind == "map":
        _map(figure, axis, frequencies, places, amplitudes, unit, log)
    else:
        _lines(axis, frequencies, places, amplitudes, unit)
    for order in orders:
        assert turns is not None
        ray = np.asarray(float(order) * turns / (2 * np.pi))
        inside = np.flatnonzero(ray <= top)
        pale = "#ffffff" if kind == "map" else "#5b646c"
        axis.plot(ray, places, "--", color=pale, linewidth=0.9, zorder=1e4)
        if len(inside):
            end = inside[np.argmax(ray[inside])]
            mark: dict[str, Any] = {"color": pale, "fontsize": 8.5, "ha": "right", "va": "top", "zorder": 2e4}
            if kind == "lines":
                mark["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
            offset = {"xytext": (-5, -3), "textcoords": "offset points"}
            axis.annotate(f"{order:g}×", (ray[end], places[end]), **offset, **mark)
    axis.set_xlim(0.0, top)
    axis.set_xlabel("frequency [Hz]")
    axis.set_ylabel(label)
    return figure


def short_spectra(
    t: ArrayLike, y: ArrayLike, window: str = "hann", length: float | None = None, count: int = 30
) -> tuple[Array, Array, Array]:
    """Middles [s] of pieces, frequencies [Hz] and amplitudes (pieces, frequencies) of a history, see ``waterfall``."""
    time, values = np.asarray(t, dtype=float), np.asarray(y, dtype=float)
    if time.ndim != 1 or values.shape != time.shape or len(time) < 16 or not np.isfinite(values).all():
        raise AnalysisError(
            "waterfall: one history of at least 16 finite values is needed; t has shape "
            f"{time.shape}, y {values.shape}."
        )
    if not np.all(np.diff(time) > 0):
        raise AnalysisError("waterfall: the times must increase.")
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 2:
        raise AnalysisError(f"waterfall: count is a whole number of spectra, at least 2, not {count!r}.")
    n, span = len(time), float(time[-1] - time[0])
    even = np.linspace(time[0], time[-1], n)
    values = np.interp(even, time, values)
    step = span / (n - 1)
    piece = n // PIECES if length is None else round(float(length) / step) if np.isfinite(length) else 0
    piece = max(piece, 8) if length is None else piece
    if not 8 <= piece < n:
        raise AnalysisError(
            f"waterfall: length must be between {8 * step:.4g} and {span:.4g} s, 8 values to all of them, not "
            f"{length!r}."
        )
    starts = np.unique(np.linspace(0, n - piece, count).astype(int))
    found = [amplitude_spectrum(even[k : k + piece], values[k : k + piece], window) for k in starts]
    middles = even[starts] + step * (piece - 1) / 2
    return middles, found[0][0], np.array([a[:, 0] for _, a in found])


def _lines(axis: Any, frequencies: Array, places: Array, amplitudes: Array, unit: str) -> None:
    """Spectra one behind the other: the lowest in front."""
    gap = float(np.abs(np.diff(places)).mean())
    largest = float(amplitudes.max()) or 1.0
    for order, k in enumerate(np.argsort(-places)):
        curve = places[k] + TALL * gap / largest * amplitudes[k]
        axis.fill_between(frequencies, places[k], curve, color="white", zorder=10 + 2 * order, linewidth=0)
        axis.plot(frequencies, curve, color=LINES[0], linewidth=0.9, zorder=11 + 2 * order)
    axis.set_ylim(places.min() - 0.5 * gap, places.max() + (TALL + 0.5) * gap)
    axis.set_title(f"highest peak {largest:.3g} {unit}".rstrip(), fontsize=9.5, loc="left")


def _map(figure: Any, axis: Any, frequencies: Array, places: Array, amplitudes: Array, unit: str, log: bool) -> None:
    from matplotlib.colors import LogNorm, Normalize

    largest = float(amplitudes.max()) or 1.0
    norm = LogNorm(1e-4 * largest, largest) if log else Normalize(0.0, largest)
    values = np.maximum(amplitudes, 1e-4 * largest) if log else amplitudes
    axis.grid(False)
    image = axis.pcolormesh(frequencies, places, values, norm=norm, cmap="viridis", shading="gouraud")
    axis.set_ylim(places.min(), places.max())
    bar = figure.colorbar(image, ax=axis, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_label(f"amplitude [{unit}]" if unit else "amplitude", fontsize=9.5)
    bar.ax.tick_params(labelsize=8.5)


def _window(name: str, n: int) -> Array:
    """Periodic windows as sums of cosines."""
    terms = {
        "none": (1.0,),
        "hann": (0.5, 0.5),
        "hamming": (0.54, 0.46),
        "blackman": (0.42, 0.5, 0.08),
        "flattop": (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
    }[name]
    phi = 2 * np.pi * np.arange(n) / n
    return np.asarray(sum((-1) ** k * a * np.cos(k * phi) for k, a in enumerate(terms)) + 0.0 * phi)
