"""`farrier forecast` of many series: worker processes, and a folder that a later run continues.

Without a folder, the forecasts are collected and written as one CSV file, in the order of the data. Exit codes are
those of the command line; 1 if a series has no forecast, 143 if the run is ended by TERM and 129 by HUP. What is
finished by then is in the folder.
"""

import hashlib
import json
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import typer
from joblib import effective_n_jobs

from farrier.cli.screen import Live, live, note
from farrier.cli.source import Reading
from farrier.data.quoting import quoted
from farrier.fleet.csv_text import as_csv
from farrier.fleet.digest import Digest
from farrier.fleet.memory import check_workers
from farrier.fleet.one_series import Job, Outcome, Plan
from farrier.fleet.parts import ERRORS, Folder, Record, columns_of
from farrier.fleet.pool import Pool
from farrier.series.columns import Table, list_names, name_columns
from farrier.series.stamps import is_plain_date

TOLD = 30.0
"""Seconds between lines about the progress where there is no terminal; by judgement."""
SIGNALS = ("SIGTERM", "SIGHUP")
"""Signals that end a run after what is finished has been written."""


@dataclass(frozen=True, eq=False)
class Fleet:
    """The series of a table, and what to do with them."""

    table: Table
    id: str
    plan: Plan
    places: Mapping[Any, np.ndarray]
    """The rows of each series, by its id."""

    @classmethod
    def of(
        cls, table: Table, id: str, reading: Reading, settings: Mapping[str, Any], ahead: tuple[int, Any]
    ) -> "Fleet":
        """The series that the column `id` identifies; ValueError if a column or a setting is wrong."""
        if id not in table:
            raise ValueError(f"--id: there is no column {quoted(id)}: choose one of {list_names(table)}")
        if reading.regressors:
            raise ValueError("--regressors: they are for one series: leave out --id")
        others = replace(table, columns={name: values for name, values in table.columns.items() if name != id})
        time, target = name_columns(others, reading.time, reading.target)
        if time is None:
            raise ValueError(
                f"time: no column of {table.name!r} looks like times: name one with --time; it has {list_names(table)}"
            )
        for name in (time, target):
            others[name]  # raises if it can be read in two ways
        plan = Plan.of(time=time, target=target, horizon=ahead[0], levels=ahead[1], settings=settings)
        places: dict[Any, list[int]] = {}
        for i, name in enumerate(_plain(table[id])):
            places.setdefault(None if name is None or name != name else name, []).append(i)
        if not places:
            raise ValueError(f"{table.name!r} has no rows: give times with values")
        return cls(table, id, plan, {name: np.array(rows) for name, rows in places.items()})

    def jobs(self, done: Mapping[str, Any]) -> Iterator[Job]:
        """The series that are not done, one at a time."""
        stamps, values = self.table[self.plan.time], self.table[self.plan.target]
        lines = self.table.lines
        for name, rows in self.places.items():
            if str(name) not in done:
                called = [f"row {i}" if lines is None else f"line {lines[i]}" for i in rows.tolist()]
                yield Job(name, _take(stamps, rows), _take(values, rows), called)

    def identity(self) -> dict[str, Any]:
        """What a run that continues another must have in common with it."""
        plan = self.plan.to_dict()
        settings = json.dumps(plan.pop("settings"), sort_keys=True, default=str)
        digest = hashlib.sha256()
        for name in (self.id, self.plan.time, self.plan.target):
            digest.update(_content(self.table.columns[name]))
        return {
            "farrier": version("farrier"),
            "id": self.id,
            **{name: list(value) if isinstance(value, tuple) else value for name, value in plan.items()},
            "settings": settings,
            "fingerprint": digest.hexdigest(),
        }

    def lengths(self, done: Mapping[str, Any]) -> list[int]:
        """The number of rows of each series that is not done."""
        return [len(rows) for name, rows in self.places.items() if str(name) not in done]

    @property
    def dated(self) -> bool:
        """Whether the times are text that Parquet can hold as timestamps."""
        times = self.table[self.plan.time]
        return isinstance(times, list) and all(isinstance(cell, str) and is_plain_date(cell) for cell in times)


def forecast_to_folder(fleet: Fleet, path: Path, jobs: int, *, escape: bool, quiet: bool) -> None:
    """Write the forecasts into a folder while series finish, or finish what an earlier run began."""
    errors: dict[Any, str] = {}
    count = len(fleet.places)
    with Folder(path, fleet.identity(), dated=fleet.dated, escape=escape) as folder:
        if folder.records and not quiet:
            note(f"{len(folder.records):,} of {count:,} series are in {path} already")
        workers = _workers(fleet, folder.records, jobs, quiet=quiet)
        try:
            with _ended_by_signals(), live(quiet=quiet) as screen, Pool(fleet.plan, workers) as pool:
                pace = Pace(screen, len(folder.records), count)
                for outcome in pool.run(fleet.jobs(folder.records)):
                    _sort(outcome, folder.add, errors)
                    pace.one_more()
        except (KeyboardInterrupt, SystemExit):
            folder.flush()
            note(f"{len(folder.records):,} of {count:,} series are in {path}: the same command computes the others")
            raise
        folder.flush()
        digest = Digest.of(list(folder.records.values()), errors)
        folder.finish(errors, digest.to_dict())
    if not quiet:
        note(f"the forecasts are in {path}")
    _tell(digest, errors, f"see {path / ERRORS}", quiet=quiet)


