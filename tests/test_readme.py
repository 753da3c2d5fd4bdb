"""Every Python block of the README and of docs/ runs; the blocks of one page share their names, top to bottom.

A block of text right after one is what it prints.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]+)")


def blocks(page: Path) -> list[tuple[int, str, str | None]]:
    """Line numbers and texts of the Python blocks of a page, and what they print where the page says it."""
    text = page.read_text()
    return [(text.count("\n", 0, m.start(1)), m[1], m[2]) for m in BLOCK.finditer(text)]


@pytest.mark.filterwarnings("ignore::flexmbs.view.figure.RenderWarning")  # without OpenGL pictures are simpler
@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_code_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "meshes").symlink_to(ROOT / "meshes")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    for line, text, printed in blocks(page):
        capsys.readouterr()
        exec(compile("\n" * line + text, str(page), "exec"), names)
        if printed is not None:
            assert capsys.readouterr().out == printed


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """`.ci/run` takes the line from the README: it must find one, and it must check everything."""
    pattern = re.search(r"grep -m 1 '(.*)' README.md", (ROOT / ".ci" / "run").read_text())
    assert pattern is not None
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if re.search(pattern[1], line)]
    assert len(lines) == 1
    words = " ".join(shlex.split(lines[0]))
    for step in ("ruff check", "ruff format --check", "mypy", "pytest -n 2"):
        assert f"&& {step}" in words
