"""C(ω), K(ω) and K_g: oscillator, radial bar, whirling shaft and cantilever in rotating frames."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexmbs as fm
from cases.case import Case, Quantity

# ---- oscillator

POINT = fm.Mesh([[0.0, 0.0, 0.0]], [("vertex", [[0]])])
OSCILLATORS = [
    (800.0, 800.0, 5.0, [15.0, 25.0]),
    (800.0, 1800.0, 5.0, [17.830551830296, 32.125868415144]),
    (800.0, 800.0, 0.0, [20.0, 20.0]),
]  # kx, ky, speed, circular frequencies


def springs(kx: float, ky: float) -> dict[str, Any]:
    """A mass of 2 kg on springs, as attachments of one node."""
    return {"attachments": [fm.LumpedMass("all", 2.0), fm.GroundSpring("all", (kx, ky, 1e5))]}


def oscillator(kx: float, ky: float, speed: float) -> fm.Modes:
    """Its two modes in the rotating frame."""
    return fm.modes(POINT, fixed={"all": "z"}, count=2, spin=(0, 0, speed), **springs(kx, ky))


# ---- radial bar

BAR = fm.Material(young=7e10, poisson=0.3, density=2700.0)
RADIAL = {
    50.0: (2.571825368070e-4, 2.571428571429e-4),
    200.0: (4.124467556348e-3, 4.114285714286e-3),
    500.0: (2.611731267731e-2, 2.571428571429e-2),
}  # by speed: displacement of the end with K(ω), and without


def radial_bar(speed: float, softening: bool = True, formulation: str = "bar") -> fm.StaticResult:
    """A bar of 2 m that spins about one end."""
    mesh = fm.Mesh.line((0, 0, 0), (2, 0, 0), 20)
    load = fm.Centrifugal((0, 0, speed), softening=softening)
    options = {"section": fm.Section.rectangle(0.1, 0.1), "formulation": formulation}
    return fm.statics(mesh, BAR, load, fixed=[{"start": None}, {"all": "yz"}], **options)


# ---- whirling shaft

STEEL = fm.Material(young=2.1e11, poisson=0.3, density=7850.0)
WHIRL = {
    0.0: (636.169588, -636.169588),
    500.0: (636.933016, -635.407059),
    1000.0: (637.697342, -634.645428),
    2000.0: (639.228689, -633.124864),
}  # by speed: forward and backward whirl, rad/s
BEARINGS = {"start": ("x", "y", "z", "rx"), "end": "yz"}


def whirling_shaft() -> np.ndarray:
    """Forward and backward whirl at each speed [rad/s], in the inertial frame."""
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), 40)
    shaft = fm.Elements(mesh, STEEL, section=fm.Section.circle(0.05))
    found = fm.campbell(shaft, list(WHIRL), axis="x", count=2, frame="inertial", fixed=BEARINGS)
    back, forth = (found.directions.index(name) for name in ("backward", "forward"))
    return 2 * np.pi * np.stack([found.frequencies[:, forth], -found.frequencies[:, back]], axis=1)


# ---- rotating cantilever

CANTILEVER = {
    0.0: (3.5160152685, 22.0344915647, 61.6972144135, 3.5160152685),
    1.0: (3.68164681396, 22.1810111506, 61.8417625872, 3.54323626967),
    3.0: (4.79727853236, 23.3202636743, 62.9849674807, 3.74351189621),
    6.0: (7.36037301931, 26.8090816785, 66.6839143815, 4.26322542019),
    12.0: (13.1701504875, 37.6031123312, 79.6144784895, 5.42704927779),
}  # by speed eta: flap mu1, mu2, mu3 and lag mu1, hub radius zero
SLENDER = fm.Section(area=1e-4, Iy=1e-12, Iz=1e-12, J=2e-12)  # rotary inertia does not show
SOFT = fm.Material(young=1e9, poisson=0.3, density=1000.0)
UNIT = float(np.sqrt(SOFT.young * SLENDER.Iz / (SOFT.density * SLENDER.area)))  # of mu and eta [rad/s]


def spinning_cantilever(eta: float, count: int = 6, **options: Any) -> fm.Modes:
    """Modes in the rotating frame."""
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), 48)
    options = {"section": SLENDER, "formulation": "euler_bernoulli", "spin": (0, 0, eta * UNIT)} | options
    return fm.modes(mesh, SOFT, fixed="start", count=count, **options)


def flap_and_lag(eta: float) -> list[float]:
    """The first three of flap (out of the plane of rotation), the first of lag."""
    found = spinning_cantilever(eta)
    mu = 2 * np.pi * found.frequencies / UNIT
    flap = np.argmax(np.abs(found.shapes[:, -1, :3]), axis=1) == 2
    if eta == 0:  # pairs of equal ones, in any direction
        return [*mu[::2], mu[1]]
    return [*mu[flap], mu[~flap][0]]


CASES = (
    Case(
        "oscillator",
        "Oscillator in a rotating frame",
        "A mass of 2 kg on springs kx, ky that turn with 5 rad/s. Circular frequencies in rad/s; without the factor 2 "
        "of the Coriolis force the first pair would be 17.03 and 22.03.",
        "closed form, 2 ω² = wx² + wy² + 2Ω² ∓ √((wx² - wy²)² + 8Ω² (wx² + wy²))",
        "one node with a mass and springs",
        [
            Quantity(f"kx = {kx:g}, ky = {ky:g} N/m, ω{k + 1}", value, 1e-11)
            for kx, ky, _, values in OSCILLATORS[:2]
            for k, value in enumerate(values)
        ],
        lambda: np.concatenate([2 * np.pi * oscillator(*row[:3]).frequencies for row in OSCILLATORS[:2]]),
    ),
    Case(
        "radial bar",
        "Radial bar spinning about its end",
        "2 m long; E = 70 GPa, ρ = 2700 kg/m³. Displacement of the free end in m, with spin softening K(ω) and "
        "without; no geometric stiffening.",
        "closed form, u = tan(aL)/a - L with a = Ω/c, c² = E/ρ; without softening ρΩ²L³/3E",
        "20 bars",
        [
            Quantity(f"Ω = {speed:g} rad/s{note}", value, within)
            for speed, values in RADIAL.items()
            for value, note, within in zip(values, ("", ", without K(ω)"), (1e-4, 1e-10), strict=True)
        ],
        lambda: [radial_bar(speed, soft).displacement[-1, 0] for speed in RADIAL for soft in (True, False)],
    ),
    Case(
        "shaft",
        "Whirl of a simply supported shaft",
        "1 m long, 50 mm thick, spinning about its axis; E = 210 GPa, ν = 0.3, ρ = 7850 kg/m³. Whirl in the inertial "
        "frame in rad/s, negative where it runs against the spin.",
        "Timoshenko's beam with gyroscopic moments, solved exactly, shear factor 6(1+ν)/(7+6ν)",
        "40 Timoshenko beams, `campbell`",
        [
            Quantity(f"Ω = {speed:g} rad/s, {name}", value, 2.5e-6)
            for speed, values in WHIRL.items()
            for name, value in zip(("forward", "backward"), values, strict=True)
        ],
        whirling_shaft,
    ),
    Case(
        "rotating cantilever",
        "Spinning cantilever",
        "A slender beam, hub radius zero. Frequencies μ = ω L² √(ρA/EI) for speeds η = Ω L² √(ρA/EI): flap out of the "
        "plane of rotation, lag in it.",
        "power series of the Euler–Bernoulli beam under centrifugal tension, in 50-digit arithmetic",
        "48 Euler–Bernoulli beams",
        [
            Quantity(f"η = {eta:g}, {name}", value, within)
            for eta, values in CANTILEVER.items()
            for name, value, within in zip(
                ("flap 1", "flap 2", "flap 3", "lag 1"), values, (1e-4, 1e-3, 1e-3, 1e-4), strict=True
            )
        ],
        lambda: np.concatenate([flap_and_lag(eta) for eta in CANTILEVER]),
    ),
)
