"""DATA on the command line: reads a bundled series, a CSV, Excel or Parquet file or standard input, and fits a model.

Mistakes in a file are found here, before anything is fitted. What was understood is said in one line.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from farrier import datasets
from farrier.cli.screen import note
from farrier.data.quoting import quoted
from farrier.data.table_inputs import Cells, TableInputs
from farrier.data.tables import check_varies
from farrier.datasets.files import STANDARD_INPUT, Chosen
from farrier.series.calendar import FutureTimes
from farrier.series.columns import (
    LISTED,
    TARGET_WORDS,
    Table,
    about_many,
    holds_stamps,
    list_names,
    read_numbers,
)
from farrier.series.observed import Layout, Observed
from farrier.series.stamps import Column

if TYPE_CHECKING:
    from farrier.cli.large import LargeTable
    from farrier.estimators.classifier import Classifier
    from farrier.estimators.regressor import Regressor


@dataclass(frozen=True)
class Reading:
    """How a file is to be read, and which of its columns are used; None leaves it to the file."""

    time: str | None = None
    target: str | None = None
    regressors: tuple[str, ...] = ()
    date_format: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    classes: bool = False
    """Whether the target is classes, though its cells may be numbers."""
    step: str | None = None
    """The step of a forecast of irregular times."""
    cluster: str | None = None
    """The address of a Dask scheduler, for a large table."""
    jobs: int = 1
    """Processes for a large table."""


@dataclass(frozen=True, eq=False)
class Source:
    """The rows to fit, with their title and unit."""

    title: str
    unit: str
    table: Table
    chosen: Chosen
    regressors: tuple[str, ...] = ()
    """Columns whose future is known; in the X of `chosen` they follow the times."""
    later: tuple[int, ...] = ()
    """The rows after the last target in order of time, which hold the future of the regressors."""
    large: "LargeTable | None" = None
    """All rows, if they are read in blocks and `table` is a sample of them."""

    @property
    def stamps(self) -> Any:
        """The times of a series as they are in the file."""
        if self.chosen.time is None:
            raise ValueError(
                f"time: no column of {self.table.name!r} looks like times: name one with --time; "
                f"it has {list_names(self.table)}"
            )
        return _take(self.table[self.chosen.time], self.chosen.rows)

    def without_times(self, option: str) -> ValueError:
        """Why an option for series does not suit this table, and what to do."""
        for time in self.table:
            if holds_stamps(self.table.columns[time]) and (many := about_many(self.table, time)):
                return ValueError(f"{option}: {many}, or leave {option} out")
        return ValueError(f"{option}: this table has no times: name their column with --time, or leave {option} out")

    def observed(self) -> Observed:
        """The series with its regressors, as a backtest needs it."""
        return Observed.of(Layout(regressors=self.regressors), self.stamps, self.chosen.y, self.chosen.X[:, 1:])

    def future(self, horizon: int) -> tuple[FutureTimes, np.ndarray]:
        """The next steps, and the inputs of the model there; ValueError if the future of a regressor is not known."""
        axis = self.chosen.axis
        if axis is None or self.chosen.time is None:
            raise self.without_times("--horizon")
        if not self.regressors:
            found = axis.future(horizon)
            return found, found.numbers[:, None]
        self.check_later(horizon)
        rows = np.array(self.later[:horizon], dtype=int)
        stamps = _take(self.table[self.chosen.time], rows)
        numbers = axis.locate(stamps)
        extra = _regressors(self.table, self.regressors, rows)
        return FutureTimes(numbers, stamps, list(map(str, stamps))), np.column_stack([numbers, extra])

    def check_later(self, horizon: int) -> None:
        """Raise ValueError if the file does not hold the regressors for so many steps after the last target."""
        if self.regressors and len(self.later) < horizon:
            raise ValueError(
                f"--regressors: {self.table.name!r} has {len(self.later)} rows after the last "
                f"{quoted(self.chosen.target)} for {horizon} steps: add rows with times and regressors and an "
                "empty target"
            )
        _regressors(self.table, self.regressors, np.array(self.later[:horizon], dtype=int))


def open_table(data: str, reading: Reading = Reading()) -> Table:  # noqa: B008 (immutable)
    """The columns of a bundled series, or of a file."""
    options: dict[str, Any] = {"date_format": reading.date_format, "decimal": reading.decimal, "sheet": reading.sheet}
    if data in datasets.names() or not (data == STANDARD_INPUT or Path(data).suffix or Path(data).exists()):
        return datasets.read_table(datasets.locate(data), **options)
    return datasets.read_table(data, **options)


def open_source(data: str, reading: Reading, *, quiet: bool, table: Table | None = None, mixed: bool = False) -> Source:
    """The series or table to fit; prints how the file was read and what is left out unless `quiet`.

    `table` is the table of `data` if it has been read before. `mixed` says that a table may hold text, dates and empty
    cells.
    """
    large = _open_large(data, reading) if mixed and table is None else None
    if large is not None:
        table = large[1]
    table = open_table(data, reading) if table is None else table
    chosen = datasets.choose_table(table, reading.time, reading.target, classes=reading.classes) if mixed else None
    if chosen is None and reading.classes:
        raise ValueError("--likelihood classes: a series has no classes: leave --time out, or give a table of inputs")
    if chosen is None:
        chosen = _without_constants(datasets.choose_columns(table, reading.time, reading.target))
    check_varies(chosen.X, chosen.y, chosen.inputs)
    if reading.step is not None:
        if chosen.axis is None:
            raise ValueError("--step: this table has no times: name their column with --time, or leave --step out")
        chosen = replace(chosen, axis=chosen.axis.stepped(reading.step))
    later: tuple[int, ...] = ()
    if reading.regressors:
        chosen, later = _with_regressors(table, chosen, reading.regressors)
    if not quiet and data not in datasets.names():
        note(understood(table) if large is None else f"reading {table.notes[0]}")
    if not quiet:
        if reading.target is None and chosen.kind == "table" and chosen.target.lower() not in TARGET_WORDS:
            note(f"the target is {quoted(chosen.target)}, the last column: name another one with --target")
        _note_left_out(chosen)
    if data in datasets.names():
        about = datasets.load(data)
        return Source(about.title, about.unit, table, chosen)
    stem = Path(table.name.removesuffix(".gz")).stem
    title = stem.replace("_", " ") if chosen.target.lower() in TARGET_WORDS else chosen.target
    unit = table.units.get(chosen.target, "")
    title = title[:1].upper() + title[1:]
    return Source(title, unit, table, chosen, reading.regressors, later, None if large is None else large[0])


def _open_large(data: str, reading: Reading) -> "tuple[LargeTable, Table] | None":
    """A table that is read in blocks, and a sample of its rows; None if it is a series, or not large."""
    if reading.time is not None or reading.classes or not Path(data).exists():
        return None
    from farrier.cli.large import open_large

    found = open_large(data, reading.cluster, reading.jobs)
    if found is None or datasets.choose_table(found[1], None, reading.target) is None:
        return None
    return found


def understood(table: Table) -> str:
    """How a file was read, in one line: 'read 204 rows; dates as day.month.year, decimal comma'."""
    rows = len(next(iter(table.columns.values())))
    units = [f"{quoted(name)} in {unit}" for name, unit in table.units.items()][:LISTED]
    said = ", ".join([*table.notes, *units])
    return f"read {rows:,} rows" + (f"; {said}" if said else "")


def _with_regressors(table: Table, chosen: Chosen, names: Sequence[str]) -> tuple[Chosen, tuple[int, ...]]:
    """The roles with regressors beside the times, and the rows after the last target in order of time."""
    if chosen.axis is None or chosen.time is None:
        raise ValueError("--regressors: this table has no times: name their column with --time, or leave them out")
    for name in names:
        if name not in table or name in (chosen.time, chosen.target):
            listed = list_names(chosen.ignored)
            raise ValueError(
                f"--regressors: {quoted(name)} is not one of the other columns: choose among {listed or 'none'}"
            )
    extra = _regressors(table, names, chosen.rows)
    for name, values in zip(names, extra.T, strict=True):
        if np.ptp(values) == 0:
            raise ValueError(f"--regressors: {quoted(name)} is {values[0]:g} in every row with a target: leave it out")
    rest = np.setdiff1d(np.arange(len(table.rows())), chosen.rows)
    times = table[chosen.time]
    rest = np.array([i for i in rest if times[i] is not None and times[i] == times[i]], dtype=int)
    places = chosen.axis.locate(_take(times, rest)) if len(rest) else np.empty(0)
    later = rest[np.argsort(places, kind="stable")][np.sort(places) > chosen.axis.numbers.max()]
    ignored = tuple(name for name in chosen.ignored if name not in names)
    inputs = (*chosen.inputs, *names)
    return replace(chosen, X=np.column_stack([chosen.X, extra]), inputs=inputs, ignored=ignored), tuple(later.tolist())


def _regressors(table: Table, names: Sequence[str], rows: np.ndarray) -> np.ndarray:
    """The regressors at some rows, (N, R); an empty cell raises ValueError."""
    called = table.rows()
    extra = np.empty((len(rows), len(names)))
    for k, name in enumerate(names):
        extra[:, k] = read_numbers(table[name], Column(name, called))[rows]
        column = Column(name, [called[i] for i in rows])
        column.refuse(np.isnan(extra[:, k]), "the cell is empty: fill it in or delete the row")
    return extra


def _take(values: Any, rows: np.ndarray) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows]


def _without_constants(chosen: Chosen) -> Chosen:
    keep = np.ptp(chosen.X, axis=0) > 0
    if chosen.kind == "series" or keep.all() or not keep.any():
        return chosen
    inputs = tuple(name for name, kept in zip(chosen.inputs, keep, strict=True) if kept)
    gone = tuple(name for name in chosen.inputs if name not in inputs)
    return replace(chosen, inputs=inputs, X=chosen.X[:, keep], ignored=chosen.ignored + gone)


def _note_left_out(chosen: Chosen) -> None:
    if chosen.left_out:
        rows = f"{chosen.left_out:,} rows have" if chosen.left_out > 1 else "one row has"
        note(f"{rows} no {quoted(chosen.target)} and {'are' if chosen.left_out > 1 else 'is'} left out")
    if chosen.cells is not None:
        columns = TableInputs.of(Cells(chosen.cells))
        if columns is not None:
            note(columns.summary())
    if chosen.ignored:
        many = len(chosen.ignored) > 1
        listed = ", ".join(map(quoted, chosen.ignored[:LISTED])) + (" ..." if len(chosen.ignored) > LISTED else "")
        why = "neither the time nor the target" if chosen.kind == "series" else "no numbers, or the same in every row"
        note(f"column{'s' if many else ''} {listed} {'are' if many else 'is'} left out: {why}")


def read_days(path: Path) -> dict[str, str]:
    """Days and their names from a file with lines of DATE or DATE,NAME; a first line of words is a heading."""
    from farrier.series.holidays import UNNAMED, read_holidays

    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--holidays: {path} cannot be read: give a text file with a date in each line") from error
    pairs = [tuple(cell.strip() for cell in line.partition(",")[::2]) for line in lines if line.strip()]
    if pairs and not pairs[0][0][:1].isdigit():
        pairs = pairs[1:]
    found = {day: name or UNNAMED for day, name in pairs}
    read_holidays(None, found, 0, 0)  # raises before the work begins if a day is not a date
    return found


def fit(source: Source, settings: dict[str, Any]) -> "Regressor | Classifier":
    """Fit a model, and give it the names of the rows and columns."""
    if source.large is not None:
        model = source.large.fit(source.chosen.target, _by_paper(settings))
        return model.describe(title=source.title, target_name=source.chosen.target, target_unit=source.unit)
    if source.chosen.cells is not None:
        return fit_table(source, settings)
    from farrier.estimators.fitted_series import DATED, TimeRegressor, dated
    from farrier.estimators.regressor import Regressor

    chosen = source.chosen
    if chosen.X.shape[1] > 1:
        settings = _by_paper(settings)
    if chosen.axis is not None:
        settings = dated(settings, chosen.axis, chosen.axis)
    elif given := [name for name in DATED if name in settings]:
        raise _no_dates(given[0], source)
    series = chosen.axis is not None
    model = (TimeRegressor if series else Regressor)(**settings).fit(chosen.X, chosen.y)
    return model.describe(
        title=source.title,
        target_name=chosen.target,
        target_unit=source.unit,
        axis=chosen.axis,
        labels=None if chosen.axis is None else chosen.axis.labels(),
        columns=chosen.inputs,
    )


def _by_paper(settings: dict[str, Any]) -> dict[str, Any]:
    """The paper's kernels of several inputs by its own algorithm: no other supports their periodic kernels."""
    own = settings.get("kernels") == "paper" and settings.get("method") == "auto"
    return settings | {"method": "stochastic"} if own else settings


