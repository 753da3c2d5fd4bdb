"""Static response: equilibrium, exact states, every form of fixed=, symmetry, several materials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.fem.rigid import rigid_motions

STEEL = fm.Material(young=2e11, poisson=0.3, density=7800.0, name="steel")
SOLIDS = ["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15", "pyramid"]


def block(cell: str = "hexahedron", divisions: tuple[int, int, int] = (4, 2, 2)) -> fm.Mesh:
    """A slightly warped bar away from the origin."""
    mesh = fm.Mesh.box((1.0, 0.2, 0.1), divisions, cell=cell, origin=(0.5, 0.1, -0.2))
    return mesh.mapped(lambda x, y, z: (x + 0.1 * y * z, y + 0.05 * (x - 0.5) ** 2, z * (1 + 0.2 * y)))


def every_load(mesh: fm.Mesh) -> list[Any]:
    return [
        fm.Gravity((1.0, 2.0, -9.81)),
        fm.Force("x1", (100.0, -200.0, 50.0), moment=(5.0, 6.0, 7.0)),
        fm.Pressure("z1", lambda x, y, z: 1e4 * x),
        fm.Traction("y1", (1e3, 2e3, -1e3)),
        fm.Acceleration((1.0, 0.0, 2.0), angular=(3.0, 2.0, 1.0)),
        fm.Centrifugal((1.0, 20.0, 3.0), center=(0.1, 0.2, 0.3), softening=False),
    ]


# ---- equilibrium


@pytest.mark.parametrize("cell", SOLIDS)
def test_reactions_balance_forces_and_moments(cell: str) -> None:
    elements = fm.Elements(block(cell), STEEL)
    loads = every_load(elements.mesh)
    found = fm.statics(elements, loads=loads, fixed={"x0": "xyz", "x1": "z"})
    applied = rigid_motions(elements).T @ sum(load.vector(elements) for load in loads)
    np.testing.assert_allclose(found.reaction(), -applied, rtol=1e-7, atol=1e-7 * np.abs(applied).max())
    free = np.setdiff1d(elements.nodes(), elements.nodes(["x0", "x1"]))
    assert np.abs(found.reactions[free]).max() < 1e-8 * np.abs(found.reactions).max()
    assert np.abs(found.reactions[np.setdiff1d(elements.nodes("x1"), elements.nodes("x0")), :2]).max() < 1e-6


def test_reaction_moment_has_the_sign_of_statics() -> None:
    """A downward force at x = 2 needs the wall's moment M_y = -2 · 60 about the wall (r × F + M = 0)."""
    mesh = fm.Mesh.box((2.0, 0.1, 0.1), (8, 1, 1), origin=(0.0, -0.05, -0.05))
    found = fm.statics(mesh, STEEL, fm.Force("x1", (0, 0, -60.0)), fixed="x0")
    moment = -np.cross([2.0, 0, 0], [0, 0, -60.0])
    np.testing.assert_allclose(found.reaction("x0"), [0, 0, 60.0, *moment], atol=1e-6)
    np.testing.assert_allclose(found.reaction("x0", about=(2, 0, 0)), [0, 0, 60.0, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found.reaction("x1"), 0.0, atol=1e-6)


def test_reactions_of_a_plane_part_and_of_beams() -> None:
    plane = fm.Mesh.rectangle((2.0, 0.1), (8, 1), cell="quad8", origin=(0.0, -0.05))
    found = fm.statics(plane, STEEL, fm.Force("x1", (0, -60.0)), fixed="x0", thickness=0.1)
    np.testing.assert_allclose(found.reaction("x0"), [0, 60.0, 120.0], atol=1e-6)
    line = fm.Mesh.line((0, 0, 0), (2, 0, 0), 3)
    options = {"section": fm.Section.circle(0.05), "fixed": "start"}
    found = fm.statics(line, STEEL, fm.Force("end", (0, -60.0, 0), moment=(3, 0, 0)), **options)
    np.testing.assert_allclose(found.reaction("start"), [0, 60.0, 0, -3.0, 0, 120.0], atol=1e-8)


def test_superposition_and_scaling() -> None:
    elements = fm.Elements(block("tetra10", (3, 1, 1)), STEEL)
    loads = every_load(elements.mesh)
    together = fm.statics(elements, loads=loads, fixed="x0")
    alone = [fm.statics(elements, loads=load, fixed="x0") for load in loads]
    total = sum(a.displacement for a in alone)
    np.testing.assert_allclose(together.displacement, total, atol=1e-10 * np.abs(total).max())
    stress = sum(a.stress.arrays[0] for a in alone)
    np.testing.assert_allclose(together.stress.arrays[0], stress, atol=1e-9 * np.abs(stress).max())


def test_strain_energy_is_half_the_work_of_the_loads() -> None:
    elements = fm.Elements(block(), STEEL)
    loads = every_load(elements.mesh)
    found = fm.statics(elements, loads=loads, fixed="x0")
    work = sum(load.vector(elements) for load in loads) @ found.displacement.ravel()
    assert found.strain_energy == pytest.approx(work / 2, rel=1e-9)
    density = np.sum(found.stress.arrays[0] * found.strain.arrays[0], axis=2) / 2
    assert found.strain_energy == pytest.approx(density.mean() * 0.02, rel=0.05)  # volume about 0.02
    spun = fm.statics(elements, loads=fm.Centrifugal((0, 0, 300.0)), fixed="x0")
    k = elements.assemble(elements.stiffness())
    d = spun.displacement.ravel()
    assert spun.strain_energy == pytest.approx(d @ k @ d / 2, rel=1e-12)  # K(ω) stores nothing


def test_no_load_no_displacement() -> None:
    found = fm.statics(block(), STEEL, fixed="x0")
    assert not found.displacement.any()
    assert found.strain_energy == 0.0
    assert "largest displacement 0 m" in repr(found)
    everything = fm.statics(block(), STEEL, fm.Gravity(), fixed="all")
    assert not everything.displacement.any()
    assert everything.reaction()[2] == pytest.approx(9.81 * fm.mass_properties(block(), STEEL).mass)


# ---- exact states


@pytest.mark.parametrize("cell", SOLIDS)
def test_uniform_pressure_gives_a_hydrostatic_state(cell: str) -> None:
    """Exact where the integration is: curved quadratic tetrahedra have four points, which leaves 1e-5."""
    mesh = block(cell)
    corner = np.lexsort(mesh.points.T)[0]
    # a statically determinate support: three nodes, six components
    held = [fm.Projection.fix(mesh, [corner])]
    far = mesh.points - mesh.points[corner]
    a, b = int(np.argmax(far[:, 0])), int(np.argmax(far[:, 1]))
    held += [fm.Projection.fix(mesh, [a], "yz"), fm.Projection.fix(mesh, [b], "z")]
    loads = [fm.Pressure(f"{axis}{end}", 1e7) for axis in "xyz" for end in (0, 1)]
    found = fm.statics(mesh, STEEL, loads, fixed=held)
    error = 200.0 if cell == "tetra10" else 10.0
    np.testing.assert_allclose(found.stress.nodal, np.tile([-1e7] * 3 + [0] * 3, (mesh.n_nodes, 1)), atol=error)
    np.testing.assert_allclose(found.stress.von_mises, 0.0, atol=2 * error)
    squeeze = -1e7 * (1 - 2 * 0.3) / 2e11
    np.testing.assert_allclose(found.strain.nodal[:, :3], squeeze, rtol=1e-4)
    assert np.abs(found.reactions).max() < 1e-2


@pytest.mark.parametrize("cell", ["tetra10", "hexahedron20", "wedge15"])
def test_hanging_bar_under_its_weight(cell: str) -> None:
    """σ = ρg(L - z'), u = ρg(Lz' - z'²/2)/E: quadratic, so exact; without Poisson's effect."""
    cork = fm.Material(young=1e7, poisson=0.0, density=500.0)
    mesh = fm.Mesh.box((0.1, 0.1, 2.0), (1, 1, 4), cell=cell)
    found = fm.statics(mesh, cork, fm.Gravity(), fixed="z1")
    down = 2.0 - mesh.points[:, 2]
    np.testing.assert_allclose(
        found.displacement[:, 2], -500 * 9.81 * (2.0 * down - down**2 / 2) / 1e7, atol=1e-8 * 500 * 9.81 * 2 / 1e7
    )
    np.testing.assert_allclose(found.stress.nodal[:, 2], 500 * 9.81 * mesh.points[:, 2], atol=1e-3)
    np.testing.assert_allclose(found.reaction("z1")[2], 500 * 9.81 * 0.02, rtol=1e-9)


def test_hanging_beam_and_bar() -> None:
    mesh = fm.Mesh.line((0, 0, 0), (0, 0, -2.0), 4)
    section = fm.Section.rectangle(0.1, 0.1)
    beam = fm.statics(mesh, STEEL, fm.Gravity(), fixed="start", section=section)
    assert beam.displacement[-1, 2] == pytest.approx(-7800 * 9.81 * 4 / (2 * 2e11), rel=1e-10)
    bar = fm.statics(mesh, STEEL, fm.Gravity(), fixed=["start", {"all": "xy"}], section=section, formulation="bar")
    np.testing.assert_allclose(bar.displacement[:, 2], beam.displacement[:, 2], rtol=1e-10, atol=1e-20)
    np.testing.assert_allclose(bar.stress.axial.mean(axis=1), 7800 * 9.81 * 0.01 * np.array([1.75, 1.25, 0.75, 0.25]))


def test_section_forces_of_several_blocks_are_those_of_one() -> None:
    one = fm.Mesh.line((0, 0, 0), (1, 0, 0), 4)
    nodes = one.cells[0].nodes
    two = one.replace(cells=[("line", nodes[:1]), ("line", nodes[1:])])
    options = {"section": fm.Section.circle(0.02), "fixed": "start"}
    load = fm.Force("end", (7.0, 3.0, 0.0))
    a, b = (fm.statics(mesh, STEEL, load, **options).stress for mesh in (one, two))
    np.testing.assert_allclose(b.axial, a.axial, rtol=1e-12)
    np.testing.assert_allclose(b.fibre_stress, a.fibre_stress, rtol=1e-12)
    np.testing.assert_allclose(b.nodal, a.nodal, rtol=1e-12)


def test_stress_beside_lumped_masses() -> None:
    """A mass on the far face pulls like a force, and has no stress of its own."""
    mesh = block()
    attached = fm.LumpedMass("x1", 12.0)
    heavy = fm.statics(mesh, STEEL, fm.Gravity(), fixed="x0", attachments=attached)
    loads = [fm.Gravity(), fm.Force("x1", (0, 0, -12.0 * 9.81))]
    pulled = fm.statics(mesh, STEEL, loads, fixed="x0")
    np.testing.assert_allclose(heavy.displacement, pulled.displacement, atol=1e-12)
    (points,) = heavy.stress.von_mises_at_points
    np.testing.assert_allclose(points, pulled.stress.von_mises_at_points[0], rtol=1e-6)
    np.testing.assert_allclose(heavy.strain.nodal, pulled.strain.nodal, atol=1e-12)


# ---- supports


def test_forms_of_fixed_that_say_the_same() -> None:
    mesh = block()
    nodes = mesh.nodes("x0")
    half = nodes[: len(nodes) // 2]
    forms: list[Any] = [
        "x0", ["x0"], ("x0",), {"x0": None}, {"x0": "xyz"}, {"x0": ("x", "y", "z")}, {"x0": [0, 1, 2]},
        nodes, nodes.tolist(), [half, np.setdiff1d(nodes, half)], fm.Projection.fix(mesh, "x0"),
        [fm.Projection.fix(mesh, "x0", "xy"), {"x0": "z"}], [{"x0": "x"}, {"x0": "yz"}],
        {"x0": {"x": 0.0, "y": 0.0, "z": 0.0}}, ["x0", {"x0": "x"}], ["x0", int(nodes[0])],
    ]  # fmt: skip
    expected = fm.statics(mesh, STEEL, fm.Gravity(), fixed="x0").displacement
    for fixed in forms:
        found = fm.statics(mesh, STEEL, fm.Gravity(), fixed=fixed).displacement
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max(), err_msg=repr(fixed))


def test_prescribed_displacements() -> None:
    mesh = fm.Mesh.box((1.0, 0.1, 0.1), (4, 1, 1))
    found = fm.statics(mesh, STEEL, fixed={"x0": "x", "x1": {"x": 1e-3}, "y0": "y", "z0": "z"})
    np.testing.assert_allclose(found.displacement[:, 0], 1e-3 * mesh.points[:, 0], atol=1e-14)
    np.testing.assert_allclose(found.stress.nodal[:, 0], 2e8, rtol=1e-9)
    assert found.reaction("x1")[0] == pytest.approx(2e8 * 0.01)
    # one value for each node: a rotation of the far face
    turn = 1e-3 * (mesh.points[mesh.nodes("x1"), 1] - 0.05)
    bent = fm.statics(mesh, STEEL, fixed={"x0": None, "x1": {"x": -turn}})
    np.testing.assert_allclose(bent.displacement[mesh.nodes("x1"), 0], -turn, atol=1e-18)


def test_a_rigid_motion_prescribed_makes_no_stress() -> None:
    mesh = block("tetra10", (2, 1, 1))
    motion = (rigid_motions(fm.Elements(mesh, STEEL)) @ [1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3]).reshape(-1, 3)
    held = mesh.nodes("x0")
    values = {axis: motion[held, k] for k, axis in enumerate("xyz")}
    found = fm.statics(mesh, STEEL, fixed={"x0": values})
    np.testing.assert_allclose(found.displacement, motion, atol=1e-12)
    assert np.abs(found.stress.arrays[0]).max() < 1e-9 * 2e11 * np.abs(motion).max()


@pytest.mark.parametrize("cell", ["hexahedron", "tetra10"])
def test_averaged_support_is_a_fixed_averaging_point(cell: str) -> None:
    mesh = block(cell)
    elements = fm.Elements(mesh, STEEL)
    load = fm.Force("x1", (10.0, 20.0, 30.0))
    averaged = fm.statics(elements, loads=load, fixed=fm.Averaged("x0"))
    point = fm.Projection.averaging(elements, "x0")
    free = np.setdiff1d(np.arange(point.shape[1]), point.points["x0"])
    still = fm.Projection(np.eye(point.shape[1])[:, free])
    expected = fm.statics(elements, loads=load, fixed=fm.Projection((point @ still).matrix))
    scale = np.abs(expected.displacement).max()
    np.testing.assert_allclose(averaged.displacement, expected.displacement, atol=1e-8 * scale)
    rows, _ = fm.averaging_rows(elements, "x0")
    assert np.abs(rows @ averaged.displacement.ravel()).max() < 1e-10 * scale
    applied = rigid_motions(elements).T @ load.vector(elements)
    np.testing.assert_allclose(averaged.reaction("x0"), -applied, rtol=1e-6, atol=1e-6)
    # softer than clamped, stiffer than nothing
    clamped = fm.statics(elements, loads=load, fixed="x0")
    assert averaged.strain_energy > clamped.strain_energy


def test_averaged_beside_other_supports() -> None:
    mesh = block("hexahedron20")
    held = [fm.Averaged("x0"), {"x1": {"y": 1e-4}}]
    found = fm.statics(mesh, STEEL, fm.Gravity(), fixed=held)
    np.testing.assert_allclose(found.displacement[mesh.nodes("x1"), 1], 1e-4, rtol=1e-12)
    mean = mesh.weights("x0") @ found.displacement[mesh.nodes("x0")]
    np.testing.assert_allclose(mean, 0.0, atol=1e-12)
    weight = 9.81 * fm.mass_properties(mesh, STEEL).mass
    assert found.reaction()[2] == pytest.approx(weight, rel=1e-8)
    two = fm.statics(mesh, STEEL, fm.Gravity(), fixed=[fm.Averaged("x0"), fm.Averaged("x1")])
    assert two.reaction("x0")[2] + two.reaction("x1")[2] == pytest.approx(weight, rel=1e-8)


def test_averaged_supports_of_two_pieces() -> None:
    left = fm.Mesh.box((1.0, 0.1, 0.1), (3, 1, 1)).replace(name="two")
    right = fm.Mesh.box((1.0, 0.1, 0.1), (3, 1, 1), origin=(3.0, 0, 0))
    right = right.replace(face_sets={"end": right.face_sets["x1"]})
    found = fm.statics(left.joined(right), STEEL, fm.Gravity(), fixed=[fm.Averaged("x0"), fm.Averaged("end")])
    single = fm.statics(left, STEEL, fm.Gravity(), fixed=fm.Averaged("x0"))
    np.testing.assert_allclose(found.displacement[: left.n_nodes], single.displacement, atol=1e-12)


def test_rigid_interface_as_support() -> None:
    """A face on a rigid plate with springs: the plate's point is free, the face stays plane."""
    mesh = fm.Mesh.box((1.0, 0.1, 0.1), (6, 2, 2), origin=(0, -0.05, -0.05))
    rigid = fm.Projection.rigid(mesh, "x1")
    found = fm.statics(mesh, STEEL, fm.Force("x1", (0, 0, 0), moment=(50.0, 0, 0)), fixed=["x0", rigid])
    far = mesh.nodes("x1")
    turn = found.displacement[far] - np.cross([1.0, 0, 0], mesh.points[far]) * (
        found.displacement[far[0], 1] / np.cross([1.0, 0, 0], mesh.points[far[0]])[1]
    )
    assert np.abs(turn).max() < 1e-9 * np.abs(found.displacement).max()


def test_springs_hold_a_part_and_share_its_weight() -> None:
    mesh = fm.Mesh.box((1.0, 0.2, 0.1), (4, 2, 1), cell="hexahedron20")
    stiff = fm.Material(young=2e12, poisson=0.3, density=7800.0)
    springs = [fm.GroundSpring("z0", (1e5, 1e5, 1e5))]
    found = fm.statics(mesh, stiff, fm.Gravity(), attachments=springs)
    sink = -0.02 * 7800 * 9.81 / 1e5
    np.testing.assert_allclose(found.displacement[:, 2], sink, rtol=1e-3)
    assert np.abs(found.reactions).max() < 1e-3  # what springs carry is no reaction


def test_a_soft_spring_beside_a_hard_one_still_holds() -> None:
    mesh = fm.Mesh.box((1.0, 0.2, 0.1), (2, 1, 1))
    springs = [fm.GroundSpring("z0", (2.0, 3.0, 1e11))]
    found = fm.statics(mesh, STEEL, fm.Force("z0", (4.0, 0, 0)), attachments=springs)
    assert mesh.weights("z0") @ found.displacement[mesh.nodes("z0"), 0] == pytest.approx(2.0, rel=1e-4)


@pytest.mark.parametrize("cell", ["hexahedron", "tetra10"])
def test_quarter_model_equals_the_full_one(cell: str) -> None:
    full = fm.Mesh.box((1.0, 0.4, 0.2), (4, 2, 2), cell="hexahedron", origin=(0.0, -0.2, -0.1))
    quarter = fm.Mesh.box((1.0, 0.2, 0.1), (4, 1, 1), cell="hexahedron", origin=(0.0, 0.0, 0.0))
    if cell == "tetra10":  # mirror the quarter, so that the diagonals agree
        quarter = fm.Mesh.box((1.0, 0.2, 0.1), (4, 1, 1), cell=cell)
        pieces = [quarter.transformed(np.diag([1.0, y, z])) for y in (1, -1) for z in (1, -1)]
        full = pieces[0].joined(pieces[1]).joined(pieces[2]).joined(pieces[3]).merged_nodes()
    load = fm.Traction("x1", (1e6, 0.0, 0.0))
    spin = fm.Centrifugal((300.0, 0, 0), softening=False)
    whole = fm.statics(full, STEEL, [load, spin], fixed=full.nodes_where(lambda x, y, z: x < 1e-9))
    planes = [fm.Projection.symmetry(quarter, "y0", "y"), fm.Projection.symmetry(quarter, "z0", "z")]
    for mirrored in ([*planes, "x0"], ["x0", {"y0": "y", "z0": "z"}]):
        part = fm.statics(quarter, STEEL, [load, spin], fixed=mirrored)
        twin = [full.nearest_node(p) for p in quarter.points]
        scale = np.abs(whole.displacement).max()
        np.testing.assert_allclose(part.displacement, whole.displacement[twin], atol=1e-9 * scale)
        assert 4 * part.strain_energy == pytest.approx(whole.strain_energy, rel=1e-9)


# ---- materials


def test_two_materials_in_series_and_in_parallel() -> None:
    soft = fm.Material(young=1e10, poisson=0.0, density=1000.0)
    hard = fm.Material(young=4e10, poisson=0.0, density=3000.0)
    mesh = fm.Mesh.box((2.0, 1.0, 1.0), (4, 2, 2))
    middles = np.array([mesh.points[c].mean(axis=0) for c in mesh.cells[0].nodes])
    for axis, modulus in ((0, 2 / (1 / 1e10 + 1 / 4e10)), (1, (1e10 + 4e10) / 2)):
        low = np.flatnonzero(middles[:, axis] < (1.0 if axis == 0 else 0.5))
        high = np.setdiff1d(np.arange(mesh.n_cells), low)
        made = mesh.with_cells("low", low).with_cells("high", high)
        held = {"x0": "x", "y0": "y", "z0": "z", "x1": {"x": 1e-3}}
        found = fm.statics(made, {"low": soft, "high": hard}, fixed=held)
        assert found.reaction("x1")[0] == pytest.approx(modulus * 1e-3 / 2.0, rel=1e-9)
        mass = fm.mass_properties(made, {"low": soft, "high": hard})
        assert mass.mass == pytest.approx(4000.0)
        assert mass.center[axis] == pytest.approx((0.25 * 1 + 0.75 * 3) / 4 * (2.0 if axis == 0 else 1.0))


def test_orthotropic_bar_pulled_along_and_across() -> None:
    moduli, ratios, shear = (40e9, 10e9, 8e9), (0.28, 0.4, 0.25), (4e9, 3e9, 5e9)
    wood = fm.Material.orthotropic(moduli, ratios, shear, density=600.0)
    mesh = fm.Mesh.box((1.0, 0.1, 0.1), (3, 1, 1), cell="tetra10")
    held = {"x0": "x", "y0": "y", "z0": "z"}
    along = fm.statics(mesh, wood, fm.Traction("x1", (1e6, 0, 0)), fixed=held)
    strain = np.array([1 / 40e9, -0.28 / 40e9, -0.25 / 40e9]) * 1e6
    np.testing.assert_allclose(along.strain.nodal[:, :3], np.tile(strain, (mesh.n_nodes, 1)), rtol=1e-7)
    # fibres turned to y: along x it is now the second direction
    turned = fm.Material.orthotropic(moduli, ratios, shear, 600.0, axes=[[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    across = fm.statics(mesh, turned, fm.Traction("x1", (1e6, 0, 0)), fixed=held)
    strain = np.array([1 / 10e9, -0.28 / 40e9, -0.4 / 10e9]) * 1e6
    np.testing.assert_allclose(across.strain.nodal[:, :3], np.tile(strain, (mesh.n_nodes, 1)), rtol=1e-7)


def test_prestress_stiffens_a_pulled_beam() -> None:
    """Tension N lowers the deflection of a cantilever: w = F/N (L - tanh(kL)/k), k² = N/EI."""
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), 30)
    section = fm.Section.rectangle(0.01, 0.01)
    options = {"section": section, "formulation": "euler_bernoulli", "fixed": "start"}
    pulled = fm.statics(mesh, STEEL, fm.Force("end", (5000.0, 0, 0)), **options)
    force = fm.Force("end", (0, 1.0, 0))
    k = np.sqrt(5000.0 / (STEEL.young * section.Iz))
    expected = (1 - np.tanh(k) / k) / 5000.0
    for prestress in (pulled, pulled.stress, (5000.0, 0, 0, 0, 0, 0)):
        found = fm.statics(mesh, STEEL, force, prestress=prestress, **options)
        assert found.displacement[-1, 1] == pytest.approx(expected, rel=1e-5)


def test_results_cannot_be_changed() -> None:
    """A result scaled in place, to millimetres or megapascals, would spoil what is computed from it later."""
    elements = fm.Elements(fm.Mesh.box((1.0, 0.2, 0.1), (2, 1, 1)), STEEL)
    found = fm.statics(elements, loads=fm.Gravity(), fixed="x0")
    modes, mass = fm.modes(elements, fixed="x0", count=2), fm.mass_properties(elements)
    arrays = [found.displacement, found.reactions, found.stress.nodal, found.stress.arrays[0], found.strain.arrays[0]]
    arrays += [modes.frequencies, modes.shapes, modes.rigid, modes.effective_mass, mass.center, mass.inertia]
    assert elements.scalar_mass is not None
    for array in (*arrays, elements.scalar_mass.data):
        assert not array.flags.writeable
