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
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import gmsh
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from flexmbs.fem.elements import Elements
from flexmbs.linalg import available_solvers, factorize, smallest_modes
from flexmbs.materials import Material
from flexmbs.mesh.mesh import Mesh
from flexmbs.projection import Projection

STEEL = Material(young=210e9, poisson=0.3, density=7850.0, name="steel")
OUR_RUN, CALCULIX_RUN = "flexmbs, whole run", "CalculiX, whole run"


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=1, help="take the best of this many runs")
    arguments = parser.parse_args()
    count = arguments.count
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mesh = bored_block(arguments.nodes, folder)
        K, M = clamped(mesh)
        print(f"{len(mesh.points)} nodes, {len(mesh.cells[0].nodes)} tetra10, {K.shape[0]} unknowns, {count} modes")
        factorize(np.eye(300) + np.eye(300, k=1) / 4 + np.eye(300, k=-1) / 4)  # compile (cached between runs)

        contenders: dict[str, Callable[[], np.ndarray]] = {"SciPy eigsh(K, M, sigma=0)": partial(scipys, K, M, count)}
        for solver in available_solvers():
            contenders[f"flexmbs, {solver}"] = partial(ours, K, M, count, solver)
        contenders[OUR_RUN] = lambda: ours(*clamped(Mesh.read(folder / "block.msh")), count)
        if shutil.which("ccx"):
            contenders[CALCULIX_RUN] = partial(calculix, mesh, count, folder)

        seconds: dict[str, float] = {}
        reference: np.ndarray | None = None
        for title, run in contenders.items():
            seconds[title] = np.inf
            for _ in range(arguments.repeat):
                start = time.perf_counter()
                frequencies = run()
                seconds[title] = min(seconds[title], time.perf_counter() - start)
            reference = frequencies if reference is None else reference
            tolerance = 1e-6
            if title == CALCULIX_RUN:
                tolerance = 1e-4 if len(mesh.points) > 10_000 else 3e-4
            np.testing.assert_allclose(np.sort(frequencies), np.sort(reference), rtol=tolerance, err_msg=title)
    baseline = next(iter(seconds.values()))
    print(f"{'':32}{'seconds':>10}{'SciPy / this':>16}")
    for title, value in seconds.items():
        print(f"{title:32}{value:10.2f}{baseline / value:16.1f}")
    if CALCULIX_RUN in seconds:
        print(f"whole runs, CalculiX / flexmbs: {seconds[CALCULIX_RUN] / seconds[OUR_RUN]:.1f}")


if __name__ == "__main__":
    main()
