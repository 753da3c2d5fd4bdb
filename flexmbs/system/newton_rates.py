"""What rows of velocities put into Newton's matrix beside J: the changes of their wrenches with the positions."""

from __future__ import annotations

from typing import Any

from numba import njit

from flexmbs.bodies.flexible_calls import rates_deform
from flexmbs.joints.measures import RATES, cross, dot, vector
from flexmbs.joints.rates import wrench_change
from flexmbs.system.newton_bodies import frame_column

_options: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_inner: dict[str, Any] = {**_options, "forceinline": True, "no_cpython_wrapper": True}


@njit(**_inner)
def add_rates(layout, where, multipliers, c_d, work, tangents, data):
    """Of every row c(q, v) = 0: (∂c/∂q) T(x) / c_d in its row, and -∂(Jᵀλ̂)/∂q T(x), but for the arms of frames."""
    for r in where.rate_rows:
        if not where.row_active[r]:
            continue
        for k in range(layout.row_start[r], layout.row_start[r + 1]):
            m, factor = layout.term_measure[k], layout.term_factor[k]
            if layout.measure_kind[m] < RATES:  # of a Python function, which is linearised again and again
                continue
            for side in range(2):
                e = layout.term_entry_i[k] if side == 0 else layout.term_entry_j[k]
                if e >= 0:
                    add_side(layout, where, m, side, e, factor, factor * multipliers[r], c_d, work, tangents, data)


@njit(**_inner)
def add_side(layout, where, m, side, e, factor, multiplier, c_d, work, tangents, data):
    """Columns of the body of the first (0) or second (1) frame of measure m."""
    i, j, kind = layout.measure_i[m], layout.measure_j[m], layout.measure_kind[m]
    f, sign = (i, -1.0) if side == 0 else (j, 1.0)
    b = layout.frame_body[f]
    n, at = layout.body_v[b + 1] - layout.body_v[b], layout.frame_t[f]
    v_i, v_j = vector(work.frame_velocity, i), vector(work.frame_velocity, j)
    rate = v_j[0] - v_i[0], v_j[1] - v_i[1], v_j[2] - v_i[2]
    w_i, w_j, w = vector(work.frame_spin, i), vector(work.frame_spin, j), vector(work.frame_spin, f)
    own, origin = vector(work.frame_velocity, f), vector(work.velocity, b)
    swing = sign * (own[0] - origin[0]), sign * (own[1] - origin[1]), sign * (own[2] - origin[2])
    pull, g = (work.gradient[m, 0], work.gradient[m, 1], work.gradient[m, 2]), 3 + 3 * side
    twist = work.gradient[m, g], work.gradient[m, g + 1], work.gradient[m, g + 2]
    still = 0.0, 0.0, 0.0
    rates = work.rates
    rates[:] = 0.0
    rigid = n - rates_deform(layout.modal, layout, f, work, rates)
    for c in range(n):
        shift = frame_column(layout.body_kind[b], work.frame_t, at, n, 0, tangents, b, c)
        turned = frame_column(layout.body_kind[b], work.frame_t, at, n, 3, tangents, b, c)
        shift = sign * shift[0], sign * shift[1], sign * shift[2]
        if side == 0:
            force, moment_i, moment_j = wrench_change(kind, m, work.vectors, shift, turned, still)
        else:
            force, moment_i, moment_j = wrench_change(kind, m, work.vectors, shift, still, turned)
        if c_d != 0.0:
            # the frame's own twist turns with its body, whose velocities stay
            change = dot(force, rate) + dot(moment_i, w_i) + dot(moment_j, w_j)
            if c < rigid:
                change += dot(pull, cross(turned, swing)) + dot(twist, cross(turned, w))
            else:
                for x in range(3):
                    change += sign * pull[x] * rates[x, c] + twist[x] * rates[3 + x, c]
            data[where.entry_row[e] + c] += factor * change / c_d
        for other in range(2):
            link = where.measure_link[m]
            place, stride = where.link_place[link, 2 * other + side, 0], where.link_place[link, 2 * other + side, 1]
            if place < 0:  # the ground has none
                continue
            h = i if other == 0 else j
            body, start = layout.frame_body[h], layout.frame_t[h]
            rows = layout.body_v[body + 1] - layout.body_v[body]
            outward, moment = (-multiplier, moment_i) if other == 0 else (multiplier, moment_j)
            for p in range(rows):
                total = 0.0
                for x in range(3):
                    total += outward * force[x] * work.frame_t[start + x * rows + p]
                    total += multiplier * moment[x] * work.frame_t[start + (3 + x) * rows + p]
                data[place + c + p * stride] -= total
