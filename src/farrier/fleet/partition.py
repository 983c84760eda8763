"""The forecasts of the series in one table: a pure function for the partitions of Dask, Spark and Ray.

    found = farrier.fleet.forecast(partition, id="shop", time="month", target="sales", horizon=12, country="DE")

The result depends on the partition and the arguments alone: not on other partitions, the order of rows, or the process.
Its columns and their types depend on those of the partition and on the levels alone, so an empty partition gives an
empty table of the right schema. A series that cannot be forecast has one row with the reason in the column `error`.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.data.quoting import quoted
from farrier.fleet.one_series import Job, Outcome, Plan, forecast_series
from farrier.series.columns import list_names, read_column
from farrier.series.observed import append, beside, native_column, take

ERROR = "error"
"""The column with the reason why a series has no forecast."""


def forecast(
    partition: Any,
    *,
    id: str,
    time: str,
    target: str,
    horizon: int,
    levels: Sequence[float] = (80, 95),
    **settings: Any,
) -> Any:
    """Forecast every series of a long table with all its rows in it.

    Parameters
    ----------
    partition : pandas or polars DataFrame, pyarrow Table or RecordBatch
        One row for each time of a series. Rows may be in any order. All rows of a series must be in one partition.
    id, time, target : str
        The columns that identify the series, and hold its times and its values.
    horizon : int
        The number of steps ahead.
    levels : list of float, default=(80, 95)
        The levels of the prediction intervals in per cent.
    **settings
        Parameters of `Forecaster`, such as country="DE" or floor=None.

    Returns
    -------
    A table of the same kind: id and time with their types, mean, median, low_80, high_80 ... as float64, and error as
    text. A series without a forecast has one row: the time of its last row, missing numbers, and the reason.
    """
    plan = Plan.of(time=time, target=target, horizon=horizon, levels=levels, settings=settings)
    frame = nw.from_native(_table(partition), eager_only=True)
    for argument, name in (("id", id), ("time", time), ("target", target)):
        if name not in frame.columns:
            raise ValueError(
                f"{argument}: there is no column {quoted(name)}: choose one of {list_names(frame.columns)}."
            )
    if frame[time].dtype in (nw.Categorical, nw.Enum):
        raise ValueError(f"time: {quoted(time)} is a column of categories: give dates, text or numbers.")
    places = _places(frame[id])
    stamps, values = native_column(frame[time].to_native()), read_column(frame[target])
    outcomes = [
        _fitting(forecast_series(Job(name, take(stamps, rows), take(values, rows)), plan), frame[time])
        for name, rows in places.items()
    ]
    last = [int(rows[-1]) for rows in places.values()]
    return _written(frame[[id, time]], plan, last, outcomes)


def _table(partition: Any) -> Any:
    """A RecordBatch as a table, which narwhals reads; anything else as it is."""
    pyarrow = nw.dependencies.get_pyarrow()
    if pyarrow is not None and isinstance(partition, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([partition])
    return partition


def _places(ids: "nw.Series[Any]") -> dict[Any, np.ndarray]:
    """The rows of each series, in the order in which the series first come."""
    found: dict[Any, list[int]] = {}
    for i, (name, missing) in enumerate(zip(ids.to_list(), ids.is_null().to_list(), strict=True)):
        found.setdefault(None if missing else name, []).append(i)
    return {name: np.array(rows) for name, rows in found.items()}


def _fitting(outcome: Outcome, times: "nw.Series[Any]") -> Outcome:
    """The outcome; an error if its times are no integers of the type that the column has."""
    if outcome.error is not None or not times.dtype.is_integer():
        return outcome
    ahead = np.asarray(outcome.stamps)
    ends = np.iinfo(str(times.dtype).lower())
    if ahead.dtype.kind in "iu" and ends.min <= ahead.min() and ahead.max() <= ends.max:
        return outcome
    why = f"its next times are no {times.dtype}, as those of column {quoted(times.name)}: give the times as floats."
    return Outcome(outcome.name, why, rows=outcome.rows)


def _written(keys: "nw.DataFrame[Any]", plan: Plan, last: Sequence[int], outcomes: Sequence[Outcome]) -> Any:
    """The table of all outcomes; `keys` are the columns of ids and times, `last` the last row of each series."""
    counts = [1 if outcome.error is not None else plan.horizon for outcome in outcomes]
    rows = np.repeat(np.array(last, dtype=int), counts)
    base = nw.maybe_reset_index(keys[rows.tolist()])
    stamps = native_column(keys[plan.time].to_native())
    times = [
        take(stamps, np.array([row])) if outcome.error is not None else outcome.stamps
        for row, outcome in zip(last, outcomes, strict=True)
    ]
    missing = np.full(1, np.nan)
    numbers = {
        name: np.concatenate([np.empty(0), *(one.columns.get(name, missing) for one in outcomes)])
        for name in plan.columns
    }
    errors = [outcome.error for outcome, count in zip(outcomes, counts, strict=True) for _ in range(count)]
    return _frame(base, {plan.time: _like(keys[plan.time].to_native(), times)}, numbers, errors)


def _like(column: Any, pieces: Sequence[Any]) -> Any:
    """Times in one column of the type that the given one has."""
    if nw.dependencies.is_pandas_series(column):
        pandas = import_module("pandas")
        parts = [pandas.Index(piece).astype(column.dtype) for piece in pieces]
        return pandas.Series(append(pandas.Index(column.iloc[:0]), *parts).array)
    if nw.dependencies.is_polars_series(column):
        return append(column[:0], *(import_module("polars").Series(piece).cast(column.dtype) for piece in pieces))
    return import_module("pyarrow").array([value for piece in pieces for value in piece], type=column.type)


def _frame(base: "nw.DataFrame[Any]", times: dict[str, Any], numbers: dict[str, Any], errors: list[str | None]) -> Any:
    """The ids with the other columns, in a frame of the library that came in."""
    native = base.to_native()
    own = {base.columns[0]: native[base.columns[0]], **times}
    if nw.dependencies.is_pandas_dataframe(native):
        pandas = import_module("pandas")
        return pandas.DataFrame(beside(own, numbers | {ERROR: pandas.array(errors, dtype="string")}))
    if nw.dependencies.is_polars_dataframe(native):
        polars = import_module("polars")
        return polars.DataFrame(beside(own, numbers | {ERROR: polars.Series(errors, dtype=polars.String)}))
    pyarrow = import_module("pyarrow")
    return pyarrow.table(beside(own, numbers | {ERROR: pyarrow.array(errors, type=pyarrow.string())}))
