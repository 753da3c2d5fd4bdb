"""Following modes from speed to speed by modal assurance of complex states z = (x, λx).

Two neighbouring sets of states Z₁, Z₂ are compared through their dual bases: (Z₁⁺Z₂)_ij (Z₂⁺Z₁)_ji is 1 where mode j of
the second continues mode i of the first, whatever the scale of vectors, and tells a forward whirl from a backward one
with the same shape. Where lines cross, shapes go straight on; where they veer, the step is halved until shapes change
little from step to step, so that each mode stays on its own line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
import scipy.linalg
from numpy.typing import NDArray

from flexmbs.analyses.spinning_models import SpinningModel, handedness

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

SURE = 0.7
"""Assurance below which a step between speeds is halved."""
PATIENT = 6
"""Halvings from which on a model is cheap enough to look closely wherever lines seem to cross."""
EQUAL = 1e-6
"""Relative distance of eigenvalues whose shapes are any combination of each other."""


@dataclass(frozen=True, eq=False)
class Set:
    """Eigenvalues (k,) and shapes (n, k) at a speed, in an order that continues that of a neighbouring speed.

    ``assurance`` (k,) says how surely each continues its neighbour.
    """

    speed: float
    values: Complex
    shapes: Complex
    assurance: Array


def solved(model: SpinningModel, speed: float, count: int) -> Set:
    """The modes of a model at a speed, smallest first; of equal ones those combinations that go around the axis."""
    values, shapes = model.spectrum(speed, count)
    groups = clusters(values)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        if len(members) > 1:
            around, size = model.whirl_forms(shapes[:, members])
            if np.linalg.cond(size) < 1e6:
                shapes[:, members] = shapes[:, members] @ scipy.linalg.eigh(around, size)[1]
    return Set(speed, values, shapes, np.ones(len(values)))


def states(model: SpinningModel, speed: float, values: Complex, shapes: Complex) -> Complex:
    """Unit states (x, λx / unit) as columns.

    In turning axes λ of what goes around them changes with the speed by itself, and two that whirl in opposite senses
    take each other's place; λ + ihΩ with their handedness h, nearly λ as seen from the ground, does not.
    """
    x = model.weighted(shapes)
    seen = values + 1j * handedness(model, shapes) * speed if model.turning else values
    z = np.vstack([x, x * (seen / model.unit)])
    size = np.linalg.norm(z, axis=0)
    return np.asarray(z / np.where(size > 0, size, 1.0))


def follow(model: SpinningModel, first: Set, speed: float, count: int, wanted: int) -> Set:
    """The modes at another speed in the order of those at the first; ``wanted`` of them must be sure."""
    return _between(model, first, solved(model, speed, count), count, wanted, model.bisections)


def nearest(model: SpinningModel, speed: float, value: complex, shape: Complex, there: Set) -> int:
    """Which mode of a set continues a single mode at another speed."""
    here = states(model, speed, np.array([value]), shape[:, None])
    share = np.linalg.lstsq(states(model, there.speed, there.values, there.shapes), here, rcond=1e-10)[0][:, 0]
    return int(np.argmax(np.abs(share)))


def clusters(values: Complex) -> NDArray[np.int64]:
    """Number of the cluster of equal eigenvalues to which each belongs."""
    number = np.arange(len(values))
    for i in range(len(values)):
        for j in range(i):
            if abs(values[i] - values[j]) <= EQUAL * (abs(values[i]) + abs(values[j])):
                number[i] = number[j]
                break
    return number


def _between(model: SpinningModel, first: Set, second: Set, count: int, wanted: int, halvings: int) -> Set:
    found = _matched(model, first, second)
    lowest = np.argsort(np.abs(first.values), kind="stable")[: 2 * wanted]
    sure = found.assurance[lowest].min(initial=1.0) >= SURE
    passing = model.bisections >= PATIENT and _overtakes(first.values[lowest], found.values[lowest])
    if not halvings or (sure and not passing):
        return found
    middle = solved(model, (first.speed + second.speed) / 2, count)
    half = _between(model, first, middle, count, wanted, halvings - 1)
    return _between(model, half, second, count, wanted, halvings - 1)


def _overtakes(before: Complex, after: Complex) -> bool:
    """Whether lines seem to cross: looked at closely they may veer, with shapes that are exchanged within the step."""
    gap = before.imag[:, None] - before.imag
    return bool(np.any(gap * (after.imag[:, None] - after.imag) < -(EQUAL**2) * np.abs(gap).max(initial=0.0) ** 2))


def _matched(model: SpinningModel, first: Set, second: Set) -> Set:
    """The second set in the order of the first."""
    z1, z2 = (states(model, one.speed, one.values, one.shapes) for one in (first, second))
    there, back = (np.linalg.lstsq(a, b, rcond=1e-10)[0] for a, b in ((z1, z2), (z2, z1)))
    sizes = np.linalg.norm(model.weighted(second.shapes), axis=0) / np.linalg.norm(z2[: len(z2) // 2], axis=0)
    same = there * back.T
    groups = clusters(second.values)
    likeness = np.empty(same.shape)
    for group in np.unique(groups):
        members = groups == group
        likeness[:, members] = same[:, members].sum(axis=1).real[:, None]
    likeness = np.minimum(likeness, 2.0 - likeness)  # more than 1 is as doubtful as less
    # of modes that are alike the nearer eigenvalue continues: a slight preference only
    apart = np.abs(second.values - first.values[:, None])
    apart = apart / (apart + np.abs(second.values) + np.abs(first.values)[:, None] + 1e-300)
    rows, columns = scipy.optimize.linear_sum_assignment(likeness - 1e-3 * apart, maximize=True)
    # what finds no partner, at the edge of what was solved for, stays as it was, with no assurance
    values, shapes, sure = first.values.copy(), first.shapes.copy(), np.zeros(len(first.values))
    values[rows], shapes[:, rows], sure[rows] = (
        second.values[columns], second.shapes[:, columns], likeness[rows, columns]
    )  # fmt: skip
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        places = rows[groups[columns] == group]
        if len(members) > 1 and len(places) == len(members):  # the combination that continues each mode
            mixing = back[np.ix_(members, places)]
            if np.linalg.cond(mixing) < 1e3:
                shapes[:, places] = second.shapes[:, members] / sizes[members] @ mixing
    return Set(second.speed, values, shapes, sure)
