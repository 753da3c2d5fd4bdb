"""Flexible bodies that move: a cantilever spun up, a slider-crank with a rod that bends."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import flexmbs as fm
from cases.case import Case, Quantity

# ---- spin-up of a cantilever

YOUNG, DENSITY, AREA, SECOND, LENGTH = 7e10, 3000.0, 7.2968e-5, 8.2181e-9, 8.0
SPIN_UP = fm.SpinUp(6.0, over=15.0)
LAG = {5.0: -0.670685, 6.6197: -0.800687, 7.5: -0.749270, 10.0: -0.451225}  # m; the second is the peak
LAG_WITHOUT_STIFFENING = {5.0: -0.8055, 7.5: -4.72, 10.0: -3183.0}
EXTENSION = 2.633143e-4  # m, at 6 rad/s


def beam_elements(count: int = 16, second: float = SECOND) -> fm.Elements:
    """The cantilever's beams; ``second`` is the second moment of area in both directions."""
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), count)
    section = fm.Section(area=AREA, Iy=second, Iz=second, J=2 * second)
    return fm.Elements(mesh, fm.Material(YOUNG, 0.3, DENSITY), section=section, formulation="euler_bernoulli")


def cantilever(reduction: Any, second: float = SECOND, count: int = 16, **options: Any) -> fm.FlexibleBody:
    """The cantilever as a body of a mechanism, held at its root."""
    return fm.FlexibleBody("blade", beam_elements(count, second), fixed="start", reduction=reduction, **options)


def turning(body: fm.FlexibleBody, law: Any) -> fm.System:
    """A body turned about the z axis at its root."""
    ground = fm.Ground()
    hub = fm.Revolute("hub", ground.at(0, 0, 0), body.at(), axis="z")
    return fm.System([ground, body], [hub, fm.Drive("motor", hub.angle, law)])


def spun_up_lag(times: Any, count: int = 12, reduction: Any = None, **options: Any) -> np.ndarray:
    """Deflection of the tip across the root's axis [m]; the second of four times is taken as the peak's."""
    blade = cantilever(reduction or fm.ModalTruncation(12), count=count, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fm.ModelWarning)  # without stiffening it deforms without bounds
        motion = fm.forward_dynamics(turning(blade, SPIN_UP), 10.0, 5e-3)
    return np.interp(list(times), motion.t, motion.deflection(blade.at("end"))[:, 1])


def extension() -> float:
    """Of the tip at full speed."""
    blade = cantilever(fm.FullOrder(), count=4)
    rest = fm.statics(turning(blade, fm.ConstantSpeed(6.0)), spin=(0.0, 0.0, 6.0))
    return float(rest.deflection(blade.at("end"))[0, 0])


# ---- slider-crank with a flexible rod

ROD_STEEL = fm.Material(young=2e11, poisson=0.3, density=7870.0)
TIMES = (0.03, 0.05, 0.07, 0.09, 0.13)
BEND = (-9.7238e-5, 4.34987e-4, 1.10840e-4, -7.68487e-4, -1.329664e-3)  # m, with geometric stiffening
BEND_WITHOUT_STIFFENING = (-9.7589e-5, 4.41567e-4, 1.07421e-4, -8.44424e-4, -1.435769e-3)
LARGEST, LARGEST_WITHOUT_STIFFENING = 1.548527e-3, 1.629316e-3
SLIDER = (0.446467091, 0.334078647, 0.150043530, 0.441245184, 0.415578150)  # m


def slider_crank(rod: Any, ends: tuple[Any, Any]) -> fm.System:
    """Crank of 0.15 driven from rest, rod of 0.3, slider on the x axis; ``ends`` are frames of the rod."""
    ground = fm.Ground()
    crank = fm.RigidBody("crank", 1.0, np.diag([1e-3, 1e-3, 1e-3]))
    slider = fm.RigidBody("slider", 0.075552, np.diag([1e-5, 1e-5, 1e-5]))
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(0, 0, 0), axis="z")
    joints = [
        shaft,
        fm.Revolute("crank_pin", crank.at(0.15, 0, 0), ends[0], axis="z"),
        fm.Spherical("wrist_pin", ends[1], slider.at(0, 0, 0)),
        fm.Prismatic("cylinder", ground.at(0, 0, 0), slider.at(0, 0, 0), axis="x"),
        fm.Drive("motor", shaft.angle, fm.SpinUp(150.0, over=0.1)),
    ]
    return fm.System([ground, crank, rod, slider], joints)


