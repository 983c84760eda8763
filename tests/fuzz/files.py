"""Hostile files: those of the corpus with cells, lines, bytes, encodings and containers changed.

Each file goes through the whole of `farrier forecast` or `farrier explain` with a fast fit. Exit code 0 needs a whole
output, 2 needs one short line and no output. Of several series in one file some may fail: exit code 1 needs the whole
output of the others and a short line for each that is missing (docs/fleets.md). Nothing else may happen. The folder
holds no other file afterwards.
"""

import contextlib
import csv
import gzip
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import typer

from farrier.cli import explain, forecast, screen
from farrier.cli.source import Reading, open_source
from tests.fuzz.odd_values import CELLS, NAMES, Random, pick
from tests.fuzz.outcomes import LONGEST, FailureError, Tally, check_finite, judged

CORPUS = Path(__file__).parent / "corpus"
STRUCTURES: tuple[dict[str, Any], ...] = ({}, {"kernels": ["SE", "Lin"], "iterations": 5})
"""Settings of fits that take a fraction of a second."""
ENCODINGS = ("utf-8",) * 16 + ("utf-8-sig", "utf-16", "latin-1", "utf-32")
HORIZONS = (1, 3, 3, 3, 3, 3, 12, 12, 700, 10**7)


def run(count: int, seed: int, folder: Path, first: int = 0) -> Tally:
    """Try `count` files from number `first` on; file i depends on the seed and on i only."""
    tally = Tally("files")
    for i in range(first, first + count):
        random = np.random.default_rng([seed, i])
        place = folder / f"{i}"
        place.mkdir()
        source = made(random, place)
        outcome, about = judged(lambda random=random, source=source: command(random, source))
        tally.add(outcome, f"seed {seed}, file {i}, {source.name}: {about}")
        for path in place.iterdir():
            path.unlink()
        place.rmdir()
    return tally


def made(random: Random, folder: Path) -> Path:
    """A hostile file in the folder."""
    path = pick(random, sorted(CORPUS.iterdir()))
    text = path.read_text()
    for _ in range(int(pick(random, (0, 1, 1, 1, 2, 3)))):
        text = pick(random, (_cell, _cell, _name, _lines, _columns, _piece))(text, random)
    data = text.encode(pick(random, ENCODINGS), errors="replace")
    kind = random.random()
    if kind < 0.05:
        data = _flipped(data, random)
    if kind > 0.9:
        target = folder / f"{path.stem}.parquet"
        return _parquet(text, target, random)
    if kind > 0.85:
        data = gzip.compress(data)
        data = _flipped(data, random) if random.random() < 0.5 else data
        path = path.with_suffix(".csv.gz")
    target = folder / pick(random, (path.name, path.name, path.name, "it's [red] " + path.name))
    target.write_bytes(data)
    return target


def command(random: Random, source: Path) -> None:
    """Run one command on a file, and check what it leaves behind."""
    forecasting = random.random() < 0.7
    target = source.with_name("out.csv" if forecasting else "out.html")
    settings, horizon = dict(pick(random, STRUCTURES)), int(pick(random, HORIZONS))
    named: dict[str, str | None] = {"time": None, "target": None}
    if random.random() < 0.1:
        named[str(pick(random, tuple(named)))] = str(pick(random, (*NAMES, *CELLS)))
    before = {path.name for path in source.parent.iterdir()}

    @screen.ends_cleanly
    def work(*, quiet: bool) -> None:
        if forecasting:
            ahead = horizon, (80, 95)
            escape = bool(random.random() < 0.5)
            options: dict[str, Any] = {"id": None, "backtest": False, "escape": escape, "quiet": quiet}
            forecast.forecast(str(source), Reading(**named), settings | {"n_jobs": 1}, ahead, target, **options)
        else:
            opened = open_source(str(source), Reading(**named), quiet=quiet)
            explain.explain(opened, settings, min(horizon, 100), target, backtest=False, quiet=quiet, as_json=False)

    code, said = _ran(work)
    left = {path.name for path in source.parent.iterdir()} - before
    if code == 0:
        if left != {target.name}:
            raise FailureError("lost output", f"exit code 0 left {sorted(left)}")
        check = _check_forecast if forecasting else _check_report
        check(target.read_text(encoding="utf-8"))
        return
    if code == 1 and left == {target.name} and forecasting:
        check_missing(said)
        _check_forecast(target.read_text(encoding="utf-8"))
        return
    if left:
        raise FailureError("lost output", f"exit code {code} left {sorted(left)}")
    if code != 2 or not re.fullmatch(r"farrier: [^\n]+\n", said) or len(said) > LONGEST:
        raise FailureError("traceback", f"exit code {code}: {said[:300]!r}")
    raise ValueError(said.strip())


def _ran(work: Any) -> tuple[int, str]:
    """The exit code, and what went to standard error."""
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            work(quiet=True)
        except typer.Exit as ended:
            return ended.exit_code, said.getvalue()
    return 0, said.getvalue()


