"""Bricard's six-bar linkage: a closed chain of six hinges that should not move, and does.

Six links along edges of a cube, joined by hinges across them; the first is the ground. Grübler counts
6 · 5 - 6 · 5 = 0 degrees of freedom, but one row follows from the others in every position, so that one motion is left.
Every other hinge turns alike, and with φ, ψ the angles between successive links the motion fulfils (Chen, You, Tarnai
2005)

    cos φ + cos ψ + cos φ cos ψ = 0.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]], dtype=float)
EDGES = np.roll(CORNERS, -1, axis=0) - CORNERS
MIDDLES = CORNERS + EDGES / 2

links = [fm.Ground()]
for k in range(1, 6):  # bars 0.1 thick; at the start the axes of all bodies are the global ones
    size = np.where(EDGES[k] == 0, 0.1, 1.0)
    links.append(fm.RigidBody.box(f"bar {k}", size, density=100.0, position=MIDDLES[k], rotation=np.eye(3)))
origins = np.vstack([np.zeros(3), MIDDLES[1:]])
hinges = [
    fm.Revolute(
        f"hinge {k}",
        links[k - 1].at(*(CORNERS[k] - origins[k - 1])),
        links[k].at(*(CORNERS[k] - origins[k])),
        axis=np.cross(EDGES[k - 1], EDGES[k]),
    )
    for k in range(6)
]
linkage = fm.System(links, hinges, [fm.Gravity((0.0, 0.0, -9.81))])
print(linkage.report(), "\n")

motion = fm.forward_dynamics(linkage, t_end=5.0, step=1e-3, output_step=0.02)
precise = fm.forward_dynamics(linkage, t_end=5.0, step=0.02, integrator=fm.TangentSpaceODE())
print(motion.summary(), "\n")

phi, psi = (np.pi / 2 + motion.coordinate(hinges[k].angle) for k in (1, 2))
misfit = np.abs(np.cos(phi) + np.cos(psi) + np.cos(phi) * np.cos(psi)).max()
apart = np.abs(motion.position(links[3]) - precise.position(links[3])).max()
print(f"the hinges miss the closed form by {misfit:.1e}; the two integrators differ by {apart:.1e} m after 5 s")

if __name__ == "__main__":
    print(f"\nThe linkage is in {view.snapshot(motion, Path('bricard.png').absolute(), at=[0.0, 0.7, 1.6])}")
    view.phase(motion, hinges[1].angle, title="Bricard's linkage").savefig("bricard_phase.png")
