"""Writing mesh files."""

from __future__ import annotations

import warnings
from os import PathLike
from pathlib import Path

from flexmbs.errors import MeshError, MeshWarning
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.formats import abaqus_writer, gmsh_writer, through_meshio
from flexmbs.mesh.read import read

OWN = {".msh": gmsh_writer.write, ".inp": abaqus_writer.write}


def write(path: str | PathLike[str], data: MeshData) -> None:
    """Write a mesh in the format of the extension; see ``Mesh.write``."""
    path = Path(path)
    suffix = path.suffix.lower()
    if not path.parent.is_dir():
        raise MeshError(f"{path}: the folder {path.parent} does not exist.")
    if suffix in OWN:
        OWN[suffix](path, data)
    elif suffix in through_meshio.extensions():
        through_meshio.write(path, data)
        _check(path, data)
    else:
        known = ", ".join(sorted({*OWN, *through_meshio.extensions()}))
        raise MeshError(f"{path}: unknown extension {suffix!r}; give one of {known}.")


def _check(path: Path, data: MeshData) -> None:
    """Some of meshio's writers leave out cells, or write ones that nobody can read, without a word."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MeshWarning)
            back = read(path)
    except MeshError:
        back = None
    if back is None or [(b.type, len(b)) for b in back["cells"]] != [(b.type, len(b)) for b in data["cells"]]:
        path.unlink(missing_ok=True)
        cells = ", ".join(f"{len(b)} {b.type}" for b in data["cells"])
        raise MeshError(f"{path}: {path.suffix} files cannot hold this mesh ({cells}); write .msh, .inp or .vtu.")
