"""VTKHDF: the group of an HDF5 file that ParaView and VTK show, moving surfaces with displacement and stress."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexmbs.integrators.history import History
from flexmbs.results.geometry import Geometry
from flexmbs.results.moving import Moving

Array = NDArray[np.float64]

SHOWN = 200
"""Instants that the group in a file of results has at most, spread over the time."""
LARGEST = 20_000_000
"""Coordinates of points that it has at most."""
STRESSED = 20_000
"""Nodes of meshes up to which it has stress; ``export`` has it always."""


def shown_instants(geometry: Geometry, count: int) -> NDArray[np.int64]:
    """Which of so many instants the group in a file of results has."""
    most = int(np.clip(LARGEST // max(1, 3 * geometry.n_points), 2, SHOWN))
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def write_steps(group: Any, geometry: Geometry, result: Any, instants: Any = None, stress: bool | None = None) -> None:
    """Write the group: the instants given by number (by default some, spread over the time)."""
    chosen = shown_instants(geometry, len(result.t)) if instants is None else np.asarray(instants)
    stress = geometry.stressed(STRESSED) if stress is None else stress and geometry.stressed()
    n, count = geometry.n_points, len(chosen)
    _still(group, geometry)
    packing: dict[str, Any] = {"chunks": (n, 3), "compression": "gzip", "compression_opts": 1, "shuffle": True}
    points = group.create_dataset("Points", (count * n, 3), "f4", **packing)
    data = group.create_group("PointData")
    moved = data.create_dataset("displacement", (count * n, 3), "f4", **packing)
    scalar = packing | {"chunks": (n,)}
    pressed = data.create_dataset("von_mises", (count * n,), "f4", **scalar) if stress else None
    at_once = geometry.instants_at_once()
    for first in range(0, count, at_once):
        some = chosen[first : first + at_once]
        frames, place = geometry.at(result._part(some), stress), slice(first * n, (first + len(some)) * n)
        points[place] = frames.points.reshape(-1, 3)
        moved[place] = frames.displacement.reshape(-1, 3)
        if pressed is not None and frames.von_mises is not None:
            pressed[place] = frames.von_mises.ravel()
    fields = ["displacement", *(["von_mises"] if stress else [])]
    _steps(group, result.t[chosen], n, fields)


def write_first(group: Any, geometry: Geometry, system: Any, first: History) -> None:
    """The group of a run that goes on: where it starts."""
    write_steps(group, geometry, Moving(system, *first[:6]), [0], stress=False)


def _still(group: Any, geometry: Geometry) -> None:
    """What does not change with time."""
    group.attrs["Version"] = np.array([2, 0], dtype=np.int64)
    group.attrs["Type"] = np.bytes_("UnstructuredGrid")
    sizes = {"Points": geometry.n_points, "Cells": len(geometry.types), "ConnectivityIds": len(geometry.connectivity)}
    for name, size in sizes.items():
        group[f"NumberOf{name}"] = np.array([size], dtype=np.int64)
    group["Connectivity"], group["Offsets"], group["Types"] = geometry.connectivity, geometry.offsets, geometry.types
    group["CellData/body"] = geometry.bodies


def _steps(group: Any, t: Array, n: int, fields: list[str]) -> None:
    count = len(t)
    steps = group.create_group("Steps")
    steps.attrs["NSteps"] = count
    steps["Values"] = np.array(t)
    nothing, starts = np.zeros(count, dtype=np.int64), n * np.arange(count)
    steps["PartOffsets"], steps["NumberOfParts"] = nothing, np.ones(count, dtype=np.int64)
    steps["PointOffsets"] = starts
    steps["CellOffsets"], steps["ConnectivityIdOffsets"] = nothing[:, None], nothing[:, None]
    for name in fields:
        steps[f"PointDataOffsets/{name}"] = starts
    steps["CellDataOffsets/body"] = nothing
