"""The code of the README and of the documentation runs: Python blocks, and lines of the command line.

Each page runs in a process of its own, in the order of its blocks. `make test` runs the short pages, `make docs` all
(FARRIER_DOCS=all). Blocks that need a cluster are the recipes that `make clusters` tests.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from farrier.datasets.limits import CELL_BYTES, MOST_BYTES, MOST_CELLS, TEXT_GROWS
from farrier.estimators.regressor import Regressor
from farrier.model.rows import SEARCH_ROWS
from farrier.model.series import ROBUST_ROWS
from farrier.model.tiers import EXACT_ROWS, EXACT_TABLE_ROWS
from farrier.search.evidence import VERY_STRONG
from farrier.search.table_moves import TABLE_ROWS
from farrier.series.calendar import MOST_STEPS

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LONG = ("README.md", "cookbook.md", "huge-tables.md", "reproducing-the-paper.md")
"""Pages that search for several structures, or train the paper's algorithm: half a minute each, and more."""
CLUSTERS = ("dask.", "ray.", "shops.groupBy", "shops.repartition")
"""What a block has that runs on a cluster; tests/clusters runs such recipes."""
BEFORE = {
    "fleets.md": """
import farrier, numpy as np, pandas as pd
months = pd.date_range("2020-01-01", periods=36, freq="MS")
sales = {"month": months, "sales": 9.0 + np.arange(36) % 12}
frame = pd.concat([pd.DataFrame({"shop": name} | sales) for name in ("north", "south")])
partition = frame
""",
    "huge-tables.md": """
import numpy as np
from farrier import Regressor
X = np.random.default_rng(0).normal(size=(200_000, 2))
X.tofile("inputs.f64")
(np.sin(X[:, 0]) + X[:, 1]).tofile("target.f64")
""",
    "reproducing-the-paper.md": """
import numpy as np
X = np.linspace(-1.7, 1.7, 40)[:, None]
y = np.sin(4.0 * X[:, 0])
""",
}
"""What the reader has before the first block of a page."""
EVERYTHING = os.environ.get("FARRIER_DOCS") == "all"


def pages() -> list[Path]:
    left_out = () if EVERYTHING else LONG
    return [page for page in PAGES if page.name not in left_out and BLOCK.search(page.read_text(encoding="utf-8"))]


def blocks(page: Path) -> list[str]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [block for block in found if not any(word in block for word in CLUSTERS)]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, tmp_path):
    code = "\n".join([BEFORE.get(page.name, ""), *blocks(page)])
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def commands() -> list[str]:
    """The lines of all pages that call farrier, without comments, each once."""
    texts = [block for page in PAGES for block in COMMANDS.findall(page.read_text(encoding="utf-8"))]
    lines = [line for text in texts for line in text.splitlines()]
    found = [line.split("  #")[0].strip() for line in lines if line.startswith("farrier ")]
    return list(dict.fromkeys(found))


def test_there_are_commands():
    assert len(commands()) > 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the commands name, with what is needed to read them."""
    made, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    months = pd.date_range("2019-01-01", periods=48, freq="MS")
    units = 100.0 + np.arange(48) + 20.0 * np.sin(np.arange(48) * np.pi / 6.0) + rng.normal(size=48)
    pd.DataFrame({"month": months, "units": units.round(1)}).to_csv(made / "sales.csv", index=False)
    shops = [pd.DataFrame({"shop": name, "month": months, "sales": units.round(1)}) for name in "ab"]
    pd.concat(shops).to_csv(made / "shops.csv", index=False)
    polars = pytest.importorskip("polars")
    polars.from_dicts(pd.concat(shops).to_dict("records")).write_parquet(made / "shops.parquet")
    area = rng.uniform(20, 120, 60).round(1)
    people = pd.DataFrame({"age": rng.uniform(18, 80, 60).round(), "area": area})
    people.assign(price=(3.0 * area + rng.normal(size=60)).round(1)).to_csv(made / "housing.csv", index=False)
    people.assign(claims=rng.poisson(area / 20.0)).to_csv(made / "claims.csv", index=False)
    people.assign(churned=np.where(area > 70, "yes", "no")).to_csv(made / "churn.csv", index=False)
    return made


@pytest.mark.skipif(not EVERYTHING, reason="`make docs` runs the commands of the pages: they take minutes")
@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_pages_runs(line, folder):
    words = [sys.executable, "-m", "farrier.cli.app", *shlex.split(line)[1:]]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def numbers_of_pages() -> list[tuple[str, str]]:
    """What the pages say of settings, with the numbers of the code."""
    limits = [
        f"(by {VERY_STRONG:g} nats; of more than {EXACT_ROWS:,} rows the left-out log score)",
        f"not for a series of more than {ROBUST_ROWS:,} rows",
        f"at most {EXACT_ROWS:,} rows of one input, {EXACT_TABLE_ROWS:,} of several",
        f"fitted to its last {SEARCH_ROWS} rows",
        f"Above {SEARCH_ROWS} rows ({TABLE_ROWS} of a table)",
        f"at most {MOST_STEPS:,} steps",
        f"{MOST_BYTES // 2**30} GiB of text, unpacked, or {MOST_CELLS // 10**6} million cells",
        f"about {TEXT_GROWS} bytes for each byte of CSV and {CELL_BYTES} for each cell",
    ]
    return [("limits.md", one) for one in limits]


@pytest.mark.parametrize(("page", "said"), numbers_of_pages())
def test_the_numbers_of_a_page_are_those_of_the_code(page, said):
    assert said in " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(("settings", "prior"), [({}, "PointHorseshoe"), ({"kernels": ["SE"]}, "Horseshoe")])
def test_the_horseshoe_is_where_the_pages_say(settings, prior):
    X = np.random.default_rng(0).normal(size=(30, 1))
    model = Regressor(**settings).fit(X, X[:, 0] + 0.1 * np.cos(9.0 * X[:, 0]))
    assert type(model.result_.fitted.prior).__name__ == prior


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert {page.name for page in PAGES[1:]} == set(re.findall(r": ([\w-]+\.md)$", nav, re.MULTILINE))
