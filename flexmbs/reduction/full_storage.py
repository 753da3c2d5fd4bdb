"""Parts in full order in files: K, m_φ and interfaces, sparse, from which all else is made again."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from flexmbs.mesh.mesh import Mesh
from flexmbs.reduction.full import FullPart, assembled
from flexmbs.reduction.interfaces import Interface
from flexmbs.reduction.part import Part
from flexmbs.reduction.space import Space


def full_arrays(full: FullPart) -> tuple[dict[str, Any], dict[str, Any]]:
    """What describes a part in full order, and its arrays; the mesh and its sets are kept beside them."""
    part, space = full.part, full.space
    assert part is not None
    about = {
        "places": [[place.name, list(place.labels), place.columns is not None] for place in space.places],
        "damping": list(full.damping),
    }
    arrays: dict[str, Any] = {"fixed": space.fixed}
    matrices = {"stiffness": part.stiffness, "scalar_mass": part.scalar_mass, "conditions": full.conditions}
    for k, place in enumerate(space.places):
        arrays |= {f"place_nodes_{k}": place.nodes, f"place_position_{k}": place.position}
        matrices |= {f"place_rows_{k}": place.rows, f"place_columns_{k}": place.columns}
    for name, matrix in matrices.items():
        if matrix is not None:
            csr = sp.csr_array(matrix)
            arrays |= {f"{name}_data": csr.data, f"{name}_indices": csr.indices, f"{name}_indptr": csr.indptr}
            arrays[f"{name}_shape"] = np.array(csr.shape)
    return about, arrays


def full_of(about: dict[str, Any], file: Any, mesh: Mesh) -> FullPart:
    """The part in full order that ``full_arrays`` described; without elements, and so without stress."""

    def matrix(name: str) -> sp.csr_array:
        parts = tuple(file[f"{name}_{key}"] for key in ("data", "indices", "indptr"))
        return sp.csr_array(parts, shape=tuple(file[f"{name}_shape"]))

    kept, per_node, scalar = about["full"], int(about["dofs_per_node"]), matrix("scalar_mass")
    mass = sp.csr_array(sp.kron(scalar, sp.eye_array(per_node), format="csr"))
    part = Part(mesh, per_node, matrix("stiffness"), mass, scalar)
    places = tuple(
        Interface(
            name,
            file[f"place_nodes_{k}"],
            file[f"place_position_{k}"],
            matrix(f"place_rows_{k}"),
            matrix(f"place_columns_{k}") if rigid else None,
            tuple(labels),
        )
        for k, (name, labels, rigid) in enumerate(kept["places"])
    )
    loads = dict(zip(about["loads"], file["loads"], strict=True))
    by_mass, by_stiffness = kept["damping"]
    return assembled(
        about["name"], Space(part, places, file["fixed"]), matrix("conditions"), about["reference"], loads,
        (float(by_mass), float(by_stiffness)),
    )  # fmt: skip
