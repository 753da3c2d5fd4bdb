"""Elements and Blocks as objects: their algebra, what they refuse, and what the messages say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm

STEEL = fm.Material(210.0, 0.3, 7.85, "steel")
SECTION = fm.Section.rectangle(0.1, 0.2)
OMEGA = np.array([0.3, -0.2, 0.9])


@pytest.fixture
def solid() -> fm.Elements:
    return fm.Elements(fm.Mesh.box((1.0, 0.8, 0.6), (2, 1, 1)), STEEL)


@pytest.fixture
def plane() -> fm.Elements:
    return fm.Elements(fm.Mesh.rectangle((1.0, 0.8), (2, 1)), STEEL)


@pytest.fixture
def beam() -> fm.Elements:
    return fm.Elements(fm.Mesh.line((0, 0, 0), (1, 0.2, 0), 2), STEEL, section=SECTION)


# ---- algebra of blocks ------------------------------------------------------------------------------------


def test_blocks_add_and_scale_as_their_values_do(solid: fm.Elements, beam: fm.Elements) -> None:
    for elements in (solid, beam):
        one, other = elements.stiffness(), elements.gyroscopic(OMEGA)
        third = elements.geometric_stiffness(np.arange(1.0, 7.0))
        a, b, c = (blocks[0] for blocks in (one, other, third))
        for blocks, values in (
            (one + other, a + b),
            (one - other, a - b),
            (-one, -a),
            (2 * one, 2 * a),
            (one * 0.5, a / 2),
            (one / 4, a / 4),
            (np.float64(3.0) * one - (other + third) / 2, 3 * a - (b + c) / 2),
            (2 * third - third, c),
            (
                elements.mass() + elements.stiffness_omega(OMEGA),
                elements.mass()[0] + elements.stiffness_omega(OMEGA)[0],
            ),
            (one + elements.turning_stiffness(OMEGA) * 2, a + 2 * elements.turning_stiffness(OMEGA)[0]),
        ):
            assert_allclose(blocks[0], values, atol=1e-12 * np.abs(values).max())
            matrix = elements.assemble(blocks).toarray()
            l_matrix = elements.connectivity().matrix.toarray()
            expected = l_matrix.T @ blocks.block_diagonal().toarray() @ l_matrix
            assert_allclose(matrix, expected, atol=1e-12 * np.abs(expected).max())


def test_loads_and_columns_add_too(solid: fm.Elements) -> None:
    q = solid.load_omega(OMEGA) + 2 * solid.load_epsilon(OMEGA) - solid.first_moment(0, 1) / 4
    expected = solid.load_omega(OMEGA)[0] + 2 * solid.load_epsilon(OMEGA)[0] - solid.first_moment(0, 1)[0] / 4
    assert_allclose(q[0], expected, atol=1e-14)
    assert_allclose((3 * solid.mass_origin())[0], 3 * solid.mass_origin()[0])


def test_kinds_of_blocks_do_not_mix(solid: fm.Elements) -> None:
    with pytest.raises(fm.FlexmbsError, match="matrix and a vector"):
        _ = solid.mass() + solid.load_omega(OMEGA)
    with pytest.raises(fm.FlexmbsError, match="vector and a columns"):
        _ = solid.load_omega(OMEGA) - solid.mass_origin()
    with pytest.raises(TypeError):
        _ = solid.mass() + 1.0
    with pytest.raises(TypeError):
        _ = solid.mass() * solid.mass()
    with pytest.raises(TypeError):
        _ = solid.mass() * np.eye(2)


def test_blocks_of_different_elements_do_not_mix(solid: fm.Elements) -> None:
    other = fm.Elements(solid.mesh, STEEL)
    with pytest.raises(fm.FlexmbsError, match="different Elements"):
        _ = solid.mass() + other.mass()
    with pytest.raises(fm.ProjectionError, match="other Elements"):
        other.connectivity().project(solid.mass())


def test_blocks_are_lazy(solid: fm.Elements, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums are made without evaluating anything; only asking for values does."""

    def evaluated(*_: Any) -> None:
        raise RuntimeError("evaluated")

    for name in ("stiffness", "inertia", "geometric", "inertia_load", "origin"):
        monkeypatch.setattr(type(solid.blocks[0]), name, evaluated)
    total = 2 * (solid.stiffness() + solid.mass()) - solid.gyroscopic(OMEGA) / 3
    load, columns = solid.load_omega(OMEGA) * 2, -solid.mass_origin()
    assert "matrix" in repr(total)
    for blocks in (total, load, columns):
        with pytest.raises(RuntimeError, match="evaluated"):
            _ = blocks.arrays


