"""Slider-crank with a flexible rod: trusted numbers, solids, floating frames, and the connecting rod of the meshes."""

from __future__ import annotations

import numpy as np
import pytest
from cases.flexible import BEND, LARGEST, ROD_STEEL, SLIDER, TIMES, slider_crank, slider_crank_motion
from flexible_measures import deformation, in_body

import flexmbs as fm


def offsets(motion: fm.Result, rod: fm.FlexibleBody, ends: tuple[str, str], middle: object) -> np.ndarray:
    """Midpoint of the rod from the chord between its pins, over time."""
    frames = [rod.at(ends[0]), rod.at(ends[1]), middle]
    out = []
    for q in motion.q:
        start, end, point = (in_body(f, deformation(motion.system, rod, q)) for f in frames)
        along = (end - start) / np.linalg.norm(end - start)
        out.append(np.cross(along, point - start)[2])
    return np.array(out)


@pytest.mark.parametrize("frame", ["chord", "mean", fm.Tangent("start")], ids=str)
def test_any_floating_frame_gives_the_trusted_numbers(frame: object) -> None:
    found = slider_crank_motion(frame=frame)
    np.testing.assert_allclose(found[:6], [*BEND, LARGEST], atol=3e-3 * LARGEST)
    np.testing.assert_allclose(found[6:], SLIDER, atol=2e-5)


def test_of_solid_elements() -> None:
    mesh = fm.Mesh.box((0.3, 0.008, 0.008), (10, 1, 1), cell="hexahedron20", origin=(0.0, -0.004, -0.004))
    rod = fm.FlexibleBody("rod", mesh, ROD_STEEL, interfaces=["x0", "x1"], reduction=fm.CraigBampton(6))
    motion = fm.forward_dynamics(slider_crank(rod, (rod.at("x0"), rod.at("x1"))), 0.13, 2e-5, output_step=1e-4)
    w = offsets(motion, rod, ("x0", "x1"), rod.at(0.15, 0, 0))
    assert np.abs(w).max() == pytest.approx(LARGEST, rel=0.02)
    np.testing.assert_allclose(np.interp(TIMES, motion.t, w), BEND, atol=0.02 * LARGEST)


@pytest.fixture(scope="module")
def connecting_rods() -> list[tuple[fm.FlexibleBody, fm.Result]]:
    """An engine at 3000 rpm with the connecting rod of few coordinates, and of many."""
    mesh = fm.Mesh.read("meshes/connecting_rod.msh")
    steel = fm.Material(young=210e9, poisson=0.3, density=7850.0)
    out = []
    for reduction in (fm.FreeInterface(12), fm.CraigBampton(60)):
        rod = fm.FlexibleBody("rod", mesh, steel, interfaces=["big_end", "small_end"], reduction=reduction)
        ground = fm.Ground()
        crank = fm.RigidBody.box("crank", (0.05, 0.02, 0.02), 7850.0)
        piston = fm.RigidBody("piston", 0.4, np.diag([2e-4, 2e-4, 2e-4]))
        shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-0.025, 0, 0), axis="z")
        joints = [
            shaft,
            fm.Revolute("crank_pin", crank.at(0.025, 0, 0), rod.at("big_end"), axis="z"),
            fm.Spherical("wrist_pin", rod.at("small_end"), piston.at(0, 0, 0)),
            fm.Prismatic("cylinder", ground.at(0, 0, 0), piston.at(0, 0, 0), axis="x"),
            fm.Drive("motor", shaft.angle, fm.ConstantSpeed(3000 * np.pi / 30, start=1.0)),
        ]
        system = fm.System([ground, crank, rod, piston], joints, [fm.Gravity((0, -9.81, 0))])
        out.append((rod, fm.forward_dynamics(system, 0.01, 2e-5, output_step=1e-4, start="deformed")))
    return out


def test_few_coordinates_do_for_the_connecting_rod(connecting_rods: list[tuple[fm.FlexibleBody, fm.Result]]) -> None:
    """Deflection of midspan and reactions with 12 modes (residual shapes beside them) against 60 others, 0.1 %."""
    ends = ("big_end", "small_end")
    bends = [offsets(motion, rod, ends, rod.at("midspan")) for rod, motion in connecting_rods]
    assert np.abs(bends[1]).max() > 1e-6
    np.testing.assert_allclose(bends[0], bends[1], atol=1e-3 * np.abs(bends[1]).max())
    for k in (0, 1, 2, 4):
        few, many = (motion.reaction(motion.system.joints[k]) for _, motion in connecting_rods)
        few, many = (r[10:, :3] if r.ndim == 2 else r[10:] for r in (few, many))  # after the first, not yet smooth
        np.testing.assert_allclose(few, many, atol=1e-3 * np.abs(many).max())
