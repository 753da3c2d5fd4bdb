"""Run all benchmarks, print their rows, and put them on the performance page.

    python tests/benchmarks/run.py [--quick] [--page] [names ...]

A benchmark is a script ``bench_<name>.py`` here with a function ``rows(quick)``. Peers come with
``pip install 'flexmbs[bench]'``; what is missing is said. With ``--page`` the tables of the benchmarks that ran are
written into docs/performance.md between the marks of their names; the text around them is written by hand.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

from table import Row, markdown, show

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "performance.md"
PACKAGES = ("numpy", "scipy", "numba", "exudyn", "scikit-fem")


def main() -> None:
    names = sorted(p.stem.removeprefix("bench_") for p in HERE.glob("bench_*.py"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"which benchmarks, all by default: {', '.join(names)}")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, one run each; the wanted figures need the rest"
    )
    parser.add_argument("--page", action="store_true", help="write the tables into docs/performance.md")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if arguments.page and arguments.quick:
        parser.error("the page has the figures of whole runs: leave out --quick")
    print(setting())
    found: list[Row] = []
    for name in arguments.names or names:
        module = _loaded(name)
        if module is None:
            continue
        print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        measured = show(module.rows(arguments.quick))
        found += measured
        if arguments.page:
            PAGE.write_text(written(PAGE.read_text(), name, f"{markdown(measured)}\n\n{setting()}"))
    missed = [row for row in found if row.met is False]
    if missed:
        sys.exit(f"\n{len(missed)} of {len(found)} figures are not as wanted")


def setting() -> str:
    """What ran on what, and how busy the machine was (the mean number of running processes; 1 is ours)."""
    packages = []
    for name in PACKAGES:
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    versions = f"Python {platform.python_version()}, {', '.join(packages)}"
    return f"{versions}; {os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.1f}."


def written(page: str, name: str, text: str) -> str:
    """The page with a benchmark's text between its marks; a benchmark without marks gets a section at the end."""
    begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    if begin not in page:
        page += f"\n## {name}\n\n{begin}\n{end}\n"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.S)
    return pattern.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", page)


def _loaded(name: str) -> ModuleType | None:
    """The benchmark's module, or None, said, where a peer that it cannot do without is missing."""
    try:
        return importlib.import_module(f"bench_{name}")
    except ModuleNotFoundError as error:
        print(f"{name}: left out, {error.name} is missing; pip install 'flexmbs[bench]'")
        return None


if __name__ == "__main__":
    main()