def test_elements_cannot_be_changed(solid: fm.Elements) -> None:
    with pytest.raises(AttributeError, match="cannot be changed"):
        solid.material = STEEL  # type: ignore[misc]
    with pytest.raises(AttributeError):
        solid.mass().kind = "vector"  # type: ignore[misc]


def test_assembled_matrices_are_the_users_own(solid: fm.Elements) -> None:
    first = solid.assemble(solid.mass())
    before = first.toarray()
    first.data[:] = 0.0
    first.indices[:] = 0
    assert_allclose(solid.assemble(solid.mass()).toarray(), before)
    stiffness = solid.assemble(solid.stiffness())
    kept = stiffness.toarray()
    stiffness.indices[:] = 0
    assert_allclose(solid.assemble(solid.stiffness()).toarray(), kept)


# ---- refused inputs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [1.0, (1.0, 2.0), np.eye(3), (1.0, np.nan, 0.0), (1, 2, 3, 4)])
@pytest.mark.parametrize("name", ["gyroscopic", "stiffness_epsilon", "stiffness_omega", "load_omega", "load_epsilon"])
def test_spins_must_be_three_numbers(solid: fm.Elements, name: str, bad: Any) -> None:
    with pytest.raises(fm.FlexmbsError, match="three numbers"):
        getattr(solid, name)(bad)


def test_plane_meshes_turn_about_z(plane: fm.Elements) -> None:
    with pytest.raises(fm.FlexmbsError, match="about z"):
        plane.gyroscopic((1.0, 0.0, 2.0))
    assert_allclose(plane.gyroscopic(2.0)[0], plane.gyroscopic((0, 0, 2.0))[0])
    assert plane.mass_origin()[0].shape == (2, 8, 2)


@pytest.mark.parametrize("index", [(3, 0), (0, -1), (0, 7)])
def test_indices_of_constants_are_checked(solid: fm.Elements, index: tuple[int, int]) -> None:
    with pytest.raises(fm.FlexmbsError, match="0 to 2"):
        solid.mass_ij(*index)
    with pytest.raises(fm.FlexmbsError, match="0 to 2"):
        solid.first_moment(*index)


def stress_cases() -> dict[str, Callable[[fm.Elements], Any]]:
    return {
        "number": lambda e: 5.0,
        "three components": lambda e: np.ones(3),
        "two blocks": lambda e: (np.ones((2, 8, 6)), np.ones((2, 8, 6))),
        "other points": lambda e: (np.ones((2, 4, 6)),),
        "other cells": lambda e: (np.ones((1, 8, 6)),),
        "other components": lambda e: (np.ones((2, 8, 3)),),
    }


@pytest.mark.parametrize("case", stress_cases())
def test_stress_states_that_do_not_fit_are_refused(solid: fm.Elements, case: str) -> None:
    with pytest.raises(fm.FlexmbsError, match="stress"):
        solid.geometric_stiffness(stress_cases()[case](solid))


