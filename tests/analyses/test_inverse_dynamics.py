"""Inverse dynamics gives back the motion that it was made from, and multipliers are forces."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm


def arm(
    driven: bool, forces: tuple[fm.AppliedForce | fm.SpringDamper, ...] = ()
) -> tuple[fm.System, list[fm.Revolute]]:
    """A spatial arm of two links, about z and about the turned y."""
    ground = fm.Ground()
    links = [fm.RigidBody("upper", 2.0, (0.02, 0.2, 0.2), center=(0.5, 0, 0)),
             fm.RigidBody("lower", 1.0, (0.01, 0.05, 0.05), center=(0.3, 0, 0))]  # fmt: skip
    hinges = [
        fm.Revolute("first", ground.at(0, 0, 0), links[0].at(0, 0, 0), axis="z", start=0.0),
        fm.Revolute("second", links[0].at(1, 0, 0), links[1].at(0, 0, 0), axis="y", start=0.3),
    ]
    laws = (fm.SmoothStep(0.0, 1.0, start=0.0, duration=1.0), fm.Polynomial((0.3, 0.0, 0.0, 0.8)))
    drives = [fm.Drive(f"motor{k}", h.angle, law) for k, (h, law) in enumerate(zip(hinges, laws, strict=True))]
    joints = [*hinges, *drives] if driven else hinges
    return fm.System([ground, *links], joints, [fm.Gravity((0, 0, -9.81)), *forces]), hinges


def test_torques_fed_back_give_the_motion_back() -> None:
    system, hinges = arm(driven=True)
    times = np.linspace(0.0, 1.0, 401)
    motion = fm.inverse_dynamics(system, times)
    torques = [
        fm.SpringDamper(f"torque{k}", hinge.angle, force=fm.Spline(times, motion.reaction(drive)))
        for k, (hinge, drive) in enumerate(zip(hinges, system.joints[2:], strict=True))
    ]
    loose = fm.System(system.bodies, hinges, [*system.forces, *torques])
    assert loose.mobility == 2
    fed = fm.forward_dynamics(
        loose, 1.0, step=0.01, output_step=0.01, integrator=fm.TangentSpaceODE(rtol=1e-10, atol=1e-12)
    )
    exact = fm.kinematics(system, fed.t)
    for hinge in hinges:
        assert_allclose(fed.coordinate(hinge.angle), exact.coordinate(hinge.angle), atol=1e-8)


def test_what_is_not_driven_is_refused() -> None:
    system, _ = arm(driven=False)
    with pytest.raises(fm.AnalysisError, match="the drives leave 2 motions of the mechanism free"):
        fm.inverse_dynamics(system, [0.0, 1.0])


def test_kinematics_claims_no_forces() -> None:
    """Zero would be a wrong answer: it is not given."""
    system, hinges = arm(driven=True)
    motion = fm.kinematics(system, [0.0, 0.5])
    for of in (hinges[0], system.joints[2], system.bodies[0]):
        with pytest.raises(fm.ModelError, match="kinematics computes no forces: ask inverse_dynamics"):
            motion.reaction(of)
    assert "drives supplied" not in motion.summary()
    assert "drives supplied" in fm.inverse_dynamics(system, [0.0, 0.5]).summary()


@pytest.mark.parametrize("kind", ["rod", "hinge"])
def test_the_multiplier_of_a_circular_guide_is_the_normal_force(kind: str) -> None:
    """A bead that slides from rest on top of a circle: N = m g (3 cos θ - 2 cos θ₀), outwards."""
    ground, radius, mass, start, g = fm.Ground(), 0.7, 1.3, 0.4, 9.81
    place = radius * np.array([np.sin(start), np.cos(start), 0.0])
    joint: fm.Distance | fm.planar.Revolute
    bead: fm.PointMass | fm.PlanarBody
    if kind == "rod":
        bead = fm.PointMass("bead", mass, position=place)
        joint = fm.Distance("guide", ground.at(0, 0, 0), bead.at(), length=radius)
    else:
        bead = fm.PlanarBody("bead", mass, center=(radius, 0), angle=np.pi / 2 - start)
        joint = fm.planar.Revolute("guide", ground.at(0, 0), bead.at(0, 0))
    system = fm.System([ground, bead], [joint], [fm.Gravity((0, -g, 0))])
    motion = fm.forward_dynamics(
        system, 0.5, step=0.01, output_step=0.01, integrator=fm.TangentSpaceODE(rtol=1e-10, atol=1e-12)
    )
    at = motion.position(bead) if kind == "rod" else motion.position(bead.at(radius, 0))
    outward = at / radius
    cosine = outward[:, 1]
    force = np.zeros((len(motion.t), 3))
    wrench = motion.reaction(joint)
    force[:, : 3 if kind == "rod" else 2] = wrench[:, : 3 if kind == "rod" else 2]
    normal = np.sum(force * outward, axis=1)
    assert_allclose(normal, mass * g * (3 * cosine - 2 * np.cos(start)), atol=1e-7)
    if kind == "rod":
        assert_allclose(motion.multipliers[:, 0], normal, atol=1e-10)
    assert np.ptp(normal) > 1.0