def _check_forecast(text: str) -> None:
    header, *rows = csv.reader(io.StringIO(text))
    columns = ("mean", "median", "low_80", "high_80", "low_95", "high_95")
    places = [len(header) - len(columns) + i for i in range(len(columns))]
    if not rows or tuple(header[-6:]) != columns or {len(row) for row in rows} != {len(header)}:
        raise FailureError("lost output", f"{len(rows)} rows of {header}")
    numbers = np.array([[float(row[i]) for i in places] for row in rows])
    check_finite(numbers, "a forecast")
    _, median, low, high, lowest, highest = numbers.T
    if not (np.all(lowest <= low) and np.all(low <= median) and np.all(median <= high) and np.all(high <= highest)):
        raise FailureError("wrong order", "quantiles of a forecast")


def check_missing(said: str) -> None:
    """Every series without a forecast is in a line (equal errors share one), and the last line counts them."""
    *lines, last = said.splitlines()
    more = bool(lines) and re.fullmatch(r"farrier: and [\d,]+ other kinds of errors", lines[-1]) is not None
    named = lines[:-1] if more else lines
    counted = re.match(r"farrier: ([\d,]+) of [\d,]+ series (is|are) missing", last)
    short = all(line.startswith("farrier: no forecast of ") and len(line) <= LONGEST for line in named)
    if counted is None or not short:
        raise FailureError("traceback", f"exit code 1: {said[:300]!r}")
    others = [re.search(r" and ([\d,]+) others?: ", line) for line in named]
    count = len(named) + sum(int(one[1].replace(",", "")) for one in others if one)
    if count != int(counted[1].replace(",", "")) and not more:
        raise FailureError("lost output", f"{count} of {counted[1]} missing series are named: {said[:300]!r}")


def _check_report(text: str) -> None:
    if not text.rstrip().endswith("</html>"):
        raise FailureError("lost output", "a report without an end")


def _cell(text: str, random: Random) -> str:
    """Some cells replaced by odd ones."""
    lines = text.split("\n")
    for _ in range(1 + int(random.integers(3))):
        i = int(random.integers(1, len(lines))) if len(lines) > 1 else 0
        cells = re.split("([,;\t])", lines[i])
        cells[2 * int(random.integers((len(cells) + 1) // 2))] = str(pick(random, CELLS))
        lines[i] = "".join(cells)
    return "\n".join(lines)


def _name(text: str, random: Random) -> str:
    """A column with an odd name."""
    header, *lines = text.split("\n")
    cells = re.split("([,;\t])", header)
    cells[2 * int(random.integers((len(cells) + 1) // 2))] = str(pick(random, (*NAMES, *CELLS)))
    return "\n".join(["".join(cells), *lines])


def _lines(text: str, random: Random) -> str:
    """Lines left out, doubled, shuffled, or with other ends."""
    header, *lines = text.split("\n")
    order = np.arange(len(lines))
    match int(random.integers(5)):
        case 0:
            order = random.permutation(order)
        case 1:
            order = order[: int(random.integers(len(order) + 1))]
        case 2:
            order = np.concatenate([order, order])
        case 3:
            order = np.sort(random.permutation(order)[: len(order) * 3 // 4])
    end = str(pick(random, ("\n", "\n", "\r\n", "\r", "\n\n")))
    return end.join([header, *(lines[i] for i in order)])


def _columns(text: str, random: Random) -> str:
    """One column left out or doubled."""
    kept = int(random.integers(2))
    rows = [re.split("[,;\t]", line) for line in text.split("\n")]
    return "\n".join(",".join(row[kept:] if kept else [*row, row[-1]]) for row in rows)


def _piece(text: str, random: Random) -> str:
    """A piece cut out, repeated, or replaced."""
    first, last = sorted(random.integers(len(text) + 1, size=2).tolist())
    return text[:first] + str(pick(random, ("", text[first:last] * 2, *CELLS))) + text[last:]


def _flipped(data: bytes, random: Random) -> bytes:
    """Bytes with some changed, or cut."""
    changed = bytearray(data)
    for _ in range(int(random.integers(1, 6))):
        if changed:
            changed[int(random.integers(len(changed)))] = int(random.integers(256))
    return bytes(changed[: int(random.integers(len(changed) + 1))] if random.random() < 0.3 else changed)


def _parquet(text: str, path: Path, random: Random) -> Path:
    """The same table as Parquet, sometimes with bytes changed."""
    rows = [re.split("[,;\t]", line) for line in text.split("\n") if line]
    width = min(map(len, rows), default=0)
    names = [f"{i}" for i in range(width)] if random.random() < 0.2 else (rows or [[]])[0][:width]
    columns = {name: [row[i] for row in rows[1:]] for i, name in enumerate(names)}
    frame = pl.DataFrame(columns)
    if random.random() < 0.8:
        frame = frame.with_columns(pl.col(frame.columns[-1:]).cast(pl.Float64, strict=False))
    packed = io.BytesIO()
    frame.write_parquet(packed)
    path.write_bytes(_flipped(packed.getvalue(), random) if random.random() < 0.5 else packed.getvalue())
    return path
