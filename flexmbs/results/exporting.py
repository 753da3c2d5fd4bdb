"""Results for other programs: VTK series for ParaView, tables (CSV, pandas), NumPy archives."""

from __future__ import annotations

import base64
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexmbs.bodies.body import PLANAR
from flexmbs.bodies.ground import Ground
from flexmbs.errors import AnalysisError, FileError
from flexmbs.joints.cam import Contact, ContactParameters
from flexmbs.joints.drives import Coupling, Drive
from flexmbs.joints.joint import Joint
from flexmbs.results.file import as_path, replacing
from flexmbs.results.geometry import Geometry
from flexmbs.results.vtkhdf import write_steps

Array = NDArray[np.float64]

SUFFIXES = (".vtkhdf", ".hdf", ".pvd", ".vtu", ".csv", ".npz")
COMPONENTS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
VTU = """<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">
<UnstructuredGrid><FieldData>{field}</FieldData><Piece NumberOfPoints="{points}" NumberOfCells="{cells}">
<Points>{place}</Points>
<Cells>{topology}</Cells>
<PointData Vectors="displacement">{data}</PointData>
<CellData Scalars="body">{bodies}</CellData>
</Piece></UnstructuredGrid></VTKFile>
"""
PVD = """<?xml version="1.0"?>
<VTKFile type="Collection" version="0.1" byte_order="LittleEndian"><Collection>
{files}
</Collection></VTKFile>
"""
KINDS = {"f": "Float", "i": "Int", "u": "UInt"}


def export(result: Any, path: Any, at: ArrayLike | None = None) -> None:
    """Write a Result for other programs, by the suffix of the file; see ``Result.export``."""
    where = as_path(path)
    suffix = where.suffix.lower()
    if suffix not in ("", *SUFFIXES):
        raise FileError(
            f"{where}: results are exported as {', '.join(SUFFIXES)}, or into a folder; not as {suffix!r}. "
            "save() writes a file that fm.load reads."
        )
    if not len(result.t):
        raise FileError(f"{where}: this Result has no instants.")
    if suffix == "":
        where.mkdir(parents=True, exist_ok=True)
        where, suffix = where / "motion.pvd", ".pvd"
    if not where.parent.is_dir():
        raise FileError(f"{where}: there is no folder {where.parent}.")
    chosen = result if at is None else result._instants(at)
    if suffix == ".csv":
        _csv(where, table(chosen))
    elif suffix == ".npz":
        _npz(where, chosen)
    else:
        geometry = Geometry.of(chosen.system)
        if not len(geometry.types):
            raise FileError(f"{where}: there is nothing to be seen of this mechanism.")
        if suffix == ".vtu" and len(chosen.t) > 1:
            if at is not None:
                raise AnalysisError(f"{where}: one .vtu file is one instant; several are a .pvd, or a .vtkhdf.")
            chosen = result._instants(None)
        {".pvd": _pvd, ".vtu": _vtu}.get(suffix, _vtkhdf)(where, geometry, chosen)


# ---- VTK ------------------------------------------------------------------------------------------------------------


def _vtkhdf(path: Path, geometry: Geometry, result: Any) -> None:
    with replacing(path) as part, import_module("h5py").File(part, "w") as file:
        write_steps(file.create_group("VTKHDF", track_order=True), geometry, result, range(len(result.t)), stress=True)


def _pvd(path: Path, geometry: Geometry, result: Any) -> None:
    """A file for each instant, in a folder beside the one that lists them."""
    folder = path.with_suffix("")
    folder.mkdir(exist_ok=True)
    digits = len(str(len(result.t) - 1))
    lines = []
    for k, t in enumerate(result.t):
        name = f"{path.stem}_{k:0{digits}d}.vtu"
        _vtu(folder / name, geometry, result._part([k]))
        lines.append(f'<DataSet timestep="{float(t)!r}" part="0" file="{folder.name}/{name}"/>')
    text = "\n".join(lines)
    with replacing(path) as part:
        part.write_text(PVD.format(files=text))


