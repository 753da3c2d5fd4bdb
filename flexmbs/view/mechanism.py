"""A mechanism in a picture: pieces of its bodies and joints once, and all that is seen at one time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import GROUND, PLANAR, POINT, Body, Frame
from flexmbs.bodies.flexible import FlexibleBody
from flexmbs.errors import AnalysisError
from flexmbs.joints.joint import Joint
from flexmbs.results import Result
from flexmbs.system.system import System
from flexmbs.view.body_pieces import body_pieces, held_at, is_seen
from flexmbs.view.camera import Camera, camera
from flexmbs.view.camera import Look as Direction
from flexmbs.view.coloring import Color, Coloring, Limits, check_color, coloring
from flexmbs.view.flesh import Flesh, attached, exaggerate, flesh, places
from flexmbs.view.force_pieces import arrows, loads, rods, springs, trace, triads
from flexmbs.view.gear_pieces import gear_pieces
from flexmbs.view.joint_pieces import Stock, anchor_pieces, contact_pieces, joint_pieces
from flexmbs.view.look import ARROW, COLORS, DARK, EDGE, LOAD, OUTLINE, PLAIN, STEEL, Look, Piece
from flexmbs.view.look import GROUND as GROUND_COLOR
from flexmbs.view.poses import Poses, interpolated, poses
from flexmbs.view.scene import ColorBar, Dots, Lines, Panel, Surface
from flexmbs.view.units import round_number, with_prefix

Array = NDArray[np.float64]
Items = list[Surface | Lines | Dots]

NEUTRAL = (STEEL, DARK, GROUND_COLOR)
"""Greys, which stay as they are beside bodies that are coloured by a field."""
MARGIN = 1.04
"""Room around a mechanism, beside that of any picture."""
VISIBLE = 0.08
"""Largest deformation with ``scale="auto"``, as part of a body's size."""
FINE = 600
"""Times at which traces and ways of sliders are drawn."""


@dataclass(frozen=True)
class Options:
    """What is shown beside bodies and joints; see ``view.snapshot``."""

    traces: Sequence[Frame | Body] = ()
    triads: bool | Sequence[Frame | Body] = False
    forces: bool = False
    reactions: bool | Sequence[Any] = False
    color: Color = None
    ghosts: int = 0
    joints: bool = True
    scale: float | str = 1.0
    label: str = ""
    limits: Limits = None


