"""Reduced parts in files: one NumPy archive (npz) of arrays, nothing to be executed."""

from __future__ import annotations

import json
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from flexmbs.errors import ModelError
from flexmbs.mesh.mesh import Mesh
from flexmbs.reduction.constants import ModalConstants
from flexmbs.reduction.full import FullPart
from flexmbs.reduction.full_storage import full_arrays, full_of
from flexmbs.reduction.recovery import NodalStress, StressModes
from flexmbs.reduction.reduced import FrameShapes, ReducedPart
from flexmbs.reduction.stiffening import LoadCases
from flexmbs.reduction.table import ModeRow

FORMAT = "flexmbs reduced part 2"
_CONSTANTS = ("mass", "s0", "second", "S", "first", "m", "stiffness", "damping")
_CASES = ("loads", "K_g", "residual", "missed", "energy")
_STRESS = ("nodes", "owner", "values", "correction", "fibre", "inertia")


def save_reduced(path: str | PathLike[str], reduced: ReducedPart, stress: StressModes | None = None) -> None:
    """Write a reduced part, with its mesh and, where given, its stress modes.

    K and M of all nodes are not kept, but of a part in full order, which is made of them.
    """
    if isinstance(stress, NodalStress):
        raise ModelError(
            f"{reduced.name}: stress modes of a part in full order are as many as its nodes, and not kept; leave "
            "stress= out. Files of results (result.save) keep its elements, and so its stress."
        )
    mesh = reduced.mesh
    described = {
        "format": FORMAT,
        "name": reduced.name,
        "dofs_per_node": reduced.dofs_per_node,
        "reference": reduced.reference,
        "loads": list(reduced.loads),
        "cells": [block.type for block in mesh.cells],
        "mesh": mesh.name,
        "sets": {kind: list(getattr(mesh, kind)) for kind in ("node_sets", "cell_sets", "face_sets")},
    }
    arrays: dict[str, Any] = {
        "points": mesh.points,
        "loads": np.array(list(reduced.loads.values())).reshape(-1, reduced.basis.shape[0]),
    }
    arrays |= {f"cells_{k}": block.nodes for k, block in enumerate(mesh.cells)}
    for kind in ("node_sets", "cell_sets", "face_sets"):
        arrays |= {f"{kind}_{k}": values for k, values in enumerate(getattr(mesh, kind).values())}
    if isinstance(reduced, FullPart):
        described["full"], own = full_arrays(reduced)
    else:
        more, own = _modal_arrays(reduced)
        described |= more
    if stress is not None:
        arrays |= {f"stress_{name}": getattr(stress, name) for name in _STRESS if getattr(stress, name) is not None}
    with Path(path).open("wb") as file:
        np.savez(file, about=np.array(json.dumps(described)), **arrays, **own)


def _modal_arrays(reduced: ReducedPart) -> tuple[dict[str, Any], dict[str, Any]]:
    """What describes the modes of a reduced part, and their arrays."""
    frames = list(reduced.frames.values())
    described = {
        "interfaces": reduced.interfaces,
        "cases": reduced.cases.names,
        "frames": [[key, frame.name] for key, frame in reduced.frames.items()],
        "rows": [asdict(row) for row in reduced.rows],
    }
    arrays: dict[str, Any] = {
        "neglected": np.array(reduced.neglected),
        "basis": reduced.basis,
        "frame_positions": np.array([f.position for f in frames]).reshape(-1, 3),
        "frame_displacements": np.array([f.displacement for f in frames]).reshape(-1, 3, reduced.size),
        "frame_rotations": np.array([f.rotation for f in frames]).reshape(-1, 3, reduced.size),
        "frame_seconds": np.array([f.second for f in frames]).reshape(-1, 6, reduced.size, reduced.size),
    }
    arrays |= {f"constants_{name}": getattr(reduced.constants, name) for name in _CONSTANTS}
    arrays |= {f"cases_{name}": getattr(reduced.cases, name) for name in _CASES}
    return described, arrays


def load_reduced(path: str | PathLike[str]) -> ReducedPart:
    """Read a reduced part that ``save_reduced`` wrote."""
    with _opened(path) as file:
        about = _about(path, file)
        sets = {
            kind: {name: file[f"{kind}_{k}"] for k, name in enumerate(names)} for kind, names in about["sets"].items()
        }
        cells = [(kind, file[f"cells_{k}"]) for k, kind in enumerate(about["cells"])]
        mesh = Mesh(file["points"], cells, name=about["mesh"], **sets)
        if "full" in about:
            return full_of(about, file, mesh)
        kinds = ("positions", "displacements", "rotations", "seconds")
        keyed = zip(about["frames"], *(file[f"frame_{kind}"] for kind in kinds), strict=True)
        frames = {key: FrameShapes(name, *arrays) for (key, name), *arrays in keyed}
        constants = {name: file[f"constants_{name}"] for name in _CONSTANTS}
        constants["mass"] = float(constants["mass"])
        rows = tuple(ModeRow(**{**row, "effective_mass": tuple(row["effective_mass"])}) for row in about["rows"])
        return ReducedPart(
            about["name"], mesh, about["dofs_per_node"], file["basis"], ModalConstants(**constants),
            LoadCases(tuple(about["cases"]), **{name: file[f"cases_{name}"] for name in _CASES}),
            tuple(about["interfaces"]), frames, about["reference"], rows, float(file["neglected"]),
            loads=dict(zip(about["loads"], file["loads"], strict=True)),
        )  # fmt: skip


def load_stress_modes(path: str | PathLike[str]) -> StressModes:
    """Read the stress modes that were saved with a reduced part."""
    with _opened(path) as file:
        _about(path, file)
        if "stress_values" not in file:
            raise ModelError(f"{path}: no stress modes were saved with this part; give stress= to save_reduced.")
        return StressModes(**{name: file[f"stress_{name}"] for name in _STRESS if f"stress_{name}" in file})


def _opened(path: str | PathLike[str]) -> Any:
    if not Path(path).is_file():
        raise ModelError(f"{path}: there is no such file.")
    try:
        file = np.load(path, allow_pickle=False)
    except (BadZipFile, ValueError, EOFError, OSError) as error:
        raise ModelError(f"{path}: this is no saved part ({error}).") from error
    if not hasattr(file, "files"):
        raise ModelError(f"{path}: this is a single array, no saved part.")
    return file


def _about(path: str | PathLike[str], file: Any) -> dict[str, Any]:
    about = json.loads(str(file["about"])) if "about" in file else {}
    if about.get("format") != FORMAT:
        raise ModelError(f"{path}: this is no part saved by this version of flexmbs; save_reduced writes one.")
    return dict(about)
