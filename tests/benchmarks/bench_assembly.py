"""Assembly of stiffness and scalar mass: flexmbs beside scikit-fem, and its growth and memory alone.

    python tests/benchmarks/bench_assembly.py [--quick] [--repeat 3]

Both sides start from a fresh mesh object in the same process and end with two CSR matrices, K (3n) and the scalar mass
(n). Timed are, for flexmbs: Elements() with its check of the mesh, sparsity pattern, mass, stiffness; for scikit-fem:
both bases and both forms. Same formulation ("plain", full integration), same quadrature, best of as many runs,
compilation excluded. Corners are moved at random, so that no hexahedron is affine; edges are straight. The stiffness of
scikit-fem is its own form, models.elasticity.linear_elasticity, with nthreads=2 from 50 000 cells on; the rows "written
by hand" use the fastest of four ways found to write the same form, and stand beside without a bound. The matrices
are asserted to be equal to rounding.

Growth and memory are measured in a process per size. Growth is processor time (user and system; one thread) over
n log n, as wall time also counts waiting for other processes, which falls on the long runs; the seconds beside it are
wall time. Memory is the peak of the process above what it had before Elements(), over the bytes of both CSR matrices.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree
from table import Row, best, show

from flexmbs.fem.elements import Elements
from flexmbs.materials import Material
from flexmbs.mesh.mesh import Mesh

try:
    import skfem
    import skfem.helpers
    import skfem.io.meshio
    import skfem.models.elasticity
except ImportError:
    skfem = None

STEEL = Material(young=210e9, poisson=0.3, density=7850.0, name="steel")

CASES = (("tetra10", (12, 20), 10), ("hexahedron", (22, 37, 46), 30), ("hexahedron20", (22,), 100))
QUICK = (("tetra10", (6,), 10), ("hexahedron", (11,), 30), ("hexahedron20", (5,), 100))
GROWTH = (12, 20, 34, 55)  # 10⁴ to 10⁶ quadratic tetrahedra
GROWTH_QUICK = (6, 12)

DEGREES = {"tetra10": (2, 4), "hexahedron": (3, 4), "hexahedron20": (5, 6)}
"""Of stiffness and mass. A straight tetrahedron's mass has degree 4; flexmbs scales that of the reference cell."""


def linear_mesh(cell: str, divisions: int) -> Mesh:
    """A unit cube of linear cells whose inner nodes are moved at random by up to a tenth of a cell."""
    mesh = Mesh.box((1.0, 1.0, 1.0), (divisions,) * 3, cell="tetra" if cell == "tetra10" else "hexahedron")
    points = mesh.points.copy()
    inside = ((points > 1e-9) & (points < 1 - 1e-9)).all(axis=1)
    points[inside] += np.random.default_rng(7).uniform(-0.1, 0.1, (inside.sum(), 3)) / divisions
    return Mesh(points, mesh.cells)


def assemble(mesh: Mesh) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and scalar mass by flexmbs."""
    elements = Elements(mesh, STEEL, formulation="plain")
    return elements.assemble(elements.stiffness()), elements.scalar_mass


class Peer:
    """The same matrices by scikit-fem."""

    def __init__(self, cell: str, linear: Mesh) -> None:
        cells = linear.cells[0]
        self.element = {
            "tetra10": skfem.ElementTetP2,
            "hexahedron": skfem.ElementHex1,
            "hexahedron20": skfem.ElementHexS2,
        }[cell]
        order = skfem.io.meshio.INV_HEX_MAPPING[:8] if cells.type == "hexahedron" else range(4)
        self.kind = skfem.MeshHex1 if cells.type == "hexahedron" else skfem.MeshTet1
        self.arrays = linear.points.T.copy(), cells.nodes[:, list(order)].T.copy()
        self.degrees = DEGREES[cell]
        self.threads = 2 if len(cells) >= 50_000 else 0

    def fresh(self) -> Any:
        """A mesh object that has no tables yet."""
        return self.kind(*self.arrays)

    def assemble(self, mesh: Any, by_hand: bool = False) -> tuple[Any, Any, Any, Any]:
        """Stiffness, mass, and their bases; the elastic form is the library's own, or a faster one."""
        density = STEEL.density
        lame, shear = skfem.models.elasticity.lame_parameters(STEEL.young, STEEL.poisson)

        def elastic(u: Any, v: Any, _: Any) -> Any:
            e = u.grad + u.grad.swapaxes(0, 1)
            return lame * skfem.helpers.div(u) * skfem.helpers.div(v) + shear * skfem.helpers.ddot(e, v.grad)

        form = skfem.BilinearForm(elastic) if by_hand else skfem.models.elasticity.linear_elasticity(lame, shear)
        form.nthreads = self.threads
        vectors = skfem.Basis(mesh, skfem.ElementVector(self.element()), intorder=self.degrees[0])
        scalars = skfem.Basis(mesh, self.element(), intorder=self.degrees[1])
        stiffness = form.assemble(vectors)
        mass = skfem.BilinearForm(lambda u, v, _: density * u * v, nthreads=self.threads).assemble(scalars)
        return stiffness, mass, vectors, scalars


