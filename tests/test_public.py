"""The public surface: every name is bound, documented, and in the reference."""

from __future__ import annotations

import inspect
import re
import runpy
from pathlib import Path
from types import ModuleType

import pytest

import flexmbs
from flexmbs import view

ROOT = Path(__file__).parents[1]
MODULES = [flexmbs, view]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_all_is_sorted_and_bound(module: ModuleType) -> None:
    assert module.__all__ == sorted(set(module.__all__))
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_every_public_name_is_documented(module: ModuleType) -> None:
    """Classes with all their public methods: in their own words, not those inherited from object."""
    silent = []
    for name in module.__all__:
        thing = getattr(module, name)
        if not inspect.getdoc(thing):
            silent.append(name)
        if inspect.isclass(thing):
            members = inspect.getmembers_static(thing, lambda m: callable(m) or isinstance(m, property | classmethod))
            silent += [f"{name}.{key}" for key, m in members if not key.startswith("_") and not inspect.getdoc(m)]
    assert silent == []


def test_the_reference_is_that_of_the_docstrings() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make_reference.py"))
    page = made["PAGE"].read_text()
    listed = re.findall(r"^### `([\w.]+)", page, re.M)
    assert sorted(listed) == sorted([*flexmbs.__all__, *(f"view.{name}" for name in view.__all__)])
    assert page == made["reference"](), "run python docs/make_reference.py"


def test_version_is_that_of_the_project() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert f'\nversion = "{flexmbs.__version__}"\n' in project
