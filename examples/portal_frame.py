"""A portal frame of steel tubes: sway under a force at its corner, and its lowest frequencies.

Two columns of height h clamped at the ground, a beam of length l between them, all of one section. For slender members
(no shear, no stretch) the slope-deflection method gives the sway under a horizontal force F at the top as

    u = F h³ / (12 EI) · (3 k + 2) / (6 k + 1),   k = h / l.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

HEIGHT, LENGTH, FORCE = 3.0, 4.0, 1000.0

steel = fm.Material(young=210e9, poisson=0.3, density=7850.0, name="steel")
tube = fm.Section.tube(0.06, 0.052)
corners = [(0, 0, 0), (0, 0, HEIGHT), (LENGTH, 0, HEIGHT), (LENGTH, 0, 0)]
members = [fm.Mesh.line(a, b, 12) for a, b in pairwise(corners)]
frame = members[0].joined(members[1]).joined(members[2]).merged_nodes()
frame = frame.with_nodes("ground", lambda x, y, z: z == 0.0).with_nodes("corner", [frame.nearest_node(corners[1])])
frame = frame.replace(node_sets={name: frame.nodes(name) for name in ("ground", "corner")}, name="portal frame")

swayed = fm.statics(frame, steel, fm.Force("corner", (FORCE, 0.0, 0.0)), fixed="ground", section=tube)
sway = swayed.displacement[frame.nodes("corner")[0], 0]
k = HEIGHT / LENGTH
by_hand = FORCE * HEIGHT**3 / (12 * steel.young * tube.Iz) * (3 * k + 2) / (6 * k + 1)
modes = fm.modes(frame, steel, fixed="ground", section=tube, count=6)

print(f"sway {1e3 * sway:.3f} mm; by hand, without shear and stretch, {1e3 * by_hand:.3f} mm")
print(f"largest fibre stress {swayed.stress.nodal.max() / 1e6:.1f} MPa")
print(f"the ground holds {np.round(swayed.reaction('ground')[:3], 6)} N\n")
print(modes.table())

if __name__ == "__main__":
    print(f"\nThe swaying frame is in {view.deformed(swayed, Path('portal_frame.png').absolute())}")
    print(f"The shapes are in {view.modes(modes, Path('portal_frame_modes.png').absolute())}")
