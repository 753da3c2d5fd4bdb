"""Machine parts in quadratic tetrahedra: a connecting rod, a blade, a bracket.

Each is laid out in hexahedra, split into conforming tetrahedra, given midside nodes that lie on the true
cylinders, and brought to its final shape by a smooth map.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.circular import arc_block, extruded, snapped
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.edit import joined, merged_nodes
from flexmbs.mesh.generate import box, in_cells
from flexmbs.mesh.move import mapped

Array = NDArray[np.float64]


def connecting_rod(
    length: float = 0.15,
    big_end: tuple[float, float] = (0.024, 0.034),
    small_end: tuple[float, float] = (0.011, 0.0175),
    thickness: float = 0.022,
    shank: tuple[float, float] = (0.021, 0.012),
    waist: float = 0.35,
    web: float = 0.4,
    fineness: int = 1,
) -> MeshData:
    """A connecting rod from the big end's centre (the origin) along x, its pins along z.

    ``big_end`` and ``small_end`` are radii of bore and outside, ``shank`` the half widths where it leaves them.
    The shank narrows by the part ``waist``; its web is the part ``web`` of the thickness, which makes it an I.
    Face sets big_end, small_end (the bores); cell set shank; node set midspan (cross-section at half length).
    """
    _check_positive("connecting_rod", length=length, thickness=thickness, web=web, fineness=fineness)
    ends = ((*big_end, shank[0], "big_end"), (*small_end, shank[1], "small_end"))
    for bore, outside, half, name in ends:
        if not 0 < bore < outside or not 0 < half < outside:
            raise MeshError(
                f"connecting_rod: {name} needs 0 < bore < outside and a half width of the shank below outside, "
                f"not bore {bore!r}, outside {outside!r}, half width {half!r}."
            )
    if big_end[1] + small_end[1] >= length or not 0 <= waist < 1 or web > 1:
        raise MeshError(
            f"connecting_rod: the ends must leave room for a shank (outside radii {big_end[1]!r} + {small_end[1]!r} "
            f"< length {length!r}), waist must be in [0, 1) and web in (0, 1]."
        )
    across = np.linspace(-1.0, 1.0, 6 * fineness + 1)
    half_middle = (shank[0] + shank[1]) / 2
    middle = np.column_stack([np.full_like(across, length / 2), half_middle * across])
    plane: list[MeshData] = []
    for (bore, outside, half, name), center, sign in zip(ends, (0.0, length), (1.0, -1.0), strict=True):
        tied = np.arcsin(half / outside * across)
        rest = 2 * np.pi - 2 * tied[-1]
        count = int(np.ceil(rest * (bore + outside) / 2 / (thickness / 3)))
        far = np.linspace(tied[-1], tied[-1] + rest, count * fineness + 1)
        for angle in (tied, far):
            unit = np.column_stack([sign * np.cos(angle), sign * np.sin(angle)])
            at = np.array([center, 0.0])
            plane.append(arc_block(at + bore * unit, at + outside * unit, 2 * fineness, "connecting_rod", x0=name))
        arc = np.array([center, 0.0]) + outside * np.column_stack([sign * np.cos(tied), np.sin(tied)])
        start, end = (arc, middle) if sign > 0 else (middle, arc)
        part = arc_block(start, end, 7 * fineness, "connecting_rod")
        plane.append({**part, "cell_sets": {"shank": np.arange(len(part["cells"][0]))}})
    whole = merged_nodes(reduce(joined, plane))
    data = in_cells(extruded(whole, np.linspace(-thickness / 2, thickness / 2, 3 * fineness + 1)), "tetra10")
    for bore, outside, center in ((*big_end, 0.0), (*small_end, length)):
        data = snapped(snapped(data, bore, (center, 0.0, 0.0)), outside, (center, 0.0, 0.0))

    def shaped(x: Array, y: Array, z: Array) -> tuple[Array, Array, Array]:
        """Narrow the shank and sink its web; nothing moves on the two outside cylinders and beyond."""
        left = np.sqrt(np.maximum(big_end[1] ** 2 - y**2, 0.0))
        right = length - np.sqrt(np.maximum(small_end[1] ** 2 - y**2, 0.0))
        s = np.clip((x - left) / (right - left), 0.0, 1.0)
        width = np.interp(x, [left.max(), length / 2, right.min()], [shank[0], half_middle, shank[1]])
        inner = _step((0.9 - np.abs(y) / width) / 0.6)
        along = _step(s / 0.25) * _step((1 - s) / 0.25)
        sink = along * (0.12 + (0.88 - web) * inner)
        return x, y * (1 - waist * (1 - (2 * s - 1) ** 4)), z * (1 - np.maximum(sink, 0.0))

    data = mapped(data, shaped)
    data["face_sets"] = {n: data["face_sets"][n] for n in ("big_end", "small_end")}
    data["node_sets"] = {"midspan": np.flatnonzero(np.abs(data["points"][:, 0] - length / 2) < 1e-9 * length)}
    return data


def blade(
    length: float = 0.12,
    chord: float = 0.05,
    hub_radius: float = 0.1,
    thickness: float = 0.12,
    camber: float = 0.06,
    taper: float = 0.7,
    stagger: float = np.radians(60.0),
    twist: float = np.radians(35.0),
    divisions: tuple[int, int, int] = (24, 10, 1),
) -> MeshData:
    """A twisted, tapered blade along x from the hub radius outwards, to spin about z through the origin.

    ``thickness`` and ``camber`` are parts of the chord; ``taper`` is tip chord over root chord. ``stagger`` is the
    angle of the root's chord from the plane of rotation, and the tip has ``twist`` less (radians). Divisions along
    the span, the chord and the thickness. Face sets root, tip, and pressure, suction.
    """
    _check_positive("blade", length=length, chord=chord, hub_radius=hub_radius, thickness=thickness, taper=taper)

    def section(s: Array, u: Array, v: Array) -> tuple[Array, Array, Array]:
        c = chord * (1 - (1 - taper) * s)
        # Along an arc in the parameter the rounded edges are smooth, and cells get shorter towards them.
        arc = 0.4 * np.pi
        u, round_off = np.sin(arc * u) / np.sin(arc), (np.cos(arc * u) - np.cos(arc)) / (1 - np.cos(arc))
        along = c / 2 * u
        half = c * thickness / 2 * (0.2 + 0.8 * round_off * (1 - 0.25 * u)) * (1 - 0.3 * s)
        across = c * camber * (1 - u**2) + half * v
        angle = stagger - twist * s
        y = along * np.cos(angle) - across * np.sin(angle)
        z = along * np.sin(angle) + across * np.cos(angle)
        return hub_radius + length * s, y, z

    data = mapped(box((1.0, 2.0, 2.0), divisions, "tetra10", origin=(0.0, -1.0, -1.0)), section)
    sides = {"root": "x0", "tip": "x1", "pressure": "z0", "suction": "z1"}
    data["face_sets"] = {new: data["face_sets"][old] for new, old in sides.items()}
    data["name"] = "blade"
    return data


def bracket(
    width: float = 0.08,
    depth: float = 0.05,
    height: float = 0.06,
    thickness: float = 0.008,
    bolt_radius: float = 0.0045,
    load_radius: float = 0.011,
    fineness: int = 1,
) -> MeshData:
    """An angle bracket: a base in the plane z = 0 with two bolt holes, an upright at y = 0 with one large hole.

    Face sets base (the underside), bolts (bores of the two holes), load (bore of the large hole).
    """
    _check_positive("bracket", thickness=thickness, bolt_radius=bolt_radius, load_radius=load_radius, fineness=fineness)
    room = min(width / 4, (depth - thickness) / 2), min(width / 2, (height - thickness) / 2)
    if bolt_radius >= 0.9 * room[0] or load_radius >= 0.9 * room[1]:
        raise MeshError(
            f"bracket: holes too large: bolt_radius {bolt_radius!r} must stay below {0.9 * room[0]:.4g}, "
            f"load_radius {load_radius!r} below {0.9 * room[1]:.4g} for this width, depth, height and thickness."
        )
    side, layers, through = 4 * fineness, 3 * fineness, 2 * fineness
    bolt_centers = [(x, (thickness + depth) / 2) for x in (width / 4, 3 * width / 4)]
    load_center = (width / 2, (thickness + height) / 2)
    levels = np.linspace(0.0, thickness, through + 1)
    flat = [_holed(c, (width / 4, (depth - thickness) / 2), bolt_radius, (side, side), layers) for c in bolt_centers]
    base = extruded(reduce(joined, flat), levels)
    base["face_sets"] = {"bolts": base["face_sets"]["hole"], "base": base["face_sets"]["start"]}
    plate = _holed(
        load_center, (width / 2, (height - thickness) / 2), load_radius, (2 * side, 2 * side), layers + fineness
    )
    upright = mapped(extruded(plate, levels - thickness), lambda x, y, z: (x, -z, y))
    upright["face_sets"] = {"load": upright["face_sets"]["hole"]}
    corner = box((width, thickness, thickness), (2 * side, through, through))
    corner["face_sets"] = {"base": corner["face_sets"]["z0"]}
    whole = merged_nodes(reduce(joined, [base, corner, upright]))
    data = in_cells(whole, "tetra10")
    for x, y in bolt_centers:
        data = snapped(data, bolt_radius, (x, y, 0.0))
    data = snapped(data, load_radius, (load_center[0], 0.0, load_center[1]), axis="y")
    data["name"] = "bracket"
    return data


def _holed(
    center: tuple[float, float], half: tuple[float, float], radius: float, sides: tuple[int, int], layers: int
) -> MeshData:
    """A rectangle with a round hole: quads from the circle to each of the four sides; face set hole."""
    corners = np.array([(1, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
    blocks = []
    for k in range(4):
        count = sides[1 - k % 2]
        angle = np.pi / 4 * (2 * k - 1) + np.linspace(0.0, np.pi / 2, count + 1)
        circle = radius * np.column_stack([np.cos(angle), np.sin(angle)])
        edge = corners[k] + np.linspace(0.0, 1.0, count + 1)[:, None] * (corners[k + 1] - corners[k])
        blocks.append(arc_block(center + circle, center + edge * half, layers, "bracket", x0="hole"))
    return reduce(joined, blocks)


def _step(t: Array) -> Array:
    """0 below 0, 1 above 1, with zero slope at both."""
    t = np.clip(t, 0.0, 1.0)
    return np.asarray(t * t * (3 - 2 * t))


def _check_positive(part: str, **values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise MeshError(f"{part}: {name} must be positive, not {value!r}.")
