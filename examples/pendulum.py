"""A pendulum let go from the horizontal: its period, far from that of small swings.

The period of a pendulum of length L from the amplitude α is T = 4 √(L/g) K(sin² α/2), K the complete elliptic integral
of the first kind. From α = 90° it is 18 % longer than 2π √(L/g).
"""

from pathlib import Path

import numpy as np
from scipy.special import ellipk

import flexmbs as fm
from flexmbs import view

LENGTH, G = 1.0, 9.81

ground = fm.Ground()
bob = fm.PlanarBody("pendulum", mass=1.0, inertia=0.0, center=(0.0, -LENGTH), angle=-np.pi / 2)
pivot = fm.planar.Revolute("pivot", ground.at(0, 0), bob.at(0, 0))
pendulum = fm.System([ground, bob], [pivot], [fm.Gravity((0.0, -G, 0.0))])

exact = 4 * np.sqrt(LENGTH / G) * ellipk(np.sin(np.pi / 4) ** 2)
motion = fm.forward_dynamics(
    pendulum, t_end=2 * exact, step=0.02, output_step=0.02, integrator=fm.TangentSpaceODE(rtol=1e-10, atol=1e-12)
)
angle = motion.coordinate(pivot.angle)

# times at which it swings through the lowest point to the right, from cubics through the four instants around
falls = np.flatnonzero((angle[:-1] < 0) & (angle[1:] >= 0))
around = [slice(k - 1, k + 3) for k in falls]
times = [np.polynomial.Polynomial.fit(angle[near], motion.t[near], 3)(0.0) for near in around]
period = times[1] - times[0]

print(motion.summary())
print(
    f"\nperiod {period:.6f} s; by the elliptic integral {exact:.6f} s, for small swings {2 * np.pi / np.sqrt(G):.6f} s"
)
print(f"largest pull of the pivot {motion.reaction(pivot)[:, 1].max():.4f} N = 3 m g")

if __name__ == "__main__":
    swing = fm.forward_dynamics(pendulum, t_end=exact / 2, step=2e-3, output_step=0.02)
    print(f"The swing is in {view.snapshot(swing, Path('pendulum.png').absolute(), at=0.4, ghosts=9)}")
    view.phase(motion, pivot.angle, title="pendulum from the horizontal").savefig("pendulum_phase.png")
