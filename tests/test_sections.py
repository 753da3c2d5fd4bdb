"""Cross-sections against numerical integration over their area, and shear and torsion against independent theory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm


def polar_moments(outer: float, inner: float) -> np.ndarray:
    """A, ∫z², ∫y² of a ring, by Gauss and trapezoidal rules (exact here)."""
    x, w = np.polynomial.legendre.leggauss(6)
    r = inner + (outer - inner) * (x + 1) / 2
    weight = w * (outer - inner) / 2 * r
    angle = np.arange(16) * np.pi / 8
    y, z = np.outer(r, np.cos(angle)), np.outer(r, np.sin(angle))
    area = np.repeat(weight[:, None], 16, axis=1) * np.pi / 8
    return np.array([area.sum(), (area * z**2).sum(), (area * y**2).sum()])


def rectangle_moments(b: float, h: float, y0: float = 0.0) -> np.ndarray:
    """A, ∫z², ∫y² of a rectangle b along z, h along y, centred at (y0, 0)."""
    x, w = np.polynomial.legendre.leggauss(4)
    y, z = y0 + x * h / 2, x * b / 2
    area = np.outer(w * h / 2, w * b / 2)
    return np.array([area.sum(), (area * z[None, :] ** 2).sum(), (area * y[:, None] ** 2).sum()])


def constants(section: fm.Section) -> list[float]:
    return [section.area, section.Iy, section.Iz]


def test_circle_and_tube() -> None:
    assert_allclose(constants(fm.Section.circle(0.3)), polar_moments(0.15, 0.0), rtol=1e-13)
    tube = fm.Section.tube(0.3, 0.22)
    assert_allclose(constants(tube), polar_moments(0.15, 0.11), rtol=1e-13)
    assert pytest.approx(tube.Iy + tube.Iz) == tube.J  # round sections do not warp
    assert tube.extent == (0.15, 0.15)


def test_rectangle_is_b_across_and_h_up() -> None:
    section = fm.Section.rectangle(0.2, 0.5)
    assert_allclose(constants(section), rectangle_moments(0.2, 0.5), rtol=1e-13)
    assert section.Iz > section.Iy  # stiffer against bending in the plane of its height
    assert section.extent == (0.25, 0.1)


def test_i_beam_is_three_rectangles() -> None:
    b, h, web, flange = 0.2, 0.3, 0.01, 0.02
    parts = [
        rectangle_moments(b, flange, (h - flange) / 2),
        rectangle_moments(b, flange, -(h - flange) / 2),
        rectangle_moments(web, h - 2 * flange),
    ]
    section = fm.Section.i_beam(b, h, web, flange)
    assert_allclose(constants(section), np.sum(parts, axis=0), rtol=1e-13)
    assert section.extent == (0.15, 0.1)


def prandtl_torsion(b: float, h: float, n: int) -> float:
    """J = 2∫φ dA with ∇²φ = -2 and φ = 0 on the edge, by finite differences."""
    y, z = np.linspace(0, h, n + 1)[1:-1], np.linspace(0, b, n + 1)[1:-1]
    dy, dz = h / n, b / n
    one = np.eye(n - 1)
    second = np.eye(n - 1, k=1) + np.eye(n - 1, k=-1) - 2 * one
    laplace = np.kron(second, one) / dy**2 + np.kron(one, second) / dz**2
    phi = np.linalg.solve(laplace, np.full(len(y) * len(z), -2.0))
    return float(2 * phi.sum() * dy * dz)


@pytest.mark.parametrize("sides", [(1.0, 1.0), (0.4, 1.0), (1.0, 0.2)])
def test_torsion_of_rectangles_solves_prandtls_equation(sides: tuple[float, float]) -> None:
    coarse, fine = (prandtl_torsion(*sides, n) for n in (12, 24))
    assert pytest.approx((4 * fine - coarse) / 3, rel=1e-3) == fm.Section.rectangle(*sides).J


def test_torsion_of_a_thin_strip() -> None:
    assert pytest.approx(1e-9 / 3, rel=1e-3) == fm.Section.rectangle(1e-3, 1.0).J


@pytest.mark.parametrize("poisson", [0.0, 0.25, 0.3, 0.5])
def test_cowpers_shear_factors(poisson: float) -> None:
    """Cowper (1966), table 1: circle, and the thin tube as the limit of the thick one."""
    circle = 6 * (1 + poisson) / (7 + 6 * poisson)
    assert_allclose(fm.Section.circle(0.1).shear_factors(poisson), circle)
    thin = 2 * (1 + poisson) / (4 + 3 * poisson)
    assert_allclose(fm.Section.tube(1.0, 0.9999).shear_factors(poisson), thin, rtol=1e-6)
    m = 0.6
    thick = 6 * (1 + poisson) * (1 + m**2) ** 2
    thick /= (7 + 6 * poisson) * (1 + m**2) ** 2 + (20 + 12 * poisson) * m**2
    assert_allclose(fm.Section.tube(0.1, 0.06).shear_factors(poisson), thick)


def test_given_factors_and_rectangles_do_not_depend_on_poisson() -> None:
    assert fm.Section.rectangle(0.1, 0.2).shear_factors(0.3) == pytest.approx((5 / 6, 5 / 6))
    assert fm.Section(area=1.0, shear=(0.4, 0.7)).shear_factors(0.1) == (0.4, 0.7)
    assert fm.Section(area=1.0, shear=0.9).shear_factors(0.1) == (0.9, 0.9)


def test_i_beam_carries_shear_in_its_web() -> None:
    section = fm.Section.i_beam(0.2, 0.3, 0.01, 0.02)
    up, across = section.shear_factors(0.3)
    assert up * section.area == pytest.approx(0.3 * 0.01)
    assert across * section.area == pytest.approx(5 / 6 * 2 * 0.2 * 0.02)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fm.Section(area=0.0), "area"),
        (lambda: fm.Section(area=np.nan), "area"),
        (lambda: fm.Section(area=1.0, Iy=-1.0), "Iy"),
        (lambda: fm.Section(area=1.0, J=np.nan), "J must"),
        (lambda: fm.Section(area=1.0, shear=0.0), "shear"),
        pytest.param(lambda: fm.Section(area=1.0, shear=(0.5, np.nan)), "shear"),
        pytest.param(lambda: fm.Section(area=1.0, shear=(0.5, 0.5, 0.5)), "shear"),
        (lambda: fm.Section.tube(0.1, 0.1), "outer diameter"),
        (lambda: fm.Section.tube(0.1, -0.01), "outer diameter"),
        (lambda: fm.Section.circle(0.0), "outer diameter"),
        (lambda: fm.Section.rectangle(0.1, 0.0), "positive"),
        (lambda: fm.Section.i_beam(0.1, 0.2, 0.2, 0.01), "do not fit"),
        (lambda: fm.Section.i_beam(0.1, 0.2, 0.01, 0.1), "do not fit"),
    ],
)
def test_impossible_sections_are_refused(make: Callable[[], fm.Section], message: str) -> None:
    with pytest.raises(fm.MaterialError, match=message):
        make()
