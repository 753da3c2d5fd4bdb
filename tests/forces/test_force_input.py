"""Every constructor refuses what it cannot use, and says what to do."""

from __future__ import annotations

import numpy as np
import pytest

from flexmbs.bodies import Ground, PointMass, RigidBody
from flexmbs.errors import FlexmbsError, ModelError
from flexmbs.forces import (
    AppliedForce,
    Bushing,
    JointFriction,
    SphereOnPlane,
    SphereOnSphere,
    SpringDamper,
    Stop,
    UserForce,
)  # fmt: skip
from flexmbs.joints import spatial
from flexmbs.profiles import FunctionProfile, Harmonic
from flexmbs.system.system import System

ground, body = Ground(), RigidBody("body", 1.0, np.eye(3))
a, b = ground.at(), body.at()
angle = spatial.Revolute("hinge", a, b).angle
UNSYMMETRIC = np.eye(6) + np.eye(6, k=1)

BAD = [
    (lambda: SpringDamper("", angle), "needs a name"),
    (lambda: SpringDamper("s", a), "coordinate such as"),
    (lambda: SpringDamper("s", (a, 3)), "acts on frames"),
    (lambda: SpringDamper("s", (b, body.at(1, 0, 0)), 1.0, rest=1.0), "both frames are on 'body'"),
    (lambda: SpringDamper("s", (a, b), stiffness=3.0), "rest="),
    (lambda: SpringDamper("s", angle, stiffness="soft"), "stiffness must be a finite number"),
    (lambda: SpringDamper("s", angle, damping=np.nan), "damping must be a finite number"),
    (lambda: SpringDamper("s", angle, stiffness=lambda x: 3 * x), "sample it"),
    (lambda: SpringDamper("s", angle, damping=FunctionProfile(lambda v: 3 * v)), "made of coefficients"),
    (lambda: SpringDamper("s", angle, stiffness=Harmonic((1, 2, 3), 1.0)), "scalar"),
    (lambda: SpringDamper("s", angle, rest=np.inf), "rest must be a finite number"),
    (lambda: SpringDamper("s", angle, force="full"), "force: a function of time"),
    (lambda: SpringDamper("s", angle, force=Harmonic((1, 2, 3), 1.0)), "not a vector"),
    (lambda: Stop("s", b, lower=1.0, stiffness=1.0), "coordinate is needed"),
    (lambda: Stop("s", angle, stiffness=1.0), "lower or an upper"),
    (lambda: Stop("s", angle, 1.0, -1.0, stiffness=1.0), "must be less than"),
    (lambda: Stop("s", angle, 1.0), "stiffness must be a positive"),
    (lambda: Stop("s", angle, 1.0, stiffness=1.0, exponent=0.5), "at least 1"),
    (lambda: Stop("s", angle, 1.0, stiffness=1.0, damping=-1.0), "damping must be"),
    (lambda: JointFriction("f", None, 1.0), "coordinate is needed"),
    (lambda: JointFriction("f", angle, preload=-1.0), "preload must be"),
    (lambda: JointFriction("f", angle, viscous=-1.0), "viscous must be"),
    (lambda: JointFriction("f", angle, 1.0, slip_speed=0.0), "slip_speed must be a positive"),
    (lambda: AppliedForce("f", body), "acts on frames"),
    (lambda: AppliedForce("f", b, force=(1, 2)), "three components"),
    (lambda: AppliedForce("f", b, force=3.0), "three components"),
    (lambda: AppliedForce("f", b, torque=Harmonic(1.0, 2.0)), "three components"),
    (lambda: AppliedForce("f", b, torque=(1, "x", 2)), r"torque\[1\]"),
    (lambda: Bushing("b", a, None, (1,) * 6), "acts on frames"),
    (lambda: Bushing("b", a, ground.at(1, 0, 0), (1,) * 6), "both frames"),
    (lambda: Bushing("b", a, b, (1, 2, 3)), "stiffness is six numbers"),
    (lambda: Bushing("b", a, b, UNSYMMETRIC), "symmetric"),
    (lambda: Bushing("b", a, b, (1, 1, 1, 1, 1, -1)), "negative"),
    (lambda: Bushing("b", a, b, (1,) * 6, damping="some"), "damping is six numbers"),
    (lambda: Bushing("b", a, b, (1,) * 6, preload=(1, 2)), "preload must be 6"),
    (lambda: SphereOnPlane("c", a, 1, 1e3), "acts on frames"),
    (lambda: SphereOnPlane("c", a, b, 0.0), "stiffness must be a positive"),
    (lambda: SphereOnPlane("c", a, b, 1e3, normal=(0, 0, 0)), "normal must be"),
    (lambda: SphereOnPlane("c", a, b, 1e3, radius=-1), "radius must be"),
    (lambda: SphereOnPlane("c", a, b, 1e3, friction=-0.1), "friction must be"),
    (lambda: SphereOnPlane("c", a, b, 1e3, slip_speed=0), "slip_speed must be"),
    (lambda: SphereOnSphere("c", a, b, 1e3), "radius_i"),
    (lambda: SphereOnSphere("c", a, b, 1e3, radius_i=-1, radius_j=2), "radius_i must be"),
    (lambda: UserForce(3, b, print), "needs a name"),
    (lambda: UserForce("u", [], print), "at least one frame"),
    (lambda: UserForce("u", [body], print), "acts on frames"),
    (lambda: UserForce("u", b, 3.0), "cannot be called"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BAD)))
def test_refused_in_words(number):
    make, words = BAD[number]
    with pytest.raises(FlexmbsError, match=words):
        make()


def test_system_refuses_strangers_and_namesakes():
    push = AppliedForce("push", b)
    stranger = AppliedForce("other", PointMass("stranger").at())
    with pytest.raises(ModelError, match="'stranger' is not in the system"):
        System([ground, body], [], [stranger])
    with pytest.raises(ModelError, match="two force items are named 'push'"):
        System([ground, body], [], [push, AppliedForce("push", b)])
    with pytest.raises(ModelError, match="is not a force of a mechanism"):
        System([ground, body], [], ["gravity"])
