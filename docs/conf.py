"""The documentation as a site: pip install -e ".[docs]" && sphinx-build -W docs site.

Pages are plain Markdown that GitHub shows as well. Three things are done while building: the menu follows the links of
index.md; links to files of the repository become downloads, those to its folders plain text; and equations become
MathML, which browsers show without any script or network.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

HERE = Path(__file__).parent

project = "flexmbs"
author = "the flexmbs authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_fence_as_directive = ["math"]  # the fences that GitHub sets as equations
myst_heading_anchors = 3
html_theme = "furo"
html_title = "flexmbs"
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]

LINK = re.compile(r"\]\(([^)#\s]+?)(#[^)\s]*)?\)")
SECTION = re.compile(r"^## (.*)$", re.M)


def menu(index: str) -> str:
    """Tables of contents of the pages that each section of the front page links to, in its order."""
    _, *parts = SECTION.split(index)
    out = []
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        pages = [link for link, _ in LINK.findall(text) if link.endswith(".md") and "://" not in link]
        if pages:
            out += ["", "```{toctree}", ":hidden:", f":caption: {title}", "", *dict.fromkeys(pages), "```"]
    return "\n".join(out)


def read(app: Any, name: str, source: list[str]) -> None:
    """Add the menu to the front page; links to folders of the repository lose their target."""
    folder = (HERE / name).parent
    text = source[0]
    for link in {m[1] for m in LINK.finditer(text)}:
        if "://" not in link and (folder / link).is_dir():
            text = re.sub(rf"\[([^\]]*)\]\({re.escape(link)}\)", r"\1", text)
    source[0] = text + menu(text) if name == "index" else text


def equation(writer: Any, node: Any) -> None:
    """One displayed equation."""
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>\n')
    raise SkipNode


def symbol(writer: Any, node: Any) -> None:
    """Mathematics in a line of text."""
    writer.body.append(convert(node.astext()))
    raise SkipNode


def setup(app: Any) -> None:
    """What Sphinx calls."""
    app.add_html_math_renderer("mathml", (symbol, None), (equation, None))
    app.connect("source-read", read)
