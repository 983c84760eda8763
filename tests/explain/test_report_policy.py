"""The report in a browser: hostile names do nothing, and even markup that got in unescaped could not run or load.

A server on this machine counts what a page asks for. The same page without its content security policy does ask, which
shows that the attacks are real.
"""

import http.server
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from farrier import Classifier, Regressor
from farrier.kernels.registry import Category

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECONDS = 60
"""Longest time for one page."""
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --enable-logging=stderr --v=0 "
    "--virtual-time-budget=3000 --dump-dom"
)
HACKED = "document.documentElement.setAttribute('data-hacked','yes')"
NAMES = (
    f'"><script>{HACKED}</script>',
    f"'><img src=x onerror={HACKED}>",
    f"</title></script><svg onload={HACKED}>",
    "javascript:alert(1)",
    "<!--<script>",
    "${HOST} {{7*7}} </style> \u2028 \u202e",
)
"""Names of columns, titles and units that try to get out of where they stand."""
MARKUP = f"""
<script>{HACKED}</script><script src="HOST/script"></script><img src="HOST/image" onerror="{HACKED}">
<link rel="stylesheet" href="HOST/style"><iframe src="HOST/frame"></iframe><object data="HOST/object"></object>
<svg onload="{HACKED}"></svg><video src="HOST/video"></video><embed src="HOST/embed">
<style>@import url("HOST/import"); body {{background: url("HOST/background")}}</style>
"""
"""Elements that would run or load something, as if a name had not been escaped."""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on PATH")


@pytest.fixture
def host() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of a model whose every name is hostile."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.standard_normal((30, 2)), columns=list(NAMES[:2]))
    y = X.to_numpy() @ [1.0, -2.0] + 0.1 * random.standard_normal(30)
    model = Regressor(["SE", "Lin"], iterations=20).fit(X, y)
    model.describe(title=NAMES[2], target_name=NAMES[3], target_unit=NAMES[4], columns=[NAMES[5], NAMES[0]])
    return model.report(tmp_path_factory.mktemp("report") / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page_of_classes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of two classes and a category, whose every name and text is hostile."""
    random = np.random.default_rng(0)
    texts = np.array(NAMES, dtype=object)[random.integers(0, 3, 40)]
    X = pd.DataFrame({NAMES[3]: random.standard_normal(40), NAMES[5]: pd.Categorical(texts)})
    model = Classifier(["SE", "Lin", Category(dims=NAMES[5])]).fit(X, np.where(X[NAMES[3]] > 0.0, NAMES[0], NAMES[1]))
    model.describe(title=NAMES[0], target_name=NAMES[2])
    return model.report(tmp_path_factory.mktemp("report") / "report.html").read_text(encoding="utf-8")


def shown(text, folder):
    """The page as the browser has it after its scripts ran, and the lines of its console."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    command = [str(CHROMIUM), *FLAGS.split(), f"--user-data-dir={folder / 'profile'}", path.as_uri()]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
    )
    try:
        found, log = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the browser that was started here, with its own children
        process.communicate()
        pytest.fail(f"chromium did not show the page within {SECONDS} seconds")
    return found, [line for line in log.splitlines() if "CONSOLE" in line]


def is_hacked(found):
    return bool(re.search(r"<html[^>]*\sdata-hacked=", found))


def test_hostile_names_run_and_load_nothing_and_leave_the_page_whole(page, host, tmp_path):
    address, asked = host
    found, console = shown(page.replace("HOST", address), tmp_path)
    assert not is_hacked(found)
    assert asked == []
    assert console == []
    assert 'data-failures="0"' in found


def test_hostile_classes_and_categories_run_and_load_nothing(page_of_classes, host, tmp_path):
    address, asked = host
    found, console = shown(page_of_classes.replace("HOST", address), tmp_path)
    assert not is_hacked(found)
    assert asked == []
    assert console == []
    assert 'data-failures="0"' in found


def test_markup_that_got_in_can_neither_run_nor_load(page, host, tmp_path):
    address, asked = host
    spoilt = page.replace("<main>", MARKUP.replace("HOST", address) + "<main>")
    found, console = shown(spoilt, tmp_path)
    assert not is_hacked(found)
    assert asked == []
    assert any("Content Security Policy" in line for line in console)


def test_without_the_policy_the_same_markup_runs_and_loads(page, host, tmp_path):
    address, asked = host
    spoilt = page.replace("<main>", MARKUP.replace("HOST", address) + "<main>")
    bare = re.sub(r"<meta http-equiv=.Content-Security-Policy.[^>]*>", "", spoilt)
    found, _ = shown(bare, tmp_path)
    assert is_hacked(found)
    assert {"/script", "/image", "/style", "/frame"} <= set(asked)


def test_the_policy_forbids_everything_but_its_own_script(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    rules = dict(rule.strip().split(" ", 1) for rule in policy.group(1).split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", rules["script-src"])
    assert set(rules) == {"default-src", "img-src", "style-src", "script-src", "base-uri", "form-action"}
