"""Cross-sections of bars and beams: local x along the beam, y "up", z across; origin at the centroid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexmbs.errors import MaterialError
from flexmbs.given import array, number


@dataclass(frozen=True)
class Section:
    """A cross-section by its constants, about principal axes through the centroid.

    Parameters
    ----------
    area : A [m²].
    Iy : second moment ∫z² dA about the local y axis [m⁴].
    Iz : second moment ∫y² dA about the local z axis [m⁴]; it resists bending in the local x-y plane.
    J : torsion constant [m⁴] (not the polar moment, unless the section is round).
    shear : shear factors (κ_y, κ_z) of Timoshenko's theory; one number counts for both.
    shear_law : name of a shape whose factors depend on Poisson's ratio; set by ``circle`` and ``tube``.
    ratio : inner over outer radius of a tube.
    extent : largest distances (|y|, |z|) from the centroid, for bending stress; zero if unknown.
    """

    area: float
    Iy: float = 0.0
    Iz: float = 0.0
    J: float = 0.0
    shear: float | tuple[float, float] = 5 / 6
    shear_law: str = "given"
    ratio: float = 0.0
    extent: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if not number(self.area) > 0:
            raise MaterialError(f"section: area must be positive, not {self.area}.")
        for label in ("Iy", "Iz", "J"):
            if not number(getattr(self, label)) >= 0:
                raise MaterialError(f"section: {label} must be zero or more, not {getattr(self, label)}.")
        if self.shear_law not in ("given", "tube") or not 0 <= number(self.ratio) < 1:
            raise MaterialError(
                f'section: shear_law is "given" or "tube" with a ratio from 0 to 1, not {self.shear_law!r} with '
                f"{self.ratio!r}."
            )
        if array(self.extent).shape != (2,) or not np.all(array(self.extent) >= 0):
            raise MaterialError(f"section: extent must be two distances, zero or more, not {self.extent!r}.")
        factors = np.atleast_1d(array(self.shear))
        if factors.shape not in ((1,), (2,)) or not np.all(factors > 0) or not np.isfinite(factors).all():
            raise MaterialError(f"section: shear must be one or two positive factors, not {self.shear!r}.")

    @classmethod
    def circle(cls, diameter: float) -> Section:
        """Solid circle; shear factor 6(1+ν)/(7+6ν)."""
        return cls.tube(diameter, 0.0)

    @classmethod
    def tube(cls, outer: float, inner: float) -> Section:
        """Circular tube by its outer and inner diameters; shear factor after Cowper (1966)."""
        if not outer > inner >= 0:
            raise MaterialError(f"tube: outer diameter {outer} must be larger than inner diameter {inner} >= 0.")
        second = np.pi / 64 * (outer**4 - inner**4)
        area = np.pi / 4 * (outer**2 - inner**2)
        return cls(
            area,
            second,
            second,
            2 * second,
            shear_law="tube",
            ratio=inner / outer,
            extent=(outer / 2, outer / 2),
        )

    @classmethod
    def rectangle(cls, b: float, h: float) -> Section:
        """Rectangle, width ``b`` across (along z) and height ``h`` up (along y); shear factor 5/6."""
        if not (b > 0 and h > 0):
            raise MaterialError(f"rectangle: both sides must be positive, not {b} x {h}.")
        return cls(b * h, h * b**3 / 12, b * h**3 / 12, _rectangle_torsion(b, h), extent=(h / 2, b / 2))

    @classmethod
    def i_beam(cls, b: float, h: float, web: float, flange: float) -> Section:
        """I-section: flanges ``b`` wide across z and ``flange`` thick, height ``h`` along y, web ``web`` thick."""
        inner = h - 2 * flange
        if not (0 < web < b and flange > 0 and inner > 0):
            raise MaterialError(f"i_beam: thicknesses do not fit: b={b}, h={h}, web={web}, flange={flange}.")
        area = 2 * b * flange + inner * web
        second_z = (b * h**3 - (b - web) * inner**3) / 12
        second_y = (2 * flange * b**3 + inner * web**3) / 12
        torsion = (2 * b * flange**3 + (h - flange) * web**3) / 3  # thin walls
        # Shear is carried by the web up and by the flanges across; 5/6 for the rectangles they are.
        factors = (h * web / area, 5 / 6 * 2 * b * flange / area)
        return cls(area, second_y, second_z, torsion, shear=factors, extent=(h / 2, b / 2))

    def shear_factors(self, poisson: float) -> tuple[float, float]:
        """(κ_y, κ_z) for a material with this Poisson's ratio."""
        if self.shear_law == "tube":
            m = (1 + self.ratio**2) ** 2
            factor = 6 * (1 + poisson) * m / ((7 + 6 * poisson) * m + (20 + 12 * poisson) * self.ratio**2)
            return factor, factor
        y, z = np.broadcast_to(self.shear, 2)
        return float(y), float(z)


def _rectangle_torsion(b: float, h: float) -> float:
    """Saint-Venant's torsion constant of a rectangle, by its series (Timoshenko and Goodier, §109)."""
    thin, wide = min(b, h), max(b, h)
    n = np.arange(1, 40, 2)
    series = np.sum(np.tanh(n * np.pi * wide / (2 * thin)) / n**5)
    return float(wide * thin**3 / 3 * (1 - 192 / np.pi**5 * thin / wide * series))
