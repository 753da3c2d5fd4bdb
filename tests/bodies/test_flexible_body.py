"""FlexibleBody as users meet it: what it takes, what it refuses and in which words, and how it is kept in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.errors import FlexmbsError, ModelError

STEEL = fm.Material(young=210e9, poisson=0.3, density=7850.0)
BOX = fm.Mesh.box((0.5, 0.05, 0.05), (3, 1, 1))
PLATE = fm.Mesh.rectangle((1.0, 0.1), (4, 1))
LINE = fm.Mesh.line((0, 0, 0), (1, 0, 0), 3)
SQUARE = fm.Section.rectangle(0.02, 0.02)
TWO = fm.CraigBampton(modes=2)


def rod(**given: Any) -> fm.FlexibleBody:
    right: dict[str, Any] = {"interfaces": ["x0", "x1"], "reduction": TWO, "loads": {"top": fm.Pressure("y1", 1e5)}}
    return fm.FlexibleBody("rod", BOX, STEEL, **(right | given))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mesh": None}, "rod: a Mesh, Elements or a Part is needed"),
        ({"mesh": "rod.msh"}, "rod: a Mesh, Elements or a Part is needed, not str"),
        ({"mesh": fm.Elements(BOX, STEEL)}, "rod: material is known to its Elements already"),
        ({"material": None}, "rod: "),
        ({"material": fm.Material(young=1e9, poisson=0.3, density=0.0)}, "rod: .*give the material a density"),
        ({"mesh": LINE, "interfaces": None}, "rod: .*section"),
        ({"fixed": "root"}, "rod: .*no set 'root'"),
        ({"interfaces": ["x0", "pin"]}, "rod: .*no set 'pin'"),
        ({"interfaces": [object()]}, "rod: "),
        ({"interfaces": object()}, "rod: "),
        ({"interfaces": [fm.Averaged("pin")]}, "rod: .*no set 'pin'"),
        ({"interfaces": ["x0", 9999]}, "rod: "),
        ({"reduction": "craig-bampton"}, "rod: .*no reduction; give CraigBampton"),
        ({"frame": "middle"}, "rod: .*'middle'"),
        ({"frame": fm.Chord("x0", "pin")}, "rod: .*'pin'"),
        ({"frame": fm.Tangent("pin")}, "rod: .*'pin'"),
        ({"damping": -0.1}, "rod: .*damping|rod: .*ratios"),
        ({"damping": "some"}, "rod: "),
        ({"loads": fm.Pressure("y1", 1e5)}, "rod: loads are named"),
        ({"loads": {"top": fm.Pressure("roof", 1e5)}}, "rod: .*'roof'"),
        ({"loads": {"top": "heavy"}}, "rod: .*load set 'top'"),
        ({"position": (0, 0)}, None),
        ({"position": "here"}, "rod: position"),
        ({"velocity": (1, 2, 3, 4)}, "rod: velocity"),
        ({"rotation": "turned"}, "rod: rotation"),
        ({"angular_velocity": (0, np.nan, 0)}, "rod: angular_velocity"),
        ({"reduced": "saved"}, "rod: reduced is a ReducedPart"),
        ({"shape": "round"}, "rod"),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else None,
)
def test_input(given: dict[str, Any], words: str | None) -> None:
    right: dict[str, Any] = {"mesh": BOX, "material": STEEL, "interfaces": ["x0", "x1"], "reduction": TWO}
    if words is None:
        fm.FlexibleBody("rod", **(right | given))
        return
    with pytest.raises(FlexmbsError, match=words):
        fm.FlexibleBody("rod", **(right | given))


def test_too_many_coordinates() -> None:
    mesh = fm.Mesh.box((1, 1, 1), (6, 6, 6))
    with pytest.raises(ModelError, match="coordinates"):
        fm.FlexibleBody("block", mesh, STEEL, reduction=fm.FullOrder())


def test_places() -> None:
    body = rod()
    for wrong, words in (
        (("pin",), r"rod\.at\(\): .*'pin'"),
        ((9999,), r"rod\.at\(\): "),
        ((1.0, np.nan, 0.0), "two or three numbers"),
        ((object(),), "two or three numbers"),
        (([1, 2, 3, 4],), "two or three numbers"),
    ):
        with pytest.raises(ModelError, match=words):
            body.at(*wrong)
    with pytest.raises(ModelError, match="axes"):
        body.at("x1", axes="askew")
    np.testing.assert_allclose(body.at("x1").position, [0.5, 0.025, 0.025])
    np.testing.assert_allclose(body.at(0.5, 0.05, 0.0).position, body.at(BOX.nearest_node((0.5, 0.05, 0.0))).position)
    assert body.at().shapes.shape == (6, body.modes)


@pytest.mark.parametrize(
    ("mesh", "options", "count"),
    [
        (BOX, {"interfaces": [fm.Averaged("x0"), fm.Averaged("x1")], "reduction": TWO}, 8),
        (BOX, {"interfaces": [0, 1], "fixed": "x1", "reduction": TWO}, 8),
        (BOX, {}, 10),
        (BOX, {"interfaces": ["x0", "x1"]}, 14),
        (PLATE, {"interfaces": ["x0", "x1"], "thickness": 0.01, "reduction": TWO}, 5),
        (PLATE, {"plane": "strain", "fixed": "x0", "reduction": fm.ModalTruncation(3)}, 3),
        (LINE, {"section": SQUARE, "interfaces": ["start", "end"], "reduction": TWO}, 8),
        (LINE, {"section": SQUARE, "fixed": "start", "reduction": fm.FullOrder()}, 18),
        (LINE, {"section": SQUARE, "interfaces": ["start", "end"], "reduction": fm.FreeInterface(3)}, 15),
        (LINE, {"section": SQUARE, "interfaces": ["start", "end"], "reduction": fm.StaticCondensation()}, 6),
        (LINE, {"section": SQUARE, "fixed": "start", "interfaces": "end", "reduction": fm.Krylov(1)}, None),
    ],
)  # fmt: skip
def test_what_it_takes(mesh: fm.Mesh, options: dict[str, Any], count: int | None) -> None:
    """Every kind of mesh, interface and reduction; the mass is that of the mesh, frequencies are positive."""
    body = fm.FlexibleBody("part", mesh, STEEL, damping=0.01, **options)
    assert count is None or body.modes == count
    assert body.planar == (mesh is PLATE)
    assert body.n_v == body.modes + (3 if body.planar else 6)
    density = 7850.0 * (4e-4 if mesh is LINE else 0.5 * 0.05**2 if mesh is BOX else 0.1 * options.get("thickness", 1.0))
    assert body.mass_parameters[0] == pytest.approx(density, rel=1e-9)
    assert (np.diag(body.moments.stiffness) > 0).all()
    assert "Hz" in body.modes_table()
    assert body.rigid().mass_parameters[0] == pytest.approx(density, rel=1e-9)


@pytest.mark.parametrize("mesh", [BOX, PLATE, LINE], ids=["solid", "plane", "beam"])
def test_rigid_twin(mesh: fm.Mesh) -> None:
    """The same mass, place, turn and velocities, drawn as the mesh."""
    spin, turn = (0.3, 0.7) if mesh is PLATE else ((0.1, 0.2, 0.3), ("z", 0.7))
    state: dict[str, Any] = {"position": (1, 2, 0), "velocity": (4, 5, 0), "rotation": turn, "angular_velocity": spin}
    body = fm.FlexibleBody(
        "part", mesh, STEEL, section=SQUARE if mesh is LINE else None, reduction=fm.ModalTruncation(2), **state
    )
    twin = body.rigid()
    for own, other in zip(body.initial, twin.initial, strict=True):
        np.testing.assert_allclose(own, other, atol=1e-15)
    mass, center, inertia = body.mass_parameters
    assert twin.mass_parameters[0] == pytest.approx(mass)
    np.testing.assert_allclose(twin.mass_parameters[1][:2], center[:2], atol=1e-12)
    assert twin.mass_parameters[2][2, 2] == pytest.approx(inertia[2, 2])
    assert bool(twin.shape) == (mesh is not LINE)


def test_matrices() -> None:
    """M and K alone give the same body as the elements do, without stiffening."""
    elements = fm.Elements(BOX, STEEL)
    part = fm.Part.of_elements(elements)
    options: dict[str, Any] = {"interfaces": ["x0", "x1"], "reduction": TWO}
    plain = fm.FlexibleBody("rod", elements, **options)
    sets = {name: BOX.nodes(name) for name in ("x0", "x1")}
    by_points = fm.FlexibleBody.from_matrices("rod", BOX.points, part.mass, part.stiffness, sets, **options)
    by_mesh = fm.FlexibleBody.from_matrices("rod", BOX, part.mass, part.stiffness, **options)
    bare = fm.Part.of_matrices(BOX, part.mass, part.stiffness)
    for body in (by_points, by_mesh, fm.FlexibleBody("rod", bare, **options)):
        np.testing.assert_allclose(body.reduced.constants.stiffness, plain.reduced.constants.stiffness, rtol=1e-6)
        assert not len(body.reduced.cases.K_g)
    with pytest.raises(ModelError, match="rod: M is"):
        fm.FlexibleBody.from_matrices("rod", BOX.points[1:], part.mass, part.stiffness, **options)
    with pytest.raises(ModelError, match="rod: points are"):
        fm.FlexibleBody.from_matrices("rod", np.zeros(3), part.mass, part.stiffness, **options)
    with pytest.raises(ModelError, match=r"rod: .*own elements"):
        by_mesh.save("never.npz", stress="x0")


def test_kept_in_a_file(tmp_path: Path) -> None:
    """A loaded body has the same constants, frames, loads and stress modes."""
    body, path = rod(damping=0.02), tmp_path / "rod.npz"
    body.save(path, stress="x0")
    again = fm.FlexibleBody.load(path, position=(1, 2, 3))
    other = fm.FlexibleBody.load(path, "second rod")
    assert (again.name, other.name) == ("rod", "second rod")
    np.testing.assert_array_equal(again.modal_constants, body.modal_constants)
    np.testing.assert_array_equal(again.at("x1").modal_constants, body.at("x1").modal_constants)
    assert again.initial[0].tolist() == [1, 2, 3]
    loads = [fm.BodyLoad("top", b, "top").wrenches for b in (body, again)]
    np.testing.assert_array_equal(loads[0][0][0].modal_constants, loads[1][0][0].modal_constants)
    assert fm.load_stress_modes(path).nodes.tolist() == BOX.nodes("x0").tolist()
    with pytest.raises(ModelError, match="no such file"):
        fm.FlexibleBody.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("not a body")
    with pytest.raises(ModelError, match="no saved part"):
        fm.FlexibleBody.load(tmp_path / "text.npz")
    with pytest.raises(ModelError, match=r"takes position.*not 'material'"):
        fm.FlexibleBody.load(path, material=STEEL)
