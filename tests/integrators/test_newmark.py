"""Newmark, HHT and the exact solution of linear equations, against closed forms and a tight adaptive solver."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.integrate

import flexmbs as fm
from flexmbs.integrators.newmark import DenseMotion, LinearMotion, at_rest, balanced, periodic, quasi_static


class Given(DenseMotion):
    """Equations from functions of time."""

    def __init__(self, matrices: Callable, load: Callable, t_end: float, steps: int, constant: bool = False) -> None:
        super().__init__()
        self.matrices, self.force, self.step, self.steps, self.constant = matrices, load, t_end / steps, steps, constant
        self.size = len(load(0.0))

    def dense(self, k):
        return self.matrices(k * self.step)

    def load(self, k):
        return self.force(k * self.step)


M = np.array([[2.0, 0.3], [0.3, 1.0]])
K = np.array([[50.0, -20.0], [-20.0, 80.0]])
C = np.array([[0.2, 3.0], [-3.0, 0.4]])  # damping and gyroscopic terms


def fixed(load, t_end=2.0, steps=200):
    return Given(lambda t: (M, C, K), load, t_end, steps, constant=True)


def varying(steps):
    """Every coefficient changes with time."""
    return Given(
        lambda t: (M * (1 + 0.2 * np.sin(3 * t)), C * np.cos(t), K * (1 + 0.4 * np.sin(2 * t))),
        lambda t: np.array([np.sin(4 * t), 1.0]), 2.0, steps,
    )  # fmt: skip


def followed(problem: Given, y0=(0.0, 0.0), v0=(0.0, 0.0)):
    """The same equations by an adaptive method, at the last instant."""

    def slope(t, x):
        m, c, k = problem.matrices(t)
        return np.concatenate([x[2:], np.linalg.solve(m, problem.force(t) - c @ x[2:] - k @ x[:2])])

    t_end = problem.step * problem.steps
    return scipy.integrate.solve_ivp(slope, (0, t_end), [*y0, *v0], "DOP853", rtol=1e-11, atol=1e-13).y[:, -1]


def last(method, problem, start=None):
    *_, end = method.motions(problem, start or at_rest(problem))
    return np.concatenate([end.y, end.v])


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_second_order_with_changing_coefficients(alpha):
    exact = followed(varying(1))
    errors = [np.abs(last(fm.Newmark(alpha), varying(steps)) - exact).max() for steps in (200, 400, 800)]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.15)
    assert errors[2] < 2e-4


def test_average_accelerations_keep_energy_and_hht_damps():
    free = Given(lambda t: (M, 0 * M, K), lambda t: np.zeros(2), 50.0, 300, constant=True)
    start = balanced(free, np.array([0.1, -0.2]), np.array([1.0, 0.5]))

    def energies(method):
        return np.array([(m.v @ M @ m.v + m.y @ K @ m.y) / 2 for m in method.motions(free, start)])

    np.testing.assert_allclose(energies(fm.Newmark()), energies(fm.Newmark())[0], rtol=1e-11)
    assert energies(fm.Newmark(0.2))[-1] < 0.2 * energies(fm.Newmark(0.2))[0]


def test_modal_superposition_is_exact_for_straight_loads():
    """With steps of a sixth of the time, however fast the vibration, and gyroscopic terms."""
    problem = fixed(lambda t: np.array([1.0 + 2.0 * t, -3.0 * t]), 2.0, 6)
    np.testing.assert_allclose(last(fm.ModalSuperposition(), problem), followed(problem), atol=1e-9)
    *_, end = fm.ModalSuperposition().motions(problem, at_rest(problem))
    balance = M @ end.a + C @ end.v + K @ end.y - problem.force(2.0)
    assert np.abs(balance).max() < 1e-12
    with pytest.raises(fm.AnalysisError, match="do not change with time"):
        last(fm.ModalSuperposition(), varying(10))


@pytest.mark.parametrize("method", [fm.Newmark(), fm.Newmark(0.05), fm.ModalSuperposition()], ids=str)
def test_steady_periodic_motion_of_a_harmonic_load(method):
    """y = Re (K - ω²M + iωC)⁻¹ f e^{iωt}, ω near the modes, from a single cycle."""
    w = 5.0
    force = np.array([1.0 - 0.5j, 2.0j])
    steps = 800
    problem = fixed(lambda t: (force * np.exp(1j * w * t)).real, 2 * np.pi / w, steps)
    amplitude = np.linalg.solve(K - w * w * M + 1j * w * C, force)
    found = list(method.motions(problem, periodic(method, problem)))
    t = problem.step * np.arange(steps + 1)
    exact = (amplitude * np.exp(1j * w * t)[:, None]).real
    np.testing.assert_allclose([m.y for m in found], exact, atol=3e-4 * np.abs(amplitude).max())
    np.testing.assert_allclose(found[-1].v, found[0].v, atol=1e-10)


def test_resonance_is_said():
    square = np.array([[1.0]])
    problem = Given(lambda t: (square, 0 * square, square), lambda t: np.cos([t]), 2 * np.pi, 4, constant=True)
    with pytest.raises(fm.AnalysisError, match="resonance"):
        periodic(fm.ModalSuperposition(), problem)


def test_quasi_static_start_does_not_ring():
    problem = Given(lambda t: (M, 0 * M, 1e4 * K), lambda t: np.array([1.0 + t, 0.5 * t]), 1.0, 2000, constant=True)
    y = np.array([m.y for m in fm.Newmark().motions(problem, quasi_static(problem))])
    static = np.array([np.linalg.solve(1e4 * K, problem.load(k)) for k in range(2001)])
    assert np.abs(y - static).max() < 1e-6 * np.abs(static).max()
    ringing = np.array([m.y for m in fm.Newmark().motions(problem, at_rest(problem))])
    assert np.abs(ringing - static).max() > 0.4 * np.abs(static).max()


def test_wrong_options_are_refused():
    for alpha in (-0.1, 0.5, "much", float("nan")):
        with pytest.raises(fm.AnalysisError, match="alpha"):
            fm.Newmark(alpha)

    class Large(LinearMotion):
        size = 5000

        def load(self, k):
            return np.zeros(5000)

        resistance = solve = load

    with pytest.raises(fm.AnalysisError, match="reduce the body"):
        periodic(fm.Newmark(), Large())
