"""Motions that the joints leave free, those without any deformation apart from those that deform bodies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.nullspace import null_space

Array = NDArray[np.float64]

BENDING = 1e4
"""What a deformation counts against a motion of frames of the same length, where bodies should rather not be bent."""


class FreeMotions(NamedTuple):
    """Bases (n_v, ·) of the null space of J: motions with d' = 0 exactly, and a complement in which bodies deform.

    Kept apart because stiffnesses differ by many orders: where a mechanism is soft, nothing of what is stiff may enter
    by rounding.
    """

    rigid: Array
    elastic: Array

    @property
    def all(self) -> Array:
        """Both, deforming ones first."""
        return np.hstack([self.elastic, self.rigid])


def free_motions(system: Any, jacobian: Array) -> FreeMotions:
    """Motions that rows J (rows, n_v) leave free; orthonormal where velocities are counted as lengths."""
    weights, elastic = system.length_weights, system.elastic
    scaled = jacobian / weights
    whole = _null(scaled)
    if not elastic.any():
        return FreeMotions(whole / weights[:, None], np.zeros((len(weights), 0)))
    stiff = _null(np.ascontiguousarray(scaled[:, ~elastic]))
    rigid = np.zeros((len(weights), stiff.shape[1]))
    rigid[~elastic] = stiff
    rest = whole - rigid @ (rigid.T @ whole)
    bending = np.linalg.svd(rest, full_matrices=False)[0][:, : max(0, whole.shape[1] - stiff.shape[1])]
    return FreeMotions(rigid / weights[:, None], bending / weights[:, None])


def least_bending(system: Any, jacobian: Array, target: Array) -> Array:
    """The x of least length with J x = target that deforms bodies only where nothing else can fulfil it."""
    if not len(target):
        return np.zeros(system.n_v)
    scale = 1.0 / np.where(system.elastic, BENDING * system.length_weights, system.length_weights)
    return np.asarray(scale * np.linalg.lstsq(jacobian * scale, target, rcond=1e-11)[0])


def elastic_places(system: Any) -> NDArray[np.bool_]:
    """Which coordinates q are elastic."""
    out = np.zeros(system.n_q, dtype=np.bool_)
    for body, last in zip(system.bodies, system.layout.body_q[1:], strict=True):
        out[last - body.modes : last] = True
    return out


def _null(scaled: Array) -> Array:
    if not len(scaled):
        return np.eye(scaled.shape[1])
    return np.asarray(null_space(scaled, "svd").A)