def two_sets() -> fm.Mesh:
    return fm.Mesh.box((1.0, 0.8, 0.6), (3, 1, 1)).replace(cell_sets={"a": [0, 1], "b": [1, 2], "c": [2]})


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: fm.Elements(two_sets()), fm.MaterialError, "material is needed"),
        (lambda: fm.Elements(two_sets(), {"a": STEEL}), fm.MaterialError, "1 cells have no material.*cell 2"),
        (lambda: fm.Elements(two_sets(), {"a": STEEL, "b": STEEL}), fm.MaterialError, "cell 1 .*'a'.*'b'"),
        (lambda: fm.Elements(two_sets(), {"a": STEEL, "d": STEEL}), fm.MeshError, "no cell set 'd'"),
        (lambda: fm.Elements(two_sets(), 210e9), fm.MaterialError, "must be a Material"),
        (lambda: fm.Elements(two_sets(), {"a": STEEL, "c": 210e9}), fm.MaterialError, "must be a Material"),
        (lambda: fm.Elements(two_sets(), STEEL, formulation="timoshenko"), fm.FlexmbsError, "does not fit a solid"),
        (lambda: fm.Elements(two_sets(), STEEL, attachments=["x0"]), fm.MaterialError, "LumpedMass and GroundSpring"),
    ],
)
def test_refused_solids(make: Callable[[], fm.Elements], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


RECTANGLE = fm.Mesh.rectangle((1.0, 0.8), (2, 1)).replace(cell_sets={"a": [0], "b": [1]})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"plane": "bending"}, fm.MaterialError, "plane must be"),
        ({"thickness": 0.0}, fm.MaterialError, "thickness must be positive"),
        ({"thickness": -1.0}, fm.MaterialError, "thickness must be positive"),
        ({"thickness": np.nan}, fm.MaterialError, "thickness must be positive"),
        ({"thickness": {"a": 0.1}}, fm.MaterialError, "no thickness"),
        ({"thickness": {"a": 0.1, "b": -0.1}}, fm.MaterialError, "thickness must be positive"),
        ({"thickness": "thin"}, fm.MaterialError, "thickness must be"),
        ({"formulation": "bar"}, fm.FlexmbsError, "does not fit a plane"),
    ],
)
def test_refused_planes(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fm.Elements(RECTANGLE, STEEL, **options)


def test_a_surface_in_space_is_refused() -> None:
    tilted = fm.Mesh.rectangle((1.0, 0.8), 1).rotated("x", 0.3)
    with pytest.raises(fm.MeshError, match=r"surface in space.*Mesh the volume"):
        fm.Elements(tilted, STEEL)
    lifted = fm.Elements(fm.Mesh.rectangle((1.0, 0.8), 1).translated((0, 0, 0.5)), STEEL)  # any plane z = const is one
    assert lifted.axes == 2


LINE = fm.Mesh.line((0, 0, 0), (1, 0, 0), 2)
WOOD = fm.Material.orthotropic((10, 1, 1), (0.3, 0.3, 0.3), (1, 1, 1), 1.0, "wood")


@pytest.mark.parametrize(
    ("mesh", "material", "options", "error", "message"),
    [
        (LINE, STEEL, {}, fm.MaterialError, "needs section="),
        (LINE, STEEL, {"section": 0.1}, fm.MaterialError, "must be a Section"),
        (LINE, STEEL, {"section": fm.Section(area=1.0)}, fm.MaterialError, "Iy, Iz and J"),
        (LINE, STEEL, {"section": SECTION, "up": (2, 0, 0)}, fm.MeshError, "along beam 0"),
        (LINE, STEEL, {"section": SECTION, "up": (0, 0, 0)}, fm.FlexmbsError, "up"),
        (LINE, STEEL, {"section": SECTION, "up": (0, 1)}, fm.FlexmbsError, "up"),
        (LINE, STEEL, {"section": SECTION, "up": (0, np.nan, 1)}, fm.FlexmbsError, "up"),
        (LINE, STEEL, {"section": SECTION, "formulation": "plain"}, fm.FlexmbsError, "does not fit a line"),
        (LINE, WOOD, {"section": SECTION}, fm.MaterialError, "isotropic.*wood"),
        (
            fm.Mesh.line((0, 0, 0), (1, 0, 0), 2, cell="line3"),
            STEEL,
            {"section": SECTION},
            fm.MeshError,
            "to_linear",
        ),
    ],
)
def test_refused_lines(
    mesh: fm.Mesh, material: fm.Material, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        fm.Elements(mesh, material, **options)


def test_bars_need_an_area_only() -> None:
    bar = fm.Elements(LINE, STEEL, section=fm.Section(area=1.0), formulation="bar")
    assert bar.dofs_per_node == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fm.LumpedMass("x0", -1.0), "zero or more"),
        (lambda: fm.LumpedMass("x0", np.nan), "zero or more"),
        (lambda: fm.LumpedMass("x0", 1.0, np.ones(3)), "symmetric"),
        (lambda: fm.LumpedMass("x0", 1.0, 1e-9 * np.array([[1.0, 0.5, 0], [0, 1, 0], [0, 0, 1]])), "symmetric"),
        (lambda: fm.LumpedMass("x0", 1.0, np.diag([1.0, 1.0, 3.0])), "no body has this inertia"),
        (lambda: fm.GroundSpring("x0", np.ones(4)).matrix(3), "3 numbers"),
        (lambda: fm.GroundSpring("x0", -1.0).matrix(3), "negative"),
        (lambda: fm.GroundSpring("x0", np.array([[1.0, 2, 0], [0, 1, 0], [0, 0, 1]])).matrix(3), "symmetric"),
        (lambda: fm.Elements(two_sets(), STEEL, attachments=[fm.LumpedMass("x0", 1.0, np.eye(3))]), "do not rotate"),
    ],
)
def test_refused_attachments(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(fm.MaterialError, match=message):
        make()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"section": fm.Section.circle(0.1)}, "section= belongs to line meshes; this one is made of solid cells"),
        ({"up": (0, 0, 1)}, "up= belongs to line meshes"),
        ({"thickness": 0.1}, "thickness= belongs to plane meshes"),
        ({"thickness": {"all": 0.1}}, "thickness= belongs to plane meshes"),
        ({"plane": "stretch"}, 'must be "stress" or "strain", not \'stretch\''),
    ],
)
def test_options_of_other_elements_are_not_ignored(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fm.FlexmbsError, match=message):
        fm.Elements(fm.Mesh.box((1, 1, 1), 1), STEEL, **options)