def fit_table(source: Source, settings: dict[str, Any]) -> "Regressor | Classifier":
    """Fit a model of a table of text, dates and numbers: of classes if the target is text."""
    from farrier.estimators.classifier import Classifier
    from farrier.estimators.fitted_series import DATED
    from farrier.estimators.regressor import Regressor

    chosen = source.chosen
    assert chosen.cells is not None
    for name in (*DATED, "periods"):
        if name in settings:
            raise _no_dates(name, source)
    cells = Cells(chosen.cells)
    plain = TableInputs.of(cells) is None
    if len(chosen.cells) > 1:
        settings = _by_paper(settings)
    X = np.column_stack(list(chosen.cells.values())) if plain else cells
    if chosen.labels is not None:
        for name in ("floor", "cap"):
            if settings.get(name) is not None:
                raise ValueError(f"--{name}: the target is classes, which have none: leave it out")
        own = {name: value for name, value in settings.items() if name in Classifier().get_params()}
        model: Regressor | Classifier = Classifier(**own).fit(X, np.array(chosen.labels))
    else:
        model = Regressor(**settings).fit(X, chosen.y)
    columns = list(chosen.cells) if plain else None
    return model.describe(title=source.title, target_name=chosen.target, target_unit=source.unit, columns=columns)


def _no_dates(name: str, source: Source) -> ValueError:
    return ValueError(f"--{name}: {source.table.name} has no column of dates that a series needs: leave it out")
