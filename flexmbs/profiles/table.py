"""Profiles as tables of coefficients, and the one compiled function that evaluates them.

Row `index` of a table is a law of time: its kind, and its coefficients from params[starts[index]] on. A sum holds the
weights, shifts and rows of its terms. A Python function has three numbers there, which the caller refreshes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Laws = tuple[float, float, float]

SUM, POLYNOMIAL, RAMP, SMOOTH_STEP, SPIN_UP, HARMONIC, SPLINE, CALLBACK = range(8)


class Term(NamedTuple):
    """weight · law(t − shift); the law has a kind and coefficients, and a function of its own if it is a callback."""

    kind: int
    params: tuple[float, ...]
    weight: float = 1.0
    shift: float = 0.0
    function: Callable[[float], Laws] | None = None


class Callback(NamedTuple):
    """A Python function of which params[place : place + 3] holds value, rate and acceleration at t − shift."""

    place: int
    shift: float
    function: Callable[[float], Laws]


@dataclass(frozen=True, eq=False)
class ProfileTable:
    """Several profiles in arrays: profile k has the rows first[k] … first[k + 1] − 1, one for each component.

    `called[k]` says whether profile k holds Python functions, which are listed in `callbacks`. Whoever evaluates such a
    table keeps a copy of `params`, and refreshes it for each new time.
    """

    kinds: IntArray
    starts: IntArray
    params: FloatArray
    first: IntArray
    called: NDArray[np.bool_]
    callbacks: tuple[Callback, ...]

    @classmethod
    def of(cls, profiles: Iterable[Any]) -> ProfileTable:
        """Lay out profiles in the order given."""
        components = [p.components() for p in profiles]
        first = np.cumsum([0, *(len(c) for c in components)], dtype=np.int64)
        rows: list[Term] = []
        later: list[Term] = []
        for terms in (p.terms() for c in components for p in c):
            if len(terms) == 1 and terms[0].weight == 1.0 and terms[0].shift == 0.0:
                rows.append(terms[0])
                continue
            places = range(int(first[-1]) + len(later), int(first[-1]) + len(later) + len(terms))
            sums = [x for term, place in zip(terms, places, strict=True) for x in (term.weight, term.shift, place)]
            rows.append(Term(SUM, (len(terms), *sums)))
            later.extend(terms)
        rows.extend(later)
        starts = np.cumsum([0, *(len(row.params) for row in rows)], dtype=np.int64)
        table = cls(
            kinds=np.array([row.kind for row in rows], dtype=np.int64),
            starts=starts[:-1],
            params=np.array([x for row in rows for x in row.params], dtype=float),
            first=first,
            called=np.array([any(t.function for p in c for t in p.terms()) for c in components], dtype=np.bool_),
            callbacks=tuple(
                Callback(int(start), row.shift, row.function)
                for start, row in zip(starts[:-1], rows, strict=True)
                if row.function is not None
            ),
        )
        for array in (table.kinds, table.starts, table.params, table.first, table.called):
            array.setflags(write=False)
        return table

    def refresh(self, params: FloatArray, t: float) -> None:
        """Call the Python functions for time t, and write what they give into `params`, the caller's own copy."""
        for place, shift, function in self.callbacks:
            params[place : place + 3] = function(t - shift)


@njit(cache=True)
def evaluate(kinds, starts, params, index, t):  # type: ignore[no-untyped-def]
    """Value, rate and acceleration of row `index` at time t."""
    s = starts[index]
    if kinds[index] != SUM:
        return _law(kinds[index], params, s, t)
    x, v, a = 0.0, 0.0, 0.0
    for k in range(int(params[s])):
        weight, shift, row = params[s + 3 * k + 1], params[s + 3 * k + 2], int(params[s + 3 * k + 3])
        x_k, v_k, a_k = _law(kinds[row], params, starts[row], t - shift)
        x, v, a = x + weight * x_k, v + weight * v_k, a + weight * a_k
    return x, v, a


@njit(cache=True)
def evaluate_all(kinds, starts, params, count, times):  # type: ignore[no-untyped-def]
    """Value, rate and acceleration (times, rows, 3) of the first `count` rows."""
    laws = np.empty((len(times), count, 3))
    for i in range(len(times)):
        for k in range(count):
            laws[i, k, 0], laws[i, k, 1], laws[i, k, 2] = evaluate(kinds, starts, params, k, times[i])
    return laws


@njit(cache=True)
def _law(kind, params, s, t):  # type: ignore[no-untyped-def]
    if kind == POLYNOMIAL:
        return _polynomial(params, s + 1, int(params[s]), t)
    if kind in (RAMP, SMOOTH_STEP):
        return _transition(kind, params[s], params[s + 1], params[s + 2], params[s + 3], t)
    if kind == SPIN_UP:
        return _spin_up(params[s], params[s + 1], t)
    if kind == HARMONIC:
        w, angle = params[s + 1], params[s + 1] * t + params[s + 2]
        x = params[s] * np.sin(angle)
        return params[s + 3] + x, params[s] * w * np.cos(angle), -w * w * x
    if kind == SPLINE:
        return _spline(params, s, t)
    return params[s], params[s + 1], params[s + 2]  # a callback


@njit(cache=True)
def _polynomial(params, s, count, t):  # type: ignore[no-untyped-def]
    x, v, a = 0.0, 0.0, 0.0
    for k in range(s + count - 1, s - 1, -1):  # Horner's rule, differentiated twice
        a = a * t + 2.0 * v
        v = v * t + x
        x = x * t + params[k]
    return x, v, a


@njit(cache=True)
def _transition(kind, initial, final, start, duration, t):  # type: ignore[no-untyped-def]
    if t < start:
        return initial, 0.0, 0.0
    if t >= start + duration:
        return final, 0.0, 0.0
    s, way = (t - start) / duration, final - initial
    if kind == RAMP:
        return initial + way * s, way / duration, 0.0
    return (
        initial + way * s**3 * (10.0 + s * (6.0 * s - 15.0)),
        way * 30.0 * (s * (1.0 - s)) ** 2 / duration,
        way * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / duration**2,
    )


@njit(cache=True)
def _spin_up(speed, over, t):  # type: ignore[no-untyped-def]
    if t < 0.0:
        return 0.0, 0.0, 0.0
    if t >= over:
        return speed * (t - over / 2.0), speed, 0.0
    k = 2.0 * np.pi / over
    half = np.sin(k * t / 2.0)  # cos(x) − 1 = −2 sin²(x/2), without cancellation
    return (
        speed / over * (t * t / 2.0 - 2.0 * (half / k) ** 2),
        speed / over * (t - np.sin(k * t) / k),
        speed / over * 2.0 * half**2,
    )


@njit(cache=True)
def _spline(params, s, t):  # type: ignore[no-untyped-def]
    count, periodic = int(params[s]), params[s + 1] != 0.0
    times = params[s + 2 : s + 2 + count]
    first, last = times[0], times[count - 1]
    if periodic:
        t = first + (t - first) % (last - first)
    inside = min(max(t, first), last)
    k = min(max(np.searchsorted(times, inside, side="right") - 1, 0), count - 2)
    x, v, a = _polynomial(params, s + 2 + count + 4 * k, 4, inside - times[k])
    return (x, v, a) if t == inside else (x + v * (t - inside), v, 0.0)
