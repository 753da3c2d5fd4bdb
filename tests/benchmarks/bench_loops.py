"""Implicit steps of mechanisms with loops: flexmbs beside Exudyn, in one process.

    python tests/benchmarks/bench_loops.py [--repeat 5]

Slider-cranks in the plane and in space, and four-bars in a row, in the plane and in space. A plane loop of spatial
revolute joints has three redundant rows: flexmbs is given all of them, and leaves them out by itself. Exudyn solves
redundant rows only with a dense full-pivot solver told to ignore that the Jacobian is singular; it is faster when the
user takes them out, which is what it is given here: the joint that closes a loop holds two translations only.
See ``peer_exudyn`` for how the two are compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np
from exudyn.utilities import InertiaCuboid
from peer_exudyn import Built, Case, row
from table import Row, show

from flexmbs.bodies import Ground, PlanarBody, RigidBody
from flexmbs.fem.loads import Gravity
from flexmbs.joints import planar, spatial
from flexmbs.system.system import System

DENSITY = 1000.0
DOWN_Y, DOWN_Z = (0.0, -9.81, 0.0), (0.0, 0.0, -9.81)

# ---- planar slider-crank ----


def our_crank() -> System:
    """Crank 0.5, rod 1.0; falls from 45 degrees."""
    ground, angle = Ground(), np.pi / 4
    crank = PlanarBody("crank", 1.0, 0.02, position=(0, 0), angle=angle, center=(0.25, 0.0))
    rod = PlanarBody("rod", 2.0, 0.15, center=(0.5, 0.0), angle=-np.arcsin(0.5 * np.sin(angle)))
    slider = PlanarBody("slider", 1.0, 0.01)
    joints = [
        planar.Revolute("shaft", ground.at(0, 0), crank.at(0, 0)),
        planar.Revolute("crank pin", crank.at(0.5, 0), rod.at(0, 0)),
        planar.Revolute("wrist pin", rod.at(1.0, 0), slider.at(0, 0)),
        planar.Prismatic("rail", ground.at(0, 0), slider.at(0, 0), axis="x"),
    ]
    return System([ground, crank, rod, slider], joints, [Gravity(DOWN_Y)])


def their_crank() -> Built:
    """The same in Exudyn."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    angle = np.pi / 4
    tilt = -np.arcsin(0.5 * np.sin(angle))
    pin = 0.5 * np.array([np.cos(angle), np.sin(angle)])
    end = pin + np.array([np.cos(tilt), np.sin(tilt)])
    ground = mbs.AddObject(items.ObjectGround())
    crank = planar_body(mbs, 1.0, 0.02, (*pin / 2, angle))
    rod = planar_body(mbs, 2.0, 0.15, (*(pin + end) / 2, tilt))
    slider = planar_body(mbs, 1.0, 0.01, (*end, 0.0))
    pins = [((ground, 0), (crank, -0.25)), ((crank, 0.25), (rod, -0.5)), ((rod, 0.5), (slider, 0))]
    for first, second in pins:
        hinge(mbs, first, second)
    markers = [marker(mbs, ground, 0), marker(mbs, slider, 0)]
    mbs.AddObject(items.ObjectJointPrismatic2D(markerNumbers=markers, axisMarker0=[1, 0, 0], normalMarker1=[0, 1, 0]))
    mbs.Assemble()
    return container, mbs, slider


def planar_body(mbs: Any, mass: float, inertia: float, pose: Any, speed: Any = (0, 0, 0)) -> int:
    """A body in the plane, with its weight."""
    node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=list(pose), initialVelocities=list(speed)))
    body = int(mbs.AddObject(items.ObjectRigidBody2D(physicsMass=mass, physicsInertia=inertia, nodeNumber=node)))
    mass_marker = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
    mbs.AddLoad(items.LoadMassProportional(markerNumber=mass_marker, loadVector=list(DOWN_Y)))
    return body


def marker(mbs: Any, body: int, x: float, y: float = 0.0) -> int:
    """A frame on a body."""
    return int(mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[x, y, 0])))


def hinge(mbs: Any, first: tuple[Any, ...], second: tuple[Any, ...]) -> None:
    """A revolute joint in the plane between places (body, x[, y])."""
    mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[marker(mbs, *first), marker(mbs, *second)]))


# ---- spatial slider-crank ----

