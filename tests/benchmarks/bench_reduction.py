"""Craig-Bampton with eight modes of a bored block in quadratic tetrahedra: flexmbs beside Exudyn.

    python tests/benchmarks/run.py reduction

Both reduce between two rigid bores. flexmbs begins at the mesh and ends at everything a flexible body needs (constants,
frames, errors; K_g counts in a row of its own); Exudyn begins at our finished M and K and ends at its mode
basis. The lowest frequencies must agree.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import scipy.linalg
from bench_modes import STEEL, bored_block
from exudyn.FEM import FEMinterface, HCBstaticModeSelection
from table import Row, best

import flexmbs as fm

MODES = 8


def rows(quick: bool) -> Iterator[Row]:
    for nodes in (3000,) if quick else (5700, 21_000):
        with tempfile.TemporaryDirectory() as folder:
            mesh = bored_block(nodes, Path(folder))
        for name, x, radius in (("one", 0.06, 0.025), ("two", 0.24, 0.02)):
            mesh = mesh.with_nodes(name, mesh.nodes_on_cylinder("z", radius, center=(x, 0.0, 0.0), tolerance=1e-4))
        ours(True, mesh)  # compile
        elements = fm.Elements(mesh, STEEL)
        matrices = tuple(elements.assemble(b) for b in (elements.mass(), elements.stiffness()))
        repeat = 1 if quick else 2
        peer_seconds, basis = best(partial(exudyns, *matrices), repeat, partial(_same, mesh))
        reference = frequencies(basis, *matrices)
        for stiffening in (False, True):
            seconds, part = best(partial(ours, stiffening), repeat, partial(_same, mesh))
            np.testing.assert_allclose(part.constants.frequencies[:6], reference[:6], rtol=1e-4)
            case = "Craig-Bampton" + (" with K_g" if stiffening else "")
            size = f"{mesh.n_nodes} nodes"
            wanted = "" if stiffening or quick else ">= 6"
            yield Row(case, size, "Exudyn / flexmbs", peer_seconds / seconds, wanted, seconds, peer_seconds)


def ours(stiffening: bool, mesh: fm.Mesh) -> fm.ReducedPart:
    """From the mesh to the reduced part, in the frame that Exudyn has."""
    elements = fm.Elements(mesh, STEEL)
    return fm.reduce(
        elements, fm.CraigBampton(MODES), interfaces=["one", "two"], frame="tangent", stiffening=stiffening
    )


def exudyns(mass: object, stiffness: object, mesh: fm.Mesh) -> np.ndarray:
    """Exudyn's mode basis (3n, modes)."""
    fem = FEMinterface()
    fem.nodes = {"Position": mesh.points}
    fem.massMatrix, fem.stiffnessMatrix = mass, stiffness
    fem.ComputeHurtyCraigBamptonModes(
        boundaryNodesList=[mesh.nodes("one"), mesh.nodes("two")],
        nEigenModes=MODES,
        useSparseSolver=True,
        computationMode=HCBstaticModeSelection.RBE2,
        timerTreshold=10**9,
    )
    return np.asarray(fem.modeBasis["matrix"])


def frequencies(basis: np.ndarray, mass: object, stiffness: object) -> np.ndarray:
    """Frequencies [Hz] of a basis."""
    k, m = (basis.T @ (a @ basis) for a in (stiffness, mass))  # type: ignore[operator]
    return np.sqrt(scipy.linalg.eigh(k, m, eigvals_only=True)) / (2 * np.pi)


def _same(mesh: fm.Mesh) -> fm.Mesh:
    return mesh
