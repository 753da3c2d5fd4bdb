"""Pictures and films of mechanisms: they show the bodies, where they are, for both renderers; refusals in words."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from matplotlib.image import imread
from scipy.spatial.transform import Rotation

import flexmbs as fm
from flexmbs import view
from flexmbs.view import opengl, rendered
from flexmbs.view.figure import RenderWarning
from flexmbs.view.film import pace
from flexmbs.view.look import mixed
from flexmbs.view.mechanism import Options, drawing
from flexmbs.view.poses import as_result, poses
from flexmbs.view.scene import Lines, Surface


@pytest.fixture(params=["matplotlib", "vtk"])
def renderer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "vtk":
        if not opengl.has_opengl():
            pytest.skip("no OpenGL here")
        yield "vtk"
        return
    monkeypatch.setenv("FLEXMBS_RENDERER", "matplotlib")
    with pytest.warns(RenderWarning):
        yield "matplotlib"


def near(path: Path, color: str, within: float = 0.2) -> Any:
    """Pixels of a picture near a colour."""
    rgb = imread(path)[:, :, :3]
    wanted = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.abs(rgb - wanted).max(axis=2) < within


BLUE, ORANGE = "#0072b2", "#e69f00"


class Crank:
    """A planar crank that turns a quarter in a second, with a slider."""

    def __init__(self) -> None:
        self.ground = fm.Ground()
        self.crank = fm.PlanarBody("crank", 1.0, 0.01)
        self.rod = fm.PlanarBody("rod", 1.0, 0.01)
        self.piston = fm.PlanarBody("piston", 1.0, 0.01)
        self.shaft = fm.planar.Revolute("shaft", self.ground.at(0, 0), self.crank.at(0, 0))
        self.pin = fm.planar.Revolute("pin", self.crank.at(0.5, 0), self.rod.at(0, 0))
        self.wrist = fm.planar.Revolute("wrist", self.rod.at(1.5, 0), self.piston.at(0, 0))
        self.slide = fm.planar.Prismatic("slide", self.ground.at(0, 0), self.piston.at(0, 0), axis="x", start=2.0)
        self.motor = fm.Drive("motor", self.shaft.angle, lambda t: np.pi / 2 * t)
        joints = [self.shaft, self.pin, self.wrist, self.slide, self.motor]
        bodies = [self.ground, self.crank, self.rod, self.piston]
        self.system = fm.System(bodies, joints, [fm.Gravity((0, -9.81, 0))])
        self.motion = fm.inverse_dynamics(self.system, np.linspace(0.0, 1.0, 11))


class Hung:
    """A box hung by a ball joint and a spring, in space, and another that slides."""

    def __init__(self) -> None:
        self.ground = fm.Ground()
        self.box = fm.RigidBody.box("box", (1.0, 0.2, 0.2), 1000.0, position=(0.5, 0.0, 0.0))
        self.ball = fm.Spherical("ball", self.ground.at(0, 0, 0), self.box.at(-0.5, 0, 0))
        self.block = fm.RigidBody("block", 1.0, (0.01, 0.01, 0.01))
        self.slide = fm.Prismatic("slide", self.ground.at(0, 0.5, 0), self.block.at(0, 0, 0), axis="x")
        self.spring = fm.SpringDamper("spring", (self.ground.at(1, 0, 1), self.box.at(0.5, 0, 0)), 100.0, rest=0.5)
        self.push = fm.AppliedForce("push", self.block.at(0, 0, 0), force=(2.0, 0.0, 0.0))
        forces = [fm.Gravity((0, 0, -9.81)), self.spring, self.push]
        self.system = fm.System([self.ground, self.box, self.block], [self.ball, self.slide], forces)
        self.motion = fm.forward_dynamics(self.system, 0.5, step=0.01)


@pytest.fixture(scope="module")
def crank() -> Crank:
    return Crank()


@pytest.fixture(scope="module")
def hung() -> Hung:
    return Hung()


# ---- poses ----------------------------------------------------------------------------------------------------------


def test_poses_between_instants_are_those_of_the_motion() -> None:
    """A body that turns a third of a turn and more between the instants kept: cubics are exact for constant rates."""
    ground, wheel = fm.Ground(), fm.RigidBody("wheel", 1.0, (1, 1, 1))
    hinge = fm.Revolute("hinge", ground.at(0, 0, 1), wheel.at(0.2, 0, 0), axis=(0, 1, 2))
    for speed in (5.0, 40.0):  # at the second more than a turn between instants
        system = fm.System([ground, wheel], [hinge, fm.Drive("motor", hinge.angle, fm.ConstantSpeed(speed))])
        few = fm.kinematics(system, np.linspace(0.0, 1.0, 6))
        times = np.linspace(0.0, 1.0, 41)
        exact = fm.kinematics(system, times)
        between = poses(few, times)
        np.testing.assert_allclose(between.rotation[1], exact.rotation(wheel), atol=1e-9)
        np.testing.assert_allclose(between.spin[1], exact.angular_velocity(wheel), atol=1e-9)


def test_poses_converge_with_the_fourth_power(crank: Crank) -> None:
    times = np.linspace(0.0, 1.0, 57)
    exact = fm.kinematics(crank.system, times)
    errors = []
    for n in (6, 11):
        between = poses(fm.kinematics(crank.system, np.linspace(0.0, 1.0, n)), times)
        errors.append(np.abs(between.path(crank.rod.at(1.5, 0)) - exact.position(crank.rod.at(1.5, 0))).max())
    assert 10 < errors[0] / errors[1] < 22
    start = as_result(crank.system)
    np.testing.assert_allclose(start.position(crank.rod)[0], exact.position(crank.rod)[0], atol=1e-9)


def test_times_outside_the_motion_are_refused(crank: Crank) -> None:
    with pytest.raises(fm.AnalysisError, match="from t = 0 to 1 s"):
        poses(crank.motion, 1.5)


# ---- pictures -------------------------------------------------------------------------------------------------------


def test_a_planar_mechanism_is_where_it_should_be(renderer: str, crank: Crank, tmp_path: Path) -> None:
    """The crank's pixels lie along its angle, at both times, and the rod's beyond its end."""
    for t, angle in ((0.3, 0.15 * np.pi), (0.9, 0.45 * np.pi)):
        path = view.snapshot(crank.motion, tmp_path / "crank.png", at=t, joints=False, size=(900, 500))
        image = near(path, mixed_blue(), 0.1)[:, :740]  # without the legend
        y, x = np.nonzero(image)
        assert len(x) > 300
        principal = np.linalg.svd(np.column_stack([x - x.mean(), y.mean() - y]), full_matrices=False)[2][0]
        found = np.arctan2(*(principal * np.sign(principal[1]))[::-1])
        assert found == pytest.approx(angle, abs=0.06)


def mixed_blue() -> str:
    return "#388fc3"  # the fill of a flat blue link


def test_bodies_move_between_times(renderer: str, hung: Hung, tmp_path: Path) -> None:
    seen = []
    for t in (0.0, 0.5):
        path = view.snapshot(hung.motion, tmp_path / "hung.png", at=t, size=(700, 500), look=(0.2, -1.0, 0.3))
        blue = near(path, BLUE)[:, :560]
        assert 0.005 < blue.mean() < 0.5
        seen.append(np.nonzero(blue)[0].mean())
    assert abs(seen[1] - seen[0]) > 5  # it falls


def test_every_option_draws(renderer: str, hung: Hung, tmp_path: Path) -> None:
    path = view.snapshot(
        hung.motion,
        tmp_path / "all.png",
        at=[0.1, 0.4],
        traces=[hung.box.at(0.5, 0, 0), hung.block],
        triads=True,
        forces=True,
        reactions=[hung.ball],
        ghosts=3,
        title="box",
    )
    height, width = imread(path).shape[:2]
    assert width > 2 * 600
    assert height > 200
    assert near(path, "#b3261e").sum() > 30  # the reaction's arrow
    coloured = view.snapshot(hung.motion, tmp_path / "speed.png", color="speed")
    assert near(coloured, "#fde725").sum() > 50  # the end of the colour bar


def test_arrows_are_forces(hung: Hung) -> None:
    """The arrow of the largest reaction is as long as all arrows may be; others in proportion, along the force."""
    picture = drawing(hung.motion, hung.motion.t, Options(reactions=[hung.ball]), None)
    forces = hung.motion.reaction(hung.ball)[:, :3]
    sizes = np.linalg.norm(forces, axis=1)
    for k in (int(np.argmax(sizes)), 7):
        arrows = [s for s in picture.items(k) if isinstance(s, Surface) and s.color == "#b3261e"]
        along = arrows[0].points @ (forces[k] / sizes[k])
        assert np.ptp(along) == pytest.approx(0.28 * picture.look.size * sizes[k] / sizes.max(), rel=1e-6)
    assert picture.legend[-1][0] == f"reaction (longest {sizes.max():.3g} N)"


def test_speed_is_that_of_the_points(crank: Crank) -> None:
    picture = drawing(crank.motion, [0.5], Options(color="speed"), None)
    assert picture.bar is not None
    assert picture.bar.title == "speed [m/s]"
    values = np.concatenate([s.values for s in picture.items(0) if isinstance(s, Surface) and s.values is not None])
    rod = np.linalg.norm(crank.motion.velocity(crank.crank.at(0.5, 0))[5])
    assert values.min() < 0.2 * rod < rod < values.max()
    assert values.max() <= picture.bar.high * (1 + 1e-9)


def test_traces_end_where_the_point_is(crank: Crank) -> None:
    tip = crank.rod.at(0.75, 0)
    picture = drawing(crank.motion, [0.4], Options(traces=[tip]), None)
    whole, past = [item for item in picture.items(0) if isinstance(item, Lines) and item.kind == "trace"]
    np.testing.assert_allclose(past.points[-1, :2], crank.motion.position(tip)[4, :2], atol=1e-4)
    assert len(past.points) < len(whole.points)


def test_springs_reach_from_point_to_point(hung: Hung) -> None:
    picture = drawing(hung.motion, [0.3], Options(), None)
    ends = [picture.shown.point(f, 0) for f in hung.spring.frames if f is not None]
    coil = next(s.points for s in picture.items(0) if isinstance(s, Surface) and s.color == "#4a5560")
    for end in ends:
        assert np.linalg.norm(coil - end, axis=1).min() < 0.05 * np.linalg.norm(ends[1] - ends[0])


def test_rails_span_the_way_of_sliders(crank: Crank) -> None:
    picture = drawing(crank.motion, [0.0], Options(), None)
    reach = np.array([crank.motion.position(crank.piston)[:, 0].min(), crank.motion.position(crank.piston)[:, 0].max()])
    ground = np.concatenate([p.solid.points for p in picture.pieces if p.body == 0])
    right = ground[ground[:, 0] > 0.5]
    assert right[:, 0].min() < reach[0]
    assert right[:, 0].max() > reach[1]


JOINTS = {
    "fixed": lambda a, b: fm.Fixed("j", a, b),
    "revolute": lambda a, b: fm.Revolute("j", a, b, axis="y"),
    "prismatic": lambda a, b: fm.Prismatic("j", a, b, axis="x"),
    "cylindrical": lambda a, b: fm.Cylindrical("j", a, b, axis="x"),
    "screw": lambda a, b: fm.Screw("j", a, b, axis="x", pitch=0.1),
    "spherical": lambda a, b: fm.Spherical("j", a, b),
    "universal": lambda a, b: fm.Universal("j", a, b),
    "plane": lambda a, b: fm.PlaneJoint("j", a, b),
    "line": lambda a, b: fm.PointOnLine("j", a, b),
    "in plane": lambda a, b: fm.PointInPlane("j", a, b),
    "distance": lambda a, b: fm.Distance("j", a, b, length=0.5),
    "rolling": lambda a, b: fm.RollingDisc("j", a, b, radius=0.3, axis="y"),
}


@pytest.mark.parametrize("kind", JOINTS)
def test_every_joint_is_drawn_at_its_frames(kind: str) -> None:
    """With a joint there is more in the picture than the body, near both of its frames, wherever the body is turned."""
    ground = fm.Ground()
    turned = Rotation.from_rotvec((0.3, -0.2, 0.5)).as_matrix()
    body = fm.RigidBody.box("body", (0.6, 0.05, 0.05), 1000.0)
    joint = JOINTS[kind](ground.at(0.1, 0.2, 0.3, axes=turned), body.at(0.3, 0, 0))
    system = fm.System([ground, body], [joint])
    with_joint = drawing(as_result(system), [0.0], Options(), None)
    without = drawing(as_result(system), [0.0], Options(joints=False), None)
    points = np.concatenate([s.points for s in with_joint.items(0)])
    assert len(points) > sum(len(s.points) for s in without.items(0))
    pieces = [p for p in with_joint.pieces if not p.own]
    shown = with_joint.shown
    where = [p.solid.points @ shown.rotation[p.body, 0].T + shown.position[p.body, 0] for p in pieces]
    if kind == "distance":  # a rod that is drawn where its ends are
        where = [s.points for s in with_joint.items(0) if isinstance(s, Surface) and s.color == "#68717a"]
    frame = shown.point(joint.frame_j if kind != "rolling" else joint.frame_i, 0)
    every = np.concatenate(where)
    if kind == "rolling":  # the floor, under all of the way
        assert np.abs((every - frame) @ joint.frame_i.axes[:, 2]).max() < 0.02
    elif kind == "distance":
        for end in (joint.frame_i, joint.frame_j):
            assert np.linalg.norm(every - shown.point(end, 0), axis=1).min() < with_joint.look.width
    else:
        middle = (every.min(axis=0) + every.max(axis=0)) / 2
        assert np.linalg.norm(middle - frame) < 2 * with_joint.look.width


def test_bodies_without_shape_or_joint_are_boxes_of_their_inertia() -> None:
    size = np.array([1.0, 0.4, 0.2])
    inertia = 2.0 / 12 * (np.sum(size**2) - size**2)
    other = fm.RigidBody("far", 1.0, (0.1, 0.1, 0.1), position=(3.0, 0.0, 0.0))
    body = fm.RigidBody("brick", 2.0, inertia, center=(0.1, 0.2, 0.3), position=(0, 0, 0))
    picture = drawing(as_result(fm.System([body, other])), [0.0], Options(), None)
    points = next(p.solid.points for p in picture.pieces if p.own)
    np.testing.assert_allclose(np.ptp(points, axis=0), size, rtol=1e-9)
    np.testing.assert_allclose(points.mean(axis=0), (0.1, 0.2, 0.3), atol=1e-12)


def test_meshes_are_drawn_as_they_are() -> None:
    mesh = fm.Mesh.box((0.3, 0.2, 0.1), (2, 1, 1), cell="tetra").translated((0.1, 0.0, 0.0))
    rod = fm.RigidBody.from_mesh("rod", mesh, 7850.0)
    picture = drawing(as_result(fm.System([rod])), [0.0], Options(), None)
    points = picture.pieces[0].solid.points
    np.testing.assert_allclose(points.min(axis=0), mesh.points.min(axis=0), atol=1e-12)
    np.testing.assert_allclose(points.max(axis=0), mesh.points.max(axis=0), atol=1e-12)


def test_a_mechanism_before_it_moves(renderer: str, crank: Crank, tmp_path: Path) -> None:
    path = view.snapshot(crank.system, tmp_path / "start.png")
    assert near(path, mixed_blue()).sum() > 300


# ---- films ----------------------------------------------------------------------------------------------------------


def frames_of(path: Path, width: int, height: int) -> list[Any]:
    """Frames of a film, as ffmpeg decodes them (imageio's own reader leaves its pipes open)."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-fps_mode", "passthrough", "-pix_fmt", "rgb24"]
    done = subprocess.run([*command, "-f", "rawvideo", "-"], capture_output=True, check=True)
    return list(np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3))


