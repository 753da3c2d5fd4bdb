"""A motion made by hand, so that pages and pictures of it need no simulation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import flexmbs as fm
from flexmbs.view.flesh import Flesh
from flexmbs.view.mechanism import Options, drawing
from flexmbs.view.poses import as_result

HERE = Path(__file__).parent
SIMPLER = "ignore:VTK cannot draw here:flexmbs.view.figure.RenderWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without OpenGL pictures are drawn more simply, which tests of that expect and others do not mind."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.filterwarnings(SIMPLER))


@dataclass(frozen=True, eq=False)
class Made:
    """A soft bar swinging on a pin, a ball at its end, a spring from the ball to the ground; with its bodies."""

    result: fm.Result
    bar: fm.FlexibleBody
    ball: fm.RigidBody
    pin: fm.Revolute

    def surface(self, k: int, scale: float) -> NDArray[np.float64]:
        """Where pictures draw the surface of the bar at the k-th instant, at true scale where its nodes are."""
        picture = drawing(self.result, self.result.t[k : k + 1], Options(scale=scale), None)
        piece = next(p for p in picture.pieces if isinstance(p, Flesh))
        points = piece.moved(*picture.shown.pose(piece.body, 0))
        if scale == 1.0:
            rest = self.bar.reduced.mesh.points
            nearest = np.linalg.norm(piece.solid.points[:, None] - rest, axis=2).argmin(axis=1)
            points = self.result.deformed(self.bar, at=self.result.t[k])[nearest]
        return points


@pytest.fixture(scope="session")
def made() -> Made:
    """Half a turn in 41 instants of unequal distance, the bar deforming by all of its coordinates."""
    soft = fm.Material(young=1e9, poisson=0.3, density=1000.0)
    mesh = fm.Mesh.box((1.0, 0.1, 0.1), (6, 2, 1), origin=(0.0, -0.05, -0.05))
    bar = fm.FlexibleBody("bar", mesh, soft, interfaces=["x0", "x1"], reduction=fm.CraigBampton(modes=2))
    ground, ball = fm.Ground(), fm.RigidBody.sphere("ball <1>", 0.12, 1000.0)
    pin = fm.Revolute("pin", ground.at(0, 0), bar.at("x0"))
    tie = fm.Fixed("tie", bar.at("x1"), ball.at(0, 0, 0))
    spring = fm.SpringDamper("spring", (ground.at(0, 1.8, 0), ball.at(0, 0, 0)), 10.0, rest=1.0)
    system = fm.System([ground, bar, ball], [pin, tie], [fm.Gravity((0, -9.81, 0)), spring])
    start = as_result(system)
    t = 2.0 + np.linspace(0.0, 1.0, 41) ** 1.3
    angle = np.pi * (t - 2.0)
    q, v = np.tile(start.q, (len(t), 1)), np.tile(start.v, (len(t), 1))
    first, last = (int(system.layout.body_q[k]) for k in (1, 2))
    q[:, first + 3 : first + 7] = np.column_stack([np.cos(angle / 2), 0 * t, 0 * t, np.sin(angle / 2)])
    sizes = np.random.default_rng(1).uniform(-1, 1, (2, bar.modes))
    waves = sizes[0] * np.sin(6 * angle)[:, None] + sizes[1] * np.cos(9 * angle)[:, None]
    q[:, first + 7 : last] = 0.002 / bar.modal_lengths * waves
    v[:, int(system.layout.body_v[1]) + 5] = np.pi
    q[:, last : last + 3] = np.column_stack([np.cos(angle), np.sin(angle), 0 * t])
    rows, angles = (np.tile(a, (len(t), 1)) for a in (start.multipliers, start.angles))
    rows = rows + np.linspace(1.0, 50.0, len(t))[:, None]
    return Made(fm.Result(system, t, q, v, 0 * v, rows, angles), bar, ball, pin)
