"""Finite elements at rest: plane parts, a deep beam, a solid cantilever."""

from __future__ import annotations

import numpy as np

import flexmbs as fm
from cases.case import Case, Quantity

# ---- FV32: tapered cantilever membrane

FV32 = (44.617, 130.010, 162.689, 245.986, 379.717, 391.404)  # Hz


def tapered_membrane(cell: str = "quad8", divisions: tuple[int, int] = (48, 24)) -> fm.Modes:
    """Six modes of the membrane."""
    mesh = fm.Mesh.rectangle((10.0, 1.0), divisions, cell=cell, origin=(0.0, -0.5))
    tapered = mesh.mapped(lambda x, y, z: (x, y * (5.0 - 0.4 * x)))
    steel = fm.Material(young=2e11, poisson=0.3, density=8000.0)
    return fm.modes(tapered, steel, fixed="x0", count=6, thickness=0.05)


# ---- LE1: elliptic membrane

LE1 = 92.7e6  # Pa


def elliptic_membrane(cell: str = "quad8", divisions: tuple[int, int] = (32, 64)) -> np.ndarray:
    """The six stresses at the end of the inner ellipse's long axis."""

    def ellipse(r: np.ndarray, s: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        angle = np.pi / 2 * s
        return (2.0 + 1.25 * r) * np.cos(angle), (1.0 + 1.75 * r) * np.sin(angle)

    mesh = fm.Mesh.rectangle((1.0, 1.0), divisions, cell=cell).mapped(ellipse)
    steel = fm.Material(young=2.1e11, poisson=0.3, density=7800.0)
    found = fm.statics(mesh, steel, fm.Pressure("x1", -10e6), fixed={"y0": "y", "y1": "x"}, thickness=0.1)
    return found.stress.nodal[mesh.nearest_node((2.0, 0.0))]


# ---- Cook's membrane

COOK = (23.9677, 12.0202)  # displacement of (48, 52) along y, strain energy


def cook_membrane(cell: str = "quad8", division: int = 64, **options: str) -> tuple[float, float]:
    """Displacement and strain energy."""
    mesh = fm.Mesh.rectangle((1.0, 1.0), (division, division), cell=cell)
    trapezium = mesh.mapped(lambda x, y, z: (48 * x, 44 * x + y * (44 - 28 * x)))
    unit = fm.Material(young=1.0, poisson=1 / 3, density=1.0)
    found = fm.statics(trapezium, unit, fm.Traction("x1", (0.0, 1 / 16)), fixed="x0", **options)
    return float(found.displacement[trapezium.nearest_node((48, 52)), 1]), float(found.strain_energy)


# ---- FV5: deep simply supported beam

FV5_STEEL = fm.Material(young=2e11, poisson=0.3, density=8000.0, name="FV5 steel")
FV5_BENDING, FV5_AXIAL = (42.608717, 147.786012, 282.363385), 125.0  # Hz
FV5_HELD = {"start": ("x", "y", "z", "rx"), "end": "yz"}


def deep_beam() -> fm.Modes:
    """Nine modes: bending in pairs, torsion third and seventh, axial fourth."""
    mesh = fm.Mesh.line((0, 0, 0), (10, 0, 0), 160)
    return fm.modes(mesh, FV5_STEEL, fixed=FV5_HELD, count=9, section=fm.Section.rectangle(2.0, 2.0))


# ---- solid cantilever

CANTILEVER = (
    *(41.82465, 41.82465, 259.1189, 259.1189, 712.7744, 712.7744),
    *(737.7904, 1295.333, 1362.895, 1362.895),
)  # Hz; the seventh is torsion, the eighth axial


def solid_cantilever() -> fm.Modes:
    """Ten modes."""
    mesh = fm.Mesh.box((1.0, 0.05, 0.05), (40, 4, 4), cell="hexahedron20")
    return fm.modes(mesh, fm.Material(young=2.1e11, poisson=0.3, density=7850.0), fixed="x0", count=10)


CASES = (
    Case(
        "FV32",
        "Tapered cantilever membrane (FV32)",
        "Plane stress, 10 m long, 5 m wide at the clamped end and 1 m at the tip, 50 mm thick; E = 200 GPa, ν = 0.3, "
        "ρ = 8000 kg/m³. Frequencies in Hz.",
        "NAFEMS, Selected Benchmarks for Natural Frequency Analysis, test 32, converged (published: 44.623, 130.03, "
        "162.70, 246.05, 379.90, 391.44)",
        "48 × 24 `quad8`",
        [Quantity(f"mode {k + 1}", f, 1e-3) for k, f in enumerate(FV32)],
        lambda: tapered_membrane().frequencies,
    ),
    Case(
        "LE1",
        "Elliptic membrane (LE1)",
        "A quarter of an elliptic ring, 0.1 m thick, pulled outwards by 10 MPa along its outer edge; E = 210 GPa, "
        "ν = 0.3. Stress in MPa at the point (2, 0) of the inner edge.",
        "NAFEMS, The Standard NAFEMS Benchmarks, test LE1",
        "32 × 64 `quad8`",
        [Quantity("σ_yy", LE1 / 1e6, 0.02)],
        lambda: elliptic_membrane()[1:2] / 1e6,
    ),
    Case(
        "Cook",
        "Cook's membrane",
        "Plane stress, corners (0, 0), (48, 44), (48, 60), (0, 44), clamped on the left, a shear load of 1 spread over "
        "the right edge; E = 1, ν = 1/3, t = 1.",
        "the membrane of Cook (1974); converged values found outside flexmbs",
        "64 × 64 `quad8`",
        [Quantity("displacement of (48, 52)", COOK[0], 1e-3), Quantity("strain energy", COOK[1], 1e-3)],
        cook_membrane,
    ),
    Case(
        "FV5",
        "Deep simply supported beam (FV5)",
        "10 m long, 2 × 2 m; E = 200 GPa, ν = 0.3, ρ = 8000 kg/m³. Frequencies in Hz.",
        "the case of NAFEMS' test FV5; Timoshenko's beam solved exactly, shear factor 5/6",
        "160 Timoshenko beams",
        [
            *(Quantity(f"bending {k + 1}", f, 1e-4) for k, f in enumerate(FV5_BENDING)),
            Quantity("axial", FV5_AXIAL, 1e-4),
        ],
        lambda: deep_beam().frequencies[[0, 4, 7, 3]],
    ),
    Case(
        "cantilever",
        "Solid cantilever",
        "1 × 0.05 × 0.05 m, clamped at one end; E = 210 GPa, ν = 0.3, ρ = 7850 kg/m³. Frequencies in Hz.",
        "CalculiX 2.20 on the same mesh (element C3D20, full integration)",
        "40 × 4 × 4 `hexahedron20`",
        [Quantity(f"mode {k + 1}", f, 1e-5) for k, f in enumerate(CANTILEVER)],
        lambda: solid_cantilever().frequencies,
    ),
)
