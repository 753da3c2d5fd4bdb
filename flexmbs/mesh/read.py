"""Reading mesh files of any supported format."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from os import PathLike
from pathlib import Path

import numpy as np

from flexmbs.errors import MeshError, MeshWarning
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.formats import abaqus, gmsh, nastran, through_meshio, unv, vtk_legacy, vtk_xml
from flexmbs.mesh.formats.contents import FileContents
from flexmbs.mesh.integrals import cell_volumes
from flexmbs.mesh.move import reverse
from flexmbs.mesh.normalise import mesh_data

SMALLEST, LARGEST = 1e-4, 50.0
"""Diagonals (metres) beyond which a part is more likely given in other units."""

OWN: dict[str, Callable[[Path], FileContents]] = {
    ".msh": gmsh.read,
    ".inp": abaqus.read,
    **dict.fromkeys((".bdf", ".nas", ".fem", ".blk", ".dat"), nastran.read),
    ".unv": unv.read,
    ".vtk": vtk_legacy.read,
    **dict.fromkeys(vtk_xml.READERS, vtk_xml.read),
}
"""Readers of our own, by extension."""

UPRIGHT = (".med", ".vtk", *vtk_xml.READERS, ".xdmf", ".xmf")
"""Formats that count the nodes of some cells the other way round."""


def read(path: str | PathLike[str], *, scale: float = 1.0, dimension: int | None = None) -> MeshData:
    """Constructor arguments of the mesh in a file, with its named sets; see ``Mesh.read``."""
    path = Path(path)
    if not (np.isfinite(scale) and scale > 0):
        raise MeshError(f"{path}: scale must be a positive number, not {scale!r} (1e-3 for millimetres).")
    _check_file(path)
    data = _upright(mesh_data(_contents(path), path.name, dimension), path.suffix.lower())
    data["points"] = data["points"] * scale
    _check_size(data, path)
    return data


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise MeshError(f"{path}: is a folder; give the mesh file in it.")
    if not path.exists():
        near = sorted(p.name for p in path.parent.glob(f"{path.stem}.*")) if path.parent.is_dir() else []
        hint = f"There is {', '.join(near)}." if near else f"The current folder is {Path.cwd()}."
        raise MeshError(f"{path}: no such file. {hint}")
    if path.stat().st_size == 0:
        raise MeshError(f"{path}: the file is empty; export it again.")


def _contents(path: Path) -> FileContents:
    suffix = path.suffix.lower()
    if suffix == ".msh":
        return through_meshio.read(path, "ansys") if _head(path).startswith(b"(") else _guarded(gmsh.read, path)
    if suffix == ".dat" and re.search(rb"^\s*(VARIABLES|ZONE)\b", _head(path), re.M | re.I):
        return through_meshio.read(path, "tecplot")
    if suffix in OWN:
        return _guarded(OWN[suffix], path)
    through = through_meshio.extensions()
    if suffix not in through:
        known = ", ".join(sorted({*through, *OWN}))
        raise MeshError(
            f"{path}: unknown extension {suffix!r}. Known are {known}; convert the file to one of these, "
            "for instance with Gmsh or ParaView."
        )
    return through_meshio.read(path, through[suffix][0])


def _guarded(reader: Callable[[Path], FileContents], path: Path) -> FileContents:
    """What a reader of ours makes of a file; damage that it does not foresee is still the file's fault."""
    try:
        return reader(path)
    except MeshError:
        raise
    except (ValueError, LookupError, TypeError, ArithmeticError, MemoryError, RecursionError) as error:
        raise MeshError(
            f"{path}: cannot be understood ({type(error).__name__}: {error}); it may be damaged, export it again."
        ) from error


def _upright(data: MeshData, suffix: str) -> MeshData:
    """Cells in our node order where a format, or part of what writes it, counts them the other way round."""
    if suffix not in UPRIGHT:
        return data
    inverted = [cell_volumes(data["points"], b.type, b.nodes) < 0 for b in data["cells"]]
    if suffix == ".med":  # solids are inside out by definition; only a few inverted cells are a defect, to be reported
        return reverse(data, np.concatenate(inverted)) if all(part.all() for part in inverted) else data
    # VTK's manual and most programs begin wedges with opposite triangles.
    wedges = [part & b.type.startswith("wedge") for part, b in zip(inverted, data["cells"], strict=True)]
    return reverse(data, np.concatenate(wedges))


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4096)


def _check_size(data: MeshData, path: Path) -> None:
    points = data["points"]
    if len(points) < 2 or not np.isfinite(points).all():
        return
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    if not SMALLEST <= size <= LARGEST:
        advice = "scale=1e-3 reads a file in millimetres" if size > LARGEST else "scale= multiplies the coordinates"
        warnings.warn(
            f"{path}: the part is {size:.3g} m across. Lengths are metres; {advice}.",
            MeshWarning,
            stacklevel=4,
        )
