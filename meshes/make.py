"""Make the meshes of this folder with Gmsh and its OpenCASCADE kernel: python meshes/make.py [name ...]

Needs the package gmsh (the extra ``bench``). Lengths in metres, except the bracket's millimetres.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import gmsh
import numpy as np

HERE = Path(__file__).parent
Box = tuple[float, float, float, float, float, float]


def surfaces(select: Callable[[Box, tuple[float, float, float], float], bool]) -> list[int]:
    """Boundary surfaces by bounding box, centroid and area."""
    occ = gmsh.model.occ
    found = []
    for _, tag in gmsh.model.getEntities(2):
        if select(occ.getBoundingBox(2, tag), occ.getCenterOfMass(2, tag), occ.getMass(2, tag)):
            found.append(tag)
    return found


def bore(x: float, y: float, radius: float, tolerance: float = 1e-6) -> list[int]:
    """Cylindrical surfaces of the given radius about an axis along z through (x, y)."""
    found = []
    for _, tag in gmsh.model.getEntities(2):
        if gmsh.model.getType(2, tag) != "Cylinder":
            continue
        low, high = gmsh.model.getParametrizationBounds(2, tag)
        uv = np.linspace(low, high, 5)
        points = np.array(gmsh.model.getValue(2, tag, uv.ravel())).reshape(-1, 3)
        if np.abs(np.hypot(points[:, 0] - x, points[:, 1] - y) - radius).max() < tolerance:
            found.append(tag)
    return found


def group(dimension: int, tags: Sequence[int], name: str) -> None:
    """A named physical group, which must not be empty."""
    if not tags:
        raise RuntimeError(f"nothing found for {name}")
    gmsh.model.addPhysicalGroup(dimension, list(tags), name=name)


def mesh(smallest: float, largest: float, per_turn: int = 12) -> None:
    """Quadratic tetrahedra, finer where surfaces are curved, optimised until no Jacobian is near zero."""
    options = {
        "Mesh.MeshSizeMin": smallest,
        "Mesh.MeshSizeMax": largest,
        "Mesh.MeshSizeFromCurvature": per_turn,
        "Mesh.ElementOrder": 2,
        "Mesh.HighOrderOptimize": 2,
        "Mesh.Algorithm3D": 1,
        "Mesh.OptimizeNetgen": 1,
        "Mesh.MshFileVersion": 4.1,
        "Mesh.BdfFieldFormat": 2,  # 16 characters per number; 8 would cost half the digits
        "Mesh.SaveElementTagType": 2,  # the number of the physical group
    }
    for key, value in options.items():
        gmsh.option.setNumber(key, value)
    gmsh.model.mesh.generate(3)


def vertical_edges(select: Callable[[float, float], bool]) -> list[int]:
    """Straight edges along z whose place (x, y) is chosen."""
    found = []
    for _, tag in gmsh.model.getEntities(1):
        x0, y0, z0, x1, y1, z1 = gmsh.model.occ.getBoundingBox(1, tag)
        if z1 - z0 > 1e-3 and x1 - x0 < 1e-5 and y1 - y0 < 1e-5 and select((x0 + x1) / 2, (y0 + y1) / 2):
            found.append(tag)
    return found


def connecting_rod() -> None:
    """Forged rod: two eyes, a tapered I-shank with rounded pockets, fillets where it meets the eyes."""
    length, thick = 0.15, 0.02
    big, small = (0.024, 0.033), (0.011, 0.017)
    occ = gmsh.model.occ
    eyes = [
        occ.addCylinder(0, 0, -thick / 2, 0, 0, thick, big[1]),
        occ.addCylinder(length, 0, -thick / 2, 0, 0, thick, small[1]),
    ]
    shank = prism(
        [(0.005, -0.0165), (length - 0.003, -0.0105), (length - 0.003, 0.0105), (0.005, 0.0165)], -thick / 2, thick
    )
    rod, _ = occ.fuse([(3, eyes[0])], [(3, eyes[1]), (3, shank)])
    occ.synchronize()
    corners = vertical_edges(lambda x, y: 0.02 < x < length - 0.005 and abs(y) > 0.008)
    rod = occ.fillet(
        [rod[0][1]], corners, [0.012 if occ.getCenterOfMass(1, c)[0] < length / 2 else 0.009 for c in corners]
    )
    holes = [
        occ.addCylinder(0, 0, -thick, 0, 0, 2 * thick, big[0]),
        occ.addCylinder(length, 0, -thick, 0, 0, 2 * thick, small[0]),
    ]
    rod, _ = occ.cut(rod, [(3, h) for h in holes])
    pockets = [d for z in (0.0035, -0.0235) for d in pocket(z, 0.02)]
    rod, _ = occ.cut(rod, pockets)
    # Cut at the ends of the shank and at half length, so that these become surfaces of the mesh.
    planes = [(2, occ.addRectangle(-0.05, -0.05, 0, 0.1, 0.1)) for _ in range(3)]
    for plane, x in zip(planes, (0.038, length / 2, length - 0.021), strict=True):
        occ.rotate([plane], 0, 0, 0, 0, 1, 0, np.pi / 2)
        occ.translate([plane], x, 0, 0)
    occ.fragment(rod, planes)
    occ.synchronize()
    inside = {t for v in gmsh.model.getEntities(3) for _, t in gmsh.model.getBoundary([v], oriented=False)}
    occ.remove([(2, t) for _, t in gmsh.model.getEntities(2) if t not in inside], recursive=True)
    occ.synchronize()
    group(2, bore(0, 0, big[0]), "big_end")
    group(2, bore(length, 0, small[0]), "small_end")
    group(2, surfaces(lambda b, c, a: b[3] - b[0] < 1e-5 and abs(c[0] - length / 2) < 1e-6), "midspan")
    volumes = [t for _, t in gmsh.model.getEntities(3)]
    middle = [t for t in volumes if 0.04 < occ.getCenterOfMass(3, t)[0] < length - 0.022]
    group(3, middle, "shank")
    group(3, [t for t in volumes if t not in middle], "eyes")
    mesh(0.0055, 0.011, per_turn=9)
    gmsh.write(str(HERE / "connecting_rod.msh"))


def pocket(z: float, height: float) -> list[tuple[int, int]]:
    """What is cut from one side of the shank: a prism with rounded corners and a rounded floor."""
    occ = gmsh.model.occ
    block = prism([(0.044, -0.0098), (0.123, -0.0068), (0.123, 0.0068), (0.044, 0.0098)], z, height)
    occ.synchronize()
    rounded = occ.fillet([block], sorted(set(edges_of((3, block))) & set(vertical_edges(lambda x, y: True))), [0.006])
    occ.synchronize()
    level = z if z > 0 else z + height
    floor = next(s for s in gmsh.model.getBoundary(rounded, oriented=False) if flat_at(s, level))
    return list(occ.fillet([rounded[0][1]], edges_of(floor), [0.004]))


def edges_of(entity: tuple[int, int]) -> list[int]:
    """Edges of a surface or a volume."""
    edges = gmsh.model.getBoundary([entity], combined=False, oriented=False)
    if entity[0] == 3:
        edges = gmsh.model.getBoundary(edges, combined=False, oriented=False)
    return sorted({tag for _, tag in edges})


def blade() -> None:
    """Compressor blade on a platform: lofted aerofoil sections, twisted and tapered, flared at the foot."""
    hub, platform, tip = 0.09, 0.1, 0.22
    occ = gmsh.model.occ
    wires = []
    for s in np.linspace(0.0, 1.0, 7):
        flare = np.exp(-((s / 0.1) ** 2))  # stands for the fillet at the foot
        chord, thickness, camber = 0.05 * (1 - 0.3 * s + 0.06 * flare), 0.12 - 0.03 * s + 0.1 * flare, 0.06
        angle = np.radians(60 - 35 * s)
        t = np.linspace(0.0, 1.0, 7)  # along the chord
        half = thickness * (0.12 + 1.52 * t * (1 - t) * (1.15 - 0.3 * t))  # both edges are left blunt
        line = 4 * camber * t * (1 - t) - 0.6 * camber
        sides = []
        for sign in (1, -1):
            a, b = chord * (t - 0.45), chord * (line + sign * half)
            y, z = a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)
            x = platform - 0.004 + (tip - platform + 0.004) * s
            sides.append([occ.addPoint(x, *yz) for yz in zip(y, z, strict=True)])
        upper, lower = sides
        edges = [occ.addSpline(upper), occ.addLine(upper[-1], lower[-1]), occ.addSpline(lower[::-1])]
        wires.append(occ.addWire([*edges, occ.addLine(lower[0], upper[0])]))
    aerofoil = occ.addThruSections(wires, makeSolid=True)
    foot = occ.addBox(hub, -0.02, -0.027, platform - hub, 0.04, 0.054)
    occ.fuse([(3, foot)], [d for d in aerofoil if d[0] == 3])
    occ.synchronize()
    group(2, surfaces(lambda b, c, a: abs(c[0] - hub) < 1e-6), "root")
    group(2, surfaces(lambda b, c, a: abs(c[0] - tip) < 1e-6), "tip")
    group(3, [t for _, t in gmsh.model.getEntities(3)], "blade")
    mesh(0.002, 0.005, per_turn=8)
    gmsh.write(str(HERE / "blade.msh"))


def bracket() -> None:
    """Cast angle bracket in millimetres: base with two bolt holes, upright with a bored boss, two ribs."""
    width, depth, height, thick = 90.0, 60.0, 75.0, 8.0
    occ = gmsh.model.occ
    base = occ.addBox(0, 0, 0, width, depth, thick)
    upright = occ.addBox(0, 0, 0, width, thick, height)
    boss = occ.addCylinder(width / 2, 0, 48, 0, 16, 0, 20)
    body, _ = occ.fuse([(3, base)], [(3, upright), (3, boss)])
    ribs = []
    for x in (0.0, width - 7):
        corners = [
            occ.addPoint(x, y, z)
            for y, z in (
                (thick / 2, thick / 2),
                (depth - 8, thick / 2),
                (depth - 8, thick),
                (thick, height - 12),
                (thick / 2, height - 12),
            )
        ]
        lines = [occ.addLine(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
        face = occ.addPlaneSurface([occ.addCurveLoop(lines)])
        ribs += [d for d in occ.extrude([(2, face)], 7, 0, 0) if d[0] == 3]
    body, _ = occ.fuse(body, ribs)
    occ.synchronize()

    def edge_at(**at: float) -> list[int]:
        """Straight edges that lie at the given coordinates."""
        out = []
        for _, tag in gmsh.model.getEntities(1):
            low_high = np.array(occ.getBoundingBox(1, tag)).reshape(2, 3)
            if all(np.abs(low_high[:, "xyz".index(k)] - v).max() < 1e-3 for k, v in at.items()):
                out.append(tag)
        return out

    corners = [t for x in (0.0, width) for t in edge_at(x=x, z=height)]
    body = occ.fillet([body[0][1]], corners, [12.0])
    occ.synchronize()
    body = occ.fillet([body[0][1]], edge_at(y=thick, z=thick), [6.0])
    occ.synchronize()
    body = occ.fillet([body[0][1]], [t for x in (0.0, width) for t in edge_at(x=x, y=depth)], [6.0])
    holes = [occ.addCylinder(x, 38, -1, 0, 0, thick + 2, 5.5) for x in (26, width - 26)]
    holes.append(occ.addCylinder(width / 2, -1, 48, 0, 30, 0, 12))
    occ.cut(body, [(3, h) for h in holes])
    occ.synchronize()
    group(2, surfaces(lambda b, c, a: abs(b[5]) < 1e-3), "base")
    group(2, [t for x in (26, width - 26) for t in bore(x, 38, 5.5, 1e-3)], "bolts")
    group(
        2,
        surfaces(
            lambda b, c, a: np.allclose([b[0], b[3], b[2], b[5]], [33, 57, 36, 60], atol=0.01) and b[4] - b[1] > 1
        ),
        "load",
    )
    group(3, [t for _, t in gmsh.model.getEntities(3)], "bracket")
    mesh(5.0, 12.0, per_turn=9)
    path = HERE / "bracket.inp"
    gmsh.write(str(path))
    # Gmsh also names the elements of each geometric surface (only the physical groups are of use) and the full path.
    text = re.sub(r", ELSET=(Surface|Volume)\d+", "", path.read_text())
    path.write_text(text.replace(str(path), "Angle bracket, millimetres", 1))


def crank() -> None:
    """Crank web with a hub for the shaft and a pin at 50 mm; in Nastran's format."""
    throw, web = 0.05, 0.014
    occ = gmsh.model.occ
    hub = occ.addCylinder(0, 0, -web / 2, 0, 0, 0.03, 0.02)
    eye = occ.addCylinder(throw, 0, -web / 2, 0, 0, web, 0.015)
    arm = prism([(0, -0.02), (throw, -0.015), (throw, 0.015), (0, 0.02)], -web / 2, web)
    weight = occ.addCylinder(0, 0, -web / 2, 0, 0, web, 0.042, angle=np.radians(130))
    occ.rotate([(3, weight)], 0, 0, 0, 0, 0, 1, np.radians(115))
    pin = occ.addCylinder(throw, 0, -web / 2, 0, 0, -0.024, 0.0095)
    body, _ = occ.fuse([(3, hub)], [(3, eye), (3, arm), (3, weight), (3, pin)])
    bored = occ.addCylinder(0, 0, -0.05, 0, 0, 0.1, 0.011)
    occ.cut(body, [(3, bored)])
    occ.synchronize()
    gmsh.model.addPhysicalGroup(3, [t for _, t in gmsh.model.getEntities(3)], 1)
    gmsh.model.addPhysicalGroup(2, bore(0, 0, 0.011), 2)
    gmsh.model.addPhysicalGroup(2, bore(throw, 0, 0.0095), 3)
    mesh(0.004, 0.009, per_turn=10)
    path = HERE / "crank.bdf"
    gmsh.write(str(path))
    # Gmsh writes property numbers only; these comments are how HyperMesh names properties.
    names = "".join(
        f'$HMNAME PROP{number:20d}"{name}" 4\n' for number, name in ((1, "crank"), (2, "shaft"), (3, "pin"))
    )
    path.write_text(names + path.read_text())


def flat_at(surface: tuple[int, int], z: float) -> bool:
    """Whether a surface lies in the plane at height z."""
    box = gmsh.model.occ.getBoundingBox(*surface)
    return abs(box[2] - z) < 1e-5 and abs(box[5] - z) < 1e-5


def prism(outline: Sequence[tuple[float, float]], z: float, height: float) -> int:
    """A straight prism over a polygon."""
    occ = gmsh.model.occ
    corners = [occ.addPoint(x, y, z) for x, y in outline]
    lines = [occ.addLine(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    face = occ.addPlaneSurface([occ.addCurveLoop(lines)])
    return next(t for d, t in occ.extrude([(2, face)], 0, 0, height) if d == 3)


MAKERS = {f.__name__: f for f in (connecting_rod, blade, bracket, crank)}


def main(names: Sequence[str]) -> None:
    """Make the meshes named, or all."""
    for name in names or MAKERS:
        gmsh.initialize()
        gmsh.option.setNumber("General.Verbosity", 2)
        gmsh.model.add(name)
        MAKERS[name]()
        gmsh.finalize()


if __name__ == "__main__":
    main(sys.argv[1:])
