"""Cook's membrane: a tapered panel sheared at its end, the standard test of plane elements in bending.

Corners (0, 0), (48, 44), (48, 60), (0, 44), thickness 1, E = 1, ν = 1/3, plane stress, clamped at the left, unit force
spread over the right edge. The vertical displacement of the middle of that edge converges to 23.9677. Plain
4-node quads approach it slowly; with incompatible modes they do at once.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

REFERENCE = 23.9677
unit = fm.Material(young=1.0, poisson=1 / 3, density=1.0, name="unit")


def panel(n: int, cell: str) -> fm.Mesh:
    """The membrane in n × n cells."""
    square = fm.Mesh.rectangle((1.0, 1.0), (n, n), cell=cell)
    return square.mapped(lambda x, y, z: (48 * x, 44 * x + y * (44 - 28 * x))).replace(name="Cook's membrane")


def solve(n: int, cell: str, formulation: str | None = None) -> fm.StaticResult:
    """Displacements under the unit shear force."""
    return fm.statics(
        panel(n, cell), unit, fm.Traction("x1", (0.0, 1 / 16)), fixed="x0", thickness=1.0, formulation=formulation
    )


def tip(result: fm.StaticResult) -> float:
    """Vertical displacement of the middle of the right edge."""
    return float(result.displacement[result.elements.mesh.nearest_node((48.0, 52.0)), 1])


divisions = (2, 4, 8, 16)
kinds = {
    "quad, plain": ("quad", "plain"),
    "quad": ("quad", None),
    "triangle6": ("triangle6", None),
    "quad8": ("quad8", None),
}
table = {name: np.array([tip(solve(n, *kind)) for n in divisions]) for name, kind in kinds.items()}

print("cells per side   " + "".join(f"{n:>9}" for n in divisions))
for name, values in table.items():
    print(f"{name:<17}" + "".join(f"{v:9.3f}" for v in values))
print(f"reference {REFERENCE}")

if __name__ == "__main__":
    picture = view.deformed(
        solve(16, "quad8"), Path("cook_membrane.png").absolute(), scale=0.5, label="von Mises stress"
    )
    print(f"\nThe deformed membrane is in {picture}")