@dataclass(frozen=True, eq=False)
class Drawing:
    """A mechanism and its motion, ready to be drawn at the times of ``shown``."""

    result: Result
    shown: Poses
    options: Options
    plane: bool | None = None

    @property
    def system(self) -> System:
        """The mechanism."""
        return self.result.system

    @cached_property
    def whole(self) -> Poses:
        """The whole motion, finely."""
        t = self.result.t
        return poses(self.result, np.linspace(t[0], t[-1], FINE) if len(t) > 1 else t)

    @cached_property
    def look(self) -> Look:
        """Sizes and directions."""
        gravity = self.system.layout.gravity
        planar = _is_planar(self.system, self.result)
        flat = planar if self.plane is None else self.plane
        strength = np.linalg.norm(gravity)
        up = -gravity / strength if strength > 0 else np.array([0.0, 1.0, 0.0] if planar else [0.0, 0.0, 1.0])
        size, width = _sizes(self.system, self.whole)
        return Look(width, size, flat, up)

    @cached_property
    def colors(self) -> list[str]:
        """One for each body."""
        moving = [k for k, b in enumerate(self.system.bodies) if b.kind != GROUND and is_seen(b)]
        order = {k: n for n, k in enumerate(moving)}
        count = len(self.system.bodies) + 1  # and space
        return [COLORS[order[k] % len(COLORS)] if k in order else GROUND_COLOR for k in range(count)]

    @cached_property
    def pieces(self) -> list[Piece]:
        """All that moves with bodies."""
        look, system = self.look, self.system
        heights = _heights(system, look)
        each: list[list[Piece]] = [
            [exaggerate(self._flesh[k], self.scale)]
            if k in self._flesh
            else body_pieces(system, body, k, self.colors[k], heights[k], look)
            for k, body in enumerate(system.bodies)
        ]
        every = [piece for one in each for piece in one]
        if not self.options.joints:
            return every
        stock = Stock(self.whole, look, [*heights, 0.0], self.colors, [*each, []])
        wheels = gear_pieces(system.joints, stock)
        toothed = {p.body for p in wheels if p.own}
        every = [
            p for p in every if p.body not in toothed or system.bodies[p.body].shape or len(_places(system, p.body)) > 1
        ]
        every += wheels
        for joint in system.joints:
            every += joint_pieces(joint, stock)
        for force in system.forces:
            every += anchor_pieces(force, stock) + contact_pieces(force, stock)
        held = {k: places(system, body) for k, body in enumerate(system.bodies) if body.modes}
        return [attached(p, held[p.body]) if p.body in held else p for p in every]

    @cached_property
    def _flesh(self) -> dict[int, Flesh]:
        """Flexible bodies that are drawn as their mesh, by number, with their true deformation."""
        heights = _heights(self.system, self.look)
        return {
            k: flesh(self.system, body, k, self.colors[k], heights[k], self.look)
            for k, body in enumerate(self.system.bodies)
            if isinstance(body, FlexibleBody) and not body.shape and body.reduced.mesh.dimension > 0
        }

    @cached_property
    def scale(self) -> float:
        """How many times too large deformation is drawn."""
        given = self.options.scale
        if not isinstance(given, str):
            return float(given)
        some = range(0, len(self.whole.t), max(1, len(self.whole.t) // 60))
        parts = [
            max(piece.deformation(self.whole.elastic[b][k]).max() for k in some) / _radius(self.system.bodies[b]) / 2
            for b, piece in self._flesh.items()
        ]
        largest = max(parts, default=0.0)
        return round_number(VISIBLE / largest) if largest > 0 else 1.0

    @cached_property
    def legend(self) -> tuple[tuple[str, str], ...]:
        """Names and colours: of the bodies, if they are not too many, and of arrows and traces."""
        bodies = zip(self.system.bodies, self.colors, strict=False)
        named = [(b.name, c) for b, c in bodies if b.kind != GROUND and is_seen(b)]
        out = named if 1 < len(named) <= len(COLORS) and self.options.color is None else []
        if self.options.reactions and self._strongest > 0:
            out = [*out, (f"reaction ({_force(self._strongest)})", ARROW)]
        if self.options.forces and self._largest_load > 0:
            out = [*out, (f"force ({_force(self._largest_load)})", LOAD)]
        return tuple(out)

    @cached_property
    def bar(self) -> ColorBar | None:
        """The colour bar, one range for the whole motion."""
        return None if self.coloring is None else self.coloring.bar

    @cached_property
    def coloring(self) -> Coloring | None:
        """Values by which bodies are coloured."""
        given = self.options
        if given.color is None:
            return None
        return coloring(given.color, self.result, self.pieces, self.shown, self.whole, given.label, given.limits)

    def items(self, k: int) -> Items:
        """Everything at the k-th of the times shown."""
        here, options, look, system = self.shown, self.options, self.look, self.system
        out: Items = []
        out += self._ghosts()
        for frame in options.traces:
            frame = frame_of(frame)
            color = self.colors[system.body_number(frame.body)]
            way = self.whole.path(frame)
            past = way[self.whole.t <= here.t[k]]
            out += trace(way, color, look, pale=True)
            out += trace(np.concatenate([past, here.point(frame, k)[None]]), color, look)
        edges = []
        for piece in self.pieces:
            points = piece.moved(*here.pose(piece.body, k))
            if piece.lit or isinstance(piece, Flesh):
                edges.append((points, piece.edges))
            values = None if self.coloring is None else self.coloring.values(piece, k)
            out.append(piece.at(points, self._shade(piece), values))
            if isinstance(piece, Flesh) and piece.scale != 1.0:
                out.append(Lines(piece.undeformed(*here.pose(piece.body, k)), piece.edges, "outline", OUTLINE, 1.5))
        out += _edge_lines(edges)
        if options.joints:
            out += rods(system.joints, here, k, look) + springs(system.forces, here, k, look)
        if options.triads:
            chosen = system.bodies if options.triads is True else options.triads
            out += triads([frame_of(f) for f in chosen], here, k, look)
        if options.forces and self._largest_load > 0:
            out += arrows(loads(system.forces, here, k), 0.28 * look.size / self._largest_load, LOAD, look)
        if options.reactions and self._strongest > 0:
            pairs = [(here.point(j.frame_j, k), history[k]) for j, history in self._reactions]
            out += arrows(pairs, 0.28 * look.size / self._strongest, ARROW, look)
        return _together(out)

    def _shade(self, piece: Piece) -> str | None:
        """The colour of a piece that has no values where others have: none that could be read as one."""
        if self.coloring is None or not piece.lit or piece.color in NEUTRAL:
            return None
        return PLAIN if piece.own else STEEL

    def camera(self, look: Direction, some: Sequence[int]) -> Camera:
        """A camera that sees everything at some of the times shown."""
        points = np.concatenate([item.points for k in some for item in self.items(k)] or [np.zeros((1, 3))])
        seen = camera(points, look, self.look.flat, self.look.up)
        return Camera(seen.axes, seen.center, MARGIN * seen.width, MARGIN * seen.height)

    def panel(self, k: int, seen: Camera, title: str) -> Panel:
        """One picture."""
        return Panel(title, seen, tuple(self.items(k)))

    def _ghosts(self) -> Items:
        """Earlier and later positions, pale."""
        count = self.options.ghosts
        if count < 1:
            return []
        out: Items = []
        back = np.array([0.0, 0.0, -4.0 * self.look.width]) * self.look.flat
        for n, k in enumerate(np.linspace(0, len(self.whole.t) - 1, count).astype(int)):
            for p in self.pieces:
                if p.own:
                    ghost = p.at(p.moved(*self.whole.pose(p.body, k)) + back * (1 + n / count))
                    out.append(replace(ghost, opacity=0.16))
        return out

    @cached_property
    def _reactions(self) -> list[tuple[Any, Array]]:
        """Joints with their forces (time, 3) at the times shown."""
        wanted = self.options.reactions
        joints = [j for j in self.system.joints if isinstance(j, Joint)] if wanted is True else list(wanted or ())
        return [(j, interpolated(self.result, _force_of(self.result, j), self.shown.t)) for j in joints]

    @cached_property
    def _strongest(self) -> float:
        """The largest reaction of the whole motion."""
        sizes = [np.linalg.norm(_force_of(self.result, j), axis=1).max() for j, _ in self._reactions]
        return float(max(sizes, default=0.0))

    @cached_property
    def _largest_load(self) -> float:
        """The largest applied force of the whole motion."""
        some = range(0, len(self.whole.t), max(1, len(self.whole.t) // 60))
        sizes = [float(np.linalg.norm(v)) for k in some for _, v in loads(self.system.forces, self.whole, k)]
        return max(sizes, default=0.0)


def drawing(result: Result, times: ArrayLike, options: Options, look: Any) -> Drawing:
    """A drawing at times, its options checked; planar mechanisms are flat where no direction is chosen."""
    for frame in [*options.traces, *(() if isinstance(options.triads, bool) else options.triads)]:
        result.system.body_number(frame_of(frame).body)
    if not isinstance(options.reactions, bool):
        for joint in options.reactions:
            result.system.joint_rows(joint)
            if not isinstance(joint, Joint):
                raise AnalysisError(f"reactions: {joint.name!r} is not a joint between two frames; arrows need one.")
    check_color(options.color, result, options.limits)
    scale = options.scale
    if scale != "auto" and (isinstance(scale, str) or not np.isfinite(float(scale))):
        raise AnalysisError(f'scale must be a number or "auto", not {scale!r}.')
    return Drawing(result, poses(result, times), options, None if look is None else False)


def frame_of(given: Any) -> Frame:
    """The frame, or the one at a body's origin."""
    if isinstance(given, Frame):
        return given
    if isinstance(given, Body):
        return Frame(given, np.zeros(3))
    raise AnalysisError(f"traces and triads are of frames or bodies, e.g. rod.at(0.1, 0, 0), not {given!r}.")


def _places(system: System, number: int) -> set[tuple[float, ...]]:
    """Points at which a body is held."""
    return {tuple(np.round(f.position, 9)) for _, f in held_at(system, system.bodies[number])}


def _is_planar(system: System, result: Result) -> bool:
    for body in filter(is_seen, system.bodies):
        if body.kind == POINT and np.abs(result.position(body)[:, 2]).max() > 0:
            return False
        if body.kind not in (GROUND, PLANAR, POINT):
            return False
    return True


def _sizes(system: System, whole: Poses) -> tuple[float, float]:
    """Size of the mechanism (diagonal of what surrounds it, half the time) and width of its links."""
    frames: list[Frame] = []
    reach: list[float] = []
    for body in filter(is_seen, system.bodies):
        held = [f for _, f in held_at(system, body)]
        frames += held
        center = body.mass_parameters[1]
        if body.kind != GROUND:
            frames.append(Frame(body, center))
            ends = [f.position for f in held] + [center]
            round_one = max(
                (_curved(item) for item, f in held_at(system, body) if f is getattr(item, "frame_i", None)), default=0.0
            )
            reach.append(max(round_one, *(float(np.linalg.norm(a - b)) for a in ends for b in ends)))
    paths = np.array([whole.path(f) for f in frames]) if frames else np.zeros((1, len(whole.t), 3))
    radii = [_radius(b) for b in system.bodies]
    size = float(np.median(np.linalg.norm(np.ptp(paths, axis=0), axis=1)))
    size = max(size, 2 * max(radii, default=0.0), *(max(_rolling(j), _curved(j)) for j in system.joints), 0.0)
    if size <= 0:
        size = 1.0
    longest = float(np.median([r for r in reach if r > 0] or [size]))
    return size, min(0.05 * size, 0.22 * longest) if longest > 0.02 * size else 0.05 * size


def _radius(body: Body) -> float:
    """Largest distance of a point of the body's shapes from its middle."""
    if isinstance(body, FlexibleBody):
        return body.reduced.mesh.size / 2
    half = [
        np.linalg.norm(np.asarray(s.size)) / 2
        if hasattr(s, "size") and np.ndim(s.size) == 1
        else max(getattr(s, "radius", 0.0), getattr(s, "length", 0.0) / 2)
        for s in body.shape
    ]
    return float(max(half, default=0.0))


def _curved(joint: Any) -> float:
    """Size of the first curve of a cam pair, 0 for other joints."""
    if not hasattr(joint, "curve_i"):
        return 0.0
    first, last = joint.curve_i.span
    return float(np.ptp(joint.curve_i.point(np.linspace(first, last, 33)), axis=0).max())


def _rolling(joint: Any) -> float:
    return 2.0 * float(getattr(joint, "radius", 0.0) or 0.0)


def _heights(system: System, look: Look) -> list[float]:
    """Heights of planar bodies: one over the other when flat, else as few layers as let linked bodies differ."""
    if look.flat:
        return [(1 + k) * look.layer if b.kind != GROUND else 0.0 for k, b in enumerate(system.bodies)]
    number = {id(b): k for k, b in enumerate(system.bodies)}
    linked: list[set[int]] = [set() for _ in system.bodies]
    for joint in system.joints:
        if isinstance(joint, Joint):
            i, j = number[id(joint.frame_i.body)], number[id(joint.frame_j.body)]
            linked[i].add(j)
            linked[j].add(i)
    layer = [0] * len(system.bodies)
    for k, body in enumerate(system.bodies):
        if body.kind == PLANAR:
            taken = {layer[m] for m in linked[k] if m < k and system.bodies[m].kind == PLANAR}
            layer[k] = next(n for n in range(len(taken) + 1) if n not in taken)
    return [n * look.layer for n in layer]


def _force_of(result: Result, joint: Any) -> Array:
    """Force of a joint on its second body over time, (time, 3)."""
    reaction = result.reaction(joint)
    if reaction.shape[1] == 6:
        return reaction[:, :3]
    return np.column_stack([reaction[:, :2], np.zeros(len(reaction))])


def _force(newtons: float) -> str:
    value, unit = with_prefix(np.array([newtons]), "N")
    return f"longest {value[0]:.3g} {unit}"


def _edge_lines(parts: Sequence[tuple[Array, NDArray[np.int64]]]) -> Items:
    """Sharp edges of solids as thin lines."""
    if not parts:
        return []
    starts = np.cumsum([0, *(len(points) for points, _ in parts)])[:-1]
    segments = np.concatenate([edges + n for (_, edges), n in zip(parts, starts, strict=True)])
    return [Lines(np.concatenate([points for points, _ in parts]), segments, "edges", EDGE, 1.2)]


def _together(items: Items) -> Items:
    """Surfaces of one colour as one: fewer things to draw."""
    groups: dict[tuple[Any, ...], list[Surface]] = {}
    rest: Items = []
    for item in items:
        if isinstance(item, Surface):
            groups.setdefault((item.color, item.closed, item.values is None, item.opacity), []).append(item)
        else:
            rest.append(item)
    for (color, closed, plain, opacity), some in groups.items():
        starts = np.cumsum([0, *(len(s.points) for s in some)])[:-1]
        points = np.concatenate([s.points for s in some])
        triangles = np.concatenate([s.triangles + n for s, n in zip(some, starts, strict=True)])
        values = None if plain else np.concatenate([s.values for s in some if s.values is not None])
        rest.append(Surface(points, triangles, color, values, closed, opacity))
    return rest
