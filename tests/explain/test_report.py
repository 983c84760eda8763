"""The report is whole, safe and legible: as text, and as headless Chromium shows it."""

import copy
import html as html_text
import json
import math
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farrier.explain import report
from tests.explain import stories

HOSTILE = "</script><img src=x onerror=\"document.title='hacked'\"> & 'quoted' \"twice\" <!-- ${title} $title"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECONDS = 18


def embedded(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="farrier-story">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found.group(1))


def hostile() -> dict[str, Any]:
    """A story whose every word, and every key of the settings, is hostile."""

    def spoil(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: spoil(v, k) for k, v in value.items()} | ({HOSTILE: HOSTILE} if key == "settings" else {})
        if isinstance(value, list):
            return [spoil(v, key) for v in value]
        return HOSTILE if isinstance(value, str) and key not in ("kind", "scale", "verdict") else value

    return spoil(stories.series())


def bare() -> dict[str, Any]:
    """A story without anything that may be missing."""
    story = stories.series()
    for part in story["components"]:
        part |= {"evidence": None, "error_before": None, "error_after": None, "weight": None, "period": None}
        part |= {"low": [], "high": [], "running": [], "residual": [], "future_sentence": "", "label": []}
    story["series"] |= {"label": [], "low": [], "high": [], "future": {"x": [], "label": [], "mean": []}}
    return story | {
        "subtitle": "",
        "summary": [],
        "expect": [],
        "shared": [],
        "structures": [],
        "rounds": [],
        "notes": [],
        "backtest": None,
        "checks": [],
        "weights": [],
        "record": [],
        "repeat": {},
    }


def broken() -> dict[str, Any]:
    """Numbers that are not numbers, in all the places a fit may put them."""
    story = stories.series()
    for values in (story["series"]["y"], story["series"]["low"], story["components"][0]["mean"]):
        values[5:8] = [math.nan, math.inf, None]
    story["components"][1] |= {
        "share": math.nan,
        "evidence": math.inf,
        "weight": dict.fromkeys(("value", "low", "high")),
    }
    story["components"][1]["period"] = {"value": 1.0, "low": 0.9, "high": math.inf}
    story["checks"][0] |= {"p": math.nan, "plot": None}
    story["weights"][0] |= {"high": math.inf, "before": math.nan}
    return story


def flat() -> dict[str, Any]:
    """The same number everywhere, one component, at a thousand times that are plain numbers."""
    story, same = stories.series(), [3.0] * 1000
    x = list(map(float, range(1000)))
    part = story["components"][0] | {
        "x": x,
        "label": [],
        "mean": [0.0] * 1000,
        "low": [0.0] * 1000,
        "high": [0.0] * 1000,
    }
    part |= {"running": same, "residual": [0.0] * 1000}
    axis = {"name": "depth", "kind": "number", "unit": "m", "low": 0.0, "high": 999.0, "spacing": 1.0}
    series = {"x": x, "label": [], "y": same, "mean": same, "low": same, "high": same, "future": {}}
    return story | {"axes": [axis], "series": series, "components": [part]}


STORIES = {
    "series": stories.series,
    "table": stories.table,
    "classes": stories.classes,
    "hostile": hostile,
    "bare": bare,
    "broken": broken,
    "flat": flat,
    "empty": dict,
}


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


def repeated(**search: Any) -> str:
    """How to repeat the series, with other settings of the search."""
    story = stories.series()
    story["repeat"]["search"] |= search
    return report.html(story).split('id="repeat"')[1].split("<footer>")[0]


def test_every_setting_of_the_search_is_a_row_of_a_closed_table():
    table = repeated().split('<details class="search"><summary>All 2 settings of the search</summary>')[1]
    rows = re.findall(r"<tr><td.*?</tr>", table)
    cells = ["|".join(re.findall(r">([^<]+)<", row.replace("<wbr>", ""))) for row in rows]
    assert cells == [
        "growing.rounds|1|rounds|Most rounds in which a component is added.|by judgement",
        "candidates.shapes|1.0, 0.5|radians|Lengthscales of periodic kernels.|by judgement",
    ]


