"""Random trees of bodies with all lower pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexmbs as fm
from flexmbs.system.tree_kinematics import tree_retract

JOINTS = [
    lambda n, i, j, r: fm.Revolute(n, i, j, axis=r.normal(size=3), start=0.3),
    lambda n, i, j, r: fm.Spherical(n, i, j),
    lambda n, i, j, r: fm.Universal(n, i, j, axis="x", cross=(0.3, 1.0, 0.2)),
    lambda n, i, j, r: fm.Prismatic(n, i, j, axis=r.normal(size=3), start=0.2),
    lambda n, i, j, r: fm.Cylindrical(n, i, j, axis="y"),
    lambda n, i, j, r: fm.Screw(n, i, j, axis="x", pitch=0.3),
    lambda n, i, j, r: fm.PlaneJoint(n, i, j, axis=(1.0, 2.0, 3.0)),
    lambda n, i, j, r: fm.Fixed(n, i, j),
]


def random_tree(seed: int, kinds: Any = range(8), count: int = 10, loose: bool = True) -> fm.System:
    """Rigid bodies on random others by joints of these kinds, either way round; a free one, a point, and springs."""
    rng = np.random.default_rng(seed)
    bodies: list[Any] = [fm.Ground()]
    joints = []

    def frame(body: Any) -> Any:
        return body.at(*(0.4 * rng.normal(size=3)), axes=rng.normal(size=3))

    def body(name: str) -> Any:
        centre = 0.2 * rng.normal(size=3)
        return fm.RigidBody(name, 1 + rng.random(), (0.1, 0.12, 0.15), center=centre)

    for k in range(count):
        other, own = bodies[rng.integers(len(bodies))], body(f"body {k}")
        pair = [frame(other), frame(own)]
        if rng.random() < 0.4:
            pair.reverse()
        joints.append(JOINTS[list(kinds)[k % len(kinds)]](f"joint {k}", *pair, rng))
        bodies.append(own)
    if loose:
        bodies += [body("free"), fm.PointMass("point", 1.3, position=(0.1, 0.2, 0.3))]
    ends = (bodies[2].at(0.1, 0.2, 0.3), bodies[-1].at())
    forces = [fm.Gravity((1.0, -9.81, 2.0)), fm.SpringDamper("spring", ends, 30.0, 2.0, rest=0.3)]
    return fm.System(bodies, joints, forces)


def moved(system: fm.System, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Random coordinates and speeds of the tree, and q and v of the bodies there."""
    rng, tree = np.random.default_rng(seed), system.tree
    x = np.zeros(tree.n_x)
    tree_retract(tree.arrays, tree.coordinates(system.initial.q), 0.5 * rng.normal(size=tree.n_u), x)
    u = rng.normal(size=tree.n_u)
    return x, u, *tree.state(x, u, system.initial.q)
