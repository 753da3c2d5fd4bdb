"""VTK's XML formats (.vtu, .vtp, ...): unstructured, structured and surfaces, by VTK's own readers.

meshio reads .vtu only, and not with LZ4 compression.
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
from flexmbs.mesh.formats.vtk_cells import blocks_of

Index = NDArray[np.int64]

READERS = {
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
    blocks, order = blocks_of(types, starts, as_array(cells.GetConnectivityArray()).astype(np.int64))
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
