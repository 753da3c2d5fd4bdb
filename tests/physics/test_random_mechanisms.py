"""Random mechanisms in space and plane: what holds for every mechanism, whatever its bodies, joints and loops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexmbs as fm
from flexmbs.joints.joint import Joint
from flexmbs.rotations import exp
from flexmbs.system.linear import linearised
from flexmbs.system.saddle import accelerations as along_the_graph

SEEDS = range(12)
FORMULATIONS = [
    fm.Multipliers(),
    fm.Maggi(),
    fm.Maggi(basis="qr"),
    fm.UdwadiaKalaba(),
    fm.Gauss(),
    fm.GibbsAppell(),
    fm.AugmentedLagrangian(),
]
STIFFNESS = np.diag([90.0, 70, 50, 3, 2, 4]) + 0.8 * (np.ones((6, 6)) - np.eye(6))


def pose(turn: Any = (0, 0, 0), shift: Any = (0, 0, 0)) -> np.ndarray:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = exp(np.asarray(turn, float)), shift
    return out


class Blueprint:
    """A mechanism in a random closed position, described apart from bodies' reference frames and from any order.

    Each body hangs on an earlier one by a random joint; further joints close loops, at a place where they fit.
    """

    def __init__(self, seed: int, planar: bool) -> None:
        self.rng, self.bent = np.random.default_rng(seed), seed % 2 == 0
        rng = self.rng
        self.kinds, self.poses = ["ground"], [np.eye(4)]
        self.inertias: list[Any] = [None]
        self.joints: list[tuple[type, dict[str, Any], int, np.ndarray, int, np.ndarray]] = []
        self.coordinates: list[tuple[int, str, float]] = []  # joint, name, value
        count = int(rng.integers(3, 6))
        names = rng.permutation(PLANE if planar else SPACE)
        for k in range(1, count + 1):
            kind = "planar" if planar or k == 1 else str(rng.choice(["rigid", "rigid", "rigid", "point"]))
            on_ground = kind == "planar" and not planar
            self.hang(kind, 0 if on_ground else self.carrier(), str(names[k]), planar or on_ground)
        self.close(planar)

    def carrier(self) -> int:
        return int(self.rng.choice([k for k, kind in enumerate(self.kinds) if kind != "point"]))

    def local(self, planar: bool, kind: str = "rigid") -> np.ndarray:
        """A random frame on a body."""
        turn, shift = self.rng.normal(size=3), 0.4 * self.rng.normal(size=3)
        if planar:
            turn[:2], shift[2] = 0.0, 0.0
        return pose(turn, 0.0 * shift if kind == "point" else shift)

    def hang(self, kind: str, parent: int, joint: str, planar: bool) -> None:
        if planar and joint not in PLANE:
            joint = "planar revolute"
        if kind == "point":
            joint = str(self.rng.choice(POINTS))
        maker, options, between, values = motion(joint, self.rng)
        one, two = self.local(planar), self.local(planar, kind)
        here = self.poses[parent] @ one @ between
        own = here @ np.linalg.inv(two)
        if kind == "point":
            two = np.linalg.inv(pose(shift=own[:3, 3])) @ here  # a point does not turn
            own = pose(shift=own[:3, 3])
        rng = self.rng
        mass, centre, moments = 1.0 + rng.random(), 0.2 * rng.normal(size=3), 0.1 + 0.05 * rng.random(3)
        self.joints.append((maker, options, parent, one, len(self.kinds), two))
        if values:
            self.coordinates.append((len(self.joints) - 1, *next(iter(values.items()))))
        self.kinds.append(kind)
        self.poses.append(own)
        turn = exp(rng.normal(size=3))
        self.inertias.append((mass, centre, turn @ np.diag(moments) @ turn.T))

    def close(self, planar: bool) -> None:
        """Joints that close loops, each with rows of its own as long as motion is left; one that repeats a joint."""
        for joint in self.rng.permutation(PLANE if planar else LOOPS):
            maker, options, between, _ = motion(str(joint), self.rng)
            i, j = sorted(int(k) for k in self.rng.permutation(len(self.kinds))[:2])
            if "point" in (self.kinds[i], self.kinds[j]):
                one, two = (self.local(planar, self.kinds[k]) for k in (i, j))
                ends = [self.poses[i] @ one, self.poses[j] @ two]
                maker, options = fm.Distance, {"length": float(np.linalg.norm((ends[1] - ends[0])[:3, 3]))}
            else:
                one = self.local(planar)
                two = np.linalg.inv(self.poses[j]) @ self.poses[i] @ one @ between
            self.joints.append((maker, options, i, one, j, two))
            system = self.build().system
            jacobian = system.jacobian(system.evaluate(0.0, system.walked[0], np.zeros(system.n_v))).toarray()
            sizes = np.linalg.svd(jacobian, compute_uv=False)
            if len(jacobian) >= system.n_v or sizes[-1] < 0.02 * sizes[0]:
                self.joints.pop()
        self.joints.append(self.joints[0])

    def build(self, moved: bool = False, shuffled: bool = False, velocities: Any = None) -> Mechanism:
        """The mechanism; ``moved`` to other reference frames of its bodies, ``shuffled`` in another order."""
        rng = np.random.default_rng(99)
        bodies: list[Any] = []
        shifts = []
        for k, kind in enumerate(self.kinds):
            turn, shift = rng.normal(size=3), rng.normal(size=3)
            if kind == "planar":
                turn[:2], shift[2] = 0.0, 0.0
            fixed = not moved or kind in ("ground", "point")
            shifts.append(np.eye(4) if fixed else pose(turn, shift))
            bodies.append(self.body(k, shifts[k], velocities))
        frames = []
        for _, _, i, one, j, two in self.joints:
            frames.append([frame(bodies[k], np.linalg.inv(shifts[k]) @ at) for k, at in ((i, one), (j, two))])
        joints: list[Any] = [
            spec[0](f"j{k}", *pair, **spec[1]) for k, (spec, pair) in enumerate(zip(self.joints, frames, strict=True))
        ]
        coordinates = [getattr(joints[k], name) for k, name, _ in self.coordinates]
        forces = [fm.Gravity((1.0, -9.81, 2.0)), *self.forces(frames, coordinates)]
        joints += self.drives(coordinates)
        if shuffled:
            bodies_in, joints_in = ([items[k] for k in rng.permutation(len(items))] for items in (bodies, joints))
        else:
            bodies_in, joints_in = bodies, joints
        return Mechanism(fm.System(bodies_in, joints_in, forces), bodies, joints)

    def body(self, k: int, shift: np.ndarray, velocities: Any) -> Any:
        kind, at = self.kinds[k], self.poses[k] @ shift
        if kind == "ground":
            return fm.Ground()
        mass, centre, inertia = self.inertias[k]
        to = np.linalg.inv(shift)
        centre = to[:3, :3] @ (centre * [1, 1, kind == "rigid"]) + to[:3, 3]
        options: dict[str, Any] = {}
        if velocities is not None:
            velocity, spin = velocities(k, shift[:3, 3])
            options = {"velocity": velocity, "angular_velocity": at[:3, :3].T @ spin}
        if kind == "rigid":
            turned = to[:3, :3] @ inertia @ to[:3, :3].T
            return fm.RigidBody(f"b{k}", mass, turned, centre, position=at[:3, 3], rotation=at[:3, :3], **options)
        if kind == "point":
            options.pop("angular_velocity", None)
            return fm.PointMass(f"b{k}", mass, position=at[:3, 3], **options)
        if options:
            options = {"velocity": options["velocity"][:2], "angular_velocity": options["angular_velocity"][2]}
        angle = float(np.arctan2(at[1, 0], at[0, 0]))
        return fm.PlanarBody(f"b{k}", mass, 0.1, centre[:2], position=at[:2, 3], angle=angle, **options)

    def forces(self, frames: list[Any], coordinates: list[Any]) -> list[Any]:
        forces = [
            fm.SpringDamper("spring", (frames[0][0], frames[2][1]), stiffness=40.0, damping=3.0, rest=0.3),
            fm.Bushing("bushing", frames[1][0], frames[1][1], STIFFNESS, 0.1 * STIFFNESS),
            fm.AppliedForce("push", frames[-2][1], force=(3.0, fm.Harmonic(2.0, 1.0), 1.0), torque=(0.1, 0.2, 0.3)),
            fm.AppliedForce("follower", frames[2][1], force=(1.0, 2.0, 3.0), follows=True),
        ]
        if coordinates:
            forces.append(fm.SpringDamper("on joint", coordinates[-1], stiffness=5.0, damping=0.5, rest=0.1))
            forces.append(fm.JointFriction("friction", coordinates[0], preload=2.0, viscous=0.3, slip_speed=0.5))
        return forces

    def drives(self, coordinates: list[Any]) -> list[Any]:
        """The first coordinate is driven from where it is; two more, where there are, are coupled."""
        if not coordinates:
            return []
        values = [value for _, _, value in self.coordinates]
        out: list[Any] = [fm.Drive("drive", coordinates[0], fm.Polynomial((values[0], 0.7, 0.9)))]
        if len(values) > 2 and self.bent:

            def bent(x: Any, y: Any) -> Any:
                return x + 0.3 * np.sin(2 * x) - 0.6 * y - 0.2 * y * y

            constant = bent(values[1], values[2])
            out.append(fm.Relation("relation", lambda x, y: bent(x, y) - constant, coordinates[1:3]))
        elif len(values) > 2:
            constant = values[1] - 0.6 * values[2]
            out.append(fm.Coupling("coupling", ((1.0, coordinates[1]), (-0.6, coordinates[2])), constant))
        return out


@dataclass
class Mechanism:
    """A system, with bodies and joints in the order of the blueprint."""

    system: fm.System
    bodies: list[Any]
    joints: list[Any]

    def result(self, v: Any = None) -> fm.Result:
        """The initial instant (or one with other velocities) with its accelerations and multipliers."""
        system, state = self.system, self.system.initial
        v = state.v if v is None else v
        solution = fm.accelerations(system, 0.0, state.q, v, fm.Multipliers(), state.angles)
        rate, multipliers = solution.accelerations[None], solution.multipliers[None]
        return fm.Result(system, np.zeros(1), state.q[None], v[None], rate, multipliers, state.angles[None])


def frame(body: Any, at: np.ndarray) -> Any:
    return body.at(*at[:3, 3], axes=at[:3, :3])


def motion(joint: str, rng: np.random.Generator) -> tuple[Any, dict[str, Any], np.ndarray, dict[str, float]]:
    """A joint: class, options, a pose of its second frame in the first that it allows, and its coordinates there."""
    axis = rng.normal(size=3) * ([1, 1, 0] if joint.startswith("planar") else [1, 1, 1])
    axis /= np.linalg.norm(axis)
    turn, travel = rng.uniform(-1.2, 1.2), rng.uniform(-0.5, 0.5)
    across = np.cross(axis, rng.normal(size=3))
    any_turn, any_shift = rng.normal(size=3), rng.normal(size=3)
    z = np.array([0.0, 0.0, turn])
    flat = any_shift * [1, 1, 0]
    along = {"axis": axis}
    left, resting = np.cross([0, 0, 1.0], axis), any_shift.copy()
    resting[2] = 0.3 * np.sqrt(1.0 - exp(any_turn)[2, 1] ** 2)
    toward = np.arctan2(axis[1], axis[0])
    curves = {"curve_i": fm.planar.Circle(0.3), "curve_j": fm.planar.Circle(0.2),
              "parameters": (toward, toward + np.pi - turn)}  # fmt: skip
    at = {"angle": turn}
    table: dict[str, tuple[Any, dict[str, Any], np.ndarray, dict[str, float]]] = {
        "fixed": (fm.Fixed, {}, pose(), {}),
        "revolute": (fm.Revolute, along, pose(turn * axis), at),
        "prismatic": (fm.Prismatic, along, pose(shift=travel * axis), {"distance": travel}),
        "cylindrical": (fm.Cylindrical, along, pose(turn * axis, travel * axis), {"distance": travel}),
        "screw": (fm.Screw, along | {"pitch": 0.3}, pose(turn * axis, 0.3 * turn / (2 * np.pi) * axis), at),
        "spherical": (fm.Spherical, {}, pose(any_turn), {}),
        "universal": (fm.Universal, {}, pose((turn, 0, 0)) @ pose((0, travel, 0)), {}),
        "plane": (fm.PlaneJoint, along, pose(turn * axis, across), {}),
        "point on line": (fm.PointOnLine, along, pose(any_turn, travel * axis), {}),
        "point in plane": (fm.PointInPlane, along, pose(any_turn, across), {}),
        "distance": (fm.Distance, {"length": float(np.linalg.norm(any_shift))}, pose(any_turn, any_shift), {}),
        "constant velocity": (fm.ConstantVelocity, along, pose(0.7 * across / np.linalg.norm(across)), {}),
        "rolling disc": (fm.RollingDisc, {"radius": 0.3}, pose(any_turn, resting), {}),
        "knife edge": (fm.KnifeEdge, along, pose(any_turn, any_shift), {}),
        "user distance": (user_distance, {"length": float(np.linalg.norm(any_shift))}, pose(any_turn, any_shift), {}),
        "user slip": (user_slip, {}, pose(any_turn, any_shift), {}),
        "planar rolling": (fm.planar.Rolling, along | {"radius": 0.3}, pose(z, travel * axis + 0.3 * left), {}),
        "planar cam": (fm.planar.Cam, curves, pose(z, 0.5 * axis), {}),
        "planar knife edge": (fm.planar.KnifeEdge, along, pose(z, flat), {}),
        "planar user distance": (user_distance, {"length": float(np.linalg.norm(flat))}, pose(z, flat), {}),
        "planar user slip": (user_slip, {}, pose(z, flat), {}),
        "planar revolute": (fm.planar.Revolute, {}, pose(z), at),
        "planar prismatic": (fm.planar.Prismatic, along, pose(shift=travel * axis), {"distance": travel}),
        "planar point on line": (fm.planar.PointOnLine, along, pose(z, travel * axis), {"distance": travel}),
        "planar distance": (fm.planar.Distance, {"length": float(np.linalg.norm(flat))}, pose(z, flat), {}),
    }
    return table[joint]


def user_distance(name: str, one: Any, two: Any, length: float) -> Any:
    """A rod as a Python function."""

    def miss(t: Any, states: Any) -> Any:
        way = states[1].position - states[0].position
        return np.sqrt(way @ way) - length

    return fm.UserConstraint(name, [one, two], miss)


def user_slip(name: str, one: Any, two: Any) -> Any:
    """A relation of velocities as a Python function that bends the twist of one body into that of the other."""

    def slip(t: Any, states: Any) -> Any:
        i, j = states
        return i.rotation[:, 0] @ (j.velocity - i.velocity) + 0.3 * (j.angular_velocity - i.angular_velocity)[2]

    return fm.UserConstraint(name, [one, two], slip, level="velocity")


PLANE = [
    "planar revolute", "planar prismatic", "planar point on line", "planar distance", "planar rolling", "planar cam",
    "planar knife edge", "planar user distance", "planar user slip", "planar revolute", "planar prismatic",
]  # fmt: skip
SPACE = [
    "fixed", "revolute", "prismatic", "cylindrical", "screw", "spherical", "universal", "plane", "point on line",
    "point in plane", "distance", "constant velocity", "rolling disc", "knife edge", "user distance", "user slip",
]  # fmt: skip
POINTS = ["spherical", "point on line", "point in plane", "distance"]
LOOPS = [
    "spherical", "cylindrical", "universal", "point on line", "point in plane", "distance", "plane",
    "constant velocity", "rolling disc", "knife edge", "user distance", "user slip",
]  # fmt: skip


@pytest.fixture(scope="module", params=[(seed, planar) for seed in SEEDS for planar in (False, True)], ids=str)
def blueprint(request: pytest.FixtureRequest) -> Blueprint:
    return Blueprint(*request.param)


@pytest.fixture(scope="module")
def moving(blueprint: Blueprint) -> tuple[Mechanism, Any]:
    """The mechanism with random velocities that its joints allow, and those of any point of a body."""
    still = blueprint.build()
    system, state = still.system, still.system.initial
    v = np.random.default_rng(3).normal(size=system.n_v)
    work = system.evaluate(0.0, state.q, v, state.angles)
    v -= np.linalg.lstsq(system.jacobian(work).toarray(), work.phi_rate, rcond=1e-10)[0]
    result = still.result(v)

    def velocities(body: int, at: Any) -> tuple[Any, Any]:
        own = still.bodies[body]
        where = own if blueprint.kinds[body] == "point" else own.at(*at)
        return result.velocity(where)[0], result.angular_velocity(own)[0]

    return blueprint.build(velocities=velocities), velocities


def test_the_position_is_closed_as_described_and_given_velocities_are_kept(
    blueprint: Blueprint, moving: tuple[Mechanism, Any]
) -> None:
    mechanism, velocities = moving
    result = mechanism.result()
    assert mechanism.system.redundant  # one joint is there twice
    for k, body in enumerate(mechanism.bodies):
        assert_allclose(result.position(body)[0], blueprint.poses[k][:3, 3], atol=1e-12)
        assert_allclose(result.rotation(body)[0], blueprint.poses[k][:3, :3], atol=1e-12)
        assert_allclose(result.velocity(body)[0], velocities(k, np.zeros(3))[0], atol=1e-9)


def test_all_formulations_agree(moving: tuple[Mechanism, Any]) -> None:
    system = moving[0].system
    state = system.initial
    equations = system.equations(0.0, state.q, state.v, state.angles)
    first = FORMULATIONS[0].solve(equations)
    size, force = np.abs(first.accelerations).max(), np.abs(first.multipliers).max()
    for formulation in FORMULATIONS[1:]:
        other = formulation.solve(equations)
        assert_allclose(other.accelerations, first.accelerations, atol=1e-9 * size, err_msg=repr(formulation))
        assert_allclose(other.multipliers, first.multipliers, atol=1e-9 * force, err_msg=repr(formulation))
    work = system.evaluate(0.0, state.q, state.v, state.angles)
    for elimination in (system.independent, system.elimination):
        rate, multipliers = along_the_graph(*elimination, state.v, work)
        assert_allclose(rate, first.accelerations, atol=1e-9 * size)
        reactions = system.jacobian(work).T @ multipliers
        assert_allclose(reactions, first.reactions, atol=1e-9 * np.abs(first.reactions).max())


@pytest.mark.parametrize("change", [{"moved": True}, {"shuffled": True}], ids=str)
def test_the_outcome_depends_neither_on_reference_frames_nor_on_the_order(
    blueprint: Blueprint, moving: tuple[Mechanism, Any], change: dict[str, bool]
) -> None:
    """Accelerations of mass centres, reactions at joints, and energies."""
    one = moving[0]
    two = blueprint.build(velocities=moving[1], **change)
    a, b = one.result(), two.result()
    size, force = np.abs(a.rate).max(), np.abs(a.multipliers).max()
    for k, (first, second) in enumerate(zip(one.bodies, two.bodies, strict=True)):
        centres = [m if blueprint.kinds[k] == "point" else m.at(*m.mass_parameters[1]) for m in (first, second)]
        assert_allclose(b.position(centres[1]), a.position(centres[0]), atol=1e-11)
        assert_allclose(b.velocity(centres[1]), a.velocity(centres[0]), atol=1e-8)
        assert_allclose(b.acceleration(centres[1]), a.acceleration(centres[0]), atol=1e-8 * size)
    for first, second in zip(one.joints, two.joints, strict=True):
        assert_allclose(b.reaction(second), a.reaction(first), atol=1e-8 * force)
    assert_allclose(b.energy.total, a.energy.total, rtol=1e-9)
    assert two.system.mobility == one.system.mobility


def test_energy_changes_by_the_power_of_drives_and_forces(moving: tuple[Mechanism, Any]) -> None:
    system, now = moving[0].system, moving[0].result()
    state, rate, h = system.initial, now.rate[0], 2e-6
    steps = [(s * h, s * h * state.v + 0.5 * h * h * rate, state.v + s * h * rate) for s in (-1, 1)]
    near = replace(
        now,
        t=np.array([t for t, _, _ in steps]),
        q=np.array([system.retract(state.q, x) for _, x, _ in steps]),
        v=np.array([v for _, _, v in steps]),
        rate=np.repeat(now.rate, 2, axis=0),
        multipliers=np.repeat(now.multipliers, 2, axis=0),
        angles=np.repeat(now.angles, 2, axis=0),
    )
    power = np.append(now.energy.power_of_forces[0], now.energy.power_of_drives[0])
    change = np.diff(near.energy.total)[0] / (2 * h)
    assert change == pytest.approx(power.sum(), abs=1e-6 * max(1.0, np.abs(power).max()))
    assert np.abs(power).max() > 0.1


def test_tangents_equal_differences(moving: tuple[Mechanism, Any]) -> None:
    """Mass, damping and stiffness of the linearised equations at a random, open position."""
    system, rng = moving[0].system, np.random.default_rng(5)
    start = system.initial
    q = system.retract(start.q, 0.1 * rng.normal(size=system.n_v))
    v, rate = rng.normal(size=(2, system.n_v))
    multipliers = rng.normal(size=len(system.rows))

    def residual(x: Any, dv: Any) -> Any:
        e = system.equations(0.0, system.retract(q, x), v + dv, start.angles)
        return e.M @ rate - e.f - e.J.T @ multipliers

    found = linearised(system, 0.0, q, v, rate, multipliers, start.angles)
    zero, h = np.zeros(system.n_v), 1e-6
    steps = h * np.eye(system.n_v)
    stiffness = np.column_stack([(residual(s, zero) - residual(-s, zero)) / (2 * h) for s in steps])
    damping = np.column_stack([(residual(zero, s) - residual(zero, -s)) / (2 * h) for s in steps])
    mass = system.equations(0.0, q, v, start.angles).M.toarray()
    assert_allclose(found.residual, residual(zero, zero), atol=1e-10 * np.abs(found.residual).max())
    assert_allclose(found.mass, mass, atol=1e-12 * np.abs(found.stiffness).max())
    assert_allclose(found.damping, damping, atol=1e-7 * np.abs(damping).max())
    assert_allclose(found.stiffness, stiffness, atol=1e-7 * np.abs(stiffness).max())
    closed = np.column_stack(
        [(system.evaluate(0.0, system.retract(q, s), v, start.angles).phi
          - system.evaluate(0.0, system.retract(q, -s), v, start.angles).phi) / (2 * h) for s in steps]
    )  # fmt: skip
    assert_allclose(found.jacobian[system.holonomic], closed[system.holonomic], atol=1e-7)
    assert not closed[~system.holonomic].any()


def test_accelerations_keep_the_constraints(moving: tuple[Mechanism, Any]) -> None:
    """Along the motion φ' stays zero, drives included: γ is what the accelerations must fulfil."""
    system, now, h = moving[0].system, moving[0].result(), 1e-5
    state, rate = system.initial, now.rate[0]
    ahead, behind = (
        system.evaluate(
            s * h, system.retract(state.q, s * h * state.v + 0.5 * h * h * rate), state.v + s * h * rate, state.angles
        )
        for s in (1, -1)
    )
    size = max(1.0, np.abs(rate).max())
    assert_allclose(ahead.phi_rate, behind.phi_rate, atol=2 * h * 1e-5 * size)
    assert_allclose(ahead.phi, behind.phi, atol=2 * h * 1e-5 * size)