def _vtu(path: Path, geometry: Geometry, result: Any) -> None:
    frames = geometry.at(result, geometry.stressed())
    data = _xml("displacement", frames.displacement[0].astype(np.float32))
    if frames.von_mises is not None:
        data += _xml("von_mises", frames.von_mises[0].astype(np.float32))
    topology = (
        _xml("connectivity", geometry.connectivity)
        + _xml("offsets", geometry.offsets[1:])
        + _xml("types", geometry.types)
    )
    text = VTU.format(
        field=_xml("TimeValue", np.array(result.t[:1]), tuples=1), points=geometry.n_points, cells=len(geometry.types),
        place=_xml("Points", frames.points[0].astype(np.float32)), topology=topology, data=data,
        bodies=_xml("body", geometry.bodies),
    )  # fmt: skip
    with replacing(path) as part:
        part.write_text(text)


def _xml(name: str, values: NDArray[Any], tuples: int | None = None) -> str:
    """An array of a VTK file in XML, its bytes in base 64 after their number."""
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    kind = f"{KINDS[little.dtype.kind]}{8 * little.dtype.itemsize}"
    data = base64.b64encode(np.array([little.nbytes], dtype="<u8").tobytes() + little.tobytes()).decode()
    width = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    count = "" if tuples is None else f' NumberOfTuples="{tuples}"'
    return f'<DataArray type="{kind}" Name="{name}"{width}{count} format="binary">{data}</DataArray>\n'


# ---- tables ---------------------------------------------------------------------------------------------------------


def vectors(result: Any) -> dict[str, tuple[tuple[str, ...], Array]]:
    """Histories by name, with the names of their components: motions of bodies, reactions of joints, energies."""
    out: dict[str, tuple[tuple[str, ...], Array]] = {}
    for body in result.system.bodies:
        if isinstance(body, Ground | ContactParameters):
            continue
        name, xyz = body.name, ("x", "y", "z")
        out[f"{name}.position"] = xyz, result.position(body)
        out[f"{name}.velocity"] = xyz, result.velocity(body)
        out[f"{name}.acceleration"] = xyz, result.acceleration(body)
        out[f"{name}.quaternion"] = ("w", "x", "y", "z"), result.quaternion(body)
        out[f"{name}.angular_velocity"] = xyz, result.angular_velocity(body)
        if body.modes:
            out[f"{name}.elastic"] = tuple(str(k + 1) for k in range(body.modes)), result.elastic(body)
    for joint in result.system.joints if result.forces_known else ():
        if isinstance(joint, Contact):  # of a cam, without forces
            continue
        values = np.asarray(result.reaction(joint)).reshape(len(result.t), -1)
        names: tuple[str, ...] = tuple(str(k + 1) for k in range(values.shape[1]))
        if isinstance(joint, Drive | Coupling) or values.shape[1] == 1:
            names = ("",)
        elif isinstance(joint, Joint):
            planar = all(f.body.kind in (PLANAR, Ground.kind) for f in (joint.frame_i, joint.frame_j))
            names = ("Fx", "Fy", "Mz") if planar and values.shape[1] == 3 else COMPONENTS
        out[f"{joint.name}.reaction"] = names, values
    energy = result.energy
    parts = ("kinetic", "potential", "strain", "total")
    out["energy"] = parts, np.stack([np.asarray(getattr(energy, part)) for part in parts], axis=1)
    return out


def table(result: Any) -> dict[str, Array]:
    """Columns by name, the first is the time."""
    out = {"t": np.asarray(result.t)}
    for name, (components, values) in vectors(result).items():
        out |= {f"{name}.{c}" if c else name: values[:, k] for k, c in enumerate(components)}
    return out


def _csv(path: Path, columns: dict[str, Array]) -> None:
    names = ['"' + n.replace('"', '""') + '"' if set(n) & set(',"\n') else n for n in columns]
    with replacing(path) as part, part.open("w", newline="") as file:
        file.write(",".join(names) + "\n")
        np.savetxt(file, np.column_stack(list(columns.values())), fmt="%.17g", delimiter=",")


def _npz(path: Path, result: Any) -> None:
    arrays = {name: getattr(result, name) for name in ("t", "q", "v", "rate", "multipliers")}
    arrays |= {name: values for name, (_, values) in vectors(result).items()}
    with replacing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, **arrays)


def to_pandas(result: Any) -> Any:
    """The table as a DataFrame with the time as its index."""
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise AnalysisError("to_pandas needs the package pandas: pip install pandas; or export a .csv.") from error
    columns = table(result)
    return pandas.DataFrame(columns).set_index("t")
