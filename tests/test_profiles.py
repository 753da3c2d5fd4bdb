"""Functions of time: derivatives, formulas, kinks, sums, tables, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.interpolate
from hypothesis import given, settings
from hypothesis import strategies as st

from flexmbs.errors import FlexmbsError
from flexmbs.profiles import (
    Constant,
    ConstantSpeed,
    FunctionProfile,
    Harmonic,
    Polynomial,
    ProfileTable,
    Ramp,
    SmoothStep,
    SpinUp,
    Spline,
    as_profile,
    evaluate,
    evaluate_all,
)
from flexmbs.profiles.duals import UNARY, derivatives

SAMPLES = np.array([0.0, 0.4, 0.7, 1.3, 2.0]), np.array([1.0, -0.5, 0.3, 2.0, 1.0])
PROFILES = {
    "constant": Constant(3.0),
    "speed": ConstantSpeed(2.0, start=-1.0),
    "polynomial": Polynomial([1.0, -2.0, 0.5, 3.0, -0.7]),
    "ramp": Ramp(1.0, 4.0, start=0.5, duration=0.8),
    "step": SmoothStep(1.0, -2.0, start=0.3, duration=1.1),
    "spin_up": SpinUp(6.0, over=1.5),
    "harmonic": Harmonic(2.0, frequency=0.7, phase=0.3, offset=1.0),
    "spline": Spline(*SAMPLES),
    "natural": Spline(*SAMPLES, boundary="natural"),
    "clamped": Spline(*SAMPLES, boundary="clamped"),
    "periodic": Spline(*SAMPLES, boundary="periodic"),
    "function": as_profile(lambda t: np.sin(t) ** 2 / (1 + t**2)),
    "given": as_profile(math.sin, rate=math.cos, acceleration=lambda t: -math.sin(t)),
    "sum": 2 * SpinUp(6.0, over=1.5) - Harmonic(2.0, 0.7).shifted(0.2) / 4 + 1.0,
    "mixed": -(as_profile(np.tanh) + 3 * Ramp(0.0, 1.0, 0.5, 0.8)).shifted(0.35),
    "vector": Harmonic((1.0, 0.0, -2.0), frequency=0.7, phase=0.3, offset=(0.0, 5.0, 1.0)),
}
every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
TIMES = np.linspace(-0.513, 2.711, 67)


@every_profile
def test_derivatives_are_those_of_the_value(profile):
    h = 1e-5
    near = np.array([np.min(abs(t - np.array(profile.kinks)), initial=1.0) for t in TIMES]) < 2 * h
    assert not near.any()
    before, now, after = (np.array(profile.at(TIMES + s)) for s in (-h, 0.0, h))
    np.testing.assert_allclose((after - before)[0] / (2 * h), now[1], atol=2e-7)
    np.testing.assert_allclose((after - before)[1] / (2 * h), now[2], atol=2e-5)  # smooth steps have jumps of jerk


@every_profile
def test_one_time_and_many(profile):
    x, v, a = profile.at(TIMES.reshape(1, -1))
    assert x.shape == v.shape == a.shape == (1, len(TIMES), *profile.shape)
    for k in (0, 20, 66):
        np.testing.assert_array_equal(profile.value(TIMES[k]), x[0, k])
        np.testing.assert_array_equal(profile.rate(TIMES[k]), v[0, k])
        np.testing.assert_array_equal(profile.acceleration(TIMES[k]), a[0, k])
    assert isinstance(profile.value(0.5), float) == (profile.shape == ())


@every_profile
def test_values_and_rates_jump_nowhere_and_bends_only_at_kinks(profile):
    grid = np.linspace(-1.0, 3.0, 4001)
    x, v, a = (np.asarray(y).reshape(len(grid), -1) for y in profile.at(grid))
    step = grid[1] - grid[0]
    assert abs(np.diff(x, axis=0)).max() <= 1.01 * step * abs(v).max() + 1e-12
    jumps = abs(np.diff(a, axis=0)).max(axis=1) > 0.05 * abs(a).max() + 1e-9
    jumps |= abs(np.diff(v, axis=0)).max(axis=1) > 1.01 * step * max(abs(a).max(), 1e-9)
    for k in np.flatnonzero(jumps):
        assert min(abs(grid[k] - np.array(profile.kinks)), default=1.0) < 2 * step


def test_table_equals_objects():
    table = ProfileTable.of(PROFILES.values())
    params = table.params.copy()
    for t in (-0.3, 0.6, 1.9):
        table.refresh(params, t)
        for k, profile in enumerate(PROFILES.values()):
            rows = range(table.first[k], table.first[k + 1])
            laws = np.array([evaluate(table.kinds, table.starts, params, row, t) for row in rows])
            expected = np.array(profile.at(t)).reshape(3, -1).T
            np.testing.assert_array_equal(laws, expected)
    assert [name for name, called in zip(PROFILES, table.called, strict=True) if called] == [
        "function",
        "given",
        "mixed",
    ]
    assert len(table.callbacks) == 3
    with pytest.raises(ValueError, match="read-only"):
        table.refresh(table.params, 0.0)


def test_one_compiled_version_serves_all_objects():
    fixed = np.array([[0.1, 0.2], [0.3, 0.4]]).T
    fixed.setflags(write=False)
    for profile in PROFILES.values():
        for t in (1, 0.5, [0.1, 0.2], fixed):
            profile.at(t)
    assert len(evaluate_all.signatures) == 1


def test_callbacks_are_not_numbers_until_refreshed():
    table = ProfileTable.of([as_profile(np.sin)])
    assert np.isnan(evaluate(table.kinds, table.starts, table.params, 0, 1.0)).all()
    empty = ProfileTable.of([])
    assert len(empty.kinds) == len(empty.params) == 0


def test_spin_up_is_the_formula():
    speed, over = 6.0, 15.0
    t = np.linspace(0.0, over, 50)
    psi = speed / over * (t**2 / 2 + (over / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * t / over) - 1))
    p = SpinUp(speed, over)
    np.testing.assert_allclose(p.value(t), psi, rtol=1e-12, atol=1e-12)
    later = np.array([15.0, 20.0, 100.0])
    np.testing.assert_allclose(p.value(later), speed * (later - over / 2), rtol=1e-15)
    np.testing.assert_allclose(p.rate([0.0, over, 99.0]), [0.0, speed, speed])
    assert p.at(-1.0) == (0.0, 0.0, 0.0)
    # near the start it is Ω (2π)² t⁴ / 24 T³, far below the rounding of t²/2
    np.testing.assert_allclose(p.value(1e-2), speed * (2 * np.pi) ** 2 * 1e-8 / (24 * over**3), rtol=1e-4)


def test_smooth_step_and_ramp_meet_their_ends():
    for law in (SmoothStep, Ramp):
        p = law(1.0, 3.0, start=0.5, duration=2.0)
        np.testing.assert_allclose(p.value([-5.0, 0.5, 1.5, 2.5, 9.0]), [1.0, 1.0, 2.0, 3.0, 3.0], rtol=1e-15)
    np.testing.assert_allclose(np.array(SmoothStep(1.0, 3.0, 0.5, 2.0).at([0.5, 2.5]))[1:], 0.0, atol=1e-15)
    ramp = Ramp(1.0, 3.0, 0.5, 2.0)
    assert ramp.kinks == (0.5, 2.5)
    np.testing.assert_array_equal(ramp.rate([0.49, 0.5, 2.49, 2.5]), [0.0, 1.0, 1.0, 0.0])


def test_harmonic_in_hertz_and_vectors():
    p = Harmonic((0, 0, 50.0), frequency=3.0)
    t = np.array([0.0, 1 / 12, 1 / 6])
    np.testing.assert_allclose(p.value(t), [[0, 0, 0], [0, 0, 50.0], [0, 0, 0]], atol=1e-13)
    np.testing.assert_allclose(p.rate(0.0), [0, 0, 50.0 * 6 * np.pi])
    assert p.shape == (3,)
    assert [c.amplitude for c in p.components()] == [0.0, 0.0, 50.0]
    doubled = (2 * p + p.shifted(0.1)).value(t)
    np.testing.assert_allclose(doubled, 2 * p.value(t) + p.value(t - 0.1), atol=1e-12)


def test_spline_interpolates_and_goes_on_straight():
    times, values = SAMPLES
    for boundary in ("not-a-knot", "natural", "clamped", "periodic"):
        p = Spline(times, values, boundary)
        np.testing.assert_allclose(p.value(times), values, atol=1e-14)
        reference = scipy.interpolate.CubicSpline(times, values, bc_type=boundary)
        inside = np.linspace(0.0, 2.0, 41)[:-1]
        for order, found in enumerate(p.at(inside)):
            np.testing.assert_allclose(found, reference(inside, order), atol=1e-11)
    p = Spline(times, values)
    assert p.kinks == (0.0, 2.0)
    np.testing.assert_allclose(p.value(2.5), values[-1] + 0.5 * p.rate(2.0))
    assert p.acceleration(2.0) != 0.0  # the last sample still belongs to the curve
    assert p.acceleration(2.5) == 0.0
    around = Spline(times, values, "periodic")
    np.testing.assert_allclose(around.at(0.9), around.at(0.9 - 6.0), atol=1e-11)
    cubic = Spline(times, times**3 - times)
    np.testing.assert_allclose(cubic.at(0.9), (0.9**3 - 0.9, 3 * 0.81 - 1, 5.4), rtol=1e-12)


def test_arithmetic():
    p, q = SpinUp(6.0, 1.5), Harmonic(2.0, 0.7)
    t = TIMES
    np.testing.assert_allclose((3 * p - q / 2 + 1).value(t), 3 * p.value(t) - q.value(t) / 2 + 1, atol=1e-12)
    np.testing.assert_allclose((1 - p).rate(t), -p.rate(t))
    np.testing.assert_allclose((np.float64(2) * p).rate(t), 2 * p.rate(t))
    np.testing.assert_allclose(p.shifted(0.3).shifted(-0.1).value(t), p.value(t - 0.2), atol=1e-13)
    late = 2 * as_profile(np.sin).shifted(0.3)
    np.testing.assert_allclose(late.at(t), np.array([2 * np.sin(t - 0.3), 2 * np.cos(t - 0.3), -2 * np.sin(t - 0.3)]))
    assert (Ramp(0, 1, 0.5, 1.0).shifted(2.0) + Ramp(0, 1, 3.5, 1.0)).kinks == (2.5, 3.5, 4.5)


@given(t=st.floats(-2.0, 2.0), seed=st.integers(0, 1000))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_polynomials_by_dual_numbers(t, seed):
    c = np.random.default_rng(seed).normal(size=6)
    dual = as_profile(lambda t: sum(ck * t**k for k, ck in enumerate(c)))
    np.testing.assert_allclose(Polynomial(c).at(t), dual.at(t), rtol=1e-10, atol=1e-10)


def test_laws_by_dual_numbers():
    t = np.linspace(0.05, 1.45, 15)
    spin = as_profile(lambda t: 4 * (t**2 / 2 + (1.5 / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * t / 1.5) - 1)))
    np.testing.assert_allclose(SpinUp(6.0, 1.5).at(t), spin.at(t), atol=1e-12)
    harmonic = as_profile(lambda t: 1 + 2 * np.sin(2 * np.pi * 0.7 * t + 0.3))
    np.testing.assert_allclose(PROFILES["harmonic"].at(t), harmonic.at(t), atol=1e-12)

    def quintic(t):
        s = min(max((t - 0.3) / 1.1, 0.0), 1.0)
        return 1 - 3 * (10 * s**3 - 15 * s**4 + 6 * s**5)

    np.testing.assert_allclose(PROFILES["step"].at(t), as_profile(quintic).at(t), atol=1e-12)
    ramp = as_profile(lambda t: 1 + 3 * np.minimum(np.maximum((t - 0.5) / 0.8, 0.0), 1.0), kinks=[1.3, 0.5])
    np.testing.assert_allclose(PROFILES["ramp"].at(t), ramp.at(t), atol=1e-12)
    assert ramp.kinks == (0.5, 1.3)


# arcsin and the like end at 1, arccosh begins there
@pytest.mark.parametrize("name", sorted(UNARY))
def test_every_numpy_function(name):
    ufunc, t = getattr(np, name), 1.37 if name == "arccosh" else 0.37
    x, v, a = derivatives(ufunc, t)
    h = 1e-4
    assert x == pytest.approx(ufunc(t), rel=1e-14)
    assert v == pytest.approx((ufunc(t + h) - ufunc(t - h)) / (2 * h), rel=1e-6, abs=1e-9)
    assert a == pytest.approx((ufunc(t + h) - 2 * ufunc(t) + ufunc(t - h)) / h**2, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda t: (2 + t) ** (1 + t),
        lambda t: 2.0**t / (3 - t),
        lambda t: np.power(t, 3) - np.square(t) * t / 7,
        lambda t: np.arctan2(np.sin(3 * t), np.cos(3 * t)),
        lambda t: np.hypot(t, 1 + t),
        lambda t: (5 * t) % 0.9 + np.mod(t, 0.2),
        lambda t: abs(t - 1) * np.abs(t) + (-t) * +t,
        lambda t: t**2 if t < 0.5 else 1.0,
        lambda t: np.where(t < 0.1, 3.0, t**3),
        lambda t: 1 / t + np.float64(2) * t - np.array(3.0) * t,
        lambda t: 4,
    ],
)
def test_functions_of_many_kinds(function):
    t, h = 0.37, 1e-4
    x, v, a = as_profile(function).at(t)
    f = [float(function(t + k * h)) for k in (-1, 0, 1)]
    assert x == pytest.approx(f[1], rel=1e-14)
    assert v == pytest.approx((f[2] - f[0]) / (2 * h), rel=1e-6, abs=1e-8)
    assert a == pytest.approx((f[2] - 2 * f[1] + f[0]) / h**2, rel=1e-5, abs=1e-6)


def test_powers_at_zero():
    for n in range(5):
        expected = [1.0 if n == k else 0.0 for k in (0, 1)] + [2.0 if n == 2 else 0.0]
        np.testing.assert_array_equal(as_profile(lambda t, n=n: t**n).at(0.0), expected)


def test_as_profile():
    assert as_profile(3) == Constant(3.0)
    assert as_profile(np.float64(3)) == Constant(3.0)
    ramp = Ramp(0.0, 1.0, 0.0, 1.0)
    assert as_profile(ramp) is ramp
    assert isinstance(as_profile(np.sin), FunctionProfile)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: as_profile(lambda t: math.sin(t)), r"cannot be differentiated.*np.sin, not math.sin.*give rate="),
        (lambda: as_profile(lambda t: np.interp(t, [0, 1], [0, 1])), "cannot be differentiated.*np.interp"),
        (lambda: as_profile(lambda t: np.heaviside(t, 0)), "cannot be differentiated: it uses np.heaviside"),
        (lambda: as_profile(np.sinc), "function 'sinc' of time cannot be differentiated"),
        (lambda: as_profile(lambda t: None), "return one number: it returned None"),
        (lambda: as_profile(lambda t: (t, t)), "return one number"),
        (lambda: as_profile(lambda: 1.0), "take one time"),
        (lambda: as_profile(math.sin, rate=math.cos), "both rate= and acceleration="),
        (lambda: as_profile(math.sin, rate=1.0, acceleration=0.0), "as functions of time"),
        (lambda: as_profile(3.0, rate=math.cos), "go with a function of time, not with 3.0"),
        (lambda: as_profile("fast"), "a number, a profile such as SmoothStep, or a Python function of t; got 'fast'"),
        (lambda: as_profile(float("nan")), "finite number"),
        (lambda: as_profile(lambda t: 1 / t).value(0.0), "fails at t = 0.0: .*division"),
        (lambda: as_profile(np.sqrt).value(0.0), "value 0.0, rate inf, acceleration nan at t = 0.0"),
        (lambda: Constant("x"), "constant must be a finite number, got 'x'"),
        (lambda: ConstantSpeed(np.inf), "speed must be a finite number"),
        (lambda: Polynomial([]), "coefficients must be a row"),
        (lambda: Polynomial([[1.0, 2.0]]), "coefficients must be a row"),
        (lambda: Polynomial("abc"), "coefficients must be a row of numbers, got 'abc'"),
        (lambda: Ramp(0.0, 1.0, 0.0, 0.0), "duration must be positive, got 0.0"),
        (lambda: SmoothStep(0.0, None, 0.0, 1.0), "final must be a finite number, got None"),
        (lambda: SpinUp(6.0, -1.0), "over must be positive"),
        (lambda: Harmonic((1.0, 2.0), 3.0), "one number or three, got 2"),
        (lambda: Harmonic(1.0, "3 Hz"), "frequency must be a finite number"),
        (lambda: Spline([0, 1], [1, 2, 3]), "got 2 and 3"),
        (lambda: Spline([0, 2, 1], [1, 2, 3]), r"must rise: 1.0 follows 2.0 \(sample 2\)"),
        (lambda: Spline([0, 1], [1, 2], "free"), "unknown boundary 'free'"),
        (lambda: Spline([0, 1, 2], [1, 2, 3], "periodic"), "ends with the value it begins with, got 1.0 and 3.0"),
        (lambda: Harmonic((1, 2, 3), 1.0) + 1.0, "vector profile and a scalar one"),
        (lambda: SpinUp(1.0, 1.0).shifted("later"), "delay must be a finite number"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(FlexmbsError, match=words):
        make()


def test_profiles_do_not_multiply():
    with pytest.raises(TypeError, match="unsupported operand"):
        SpinUp(1.0, 1.0) * SpinUp(1.0, 1.0)
    with pytest.raises(TypeError, match="unsupported operand"):
        SpinUp(1.0, 1.0) + "x"