CENTRE, CRANK, ROD = np.array([0.0, 0.1, 0.12]), 0.08, 0.3
PIN = CENTRE + np.array([0.0, CRANK, 0.0])
END = np.array([np.sqrt(ROD**2 - PIN @ PIN), 0.0, 0.0])


def pose(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Middle and axes of a rod between two points, its x axis along it."""
    along = (end - start) / np.linalg.norm(end - start)
    aside = np.cross((0.0, 0.0, 1.0), along)
    aside /= np.linalg.norm(aside)
    return (start + end) / 2, np.column_stack([along, aside, np.cross(along, aside)])


PARTS = {
    "crank": ((CRANK, 0.02, 0.02), *pose(CENTRE, PIN)),
    "rod": ((ROD, 0.01, 0.01), *pose(PIN, END)),
    "slider": ((0.04, 0.04, 0.04), END, np.eye(3)),
}


def our_spatial_crank() -> System:
    """A crank about x, a rod between two balls, a slider along x (Haug 1989, section 12.2)."""
    ground = Ground()
    bodies = {
        name: RigidBody.box(name, size, DENSITY, position=middle, rotation=axes)
        for name, (size, middle, axes) in PARTS.items()
    }

    def at(name: str, point: np.ndarray) -> Any:
        _, middle, axes = PARTS[name]
        return bodies[name].at(*(axes.T @ (point - middle)), axes=axes.T)

    joints = [
        spatial.Revolute("shaft", ground.at(*CENTRE), at("crank", CENTRE), axis="x"),
        spatial.Spherical("crank ball", at("crank", PIN), at("rod", PIN)),
        spatial.Spherical("slider ball", at("rod", END), at("slider", END)),
        spatial.Prismatic("rail", ground.at(0, 0, 0), at("slider", END), axis="x"),
    ]
    return System([ground, *bodies.values()], joints, [Gravity(DOWN_Z)])


def their_spatial_crank() -> Built:
    """The same in Exudyn."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.CreateGround(referencePosition=[0, 0, 0])
    crank, rod, slider = (
        mbs.CreateRigidBody(
            referencePosition=list(middle), referenceRotationMatrix=axes, gravity=list(DOWN_Z),
            inertia=InertiaCuboid(density=DENSITY, sideLengths=list(size)),
        )
        for size, middle, axes in PARTS.values()
    )  # fmt: skip
    mbs.CreateRevoluteJoint(bodyNumbers=[ground, crank], position=list(CENTRE), axis=[1, 0, 0], useGlobalFrame=True)
    mbs.CreateSphericalJoint(bodyNumbers=[crank, rod], position=list(PIN))
    mbs.CreateSphericalJoint(bodyNumbers=[rod, slider], position=list(END))
    mbs.CreatePrismaticJoint(bodyNumbers=[ground, slider], position=list(END), axis=[1, 0, 0], useGlobalFrame=True)
    mbs.Assemble()
    return container, mbs, slider


# ---- four-bars in a row (IFToMM A02): upright rods on the ground, joined by level ones; the tops start at 1 m/s ----

SIDES = (1.0, 0.03, 0.03)
MASS = DENSITY * SIDES[0] * SIDES[1] * SIDES[2]
INERTIA = MASS / 12 * (SIDES[0] ** 2 + SIDES[1] ** 2)
UPRIGHT = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def our_bars(loops: int, plane: bool) -> System:
    """Rods of 1 m; all revolute joints have all their rows."""
    ground = Ground()
    if plane:
        posts = [
            PlanarBody(
                f"post {k}", MASS, INERTIA, position=(k, 0.5), angle=np.pi / 2, velocity=(0.5, 0), angular_velocity=-1.0
            )
            for k in range(loops + 1)
        ]
        beams = [
            PlanarBody(
                f"beam {k}", MASS, INERTIA, position=(k + 0.5, 1), angle=0.0, velocity=(1, 0), angular_velocity=0
            )
            for k in range(loops)
        ]
    else:
        posts = [
            RigidBody.box(
                f"post {k}", SIDES, DENSITY, position=(k, 0.5, 0), rotation=UPRIGHT, velocity=(0.5, 0, 0),
                angular_velocity=(0, 0, -1),
            )
            for k in range(loops + 1)
        ]  # fmt: skip
        beams = [
            RigidBody.box(f"beam {k}", SIDES, DENSITY, position=(k + 0.5, 1, 0), rotation=np.eye(3), velocity=(1, 0, 0))
            for k in range(loops)
        ]
    pairs = [(ground.at(k, 0), post.at(-0.5, 0)) for k, post in enumerate(posts)]
    for k, beam in enumerate(beams):
        pairs += [(posts[k].at(0.5, 0), beam.at(-0.5, 0)), (beam.at(0.5, 0), posts[k + 1].at(0.5, 0))]
    if plane:
        joints: list[Any] = [planar.Revolute(f"pin {k}", i, j) for k, (i, j) in enumerate(pairs)]
    else:
        joints = [spatial.Revolute(f"pin {k}", i, j, axis="z") for k, (i, j) in enumerate(pairs)]
    return System([ground, *posts, *beams], joints, [Gravity(DOWN_Y)])


def their_bars(loops: int, plane: bool) -> Built:
    """The same in Exudyn; in space, redundant rows are taken out by hand."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    if plane:
        ground = mbs.AddObject(items.ObjectGround())
        flat = [planar_body(mbs, MASS, INERTIA, (k, 0.5, np.pi / 2), (0.5, 0, -1)) for k in range(loops + 1)]
        level = [planar_body(mbs, MASS, INERTIA, (k + 0.5, 1, 0), (1, 0, 0)) for k in range(loops)]
        for k, post in enumerate(flat):
            hinge(mbs, (ground, k), (post, -0.5))
        for k, beam in enumerate(level):
            hinge(mbs, (flat[k], 0.5), (beam, -0.5))
            hinge(mbs, (beam, 0.5), (flat[k + 1], 0.5))
        mbs.Assemble()
        return container, mbs, level[-1]
    base = mbs.CreateGround(referencePosition=[0, 0, 0])
    inertia = InertiaCuboid(density=DENSITY, sideLengths=list(SIDES))
    posts = [
        mbs.CreateRigidBody(
            referencePosition=[k, 0.5, 0], referenceRotationMatrix=UPRIGHT, initialVelocity=[0.5, 0, 0],
            initialAngularVelocity=[0, 0, -1], inertia=inertia, gravity=list(DOWN_Y),
        )
        for k in range(loops + 1)
    ]  # fmt: skip
    beams = [
        mbs.CreateRigidBody(
            referencePosition=[k + 0.5, 1, 0], initialVelocity=[1, 0, 0], inertia=inertia, gravity=list(DOWN_Y)
        )
        for k in range(loops)
    ]
    for k, post in enumerate(posts):
        mbs.CreateRevoluteJoint(bodyNumbers=[base, post], position=[k, 0, 0], axis=[0, 0, 1], useGlobalFrame=True)
    for k, beam in enumerate(beams):
        mbs.CreateRevoluteJoint(bodyNumbers=[posts[k], beam], position=[k, 1, 0], axis=[0, 0, 1], useGlobalFrame=True)
        mbs.CreateGenericJoint(
            bodyNumbers=[beam, posts[k + 1]], position=[k + 1, 1, 0], constrainedAxes=[1, 1, 0, 0, 0, 0],
            useGlobalFrame=True,
        )  # fmt: skip
    mbs.Assemble()
    return container, mbs, beams[-1]


CASES = [
    Case("slider-crank, planar", "3 bodies", 1000, our_crank, their_crank),
    Case("slider-crank, spatial", "3 bodies", 1000, our_spatial_crank, their_spatial_crank),
    Case("four-bar, planar", "3 bodies", 300, lambda: our_bars(1, True), lambda: their_bars(1, True)),
    Case(
        "four-bar, spatial", "3 redundant rows", 300, lambda: our_bars(1, False), lambda: their_bars(1, False),
        "redundant rows taken out for Exudyn",
    ),
    Case("ten four-bars, planar", "21 bodies", 300, lambda: our_bars(10, True), lambda: their_bars(10, True)),
    Case(
        "ten four-bars, spatial", "30 redundant rows", 300, lambda: our_bars(10, False), lambda: their_bars(10, False),
        "redundant rows taken out for Exudyn",
    ),
]  # fmt: skip


def rows(quick: bool = False, repeat: int = 7) -> Iterator[Row]:
    """All loops."""
    for case in CASES[:2] if quick else CASES:
        yield row(case, 1 if quick else repeat)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=7)
    show(rows(repeat=parser.parse_args().repeat))
