"""`farrier forecast`: a table of future values, for one series or for many in the long format."""

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.cli.screen import Live, live, note
from farrier.cli.source import Reading, Source, open_source, open_table, understood
from farrier.cli.writing import check_folder, check_out
from farrier.data.quoting import quoted
from farrier.data.writing import write_whole
from farrier.fleet.csv_text import as_csv
from farrier.series.backtests import origins
from farrier.series.columns import Table
from farrier.series.observed import beside

if TYPE_CHECKING:
    from farrier.estimators.forecaster import Forecaster

ID = "unique_id"
"""The column that identifies the series, if none is named."""


def forecast(
    data: str,
    reading: Reading,
    settings: dict[str, Any],
    ahead: tuple[int, Sequence[float]],
    out: str | os.PathLike[str] | None,
    *,
    id: str | None,
    backtest: bool,
    escape: bool,
    quiet: bool,
) -> None:
    """Fit a model, and write the forecast as CSV to `out`, or to standard output; a backtest to standard error.

    For many series `out` may be a folder, that is, one that exists or a name that ends with a slash.
    """
    folder = out is not None and (str(out).endswith(("/", os.sep)) or Path(out).is_dir())
    path = None if out is None else Path(out)
    if not folder:
        check_out(path, data)
    for level in ahead[1]:
        if not 1 <= level < 100:
            raise ValueError(f"--levels: {level:g} is not a percentage from 1 to 100: give numbers such as 80 and 95")
    table = open_table(data, reading)
    if id is None and ID in table:
        id = ID
    if id is not None:
        if backtest:
            raise ValueError(
                f"--backtest: {quoted(id)} names many series: give a file with one of them, or leave --backtest out"
            )
        return _many(table, reading, settings, ahead, path, id=id, folder=folder, escape=escape, quiet=quiet)
    if folder:
        raise ValueError(f"--out: {out!r} is a folder: name a file in it, or the column of many series with --id")
    source = open_source(data, reading, quiet=quiet, table=table)
    stamps = source.stamps  # raises before the work begins if there are no times
    source.future(ahead[0])  # raises if it goes past the calendar, or is not in the file
    if backtest:
        origins(len(stamps), horizon=ahead[0])
    with live(quiet=quiet) as screen:
        screen.doing("loading")
        columns, past = _one(source, settings, ahead, screen, backtest=backtest)
    for line in past.splitlines():
        note(line)
    _write(as_csv(columns, escape=escape), path, quiet=quiet)


def _many(
    table: Table,
    reading: Reading,
    settings: dict[str, Any],
    ahead: tuple[int, Sequence[float]],
    path: Path | None,
    *,
    id: str,
    folder: bool,
    escape: bool,
    quiet: bool,
) -> None:
    """Forecast many series into a folder, a file or standard output."""
    from farrier.cli.fleet import Fleet, forecast_to_folder, forecast_to_text, tell

    jobs = settings["n_jobs"]
    settings = {name: value for name, value in settings.items() if name != "n_jobs"}
    fleet = Fleet.of(table, id, reading, settings, ahead)
    if not quiet:
        note(understood(table))
    if folder and path is not None:
        check_folder(path)
        forecast_to_folder(fleet, path, jobs, escape=escape, quiet=quiet)
        return
    text, digest, errors = forecast_to_text(fleet, jobs, escape=escape, quiet=quiet)
    _write(text, path, quiet=quiet)
    tell(digest, errors, quiet=quiet)


def _write(text: str, path: Path | None, *, quiet: bool) -> None:
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
        found = beside({str(source.chosen.time): table.pop("time")}, table)
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


def _frame(columns: Mapping[str, Any]) -> Any:
    """Columns as a frame of polars or pandas, whichever is installed."""
    backend: Any = next((name for name in ("polars", "pandas") if importlib.util.find_spec(name)), None)
    if backend is None:
        raise ValueError("--regressors: they need a frame library: pip install polars, or pandas")
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
