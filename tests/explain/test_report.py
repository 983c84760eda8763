"""The report is whole and safe as text; test_report_in_browser.py looks at it."""

import copy
import html as html_text
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farrier.explain import report
from tests.explain import stories
from tests.explain.troubled_stories import HOSTILE, STORIES, bare, broken, hostile


def embedded(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="farrier-story">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found.group(1))


@pytest.mark.parametrize("kind", STORIES)
def test_every_number_of_the_story_is_inside_as_json(kind):
    story = STORIES[kind]()
    finite = json.loads(json.dumps(story), parse_constant=lambda name: None)
    assert embedded(report.html(story)) == finite


def test_numpy_numbers_are_numbers():
    story = {"series": {"y": np.array([1.0, np.nan]), "x": (np.int64(1), np.float32(0.5))}}
    assert embedded(report.html(story)) == {"series": {"y": [1.0, None], "x": [1, 0.5]}}


def test_what_cannot_be_written_is_named():
    with pytest.raises(TypeError, match=r"story\['series'\]\['x'\]\[1\]: a object has no place"):
        report.html({"series": {"x": [1.0, object()]}})


def test_hostile_words_stay_words():
    page = report.html(hostile())
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert "<!--" not in page
    assert html_text.escape(HOSTILE) in outside
    assert not re.search(r"<[^>]*\sonerror\s*=", re.sub(r'"[^"]*"', '""', outside))


def test_nothing_is_loaded():
    page = report.html(stories.series())
    assert "://" not in page
    assert not re.search(r"\b(?:src|srcset)\s*=|@import|url\(\s*[^#\s]", re.sub(r"url\(#\$\{id\}\)", "", page))
    links = {link.partition(";")[0] for link in re.findall(r'href="([^"#]*)', page)}
    assert links <= {"", "data:,", "data:text/csv"}
    assert "default-src 'none'" in page


def test_the_file_is_light():
    assert len(report.html(stories.series()).encode()) < 300_000


def test_sections_come_in_order():
    page = report.html(stories.series())
    names = re.findall(r'<section[^>]* id="(\w+)"', page)
    assert names == ["summary", "numbers", "components", "past", "ahead", "checks", "weights", "record", "repeat"]
    first = ('class="expect"', 'data-chart="fit"', 'class="steps"', 'class="summary"', 'class="contents"')
    assert sorted(first, key=page.index) == list(first)
    assert re.findall(r'href="#([\w-]+)"', page)
    assert all(f'id="{name}"' in page for name in re.findall(r'href="#([\w-]+)"', page))


def test_row_zero_is_the_mean_alone():
    rows = re.findall(r'<tr><th scope="row">(.*?)</tr>', report.html(stories.series()).split('id="numbers"')[1])
    assert rows[0].startswith("0. The mean alone")
    assert '<td data-label="Error after">119' in rows[0]
    assert len(rows) == 5


def test_every_figure_says_what_it_shows():
    for kind in ("series", "table", "classes"):
        page = report.html(STORIES[kind]())
        figures = re.findall(r"<figure role[^>]*>", page)
        assert figures
        assert all(re.match(r'<figure role="img" aria-label="(Chart|Map) of [^"]{20,}"', figure) for figure in figures)
        assert page.count("<noscript>") == len(figures)


def test_parts_that_are_missing_are_left_out():
    page = report.html(bare())
    names = re.findall(r'<section[^>]* id="(\w+)"', page)
    assert names == ["summary", "numbers", "components", "checks"]
    assert "No checks were made" in page
    assert "None" not in re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    assert "No component was found" in report.html({})


def test_numbers_that_are_missing_are_dashes():
    page = report.html(broken())
    words = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"\b(nan|inf|None|null)\b", words)


def test_the_report_says_errors_and_sizes_as_sentences_do():
    story = stories.series()
    story["target"]["scale"] = "multiplicative"
    story["components"][0] |= {"error_before": 0.6, "error_after": 0.155, "swing": 1.1}
    page = report.html(story)
    assert "<dd>a factor of 1.6 → 16\N{NO-BREAK SPACE}%</dd>" in page
    assert "<dd>a factor of 2.1</dd>" in page


def test_a_multiplicative_scale_is_said_in_factors():
    story = stories.series()
    story["target"]["scale"] = "multiplicative"
    assert 'data-y="adds, log scale" data-component="0" data-base="0"' in report.html(story)
    running = np.array(story["series"]["y"]) * 0 + 280.0
    for part in story["components"]:
        mean = np.exp(np.array(part["mean"]) / 300.0)
        running = running * mean[: len(running)]
        part |= {"mean": mean.tolist(), "running": running.tolist()}
        part |= {"residual": (np.array(story["series"]["y"]) / running).tolist()}
    page = report.html(story)
    assert 'data-y="multiplies by" data-component="0" data-base="1"' in page
    assert 'data-y="observed over running" data-component="0" data-base="1"' in page


def test_a_file_is_replaced_in_one_step(tmp_path: Path):
    path = tmp_path / "report.html"
    path.write_text("before")
    assert report.write(stories.table(), path) == path
    assert path.read_text(encoding="utf-8") == report.html(stories.table())
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o400


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(TypeError):
        report.write({"series": {"x": object()}}, path)

    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no room"):
        report.write(stories.table(), path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        report.write(stories.table(), tmp_path / "missing" / "report.html")


def test_the_story_is_not_changed():
    story = stories.series()
    before = copy.deepcopy(story)
    report.html(story)
    assert story == before
