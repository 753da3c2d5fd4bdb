"""M and K written by other finite-element programs: CalculiX, Abaqus, Nastran."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from flexmbs.errors import ModelError
from flexmbs.mesh.mesh import Mesh
from flexmbs.nullspace.readonly import frozen
from flexmbs.reduction.part import Part

Index = NDArray[np.int64]
HUGE = 1e30
"""Abaqus marks supports by 1e36 on the diagonal."""


@dataclass(frozen=True, eq=False)
class NodalMatrices:
    """Mass and stiffness with the node number (of the file) and the component (1 to 6) of each row."""

    mass: sp.csr_array
    stiffness: sp.csr_array
    nodes: Index
    components: Index
    name: str = "matrices"

    def __post_init__(self) -> None:
        for array in (self.mass, self.stiffness, self.nodes, self.components):
            frozen(array)

    def part(self, mesh: Mesh | ArrayLike, numbers: ArrayLike | None = None) -> Part:
        """The part with these matrices on a mesh (or points); ``numbers`` of its nodes in the file, by default from 1.

        Every node must have all its displacements: supports belong to ``fixed=``, not into the matrices.
        """
        points = mesh.points if isinstance(mesh, Mesh) else np.asarray(mesh, dtype=float)
        known = np.arange(1, len(points) + 1) if numbers is None else np.asarray(numbers)
        if known.shape != (len(points),):
            raise ModelError(f"{self.name}: {known.size} node numbers for {len(points)} nodes; give one for each.")
        stray = np.setdiff1d(self.nodes, known)
        if len(stray):
            raise ModelError(f"{self.name}: node {stray[0]} of the matrices is not in the mesh; give numbers=.")
        plane = isinstance(mesh, Mesh) and mesh.dofs_per_node == 2
        per_node = 6 if self.components.max(initial=0) > 3 else 2 if plane else 3
        row = {(int(n), int(c)): k for k, (n, c) in enumerate(zip(self.nodes, self.components, strict=True))}
        order = np.array([row.get((int(n), c), -1) for n in known for c in range(1, per_node + 1)])
        missing = np.flatnonzero(order < 0)
        if len(missing):
            node, component = known[missing[0] // per_node], "xyz"[missing[0] % per_node % 3]
            raise ModelError(
                f"{self.name}: {len(missing)} coordinates are missing, the first is {component} of node {node}; write "
                "the matrices without supports and rigid links, and hold the part with fixed=."
            )
        mass, stiffness = (sp.csr_array(a[order][:, order]) for a in (self.mass, self.stiffness))
        return Part.of_matrices(mesh if isinstance(mesh, Mesh) else points, mass, stiffness, name=self.name)


def read_matrices(path: str | PathLike[str], mass: str | PathLike[str] | None = None) -> NodalMatrices:
    """Read M and K of another program.

    CalculiX (``*FREQUENCY, SOLVER=MATRIXSTORAGE``): any of its files .sti, .mas, .dof, or their common name. Abaqus
    (``*MATRIX OUTPUT, FORMAT=MATRIX INPUT``): the stiffness file, and the mass file as ``mass``. Nastran (text of
    DMIG cards, e.g. KAAX and MAAX in a punch file): the file, or two.
    """
    where = Path(path)
    suffix = where.suffix.lower()
    if suffix in (".sti", ".mas", ".dof") or (suffix == "" and where.with_suffix(".sti").is_file()):
        return _calculix(where)
    if suffix == ".mtx":
        if mass is None:
            raise ModelError(f"{where.name}: Abaqus writes K and M into two files; give the other as mass=.")
        return _labelled(_abaqus(where), _abaqus(Path(mass)), where.name)
    cards = dict(_dmig(where))
    if mass is not None:
        cards |= dict(_dmig(Path(mass)))
    found = {kind: [name for name in cards if name.startswith(kind)] for kind in "KM"}
    if len(found["K"]) != 1 or len(found["M"]) != 1:
        raise ModelError(
            f"{where.name}: one DMIG matrix whose name begins with K and one with M are needed; found "
            f"{', '.join(cards) or 'none'}. CalculiX files end in .sti, .mas, .dof, Abaqus files in .mtx."
        )
    return _labelled(cards[found["K"][0]], cards[found["M"][0]], where.name)


Entries = tuple[Index, NDArray[np.float64]]  # (k, 4): node and component of row and column, and (k,) values


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise ModelError(f"{path}: this file cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{path.name}: this is no text; write matrices as text, not binary.") from error


def _calculix(path: Path) -> NodalMatrices:
    labels = np.array([line.split(".") for line in _text(path.with_suffix(".dof")).split()], dtype=np.int64)
    n = len(labels)
    matrices = []
    for suffix in (".mas", ".sti"):
        file = path.with_suffix(suffix)
        try:
            table = np.array(_text(file).split(), dtype=float).reshape(-1, 3)
        except ValueError as error:
            raise ModelError(f"{file.name}: lines of row, column, value are needed ({error}).") from error
        i, j = table[:, 0].astype(np.int64) - 1, table[:, 1].astype(np.int64) - 1
        if len(table) and max(i.max(), j.max()) >= n:
            raise ModelError(f"{file.name}: row {max(i.max(), j.max()) + 1} has no line in the .dof file ({n} lines).")
        matrices.append(_symmetric(i, j, table[:, 2], n))
    return NodalMatrices(matrices[0], matrices[1], labels[:, 0].copy(), labels[:, 1].copy(), path.stem)


def _abaqus(path: Path) -> Entries:
    rows = [
        line.replace(",", " ").split() for line in _text(path).splitlines() if line.strip() and not line.startswith("*")
    ]
    if not rows or any(len(row) != 5 for row in rows):
        raise ModelError(
            f"{path.name}: lines of node, component, node, component, value are needed; write the matrix with "
            "FORMAT=MATRIX INPUT."
        )
    table = np.array([[float(v.replace("D", "E").replace("d", "e")) for v in row] for row in rows])
    if np.abs(table[:, 4]).max() > HUGE:
        raise ModelError(f"{path.name}: supports are built into the matrix; write it without *BOUNDARY.")
    return table[:, :4].astype(np.int64), table[:, 4]


def _dmig(path: Path) -> Iterator[tuple[str, Entries]]:
    """Real symmetric DMIG matrices of a file, in small, large or free fields."""
    labels: dict[str, list[tuple[int, int, int, int]]] = {}
    values: dict[str, list[float]] = {}
    column, name = (0, 0), ""
    for line in _text(path).splitlines():
        fields = _fields(line)
        if not fields:
            continue
        if fields[0].upper().startswith("DMIG"):
            name = fields[1].upper()
            if fields[2] == "0":  # the head of a matrix
                if len(fields) > 3 and fields[3] not in ("6", "1"):
                    raise ModelError(f"{path.name}: DMIG {name} has form {fields[3]}; symmetric ones (6) are read.")
                if len(fields) > 4 and fields[4] not in ("1", "2", ""):
                    raise ModelError(f"{path.name}: DMIG {name} is complex; real matrices are read.")
                labels.setdefault(name, [])
                values.setdefault(name, [])
                continue
            column = (int(fields[2]), int(fields[3]))
            rest = fields[5:] if len(fields) > 4 and fields[4] == "" else fields[4:]
        elif fields[0] in ("", "*", "+") or fields[0].startswith(("*", "+")):
            rest = fields[1:]
        else:
            name = ""
            continue
        for k in range(0, len(rest) - 2, 4):
            if name and rest[k]:
                labels.setdefault(name, []).append((int(rest[k]), int(rest[k + 1]), *column))
                values.setdefault(name, []).append(_real(rest[k + 2]))
    for key in labels:
        if labels[key]:
            yield key, (np.array(labels[key], dtype=np.int64), np.array(values[key]))


def _fields(line: str) -> list[str]:
    """Fields of a Nastran line: free (commas), large (16 columns, marked by *) or small (8 columns)."""
    line = line.split("$")[0].rstrip().expandtabs(8)
    if not line:
        return []
    if "," in line:
        return [field.strip() for field in line.split(",")]
    width = 16 if "*" in line[:8] else 8
    return [line[:8].strip().rstrip("*") or line[:8].strip(), *(
        line[k : k + width].strip() for k in range(8, len(line), width)
    )]  # fmt: skip


def _real(text: str) -> float:
    """A Nastran number: 1.5D+3, 1.5+3 and 1.5E+3 are the same."""
    plain = text.upper().replace("D", "E")
    return float(re.sub(r"(?<=[0-9.])([+-])(?=[0-9])", r"E\1", plain) if "E" not in plain else plain)


def _labelled(stiffness: Entries, mass: Entries, name: str) -> NodalMatrices:
    """Both matrices over the coordinates that occur, node by node."""
    every = np.concatenate([stiffness[0][:, :2], stiffness[0][:, 2:], mass[0][:, :2], mass[0][:, 2:]])
    labels = np.unique(every, axis=0)
    place = {(int(n), int(c)): k for k, (n, c) in enumerate(labels)}
    out = []
    for index, values in (mass, stiffness):
        i = np.array([place[int(n), int(c)] for n, c in index[:, :2]])
        j = np.array([place[int(n), int(c)] for n, c in index[:, 2:]])
        out.append(_symmetric(i, j, values, len(labels)))
    return NodalMatrices(out[0], out[1], labels[:, 0].copy(), labels[:, 1].copy(), name)


def _symmetric(i: Index, j: Index, values: NDArray[np.float64], n: int) -> sp.csr_array:
    """The whole matrix from one triangle, or from both."""
    given = sp.csr_array((values, (i, j)), shape=(n, n))
    if sp.triu(given, 1).nnz and sp.tril(given, -1).nnz:
        return sp.csr_array((given + given.T) / 2)
    return sp.csr_array(given + given.T - sp.diags_array(given.diagonal()))
