"""Steps of a flexible body in full order, every node a coordinate: flexmbs beside Exudyn's ObjectFFRF, in one process.

    python tests/benchmarks/run.py full_order

The bored steel block of ``bench_flexible`` spins on a ball joint in its second bore, on the mean of the nodes there: of
full-order bodies Exudyn's markers have positions only. Its floating frame is held at three corners, which is faster for
it than the mean axes that it offers; ours is in mean axes.
Stiffening is off on both sides. Times are of the processor; what one step takes, with all that comes before it, is
taken off. Exudyn gets few steps, as each takes it a second; it renews its Jacobian, which takes it twenty, when it has
to, and in longer runs that is every few steps.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

import exudyn as exu
import numpy as np
from bench_flexible import block, looked_at, their_place
from bench_modes import STEEL
from exudyn.FEM import FEMinterface, ObjectFFRFinterface
from exudyn.itemInterface import (
    CoordinateConstraint,
    MarkerBodyPosition,
    MarkerNodeCoordinate,
    MarkerSuperElementPosition,
    NodePointGround,
    ObjectGround,
    ObjectJointSpherical,
)
from peer_exudyn import STEP, Built, run_ours, run_theirs, settings
from table import Row

import flexmbs as fm
from flexmbs.rotations import to_matrix

SPIN = 20.0
"""Angular velocity at the start [rad/s]."""
AGREE = 5e-4
"""How far apart the two may end, of what the block has moved: vibration that the step does not follow depends on the
floating frame. With mean axes on both sides it is 2e-6.
"""


@cache
def body(nodes: int) -> fm.FlexibleBody:
    """The block with all of its nodes."""
    weights, mesh = fm.Elements(block(nodes), STEEL).mesh.weights("two"), block(nodes)
    place = weights @ mesh.points[mesh.nodes("two")]
    return fm.FlexibleBody(
        "block", mesh, STEEL, interfaces=[fm.Averaged("two")], reduction=fm.FullOrder(), frame="mean",
        stiffening=False, position=(0.0, 0.0, 0.0), velocity=np.cross((0.0, 0.0, SPIN), -place),
        angular_velocity=(0.0, 0.0, SPIN),
    )  # fmt: skip


@cache
def ours(nodes: int) -> fm.System:
    """The block on its hinge."""
    ground, flexible = fm.Ground(), body(nodes)
    frame = flexible.at("two")
    return fm.System([ground, flexible], [fm.Spherical("ball", ground.at(*frame.position), frame)])


@cache
def their_body(nodes: int) -> ObjectFFRFinterface:
    """Exudyn's matrices of the same elements."""
    elements = fm.Elements(block(nodes), STEEL)
    fem = FEMinterface()
    fem.nodes = {"Position": elements.mesh.points}
    fem.massMatrix, fem.stiffnessMatrix = (elements.assemble(b) for b in (elements.mass(), elements.stiffness()))
    fem.modeBasis = {"matrix": np.zeros((3 * elements.mesh.n_nodes, 1)), "type": "none"}
    return ObjectFFRFinterface(fem)


def theirs(nodes: int) -> Built:
    """The same in Exudyn."""
    container, mesh = exu.SystemContainer(), block(nodes)
    mbs = container.AddSystem()
    numbers = mesh.nodes("two")
    weights = mesh.weights("two")
    place = weights @ mesh.points[numbers]
    added = their_body(nodes).AddObjectFFRF(
        exu, mbs, initialVelocity=np.cross((0.0, 0.0, SPIN), -place).tolist(), initialAngularVelocity=[0.0, 0.0, SPIN],
        constrainRigidBodyMotion=False,
    )  # fmt: skip
    still = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=mbs.AddNode(NodePointGround()), coordinate=0))
    x = mesh.points
    corners = (x[:, 0] + x[:, 1] + x[:, 2], -x[:, 0] + x[:, 1] + x[:, 2], -x[:, 0] - x[:, 1] + x[:, 2])
    for corner, axes in zip(corners, ((0, 1, 2), (1, 2), (2,)), strict=True):
        for axis in axes:
            node = added["nodeList"][int(np.argmin(corner))]
            marker = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=node, coordinate=axis))
            mbs.AddObject(CoordinateConstraint(markerNumbers=[still, marker]))
    held = mbs.AddMarker(
        MarkerSuperElementPosition(
            bodyNumber=added["oFFRF"], meshNodeNumbers=numbers.tolist(), weightingFactors=weights
        )
    )  # fmt: skip
    ground = mbs.AddObject(ObjectGround(referencePosition=place.tolist()))
    fixed = mbs.AddMarker(MarkerBodyPosition(bodyNumber=ground))
    mbs.AddObject(ObjectJointSpherical(markerNumbers=[fixed, held]))
    mbs.Assemble()
    return container, mbs, added["oFFRF"]


def our_place(nodes: int, q: np.ndarray) -> np.ndarray:
    """Where the node farthest out is, from q of the block."""
    k, part = looked_at(nodes), body(nodes).reduced
    u = part.displacement(q[7:])[k]
    return np.asarray(q[:3] + to_matrix(q[None, 3:7])[0] @ (part.mesh.points[k] + u))


def beside(nodes: int, steps: int) -> Row:
    """A step of both; Exudyn renews its Jacobian when it has to, as that takes it as long as many steps."""
    system, build, place = ours(nodes), partial(theirs, nodes), partial(their_place, nodes)
    choice = (exu.LinearSolverType.EigenSparse, False)
    start = run_ours(system, 1, STEP, partial(our_place, nodes))[1]
    mine, peer, ends = [], [], []
    for count in (1, steps):
        spent, end = run_ours(system, count, STEP, partial(our_place, nodes))
        mine.append(spent)
        spent, their_end = run_theirs(build, settings(count, STEP, choice), place)
        peer.append(spent)
        ends = [end, their_end]
    miss = float(np.abs(ends[0] - ends[1]).max() / np.abs(ends[0] - start).max())
    if miss > AGREE:
        raise SystemExit(f"full order, {nodes} nodes: the two motions differ by {miss:.2g} of what the block moved")
    own, other = ((x[1] - x[0]) / (steps - 1) for x in (mine, peer))
    return Row(
        "full order, on a set", f"{block(nodes).n_nodes} nodes", "Exudyn's time / ours, a step", other / own, ">= 200",
        own, other, f"differ by {miss:.0e}; first step {mine[0]:.2g} s, Exudyn's with its Jacobian {peer[0]:.2g} s",
    )  # fmt: skip


def alone(nodes: int, steps: int) -> Row:
    """Our time of a step, where Exudyn would take minutes."""
    system = ours(nodes)
    start = time.process_time()
    begin = run_ours(system, 1, STEP)[0]
    first = time.process_time() - start
    whole = run_ours(system, steps, STEP)[0]
    count = system.bodies[1].reduced.mesh.n_nodes
    return Row(
        "full order, alone", f"{count} nodes", "ms, a step", (whole - begin) / (steps - 1) * 1e3, "",
        (whole - begin) / (steps - 1), None, f"factorisations and first step {first:.1f} s",
    )  # fmt: skip


def rows(quick: bool = False) -> Iterator[Row]:
    """All cases."""
    run_ours(ours(400), 2, STEP)
    if quick:
        yield replace(beside(400, 6), wanted="")
        return
    yield beside(2000, 11)
    yield alone(20_000, 20)
