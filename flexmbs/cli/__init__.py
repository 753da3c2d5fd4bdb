"""The command line: what it is asked for, and how it ends (0 well, 1 with a problem, 2 misused, 130 by Ctrl-C)."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import flexmbs as fm
from flexmbs.cli.demonstration import demo
from flexmbs.cli.machine import doctor
from flexmbs.cli.parts import info, modes
from flexmbs.cli.results import export, report, view

INTERRUPTED = 130
"""What shells call a program that Ctrl-C ended: 128 and the number of the signal."""

EXAMPLES = """examples:
  flexmbs demo                                         an engine with a flexible rod: picture, film, page
  flexmbs info part.inp --scale 1e-3 --material steel  what is in a mesh file in millimetres, its quality and mass
  flexmbs modes part.inp --scale 1e-3 --material steel --fix base -o modes.png
  flexmbs view run.h5 -o film.mp4                      film of a result that was saved
  flexmbs report run.h5                                page to send to a colleague
  flexmbs doctor                                       what works on this machine
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments ask for (those of the process by default); the exit code."""
    try:
        asked = _parser().parse_args(arguments)
    except SystemExit as end:  # help, version, or misuse, which argparse has explained
        return int(end.code or 0)
    command: Callable[[argparse.Namespace], int] = asked.command
    with warnings.catch_warnings():
        warnings.filterwarnings("default", category=UserWarning)
        warnings.showwarning = _warner()
        try:
            code = command(asked)
            sys.stdout.flush()
            return code
        except KeyboardInterrupt:
            return _complain("interrupted", INTERRUPTED)
        except BrokenPipeError:  # whoever read our output, such as head, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except (fm.FlexmbsError, fm.SolverError, OSError) as problem:
            return _complain(_words(problem), 1)
        except MemoryError:
            return _complain("there is not enough memory for this.", 1)


def _complain(text: str, code: int) -> int:
    print(f"flexmbs: {text}", file=sys.stderr)
    return code


def _words(problem: Exception) -> str:
    if isinstance(problem, OSError) and problem.filename is not None and problem.strerror:
        return f"{problem.filename}: {problem.strerror.lower()}."
    return " ".join(str(problem).split())


def _warner() -> Callable[..., None]:
    """Warnings as one line, each once, without the line of code that caused them."""
    said: set[str] = set()

    def warn(message: Warning | str, *where: Any, **more: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            print(f"warning: {message}", file=sys.stderr)

    return warn


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="flexmbs",
        description="Flexible multibody dynamics: meshes, modes, results and pictures from the command line.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"flexmbs {fm.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_demo(commands)
    _add_parts(commands)
    _add_results(commands)
    check = _command(commands, "doctor", doctor, "say what works on this machine, and what to install for the rest")
    check.add_argument(
        "--precompile", action="store_true", help="compile the usual kernels now, so that the first run is a quick one"
    )
    return parser


def _add_demo(commands: Any) -> None:
    one = _command(
        commands,
        "demo",
        demo,
        "run an engine with a flexible connecting rod; picture, film and page of it",
    )
    one.add_argument("-o", "--out", metavar="FOLDER", default="flexmbs_demo", help="where to write (./flexmbs_demo)")


def _add_parts(commands: Any) -> None:
    one = _command(commands, "info", info, "cells, sets, quality and mass of a mesh file")
    _add_part(one, needed=False)
    one.add_argument("-o", "--out", metavar="PICTURE", help="picture of the mesh and its sets, e.g. part.png")
    one = _command(commands, "modes", modes, "natural frequencies of a part, as a table and a picture")
    _add_part(one, needed=True)
    one.add_argument(
        "--fix", metavar="SET", action="append", help="a set that is held; may be given several times (free by default)"
    )
    one.add_argument("--count", type=_whole, default=10, help="how many modes, rigid ones included (10)")
    one.add_argument("-o", "--out", metavar="PICTURE", help="picture of the first shapes, e.g. modes.png")


def _add_part(one: argparse.ArgumentParser, needed: bool) -> None:
    one.add_argument("mesh", metavar="MESH", help="file of Gmsh, Abaqus, Nastran, VTK, ... (in metres)")
    one.add_argument("--scale", type=float, default=1.0, help="multiplies coordinates: 1e-3 for a file in millimetres")
    one.add_argument(
        "--material",
        metavar="NAME",
        required=needed,
        help="steel, aluminium, ..., or E,ν,ρ in SI: 210e9,0.3,7850",
    )
    one.add_argument("--thickness", type=float, default=1.0, help="of a plane mesh [m] (1)")


def _add_results(commands: Any) -> None:
    one = _command(commands, "view", view, "picture, film or window of a result")
    _add_result(one)
    one.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        help="picture (.png) or film (.mp4, .gif); by default a window, or RESULT.png",
    )
    one.add_argument("--at", type=float, metavar="TIME", help="of the picture [s] (the last)")
    one.add_argument("--color", help="speed, von_mises, displacement, ... (von_mises where bodies are flexible)")
    one.add_argument("--scale", type=_scale, help="how many times too large deformation is drawn, or auto (auto)")
    one.add_argument("--look", type=_look, help="from where: x, -y, xyz, or a direction such as 1,0.3,1")
    one.add_argument("--frames", type=_whole, help="number of pictures in a film")
    one.add_argument("--fps", type=float, default=25.0, help="pictures a second (25)")
    one = _command(commands, "report", report, "a page with the moving mechanism, plots and summary")
    _add_result(one)
    one.add_argument("-o", "--out", metavar="PAGE", help="where to write (RESULT.html)")
    one = _command(commands, "export", export, "a result in another format, chosen by the ending of OUT")
    _add_result(one)
    one.add_argument("out", metavar="OUT", help="file or folder, as for Result.export")


def _add_result(one: argparse.ArgumentParser) -> None:
    one.add_argument("result", metavar="RESULT", help='file written by save="run.h5" or result.save("run.h5")')


def _command(commands: Any, name: str, does: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
    one: argparse.ArgumentParser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    one.set_defaults(command=does)
    return one


def _whole(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _scale(text: str) -> float | str:
    return text if text == "auto" else float(text)


def _look(text: str) -> tuple[float, ...] | str:
    if "," not in text:
        return text
    numbers = tuple(float(x) for x in text.split(","))
    if len(numbers) != 3:
        raise ValueError
    return numbers


_whole.__name__, _scale.__name__, _look.__name__ = "whole number", "scale", "direction"  # as argparse calls them
