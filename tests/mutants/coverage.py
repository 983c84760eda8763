"""Which tests run which lines: a plugin of pytest that traces the files of one folder.

Lines that run in a fixture count for every test that asks for it, lines that run while a test file is read for every
test of that file. Lines that run on import count for all tests that reach the file at all (`Covered.tests`).
"""

import hashlib
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

Lines = set[tuple[str, int]]
"""Names of files and their lines."""


class Tracer:
    """The plugin. `found` has, for each test, its seconds and the lines that it runs."""

    def __init__(self, folder: Path) -> None:
        self.prefix = f"{folder}/"
        self.now: Lines = set()
        self.kept: dict[str, Lines] = {}
        self.found: dict[str, tuple[float, Lines]] = {}

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Python's trace function for calls; only files of the folder are traced line by line."""
        path = frame.f_code.co_filename
        if not path.startswith(self.prefix):
            return None
        name, now = path[len(self.prefix) :], self.now
        if frame.f_code.co_name != "<module>":
            now.add((name, frame.f_lineno))

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            now.add((name, frame.f_lineno))
            return line

        return line

    @contextmanager
    def traced(self) -> Iterator[Lines]:
        """Collect the lines that run inside."""
        before, self.now = (self.now, sys.gettrace()), set()
        sys.settrace(self.trace)
        try:
            yield self.now
        finally:
            sys.settrace(before[1])
            self.now = before[0]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Any:
        with self.traced() as lines:
            report = yield
            self.kept[collector.nodeid] = set(lines)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Any:
        with self.traced() as lines:
            value = yield
            self.kept[f"{request.node.nodeid.split('::')[0]} {fixturedef.argname}"] = set(lines)
        return value

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        begin = time.process_time()
        result = yield
        _, lines = self.found.get(item.nodeid, (0.0, set()))
        path = item.nodeid.split("::")[0]
        for name in [path, *(f"{path} {fixture}" for fixture in item.fixturenames)]:
            lines = lines | self.kept.get(name, set())
        self.found[item.nodeid] = time.process_time() - begin, lines
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        with self.traced() as lines:
            result = yield
            self.found[item.nodeid] = 0.0, set(lines)
        return result


@dataclass(frozen=True)
class Covered:
    """The tests of a folder: their seconds, and for each file and line the tests that run it."""

    seconds: dict[str, float]
    by_line: dict[tuple[str, int], set[str]]

    def tests(self, name: str, first: int, last: int, *, whole: bool) -> list[str]:
        """The tests that run a line from `first` to `last` of a file, or any (`whole`): the quick ones first."""
        found: set[str] = set()
        for (path, line), tests in self.by_line.items():
            if path == name and (whole or first <= line <= last):
                found |= tests
        return sorted(found, key=lambda test: self.seconds[test])


def covered(records: list[dict[str, Any]]) -> Covered:
    """What the records of several test files say together."""
    seconds, by_line = {}, {}
    for record in records:
        for test, (took, lines) in record.items():
            seconds[test] = took
            for name, line in lines:
                by_line.setdefault((name, line), set()).add(test)
    return Covered(seconds, by_line)


def measure(folder: Path, test_file: Path) -> dict[str, Any]:
    """Run one test file with tracing, in this process; tests that fail are left out."""
    tracer, passed = Tracer(folder), Passed()
    pytest.main([str(test_file), "-q", "-p", "no:cacheprovider", "-p", "pytest_timeout"], plugins=[tracer, passed])
    return {test: (took, sorted(lines)) for test, (took, lines) in tracer.found.items() if test in passed.tests}


class Passed:
    """A plugin that keeps the names of the tests that pass."""

    def __init__(self) -> None:
        self.tests: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.tests.add(report.nodeid)


def fingerprint(folder: Path, test_file: Path) -> str:
    """Changes if a file of the folder or the test file changes."""
    texts = [path.read_bytes() for path in [*sorted(folder.glob("*.py")), test_file]]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


def load(path: Path, mark: str) -> dict[str, Any] | None:
    """A kept record, if it is of these files."""
    found = json.loads(path.read_text()) if path.exists() else {}
    return found.get("tests") if found.get("fingerprint") == mark else None


def keep(path: Path, mark: str, record: dict[str, Any]) -> None:
    """Keep a record for the next run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"fingerprint": mark, "tests": record}))