def test_changed_settings_are_said_with_their_defaults():
    one = repeated()
    assert "One setting of the search differs from the default:" in one
    assert '<dt>growing.rounds</dt><dd>1 <span class="quiet">(default 9)</span></dd>' in one
    two = [{"name": name, "value": 2.0, "default": [0.5, 1.0]} for name in ("a", "b")]
    assert "2 settings of the search differ from the default:" in repeated(changed=two)
    assert "(default 0.5, 1.0)" in repeated(changed=two)
    assert "All settings of the search have their default values." in repeated(changed=[])
    assert "settings of the search" not in repeated(all=[])


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


# In a browser: all stories side by side, each in a frame of its own, looked at by one script.

LOOK = """
const facts = {};
const ticks = (doc) => [...doc.querySelectorAll('[data-chart=fit] svg text')].map((text) => text.textContent).join(' ');
for (const frame of document.querySelectorAll('iframe')) {
  const doc = frame.contentDocument, root = doc.documentElement, view = frame.contentWindow;
  const fact = facts[frame.id] = {
    title: doc.title, failures: root.dataset.failures, wide: root.scrollWidth, room: root.clientWidth,
    figures: doc.querySelectorAll('figure').length, drawn: doc.querySelectorAll('.plot svg').length,
    paths: doc.querySelectorAll('svg path').length, circles: doc.querySelectorAll('svg circle').length,
    images: doc.querySelectorAll('img').length,
    shapes: [...doc.querySelectorAll('svg path')].map((path) => path.getAttribute('d')).join(),
    outside: [...doc.querySelectorAll('main *')].filter((node) => !node.closest('.scroll, pre, svg') &&
      node.getBoundingClientRect().right > root.clientWidth + 1).map((node) => node.outerHTML.slice(0, 80)),
  };
  const figure = doc.querySelector('[data-chart=fit]');
  if (!figure || !figure.querySelector('svg')) continue;
  view.HTMLElement.prototype.setPointerCapture = () => {}; // no real pointer is there to be held
  const plot = figure.querySelector('.plot'), box = plot.getBoundingClientRect(), tip = figure.querySelector('.tip');
  const pointer = {clientY: box.top + 60, bubbles: true, cancelable: true, pointerId: 1, pointerType: 'mouse'};
  const at = (part) => ({...pointer, clientX: box.left + part * box.width});
  const point = (name, part) => plot.dispatchEvent(new view.PointerEvent(name, at(part)));
  const wheel = (ctrlKey) => plot.dispatchEvent(new view.WheelEvent('wheel', {...at(0.5), deltaY: -300, ctrlKey}));
  const key = (name) => figure.dispatchEvent(new view.KeyboardEvent('keydown', {key: name, bubbles: true}));
  fact.all = ticks(doc);
  key('ArrowRight'); fact.first = tip.textContent; fact.spoken = doc.getElementById('spoken').textContent;
  key('End'); fact.last = tip.textContent;
  key('+'); key('+'); fact.plus = ticks(doc); fact.button = figure.querySelector('.reset').hidden;
  key('0'); fact.zero = ticks(doc);
  point('pointermove', 0.5); fact.pointed = tip.textContent;
  point('pointerdown', 0.4); point('pointermove', 0.5); point('pointerup', 0.5);
  fact.dragged = ticks(doc);
  plot.dispatchEvent(new view.MouseEvent('dblclick', at(0.5))); fact.back = ticks(doc);
  wheel(false); fact.scrolled = ticks(doc);
  wheel(true); fact.wheeled = ticks(doc);
  for (const name of ['beforeprint', 'afterprint']) view.dispatchEvent(new view.Event(name));
  const alone = doc.querySelector('[data-chart=alone]');
  alone.dispatchEvent(new view.KeyboardEvent('keydown', {key: '+', bubbles: true}));
  fact.together = [...doc.querySelectorAll('#component-1 .reset')].map((button) => button.hidden);
}
document.getElementById('facts').textContent = JSON.stringify(facts);
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    if CHROMIUM is None:
        pytest.skip("no chromium, chromium-browser or google-chrome on PATH to show the report with")
    folder = tmp_path_factory.mktemp("chromium")
    pages = {kind: (390, story) for kind, story in STORIES.items()} | {"wide": (1240, stories.series)}
    frames = "".join(
        f'<iframe id="{kind}" width="{width}" height="800" srcdoc="{html_text.escape(report.html(story()))}"></iframe>'
        for kind, (width, story) in pages.items()
    )
    wrapper = (
        f'<!doctype html><meta charset="utf-8">{frames}<pre id="facts"></pre><script>onload = () => {{{LOOK}}}</script>'
    )
    (folder / "wrapper.html").write_text(wrapper, encoding="utf-8")
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --disable-dev-shm-usage --enable-logging=stderr --v=0 "
        "--window-size=1400,900 --dump-dom"
    )
    command = [CHROMIUM, *flags.split(), f"--user-data-dir={folder / 'profile'}", (folder / "wrapper.html").as_uri()]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
    )
    try:
        page, log = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the browser that was started here, with its own children
        process.communicate()
        pytest.fail(f"chromium did not show the report within {SECONDS} seconds")
    facts = re.search(r'<pre id="facts">(.+?)</pre>', page, re.DOTALL)
    assert facts, log
    return json.loads(html_text.unescape(facts.group(1))) | {
        "console": {"lines": [line for line in log.splitlines() if "CONSOLE" in line]}
    }


def test_pages_open_without_complaint(seen):
    assert seen["console"]["lines"] == []
    assert {kind: seen[kind]["failures"] for kind in STORIES} == dict.fromkeys(STORIES, "0")


def test_all_charts_are_drawn(seen):
    for kind in STORIES:
        assert seen[kind]["drawn"] == seen[kind]["figures"], kind
        assert "NaN" not in seen[kind]["shapes"], kind
        assert "Infinity" not in seen[kind]["shapes"], kind
    assert seen["series"]["figures"] == 1 + 3 * 4 + 2 + 4 + 1
    assert seen["series"]["paths"] > 100
    assert seen["series"]["circles"] >= 2 * 13


def test_nothing_is_wider_than_a_phone(seen):
    for kind in STORIES:
        assert seen[kind]["wide"] <= seen[kind]["room"] <= 390, kind
        assert seen[kind]["outside"] == [], kind
    assert seen["wide"]["wide"] <= seen["wide"]["room"]


def test_hostile_words_do_nothing(seen):
    assert seen["hostile"]["images"] == 0
    assert seen["hostile"]["title"].startswith("</script><img")


def test_charts_answer(seen):
    for kind in ("series", "wide"):
        fact = seen[kind]
        assert fact["first"].startswith("1949-01")
        assert "112" in fact["first"]
        assert "observed 112" in fact["spoken"]
        assert fact["last"].startswith("1962-12")
        assert "forecast" in fact["last"]
        assert fact["plus"] != fact["all"]
        assert fact["button"] is False
        assert fact["zero"] == fact["back"] == fact["all"]
        assert re.match(r"195\d-\d\dobserved", fact["pointed"])
        assert fact["dragged"] not in (fact["all"], fact["plus"])
        assert fact["scrolled"] == fact["all"]  # a plain wheel scrolls the page
        assert fact["wheeled"] != fact["all"]
        assert fact["together"] == [False, False, False]


def test_months_are_named_from_near(seen):
    assert re.search(r"\b(Jan|Apr|Jul|Oct)\b", seen["wide"]["dragged"])
    assert not re.search(r"\b(Jan|Apr|Jul|Oct)\b", seen["wide"]["all"])


def test_the_story_is_not_changed():
    story = stories.series()
    before = copy.deepcopy(story)
    report.html(story)
    assert story == before