def test_attachments_on_unknown_sets_name_the_set() -> None:
    with pytest.raises(fm.MeshError, match="'tip'"):
        fm.Elements(two_sets(), STEEL, attachments=[fm.LumpedMass("tip", 1.0)])


# ---- axes of beams ----------------------------------------------------------------------------------------


def test_beam_axes() -> None:
    """x along the beam; y towards ``up``, or in the x-y plane; beams along z take the global y."""
    points = [[0, 0, 0], [1, 2, 3], [1, 2, 5], [2, 2, 5]]
    mesh = fm.Mesh(points, [("line", [[0, 1], [1, 2], [2, 3]])])
    axes = fm.Elements(mesh, STEEL, section=SECTION).rotations()[0]
    along = np.diff(np.array(points, float), axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    assert_allclose(axes[:, :, 0], along)
    assert_allclose(axes.transpose(0, 2, 1) @ axes, np.broadcast_to(np.eye(3), (3, 3, 3)), atol=1e-14)
    assert_allclose(np.linalg.det(axes), 1.0)
    assert_allclose(axes[[0, 2], 2, 1], 0.0, atol=1e-15)
    assert_allclose(axes[1, :, 1], [0, 1, 0])
    up = np.array([0.3, 1.0, 0.2])
    turned = fm.Elements(mesh, STEEL, section=SECTION, up=up).rotations()[0]
    assert (turned[:, :, 1] @ up > 0).all()
    assert_allclose(turned[:, :, 2] @ up, 0.0, atol=1e-15)
    assert_allclose(fm.Elements(mesh, STEEL, section=SECTION, up=5 * up).rotations()[0], turned, atol=1e-15)


def test_up_turns_the_section() -> None:
    """The tall side of the section stands along ``up``."""
    tall = fm.Section.rectangle(0.05, 0.2)
    for up, stiff in (((0, 1.0, 0), 1), ((0, 0, 1.0), 2)):
        elements = fm.Elements(LINE, STEEL, section=tall, up=up)
        tips = [fm.statics(elements, loads=fm.Force("end", np.eye(3)[i]), fixed="start").displacement for i in (1, 2)]
        deflections = [tips[0][-1, 1], tips[1][-1, 2]]
        assert int(np.argmin(deflections)) + 1 == stiff


def test_solids_have_no_rotations(solid: fm.Elements) -> None:
    assert_allclose(solid.rotations()[0], np.broadcast_to(np.eye(3), (2, 3, 3)))
    assert_allclose(solid.transformations()[0], np.broadcast_to(np.eye(24), (2, 24, 24)))
