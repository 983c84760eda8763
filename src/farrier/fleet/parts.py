"""A folder of forecasts that grows while series finish, and that a later run continues.

    part-00000.parquet     forecasts of some series: id, time, mean, median, low_80 ... (.csv without polars or pyarrow)
    _part-00000.json       which series these are, their structures and seconds
    _run.json              data and settings of the run; another run may continue it only if they are the same
    _errors.csv            the series without a forecast, and why
    _digest.json           what the run found

Names with an underscore are passed over by Spark, Dask, pandas and Arrow, which read the folder as one table. Each file
appears whole or not at all. The list of a part is written before the part, and a list without a part does not count.
So a series counts as done exactly when its forecast is in a part, and whatever ends a run, the next one computes the
others.
"""

import io
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import IO, Any, final

import numpy as np

from farrier.data.writing import write_whole
from farrier.fleet.csv_text import as_csv
from farrier.fleet.one_series import Outcome
from farrier.series.observed import append, beside

RUN, ERRORS, DIGEST, LOCK = "_run.json", "_errors.csv", "_digest.json", "_lock"
"""Files of a folder beside its parts."""
PART = re.compile(r"part-(\d{5,})\.(parquet|csv)")
"""The name of a part."""
DRAFT = re.compile(r"\.(_?part-\d{5,}\.(parquet|csv|json)|_run\.json|_errors\.csv|_digest\.json)\.[0-9a-f]{8}")
"""A file that was being written when a run was killed: `write_whole` names them so."""
SECONDS = 30.0
"""Seconds of finished work that a kill may cost, after which a part is written; by judgement."""
MOST = 10_000
"""Most series of a part; by judgement: a part of some megabytes."""
WRITERS = ("polars", "pyarrow")
"""Libraries that write Parquet, in order of preference."""


@dataclass(frozen=True)
class Record:
    """What is kept of a series that has a forecast."""

    id: Any
    structure: str
    rows: int
    seconds: float


@dataclass
class _Open:
    """The part that is being filled. One object, so that number and content change together when a signal comes."""

    number: int
    since: float
    outcomes: list[Outcome] = field(default_factory=list)


