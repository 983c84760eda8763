"""`farrier forecast`: a table of future values, for one series or for many in the long format."""

import csv
import importlib.util
import io
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.cli.screen import Live, live, note
from farrier.cli.source import Reading, Source, open_source, open_table, understood
from farrier.cli.writing import check_out
from farrier.model.quoting import quoted
from farrier.model.writing import write_whole
from farrier.series.backtests import origins
from farrier.series.columns import Table, list_names, name_columns, read_numbers
from farrier.series.stamps import Column

if TYPE_CHECKING:
    from farrier.estimators.forecaster import Forecaster

ID = "unique_id"
"""The column that identifies the series, if none is named."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of cells that spreadsheets run as formulas; from OWASP, "CSV injection"."""
SHOWN = 10
"""Series without a forecast that are named, by judgement."""


def forecast(
    data: str,
    reading: Reading,
    settings: dict[str, Any],
    ahead: tuple[int, Sequence[float]],
    path: Path | None,
    *,
    id: str | None,
    backtest: bool,
    escape: bool,
    quiet: bool,
) -> None:
    """Fit a model, and write the forecast as CSV to `path`, or to standard output; a backtest to standard error."""
    check_out(path, data)
    for level in ahead[1]:
        if not 1 <= level < 100:
            raise ValueError(f"--levels: {level:g} is not a percentage from 1 to 100: give numbers such as 80 and 95")
    table = open_table(data, reading)
    if id is None and ID in table:
        id = ID
    names, frame, past = {}, None, ""
    if id is not None:
        names, frame = _panel(table, id, reading)
        if backtest:
            raise ValueError(
                f"--backtest: {quoted(id)} names many series: give a file with one of them, or leave --backtest out"
            )
        if not quiet:
            note(understood(table))
    source = open_source(data, reading, quiet=quiet, table=table) if id is None else None
    if source is not None:
        stamps = source.stamps  # raises before the work begins if there are no times
        source.future(ahead[0])  # raises if it goes past the calendar, or is not in the file
        if backtest:
            origins(len(stamps), horizon=ahead[0])
    with live(quiet=quiet) as screen:
        screen.doing("loading")
        if source is not None:
            columns, past = _one(source, settings, ahead, screen, backtest=backtest)
        else:
            columns = _many(frame, str(id), names, settings, ahead, screen, quiet=quiet)
    text = as_csv(columns, escape=escape)
    for line in past.splitlines():
        note(line)
    if path is None:
        sys.stdout.write(text)
        return
    write_whole(path, text)
    if not quiet:
        note(f"the forecast is {path}")


def _one(
    source: Source, settings: dict[str, Any], ahead: tuple[int, Sequence[float]], screen: Live, *, backtest: bool
) -> tuple[dict[str, Sequence[Any]], str]:
    """The forecast of one series, and the backtest as text if asked for."""
    from farrier.estimators.forecaster import Forecaster

    settings = {name: value for name, value in settings.items() if name != "n_jobs"}
    forecaster = Forecaster(**settings, progress=screen)
    if source.regressors:
        found = _with_regressors(source, forecaster, ahead, screen)
    else:
        forecaster.fit(source.stamps, source.chosen.y)
        screen.doing("forecasting")
        table = forecaster.forecast(ahead[0], ahead[1])
        found = {str(source.chosen.time): table.pop("time"), **table}
    return found, str(forecaster.backtest(horizon=ahead[0])) if backtest else ""


def _with_regressors(
    source: Source, forecaster: "Forecaster", ahead: tuple[int, Sequence[float]], screen: Live
) -> dict[str, Sequence[Any]]:
    """The forecast with the values that the regressors have in the rows after the last target."""
    chosen, names = source.chosen, (str(source.chosen.time), source.chosen.target)
    table = {name: source.table[name] for name in (*names, *source.regressors)}
    past = _frame({name: _take(values, chosen.rows) for name, values in table.items()})
    later = np.array(source.later[: ahead[0]], dtype=int)
    future = _frame({name: _take(values, later) for name, values in table.items() if name != names[1]})
    forecaster.fit(past, time=names[0], target=names[1], regressors=source.regressors)
    screen.doing("forecasting")
    found = nw.from_native(forecaster.forecast(ahead[0], ahead[1], future=future), eager_only=True)
    return {name: found[name].to_list() for name in found.columns}


