"""Make the mesh files of the tests with the real programs: ``python tests/mesh/data/make.py``.

Run by hand; needs gmsh and pyvista. The files written by other programs' rules (Abaqus/CAE, HyperMesh, ...)
are kept by hand beside these.

The part is a box of 2 × 1 × 1 m cut at x = 1: volumes ``left`` and ``right``, surfaces ``root`` (x = 0) and
``tip`` (x = 2), the cut at x = 1 as a group without a name, the edge ``edge`` (x = 0, z = 0) and the point
``corner`` (the origin). The root is also the ``clamped face``; ``steel`` names both volumes and the tip.
"""

from __future__ import annotations

import os
from pathlib import Path

import gmsh
import numpy as np
import pyvista as pv
from vtkmodules.vtkIOLegacy import vtkUnstructuredGridWriter
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridWriter

HERE = Path(__file__).parent


def box(order: int = 1, cells: str = "tetra", *, size: float = 0.5, serendipity: bool = True) -> None:
    gmsh.clear()
    gmsh.model.add("box")
    gmsh.option.setNumber("Mesh.ElementOrder", order)
    gmsh.option.setNumber("Mesh.SecondOrderIncomplete", int(serendipity))
    gmsh.option.setNumber("Mesh.MeshSizeMin", size)
    gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    occ = gmsh.model.occ
    if cells == "tetra":
        halves = [occ.addBox(0, 0, 0, 1, 1, 1), occ.addBox(1, 0, 0, 1, 1, 1)]
        occ.fragment([(3, halves[0])], [(3, halves[1])])
    else:
        base = occ.addRectangle(0, 0, 0, 1, 1)
        layers = [2]
        for x in (0.0, 1.0):
            face = base if x == 0 else occ.addRectangle(x, 0, 0, 1, 1)
            occ.extrude([(2, face)], 0, 0, 1, layers, recombine=cells in ("hexahedron", "wedge"))
        occ.fragment(occ.getEntities(3), [])
    occ.addPoint(5, 5, 5)  # belongs to nothing
    occ.synchronize()
    if cells == "hexahedron":
        for _, surface in gmsh.model.getEntities(2):
            gmsh.model.mesh.setTransfiniteSurface(surface)
            gmsh.model.mesh.setRecombine(2, surface)
        for _, curve in gmsh.model.getEntities(1):
            gmsh.model.mesh.setTransfiniteCurve(curve, 3)
        for _, volume in gmsh.model.getEntities(3):
            gmsh.model.mesh.setTransfiniteVolume(volume)
    groups()
    gmsh.model.mesh.generate(3)


def mixed() -> None:
    """Bricks on the left, tetrahedra on the right, pyramids between them."""
    gmsh.clear()
    gmsh.model.add("mixed")
    gmsh.option.setNumber("Mesh.ElementOrder", 1)
    occ = gmsh.model.occ
    occ.fragment([(3, occ.addBox(0, 0, 0, 1, 1, 1))], [(3, occ.addBox(1, 0, 0, 1, 1, 1))])
    occ.synchronize()
    for curve in found(1, 0, 0, 0, 1, 1, 1):
        gmsh.model.mesh.setTransfiniteCurve(curve, 3)
    for surface in found(2, 0, 0, 0, 1, 1, 1):
        gmsh.model.mesh.setTransfiniteSurface(surface)
        gmsh.model.mesh.setRecombine(2, surface)
    gmsh.model.mesh.setTransfiniteVolume(found(3, 0, 0, 0, 1, 1, 1)[0])
    groups()
    gmsh.model.mesh.generate(3)


def found(dimension: int, *bounds: float) -> list[int]:
    e = 1e-6
    low, high = [b - e for b in bounds[:3]], [b + e for b in bounds[3:]]
    return [tag for _, tag in gmsh.model.getEntitiesInBoundingBox(*low, *high, dimension)]


def groups() -> None:
    add = gmsh.model.addPhysicalGroup
    left, right = found(3, 0, 0, 0, 1, 1, 1), found(3, 1, 0, 0, 2, 1, 1)
    root, tip, middle = found(2, 0, 0, 0, 0, 1, 1), found(2, 2, 0, 0, 2, 1, 1), found(2, 1, 0, 0, 1, 1, 1)
    add(3, left, name="left")
    add(3, right, name="right")
    add(3, left + right, 30, name="steel")
    add(2, root, name="root")
    add(2, root, name="clamped face")
    add(2, tip, name="tip")
    add(2, tip, 40, name="steel")
    add(2, middle, 12)  # no name
    add(1, found(1, 0, 0, 0, 0, 1, 0), name="edge")
    add(0, found(0, 0, 0, 0, 0, 0, 0), name="corner")


