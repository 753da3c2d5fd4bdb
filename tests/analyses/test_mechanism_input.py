"""What users get wrong about mechanisms, and what they are told: the thing is named, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm

NAN = float("nan")
ground, body, flat = fm.Ground(), fm.RigidBody("body", 1.0, (1, 1, 1)), fm.PlanarBody("flat", 1.0, 1.0)
o, end = ground.at(0, 0, 0), body.at(-1, 0, 0)
hinge = fm.Revolute("hinge", o, end)


def rigid(**options: Any) -> Any:
    return fm.RigidBody("b", 1.0, **({"inertia": (1, 1, 1)} | options))


def planar(**options: Any) -> Any:
    return fm.PlanarBody("b", 1.0, 1.0, **options)


def pendulum() -> fm.System:
    return fm.System([ground, body], [hinge], [fm.Gravity((0, -9.81, 0))])


def driven() -> fm.System:
    return fm.System([ground, body], [hinge, fm.Drive("drive", hinge.angle, lambda t: 2 * np.pi * t)])


def run(**options: Any) -> Any:
    return fm.forward_dynamics(pendulum(), **({"t_end": 0.1, "step": 0.01} | options))


def state(q: Any) -> fm.State:
    initial = pendulum().initial
    return fm.State(0.0, np.asarray(q, float), initial.v, initial.angles)


MODEL: dict[str, tuple[Callable[[], Any], str]] = {
    "inertia": (lambda: rigid(inertia="abc"), "b: inertia must be three moments or a (3, 3) matrix, not 'abc'"),
    "center": (lambda: rigid(center="abc"), "b: center must be 3 numbers, not 'abc'"),
    "rotation of NaN": (lambda: rigid(rotation=(NAN, 0, 0)), "b: rotation must be numbers"),
    "rotation": (lambda: rigid(rotation=np.ones((3, 3))), "b: rotation: a rotation is an orthonormal"),
    "inertia axes": (lambda: rigid(inertia_axes="x"), "b: inertia_axes must be numbers"),
    "angle": (lambda: planar(angle=NAN), "b: angle must be a finite number, not nan"),
    "spin": (lambda: planar(angular_velocity="fast"), "b: angular_velocity must be a finite number, not 'fast'"),
    "point": (lambda: body.at("end"), "body.at(): a point is two or three numbers"),
    "axes": (lambda: body.at(0, 0, 0, axes="x"), "body.at(): axes must be numbers"),
    "axis": (lambda: fm.Revolute("j", o, end, axis="w"), 'j: axis must be "x", "y", "z" or a vector'),
    "no axis": (lambda: fm.planar.Prismatic("j", o, flat.at(0, 0), axis=(0, 0)), "j: axis must be"),
    "cross": (lambda: fm.Universal("j", o, end, cross=(0, 0, 0)), "j: cross must be"),
    "start": (lambda: fm.Revolute("j", o, end, start="up"), "j: start must be a finite number, not 'up'"),
    "rate": (lambda: fm.planar.Revolute("j", o, flat.at(0, 0), rate=NAN), "j: rate must be a finite number"),
    "pitch": (lambda: fm.Screw("j", o, end, pitch=NAN), "j: pitch must be a finite number"),
    "drive": (lambda: fm.Drive("d", hinge.angle, "abc"), "d: a function of time is a number, a profile"),
    "drive of a joint": (lambda: fm.Drive("d", hinge, 1.0), "d: a joint's coordinate is needed"),
    "name of a drive": (lambda: fm.Drive(3, hinge.angle, 1.0), "needs a name (a string), not 3"),
    "terms": (lambda: fm.Coupling("c", hinge.angle), "c: terms are pairs of a factor and a joint's coordinate"),
    "no terms": (lambda: fm.Coupling("c", ()), "c: terms are pairs"),
    "factor": (lambda: fm.Coupling("c", ((NAN, hinge.angle),)), "c: factor must be a finite number"),
    "ratio": (lambda: fm.gear("c", hinge.angle, hinge.angle, "x"), "c: ratio must be a finite number, not 'x'"),
    "one body": (lambda: fm.System(body), "bodies: a list is needed"),
    "body by name": (lambda: fm.System(["body"]), "bodies: 'body' is not a body"),
    "joint among bodies": (lambda: fm.System([ground, body, hinge]), "bodies: Revolute 'hinge' is not a body"),
    "body among joints": (lambda: fm.System([ground], [body]), "joints: RigidBody 'body' is not a joint"),
    "one force": (lambda: fm.System([ground], [], fm.Gravity((0, 0, 1))), "forces: a list is needed"),
    "gravity": (lambda: fm.System([ground], [], [fm.Gravity((0, 0, NAN))]), "Gravity: acceleration must be 3"),
    "sizes": (lambda: pendulum().equations(0.0, np.zeros(3), np.zeros(6)), "q has shape (3,)"),
    "increment": (lambda: pendulum().retract(pendulum().initial.q, np.zeros(7)), "increment has shape (7,)"),
    "coordinate": (lambda: run().coordinate("hinge"), "a joint's coordinate is needed"),
    "rho": (lambda: fm.GeneralizedAlpha(rho_inf="low"), "rho_inf must be at least 0 and less than 1, not 'low'"),
}  # fmt: skip

ANALYSIS: dict[str, tuple[Callable[[], Any], str]] = {
    "no system": (lambda: fm.forward_dynamics(body, 1.0), "a System is needed, not RigidBody"),
    "nothing moves": (lambda: fm.forward_dynamics(fm.System([ground]), 1.0), "no body that can move"),
    "end": (lambda: run(t_end="late"), "t_end must be a number of seconds, not 'late'"),
    "step": (lambda: run(step="small"), "step must be a number of seconds, not 'small'"),
    "output": (lambda: run(output_step=NAN), "output_step nan must be a multiple of step"),
    "integrator": (lambda: run(integrator=fm.TangentSpaceODE), "integrator must be one such as TangentSpaceODE()"),
    "start of another": (lambda: run(start=state(np.zeros(14))), "start does not belong to this system"),
    "open start": (lambda: run(start=state([5, 0, 0, 1, 0, 0, 0])), "hinge: translation along global x misses by 4"),
    "times": (lambda: fm.kinematics(driven(), "now"), "times must be a list of numbers, not 'now'"),
    "formulation": (lambda: fm.inverse_dynamics(driven(), [0.0], fm.Maggi), "formulation must be one such as Maggi()"),
    "no mechanism": (lambda: fm.inverse_dynamics(body, [0.0]), "a System is needed, not RigidBody"),
}


@pytest.mark.parametrize("case", MODEL.values(), ids=MODEL)
def test_a_model_is_refused(case: tuple[Callable[[], Any], str]) -> None:
    with pytest.raises(fm.ModelError, match=re.escape(case[1])):
        case[0]()


@pytest.mark.parametrize("case", ANALYSIS.values(), ids=ANALYSIS)
def test_an_analysis_is_refused(case: tuple[Callable[[], Any], str]) -> None:
    with pytest.raises(fm.AnalysisError, match=re.escape(case[1])):
        case[0]()


def test_driven_angles_count_turns_however_few_instants_are_kept() -> None:
    motion = fm.kinematics(driven(), [2.25, 7.5])
    assert_allclose(motion.coordinate(hinge.angle), 2 * np.pi * np.array([2.25, 7.5]), rtol=1e-12)
