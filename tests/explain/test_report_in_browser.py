"""The report as headless Chromium shows it: whole, legible on a phone, and its charts answer."""

import html as html_text
import json
import os
import re
import shutil
import signal
import subprocess
from typing import Any

import pytest

from farrier.explain import report
from tests.explain import stories
from tests.explain.troubled_stories import STORIES

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECONDS = 18

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
