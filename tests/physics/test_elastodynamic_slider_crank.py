"""The slider-crank with a flexible rod by elastodynamics, against the trusted numbers of the linear theory."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm

SPIN = fm.SpinUp(150.0, over=0.1)
LARGEST = 1.548527e-3
REFERENCE = {
    True: {0.03: -9.7238e-5, 0.05: 4.34987e-4, 0.07: 1.10840e-4, 0.09: -7.68487e-4, 0.13: -1.329664e-3},
    False: {0.03: -9.7589e-5, 0.05: 4.41567e-4, 0.07: 1.07421e-4, 0.09: -8.44424e-4, 0.13: -1.435769e-3},
}


def engine(rod, ends):
    ground, crank = fm.Ground(), fm.RigidBody("crank", 0.1, np.diag([1e-4] * 3), (0.075, 0, 0))
    piston = fm.RigidBody("piston", 0.075552, np.diag([1e-5] * 3))
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(0, 0, 0), axis="z")
    joints = [
        shaft,
        fm.Revolute("crank_pin", crank.at(0.15, 0, 0), ends[0], axis="z"),
        fm.Spherical("wrist_pin", ends[1], piston.at(0, 0, 0)),
        fm.Prismatic("cylinder", ground.at(0, 0, 0), piston.at(0, 0, 0), axis="x"),
        fm.Drive("motor", shaft.angle, SPIN),
    ]
    return fm.System([ground, crank, rod, piston], joints)


@pytest.mark.parametrize("stiffening", [True, False])
def test_bending_of_the_rod(stiffening):
    """Offset of the midpoint from the chord at five instants: 0.3 % of the largest; its peak with stiffening."""
    rod = fm.FlexibleBody(
        "rod", fm.Mesh.line((0, 0, 0), (0.3, 0, 0), 8), fm.Material(2e11, 0.3, 7870.0), interfaces=["start", "end"],
        section=fm.Section.rectangle(0.008, 0.008), reduction=fm.CraigBampton(modes=6), stiffening=stiffening,
    )  # fmt: skip
    stiff = rod.rigid()
    known = fm.kinematics(engine(stiff, [stiff.at(0, 0, 0), stiff.at(0.3, 0, 0)]), np.linspace(0, 0.13, 261))
    system = engine(rod, [rod.at("start"), rod.at("end")])
    found = fm.elastodynamics(system, known, step=2e-5, output_step=2e-4)
    middle, start, end = (rod.reduced.frame(where).displacement[1] for where in (4, "start", "end"))
    at = system.layout.body_q[3]
    bend = found.q[:, at - rod.modes : at] @ (middle - (start + end) / 2)
    limit = 3e-3 * (LARGEST if stiffening else 1.629316e-3)
    for t, value in REFERENCE[stiffening].items():
        assert np.interp(t, found.t, bend) == pytest.approx(value, abs=limit), t
    if stiffening:
        k = int(np.argmax(np.abs(bend)))
        assert abs(bend[k]) == pytest.approx(LARGEST, rel=3e-3)
        assert found.t[k] == pytest.approx(0.0976, abs=4e-4)
