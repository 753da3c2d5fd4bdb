"""Natural frequencies of a connecting rod held at its big end, as a table and a picture.

The eigenvalue problem is K φ = (2πf)² M φ, with the stiffness K and mass M of 10-node tetrahedra in the coordinates
that the support leaves free. Shapes have unit modal mass; m_x, m_y, m_z are modal effective masses: how much of the
part takes part when the support shakes along x, y, z.
"""

from pathlib import Path

import flexmbs as fm
from flexmbs import view

MESHES = Path(__file__).parents[1] / "meshes"

steel = fm.Material(young=210e9, poisson=0.3, density=7850.0, name="steel")
rod = fm.Mesh.read(MESHES / "connecting_rod.msh")
mass = fm.mass_properties(rod, steel)
modes = fm.modes(rod, steel, fixed="big_end", count=6)

print(rod)
print(f"mass {mass.mass:.4g} kg, centre at x = {mass.center[0]:.4g} m\n")
print(modes.table())

if __name__ == "__main__":
    print(f"\nThe shapes are in {view.modes(modes, Path('connecting_rod_modes.png').absolute())}")
