"""Bodies of random points that move by random shapes: every identity of a flexible body holds for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexmbs.bodies.body import PLANAR, RIGID, Body, Frame, rotation_matrix
from flexmbs.bodies.flexible_inertia import BodyMoments, packed

N = 3


@dataclass(frozen=True, eq=False)
class Cloud(Body):
    """Points with masses; planar ones stay in the plane."""

    planar: bool = False
    seed: int = 0
    stiffens: bool = True
    position: tuple[float, ...] | None = None

    @property
    def kind(self) -> int:
        return PLANAR if self.planar else RIGID

    @property
    def n_q(self) -> int:
        return (3 if self.planar else 7) + N

    @property
    def n_v(self) -> int:
        return (3 if self.planar else 6) + N

    @property
    def modes(self) -> int:
        return N

    @property
    def initial(self):
        return (None if self.position is None else np.asarray(self.position, float), None, None, None)

    def points(self):
        rng = np.random.default_rng(self.seed)
        points, masses, shapes = rng.normal(size=(30, 3)), rng.uniform(0.5, 1.5, 30), 0.3 * rng.normal(size=(30, 3, N))
        bends = 0.1 * rng.normal(size=(30, 3, N, N)) * self.stiffens
        if self.planar:
            points[:, 2] = shapes[:, 2] = bends[:, 2] = 0.0
        root = np.repeat(np.sqrt(masses), 3)[:, None]
        shapes = (np.linalg.qr(root * shapes.reshape(-1, N))[0] / root).reshape(-1, 3, N)  # orthonormal in the mass
        return points, masses, shapes, bends + bends.transpose(0, 1, 3, 2)

    @property
    def moments(self) -> BodyMoments:
        points, masses, shapes, bends = self.points()
        rng = np.random.default_rng(self.seed + 1)
        return BodyMoments(
            masses.sum(),
            masses @ points,
            np.einsum("p,pi,pj->ij", masses, points, points),
            np.einsum("p,pik->ik", masses, shapes),
            np.einsum("p,pi,pjk->ijk", masses, points, shapes),
            np.diag(rng.uniform(40.0, 160.0, N)),
            0.0 * np.eye(N),
            np.einsum("p,pik,pjl->ijkl", masses, shapes, shapes),
            np.einsum("p,pikl->ikl", masses, bends),
            np.einsum("p,pj,pikl->ijkl", masses, points, bends),
        )

    @property
    def modal_lengths(self):
        return np.full(N, 0.5)

    @property
    def modal_constants(self):
        return packed(self.moments)

    @property
    def mass_parameters(self):
        m = self.moments
        return m.mass, m.first / m.mass, np.trace(m.second) * np.eye(3) - m.second

    def at(self, *position, axes=None):
        rng = np.random.default_rng(abs(hash(tuple(float(x) for x in position))) % 2**32)
        shapes, curved = 0.3 * rng.normal(size=(6, N)), 0.1 * rng.normal(size=(6, N, N))
        if self.planar:
            shapes[[2, 3, 4]] = curved[[2, 3, 4]] = 0.0
        point = np.zeros(3)
        point[: len(position)] = position
        return Frame(self, point, rotation_matrix(axes, "axes"), shapes, curved + curved.transpose(0, 2, 1))
