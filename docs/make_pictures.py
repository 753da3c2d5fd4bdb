"""Make the pictures of the documentation: python docs/make_pictures.py [names ...].

A picture ``docs/images/<name>.png`` that a page shows is ``<name>.png`` as an example or a code block of a page writes
it: whichever names it in its text is run in an empty folder. ``<name>_page.png`` is ``<name>.html`` as Chromium shows
it. docs/examples.md is written too, from what the examples say of themselves. Without names all pictures are made, in a
few minutes.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).parent
ROOT = DOCS.parent
IMAGES = DOCS / "images"
GALLERY = DOCS / "examples.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
SHOWN = re.compile(r"!\[[^\]]*\]\([^)\s]*images/([\w.-]+)\)")
WIDTH = 1000  # pixels, at most
LARGE = 180_000  # bytes
MOMENT = 0.047  # of pages, in seconds


def pages() -> list[Path]:
    """All pages, the README among them."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def examples() -> list[Path]:
    """All examples."""
    return sorted((ROOT / "examples").glob("*.py"))


def shown() -> set[str]:
    """File names of the pictures that pages show."""
    return {name for page in pages() for name in SHOWN.findall(page.read_text())}


def written(picture: str) -> str:
    """The file that the source of a picture writes: itself, or the page that it shows."""
    return re.sub(r"_page\.png$", ".html", picture)


def source(picture: str) -> Path:
    """The example or page that makes a picture; an example where both would."""
    quoted = re.compile(rf"""["']{re.escape(written(picture))}["']""")
    code = {path: path.read_text() for path in examples()}
    code |= {path: "\n".join(BLOCK.findall(path.read_text())) for path in pages()}
    found = [path for path, text in code.items() if quoted.search(text)]
    if not found:
        raise SystemExit(f"{picture}: no example and no code block of a page writes a file of this name.")
    return found[0]


def run(path: Path) -> None:
    """An example, or the code of a page, in the current folder."""
    if path.suffix == ".py":
        runpy.run_path(str(path), run_name="__main__")
        return
    names: dict[str, object] = {"__name__": path.stem}
    for text in BLOCK.findall(path.read_text()):
        exec(compile(text, str(path), "exec"), names)


def photograph(page: Path, picture: Path) -> None:
    """What Chromium shows of a page after a few seconds."""
    options = (
        "--headless --no-sandbox --hide-scrollbars --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader"
    )
    sized = ["--window-size=1500,1000", "--virtual-time-budget=8000", f"--screenshot={picture}"]
    subprocess.run(
        ["chromium", *options.split(), *sized, f"{page.as_uri()}#t={MOMENT}"], check=True, capture_output=True
    )


def keep(picture: Path) -> None:
    """Store a picture, not wider than it need be; a large one in 255 colours, chosen so that none is far off."""
    image = Image.open(picture).convert("RGB")
    image.thumbnail((WIDTH, 10 * WIDTH), Image.Resampling.LANCZOS)
    path = IMAGES / picture.name
    image.save(path, optimize=True)
    if path.stat().st_size > LARGE:
        palette = image.quantize(255, method=Image.Quantize.MAXCOVERAGE)
        image.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(path, optimize=True)


def make(names: Iterable[str]) -> None:
    """Make pictures by their file names, each source run once."""
    sources: dict[Path, list[str]] = {}
    for name in sorted(names):
        sources.setdefault(source(name), []).append(name)
    for path, wanted in sources.items():
        print(f"{path.relative_to(ROOT)}: {', '.join(wanted)}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "meshes").symlink_to(ROOT / "meshes")
            os.chdir(folder)
            run(path)
            for name in wanted:
                if written(name) != name:
                    photograph(Path(folder) / written(name), Path(folder) / name)
                keep(Path(folder) / name)
            os.chdir(ROOT)


def gallery() -> str:
    """The page of the examples: what each says in its first lines, and its first picture."""
    lines = ["# Examples", ""]
    lines += ["Short scripts that run as they are, from the project's root: `python examples/pendulum.py`."]
    lines += ["This page is written by `docs/make_pictures.py` from what they say of themselves."]
    for path in examples():
        text = path.read_text()
        about = text.split('"""')[1].strip()
        title = re.split("[:.]", about.splitlines()[0])[0]
        written = re.findall(r"""["']([\w-]+\.png)["']""", text)
        first = f"{path.stem}.png" if f"{path.stem}.png" in written else next(iter(written), None)
        lines += ["", f"## {title}", "", about, "", f"[{path.name}](../examples/{path.name})"]
        lines += ["", f"![{title}](images/{first})"] if first else []
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    GALLERY.write_text(gallery())
    make([f"{name.removesuffix('.png')}.png" for name in sys.argv[1:]] or shown())
