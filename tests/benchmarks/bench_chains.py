"""Implicit steps of chains: flexmbs beside Exudyn, in one process.

    python tests/benchmarks/bench_chains.py [--bodies 3 10 100 1000] [--repeat 5]

Horizontal chains of rods on revolute or spherical joints that fall; see ``peer_exudyn`` for how they are compared.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

import exudyn as exu
from exudyn.utilities import InertiaCuboid
from peer_exudyn import STEP, Built, Case, row, run_ours
from table import Row, show

from flexmbs.bodies import Ground, RigidBody
from flexmbs.fem.loads import Gravity
from flexmbs.joints import spatial
from flexmbs.system.system import System

SIDES = (1.0, 0.1, 0.1)
DENSITY = 1000.0
G = (0.0, 0.0, -9.81)
STEPS = {3: 1000, 10: 500, 100: 200, 1000: 50}


def our_chain(count: int, kind: str) -> System:
    """A horizontal chain of rods, hung up at one end."""
    ground = Ground()
    bodies = [RigidBody.box(f"rod {k}", SIDES, DENSITY) for k in range(count)]
    ends = [ground.at(0, 0, 0), *(b.at(0.5, 0, 0) for b in bodies)]
    starts = [b.at(-0.5, 0, 0) for b in bodies]
    pairs = list(zip(ends[:-1], starts, strict=True))
    joints = [
        spatial.Revolute(f"hinge {k}", i, j, axis="y") if kind == "revolute" else spatial.Spherical(f"ball {k}", i, j)
        for k, (i, j) in enumerate(pairs)
    ]
    return System([ground, *bodies], joints, [Gravity(G)])


def their_chain(count: int, kind: str) -> Built:
    """The same in Exudyn."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    last = mbs.CreateGround(referencePosition=[0, 0, 0])
    inertia = InertiaCuboid(density=DENSITY, sideLengths=list(SIDES))
    for k in range(count):
        body = mbs.CreateRigidBody(referencePosition=[0.5 + k, 0, 0], inertia=inertia, gravity=list(G))
        pair, place = [last, body], [float(k), 0, 0]
        if kind == "revolute":
            mbs.CreateRevoluteJoint(bodyNumbers=pair, position=place, axis=[0, 1, 0], useGlobalFrame=True)
        else:
            mbs.CreateSphericalJoint(bodyNumbers=pair, position=place)
        last = body
    mbs.Assemble()
    return container, mbs, last


def chain(count: int, kind: str) -> Case:
    """One chain in both."""
    steps = STEPS.get(count, max(50, 20000 // count))
    return Case(
        f"chain, {kind}", f"{count} bodies", steps, lambda: our_chain(count, kind), lambda: their_chain(count, kind)
    )


def rows(quick: bool = False, bodies: Sequence[int] = (3, 10, 100, 1000), repeat: int = 7) -> Iterator[Row]:
    """All chains."""
    start = time.process_time()
    run_ours(our_chain(3, "revolute"), 2, STEP)
    spent = time.process_time() - start
    yield Row("first run", "3 bodies", "s, from the cache if there", spent, "<= 25" if spent > 2 else "<= 1")
    for kind in ("revolute", "spherical"):
        for count in bodies[:2] if quick else bodies:
            yield row(chain(count, kind), 1 if quick else repeat)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, nargs="+", default=[3, 10, 100, 1000])
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    show(rows(bodies=options.bodies, repeat=options.repeat))
