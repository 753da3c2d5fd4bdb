"""The rules that keep the package a pleasure to read, as tests over its syntax trees."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "flexmbs"
FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text()) for path in FILES}

LAYERS = [
    {"__main__"},
    {"cli"},
    {"demo"},
    {"flexmbs"},  # the public names, as users see them
    {"view", "studies"},
    {"analyses"},
    {"results"},
    {"integrators"},  # above the system: a compiled step calls the evaluation by name, or Numba's cache misses
    {"system"},
    {"forces"},
    {"joints"},
    {"bodies"},
    {"reduction"},
    {"fem"},
    {"mesh", "materials", "sections", "formulations"},
    {"projection"},
    {"equations"},
    {"nullspace", "linalg", "profiles"},
    {"rotations", "vectors"},
    {"errors", "given", "kernel_cache", "progress"},
]
"""From top to bottom; a unit imports from lower layers only, never from a neighbour in its own."""

DOORS = {
    "meshio": "flexmbs/mesh/formats/",
    "h5py": ("flexmbs/mesh/formats/", "flexmbs/results/"),
    "pandas": "flexmbs/results/exporting.py",
    "pyvista": "flexmbs/view/",
    "vtk": "flexmbs/view/",
    "vtkmodules": ("flexmbs/view/", "flexmbs/mesh/formats/vtk_xml.py"),  # pictures, and VTK's own files
    "matplotlib": "flexmbs/view/",
    "imageio": "flexmbs/view/",
    "PIL": "flexmbs/view/",
    "imageio_ffmpeg": "flexmbs/view/",
    "cvxopt": "flexmbs/linalg/",
    "threadpoolctl": "flexmbs/linalg/",
    "llvmlite": "flexmbs/system/",  # the compiler beneath Numba, for vector instructions it has no words for
}
"""Where each third party may be imported."""

ANYWHERE = {"numpy", "scipy", "numba"}

TALKING = {"cli", "demo"}
"""Units that print; all others return what they have to say."""


def unit(module: str) -> str:
    """The unit of a module: flexmbs.mesh.read belongs to mesh."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "flexmbs"


def level(name: str) -> int:
    return next(k for k, layer in enumerate(LAYERS) if name in layer)


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def loaded_by_name(node: ast.AST) -> str:
    """The module of a call import_module("name...")."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module" and node.args:
        name = node.args[0]
        start = name.values[0] if isinstance(name, ast.JoinedStr) else name
        return str(start.value) if isinstance(start, ast.Constant) else ""
    return ""


def imports(path: Path) -> list[tuple[str, ast.stmt | ast.expr]]:
    """Absolute names of the modules that a file imports, with their statements."""
    found: list[tuple[str, ast.stmt | ast.expr]] = []
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            found += [(alias.name, node) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{at(path, node)}: relative import"
            if node.module == "flexmbs":
                found += [(f"flexmbs.{alias.name}", node) for alias in node.names]
            else:
                found.append((str(node.module), node))
        elif loaded_by_name(node):
            found.append((loaded_by_name(node), node))
    return found


def at(path: Path, node: ast.stmt | ast.expr) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def test_every_unit_has_its_layer() -> None:
    units = {unit(name_of(p)) for p in FILES} - {"flexmbs"}
    assert units <= set().union(*LAYERS)


def test_imports_go_downward() -> None:
    upward = []
    for path in FILES:
        here = unit(name_of(path))
        for module, node in imports(path):
            if module.split(".")[0] != "flexmbs" or here in ("flexmbs", unit(module)):
                continue  # flexmbs/__init__.py takes the public names from everywhere
            if level(unit(module)) <= level(here):
                upward.append(f"{at(path, node)}: {here} imports {module}")
    assert upward == []


def test_one_door_per_third_party() -> None:
    astray = []
    for path in FILES:
        for module, node in imports(path):
            top = module.split(".")[0]
            if top in sys.stdlib_module_names or top in ANYWHERE or top == "flexmbs":
                continue
            if not path.relative_to(ROOT).as_posix().startswith(DOORS.get(top, "no door")):
                astray.append(f"{at(path, node)}: {top}")
    assert astray == []


def test_no_flexmbs_imports_inside_functions() -> None:
    hidden = []
    for path in FILES:
        functions = [n for n in ast.walk(TREES[path]) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        inside = {id(n) for f in functions for n in ast.walk(f)}
        for module, node in imports(path):
            if module.startswith("flexmbs") and id(node) in inside:
                hidden.append(f"{at(path, node)}: {module}")
    assert hidden == []


def test_no_prints_and_no_exits() -> None:
    forbidden = ("print", "exit", "quit", "sys.exit", "breakpoint")
    calls = [
        f"{at(path, node)}: {ast.unparse(node.func)}"
        for path in FILES
        for node in ast.walk(TREES[path])
        if isinstance(node, ast.Call) and ast.unparse(node.func) in forbidden and unit(name_of(path)) not in TALKING
    ]
    assert calls == []


def test_test_files_have_names_of_their_own() -> None:
    """pytest collects them by name, so that two of one name hide each other."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_files_can_be_read_at_a_sitting() -> None:
    assert [str(p) for p in FILES if p.stem in ("utils", "helpers", "misc")] == []
    assert {p.name: n for p in FILES if (n := len(p.read_text().splitlines())) >= 450} == {}