def _many(
    frame: Any,
    id: str,
    names: dict[str, Any],
    settings: dict[str, Any],
    ahead: tuple[int, Sequence[float]],
    screen: Live,
    *,
    quiet: bool,
) -> dict[str, Sequence[Any]]:
    from farrier.estimators.forecaster import Forecaster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # failed series are listed below
        forecaster = Forecaster(**settings, progress=screen).fit(frame, id=id, **names)
    screen.doing("forecasting")
    found = nw.from_native(forecaster.forecast(ahead[0], ahead[1]), eager_only=True)
    if not quiet:
        for name, error in list(forecaster.errors_.items())[:SHOWN]:
            screen.done(f"farrier: no forecast of {name!r}: {error}")
        if len(forecaster.errors_) > SHOWN:
            screen.done(f"farrier: and of {len(forecaster.errors_) - SHOWN} more")
    return {name: found[name].to_list() for name in found.columns}


def _panel(table: Table, id: str, reading: Reading) -> tuple[dict[str, Any], Any]:
    """The roles of the columns of many series, and their frame."""
    if id not in table:
        raise ValueError(f"--id: there is no column {quoted(id)}: choose one of {list_names(table)}")
    if reading.regressors:
        raise ValueError("--regressors: they are for one series: leave out --id")
    others = replace(table, columns={name: values for name, values in table.columns.items() if name != id})
    time, target = name_columns(others, reading.time, reading.target)
    used = [id, *((time,) if time is not None else ()), target]
    doubtful = {name for name in table if name in table.doubts and name not in used}
    values = read_numbers(table[target], Column(target, table.rows()))
    frame = _frame({name: values if name == target else table[name] for name in table if name not in doubtful})
    return {"time": reading.time and time, "target": reading.target}, frame


def _frame(columns: Mapping[str, Any]) -> Any:
    """Columns as a frame of polars or pandas, whichever is installed."""
    backend: Any = next((name for name in ("polars", "pandas") if importlib.util.find_spec(name)), None)
    if backend is None:
        raise ValueError("--id and --regressors need a frame library: pip install polars, or pandas")
    return nw.from_dict({name: _plain(values) for name, values in columns.items()}, backend=backend).to_native()


def _take(values: Any, rows: np.ndarray) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows]


def _plain(values: Any) -> Any:
    """A column of the file for a frame, which holds one type: whole numbers as integers, numbers and text as text."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and np.isfinite(values).all():
        whole = values.astype(np.int64)
        return whole if np.array_equal(whole, values) else values
    if isinstance(values, list) and len({type(value) for value in values if value is not None}) > 1:
        return [None if value is None else str(value) for value in values]
    return values


def as_csv(columns: dict[str, Sequence[Any]], *, escape: bool = False) -> str:
    """Columns as comma separated text; floats with as many digits as give the same float again.

    With `escape`, text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    rows = [tuple(columns), *zip(*map(_dates, columns.values()), strict=True)]
    return "".join(_line([_cell(cell, escape=escape) for cell in row]) for row in rows)


def _line(cells: Sequence[str]) -> str:
    """One line. The csv module quotes a cell only for the ends of lines that it writes, so here for both."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().removesuffix("\r\n") + "\n"


def _dates(values: Sequence[Any]) -> Sequence[Any]:
    """Times as ISO text, as dates if all are midnight; other values unchanged."""
    times = list(values)
    if times and isinstance(times[0], np.datetime64):
        times = np.asarray(values).astype("M8[us]").tolist()
    if not times or not isinstance(times[0], datetime):
        return times
    dated = all(moment.tzinfo is None and moment.time() == time() for moment in times)
    return [(moment.date() if dated else moment).isoformat() for moment in times]


def _cell(value: Any, *, escape: bool) -> str:
    if isinstance(value, float | np.floating):
        return repr(float(value)).removesuffix(".0")
    text = str(value)
    return f"'{text}" if escape and isinstance(value, str) and text.startswith(FORMULA) else text
