"""Vibrations that the instants kept do not show: what lies between them is no larger than what was there."""

from __future__ import annotations

import numpy as np

import flexmbs as fm


def test_states_between_seldom_instants_do_not_overshoot() -> None:
    """A bar struck along its axis, kept once in three periods; a curve through its rates swings 5 times as far."""
    steel = fm.Material(210e9, 0.3, 7850.0)
    mesh = fm.Mesh.line((0, 0, 0), (1, 0, 0), 4)
    bar = fm.FlexibleBody(
        "bar", mesh, steel, section=fm.Section.rectangle(0.02, 0.02), interfaces=["start", "end"],
        reduction=fm.CraigBampton(0),
    )  # fmt: skip
    ground = fm.Ground()
    held = fm.Fixed("held", ground.at(0, 0, 0), bar.at("start"))
    system = fm.System([ground, bar], [held], [fm.AppliedForce("pull", bar.at("end"), force=(1000.0, 0.0, 0.0))])
    fine = fm.forward_dynamics(system, 0.02, step=5e-6)
    coarse = fm.forward_dynamics(system, 0.02, step=5e-6, output_step=2e-3)
    largest = np.abs(fine.deflection(bar.at("end"))[:, 0]).max()
    times = coarse.t[:-1, None] + np.diff(coarse.t)[:, None] * np.array([0.2, 0.4, 0.6, 0.8])
    between = coarse.at(times.ravel()).deflection(bar.at("end"))[:, 0]
    assert np.abs(between).max() < 1.05 * largest
    assert np.abs(fine.at(times.ravel() + 1e-6).deflection(bar.at("end"))[:, 0]).max() > 0.99 * largest