@final
class Folder:
    """The folder of one run; use it in a `with` statement, which writes what is finished at its end."""

    def __init__(self, path: Path, run: Mapping[str, Any], *, dated: bool = False, escape: bool = False) -> None:
        """Open a new or an old folder; ValueError if it holds something else, or if another run is at work in it.

        `run` is what makes a run that of this folder, with the names of the columns "id" and "time". If `dated`, times
        are ISO text, which Parquet gets as timestamps. `escape` is that of `as_csv`.
        """
        self.path, self._dated, self._escape = path, dated, escape
        self._identity = {"parts": _kind(), **run}
        # now, since a signal in the middle of an import leaves a library that cannot write what is finished
        _writing_module()
        path.mkdir(exist_ok=True)
        self._lock = _locked(path)
        try:
            self._continue()
        except BaseException:
            self._lock.close()
            raise

    def _continue(self) -> None:
        names = sorted(entry.name for entry in self.path.iterdir() if entry.name != LOCK)
        if RUN in names:
            self._check(json.loads((self.path / RUN).read_text()))
        elif names:
            raise ValueError(f"--out: {str(self.path)!r} holds other files, such as {names[0]!r}: name an empty folder")
        for name in filter(DRAFT.fullmatch, names):
            (self.path / name).unlink()
        self.records: dict[str, Record] = {}
        """The series that have a forecast, by the text of their id."""
        numbers = sorted(int(found[1]) for found in map(PART.fullmatch, names) if found)
        for number in numbers:
            self._read(number)
        self._open = _Open(numbers[-1] + 1 if numbers else 0, monotonic())
        if RUN not in names:
            write_whole(self.path / RUN, json.dumps(self._identity, indent=1, default=str) + "\n")

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.flush()
        finally:
            self._lock.close()

    def add(self, outcome: Outcome) -> None:
        """Keep a forecast; written to the disk at once or within half a minute."""
        if not self._open.outcomes:
            self._open.since = monotonic()
        self._open.outcomes.append(outcome)
        if len(self._open.outcomes) >= MOST or monotonic() - self._open.since > SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write the finished series as a part. Interrupted and called again, it writes the same part."""
        current = self._open
        if not current.outcomes:
            return
        records = [Record(each.name, each.structure, each.rows, each.seconds) for each in current.outcomes]
        stem = f"part-{current.number:05d}"
        kind = self._identity["parts"]
        listed = {"series": [asdict(record) for record in records]}
        write_whole(self.path / f"_{stem}.json", json.dumps(listed, default=str) + "\n")
        time = self._identity["time"]
        columns = columns_of(current.outcomes, self._identity["id"], time)
        if self._dated and kind == "parquet":
            columns[time] = np.array(columns[time], "M8[us]")
        write_whole(self.path / f"{stem}.{kind}", _bytes(columns, kind, escape=self._escape))
        self.records |= {str(record.id): record for record in records}
        self._open = _Open(current.number + 1, monotonic())

    def finish(self, errors: Mapping[Any, str], digest: Mapping[str, Any]) -> None:
        """Write the errors and the digest."""
        write_whole(self.path / DIGEST, json.dumps(digest, indent=1) + "\n")
        if errors:
            text = as_csv({self._identity["id"]: list(errors), "error": list(errors.values())}, escape=self._escape)
            write_whole(self.path / ERRORS, text)
        else:
            (self.path / ERRORS).unlink(missing_ok=True)

    def _check(self, before: Mapping[str, Any]) -> None:
        now = json.loads(json.dumps(self._identity, default=str))
        for name in now:
            if before.get(name) != now[name]:
                what = f"{name} {before.get(name)!r}, not {now[name]!r}" if name != "fingerprint" else "other rows"
                raise ValueError(
                    f"--out: {str(self.path)!r} holds a run with {what}: continue it with what it began with, or name "
                    "another folder"
                )

    def _read(self, number: int) -> None:
        path = self.path / f"_part-{number:05d}.json"
        try:
            listed = json.loads(path.read_text())["series"]
        except (OSError, ValueError, LookupError) as error:
            raise ValueError(
                f"--out: {str(path)!r}, the list of a part, cannot be read: delete that part too, to compute it again"
            ) from error
        self.records |= {str(one["id"]): Record(**one) for one in listed}


def columns_of(outcomes: Sequence[Outcome], id: str, time: str) -> dict[str, Any]:
    """One long table of forecasts: the ids, the times, and the columns of the forecasts."""
    ids = [outcome.name for outcome in outcomes for _ in range(len(outcome.stamps))]
    stamps = append(*(outcome.stamps for outcome in outcomes))
    names = outcomes[0].columns
    columns = {name: np.concatenate([one.columns[name] for one in outcomes]) for name in names}
    return beside({id: ids, time: stamps}, columns)


def _kind() -> str:
    return "parquet" if any(map(find_spec, WRITERS)) else "csv"


def _bytes(columns: dict[str, Any], kind: str, *, escape: bool) -> bytes:
    """The content of a part."""
    if kind == "csv":
        return as_csv(columns, escape=escape).encode()
    module = _writing_module()
    if module is None:
        raise ValueError("--out: the folder holds Parquet, and nothing here writes it: pip install polars, or pyarrow")
    written = io.BytesIO()
    if module.__name__ == "polars":
        module.DataFrame(columns).write_parquet(written)
    else:
        module.write_table(import_module("pyarrow").table(columns), written)
    return written.getvalue()


def _writing_module() -> Any:
    """The library that writes Parquet, loaded; None if there is none."""
    writer = next(filter(find_spec, WRITERS), None)
    return writer and import_module("polars" if writer == "polars" else "pyarrow.parquet")


def _locked(path: Path) -> IO[bytes]:
    """An open file that only one process can hold; the system gives it back when that process ends."""
    file = open(path / LOCK, "ab")  # noqa: SIM115 (open as long as the run)
    try:
        if sys.platform == "win32":
            locking = import_module("msvcrt")
            locking.locking(file.fileno(), locking.LK_NBLCK, 1)
        else:
            locking = import_module("fcntl")
            locking.flock(file, locking.LOCK_EX | locking.LOCK_NB)
    except OSError:
        file.close()
        raise ValueError(f"--out: another run is at work in {str(path)!r}: wait for its end") from None
    os.set_inheritable(file.fileno(), False)
    return file
