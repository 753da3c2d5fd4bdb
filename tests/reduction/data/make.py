"""Write bar.inp and run CalculiX on it: two bricks, free, matrices stored. Run by hand; needs ccx."""

from __future__ import annotations

import subprocess
from pathlib import Path

import flexmbs as fm

HERE = Path(__file__).parent


def main() -> None:
    mesh = fm.Mesh.box((0.2, 0.02, 0.03), (2, 1, 1), cell="hexahedron")
    nodes = [f"{k + 1}, {x:.17g}, {y:.17g}, {z:.17g}" for k, (x, y, z) in enumerate(mesh.points)]
    cells = [", ".join(str(n) for n in (k + 1, *(c + 1))) for k, c in enumerate(mesh.cells[0].nodes)]
    text = [
        *("*NODE", *nodes, "*ELEMENT, TYPE=C3D8, ELSET=ALL", *cells, "*MATERIAL, NAME=STEEL", "*ELASTIC"),
        *("210e9, 0.3", "*DENSITY", "7850.", "*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL", "*STEP"),
        *("*FREQUENCY, SOLVER=MATRIXSTORAGE", "*END STEP"),
    ]
    (HERE / "bar.inp").write_text("\n".join(text) + "\n")
    subprocess.run(["ccx", "bar"], cwd=HERE, check=True, stdout=subprocess.DEVNULL)
    for left in HERE.glob("bar.*"):
        if left.suffix not in (".inp", ".sti", ".mas", ".dof"):
            left.unlink()


if __name__ == "__main__":
    main()
