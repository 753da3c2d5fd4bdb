"""The flat layout of a mechanism: every body, frame, measure and row as entries of arrays.

The compiled functions loop over these arrays and switch on ``kind``; nothing else of a model reaches them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexmbs.bodies.body import Body, Frame
from flexmbs.bodies.flexible_frames import ModalLayout
from flexmbs.bodies.ground import SPACE, Ground
from flexmbs.errors import ModelError
from flexmbs.forces.force import Force
from flexmbs.forces.layout import ForceLayout, lay_out_forces
from flexmbs.forces.stage import hooks
from flexmbs.forces.user import UserForce
from flexmbs.joints.joint import Measure, Row

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Layout(NamedTuple):
    """A mechanism in arrays. ``*_start`` arrays have one entry more than there are items."""

    body_kind: Index
    body_q: Index  # first coordinate and first velocity of each body; one entry more than bodies
    body_v: Index
    mass: Array  # (bodies,)
    centre: Array  # (bodies, 3) mass centre in body axes
    inertia: Array  # (bodies, 3, 3) about the body's origin, body axes
    gravity: Array  # (3,)
    frame_body: Index
    frame_position: Array  # (frames, 3) in body axes
    frame_axes: Array  # (frames, 3, 3)
    frame_t: Index  # start of each frame's Jacobian T (6 x n_v of its body) in the work array
    measure_kind: Index
    measure_i: Index  # frames
    measure_j: Index
    measure_axes: Array  # (measures, 3, 3)
    row_start: Index  # terms of each row
    term_measure: Index
    term_factor: Array
    term_entry_i: Index  # entry of the Jacobian for the first and second frame's body, -1 for the ground
    term_entry_j: Index
    entry_start: Index  # entries of each row
    entry_body: Index
    entry_at: Index  # first value of each entry in the Jacobian's data
    group_row: Index  # first row of each joint
    row_holonomic: NDArray[np.bool_]  # rows that hold positions; the others are relations of velocities only
    forces: ForceLayout
    modal: ModalLayout | None  # None where no body is flexible: nothing of them is compiled then

    @property
    def n_bodies(self) -> int:
        """Number of bodies."""
        return len(self.body_kind)

    @property
    def n_q(self) -> int:
        """Number of coordinates."""
        return int(self.body_q[-1])

    @property
    def n_v(self) -> int:
        """Number of velocities."""
        return int(self.body_v[-1])

    @property
    def n_rows(self) -> int:
        """Number of constraint rows."""
        return len(self.row_start) - 1


def lay_out(
    bodies: Sequence[Body],
    groups: Sequence[Sequence[Row]],
    gravity: Array,
    forces: Sequence[Force | UserForce] = (),
    joints: Sequence[Any] = (),
    sensed: Sequence[Measure | Frame] = (),
) -> tuple[Layout, FrameBook]:
    """The layout of bodies, of the rows of joints (one group per joint) and of forces, and the book of frames used.

    ``joints`` are those of the groups, for forces that refer to one; ``sensed`` is measured though nothing acts on it.
    """
    book = FrameBook(bodies)
    rows = [row for group in groups for row in group]
    measures: list[Measure] = []
    numbers: dict[Any, int] = {}
    term_measure, term_factor, row_start = [], [], [0]
    entries: list[int] = []
    entry_start = [0]
    term_i: list[int] = []
    term_j: list[int] = []

    def number(measure: Measure) -> int:
        """Equal measures share a number, so that a spring counts the turns that a drive prescribes."""
        key = (measure.kind, book.number(measure.frame_i), book.number(measure.frame_j), measure.axes.tobytes())
        if key not in numbers:
            numbers[key] = len(measures)
            measures.append(measure)
        return numbers[key]

    for row in rows:
        touched: list[int] = []
        for factor, measure in row.terms:
            term_measure.append(number(measure))
            term_factor.append(float(factor))
            for frame, into in ((measure.frame_i, term_i), (measure.frame_j, term_j)):
                body = book.body_number(frame.body)
                if bodies[body].n_v == 0:
                    into.append(-1)
                    continue
                if body not in touched:
                    touched.append(body)
                into.append(entry_start[-1] + touched.index(body))
        entries.extend(touched)
        entry_start.append(entry_start[-1] + len(touched))
        row_start.append(len(term_measure))
    first_rows = _starts([len(g) for g in groups])

    def rows_of(joint: Any, name: str) -> tuple[int, int]:
        for k, own in enumerate(joints):
            if own is joint:
                return int(first_rows[k]), int(first_rows[k + 1])
        raise ModelError(f"{name}: joint {joint.name!r} is not in the system.")

    applied = lay_out_forces(forces, book.number, number, book.body_number, rows_of)
    applied = applied._replace(hooks=hooks(applied, any(body.modes for body in bodies)))
    for force in forces:
        for used in force.frames:
            if used is not None:
                book.number(used)
    for item in sensed:
        book.number(item) if isinstance(item, Frame) else number(item)
    frame_i = [book.number(m.frame_i) for m in measures]
    frame_j = [book.number(m.frame_j) for m in measures]
    widths = np.array([bodies[b].n_v for b in entries], dtype=np.int64)
    parameters = [b.mass_parameters for b in bodies]
    layout = Layout(
        body_kind=_index([b.kind for b in bodies]),
        body_q=_starts([b.n_q for b in bodies]),
        body_v=_starts([b.n_v for b in bodies]),
        mass=np.array([p[0] for p in parameters]),
        centre=np.array([p[1] for p in parameters]).reshape(-1, 3),
        inertia=np.array([p[2] for p in parameters]).reshape(-1, 3, 3),
        gravity=np.array(gravity, dtype=float),
        frame_body=_index(book.bodies),
        frame_position=np.array([f.position for f in book.frames]).reshape(-1, 3),
        frame_axes=np.array([f.axes for f in book.frames]).reshape(-1, 3, 3),
        frame_t=_starts([6 * bodies[b].n_v for b in book.bodies]),
        measure_kind=_index([m.kind for m in measures]),
        measure_i=_index(frame_i),
        measure_j=_index(frame_j),
        measure_axes=np.array([m.axes for m in measures]).reshape(-1, 3, 3),
        row_start=_index(row_start),
        term_measure=_index(term_measure),
        term_factor=np.array(term_factor, dtype=float),
        term_entry_i=_index(term_i),
        term_entry_j=_index(term_j),
        entry_start=_index(entry_start),
        entry_body=_index(entries),
        entry_at=_starts(widths),
        group_row=first_rows,
        row_holonomic=np.array([row.holonomic for row in rows], dtype=np.bool_),
        forces=applied,
        modal=lay_out_modes(bodies, book.frames),
    )
    return layout, book


class FrameBook:
    """Numbers of frames: equal frames of one body share a number."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self._bodies = {id(b): k for k, b in enumerate(bodies)}
        self._bodies |= {id(SPACE): k for k, b in enumerate(bodies) if isinstance(b, Ground)}
        self._numbers: dict[Any, int] = {}
        self.frames: list[Frame] = []
        self.bodies: list[int] = []

    def body_number(self, body: Body) -> int:
        """Number of a body of the system."""
        return self._bodies[id(body)]

    def stand_in(self, numbers: dict[int, int]) -> None:
        """Let bodies of another system, by their id, stand for bodies of this one."""
        self._bodies |= numbers

    def number(self, frame: Frame) -> int:
        """Number of a frame, which is entered if it is new."""
        key = self._key(frame)
        if key not in self._numbers:
            self._numbers[key] = len(self.frames)
            self.frames.append(frame)
            self.bodies.append(self.body_number(frame.body))
        return self._numbers[key]

    def find(self, frame: Frame) -> int | None:
        """Number of a frame, None if it was never entered."""
        return self._numbers.get(self._key(frame))

    def _key(self, frame: Frame) -> tuple[int | None, bytes, bytes, bytes]:
        number = self._bodies.get(id(frame.body))
        return number, frame.position.tobytes(), frame.axes.tobytes(), frame.shapes.tobytes()


def lay_out_modes(bodies: Sequence[Body], frames: Sequence[Frame]) -> ModalLayout | None:
    """Constants of flexible bodies and of frames on them, one after the other."""
    if not any(body.modes for body in bodies):
        return None
    constants = [body.modal_constants for body in bodies]
    rows = [frame.modal_constants for frame in frames]
    return ModalLayout(
        np.column_stack([[b.modes for b in bodies], _starts([len(c) for c in constants])[:-1]]).astype(np.int64),
        np.concatenate([np.zeros(0), *constants]),
        np.column_stack([[f.body.modes if f.deforms else 0 for f in frames], _starts([len(r) for r in rows])[:-1]])
        .astype(np.int64)
        .reshape(-1, 2),
        np.concatenate([np.zeros(0), *rows]),
    )


def _index(values: Any) -> Index:
    return np.array(values, dtype=np.int64).reshape(-1)


def _starts(sizes: Any) -> Index:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)