def test_every_joint_is_among_them() -> None:
    """Joints of both kinds, and what is not a joint: relations, couplings, drives and user functions."""
    found: set[Any] = set()
    for seed, planar in [(seed, planar) for seed in SEEDS for planar in (False, True)]:
        blueprint = Blueprint(seed, planar)
        found |= {spec[0] for spec in blueprint.joints} | {type(j) for j in blueprint.build().joints}
    spatial = {getattr(fm, n) for n in fm.__all__ if isinstance(getattr(fm, n), type)}
    flat = {getattr(fm.planar, n) for n in fm.planar.__all__}
    made = {kind for kind in spatial | flat if issubclass(kind, Joint)}
    assert made - found == set()
    assert {fm.Drive, fm.Coupling, fm.Relation, user_distance, user_slip} <= found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("planar", [False, True])
def test_generalized_alpha_is_of_second_order(seed: int, planar: bool) -> None:
    """Against the motion on the constraint manifold: half the step, a quarter of the error."""
    blueprint = Blueprint(seed, planar)
    blueprint.joints.pop()  # the one that is there twice
    system = blueprint.build().system
    exact = fm.forward_dynamics(system, 0.02, 0.02, integrator=fm.TangentSpaceODE())
    errors = []
    for step in (1e-3, 5e-4):
        result = fm.forward_dynamics(system, 0.02, step, output_step=0.02)
        assert result.outcome == "finished"
        errors.append(np.abs(result.q[-1] - exact.q[-1]).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.15)
