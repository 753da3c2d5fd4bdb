"""The slider-crank with a flexible rod by elastodynamics, against the trusted numbers of the linear theory."""

from __future__ import annotations

import numpy as np
import pytest
from cases.flexible import (
    BEND,
    BEND_WITHOUT_STIFFENING,
    LARGEST,
    LARGEST_WITHOUT_STIFFENING,
    TIMES,
    bending_rod,
    slider_crank,
)

import flexmbs as fm


@pytest.mark.parametrize("stiffening", [True, False])
def test_bending_of_the_rod(stiffening):
    """Offset of the midpoint from the chord at five instants: 0.3 % of the largest; its peak with stiffening."""
    rod = bending_rod("timoshenko", reduction=fm.CraigBampton(modes=6), stiffening=stiffening)
    stiff = rod.rigid()
    known = fm.kinematics(slider_crank(stiff, (stiff.at(0, 0, 0), stiff.at(0.3, 0, 0))), np.linspace(0, 0.13, 261))
    system = slider_crank(rod, (rod.at("start"), rod.at("end")))
    found = fm.elastodynamics(system, known, step=2e-5, output_step=2e-4)
    middle, start, end = (rod.reduced.frame(where).displacement[1] for where in (4, "start", "end"))
    at = system.layout.body_q[3]
    bend = found.q[:, at - rod.modes : at] @ (middle - (start + end) / 2)
    expected, largest = (BEND, LARGEST) if stiffening else (BEND_WITHOUT_STIFFENING, LARGEST_WITHOUT_STIFFENING)
    for t, value in zip(TIMES, expected, strict=True):
        assert np.interp(t, found.t, bend) == pytest.approx(value, abs=3e-3 * largest), t
    if stiffening:
        k = int(np.argmax(np.abs(bend)))
        assert abs(bend[k]) == pytest.approx(LARGEST, rel=3e-3)
        assert found.t[k] == pytest.approx(0.0976, abs=4e-4)
