"""A cam under a flat follower: how fast may it turn before the follower lifts off?

With the support function p(ψ), the distance from the axis of the tangent with normal n(ψ), the outline of the cam is
c = p n + p' n', and a flat follower is lifted to p(π/2 - θ) at the angle θ of the shaft. A spring presses it down by
F + k (y - r), so that the contact force is m ω² p'' + k (p - r) + F. It stays positive below the speed

    ω² = min (k (p - r) + F) / (-m p'')   over all ψ with p'' < 0.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

BASE, LIFT, MASS, STIFFNESS, PRELOAD = 0.020, 0.008, 0.15, 15e3, 100.0  # m, m, kg, N/m, N

# p = r + lift ((1 + cos ψ)/2)³, a polynomial of cos ψ with its derivatives
law = np.polynomial.Polynomial([0.5, 0.5]) ** 3 * LIFT + BASE
slope, bend = law.deriv(), law.deriv(2)


def support(angle):
    """p, p' and p'' at the angle ψ."""
    c, s = np.cos(angle), np.sin(angle)
    return law(c), -s * slope(c), s * s * bend(c) - c * slope(c)


def outline(angle):
    """Point of the cam with normal (cos ψ, sin ψ)."""
    p, p1, _ = support(angle)
    return p * np.cos(angle) - p1 * np.sin(angle), p * np.sin(angle) + p1 * np.cos(angle)


normals = np.linspace(0, 2 * np.pi, 3601)
p, _, p2 = support(normals)
assert (p + p2).min() > 0, "the outline is convex: its radius of curvature is p + p''"
limit = np.sqrt(np.min((STIFFNESS * (p - BASE) + PRELOAD)[p2 < 0] / (-MASS * p2[p2 < 0])))
print(f"by the formula the follower lifts off at {limit * 60 / (2 * np.pi):.0f} turns per minute")

ground = fm.Ground()
cam = fm.PlanarBody("cam", mass=0.5, inertia=1e-4)
follower = fm.PlanarBody("follower", MASS, inertia=1e-5)
shaft = fm.planar.Revolute("shaft", ground.at(0, 0), cam.at(0, 0))
guide = fm.planar.Prismatic("guide", ground.at(0, 0), follower.at(0, 0), axis="y", start=BASE)
contact = fm.planar.Cam(
    "cam pair", cam.at(0, 0), follower.at(0, 0), fm.planar.Curve(outline), fm.planar.Line(reach=0.03)
)
motor = fm.Drive("motor", shaft.angle, fm.ConstantSpeed(limit))
spring = fm.SpringDamper("spring", guide.distance, stiffness=STIFFNESS, rest=BASE - PRELOAD / STIFFNESS)
valve = fm.System([ground, cam, follower], [shaft, guide, contact, motor], [spring])
print(valve.report(), "\n")

motion = fm.inverse_dynamics(valve, np.linspace(0, 2 * np.pi / limit, 721))
angle, y = motion.coordinate(shaft.angle), motion.coordinate(guide.distance)
expected = support(np.pi / 2 - angle)
lift_error = np.abs(y - expected[0]).max()
force = motion.reaction(contact)[:, 1]
force_error = np.abs(force - (MASS * limit**2 * expected[2] + STIFFNESS * (expected[0] - BASE) + PRELOAD)).max()
torque = motion.reaction(motor)
print(f"at that speed: contact force {force.min():.2f} to {force.max():.1f} N, torque up to {torque.max():.2f} Nm")
print(f"against the formulas the lift is off by {lift_error:.1e} m, the force by {force_error:.1e} N")

if __name__ == "__main__":
    view.plot(motion, [("lift [mm]", 1e3 * (y - BASE)), ("contact force [N]", force)]).savefig("cam_follower_plot.png")
    picture = view.snapshot(motion, Path("cam_follower.png").absolute(), at=motion.t[[0, 180, 420]])
    print(f"\nThe cam is in {picture}")