def forecast_to_text(fleet: Fleet, jobs: int, *, escape: bool, quiet: bool) -> tuple[str, Digest, dict[Any, str]]:
    """The forecasts of all series as comma separated text, the digest, and the errors."""
    workers = _workers(fleet, {}, jobs, quiet=quiet)
    errors: dict[Any, str] = {}
    found: dict[Any, Outcome] = {}
    with _ended_by_signals(), live(quiet=quiet) as screen, Pool(fleet.plan, workers) as pool:
        pace = Pace(screen, 0, len(fleet.places))
        for outcome in pool.run(fleet.jobs({})):
            _sort(outcome, lambda one: found.__setitem__(one.name, one), errors)
            pace.one_more()
    if not found:
        name, error = next(iter(errors.items()))
        raise ValueError(f"none of the {len(errors)} series could be forecast; {quoted(name)}: {error}")
    ordered = [found[name] for name in fleet.places if name in found]
    records = [Record(one.name, one.structure, one.rows, one.seconds) for one in ordered]
    text = as_csv(columns_of(ordered, fleet.id, fleet.plan.time), escape=escape)
    return text, Digest.of(records, errors), errors


class Pace:
    """Shows how many series are finished, how many a second, and how long the others will take."""

    def __init__(self, screen: Live, done: int, count: int) -> None:
        self._screen, self._done, self._count = screen, done, count
        self._new, self._begin, self._told = 0, 0.0, monotonic()
        screen.doing("starting", f"{done:,} of {count:,} series")

    def one_more(self) -> None:
        """Count a finished series."""
        now = monotonic()
        self._done += 1
        self._new += 1
        if self._new == 1:  # the start of the processes is no measure of the pace
            self._begin = now
        said = f"{self._done:,} of {self._count:,} series"
        if self._new > 1 and now > self._begin:
            rate = (self._new - 1) / (now - self._begin)
            said += f", {rate:.3g} a second, {spoken((self._count - self._done) / rate)} left"
        self._screen.doing("forecasting", said, done=self._done / self._count)
        if now - self._told >= TOLD and not self._screen.updates:
            self._told = now
            self._screen.done(said)


def spoken(seconds: float) -> str:
    """A time to wait in words: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def tell(digest: Digest, errors: Mapping[Any, str], *, quiet: bool) -> None:
    """Print the digest; if a series has no forecast, say so and end with code 1."""
    _tell(digest, errors, "correct their rows, or leave them out", quiet=quiet)


def _tell(digest: Digest, errors: Mapping[Any, str], where: str, *, quiet: bool) -> None:
    for line in (*(() if quiet else digest.lines()), *digest.error_lines()):
        note(line)
    if errors:
        note(f"{len(errors):,} of {digest.series:,} series {'is' if len(errors) == 1 else 'are'} missing: {where}")
        raise typer.Exit(1)


def _sort(outcome: Outcome, keep: Any, errors: dict[Any, str]) -> None:
    if outcome.error is None:
        keep(outcome)
    else:
        errors[outcome.name] = outcome.error


def _workers(fleet: Fleet, done: Mapping[str, Any], jobs: int, *, quiet: bool) -> int:
    """The number of processes for what is not done; fewer than there are processors if memory is short."""
    lengths = fleet.lengths(done)
    if not lengths:
        return 0
    wanted = min(effective_n_jobs(jobs), len(lengths))
    most = check_workers(max(lengths), wanted if jobs > 0 else 1, fleet.plan.settings)
    if most < wanted and not quiet:
        note(f"memory is enough for {most} of {wanted} processes")
    return min(wanted, most)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Turn signals that end the process into an exception, so that what is finished can be written."""

    def end(number: int, frame: object) -> None:
        sys.exit(128 + number)

    known = [signal.Signals[name] for name in SIGNALS if name in signal.Signals.__members__]
    before = {each: signal.signal(each, end) for each in known}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _plain(values: Any) -> list[Any]:
    """Ids of one type: whole numbers as integers, numbers and text as text."""
    if isinstance(values, np.ndarray):
        cells = values.tolist()
        if values.dtype.kind != "f" or not np.array_equal(values, np.trunc(values), equal_nan=True):
            return cells
        return [int(cell) if np.isfinite(cell) else None for cell in cells]
    if len({type(value) for value in values if value is not None}) > 1:
        return [None if value is None else str(value) for value in values]
    return list(values)


def _take(values: Any, rows: np.ndarray) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows]


def _content(values: Any) -> bytes:
    """The bytes of a column, for a checksum."""
    return values.tobytes() if isinstance(values, np.ndarray) else "\0".join(map(repr, values)).encode()
