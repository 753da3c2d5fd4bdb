"""Run all benchmarks and print one table.

    python tests/benchmarks/run.py [--quick] [names ...]

A benchmark is a script ``bench_<name>.py`` here. Those with a function ``rows(quick)`` fill the table; the others
print their own beneath it. Peers come with ``pip install 'flexmbs[bench]'``; what is missing is said.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from table import show

HERE = Path(__file__).parent


def main() -> None:
    names = sorted(p.stem.removeprefix("bench_") for p in HERE.glob("bench_*.py"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"which benchmarks, all by default: {', '.join(names)}")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, one run each; the wanted figures need the rest"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    loaded: dict[str, ModuleType | None] = {name: _loaded(name) for name in arguments.names or names}
    found = show(row for module in loaded.values() if hasattr(module, "rows") for row in module.rows(arguments.quick))
    for name, module in loaded.items():
        if module is not None and not hasattr(module, "rows"):
            print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
            small = ["--nodes", "3000"] if arguments.quick and name == "modes" else []
            subprocess.run([sys.executable, str(HERE / f"bench_{name}.py"), *small], check=False)
    missed = [row for row in found if row.met is False]
    if missed:
        sys.exit(f"\n{len(missed)} of {len(found)} figures are not as wanted")


def _loaded(name: str) -> ModuleType | None:
    """The benchmark's module, or None, said, where a peer that it cannot do without is missing."""
    try:
        return importlib.import_module(f"bench_{name}")
    except ModuleNotFoundError as error:
        print(f"{name}: left out, {error.name} is missing; pip install 'flexmbs[bench]'")
        return None


if __name__ == "__main__":
    main()
