"""What the compiled steps of trees read and write, see ``closed_tree``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.system.evaluate import Work
from flexmbs.system.layout import Layout
from flexmbs.system.tree_kinematics import TreeArrays, TreeWork

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Model(NamedTuple):
    """What is evaluated."""

    tree: TreeArrays
    layout: Layout  # with the closing rows only
    kinds: Index  # functions of time
    starts: Index
    params: Array
    limits: Array  # (2,) times between which these functions are to be read
    unit: Array  # (columns,) of increments and speeds


class Chart(NamedTuple):
    """Where it is evaluated: the base point, and what is free and bound there."""

    base: Array  # coordinates
    row_scale: Array
    every: Index  # numbers of all rows, and of those that hold positions
    held: Index
    null: Array  # N, V and the combinations U of rows so that U J V is regular, for positions
    bound: Array
    combine: Array
    null_v: Array  # the same for velocities
    bound_v: Array
    combine_v: Array
    near_xi: Array  # the last place: ξ, z, and z's derivatives by ξ and by time
    near_z: Array
    near_zx: Array
    near_zt: Array
    near_t: Array  # (1,)


class Scratch(NamedTuple):
    """Results of the stages, and what lies between them."""

    own: TreeWork
    work: Work
    reference: Array  # values near which angles are counted
    prescribed: Array
    x: Array  # coordinates
    increment: Array  # from the base point, in units
    u: Array
    rate: Array
    map: Array  # (3, 3)
    rows: Array  # J in units
    moved: Array  # J by increments
    gamma: Array
    part: Array  # (bound, rows or columns)
    matrix: Array  # (bound, bound)
    right: Array  # (bound, free + 1)
    pivots: Index
    z: Array
    mass: Array
    motion: Array  # A (columns, free)
    product: Array  # M A
    small: Array  # Aᵀ M A
    result: Array  # (free, 1)
