"""``flexmbs info`` and ``flexmbs modes``: what is in a mesh, and how it vibrates."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

import flexmbs as fm
from flexmbs import view


def info(asked: Namespace) -> int:
    """Cells, sets, quality, problems and mass of a mesh; 1 where something is wrong with it."""
    mesh = fm.Mesh.read(asked.mesh, scale=asked.scale)
    material = None if asked.material is None else material_of(asked.material)
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    print(mesh.name)
    print(f"  {mesh.n_nodes} nodes, {', '.join(f'{len(b)} {b.type}' for b in mesh.cells)}")
    print(f"  from {vector(low)} to {vector(high)} m")
    print("\n".join(["  sets", *_sets(mesh)]) if mesh.sets else "  no sets")
    problems = mesh.problems()
    broken = any(p.severity == "error" for p in problems)
    quality = mesh.quality()
    worst = int(quality.scaled_jacobian.argmin())
    print(
        f"  quality: scaled Jacobian {quality.scaled_jacobian[worst]:.3g} (cell {worst}) to "
        f"{quality.scaled_jacobian.max():.3g}, mean {quality.scaled_jacobian.mean():.3g}; longest over shortest edge "
        f"at most {quality.aspect.max():.3g}"
    )
    for problem in problems:
        print(f"  {problem.severity}: {problem}")
    if not broken:
        print("\n".join(_mass(mesh, material, asked.thickness)))
    if asked.out is not None:
        print(f"  picture: {view.mesh(mesh, asked.out)}")
    return 1 if broken else 0


def modes(asked: Namespace) -> int:
    """Table of natural frequencies, and a picture of the shapes."""
    mesh = fm.Mesh.read(asked.mesh, scale=asked.scale).check()
    material = material_of(asked.material)
    found = fm.modes(mesh, material, fixed=asked.fix, count=asked.count, **_options(mesh, asked.thickness))
    held = f"held at {', '.join(asked.fix)}" if asked.fix else "free"
    print(f"{mesh.name}, {material.name}, {held}\n{found.table()}")
    if asked.out is not None:
        print(f"picture: {view.modes(found, asked.out)}")
    return 0


def material_of(text: str) -> fm.Material:
    """A material by name, or by E, ν, ρ with commas between them."""
    if "," not in text:
        return fm.Material.named(text)
    try:
        young, poisson, density = (float(x) for x in text.split(","))
    except ValueError:
        raise fm.MaterialError(
            f"--material {text}: three numbers are needed, Young's modulus [Pa], Poisson's ratio, density [kg/m³], as "
            "210e9,0.3,7850; or a name such as steel."
        ) from None
    return fm.Material(young, poisson, density, name=text)


def vector(numbers: Any) -> str:
    """A vector in words."""
    size = np.abs(numbers).max()
    return f"({', '.join(f'{0.0 if abs(x) < 1e-6 * size else x:.4g}' for x in numbers)})"


def _sets(mesh: fm.Mesh) -> list[str]:
    width, lines = max(map(len, mesh.sets)), []
    for name in mesh.sets:
        kinds = (("faces", mesh.face_sets), ("cells", mesh.cell_sets), ("", mesh.node_sets))
        counts = [f"{len(sets[name])} {kind}" for kind, sets in kinds if kind and name in sets]
        lines.append(f"    {name:<{width}}  {', '.join([*counts, f'{len(mesh.nodes(name))} nodes'])}")
    return lines


def _mass(mesh: fm.Mesh, material: fm.Material | None, thickness: float) -> list[str]:
    if mesh.dimension < 2:
        return ["  mass: a line mesh needs a section; ask fm.mass_properties"] if material is not None else []
    options = _options(mesh, thickness)
    if material is None:
        unit = fm.mass_properties(mesh, fm.Material(1.0, 0.0, 1.0), **options)
        return [f"  volume: {unit.mass:.6g} m³, centre {vector(unit.center)} m (give --material for mass and inertia)"]
    found = fm.mass_properties(mesh, material, **options)
    moments = ", ".join(f"{m:.4g}" for m in found.principal[0])
    lines = [f"  mass: {found.mass:.6g} kg of {material.name}, centre {vector(found.center)} m"]
    return [*lines, f"  principal moments of inertia about it: {moments} kg m²"]


def _options(mesh: fm.Mesh, thickness: float) -> dict[str, Any]:
    return {"thickness": thickness} if mesh.dimension == 2 else {}
