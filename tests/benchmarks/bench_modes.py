"""Twenty modes of a clamped part in quadratic tetrahedra: flexmbs beside SciPy's shift-invert and CalculiX.

    python tests/benchmarks/bench_modes.py [--nodes 20000] [--count 20] [--repeat 1]

Every solver gets the same matrices and only the eigenvalue problem is timed; whole runs read the same mesh and assemble
too. Frequencies must agree to 1e-6, CalculiX' to 1e-4 (3e-4 below 10 000 nodes: its mass matrix differs a little, which
shows on coarse meshes). Needs gmsh (extra `bench`); CalculiX if it is installed (Debian: calculix-ccx).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import gmsh
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from table import Row, best, show

from flexmbs.fem.elements import Elements
from flexmbs.linalg import available_solvers, factorize, smallest_modes
from flexmbs.materials import Material
from flexmbs.mesh.mesh import Mesh
from flexmbs.projection import Projection

STEEL = Material(young=210e9, poisson=0.3, density=7850.0, name="steel")


def bored_block(nodes: int, folder: Path) -> Mesh:
    """Block of 300 × 100 × 60 mm with two bores, set `held` on one end, with about this many nodes."""
    size = 0.24 * nodes ** (-1 / 3)
    path = folder / "block.msh"
    for _ in range(6):
        gmsh.initialize()
        gmsh.option.setNumber("General.Terminal", 0)
        shape = gmsh.model.occ
        block = shape.addBox(0, -0.05, -0.03, 0.3, 0.1, 0.06)
        bores = [shape.addCylinder(x, 0, -0.1, 0, 0, 0.2, r) for x, r in ((0.06, 0.025), (0.24, 0.02))]
        shape.cut([(3, block)], [(3, bore) for bore in bores])
        shape.synchronize()
        end = gmsh.model.getEntitiesInBoundingBox(-1e-6, -1, -1, 1e-6, 1, 1, dim=2)
        gmsh.model.addPhysicalGroup(2, [tag for _, tag in end], name="held")
        gmsh.model.addPhysicalGroup(3, [tag for _, tag in gmsh.model.getEntities(3)], name="block")
        gmsh.option.setNumber("Mesh.MeshSizeMax", size)
        gmsh.option.setNumber("Mesh.MeshSizeMin", size / 2)
        gmsh.option.setNumber("Mesh.SecondOrderLinear", 1)
        gmsh.model.mesh.generate(3)
        gmsh.model.mesh.setOrder(2)
        gmsh.write(str(path))
        found = len(gmsh.model.mesh.getNodes()[0])
        gmsh.finalize()
        if abs(found / nodes - 1) < 0.04:
            break
        size *= (found / nodes) ** (1 / 2.8)
    return Mesh.read(path)


def clamped(mesh: Mesh) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Stiffness and mass of the block, held at one end."""
    elements = Elements(mesh, STEEL)
    A = elements.connectivity() @ Projection.fix(mesh, "held")
    return A.project(elements.stiffness()), A.project(elements.mass())


def scipys(K: sp.csr_matrix, M: sp.csr_matrix, count: int) -> np.ndarray:
    """Frequencies [Hz] from SciPy's shift-invert with its default factorisation."""
    return np.sqrt(sla.eigsh(K, count, M, sigma=0)[0]) / (2 * np.pi)


def ours(K: sp.csr_matrix, M: sp.csr_matrix, count: int, solver: str | None = None) -> np.ndarray:
    """Frequencies [Hz] from flexmbs."""
    return np.sqrt(smallest_modes(K, M, count, solver=solver)[0]) / (2 * np.pi)


def calculix(mesh: Mesh, count: int, folder: Path) -> np.ndarray:
    """Frequencies [Hz] from CalculiX on the same mesh."""
    cells = mesh.cells[0].nodes + 1
    lines = ["*NODE, NSET=ALL"]
    lines += [f"{i}, {x:.12g}, {y:.12g}, {z:.12g}" for i, (x, y, z) in enumerate(mesh.points, 1)]
    lines += ["*ELEMENT, TYPE=C3D10, ELSET=PART"]
    lines += [f"{i}, " + ", ".join(map(str, nodes)) for i, nodes in enumerate(cells, 1)]
    lines += ["*NSET, NSET=HELD"]
    lines += [f"{node + 1}," for node in mesh.nodes("held")]
    lines += ["*MATERIAL, NAME=STEEL", "*ELASTIC", f"{STEEL.young}, {STEEL.poisson}", "*DENSITY", f"{STEEL.density}"]
    lines += ["*SOLID SECTION, ELSET=PART, MATERIAL=STEEL", "*BOUNDARY", "HELD, 1, 3"]
    lines += ["*STEP", "*FREQUENCY", f"{count}", "*END STEP", ""]
    (folder / "part.inp").write_text("\n".join(lines))
    environment = os.environ | {"OMP_NUM_THREADS": str(os.cpu_count())}
    run = subprocess.run(["ccx", "part"], cwd=folder, env=environment, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"ccx failed: {run.stdout[-2000:]}")
    rows = [line.split() for line in (folder / "part.dat").read_text().splitlines()]
    first = next(i for i, row in enumerate(rows) if row[:1] == ["1"])
    return np.array([float(row[3]) for row in rows[first : first + count]])


def rows(quick: bool = False, nodes: int = 20_000, count: int = 20, repeat: int = 1) -> Iterator[Row]:
    """All solvers, SciPy's time over theirs; and whole runs, CalculiX' over ours."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mesh = bored_block(3000 if quick else nodes, folder)
        K, M = clamped(mesh)
        factorize(np.eye(300) + np.eye(300, k=1) / 4 + np.eye(300, k=-1) / 4)  # compile (cached between runs)
        size = f"{len(mesh.points)} nodes"

        seconds, reference = timed(partial(scipys, K, M, count), repeat)
        for solver in available_solvers():
            ours_seconds, found = timed(partial(ours, K, M, count, solver), repeat)
            np.testing.assert_allclose(np.sort(found), np.sort(reference), rtol=1e-6, err_msg=solver)
            yield Row(
                f"{count} modes, {solver}", size, "SciPy's eigsh / flexmbs", seconds / ours_seconds, "",
                ours_seconds, seconds,
            )  # fmt: skip
        whole, found = timed(lambda: ours(*clamped(Mesh.read(folder / "block.msh")), count), repeat)
        np.testing.assert_allclose(np.sort(found), np.sort(reference), rtol=1e-6, err_msg="whole run")
        head = f"{count} modes, mesh file to frequencies", size, "CalculiX / flexmbs"
        if not shutil.which("ccx"):
            yield Row(*head, None, "", whole, note="CalculiX is not installed (Debian: calculix-ccx)")
            return
        peer, found = timed(partial(calculix, mesh, count, folder), repeat)
        tolerance = 1e-4 if len(mesh.points) > 10_000 else 3e-4
        np.testing.assert_allclose(np.sort(found), np.sort(reference), rtol=tolerance, err_msg="CalculiX")
        yield Row(*head, peer / whole, "", whole, peer)


def timed(run: Callable[[], np.ndarray], repeat: int) -> tuple[float, np.ndarray]:
    """Least wall time of some runs, and what came out."""
    return best(lambda _: run(), repeat, lambda: None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=1, help="take the best of this many runs")
    arguments = parser.parse_args()
    show(rows(False, arguments.nodes, arguments.count, arguments.repeat))
