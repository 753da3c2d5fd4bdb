"""Pages that scripts write are up to date, as far as that can be told without running everything again."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cases import CASES
from cases.case import Case

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def validation() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "make_validation.py"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_the_validation_page_has_every_number_of_a_case(case: Case, validation: dict[str, Any]) -> None:
    """Names, references and bounds are those of the case; what was found agrees with the difference beside it."""
    text = (DOCS / "validation.md").read_text()
    assert f"(#{validation['anchor'](case.title)})" in text
    section = text.split(f"\n### {case.title}\n")[1].split("\n#")[0]
    assert case.about in section
    assert f"Reference: {case.source}. flexmbs: {case.model}." in section
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line][2:]
    assert len(rows) == len(case.quantities)
    for (name, reference, found, difference, allowed), quantity in zip(rows, case.quantities, strict=True):
        assert (name, reference) == (quantity.name, repr(quantity.reference))
        assert float(allowed) == pytest.approx(quantity.within, rel=0.1)
        assert float(difference) <= quantity.within
        assert quantity.difference(float(found)) == pytest.approx(float(difference), abs=0.05 * quantity.within)


def test_anchors_are_headings() -> None:
    """Links within a page and into other pages, as GitHub makes anchors of headings."""
    anchors = runpy.run_path(str(DOCS / "make_reference.py"))["anchors"]
    missing = []
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        for target, name in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text()):
            if "://" in target:
                continue
            other = (page.parent / target) if target else page
            headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", other.read_text(), flags=re.M | re.S), re.M)
            if name not in anchors([re.sub(r"[`*]", "", heading) for heading in headings]):
                missing.append(f"{page.name}: {target}#{name}")
    assert missing == []


def test_the_front_page_leads_to_every_page() -> None:
    """The menu of the site is made from its links."""
    links = re.findall(r"\]\(([^)#\s]+\.md)\)", (DOCS / "index.md").read_text())
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert pages - set(links) == {"index.md"}


def test_every_picture_is_shown_and_made_by_an_example_or_a_page() -> None:
    """By docs/make_pictures.py, from the name of its file."""
    make = runpy.run_path(str(DOCS / "make_pictures.py"))
    stored = {path.name for path in (DOCS / "images").iterdir()}
    assert stored == make["shown"]()
    for name in sorted(stored):
        assert make["source"](name).exists()
    assert make["GALLERY"].read_text() == make["gallery"](), "run python docs/make_pictures.py"


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="the site is built with the extra 'docs'")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "<math" in (tmp_path / "theory.html").read_text()
    assert "://cdn" not in (tmp_path / "theory.html").read_text()


def test_the_performance_page_has_a_table_for_every_benchmark() -> None:
    """Written by tests/benchmarks/run.py --page between the marks of its name."""
    page = (DOCS / "performance.md").read_text()
    for path in (ROOT / "tests" / "benchmarks").glob("bench_*.py"):
        name = path.stem.removeprefix("bench_")
        table = page.split(f"<!-- begin: {name} -->")[1].split(f"<!-- end: {name} -->")[0]
        assert table.count("\n|") > 3, f"python tests/benchmarks/run.py --page {name}"
