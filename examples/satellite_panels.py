"""A satellite with flexible panels is turned by its wheels: the turn ends, its panels go on waving.

A torque one way and then the other turns the free-flying satellite by an angle; its angular momentum is the torque's
impulse at any time, and zero again at the end, wherever its parts then are. What energy is left is that of the waving
panels: hub and panels move against each other with no momentum at all.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

TORQUE, HALF = 100.0, 4.0  # N m, s
laminate = fm.Material(young=10e9, poisson=0.3, density=400.0)


def panel(name: str) -> fm.FlexibleBody:
    """A plate of 5 m in its own axes, held at its root."""
    mesh = fm.Mesh.box((5.0, 0.02, 1.6), (10, 1, 3), origin=(0.0, -0.01, -0.8))
    return fm.FlexibleBody(name, mesh, laminate, fixed="x0", reduction=fm.ModalTruncation(modes=6))


hub = fm.RigidBody.box("hub", size=(1.4, 1.4, 1.8), density=250.0, position=(0, 0, 0), rotation=np.eye(3))
left, right = panel("left panel"), panel("right panel")
hinges = [
    fm.Fixed("right root", hub.at(0.7, 0, 0), right.at()),
    fm.Fixed("left root", hub.at(-0.7, 0, 0, axes=("z", np.pi)), left.at()),
]
edge = 0.2  # s, for the torque to change
one_way, back, off = (
    fm.SmoothStep(0.0, factor * TORQUE, start=start, duration=edge)
    for factor, start in ((1, 0.0), (-2, HALF), (1, 2 * HALF))
)
pulse = one_way + back + off
wheels = fm.AppliedForce("wheels", hub.at(0, 0, 0), torque=(0.0, 0.0, pulse))
satellite = fm.System([hub, left, right], hinges, [wheels])
motion = fm.forward_dynamics(satellite, t_end=14.0, step=0.01)

waving = motion.deflection(right.at("x1"))[:, 1]
angle = motion.rotation_vector(hub)[:, 2]
spin = motion.momentum.angular[:, 2]
torque = pulse.value(motion.t)
impulse = np.append(0.0, np.cumsum(np.diff(motion.t) * (torque[1:] + torque[:-1]) / 2))
rest = motion.t > 2 * HALF + edge
print(f"the hub turns by {np.degrees(angle[-1]):.2f}°, and sways on by {np.degrees(np.ptp(angle[rest])) / 2:.3f}°")
print(f"the panels' tips wave by {1e3 * np.abs(waving[rest]).max():.1f} mm at the end")
print(f"angular momentum is the impulse of the torque to {np.abs(spin - impulse).max() / spin.max():.1e}")

if __name__ == "__main__":
    curves = [("hub [°]", np.degrees(angle)), ("tip of a panel [mm]", 1e3 * waving), ("momentum [N m s]", spin)]
    view.plot(motion, curves, title="satellite").savefig("satellite_panels_motion.png")
    path, look = Path("satellite_panels.png").absolute(), (0.5, -0.8, 0.6)
    picture = view.snapshot(motion, path, at=4.4, color="displacement", scale=20, look=look)
    print(f"The satellite is in {picture}")
