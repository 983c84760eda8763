"""The Python blocks of the README and of the documentation run, in the order of their page."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FRAGMENTS = ("reproducing-the-paper.md", "settings.md", "first-walk.md", "fleets.md")
"""Pages whose blocks need files, clusters or variables of the reader, or train the paper's algorithm for minutes."""
LONG = ("README.md", "cookbook.md")
"""Pages that search for structures, half a minute each: `make docs` runs them, with FARRIER_DOCS=all."""


def pages() -> list[Path]:
    left_out = FRAGMENTS + (() if os.environ.get("FARRIER_DOCS") == "all" else LONG)
    return [page for page in PAGES if page.name not in left_out and BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {}
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        exec(compile(block, page.name, "exec"), scope)


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert {page.name for page in PAGES[1:]} == set(re.findall(r": ([\w-]+\.md)$", nav, re.MULTILINE))