def test_every_module_says_what_it_is() -> None:
    assert [str(p) for p in FILES if not ast.get_docstring(TREES[p])] == []


# ---- what happens in a process of its own


def run(program: str, cwd: Path = ROOT, **environment: str) -> str:
    """Standard output of a Python program in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(cwd), **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_neither_vtk_nor_matplotlib_nor_meshio() -> None:
    loaded = set(json.loads(run("import flexmbs, sys, json; print(json.dumps(list(sys.modules)))")))
    assert "flexmbs" in loaded
    assert not loaded & {"flexmbs.view", "vtk", "vtkmodules", "pyvista", "matplotlib", "meshio", "h5py"}


def test_importing_view_loads_no_renderer() -> None:
    loaded = set(json.loads(run("import flexmbs.view, sys, json; print(json.dumps(list(sys.modules)))")))
    assert not loaded & {"vtk", "vtkmodules", "pyvista", "matplotlib"}


KERNELS = """
import json, sys
import flexmbs as fm
from numba.core.dispatcher import Dispatcher
steel = fm.Material(young=210e9, poisson=0.3, density=7850.0)
for cell in ("hexahedron", "tetra10"):
    fm.modes(fm.Mesh.box((0.3, 0.02, 0.02), (8, 2, 2), cell=cell), steel, fixed="x0", count=2)
kernels = {
    id(value): value
    for name, module in list(sys.modules.items()) if name.startswith("flexmbs")
    for value in vars(module).values() if isinstance(value, Dispatcher)
}
stats = {k.__name__: k.stats for k in kernels.values() if k.signatures}
print(json.dumps({n: [sum(s.cache_hits.values()), sum(s.cache_misses.values())] for n, s in stats.items()}))
"""


def test_kernels_come_from_the_cache_in_a_second_process() -> None:
    """Compiled once, ever: a kernel that misses costs seconds in every process."""
    run(KERNELS)
    second = json.loads(run(KERNELS))
    assert second["stiffness_scatter"][0] > 0
    assert {name: counts for name, counts in second.items() if counts[1]} == {}


def test_a_cache_folder_is_found_where_nothing_is_writable(tmp_path: Path) -> None:
    """Plain files in the place of folders cannot be written into, whoever runs this."""
    for path in FILES:
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text())
        (copy.parent / "__pycache__").touch()
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.touch()
    temporary.mkdir()
    places = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "TMPDIR": str(temporary), "NUMBA_CACHE_DIR": ""}
    program = "import flexmbs, numba, os; print(flexmbs.__file__); print(numba.config.CACHE_DIR)"
    used, folder = run(program, tmp_path, **places).split()
    assert used == str(tmp_path / "flexmbs" / "__init__.py")
    assert Path(folder).parent == temporary
    assert Path(folder).stat().st_mode & 0o077 == 0
