"""Deformation that is no longer small is told in words: who, where and when."""

from __future__ import annotations

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.results.deformation import LARGEST_SHIFT, LARGEST_TURN, too_large

STEEL = fm.Material(young=210e9, poisson=0.3, density=7850.0)


def rod(young: float = 210e9) -> fm.FlexibleBody:
    material = fm.Material(young=young, poisson=0.3, density=7850.0)
    return fm.FlexibleBody(
        "rod", fm.Mesh.line((0, 0, 0), (1.0, 0, 0), 4), material, section=fm.Section.rectangle(0.02, 0.03),
        fixed="start", interfaces="end", reduction=fm.CraigBampton(modes=2), stiffening=False,
    )  # fmt: skip


def tip(body: fm.FlexibleBody, shift: float) -> np.ndarray:
    """Coordinates under a force at the tip that moves it by ``shift`` along y."""
    frame = body.reduced.frame("end")
    d = frame.displacement[1] / body.reduced.constants.stiffness
    return np.asarray(d * shift / (frame.displacement[1] @ d))


def test_small_deformation_is_left_alone() -> None:
    body = rod()
    assert too_large(body, np.arange(3.0), np.outer([0.0, 0.5, 1.0], tip(body, 0.1))) == []


def test_what_is_too_large_is_named_with_place_and_time() -> None:
    """A cantilever bent by its tip turns there by 3/2 of its deflection over its length."""
    body = rod()
    t = np.array([0.0, 1.0, 2.0, 3.0])
    texts = too_large(body, t, np.outer([0.0, 0.8, 1.5, 1.0], tip(body, 0.2)))
    assert len(texts) == 2
    assert "rod: 'end' turns by 0.45 rad at t = 2 s" in texts[0]
    assert f"more than {LARGEST_TURN} rad first at t = 1 s" in texts[0]
    assert "rod: node 4 at (1, 0, 0) moves by 0.3 m at t = 2 s" in texts[1]
    assert "30% of the body's size" in texts[1]
    assert LARGEST_SHIFT < 0.3
    assert "not finite at t = 1 s" in too_large(body, t, np.outer([0.0, np.inf, 1.0, 1.0], tip(body, 0.2)))[0]


def test_many_instants_are_looked_at_sparsely() -> None:
    body = rod()
    t = np.linspace(0.0, 1.0, 1001)
    texts = too_large(body, t, np.outer(np.sin(np.pi * t), tip(body, 0.3)))
    assert "moves by 0.3 m at t = 0.5 s" in texts[-1]


def test_a_run_warns_and_keeps_the_words() -> None:
    body, ground = rod(young=2e6), fm.Ground()
    system = fm.System(
        [ground, body], [fm.Fixed("clamp", ground.at(0, 0, 0), body.at())], [fm.Gravity((0.0, -9.81, 0.0))]
    )
    with pytest.warns(fm.ModelWarning) as caught:
        motion = fm.forward_dynamics(system, 0.2, 1e-2)
    assert [str(w.message) for w in caught] == list(motion.warnings)
    assert "rod: 'end' turns by" in motion.warnings[0]
    assert "warning: rod" in motion.summary()