@pytest.mark.parametrize("ending", ["mp4", "gif"])
def test_films_have_their_frames(crank: Crank, tmp_path: Path, ending: str) -> None:
    if not opengl.has_opengl():
        pytest.skip("no OpenGL here")
    path = view.animate(crank.motion, tmp_path / f"crank.{ending}", frames=6, size=(300, 200), traces=[crank.rod])
    frames = frames_of(path, 304, 208)  # multiples of 16
    assert len(frames) == 6
    moved = [np.mean(np.abs(a.astype(float) - b) > 40) for a, b in zip(frames[1:], frames[:-1], strict=True)]
    assert min(moved) > 0.005


def test_films_without_opengl(crank: Crank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXMBS_RENDERER", "matplotlib")
    with pytest.warns(RenderWarning):
        path = view.animate(crank.motion, tmp_path / "crank.gif", frames=3, size=(320, 208))
    assert len(frames_of(path, 320, 208)) == 3


def test_the_camera_follows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A body that travels stays in the middle of the film when it is followed."""
    body = fm.RigidBody.box("car", (0.4, 0.2, 0.1), 100.0, position=(0, 0, 0), velocity=(3.0, 0.0, 0.0))
    motion = fm.forward_dynamics(fm.System([body]), 1.0, step=0.05)
    seen: list[Any] = []
    monkeypatch.setattr(
        "flexmbs.view.film.write", lambda pictures, path, fps, size: seen.append([p.panels[0] for p in pictures])
    )
    view.animate(motion, tmp_path / "a.gif", frames=5, follow=body)
    view.animate(motion, tmp_path / "a.gif", frames=5)
    on_screen = [[panel.camera.project(panel.items[0].points).mean(axis=0) for panel in film] for film in seen]
    assert np.ptp(np.array(on_screen[0])[:, :2], axis=0).max() < 1e-6
    assert np.ptp(np.array(on_screen[1])[:, :2], axis=0).max() > 2.0
    assert seen[0][2].title.startswith("t = 0.50 s")
    assert "slowed 4 ×" in pace(0.25)
    assert "3 × faster" in pace(3.0)
    assert pace(1.0) == ""


def test_titles_of_films_state_their_pace(crank: Crank, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    titles: list[str] = []
    monkeypatch.setattr(
        "flexmbs.view.film.write", lambda pictures, path, fps, size: titles.extend(p.panels[0].title for p in pictures)
    )
    view.animate(crank.motion, tmp_path / "a.mp4", title="crank")  # 1 s in 4 s
    assert len(titles) == 100
    assert titles[0] == "crank,   t = 0.00 s   (slowed 4 ×)"


def test_a_window_shows_any_panel(crank: Crank) -> None:
    """The slider's callback, in a window off the screen."""
    if not opengl.has_opengl():
        pytest.skip("no OpenGL here")
    picture = drawing(crank.motion, [0.0, 0.8], Options(), None)
    seen = picture.camera(None, [0, 1])
    window = rendered._window(rendered.SCREEN, off_screen=True)
    try:
        shots = []
        for k in (0, 1):
            rendered.move_to(window, lambda k: picture.panel(k, seen, "crank"), k, None, picture.legend, keep=k > 0)
            window.render()
            shots.append(window.screenshot(return_img=True).astype(float))
        assert np.mean(np.abs(shots[1] - shots[0]) > 40) > 0.005
    finally:
        window.close()


# ---- refusals -------------------------------------------------------------------------------------------------------


def test_wrong_requests_are_refused_in_words(crank: Crank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = fm.PlanarBody("stranger")
    motion, path = crank.motion, tmp_path / "a.png"
    for words, request in {
        "from t = 0 to 1 s": lambda: view.snapshot(motion, path, at=2.0),
        "no folder": lambda: view.snapshot(motion, tmp_path / "nowhere" / "a.png"),
        "look=": lambda: view.snapshot(motion, path, look=(0.0, 0.0, 0.0)),
        '"speed"': lambda: view.snapshot(motion, path, color="mises"),
        "'motor' is not a joint between": lambda: view.snapshot(motion, path, reactions=[crank.motor]),
        "traces and triads": lambda: view.snapshot(motion, path, traces=[3]),
        "a Result of an analysis": lambda: view.snapshot("motion", path),
        "mp4": lambda: view.animate(motion, tmp_path / "a.avi"),
        "no folder .*nowhere": lambda: view.animate(motion, tmp_path / "nowhere" / "a.mp4"),
        "frames must be": lambda: view.animate(motion, tmp_path / "a.gif", frames=1),
        "fps must be": lambda: view.animate(motion, tmp_path / "a.gif", fps=0.0),
        "needs a motion": lambda: view.animate(motion, tmp_path / "a.gif", start=1.0),
    }.items():
        with pytest.raises(fm.AnalysisError, match=words):
            request()
    with pytest.raises(fm.ModelError, match="'stranger' is not in this system"):
        view.snapshot(motion, path, traces=[stranger.at(0, 0)])


@pytest.mark.parametrize("missing", ["screen", "OpenGL"])
def test_without_a_window_a_still_is_written(
    missing: str, crank: Crank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The crank's last position, its colours in the picture; the warning says why, where, and what to install."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLEXMBS_RENDERER", "matplotlib")
    monkeypatch.setattr("flexmbs.view.opengl.has_display", lambda: missing == "OpenGL")
    words = "apt install libegl1 libgl1-mesa-dri.*written to" if missing == "OpenGL" else "no screen.*written to"
    with pytest.warns(RenderWarning, match=words), pytest.warns(RenderWarning, match="by Matplotlib"):
        path = view.show(crank.motion)
    assert path == tmp_path / "flexmbs_view.png"
    assert near(path, mixed(BLUE, "#ffffff", 0.22)).mean() > 0.005
    assert near(path, mixed(ORANGE, "#ffffff", 0.22)).mean() > 0.005


# ---- wheels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("internal", [False, True])
@pytest.mark.parametrize("ratio", [0.5, 1.5, 3.0])
def test_teeth_mesh_for_ever(ratio: float, internal: bool) -> None:
    """No tooth of one wheel is far inside the other, at any time: the coupling turns them as the picture has them.

    Straight flanks overlap by a tenth of the module; teeth half a pitch off would by half of one.
    """
    if internal and ratio < 1:
        ratio = 1 / ratio
    ground = fm.Ground()
    wheels = [fm.PlanarBody(name, 1.0, 0.01) for name in ("one", "two")]
    places = (ground.at(0.1, 0.2), ground.at(0.4, 0.5))
    hinges = [
        fm.planar.Revolute(f"axle of {w.name}", p, w.at(0, 0), start=s)
        for w, p, s in zip(wheels, places, (0.2, 0.0), strict=True)
    ]
    tie = fm.gear("gear", hinges[0].angle, hinges[1].angle, ratio if internal else -ratio)
    drive = fm.Drive("motor", hinges[0].angle, fm.ConstantSpeed(1.3))
    motion = fm.kinematics(fm.System([ground, *wheels], [*hinges, tie, drive]), np.linspace(0.0, 3.0, 13))
    picture = drawing(motion, motion.t, Options(), None)
    faces = [next(p for p in picture.pieces if p.own and p.body == b) for b in (1, 2)]
    reach = np.hypot(*faces[0].solid.points[:-1, :2].T)  # of the wheel that is no ring: its teeth are 2.2 modules high
    module = np.ptp(reach) / 2.2
    for k in range(len(motion.t)):
        outlines = []
        for face in faces:
            points = face.solid.points @ picture.shown.rotation[face.body, k].T + picture.shown.position[face.body, k]
            outlines.append((face, points[:, :2]))
        for (_, points), (other, around) in (outlines, outlines[::-1]):
            triangles = around[other.solid.triangles]
            assert deepest(points[:-1], triangles) < 0.12 * module


def deepest(points: Any, triangles: Any) -> float:
    """How far points lie inside of triangles at most."""
    inside = np.full((len(points), len(triangles)), np.inf)
    for k in range(3):
        a, b = triangles[:, k], triangles[:, (k + 1) % 3]
        edge = b - a
        side = edge[:, 0] * (points[:, None, 1] - a[:, 1]) - edge[:, 1] * (points[:, None, 0] - a[:, 0])
        inside = np.minimum(inside, side / np.linalg.norm(edge, axis=1))
    return float(inside.max())


def test_pitch_circles_touch() -> None:
    """Radii in the ratio of the speeds, together the distance of the axles."""
    ground = fm.Ground()
    wheels = [fm.PlanarBody(name, 1.0, 0.01) for name in ("one", "two")]
    hinges = [fm.planar.Revolute(w.name, ground.at(0.3 * k, 0), w.at(0, 0)) for k, w in enumerate(wheels)]
    tie = fm.gear("gear", hinges[1].angle, hinges[0].angle, -2.0)  # the second turns twice as fast
    picture = drawing(as_result(fm.System([ground, *wheels], [*hinges, tie])), [0.0], Options(), None)
    tips = [np.hypot(*p.solid.points[:, :2].T).max() for p in sorted(picture.pieces, key=lambda p: p.body) if p.own]
    module = tips[0] + tips[1] - 0.3  # both teeth stand out by half of that
    assert (tips[0] - module / 2) / (tips[1] - module / 2) == pytest.approx(2.0, rel=1e-3)
