"""DATA on the command line: reads a bundled series, or a CSV or Parquet file, and fits a model to it.

Mistakes in a file are found here, before anything is fitted.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from farrier import datasets
from farrier.cli.screen import note
from farrier.datasets.files import Chosen
from farrier.model.tables import check_varies
from farrier.series.columns import LISTED, TARGET_WORDS, Table

if TYPE_CHECKING:
    from farrier.estimators.regressor import Regressor


@dataclass(frozen=True, eq=False)
class Source:
    """The rows to fit, with their title and unit."""

    title: str
    unit: str
    table: Table
    chosen: Chosen

    @property
    def stamps(self) -> Any:
        """The times of a series as they are in the file."""
        if self.chosen.time is None:
            raise ValueError(
                f"time: no column of {self.table.name!r} looks like times: name one with --time; "
                f"it has {', '.join(map(repr, list(self.table)[:LISTED]))}"
            )
        values, rows = self.table[self.chosen.time], self.chosen.rows
        return values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows]


def open_table(data: str) -> Table:
    """The columns of a bundled series, or of a file."""
    if data in datasets.names() or not (Path(data).suffix or Path(data).exists()):
        return datasets.read_table(datasets.locate(data))
    return datasets.read_table(data)


def open_source(data: str, time: str | None, target: str | None, *, quiet: bool) -> Source:
    """The series or table to fit; prints which rows and columns are left out unless `quiet`."""
    table = open_table(data)
    chosen = _without_constants(datasets.choose_columns(table, time, target))
    check_varies(chosen.X, chosen.y, chosen.inputs)
    if not quiet:
        _note_left_out(chosen)
    if data in datasets.names():
        about = datasets.load(data)
        return Source(about.title, about.unit, table, chosen)
    stem = Path(table.name.removesuffix(".gz")).stem
    title = stem.replace("_", " ") if chosen.target.lower() in TARGET_WORDS else chosen.target
    return Source(title[:1].upper() + title[1:], "", table, chosen)


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
        note(f"{rows} no {chosen.target!r} and {'are' if chosen.left_out > 1 else 'is'} left out")
    if chosen.ignored:
        many = len(chosen.ignored) > 1
        listed = ", ".join(map(repr, chosen.ignored[:LISTED])) + (" ..." if len(chosen.ignored) > LISTED else "")
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


def fit(source: Source, settings: dict[str, Any]) -> "Regressor":
    """Fit a model, and give it the names of the rows and columns."""
    from farrier.estimators.fitted_series import DATED, dated
    from farrier.estimators.regressor import Regressor

    chosen = source.chosen
    if settings.get("kernels") == "paper" and settings.get("method") == "auto" and chosen.X.shape[1] > 1:
        # the paper's periodic kernels take several inputs, which only its own algorithm supports
        settings = settings | {"method": "stochastic"}
    if chosen.axis is not None:
        settings = dated(settings, chosen.axis, chosen.axis)
    elif given := [name for name in DATED if name in settings]:
        raise ValueError(f"--{given[0]}: {source.table.name} has no column of dates that a series needs: leave it out")
    model = Regressor(**settings).fit(chosen.X, chosen.y)
    return model.describe(
        title=source.title,
        target_name=chosen.target,
        target_unit=source.unit,
        axis=chosen.axis,
        labels=None if chosen.axis is None else chosen.axis.labels(),
        columns=chosen.inputs,
    )
