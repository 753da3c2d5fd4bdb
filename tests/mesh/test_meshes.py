"""The parts in meshes/: sound, of the size and with the sets that their README states."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from mesh_measures import area, outward_flux, volume

from flexmbs.mesh import Mesh

FOLDER = Path(__file__).parents[2] / "meshes"
SCALES = {"connecting_rod.msh": 1.0, "blade.msh": 1.0, "bracket.inp": 1e-3, "crank.bdf": 1.0}


@pytest.fixture(scope="module")
def parts() -> dict[str, Mesh]:
    return {name: Mesh.read(FOLDER / name, scale=scale) for name, scale in SCALES.items()}


@pytest.mark.parametrize("name", SCALES)
def test_part_is_sound(parts: dict[str, Mesh], name: str) -> None:
    mesh = parts[name]
    assert mesh.problems() == []
    assert mesh.quality().scaled_jacobian.min() > 0.05
    assert outward_flux(mesh) == pytest.approx(3 * volume(mesh), rel=1e-6)
    assert (FOLDER / name).stat().st_size < 700_000


@pytest.mark.parametrize("name", SCALES)
def test_readme_states_the_truth(parts: dict[str, Mesh], name: str) -> None:
    row = next(line for line in (FOLDER / "README.md").read_text().splitlines() if line.startswith(f"| `{name}`"))
    columns = [c.strip() for c in row.strip("|").split("|")]
    assert (int(columns[3]), int(columns[4])) == (parts[name].n_nodes, parts[name].n_cells)
    assert set(re.findall(r"`(\w+)`", columns[5])) == set(parts[name].sets)


@pytest.mark.parametrize(
    ("name", "which", "axis", "center", "radius", "height"),
    [
        ("connecting_rod.msh", "big_end", "z", (0, 0, 0), 0.024, 0.02),
        ("connecting_rod.msh", "small_end", "z", (0.15, 0, 0), 0.011, 0.02),
        ("bracket.inp", "load", "y", (0.045, 0.008, 0.048), 0.012, 0.016),
        ("crank.bdf", "shaft", "z", (0, 0, 0.008), 0.011, 0.03),
        ("crank.bdf", "pin", "z", (0.05, 0, -0.019), 0.0095, 0.024),
    ],
)
def test_bores_are_true_cylinders(
    parts, name: str, which: str, axis: str, center, radius: float, height: float
) -> None:
    mesh = parts[name]
    near = mesh.nodes_on_cylinder(axis, radius, center)
    assert np.isin(mesh.nodes(which), near).all()
    assert area(mesh, which) == pytest.approx(2 * np.pi * radius * height, rel=2e-3)
    middle = mesh.weights(which) @ mesh.points[mesh.nodes(which)]
    np.testing.assert_allclose(middle, center, atol=2e-6)


def test_positions(parts: dict[str, Mesh]) -> None:
    rod, blade, bracket = (parts[n] for n in ("connecting_rod.msh", "blade.msh", "bracket.inp"))
    np.testing.assert_allclose(rod.points[rod.nodes("midspan"), 0], 0.075, atol=1e-9)
    np.testing.assert_allclose(blade.points[blade.nodes("root"), 0], 0.09, atol=1e-9)
    np.testing.assert_allclose(blade.points[blade.nodes("tip"), 0], 0.22, atol=1e-9)
    np.testing.assert_allclose(np.ptp(bracket.points, axis=0), [0.09, 0.06, 0.075], rtol=1e-6)
    np.testing.assert_allclose(bracket.points[bracket.nodes("base"), 2], 0.0, atol=1e-9)
