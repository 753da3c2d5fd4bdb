"""VTK files: legacy and XML, unstructured, structured and surfaces, by VTK's own readers.

meshio cannot read what VTK 9 writes by default in the legacy format, nor LZ4 compression, nor surfaces.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.errors import MeshError
from flexmbs.mesh.formats.contents import FileContents
from flexmbs.mesh.formats.tags import SET, groups_of

Index = NDArray[np.int64]

TYPES: dict[int, str] = {
    **{1: "vertex", 3: "line", 5: "triangle", 8: "quad", 9: "quad", 10: "tetra", 11: "hexahedron", 12: "hexahedron"},
    **{13: "wedge", 14: "pyramid", 21: "line3", 22: "triangle6", 23: "quad8", 24: "tetra10", 25: "hexahedron20"},
    **{26: "wedge15", 27: "pyramid13", 28: "quad9", 29: "hexahedron27", 32: "wedge18", 34: "triangle7"},
}
ORDERS = {8: [0, 1, 3, 2], 11: [0, 1, 3, 2, 4, 5, 7, 6]}  # pixels and voxels
BY_COUNT: dict[tuple[int, int], str] = {  # polylines, strips, polygons and Lagrange cells of few nodes
    **{(4, 2): "line", (6, 3): "triangle", (7, 3): "triangle", (7, 4): "quad"},
    **{(68, 2): "line", (68, 3): "line3", (69, 3): "triangle", (69, 6): "triangle6", (70, 4): "quad", (70, 9): "quad9"},
    **{(71, 4): "tetra", (71, 10): "tetra10", (72, 8): "hexahedron", (73, 6): "wedge", (74, 5): "pyramid"},
}
OTHERS = {2: "vertices", 4: "line strip", 6: "triangle strip", 7: "polygon", 35: "line", 42: "polyhedron"}
READERS = {
    ".vtk": ("vtkIOLegacy", "vtkGenericDataObjectReader"),
    ".vtu": ("vtkIOXML", "vtkXMLUnstructuredGridReader"),
    ".vtp": ("vtkIOXML", "vtkXMLPolyDataReader"),
    ".vts": ("vtkIOXML", "vtkXMLStructuredGridReader"),
    ".vtr": ("vtkIOXML", "vtkXMLRectilinearGridReader"),
    ".vti": ("vtkIOXML", "vtkXMLImageDataReader"),
}


def read(path: Path) -> FileContents:
    """Contents of a VTK file; integer arrays on its cells become groups."""
    try:
        as_array = import_module("vtkmodules.util.numpy_support").vtk_to_numpy
        grid = _grid(path)
    except ImportError as error:
        raise MeshError(f"{path}: reading VTK files needs the package 'vtk' (it comes with pyvista).") from error
    if not grid.GetNumberOfCells():
        return FileContents(np.zeros((0, 3)), [])
    cells = grid.GetCells()
    try:
        types = as_array(grid.GetCellTypes())
    except TypeError:  # VTK before 9.6
        types = as_array(grid.GetCellTypesArray())
    starts = as_array(cells.GetOffsetsArray()).astype(np.int64)
    blocks, order = _blocks(types, starts, as_array(cells.GetConnectivityArray()).astype(np.int64))
    cell_groups: dict[str, Index] = {}
    node_groups: dict[str, Index] = {}
    for name, values in _arrays(grid.GetCellData(), as_array).items():
        cell_groups.update(groups_of(name, values[order]))
    for name, values in _arrays(grid.GetPointData(), as_array).items():
        if name.startswith(SET):
            node_groups.update(groups_of(name, values))
    return FileContents(as_array(grid.GetPoints().GetData()).astype(float), blocks, node_groups, cell_groups)


def _grid(path: Path) -> Any:
    """The file's data as an unstructured grid."""
    module, name = READERS[path.suffix.lower()]
    core = import_module("vtkmodules.vtkCommonCore")
    reader = getattr(import_module(f"vtkmodules.{module}"), name)()
    append = import_module("vtkmodules.vtkFiltersCore").vtkAppendFilter()  # takes every kind of grid
    usual, window = core.vtkOutputWindow.GetInstance(), core.vtkStringOutputWindow()
    cutoff = core.vtkLogger.GetCurrentVerbosityCutoff()
    core.vtkOutputWindow.SetInstance(window)  # VTK tells of errors by writing them there, and on the terminal
    core.vtkLogger.SetStderrVerbosity(core.vtkLogger.VERBOSITY_OFF)
    try:
        reader.SetFileName(str(path))
        reader.Update()
        data = reader.GetOutput()
        said = window.GetOutput()
        if "ERR" in said or data is None or not data.IsA("vtkDataSet"):
            reason = next(iter(re.findall(r"\): (.*)", said)), "it holds no mesh").strip(" .")
            raise MeshError(f"{path}: cannot be read as a VTK file ({reason}). It may be damaged; export it again.")
        append.AddInputData(data)
        append.Update()
    finally:
        core.vtkOutputWindow.SetInstance(usual)
        core.vtkLogger.SetStderrVerbosity(cutoff)
    return append.GetOutput()


def _arrays(data: Any, as_array: Any) -> dict[str, NDArray[Any]]:
    found = ((data.GetArrayName(k), data.GetArray(k)) for k in range(data.GetNumberOfArrays()))
    return {name: as_array(array) for name, array in found if name and array is not None}


def _blocks(types: NDArray[Any], starts: Index, nodes: Index) -> tuple[list[tuple[str, Index]], Index]:
    """Cells by type and number of nodes, and the file's numbers of the cells in that order."""
    counts = np.diff(starts)
    kinds, first, which = np.unique(
        np.column_stack([types.astype(np.int64), counts]), axis=0, return_index=True, return_inverse=True
    )
    blocks, order = [], []
    for k in np.argsort(first):
        code, count = (int(v) for v in kinds[k])
        members = np.flatnonzero(which.ravel() == k)
        table = nodes[starts[members][:, None] + np.arange(count)]
        other = OTHERS.get(code, f"VTK type {code}")
        name = TYPES.get(code) or BY_COUNT.get((code, count), f"{other} of {count} nodes")
        blocks.append((name, table[:, ORDERS[code]] if code in ORDERS else table))
        order.append(members)
    return blocks, np.concatenate(order)
