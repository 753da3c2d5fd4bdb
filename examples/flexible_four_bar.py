"""A four-bar linkage with elastic coupler and rocker: how much does the rocker's swing differ from the rigid one?

Coupler and rocker are slender beams, each in its own floating frame with the chord between its pins as x axis. Inertia
bends them at the harmonics of the crank's speed, and most where one of these meets a frequency of the mechanism. What
the motor gives is, at any time, kinetic and strain energy and what the bars' damping has taken.
"""

from pathlib import Path
from typing import Any

import numpy as np

import flexmbs as fm
from flexmbs import view

CRANK, COUPLER, ROCKER, BASE = 0.1, 0.4, 0.3, 0.4
SPEED, TURNS = 35.0, 3
aluminium = fm.Material(young=70e9, poisson=0.33, density=2700.0)
section = fm.Section.rectangle(b=0.02, h=0.006)


def bar(name: str, length: float, elastic: bool) -> tuple[Any, fm.Frame, fm.Frame]:
    """A bar with its pins."""
    body = fm.FlexibleBody(
        name, fm.Mesh.line((0, 0, 0), (length, 0, 0), 8), aluminium, section=section, interfaces=["start", "end"],
        reduction=fm.CraigBampton(modes=4), damping=0.005,
    )  # fmt: skip
    if elastic:
        return body, body.at("start"), body.at("end")
    return (twin := body.rigid()), twin.at(0, 0, 0), twin.at(length, 0, 0)


def turn(elastic: bool) -> tuple[fm.Result, fm.Revolute, list[Any]]:
    """The motion, the pivot of the rocker, and both bars."""
    ground = fm.Ground()
    crank = fm.RigidBody.box("crank", size=(CRANK, 0.02, 0.006), density=2700.0)
    coupler, near, far = bar("coupler", COUPLER, elastic)
    rocker, foot, head = bar("rocker", ROCKER, elastic)
    shaft = fm.Revolute("shaft", ground.at(0, 0, 0), crank.at(-CRANK / 2, 0, 0))
    pin = fm.Revolute("pin", crank.at(CRANK / 2, 0, 0), near, start=0.8)
    pivot = fm.Revolute("pivot", ground.at(BASE, 0, 0), foot, start=1.5)
    motor = fm.Drive("motor", shaft.angle, fm.SpinUp(SPEED, over=0.1))
    linkage = fm.System([ground, crank, coupler, rocker], [shaft, pin, pivot, fm.Spherical("joint", far, head), motor])
    t_end = 0.05 + TURNS * 2 * np.pi / SPEED
    return fm.forward_dynamics(linkage, t_end=t_end, step=1e-4, output_step=1e-3), pivot, [coupler, rocker]


motion, pivot, bars = turn(elastic=True)
rigid, rigid_pivot, _ = turn(elastic=False)
bends = [motion.deflection(b.at(b.reduced.mesh.size / 2, 0, 0), ("start", "end"))[:, 1] for b in bars]
swing = motion.coordinate(pivot.angle) - rigid.coordinate(rigid_pivot.angle)
energy = motion.energy
unexplained = np.abs(energy.drift).max() / energy.kinetic.max()
for body, bend in zip(bars, bends, strict=True):
    print(f"the {body.name} bends by up to {1e3 * np.abs(bend).max():.3f} mm at its middle")
print(f"the rocker's angle differs from the rigid one by up to {1e3 * np.abs(swing).max():.3f} mrad")
print(f"work and energy agree to {unexplained:.1e}")

if __name__ == "__main__":
    moment = float(motion.t[np.abs(bends[0]).argmax()])
    picture = view.snapshot(
        motion, Path("flexible_four_bar.png").absolute(), at=moment, color="von_mises", scale="auto", look=(0, 0, 1)
    )
    print(f"The linkage is in {picture}")
