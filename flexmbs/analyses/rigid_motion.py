"""RigidMotion: how a body's frame moves, as functions, as samples, or taken from the result of another analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import Body, rotation_matrix, vector
from flexmbs.errors import AnalysisError, FlexmbsError
from flexmbs.given import array
from flexmbs.profiles import Profile, as_profile
from flexmbs.results import Result
from flexmbs.rotations import from_matrix, to_matrix

Array = NDArray[np.float64]


class Poses(NamedTuple):
    """Poses over time with their derivatives: origin in global axes, angular velocity and its rate in body axes."""

    position: Array
    quaternion: Array
    velocity: Array
    spin: Array
    acceleration: Array
    spin_rate: Array


class Curve(NamedTuple):
    """Values (times, n) with first and second derivatives at ``t``."""

    t: Array
    x: Array
    rate: Array
    acceleration: Array

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """Quintic Hermite curves: the accelerations are continuous."""
        return hermite(self, times)


_QUINTIC = np.array(
    [
        [1, 0, 0, -10, 15, -6], [0, 1, 0, -6, 8, -3], [0, 0, 0.5, -1.5, 1.5, -0.5],
        [0, 0, 0, 0.5, -1, 0.5], [0, 0, 0, -4, 7, -3], [0, 0, 0, 10, -15, 6],
    ]
)  # fmt: skip


def hermite(curve: Curve, times: Array) -> tuple[Array, Array, Array]:
    """Value and two derivatives (times, n) of the quintic Hermite curve; beyond its ends the last piece goes on."""
    t = curve.t
    if len(t) == 1:
        return tuple(np.repeat(x, len(times), axis=0) for x in curve[1:])  # type: ignore[return-value]
    k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    h = (t[k + 1] - t[k])[:, None]
    s = ((times - t[k])[:, None]) / h
    parts = (
        curve.x[k], h * curve.rate[k], h * h * curve.acceleration[k],
        h * h * curve.acceleration[k + 1], h * curve.rate[k + 1], curve.x[k + 1],
    )  # fmt: skip
    out = []
    for order in range(3):
        basis = [np.polynomial.polynomial.polyval(s, np.polynomial.polynomial.polyder(c, order)) for c in _QUINTIC]
        out.append(sum(b * p for b, p in zip(basis, parts, strict=True)) / h**order)
    return out[0], out[1], out[2]


def quaternion_times(a: Array, b: Array) -> Array:
    """Products of quaternions (..., 4)."""
    w = a[..., :1] * b[..., :1] - np.sum(a[..., 1:] * b[..., 1:], axis=-1, keepdims=True)
    return np.concatenate(
        [w, a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])], axis=-1
    )


def quaternion_rates(quaternion: Array, spin: Array, spin_rate: Array) -> tuple[Array, Array]:
    """q' = q ω/2 and q'' = (q' ω + q ω')/2, ω in body axes."""
    zero = np.zeros((*spin.shape[:-1], 1))
    first = quaternion_times(quaternion, np.concatenate([zero, spin], axis=-1)) / 2
    turned = quaternion_times(quaternion, np.concatenate([zero, spin_rate], axis=-1))
    return first, (quaternion_times(first, np.concatenate([zero, spin], axis=-1)) + turned) / 2


def spins(quaternion: Array, first: Array, second: Array) -> tuple[Array, Array, Array]:
    """Unit quaternion, ω and ω' in body axes of quaternions of any length with their derivatives."""
    square = np.sum(quaternion**2, axis=-1, keepdims=True)
    back = quaternion * np.array([1.0, -1.0, -1.0, -1.0])
    spin = 2 * quaternion_times(back, first)[..., 1:] / square
    stretch = np.sum(quaternion * first, axis=-1, keepdims=True) / square
    rate = 2 * quaternion_times(back, second)[..., 1:] / square - 2 * stretch * spin
    return quaternion / np.sqrt(square), spin, rate


def without_flips(quaternion: Array) -> Array:
    """The same rotations, each quaternion on the side of the one before."""
    flips = np.where(np.sum(quaternion[1:] * quaternion[:-1], axis=1) < 0, -1.0, 1.0)
    out = quaternion.copy()
    out[1:] *= np.cumprod(flips)[:, None]
    return out


