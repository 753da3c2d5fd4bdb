"""Energy, momentum and places of flexible bodies, from the mass matrix and the shapes of frames."""

from __future__ import annotations

import numpy as np

import flexmbs as fm
from flexmbs.rotations import to_matrix


def deformation(system: fm.System, body: fm.FlexibleBody, q: np.ndarray) -> np.ndarray:
    """Elastic coordinates of a body."""
    last = system.layout.body_q[system.body_number(body) + 1]
    return q[last - body.modes : last]


def in_body(frame: fm.Frame, d: np.ndarray) -> np.ndarray:
    """Where a frame is in body axes: x + Φ d + ½ dᵀH d."""
    out = frame.position + frame.shapes[:3] @ d
    return out if frame.curvatures is None else out + (frame.curvatures[:3] @ d) @ d / 2


def place(system: fm.System, frame: fm.Frame, q: np.ndarray) -> np.ndarray:
    """Where a frame is in space."""
    work = system.evaluate(0.0, q, np.zeros(system.n_v))
    b = system.body_number(frame.body)
    d = deformation(system, frame.body, q) if frame.body.modes else np.zeros(0)
    return work.position[b] + work.rotation[b] @ in_body(frame, d)


def invariants(system: fm.System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Kinetic and strain energy together, momentum, and angular momentum about the origin, of bodies in space."""
    mass = system.equations(0.0, q, v).M
    rows, energy = mass @ v, 0.5 * v @ (mass @ v)
    momentum, angular = np.zeros(3), np.zeros(3)
    for b, body in enumerate(system.bodies):
        at, k = system.layout.body_v[b], system.layout.body_q[b]
        momentum += rows[at : at + 3]
        angular += np.cross(q[k : k + 3], rows[at : at + 3]) + to_matrix(q[k + 3 : k + 7]) @ rows[at + 3 : at + 6]
        if body.modes:
            d = deformation(system, body, q)
            energy += 0.5 * d @ body.moments.stiffness @ d
    return np.array([energy, *momentum, *angular])
