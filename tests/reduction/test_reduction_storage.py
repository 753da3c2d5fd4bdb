"""Reduced parts in files: what was saved comes back, and other files are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from parts import KINDS

from flexmbs.errors import ModelError
from flexmbs.reduction import CraigBampton, load_reduced, load_stress_modes, reduce, save_reduced, stress_modes


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_part_comes_back(kind: str, tmp_path: Path) -> None:
    part = reduce(KINDS[kind](), CraigBampton(3), interfaces=["x0", "x1"], damping=0.01)
    stress = stress_modes(part, "x1")
    path = tmp_path / "rod.part"
    save_reduced(path, part, stress)
    back = load_reduced(path)
    for name in ("s0", "second", "S", "first", "m", "stiffness", "damping"):
        assert_array_equal(getattr(back.constants, name), getattr(part.constants, name))
    for name in ("loads", "K_g", "residual", "missed", "energy"):
        assert_array_equal(getattr(back.cases, name), getattr(part.cases, name))
    assert back.constants.mass == part.constants.mass
    assert back.cases.names == part.cases.names
    assert_array_equal(back.basis, part.basis)
    assert back.modes_table() == part.modes_table()
    assert repr(back) == repr(part)
    assert set(back.frames) == set(part.frames)
    assert_array_equal(back.frame("x1").rotation, part.frame("x1").rotation)
    assert_array_equal(back.mesh.nodes("x1"), part.mesh.nodes("x1"))
    d = np.arange(part.size, dtype=float)
    assert_array_equal(back.displacement(d), part.displacement(d))
    assert_array_equal(load_stress_modes(path).equivalent(d), stress.equivalent(d))


def test_other_files_are_refused(tmp_path: Path) -> None:
    part = reduce(KINDS["beam"](), CraigBampton(1), interfaces=["x0", "x1"], stiffening=False)
    save_reduced(tmp_path / "part.npz", part)
    with pytest.raises(ModelError, match="no stress modes were saved"):
        load_stress_modes(tmp_path / "part.npz")
    with pytest.raises(ModelError, match="no such file"):
        load_reduced(tmp_path / "other.npz")
    (tmp_path / "text.npz").write_text("not an archive")
    with pytest.raises(ModelError, match="no saved part"):
        load_reduced(tmp_path / "text.npz")
    np.savez(tmp_path / "else.npz", a=np.zeros(3))
    with pytest.raises(ModelError, match="no part saved by this version"):
        load_reduced(tmp_path / "else.npz")
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(ModelError, match="single array"):
        load_reduced(tmp_path / "array.npy")
    back = load_reduced(tmp_path / "part.npz")
    with pytest.raises(ModelError, match="no set 'nowhere'"):
        back.frame("nowhere")
    with pytest.raises(ModelError, match="frames on its sets only"):
        back.frame(3)
