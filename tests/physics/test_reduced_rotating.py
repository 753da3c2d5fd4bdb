"""Reduced parts in frames of known motion, against trusted numbers: spinning and spun-up cantilevers, a radial bar."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from cases.flexible import (
    AREA,
    DENSITY,
    LAG,
    LAG_WITHOUT_STIFFENING,
    LENGTH,
    SECOND,
    YOUNG,
    beam_elements,
)
from cases.rotating import CANTILEVER, RADIAL
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import flexmbs as fm
from flexmbs.reduction import inertia_factors


def cantilever(method: fm.reduction.Reduction, second: float = SECOND, **options: object) -> fm.ReducedPart:
    return fm.reduce(beam_elements(24, second), method, fixed="start", **options)  # type: ignore[arg-type]


def spinning_frequencies(part: fm.ReducedPart, speed: float) -> np.ndarray:
    """Circular frequencies in the rotating frame."""
    omega = np.array([0.0, 0.0, speed])
    c, n = part.constants, part.size
    k = np.diag(c.stiffness) + c.stiffness_omega(omega)
    k += np.tensordot(inertia_factors(np.zeros(3), np.zeros(3), omega), part.cases.K_g[:12], axes=1)
    first = np.block([[np.zeros((n, n)), np.eye(n)], [-k, -c.gyroscopic(omega)]])
    return np.sort(np.abs(scipy.linalg.eigvals(first).imag))[::2]


@pytest.mark.parametrize("eta", [0.0, 3.0, 12.0])
@pytest.mark.parametrize("method", [fm.ModalTruncation(50), fm.CraigBampton(44)], ids=str)
def test_rotating_cantilever(method: fm.reduction.Reduction, eta: float) -> None:
    *flap, lag = CANTILEVER[eta]
    second = 1e-3 * SECOND  # so soft in bending that it does not stretch at these speeds
    unit = np.sqrt(YOUNG * second / (DENSITY * AREA)) / LENGTH**2  # of mu and eta [rad/s]
    part = cantilever(method, second, **({"interfaces": ["end"]} if isinstance(method, fm.CraigBampton) else {}))
    mu = spinning_frequencies(part, eta * unit) / unit
    assert mu[0] == pytest.approx(lag, rel=1e-4)
    for value, rel in zip(flap, (1e-4, 5e-4, 1e-3), strict=True):
        assert np.abs(mu / value - 1).min() < rel


def test_the_axial_force_of_spin_is_a_parabola_in_each_beam() -> None:
    """Few elements suffice: the error of the lag frequency falls as h⁴, with a force that is constant in each as h²."""
    errors = []
    for count in (6, 12):
        mesh = fm.Mesh.line((0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), count)
        second = 1e-3 * SECOND
        section = fm.Section(area=AREA, Iy=second, Iz=second, J=2 * second)
        unit = np.sqrt(YOUNG * second / (DENSITY * AREA)) / LENGTH**2
        material, options = fm.Material(YOUNG, 0.3, DENSITY), {"section": section, "formulation": "euler_bernoulli"}
        found = fm.modes(mesh, material, fixed="start", spin=(0.0, 0.0, 12.0 * unit), count=1, **options)
        errors.append(abs(2 * np.pi * found.frequencies[0] / unit / CANTILEVER[12.0][3] - 1))
    assert errors[1] < 1.2e-4
    assert errors[0] / errors[1] > 12


def test_spun_up_cantilever() -> None:
    """The root turns by a given law; with stiffening the tip lags as it should, without it diverges."""
    part = cantilever(fm.ModalTruncation(12))
    c, speed, over, axis = part.constants, 6.0, 15.0, np.array([0.0, 0.0, 1.0])
    tip = part.frame("end").displacement[1]
    stiff, gyroscopic = np.diag(c.stiffness), c.gyroscopic(axis)
    angular, spin = c.stiffness_epsilon(axis), c.stiffness_omega(axis)
    stiffened = part.cases.K_g[5], part.cases.K_g[8]  # of ε_z and ω_z²
    load = c.load_epsilon(axis), c.load_omega(axis)

    def rhs(t: float, y: np.ndarray, stiffening: float) -> np.ndarray:
        d, rate = np.split(y, 2)
        phase = 2 * np.pi * t / over
        w, e = speed / over * (t - over / (2 * np.pi) * np.sin(phase)), speed / over * (1 - np.cos(phase))
        k = stiff + e * (angular + stiffening * stiffened[0]) + w**2 * (spin + stiffening * stiffened[1])
        return np.concatenate([rate, -w * (gyroscopic @ rate) - k @ d - e * load[0] - w**2 * load[1]])

    def lag(times: list[float], stiffening: float) -> np.ndarray:
        found = solve_ivp(
            rhs, (0.0, times[-1]), np.zeros(2 * part.size), t_eval=times, args=(stiffening,), rtol=1e-5, atol=1e-7
        )
        return np.asarray(tip @ found.y[: part.size])

    assert_allclose(lag(list(LAG), 1.0), list(LAG.values()), atol=0.004)
    assert_allclose(lag([5.0, 7.5], 0.0), [LAG_WITHOUT_STIFFENING[t] for t in (5.0, 7.5)], rtol=5e-3)


@pytest.mark.parametrize("speed", [50.0, 500.0])
def test_radial_bar(speed: float) -> None:
    """u(L) = tan(aL)/a - L, with spin softening and without geometric stiffness."""
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 40)
    elements = fm.Elements(mesh, fm.Material(7e10, 0.3, 2700.0), section=fm.Section.circle(0.05))
    part = fm.reduce(elements, fm.Krylov(4), fixed="start", interfaces=["end"], stiffening=False)
    c, omega = part.constants, np.array([0.0, 0.0, speed])
    d = np.linalg.solve(np.diag(c.stiffness) + c.stiffness_omega(omega), -c.load_omega(omega))
    assert (part.frame("end").displacement @ d)[0] == pytest.approx(RADIAL[speed][0], rel=1e-4)