@dataclass(frozen=True, eq=False)
class RigidMotion:
    """The known motion of a body's frame.

    Parameters
    ----------
    angular_velocity : ω in body axes: three numbers or functions of time, a vector profile, or a function with three
        values. Its derivative is the angular acceleration.
    acceleration : of the frame's origin, in body axes, likewise.
    position, rotation, velocity : of the frame at t = 0, in global axes; only pictures and gravity ask for them.

    ``RigidMotion.sampled`` takes poses at given times, ``RigidMotion.of`` a body's motion in a Result.
    """

    angular_velocity: Any = None
    acceleration: Any = None
    position: ArrayLike = (0.0, 0.0, 0.0)
    rotation: Any = None
    velocity: ArrayLike = (0.0, 0.0, 0.0)
    curve: Curve | Any = field(default=None, repr=False)
    """Poses (times, 7) over time, where the motion is made of them."""

    def __post_init__(self) -> None:
        for name in ("angular_velocity", "acceleration"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _three(given, f"RigidMotion: {name}"))
        if not (self.curve is None or isinstance(self.curve, Curve | scipy.interpolate.CubicSpline)):
            raise AnalysisError("RigidMotion: make poses over time with RigidMotion.sampled or RigidMotion.of.")
        object.__setattr__(self, "position", vector(self.position, 3, "RigidMotion: position"))
        object.__setattr__(self, "velocity", vector(self.velocity, 3, "RigidMotion: velocity"))
        object.__setattr__(self, "rotation", rotation_matrix(self.rotation, "RigidMotion: rotation"))

    @classmethod
    def sampled(cls, times: ArrayLike, positions: ArrayLike, rotations: ArrayLike | None = None) -> RigidMotion:
        """Through positions (times, 3) and rotations (times, 3, 3), or quaternions (times, 4).

        By cubic splines, so that velocities and accelerations are continuous.
        """
        t, p = array(times), array(positions)
        n = t.size
        if t.ndim != 1 or n < 4 or not np.isfinite(t).all() or (np.diff(t) <= 0).any():
            raise AnalysisError("RigidMotion.sampled: at least four times that increase are needed.")
        if p.shape != (n, 3) or not np.isfinite(p).all():
            raise AnalysisError(f"RigidMotion.sampled: positions must be ({n}, 3) numbers, not of shape {p.shape}.")
        turned = np.broadcast_to(np.eye(3), (n, 3, 3)) if rotations is None else array(rotations)
        if turned.shape not in ((n, 3, 3), (n, 4)) or not np.isfinite(turned).all():
            raise AnalysisError(
                f"RigidMotion.sampled: rotations must be ({n}, 3, 3) matrices or ({n}, 4) quaternions, not of shape "
                f"{turned.shape}."
            )
        if turned.ndim == 3 and np.abs(turned @ turned.transpose(0, 2, 1) - np.eye(3)).max() > 1e-6:
            raise AnalysisError("RigidMotion.sampled: rotations must be rotation matrices.")
        quaternion = without_flips(turned if turned.ndim == 2 else from_matrix(turned))
        return cls(curve=scipy.interpolate.CubicSpline(t, np.hstack([p, quaternion])))

    @classmethod
    def of(cls, result: Result, body: Body | str) -> RigidMotion:
        """The motion of a body, or of the body of that name, in the result of another analysis."""
        if not isinstance(result, Result) or not len(result.t):
            raise AnalysisError(f"RigidMotion.of: a Result is needed, not {type(result).__name__}.")
        name = getattr(body, "name", body)
        own = [b for b in result.system.bodies if b.name == name]
        if not own:
            names = ", ".join(b.name for b in result.system.bodies)
            raise AnalysisError(f"RigidMotion.of: no body {name!r} in the result; it has {names}.")
        motion = result.motion(own[0])
        back = motion.rotation.transpose(0, 2, 1)
        spin, rate = (np.einsum("tij,tj->ti", back, w) for w in (motion.spin, motion.spin_rate))
        quaternion = without_flips(from_matrix(np.ascontiguousarray(motion.rotation)))
        first, second = quaternion_rates(quaternion, spin, rate)
        return cls(
            curve=Curve(
                result.t,
                np.hstack([motion.position, quaternion]),
                np.hstack([motion.velocity, first]),
                np.hstack([motion.acceleration, second]),
            )
        )

    @property
    def end(self) -> float:
        """Last time at which it is known; infinite for functions."""
        if self.curve is None:
            return np.inf
        return float(self.curve.t[-1] if isinstance(self.curve, Curve) else self.curve.x[-1])

    def poses(self, times: ArrayLike) -> Poses:
        """Poses with their derivatives at times that increase."""
        t = np.atleast_1d(np.asarray(times, dtype=float))
        if self.curve is None:
            return self._integrated(t)
        if isinstance(self.curve, Curve):
            x, first, second = self.curve.at(t)
        else:
            x, first, second = (self.curve(t, k) for k in range(3))
        quaternion, spin, rate = spins(x[:, 3:], first[:, 3:], second[:, 3:])
        return Poses(x[:, :3], quaternion, first[:, :3], spin, second[:, :3], rate)

    def terms(self, times: Array, gravity: Array | None = None) -> tuple[Array, Array, Array]:
        """a - Rᵀg, ω and ω' (times, 3) in body axes."""
        if self.curve is not None or (gravity is not None and gravity.any()):
            poses = self.poses(times)
            pull = poses.acceleration - (np.zeros(3) if gravity is None else gravity)
            back = to_matrix(poses.quaternion).transpose(0, 2, 1)
            return np.einsum("tij,tj->ti", back, pull), poses.spin, poses.spin_rate
        spin, rate = _values(self.angular_velocity, times)
        return _values(self.acceleration, times)[0], spin, rate

    def _integrated(self, t: Array) -> Poses:
        """Poses from ω and a by integration from t = 0."""

        def slope(time: float, state: Array) -> Array:
            here = np.array([time])
            spin = _values(self.angular_velocity, here)[0]
            push = _values(self.acceleration, here)[0]
            quaternion = state[None, 6:]
            first, _ = quaternion_rates(quaternion, spin, np.zeros((1, 3)))
            return np.concatenate([state[3:6], to_matrix(quaternion)[0] @ push[0], first[0]])

        start = np.concatenate([self.position, self.velocity, from_matrix(self.rotation)])
        spin, rate = _values(self.angular_velocity, t)
        push = _values(self.acceleration, t)[0]
        last = max(float(t[-1]), 1e-300)
        found = scipy.integrate.solve_ivp(slope, (0.0, last), start, "DOP853", t, rtol=1e-9, atol=1e-12)
        if not found.success:
            raise AnalysisError(f"the rigid motion cannot be followed: {found.message}")
        state = found.y.T
        quaternion = state[:, 6:] / np.linalg.norm(state[:, 6:], axis=1, keepdims=True)
        turned = np.einsum("tij,tj->ti", to_matrix(quaternion), push)
        return Poses(state[:, :3], quaternion, state[:, 3:6], spin, turned, rate)


def _three(given: Any, what: str) -> tuple[Profile, ...]:
    """Three scalar profiles from whatever a vector that depends on time is given as."""
    try:
        if isinstance(given, Profile):
            parts = given.components()
        elif callable(given):
            if np.shape(given(0.0)) != (3,):
                raise FlexmbsError(f"a function of time with three values is needed, not {given!r}")
            parts = tuple(as_profile(lambda t, k=k: given(t)[k]) for k in range(3))
        else:
            parts = tuple(as_profile(x) for x in given)
    except (FlexmbsError, TypeError) as error:
        raise AnalysisError(f"{what}: {error}") from error
    if len(parts) != 3:
        raise AnalysisError(f"{what} has three components in body axes, not {len(parts)}.")
    return parts


def _values(profiles: Any, t: Array) -> tuple[Array, Array]:
    """Values and rates (times, 3)."""
    if profiles is None:
        return np.zeros((len(t), 3)), np.zeros((len(t), 3))
    laws = [p.at(t) for p in profiles]
    return np.stack([x for x, _, _ in laws], axis=1), np.stack([v for _, v, _ in laws], axis=1)
