"""The only door to meshio: formats that it reads well enough."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.data import MeshData
from flexmbs.mesh.formats.contents import FileContents, Index
from flexmbs.mesh.formats.markers import Marked, marked_cells, marked_faces
from flexmbs.mesh.formats.tags import SET, groups_of

log = logging.getLogger(__name__)


@cache
def _meshio() -> Any:
    """The package itself, loaded when the first file needs it."""
    import meshio

    # meshio reads these but lacks their dimension, and would stop at the first such block.
    for kind in ("wedge15", "pyramid13"):
        meshio._mesh.topological_dimension.setdefault(kind, 3)
    return meshio


def extensions() -> dict[str, list[str]]:
    """Formats by file extension, as meshio has them."""
    return dict(_meshio().extension_to_filetypes)


def read(path: Path, file_format: str) -> FileContents:
    """Contents of a file in a format of meshio's."""
    # meshio prints, leaves with sys.exit, and fails in as many ways as it has formats: all become one error.
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), np.errstate(all="ignore"):
            mesh = _meshio()._helpers.reader_map[file_format](str(path))
    except ImportError as error:
        raise MeshError(f"{path}: reading {file_format} files needs the package {error.name!r}; install it.") from error
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{said.getvalue()} {error}".split()) or type(error).__name__
        raise MeshError(
            f"{path}: cannot be read as {file_format} ({reason}). It may be truncated, or of another format: "
            "export it again, for instance as Gmsh .msh or VTU."
        ) from error
    if said.getvalue():
        log.info("%s: %s", path, said.getvalue().strip())
    return _contents(mesh)


def write(path: Path, data: MeshData) -> None:
    """Write a mesh in a format of meshio's, with its sets as 0/1 arrays where the format has arrays.

    Faces that are in sets are written as cells of their own, which readers take for the markers they are.
    """
    meshio = _meshio()
    file_format = meshio.extension_to_filetypes[path.suffix.lower()][0]
    with_arrays = file_format in ("vtu", "vtk", "xdmf")
    marked = [*marked_cells(data), *(marked_faces(data) if with_arrays else [])]
    names = dict.fromkeys(name for m in marked for name in m.names) if with_arrays else {}
    # Legacy VTK separates words by blanks and stands %20 for them.
    label: Callable[[str], str] = (lambda n: quote(SET + n, safe=":")) if file_format == "vtk" else (lambda n: SET + n)
    cell_data = {label(name): [_members(m, name) for m in marked] for name in names}
    point_data = {}
    if with_arrays:
        for name, nodes in data["node_sets"].items():
            point_data[label(name)] = np.isin(np.arange(len(data["points"])), nodes).astype(np.int64)
    elif data["node_sets"] or data["cell_sets"] or data["face_sets"]:
        log.info("%s: the sets are not written; .msh, .inp, .vtu and .xdmf keep them", path)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            mesh = meshio.Mesh(data["points"], [(m.type, m.nodes) for m in marked], point_data, cell_data)
            meshio._helpers._writer_map[file_format](str(path), mesh)
    except ImportError as error:
        raise MeshError(f"{path}: writing {file_format} files needs the package {error.name!r}; install it.") from error
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{said.getvalue()} {error}".split()) or type(error).__name__
        raise MeshError(f"{path}: cannot be written as {file_format} ({reason}). Try .msh, .inp or .vtu.") from error


def _members(marked: Marked, name: str) -> NDArray[np.int64]:
    if name not in marked.names:
        return np.zeros(len(marked.nodes), dtype=np.int64)
    return marked.inside[:, marked.names.index(name)].astype(np.int64)


def _contents(mesh: Any) -> FileContents:
    """Contents of a meshio mesh, with whatever meshio knows of groups."""
    points = np.array(mesh.points, dtype=float).reshape(len(mesh.points), -1 if len(mesh.points) else 3)
    points = np.pad(points, ((0, 0), (0, max(0, 3 - points.shape[1]))))
    blocks = [(b.type, _nodes(b)) for b in mesh.cells]
    starts = np.concatenate([[0], np.cumsum([len(n) for _, n in blocks])]).astype(np.int64)
    node_groups = {str(k): np.asarray(v, dtype=np.int64).ravel() for k, v in mesh.point_sets.items()}
    cell_groups: dict[str, Index] = {}
    for name, parts in mesh.cell_sets.items():
        if ":" in name:  # not a group, e.g. gmsh:bounding_entities
            continue
        members = [
            start + np.asarray(p, dtype=np.int64).ravel()
            for start, p in zip(starts[:-1], parts, strict=True)
            if p is not None
        ]
        cell_groups[str(name)] = np.concatenate([np.zeros(0, np.int64), *members])
    for name, parts in mesh.cell_data.items():
        values = np.concatenate([np.asarray(p) for p in parts]) if parts else np.zeros(0)
        cell_groups.update(groups_of(name, values, _families(mesh, "cell_tags", name)))
    for name, data in mesh.point_data.items():
        families = _families(mesh, "point_tags", name)
        if families or name.startswith(SET):
            node_groups.update(groups_of(name, np.asarray(data), families))
    return FileContents(points, blocks, node_groups, cell_groups)


def _nodes(block: Any) -> Index:
    if block.type.startswith("poly") and not isinstance(block.data, np.ndarray):
        return np.zeros((len(block.data), 0), dtype=np.int64)
    return np.asarray(block.data, dtype=np.int64).reshape(len(block.data), -1)


def _families(mesh: Any, attribute: str, name: str) -> dict[int, list[str]] | None:
    """Group names by family number, as MED files have them."""
    found = getattr(mesh, attribute, None) if name == attribute else None
    return None if found is None else {int(k): [str(g) for g in v] for k, v in found.items()}