def write(name: str, version: float = 4.1, binary: bool = False, **options: float) -> None:
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.option.setNumber("Mesh.Binary", int(binary))
    gmsh.option.setNumber("Mesh.SaveAll", 0)
    for key, value in options.items():
        gmsh.option.setNumber(f"Mesh.{key}", value)
    gmsh.write(name)


def bricks_and_wedges() -> pv.UnstructuredGrid:
    """A brick between two wedges (one in the order of VTK's manual, one in the other), and a marker on x = 0.

    The types alternate, so that a reader that sorts cells by type must sort their data, too.
    """
    points = np.array([(x, y, z) for x in (0, 1, 2) for y, z in ((0, 0), (1, 0), (1, 1), (0, 1))], dtype=float)
    cells = [(13, (4, 8, 9, 7, 11, 10)), (12, (0, 4, 5, 1, 3, 7, 6, 2)), (13, (7, 10, 6, 4, 9, 5)), (9, (0, 1, 2, 3))]
    flat = np.concatenate([[len(nodes), *nodes] for _, nodes in cells])
    grid = pv.UnstructuredGrid(flat, np.array([kind for kind, _ in cells], dtype=np.uint8), points)
    grid.cell_data["material"] = np.array([2, 1, 2, 7], dtype=np.int32)
    grid.cell_data["region id"] = np.array([1, 1, 3, 0], dtype=np.int64)
    grid.cell_data["quality"] = np.array([0.1, 0.2, 0.3, 0.4])
    grid.cell_data["GlobalElementId"] = np.array([11, 12, 13, 14])
    grid.point_data["temperature"] = np.arange(12.0)
    return grid


def vtk_files() -> None:
    grid = bricks_and_wedges()
    grid.save("pyvista.vtu")
    grid.save("pyvista.vtk")
    grid.save("pyvista_ascii.vtk", binary=False)
    old = vtkUnstructuredGridWriter()
    old.SetInputData(grid)
    old.SetFileVersion(42)
    old.SetFileName("vtk42.vtk")
    old.Write()
    for mode in ("Ascii", "Binary", "Appended"):
        xml = vtkXMLUnstructuredGridWriter()
        xml.SetInputData(grid)
        getattr(xml, f"SetDataModeTo{mode}")()
        xml.SetCompressorTypeToLZ4()
        xml.SetFileName(f"vtk_{mode.lower()}.vtu")
        xml.Write()
    box = pv.Box(quads=False)
    box.save("surface.vtp")
    box.save("surface.vtk")
    box.save("surface.ply")
    box.save("surface.stl")
    pv.ImageData(dimensions=(3, 2, 2)).save("voxels.vti")


def main() -> None:
    os.chdir(HERE)  # some formats keep the path
    gmsh.initialize()
    gmsh.option.setNumber("General.Verbosity", 2)
    box()
    write("box41.msh")
    write("box41b.msh", binary=True)
    write("box22.msh", 2.2)
    write("box22b.msh", 2.2, binary=True)
    write("box_all.msh", SaveAll=1)
    write("box_parametric.msh", SaveParametric=1)
    gmsh.option.setNumber("Mesh.SaveParametric", 0)
    for suffix in ("inp", "bdf", "vtk", "unv", "stl", "med", "mesh", "su2"):
        write(f"box.{suffix}")
    write("box_groups.inp", SaveGroupsOfNodes=1)
    gmsh.option.setNumber("Mesh.SaveGroupsOfNodes", 0)
    for cells in ("tetra", "hexahedron", "wedge"):
        box(2, cells)
        write(f"{cells}_2.msh", binary=True)
        write(f"{cells}_2_22.msh", 2.2)
        for suffix in ("inp", "bdf", "vtk", "med", *(["unv"] if cells != "tetra" else [])):
            write(f"{cells}_2.{suffix}")
    box(2, "hexahedron", serendipity=False)
    write("hexahedron27.msh")
    mixed()
    write("pyramids.msh")
    box(2, "wedge", serendipity=False)
    write("wedge18.msh")
    gmsh.finalize()
    vtk_files()


if __name__ == "__main__":
    main()