def bending_rod(formulation: str = "euler_bernoulli", **options: Any) -> fm.FlexibleBody:
    """The rod of 8 × 8 mm."""
    mesh = fm.Mesh.line((0.0, 0.0, 0.0), (0.3, 0.0, 0.0), 8)
    elements = fm.Elements(mesh, ROD_STEEL, section=fm.Section.rectangle(0.008, 0.008), formulation=formulation)
    options = {"reduction": fm.CraigBampton(4)} | options
    return fm.FlexibleBody("rod", elements, interfaces=["start", "end"], **options)


def slider_crank_motion(**options: Any) -> list[float]:
    """Midpoint of the rod from the chord between its pins at the times, its largest, and the slider's places."""
    rod = bending_rod(**options)
    system = slider_crank(rod, (rod.at("start"), rod.at("end")))
    motion = fm.forward_dynamics(system, 0.13, 1e-5, output_step=1e-4)
    bend = motion.deflection(rod.at(0.15, 0, 0), chord=("start", "end"))[:, 1]
    at = [int(np.argmin(np.abs(motion.t - t))) for t in TIMES]
    return [*bend[at], float(np.abs(bend).max()), *motion.position(system.bodies[3])[at, 0]]


CRANK = (
    "Crank of 0.15 m brought from rest to 150 rad/s in 0.1 s, rod of 0.3 m, 8 × 8 mm, slider of 75.6 g; E = 200 GPa, "
    "ρ = 7870 kg/m³, no gravity, no damping. Offset in m of the rod's midpoint from the line between its pins, and "
    "place of the slider. "
)


def _crank_quantities(bends: tuple[float, ...], largest: float) -> list[Quantity]:
    return [
        *(Quantity(f"offset, t = {t:g}", value, 3e-3, largest) for t, value in zip(TIMES, bends, strict=True)),
        Quantity("largest offset", largest, 3e-3),
        *(Quantity(f"slider, t = {t:g}", value, 2e-5, 1.0) for t, value in zip(TIMES, SLIDER, strict=True)),
    ]


CASES = (
    Case(
        "spin-up",
        "Cantilever spun up",
        "8 m long, A = 72.968 mm², I = 8218.1 mm⁴; E = 70 GPa, ρ = 3000 kg/m³; its root is brought to 6 rad/s in 15 s. "
        "Tip across the root's axis in m, and how far it stretches at full speed.",
        "after Kane, Ryan and Banerjee (1987); linear theory with geometric stiffening, solved outside flexmbs "
        "(a geometrically exact beam peaks at -0.79832)",
        "12 Euler–Bernoulli beams, 12 modes, `forward_dynamics`; the stretch by 4 beams and `statics(spin=)`",
        [
            *(Quantity(f"t = {t:g} s", value, 5e-3, 0.800687) for t, value in LAG.items()),
            Quantity("stretch", EXTENSION, 5e-3),
        ],
        lambda: [*spun_up_lag(LAG), extension()],
    ),
    Case(
        "spin-up without stiffening",
        "Cantilever spun up, without geometric stiffening",
        "The linear theory without it predicts a beam that flies apart; `stiffening=False` must show just that.",
        "linear theory, solved outside flexmbs",
        "the same with `stiffening=False`",
        [Quantity(f"t = {t:g} s", v, 0.02 if t > 9 else 5e-3) for t, v in LAG_WITHOUT_STIFFENING.items()],
        lambda: spun_up_lag(LAG_WITHOUT_STIFFENING, stiffening=False),
    ),
    Case(
        "slider-crank",
        "Slider-crank with a flexible rod",
        CRANK + "With geometric stiffening, that of the pins' forces included.",
        "linear theory with geometric stiffening, by two independent methods (a geometrically exact beam: largest "
        "1.5496e-3)",
        "8 Euler–Bernoulli beams, Craig–Bampton with 4 modes, `forward_dynamics`",
        _crank_quantities(BEND, LARGEST),
        slider_crank_motion,
    ),
    Case(
        "slider-crank without stiffening",
        "Slider-crank with a flexible rod, without geometric stiffening",
        CRANK + "Linear elastic, without geometric stiffening.",
        "linear theory, by two independent methods",
        "the same with `stiffening=False`",
        _crank_quantities(BEND_WITHOUT_STIFFENING, LARGEST_WITHOUT_STIFFENING),
        lambda: slider_crank_motion(stiffening=False),
    ),
)
