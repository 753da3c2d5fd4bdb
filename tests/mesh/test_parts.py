"""The parts: sound meshes, true cylinders, sets where they should be."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_measures import area, outward_flux, volume

from flexmbs.errors import MeshError
from flexmbs.mesh import Mesh

PARTS = {"connecting_rod": Mesh.connecting_rod, "blade": Mesh.blade, "bracket": Mesh.bracket}


@pytest.mark.parametrize("part", PARTS)
def test_part_is_sound(part: str) -> None:
    mesh = PARTS[part]()
    assert [b.type for b in mesh.cells] == ["tetra10"]
    assert mesh.problems() == []
    assert mesh.quality().scaled_jacobian.min() > 0.03
    assert outward_flux(mesh) == pytest.approx(3 * volume(mesh), rel=1e-9)


def test_connecting_rod_geometry() -> None:
    mesh = Mesh.connecting_rod(0.2, big_end=(0.03, 0.04), small_end=(0.012, 0.02), thickness=0.02)
    for name, center, radius in (("big_end", 0.0, 0.03), ("small_end", 0.2, 0.012)):
        x = mesh.points[mesh.nodes(name)] - [center, 0, 0]
        np.testing.assert_allclose(np.linalg.norm(x[:, :2], axis=1), radius, rtol=1e-12)
        assert area(mesh, name) == pytest.approx(2 * np.pi * radius * 0.02, rel=2e-4)
        np.testing.assert_allclose(mesh.weights(name) @ mesh.points[mesh.nodes(name)], [center, 0, 0], atol=1e-6)
    middle = mesh.points[mesh.nodes("midspan")]
    np.testing.assert_allclose(middle[:, 0], 0.1, rtol=1e-12)
    np.testing.assert_allclose(middle.mean(axis=0)[1:], 0.0, atol=1e-12)
    shank = mesh.submesh("shank")
    low, high = shank.points[:, 0].min(), shank.points[:, 0].max()
    assert 0.0 < low < 0.04
    assert 0.18 < high < 0.2
    assert shank.n_pieces == 1


def test_connecting_rod_is_an_I_in_its_middle() -> None:
    mesh = Mesh.connecting_rod(web=0.3, thickness=0.02)
    _, y, z = mesh.points[mesh.nodes("midspan")].T
    web = np.abs(z[np.abs(y) < 1e-9]).max()
    flange = np.abs(z[np.abs(y) > 0.99 * np.abs(y).max()]).max()
    assert web == pytest.approx(0.3 * 0.01, rel=0.05)
    assert flange > 2 * web


def test_blade_geometry() -> None:
    mesh = Mesh.blade(0.2, 0.06, hub_radius=0.3, stagger=0.8, twist=0.5, camber=1e-9, taper=0.5)
    assert mesh.points[:, 0].min() == pytest.approx(0.3)
    assert mesh.points[:, 0].max() == pytest.approx(0.5)
    for name, angle, chord in (("root", 0.8, 0.06), ("tip", 0.3, 0.03)):
        section = mesh.points[mesh.nodes(name)][:, 1:]
        along = section @ [np.cos(angle), np.sin(angle)]
        across = section @ [-np.sin(angle), np.cos(angle)]
        assert np.ptp(along) == pytest.approx(chord, rel=1e-9)
        assert np.ptp(across) < 0.15 * chord
    assert set(mesh.face_sets) == {"root", "tip", "pressure", "suction"}


def test_bracket_geometry() -> None:
    mesh = Mesh.bracket(width=0.1, depth=0.06, height=0.07, thickness=0.01, bolt_radius=0.005, load_radius=0.012)
    solid = 0.01 * 0.1 * (0.06 + 0.07 - 0.01) - 0.01 * np.pi * (2 * 0.005**2 + 0.012**2)
    assert volume(mesh) == pytest.approx(solid, rel=1e-5)
    assert area(mesh, "base") == pytest.approx(0.1 * 0.06 - 2 * np.pi * 0.005**2, rel=1e-5)
    assert area(mesh, "bolts") == pytest.approx(2 * 2 * np.pi * 0.005 * 0.01, rel=1e-4)
    assert area(mesh, "load") == pytest.approx(2 * np.pi * 0.012 * 0.01, rel=1e-4)
    np.testing.assert_array_equal(mesh.nodes("load"), mesh.nodes_on_cylinder("y", 0.012, (0.05, 0, 0.04)))


def test_finer_parts_keep_their_shape() -> None:
    for make in (Mesh.connecting_rod, Mesh.bracket):
        coarse, fine = make(), make(fineness=2)
        assert fine.n_cells > 6 * coarse.n_cells
        assert volume(fine) == pytest.approx(volume(coarse), rel=2e-3)
        assert fine.problems() == []


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Mesh.connecting_rod(0.05), "room for a shank"),
        (lambda: Mesh.connecting_rod(big_end=(0.04, 0.03)), "big_end needs 0 < bore < outside"),
        (lambda: Mesh.blade(-1.0), "blade: length must be positive"),
        (lambda: Mesh.bracket(bolt_radius=0.03), "bolt_radius 0.03 must stay below"),
    ],
)
def test_impossible_parts_are_refused(make, words: str) -> None:
    with pytest.raises(MeshError, match=words):
        make()
