"""Results that were saved say the same as before, without the program that made them."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexmbs as fm
from flexmbs.errors import FileError

STEEL = fm.Material(2e11, 0.3, 7800.0)
SINE = fm.profiles.as_profile(np.sin)
KEPT = ("t", "q", "v", "rate", "multipliers", "angles")


def pendulum(*forces: Any, joints: Any = (), start: float = 0.5) -> fm.System:
    ground, rod = fm.Ground(), fm.RigidBody.box("rod", (1.0, 0.1, 0.1), 100.0)
    hinge = fm.Revolute("hinge", ground.at(0, 0, 0), rod.at(-0.5, 0, 0), axis="z", start=start)
    made = [f(hinge, rod) for f in forces]
    return fm.System([ground, rod], [hinge, *(j(hinge, rod) for j in joints)], [fm.Gravity((0, -9.81, 0)), *made])


def beam() -> fm.System:
    """A beam on a driven hub, with a load that is a Python function of time."""
    ground, hub = fm.Ground(), fm.RigidBody("hub", 1.0, (0.01, 0.01, 0.01))
    blade = fm.FlexibleBody(
        "blade",
        fm.Mesh.line((0, 0, 0), (1, 0, 0), 4),
        STEEL,
        section=fm.Section.rectangle(0.02, 0.01),
        interfaces=["start"],
        reduction=fm.CraigBampton(2),
        loads={"push": fm.Force("end", (0.0, 1.0, 0.0))},
    )
    hinge = fm.Revolute("hinge", ground.at(0, 0, 0), hub.at(0, 0, 0))
    fixed = fm.Fixed("root", hub.at(0, 0, 0), blade.at("start"))
    drive = fm.Drive("drive", hinge.angle, lambda t: 3.0 * t * t)
    load = fm.BodyLoad("load", blade, "push", lambda t: 5.0 * np.cos(20.0 * t))
    return fm.System([ground, hub, blade], [hinge, fixed, drive], [load])


def crank(rod_function: Any = None) -> fm.System:
    """A crank that pulls a slider by a relation of their coordinates."""
    ground, arm, block = fm.Ground(), fm.PlanarBody("arm", 1.0, 0.1), fm.PlanarBody("block", 1.0, 0.1)
    hinge = fm.planar.Revolute("hinge", ground.at(0, 0), arm.at(0, 0), rate=3.0)
    slide = fm.planar.Prismatic("slide", ground.at(0, 0), block.at(0, 0), axis="x")
    relation = fm.Relation("yoke", lambda a, s: s - 0.2 * np.cos(a), [hinge.angle, slide.distance])
    return fm.System([ground, arm, block], [hinge, slide, relation], [])


def tethered() -> fm.System:
    """A point that a Python constraint holds at a distance, and a Python force pushes."""
    ground, mass = fm.Ground(), fm.PointMass("mass", 1.0, position=(1.0, 0.0, 0.0))
    tether = fm.UserConstraint("tether", [mass.at()], lambda t, s: s[0].position @ s[0].position - 1.0)
    push = fm.UserForce("push", [mass.at()], lambda t, s: [0.0, np.sin(t), 0.5 * s[0].velocity[0], 0, 0, 0])
    return fm.System([ground, mass], [tether], [push, fm.Gravity((0, 0, -9.81))])


def cam() -> fm.System:
    ground, disc, follower = fm.Ground(), fm.PlanarBody("disc", 1.0, 0.1), fm.PlanarBody("follower", 1.0, 0.1)
    shaft = fm.planar.Revolute("shaft", ground.at(0, 0), disc.at(0.02, 0))
    guide = fm.planar.Prismatic("guide", ground.at(0, 0), follower.at(0, 0), axis="y", start=0.12)
    pair = fm.planar.Cam("cam", disc.at(0, 0), follower.at(0, 0), fm.planar.Circle(0.1), fm.planar.Line())
    return fm.System(
        [ground, disc, follower], [shaft, guide, pair, fm.Drive("motor", shaft.angle, fm.SpinUp(5.0, 0.1))]
    )


SYSTEMS = {
    "spring": lambda: pendulum(lambda h, r: fm.SpringDamper("s", h.angle, 10.0, 0.5, 0.0, force=fm.Harmonic(1.0, 2.0))),
    "bushing and contact": lambda: pendulum(
        lambda h, r: fm.Bushing("b", h.frame_i, r.at(0, 0, 0), (1.0,) * 6, (0.1,) * 6),
        lambda h, r: fm.SphereOnPlane("c", h.frame_i, r.at(0.5, 0, 0), 1e3, normal="y", radius=0.5, friction=0.2),
    ),
    "python torque": lambda: pendulum(
        lambda h, r: fm.SpringDamper("s", h.angle, force=2 * fm.Spline((0, 1), (0, 1)) + SINE.shifted(0.3)),
        lambda h, r: fm.AppliedForce("f", r.at(0.5, 0, 0), [0.0, lambda t: 3.0 * np.cos(9 * t), 0.0]),
    ),
    "python drive": lambda: pendulum(joints=[lambda h, r: fm.Drive("drive", h.angle, lambda t: 0.5 + t**3)]),
    "redundant": lambda: pendulum(joints=[lambda h, r: fm.Revolute("second", h.frame_i, h.frame_j, axis="z")]),
    "beam": beam,
    "relation": crank,
    "constraint and force": tethered,
    "cam": cam,
}


def same(one: Any, two: Any, exact: bool = True) -> None:
    """Both results say the same about everything; between instants Python functions are interpolated."""
    for name in KEPT:
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    assert two.outcome == one.outcome
    assert two.counters == one.counters
    assert two.events.keys() == one.events.keys()
    for a, b in zip(one.system.bodies, two.system.bodies, strict=True):
        for of in ("position", "velocity", "acceleration", "rotation"):
            assert np.array_equal(getattr(one, of)(a), getattr(two, of)(b)), of
    for a, b in zip(one.system.joints, two.system.joints, strict=True):
        assert a.name == b.name
        assert np.array_equal(one.reaction(a), two.reaction(b)), a.name
    for a, b in zip(one.system.forces, two.system.forces, strict=True):
        if not isinstance(a, fm.Gravity):
            assert two.force(b) == pytest.approx(one.force(a), rel=1e-13, abs=1e-13), a.name
    assert np.array_equal(one.constraint_error, two.constraint_error)
    assert two.energy.total == pytest.approx(one.energy.total, rel=1e-13, abs=1e-12)
    scale = np.abs(one.energy.total).max() + 1.0
    assert np.abs(two.energy.drift - one.energy.drift).max() <= (1e-13 if exact else 1e-6) * scale
    if exact:
        assert two.summary() == one.summary()


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_loaded_result_says_the_same(name: str, tmp_path: Path) -> None:
    motion = fm.forward_dynamics(SYSTEMS[name](), 0.2, 1e-3, output_step=5e-3)
    motion.save(tmp_path / "motion.h5")
    loaded = fm.load(tmp_path / "motion.h5")
    python = name in ("python torque", "constraint and force", "relation", "beam", "python drive")
    same(motion, loaded, exact=not python)
    loaded.save(str(tmp_path / "again.h5"))
    same(loaded, fm.load(tmp_path / "again.h5"), exact=not python)


def test_flexible_bodies_keep_their_elements(tmp_path: Path) -> None:
    motion = fm.forward_dynamics(beam(), 0.1, 1e-3, output_step=5e-3)
    motion.save(tmp_path / "motion.h5")
    loaded = fm.load(tmp_path / "motion.h5")
    one, two = motion.system.named("blade"), loaded.system.named("blade")
    assert two.material.young == 2e11
    for at in (None, 0.05, [0.01, 0.02]):
        assert np.array_equal(loaded.von_mises(two, at=at), motion.von_mises(one, at=at))
        assert np.array_equal(loaded.section_forces(two, at=at), motion.section_forces(one, at=at))
        assert np.array_equal(loaded.deformed(two, at=at, scale=10.0), motion.deformed(one, at=at, scale=10.0))
    chord = ("start", "end")
    assert np.abs(loaded.deflection(two.at(2), chord=chord)).max() > 1e-6
    assert np.array_equal(loaded.deflection(two.at(2), chord=chord), motion.deflection(one.at(2), chord=chord))
    gauges = [fm.StrainGauge(body, (0.0, 0.005, 0.0)) for body in (one, two)]
    assert np.array_equal(motion.strain(gauges[0]), loaded.strain(gauges[1]))


def test_going_on_from_a_loaded_result_is_going_on_from_the_run(tmp_path: Path) -> None:
    system = SYSTEMS["spring"]()
    half = fm.forward_dynamics(system, 0.1, 1e-3)
    half.save(tmp_path / "half.h5")
    loaded = fm.load(tmp_path / "half.h5")
    one = fm.forward_dynamics(system, 0.2, 1e-3, start=half)
    two = fm.forward_dynamics(loaded.system, 0.2, 1e-3, start=loaded)
    assert np.array_equal(one.q, two.q)
    assert np.array_equal(one.rate, two.rate)


def test_events_and_kinds_of_results(tmp_path: Path) -> None:
    system = SYSTEMS["spring"]()
    hinge = system.joints[0]
    motion = fm.forward_dynamics(system, 1.0, 1e-3, events=[fm.Event("down", hinge.angle, 0.0)])
    motion.save(tmp_path / "events.h5")
    back = fm.load(tmp_path / "events.h5")
    assert len(back.events["down"].t) >= 1
    assert np.array_equal(back.events["down"].t, motion.events["down"].t)
    assert back.events["down"].system is back.system
    driven = SYSTEMS["python drive"]()
    for made in (fm.kinematics(driven, np.linspace(0, 1, 5)), fm.inverse_dynamics(driven, np.linspace(0, 1, 5))):
        made.save(tmp_path / "driven.h5")
        back = fm.load(tmp_path / "driven.h5")
        assert back.forces_known == made.forces_known
        assert np.array_equal(back.position(back.system.named("rod")), made.position(driven.named("rod")))
    rest = fm.statics(system)
    rest.save(tmp_path / "rest.h5")
    back = fm.load(tmp_path / "rest.h5")
    assert isinstance(back, fm.Equilibrium)
    assert back.stable == rest.stable
    assert np.array_equal(back.stiffnesses, rest.stiffnesses)


def test_controllers_play_what_they_gave(tmp_path: Path) -> None:
    def law(t: float, inputs: Any, memory: Any) -> Any:
        return -20.0 * inputs[0].value - 2.0 * inputs[0].rate, memory + inputs[0].value

    system = pendulum(lambda h, r: fm.Controller("pid", 0.01, h.angle, h.angle, law, memory=0.0))
    motion = fm.forward_dynamics(system, 0.2, 1e-3, save=tmp_path / "pid.h5")
    same(motion, fm.load(tmp_path / "pid.h5"))
    samples = fm.load(tmp_path / "pid.h5").controllers["pid"]
    assert np.array_equal(samples.outputs, motion.controllers["pid"].outputs)
    assert samples.memory == motion.controllers["pid"].memory
    with pytest.raises(fm.AnalysisError, match="sampled controllers cannot be resumed"):
        fm.forward_dynamics(system, 0.3, 1e-3, save=tmp_path / "pid.h5", resume=True)


def test_what_other_analyses_give(tmp_path: Path) -> None:
    mesh = fm.Mesh.box((0.3, 0.02, 0.02), (4, 1, 1))
    blade = beam().named("blade")
    system = SYSTEMS["spring"]()
    hinge, tip = system.joints[0], system.bodies[1].at(0.5, 0, 0)
    fixed = fm.FlexibleBody(
        "fixed",
        fm.Mesh.line((0.1, 0, 0), (1, 0, 0), 4),
        STEEL,
        section=fm.Section.rectangle(0.02, 0.01),
        fixed="start",
        reduction=fm.ModalTruncation(3),
        damping=0.01,
    )
    line = fm.Elements(fm.Mesh.line((0.1, 0, 0), (1, 0, 0), 4), STEEL, section=fm.Section.rectangle(0.02, 0.01))
    ground, rotor = fm.Ground(), fm.RigidBody("rotor", 10.0, (0.03, 0.03, 0.05))
    bearings = [
        fm.Bushing(f"bearing {z}", ground.at(0, 0, z), rotor.at(0, 0, z), stiffness=(1e6, 2e6, 1e6, 0, 0, 0))
        for z in (-0.3, 0.3)
    ]
    spin = fm.RigidMotion((0, 0, 1.0))
    made = {
        "full order": fm.elastodynamics(line, spin, t_end=0.02, step=1e-3, supports="start"),
        "campbell of a part": fm.campbell(line, speeds=[0.0, 50.0], count=2, fixed="start"),
        "campbell of a rotor": fm.campbell(fm.System([ground, rotor], [], bearings), [0.0, 200.0], count=4),
        "modes": fm.modes(mesh, STEEL, fixed="x0", count=3),
        "statics": fm.statics(mesh, STEEL, fm.Force("x1", (0, 0, 1.0)), fixed="x0"),
        "system modes": fm.modes(system),
        "linear": fm.linearise(system, [hinge.angle], [hinge.angle]),
        "mass": fm.mass_properties(mesh, STEEL),
        "response": fm.elastodynamics(blade, spin, t_end=0.02, step=1e-3, supports="start"),
        "campbell": fm.campbell(fixed, speeds=[0.0, 50.0], count=2),
        "frequencies": fm.frequency_response(system, [1.0, 2.0], (tip, "y"), [(tip, "y")]),
    }
    for name, thing in made.items():
        thing.save(tmp_path / f"{name}.h5")
        back = fm.load(tmp_path / f"{name}.h5")
        assert type(back) is type(thing)
        for key in vars(thing):
            value = getattr(thing, key)
            if isinstance(value, np.ndarray | tuple | str | float | int):
                pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (getattr(back, key), value)), strict=True)
                assert all(np.array_equal(a, b) for a, b in pairs), (name, key)
    for name in ("campbell", "campbell of a part", "campbell of a rotor"):
        assert fm.load(tmp_path / f"{name}.h5").crossings(order=1) == made[name].crossings(order=1)
    place = made["response"].displacement(at=0.01)
    assert np.array_equal(fm.load(tmp_path / "response.h5").displacement(at=0.01), place)
    assert np.array_equal(fm.load(tmp_path / "statics.h5").stress.nodal, made["statics"].stress.nodal)


# ---- what is no result ----------------------------------------------------------------------------------------------


def test_files_that_are_none_are_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import h5py

    motion = fm.forward_dynamics(SYSTEMS["spring"](), 0.1, 1e-3)
    good, bad = tmp_path / "good.h5", tmp_path / "bad.h5"
    motion.save(good)
    with pytest.raises(FileError, match="there is no such file"):
        fm.load(tmp_path / "none.h5")
    with pytest.raises(FileError, match="named by a string or a path, not 3"):
        fm.load(3)
    bad.write_text("something else")
    with pytest.raises(FileError, match="no HDF5 file"):
        fm.load(bad)
    with h5py.File(bad, "w") as file:
        file["x"] = 1
    with pytest.raises(FileError, match="this HDF5 file is no result"):
        fm.load(bad)
    data = good.read_bytes()
    for part in (0.3, 0.6, 0.95):
        bad.write_bytes(data[: int(part * len(data))])
        with pytest.raises(FileError, match="cut off"):
            fm.load(bad)
    bad.write_bytes(data)
    with h5py.File(bad, "r+") as file:
        file["model/tree"][:10] = 0
    with pytest.raises(FileError, match="what describes its model cannot be read"):
        fm.load(bad)
    with h5py.File(good, "r+") as file:
        file.attrs["version"] = 99
    with pytest.raises(FileError, match=r"newer version of flexmbs \(format 99"):
        fm.load(good)


def test_saving_replaces_a_file_only_when_all_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    motion = fm.forward_dynamics(SYSTEMS["spring"](), 0.1, 1e-3)
    path = tmp_path / "motion.h5"
    motion.save(path)
    before = path.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(FileError, match="cannot be written: No space left"):
            motion.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["motion.h5"]
    with pytest.raises(FileError, match="is a folder"):
        motion.save(tmp_path)
    with pytest.raises(FileError, match="cannot be written"):
        motion.save(tmp_path / "none" / "motion.h5")


def test_things_are_found_by_name() -> None:
    system = SYSTEMS["spring"]()
    assert system.named("rod") is system.bodies[1]
    assert system.named("hinge") is system.joints[0]
    assert system.named("s") is system.forces[1]
    for wrong in ("rood", 3):
        with pytest.raises(fm.ModelError, match=f"nothing in the system is named {wrong!r}; there are 'ground', 'rod'"):
            system.named(wrong)  # type: ignore[arg-type]


def test_motions_and_forces_are_asked_for_by_name() -> None:
    system = SYSTEMS["spring"]()
    motion = fm.forward_dynamics(system, 0.02, 1e-3)
    assert np.array_equal(motion.position("rod"), motion.position(system.bodies[1]))
    assert np.array_equal(motion.reaction("hinge"), motion.reaction(system.joints[0]))
    assert np.array_equal(motion.force("s"), motion.force(system.forces[1]))
    for ask in (motion.position, motion.reaction, motion.force):
        with pytest.raises(fm.ModelError, match="nothing in the system is named 'rood'"):
            ask("rood")
