"""Bodies in full order in files: they come back with all they had, and nothing of them is dense there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import pyvista
import scipy.sparse as sp
from test_export import grid as opened

import flexmbs as fm

SOFT = fm.Material(2e9, 0.3, 7800.0)
BAR = fm.Mesh.box((0.4, 0.04, 0.03), (6, 2, 1))
SPARSE: dict[str, Any] = {"reduction": fm.FullOrder(sparse=True), "stiffening": False}
KEPT = ("t", "q", "v", "rate", "multipliers", "angles")

BODIES: dict[str, dict[str, Any]] = {
    "chord": {"interfaces": ["x0", "x1"]},
    "mean": {"interfaces": [fm.Averaged("x0"), fm.Averaged("x1")], "frame": "mean", "damping": fm.Rayleigh(2.0, 1e-5)},
    "fixed": {"fixed": {"x0": None}, "interfaces": ["x1", BAR.nearest_node((0.2, 0.04, 0.03))]},
}


def bar(kind: str = "chord", mesh: fm.Mesh = BAR) -> fm.FlexibleBody:
    return fm.FlexibleBody("bar", mesh, SOFT, loads={"gas": fm.Pressure("y1", 2e4)}, **SPARSE, **BODIES[kind])


def swinging(body: fm.FlexibleBody, factor: Any = 2.0) -> fm.System:
    """A bar on a hinge, pressed from above, with a body at its end."""
    ground, tip = fm.Ground(), fm.RigidBody.box("tip", (0.05, 0.05, 0.05), 2000.0)
    held = body.at() if body.fixed else body.at("x0")
    hinge = fm.Revolute("hinge", ground.at(*held.position), held, axis="z")
    pin = fm.Revolute("pin", body.at("x1"), tip.at(0, -0.02, 0), axis="z")
    forces = [fm.Gravity((0, -9.81, 2.0)), fm.BodyLoad("press", body, "gas", factor)]
    return fm.System([ground, body, tip], [hinge, pin], forces)


def same(one: fm.Result, two: fm.Result) -> None:
    for name in KEPT:
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


@pytest.mark.parametrize("kind", BODIES)
def test_a_loaded_result_says_the_same_and_goes_on(kind: str, tmp_path: Path) -> None:
    """Stress, strain, energy and momentum need the elements, K and m_φ; going on needs the conditions and damping."""
    body = bar(kind)
    system = swinging(body)
    saved = fm.forward_dynamics(system, 0.004, 2e-4, save=tmp_path / "run.h5")
    saved.save(tmp_path / "again.h5")
    gauge = fm.StrainGauge(body, (0.2, 0.04, 0.0), "x")
    for name in ("run.h5", "again.h5"):
        back = fm.load(tmp_path / name)
        same(saved, back)
        own = back.system.named("bar")
        assert own.full_order
        assert sp.issparse(own.reduced.basis)
        assert np.array_equal(back.stress(own, at=back.t), saved.stress(body, at=saved.t))
        assert np.array_equal(back.stress_envelope(own).largest, saved.stress_envelope(body).largest)
        assert np.array_equal(back.strain(fm.StrainGauge(own, (0.2, 0.04, 0.0), "x")), saved.strain(gauge))
        assert np.array_equal(back.deflection(own.at(0.2, 0.0, 0.0)), saved.deflection(body.at(0.2, 0.0, 0.0)))
        for part in ("kinetic", "strain", "dissipated", "supplied"):
            assert getattr(back.energy, part) == pytest.approx(getattr(saved.energy, part), rel=1e-12, abs=1e-15)
        assert back.momentum.angular == pytest.approx(saved.momentum.angular, rel=1e-12)
        assert back.summary() == saved.summary()
        assert back.warnings == saved.warnings
    same(
        fm.forward_dynamics(system, 0.006, 2e-4, start=saved), fm.forward_dynamics(back.system, 0.006, 2e-4, start=back)
    )


def test_a_run_that_was_cut_off_is_resumed_and_told_of(tmp_path: Path) -> None:
    whole, seen = fm.forward_dynamics(swinging(bar(), lambda t: 50 * t), 0.008, 2e-4), []

    class Killed(Exception):
        pass

    def kill(t: float) -> None:
        seen.append(t)
        if t > 0.004:
            raise Killed

    path = tmp_path / "run.h5"
    with pytest.raises(Killed):
        fm.forward_dynamics(swinging(bar(), lambda t: 50 * t), 0.008, 2e-4, save=path, progress=kill)
    assert len(seen) > 1
    half = fm.load(path)
    assert 2 < len(half.t) < len(whole.t)
    assert np.array_equal(half.q, whole.q[: len(half.t)])
    rest = fm.forward_dynamics(swinging(bar(), lambda t: 50 * t), 0.008, 2e-4, save=path, resume=True)
    assert np.array_equal(rest.t, whole.t)
    assert rest.q == pytest.approx(whole.q, abs=1e-10)  # Newton's matrix is made anew, and its iteration ends elsewhere
    assert rest.v == pytest.approx(whole.v, abs=1e-6 * np.abs(whole.v).max())


def test_files_have_sparse_matrices_only(tmp_path: Path) -> None:
    """Beside its histories a file grows as the number of nodes does, and not as its square."""
    sizes, counts = [], []
    for n in (10, 40):
        body = bar(mesh=fm.Mesh.box((0.4, 0.04, 0.03), (n, 3, 3)))
        motion = fm.forward_dynamics(swinging(body), 4e-4, 2e-4)
        motion.save(tmp_path / "run.h5")
        with h5py.File(tmp_path / "run.h5") as file:
            sizes.append(file["model/arrays"].size)
        body.save(tmp_path / "bar.npz")
        sizes.append((tmp_path / "bar.npz").stat().st_size)
        counts.append(body.modes)
    more = counts[1] / counts[0]
    assert more > 3.5
    assert sizes[2] < 1.2 * more * sizes[0]
    assert sizes[3] < 1.2 * more * sizes[1]
    assert sizes[2] < 8 * counts[1] ** 2 / 10


@pytest.mark.parametrize("kind", BODIES)
def test_a_saved_body_moves_as_before(kind: str, tmp_path: Path) -> None:
    body = bar(kind)
    body.save(tmp_path / "bar.npz")
    back = fm.FlexibleBody.load(tmp_path / "bar.npz")
    assert repr(back.reduced) == repr(body.reduced).replace("box", "bar")
    assert set(back.reduced.frames) == set(body.reduced.frames)
    first, second = (
        fm.forward_dynamics(fm.System(s.bodies, s.joints, s.forces), 0.002, 2e-4)
        for s in (swinging(body), _held(back, body))
    )
    assert second.q == pytest.approx(first.q, rel=1e-9, abs=1e-12)
    assert second.energy.strain == pytest.approx(first.energy.strain, rel=1e-6, abs=1e-15)
    with pytest.raises(fm.ModelError, match="stress needs the part's own elements"):
        second.stress(back)
    with pytest.raises(fm.ModelError, match=r"bar: stress modes of a part in full order .* leave stress= out"):
        body.save(tmp_path / "other.npz", stress="all")
    assert not (tmp_path / "other.npz").exists()


def _held(back: fm.FlexibleBody, body: fm.FlexibleBody) -> fm.System:
    """The mechanism of the loaded body, which does not say any more how it was fixed."""
    object.__setattr__(back, "fixed", body.fixed)
    return swinging(back)


def test_matrices_of_another_program_come_back_too(tmp_path: Path) -> None:
    part = fm.Part.of_elements(fm.Elements(BAR, SOFT))
    body = fm.FlexibleBody.from_matrices("bar", BAR, part.mass, part.stiffness, interfaces=["x0", "x1"], **SPARSE)
    ground = fm.Ground()
    hinge = fm.Revolute("hinge", ground.at(*body.at("x0").position), body.at("x0"))
    motion = fm.forward_dynamics(fm.System([ground, body], [hinge], [fm.Gravity((0, -9.81, 0))]), 0.002, 2e-4)
    motion.save(tmp_path / "run.h5")
    back = fm.load(tmp_path / "run.h5")
    assert np.array_equal(back.energy.strain, motion.energy.strain)
    more = fm.forward_dynamics(back.system, 0.003, 2e-4, start=back)
    same(more, fm.forward_dynamics(motion.system, 0.003, 2e-4, start=motion))


def test_exports_show_where_its_nodes_are(tmp_path: Path) -> None:
    body = bar()
    motion = fm.forward_dynamics(swinging(body, 20.0), 0.004, 2e-4)
    skin = np.unique(np.concatenate([BAR.nodes(name) for name in ("x0", "x1", "y0", "y1", "z0", "z1")]))
    places, stress = motion.deformed(body)[skin], motion.von_mises(body)[skin]
    for name in ("run.vtkhdf", "run.vtu"):
        motion.export(tmp_path / name)
        reader = opened(tmp_path / name, *(("hdf", len(motion.t) - 1) if name == "run.vtkhdf" else ("vtu",)))
        grid = pyvista.wrap(reader.GetOutputAsDataSet())
        assert grid.points[: len(skin)] == pytest.approx(places, abs=1e-7)
        assert grid["von_mises"][: len(skin)] == pytest.approx(stress, rel=1e-5)
        moved = motion.displacement(body)[skin] @ motion.rotation(body)[-1].T
        assert grid["displacement"][: len(skin)] == pytest.approx(moved, rel=1e-5, abs=1e-9)
    motion.export(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as file:
        assert np.array_equal(file["bar.elastic"], motion.elastic(body))
    motion.export(tmp_path / "run.csv")
    head, *rows = (tmp_path / "run.csv").read_text().splitlines()
    column = head.split(",").index("bar.elastic.7")
    assert float(rows[-1].split(",")[column]) == motion.elastic(body)[-1, 6]
