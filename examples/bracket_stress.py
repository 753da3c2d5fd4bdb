"""A bracket carries a force in its boss: how far does it give, and where is it stressed most?

Linear statics, K d = Q, of 10-node tetrahedra. The bolt holes are held; the force acts on the bore, shared by area. The
reactions of the supports must balance it exactly: force and moment.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

MESHES = Path(__file__).parents[1] / "meshes"
FORCE = np.array([0.0, 2000.0, -3000.0])  # N

aluminium = fm.Material(young=70e9, poisson=0.33, density=2700.0, name="aluminium")
bracket = fm.Mesh.read(MESHES / "bracket.inp", scale=1e-3)  # the file is in millimetres
result = fm.statics(bracket, aluminium, fm.Force("load", FORCE), fixed="bolts")

bore = bracket.nodes("load")
deflection = bracket.weights("load") @ result.displacement[bore]  # mean over the bore's area
work = FORCE @ deflection / 2
stress = result.stress.von_mises
most = int(np.argmax(stress))
reaction = result.reaction("bolts")

print(f"the boss moves by {1e3 * np.linalg.norm(deflection):.4f} mm; strain energy {result.strain_energy:.4g} J")
print(f"largest von Mises stress {stress[most] / 1e6:.1f} MPa at {np.round(bracket.points[most], 4)} m")
print(f"force of the bolts on the bracket: {np.round(reaction[:3], 6)} N")

if __name__ == "__main__":
    picture = view.deformed(result, Path("bracket_stress.png").absolute(), look=(0.8, 1.0, 0.7))
    print(f"\nThe stress is in {picture}")