def assert_equal(mesh: Mesh, ours: tuple[Any, Any], peer: tuple[Any, Any, Any, Any]) -> None:
    """Both matrices agree to rounding when the peer's coordinates are put in our order."""
    stiffness, mass, vectors, scalars = peer
    distance, at = cKDTree(scalars.doflocs.T).query(mesh.points)
    assert distance.max() < 1e-12
    place = np.empty_like(at)  # scalar number -> column in the tables below
    tables = [np.hstack([t for t in (b.nodal_dofs, b.edge_dofs) if len(t)]) for b in (scalars, vectors)]
    place[tables[0][0]] = np.arange(len(at))
    order = tables[1][:, place[at]].T.ravel()
    for mine, other, numbers in ((ours[0], stiffness, order), (ours[1], mass, at)):
        other = sp.csr_array(other)[numbers][:, numbers]
        difference = abs(mine - other).max() / abs(other).max()
        assert difference < 1e-12, f"matrices differ by {difference:.1e}"


def beside_skfem(quick: bool, repeat: int) -> Iterator[Row]:
    """Times of both sides."""
    for cell, sizes, wanted in QUICK if quick else CASES:
        for divisions in sizes:
            linear = linear_mesh(cell, divisions)
            mesh = linear if cell == "hexahedron" else linear.to_quadratic()
            assemble(Mesh.box((1.0, 1.0, 1.0), 1, cell=cell))  # compile
            head = (f"{cell}, K + mass", f"{mesh.n_cells} cells", "scikit-fem / flexmbs")
            bound = "" if quick else f">= {wanted}"
            if skfem is None:
                seconds, _ = best(assemble, repeat, lambda mesh=mesh: Mesh(mesh.points, mesh.cells))
                yield Row(*head, None, bound, seconds, note="scikit-fem is missing: pip install 'flexmbs[bench]'")
                continue
            peer = Peer(cell, linear)
            seconds = peer_seconds = np.inf
            for _ in range(repeat):  # in turns: a busy moment of the machine should not be charged to one side
                now, ours = best(assemble, 1, lambda mesh=mesh: Mesh(mesh.points, mesh.cells))
                peer_now, theirs = best(peer.assemble, 1, peer.fresh)
                seconds, peer_seconds = min(seconds, now), min(peer_seconds, peer_now)
            assert_equal(mesh, ours, theirs)
            yield Row(*head, peer_seconds / seconds, bound, seconds, peer_seconds)
            by_hand, _ = best(lambda fresh, peer=peer: peer.assemble(fresh, by_hand=True), 1, peer.fresh)
            yield Row(f"{cell}, peer's form written by hand", *head[1:], by_hand / seconds, "", seconds, by_hand)


def alone(quick: bool, repeat: int) -> Iterator[Row]:
    """Growth and memory of flexmbs, tetra10, each size in a process of its own."""
    first = None
    for divisions in GROWTH_QUICK if quick else GROWTH:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mesh.npz"
            mesh = linear_mesh("tetra10", divisions).to_quadratic()
            np.savez(path, points=mesh.points, nodes=mesh.cells[0].nodes)
            count = mesh.n_cells
            del mesh
            command = [sys.executable, __file__, "--measure", str(path), "--repeat", str(repeat)]
            run = subprocess.run(command, capture_output=True, text=True, env=os.environ)
        if run.returncode:
            raise RuntimeError(run.stderr)
        found = json.loads(run.stdout)
        per = found["processor"] / (count * np.log(count))
        first = first or per
        size = f"{count} cells"
        yield Row("tetra10, K + mass", size, "CPU/(n log n), to the first", per / first, "<= 1.5", found["seconds"])
        small = found["matrices"] < 2e8  # the work arrays of the libraries themselves count there
        yield Row("tetra10, K + mass", size, "peak memory / CSR", found["peak"], "" if small else "<= 3")


def measure(path: str, repeat: int) -> dict[str, float]:
    """Time and memory of one mesh in this process."""
    assemble(Mesh.box((1.0, 1.0, 1.0), 2, cell="tetra10"))
    with np.load(path) as arrays:
        points, nodes = arrays["points"], arrays["nodes"]
    mesh = Mesh(points, [("tetra10", nodes)])
    before = _memory("VmRSS")
    stiffness, mass = assemble(mesh)
    peak = _memory("VmHWM") - before
    matrices = sum(a.nbytes for m in (stiffness, mass) for a in (m.data, m.indices, m.indptr))
    del stiffness, mass
    seconds = processor = np.inf
    for _ in range(repeat):
        start = time.process_time()
        seconds = min(seconds, best(assemble, 1, lambda: Mesh(points, mesh.cells))[0])
        processor = min(processor, time.process_time() - start)
    return {"seconds": seconds, "processor": processor, "peak": peak / matrices, "matrices": matrices}


def _memory(key: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM at the highest (Linux; ru_maxrss would inherit the parent's peak)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(key + ":"))


def rows(quick: bool = False, repeat: int = 3) -> Iterator[Row]:
    """All rows of this benchmark."""
    yield from beside_skfem(quick, 1 if quick else repeat)
    yield from alone(quick, 1 if quick else repeat)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, one run each")
    parser.add_argument("--repeat", type=int, default=3, help="take the best of this many runs")
    parser.add_argument("--measure", metavar="MESH", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.repeat)))
    else:
        show(rows(arguments.quick, arguments.repeat))


if __name__ == "__main__":
    main()
