"""The first screen says what to expect; its table and its CSV are those of the forecast; one page is printed."""

import base64
import csv
import io
import re
import subprocess

import pytest

from farrier.explain import report
from farrier.explain.report_opening import SHOWN, as_csv, forecast
from tests.explain import stories
from tests.explain.test_report_in_browser import CHROMIUM


def downloaded(page: str) -> list[list[str]]:
    found = re.search(r'href="data:text/csv;charset=utf-8;base64,([^"]+)"', page)
    assert found
    return list(csv.reader(io.StringIO(base64.b64decode(found[1]).decode())))


def test_the_csv_in_the_page_is_the_whole_forecast():
    story = stories.series()
    future = story["series"]["future"]
    head, *rows = downloaded(report.html(story))
    assert head == ["month", "mean", "median", "low_80", "high_80", "low_95", "high_95"]
    assert [row[0] for row in rows] == future["label"]
    for column, name in ((2, "median"), (3, "low80"), (6, "high95")):
        assert [float(row[column]) for row in rows] == future[name]


def test_the_table_shows_the_first_and_the_last_step_and_a_few_between():
    story = stories.series()
    labels = story["series"]["future"]["label"]
    shown = re.findall(r'<th scope="row">([^<]*)</th>', forecast(story))
    assert (shown[0], shown[-1], len(shown)) == (labels[0], labels[-1], SHOWN)


def test_without_a_forecast_there_is_no_table():
    assert forecast({"series": {"future": {"x": []}}}) == forecast({}) == ""


def test_names_in_the_csv_are_quoted():
    future = {name: [1.0] for name in ("median", "low80", "high80", "low95", "high95")}
    assert as_csv('a,"b', ["x"], future).startswith('"a,""b",mean')


def test_a_table_opens_with_its_effects():
    page = report.html(stories.table() | {"expect": ["For a new row, expect an error of 5."]})
    assert page.index('class="expect"') < page.index('data-chart="effect"') < page.index('class="summary"')
    assert page.index('data-chart="scatter"') > page.index('id="numbers"')


def test_several_structures_are_listed_with_their_shares():
    page = report.html(stories.series())
    assert "The 2 structures that share the forecast" in page
    assert "<code>Lin + Per</code> (explained here)" in page


def test_the_command_that_was_given_is_repeated():
    assert "<code>farrier explain airline --horizon 24 --out report.html</code>" in report.html(stories.series())


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_one_page_is_printed(tmp_path):
    page, paper = tmp_path / "report.html", tmp_path / "report.pdf"
    report.write(stories.series(), page)
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={tmp_path}"]
    subprocess.run(
        [str(CHROMIUM), *options, f"--print-to-pdf={paper}", page.as_uri()], check=True, capture_output=True, timeout=60
    )
    assert len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())) == 1
