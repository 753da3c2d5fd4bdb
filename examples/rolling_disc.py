"""A thin disc rolls without slip round a circle, leaning inward; given a push, it wobbles about it.

A disc of radius r leans by θ from the upright while its centre runs round a circle of radius ρ with angular velocity Ω.
Weight, centrifugal force and the change of angular momentum balance about the centre if

    Ω² = 4 g tan θ / (6 ρ + r sin θ),

with moments of inertia m r²/4 across and m r²/2 about the axis. The rows of velocities that exclude slip do no work.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view
from flexmbs.rotations import axis_angle

MASS, R, RHO, LEAN, G = 1.0, 0.3, 0.8, np.radians(20.0), 9.81

rate = np.sqrt(4 * G * np.tan(LEAN) / (6 * RHO + R * np.sin(LEAN)))  # Ω
axis = np.array([np.cos(LEAN), 0.0, np.sin(LEAN)])  # of the disc, at the start
spin = -rate * (RHO + R * np.sin(LEAN)) / R  # about it, as the contact point must not slip


def rolling(push: float) -> tuple[fm.RigidBody, fm.System]:
    """The disc on its circle, with a lean rate [rad/s] on top."""
    ground, turned = fm.Ground(), axis_angle("y", np.pi / 2 - LEAN)
    omega = rate * np.array([0.0, 0.0, 1.0]) + spin * axis - push * np.array([0.0, 1.0, 0.0])
    disc = fm.RigidBody(
        "disc",
        mass=MASS,
        inertia=MASS * R**2 * np.array([0.25, 0.25, 0.5]),
        position=(RHO, 0.0, R * np.cos(LEAN)),
        rotation=turned,
        velocity=np.cross(omega, R * np.array([-np.sin(LEAN), 0.0, np.cos(LEAN)])),
        angular_velocity=turned.T @ omega,
    )
    wheel = fm.RollingDisc("wheel", ground.at(0, 0, 0), disc.at(0, 0, 0), radius=R, axis="z", normal="z")
    return disc, fm.System([ground, disc], [wheel], [fm.Gravity((0.0, 0.0, -G))])


disc, system = rolling(push=0.0)
turn = 2 * np.pi / rate
steady = fm.forward_dynamics(system, t_end=turn, step=2e-3, output_step=0.02)
radius = np.hypot(*steady.position(disc)[:, :2].T)
home = np.linalg.norm(steady.position(disc)[-1] - [RHO, 0.0, R * np.cos(LEAN)])

wobbling, pushed = rolling(push=0.8)
wobble = fm.forward_dynamics(pushed, t_end=turn, step=2e-3, output_step=0.02)
energy = wobble.energy.total
print(f"one round takes {turn:.4f} s; the centre keeps its circle within {np.abs(radius - RHO).max():.1e} m")
print(f"after one round it is {home:.1e} m from where it began")
print(f"pushed, it wobbles between lean rates; its energy changes by {np.ptp(energy) / energy[0]:.1e} of itself")

if __name__ == "__main__":
    picture = view.snapshot(wobble, Path("rolling_disc.png").absolute(), at=0.8 * turn, traces=[wobbling], ghosts=7)
    print(f"\nThe wobbling disc is in {picture}")
