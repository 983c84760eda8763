"""One measurement, one JSON line: what was run, with what, on what, for how long, and the figures.

    {"suite": ..., "settings": {...}, "seed": 0, "figures": {...}, "versions": {...}, "commit": ..., "cpus": 2,
     "wall_seconds": ..., "cpu_seconds": ..., "date": ...}

A line that repeats an earlier one's suite, settings and seed replaces it when lines are read. A line of another version
of Farrier counts as not yet measured.
"""

import json
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

PACKAGES = ("farrier", "jax", "jaxlib", "numpy")
_START = time.perf_counter()


def tell(message: str) -> None:
    """A progress line, with the seconds since the start."""
    print(f"[{time.perf_counter() - _START:6.1f} s] {message}", flush=True)


class Clock:
    """Wall and CPU seconds since it was made, until it is read for a line or stopped."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        self._stopped: dict[str, float] | None = None

    def stop(self) -> "Clock":
        """Keep the figures as they are now, for a line that another process writes."""
        self._stopped = self.read()
        return self

    def read(self) -> dict[str, float]:
        """The two figures, by the names they have in a line."""
        return self._stopped or {
            "wall_seconds": round(time.perf_counter() - self._wall, 3),
            "cpu_seconds": round(time.process_time() - self._cpu, 3),
        }


Key = tuple[str, int]
"""What tells lines apart: the settings as text, and the seed."""


def key(settings: dict[str, Any], seed: int) -> Key:
    """The key of a line."""
    return json.dumps(settings, sort_keys=True), seed


class Recorder(NamedTuple):
    """Where the lines and the pictures of a suite go."""

    suite: str
    folder: Path

    def add(
        self,
        settings: dict[str, Any],
        seed: int,
        figures: dict[str, Any],
        clock: Clock,
        packages: tuple[str, ...] = (),
    ) -> None:
        """Append one line; `packages` names further packages whose versions matter."""
        line = {"suite": self.suite, "settings": settings, "seed": seed, "figures": figures}
        line |= {"versions": _versions(packages), "commit": commit(), "cpus": os.cpu_count(), **clock.read()}
        line["date"] = datetime.now(UTC).isoformat(timespec="seconds")
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{self.suite}.jsonl").open("a") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")

    def done(self, settings: dict[str, Any], seed: int) -> bool:
        """Whether this version has a line of these settings and this seed, and it is no failure."""
        return key(settings, seed) in self.all_done()

    def all_done(self) -> set[Key]:
        """The keys of all lines of this version that are no failure: for suites with many lines."""
        return {key(line["settings"], line["seed"]) for line in present(self.folder / f"{self.suite}.jsonl")}

    def picture(self, name: str) -> Path:
        """The path of a picture of this suite."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{name}.png"


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file, of equal settings and seed only the last."""
    lines = [json.loads(text) for text in path.read_text().splitlines() if text.strip()]
    return list({key(line["settings"], line["seed"]): line for line in lines}.values())


def present(path: Path) -> list[dict[str, Any]]:
    """The lines of a file that the present version of Farrier has measured, without failures; none without the file."""
    lines = read(path) if path.exists() else []
    return [line for line in lines if version_of([line]) == _version("farrier") and not line["figures"].get("failure")]


def version_of(lines: Iterable[Mapping[str, Any]]) -> str:
    """The versions of Farrier that have measured some lines, in words: "0.1.0, 0.2.0"."""
    return ", ".join(sorted({line.get("versions", {}).get("farrier", "unknown") for line in lines}))


def _versions(packages: tuple[str, ...]) -> dict[str, str]:
    return {"python": platform.python_version()} | {name: _version(name) for name in (*PACKAGES, *packages)}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


@cache
def commit() -> str | None:
    """The commit of the source when first asked, with a + where files under src or benchmarks have changed since."""
    root = Path(__file__).parent.parent

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", "src", "benchmarks/*.py")
        return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None
