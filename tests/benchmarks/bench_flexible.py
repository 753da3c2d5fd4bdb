"""Steps of reduced flexible bodies: flexmbs beside Exudyn, in one process.

    python tests/benchmarks/run.py flexible

A bored steel block in quadratic tetrahedra swings about one bore, reduced by Craig-Bampton between its two bores. Both
programs get the same shapes, held in the first bore, and the same step; see ``peer_exudyn`` for how they are compared.
"On the frame" it turns about the bore that its floating frame is in, "on a set" about the other one, which moves with
the shapes. Stiffening is off on both sides; what it costs is said in the note.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import exudyn as exu
import numpy as np
from bench_modes import STEEL, bored_block
from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface
from exudyn.itemInterface import (
    MarkerBodyRigid,
    MarkerNodeRigid,
    MarkerSuperElementRigid,
    ObjectGround,
    ObjectJointRevoluteZ,
)
from peer_exudyn import STEP, Built, Case, row, run_ours
from table import Row

import flexmbs as fm
from flexmbs.bodies import Ground
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.fem.loads import Gravity
from flexmbs.joints import spatial
from flexmbs.reduction import CraigBampton
from flexmbs.reduction.reference import Tangent
from flexmbs.rotations import quaternion_matrix
from flexmbs.system.system import System

G = (0.0, -9.81, 0.0)
STEPS = 400
FRAME, SET = "on the frame", "on a set"
BORES = (("one", 0.0, 0.025), ("two", 0.18, 0.02))
MODES = {14: 8, 30: 24}
"""Held modes for a number of elastic coordinates: six are the interface's."""


@cache
def block(nodes: int) -> fm.Mesh:
    """The block with its first bore at the origin, and the nodes of both bores."""
    with tempfile.TemporaryDirectory() as folder:
        mesh = bored_block(nodes, Path(folder))
    mesh = mesh.translated((-0.06, 0.0, 0.0))
    for name, x, radius in BORES:
        mesh = mesh.with_nodes(name, mesh.nodes_on_cylinder("z", radius, center=(x, 0.0, 0.0), tolerance=1e-4))
    return mesh


@cache
def body(nodes: int, size: int, stiffening: bool = False) -> FlexibleBody:
    """The block as a flexible body of ``size`` elastic coordinates."""
    return FlexibleBody(
        "block", block(nodes), STEEL, interfaces=["one", "two"], reduction=CraigBampton(MODES[size]),
        frame=Tangent("one"), stiffening=stiffening,
    )  # fmt: skip


def hinge(of: FlexibleBody, where: str) -> fm.Frame:
    """What the block turns about."""
    return of.at() if where == FRAME else of.at("two")


def ours(nodes: int, size: int, where: str, stiffening: bool = False) -> System:
    """The block as a pendulum."""
    ground, flexible = Ground(), body(nodes, size, stiffening)
    frame = hinge(flexible, where)
    joint = spatial.Revolute("hinge", ground.at(*frame.position), frame, axis="z")
    return System([ground, flexible], [joint], [Gravity(G)])


@cache
def their_body(nodes: int, size: int) -> ObjectFFRFreducedOrderInterface:
    """Exudyn's constants of the same shapes."""
    part = body(nodes, size).reduced
    elements = fm.Elements(part.mesh, STEEL)
    fem = FEMinterface()
    fem.nodes = {"Position": part.mesh.points}
    fem.massMatrix, fem.stiffnessMatrix = (elements.assemble(b) for b in (elements.mass(), elements.stiffness()))
    fem.modeBasis = {"matrix": np.array(part.basis), "type": "HCBmodes"}
    return ObjectFFRFreducedOrderInterface(fem)


def theirs(nodes: int, size: int, where: str) -> Built:
    """The same in Exudyn."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    added = their_body(nodes, size).AddObjectFFRFreducedOrder(mbs, gravity=list(G))
    if where == FRAME:
        place = [0.0, 0.0, 0.0]
        held = mbs.AddMarker(MarkerNodeRigid(nodeNumber=added["nRigidBody"]))
    else:
        mesh = block(nodes)
        numbers = mesh.nodes("two")
        weights = body(nodes, size).reduced.part.weights("two")
        place = (weights @ mesh.points[numbers]).tolist()
        held = mbs.AddMarker(
            MarkerSuperElementRigid(
                bodyNumber=added["oFFRFreducedOrder"], meshNodeNumbers=numbers.tolist(), weightingFactors=weights
            )
        )
    ground = mbs.AddObject(ObjectGround(referencePosition=place))
    fixed = mbs.AddMarker(MarkerBodyRigid(bodyNumber=ground))
    mbs.AddObject(ObjectJointRevoluteZ(markerNumbers=[fixed, held]))
    mbs.Assemble()
    return container, mbs, added["oFFRFreducedOrder"]


def looked_at(nodes: int) -> int:
    """The node farthest out."""
    return int(np.argmax(block(nodes).points[:, 0]))


def our_place(nodes: int, size: int, q: np.ndarray) -> np.ndarray:
    """Where the node is, from q of the block."""
    k, part = looked_at(nodes), body(nodes, size).reduced
    u, rotation = part.basis.reshape(-1, 3, size)[k] @ q[7:], np.zeros((3, 3))
    quaternion_matrix(q[3:7], rotation)
    return np.asarray(q[:3] + rotation @ (part.mesh.points[k] + u))


def their_place(nodes: int, mbs: Any, number: int) -> np.ndarray:
    """The same in Exudyn."""
    kind = exu.OutputVariableType.Position
    return np.array(mbs.GetObjectOutputSuperElement(number, kind, meshNodeNumber=looked_at(nodes)))


def case(nodes: int, size: int, where: str, quick: bool) -> Case:
    """A pendulum in both, and what stiffening costs us."""
    wanted = {FRAME: 5 if size == 14 else 8, SET: 50 if nodes < 10_000 else 100}[where]
    return Case(
        f"reduced, {where}", f"{nodes} nodes, {size}", STEPS,
        partial(ours, nodes, size, where), partial(theirs, nodes, size, where),
        "" if quick else f"with stiffening {stiffened(nodes, size, where):.1f} µs", f">= {wanted}",
        partial(our_place, nodes, size), partial(their_place, nodes),
    )  # fmt: skip


def stiffened(nodes: int, size: int, where: str) -> float:
    """Time of our step with stiffening [µs]."""
    system = ours(nodes, size, where, True)
    begin, whole = (min(run_ours(system, n, STEP)[0] for _ in range(3)) for n in (1, STEPS))
    return (whole - begin) / (STEPS - 1) * 1e6


def rows(quick: bool = False, sizes: Sequence[int] = (5700, 21_000, 45_000), repeat: int = 5) -> Iterator[Row]:
    """All cases."""
    system = ours(3000 if quick else sizes[0], 14, SET)
    start = time.process_time()
    run_ours(system, 2, STEP)
    yield Row("first run", "14 coordinates", "s, from the cache if there", time.process_time() - start)
    for nodes in (3000,) if quick else sizes:
        for size in (14,) if quick else (14, 30):
            for where in (FRAME, SET):
                yield row(case(nodes, size, where, quick), 1 if quick else repeat)
