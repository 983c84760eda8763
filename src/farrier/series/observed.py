"""A series of any form as arrays, and tables of the same form.

    read(series)                        # a pandas Series, or a frame whose index are the times
    read(frame, time="month")           # a frame with a column of times and one of values
    read(times, values)                 # two arrays or lists

Rows without a value count for the calendar but are left out of the fit. Each time may come once. The arrays are sorted
by time.
"""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.data.input_columns import free_name
from farrier.data.quoting import quoted
from farrier.series.calendar import TimeAxis
from farrier.series.columns import Table, list_names, name_columns, read_column, read_numbers, refuse_many
from farrier.series.stamps import MISSING, Column

MIN_ROWS = 4
"""Fewest values of a series; by judgement: a line needs two, its noise two more."""
EMPTY = "the cell is empty: fill it in or delete the row"


def beside(own: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of the user's and of a result in one table. Of two with one name, the user's gets brackets."""
    return {free_name(name, columns): values for name, values in own.items()} | dict(columns)


@dataclass(frozen=True)
class Layout:
    """The roles of the columns, and the kind of table that the user gave."""

    time: str = "time"
    target: str = "y"
    regressors: tuple[str, ...] = ()
    id: str | None = None
    """The column that identifies the series of a panel."""
    backend: str | None = None
    """The library of the frame ("pandas", "polars" ...); None for arrays."""
    indexed: bool = False
    """Whether the times are the index of a pandas object."""

    def write(self, stamps: Any, columns: dict[str, Any], ids: Sequence[Any] | None = None) -> Any:
        """A table of the user's kind: the times, and columns of the same length."""
        first = {} if ids is None or self.id is None else {self.id: ids}
        if self.indexed:
            pandas = importlib.import_module("pandas")
            return pandas.DataFrame(beside(first, columns), index=pandas.Index(stamps, name=self.time))
        return self.table(beside({**first, self.time: stamps}, columns))

    def table(self, columns: dict[str, Any]) -> Any:
        """Columns in a frame of the library that came in; a dictionary for arrays."""
        match self.backend:
            case None:
                return columns
            case "pandas" | "polars":
                return importlib.import_module(self.backend).DataFrame(columns)
        backend: Any = self.backend
        return nw.from_dict({name: list(values) for name, values in columns.items()}, backend=backend).to_native()


@dataclass(frozen=True, eq=False)
class Observed:
    """One series, sorted by time."""

    layout: Layout
    stamps: Any
    """The times in the user's type."""
    axis: TimeAxis
    y: np.ndarray
    """NaN where a value is missing."""
    extra: np.ndarray
    """The regressors, (N, R)."""
    weights: np.ndarray | None = None
    """How much each row counts; None if all count the same."""

    @classmethod
    def of(
        cls,
        layout: Layout,
        stamps: Any,
        y: np.ndarray,
        extra: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ) -> "Observed":
        """From rows in any order."""
        if weights is not None and weights.shape != (len(y),):
            raise ValueError(f"sample_weight has {weights.size} values and there are {len(y)} rows: give one a row.")
        if len(stamps) != len(y):
            raise ValueError(f"y has {len(y)} values and there are {len(stamps)} times: give one value a time.")
        if len(y) == 0:
            raise ValueError("series has no rows: give times with values.")
        axis = TimeAxis.of(stamps, layout.time)
        order = np.argsort(axis.numbers, kind="stable")
        extra = np.empty((len(y), 0)) if extra is None else extra
        own = None if weights is None else weights[order]
        return cls(layout, take(stamps, order), axis.take(order), y[order], extra[order], own)

    @property
    def present(self) -> np.ndarray:
        """The indices of the rows with a value."""
        return np.flatnonzero(~np.isnan(self.y))

    def check(self) -> "Observed":
        """This series; ValueError if it has too few values."""
        found = len(self.present)
        if found < MIN_ROWS:
            missing = f", and {len(self.y) - found} without" if found < len(self.y) else ""
            raise ValueError(f"series: {found} value{'s' if found != 1 else ''}{missing}: give at least {MIN_ROWS}.")
        return self

    def inputs(self, numbers: np.ndarray, extra: np.ndarray) -> Any:
        """The X of a `Regressor`: the times as numbers, then the regressors."""
        if not self.layout.regressors:
            return numbers[:, None]
        if self.layout.backend is None:
            return np.column_stack([numbers, extra])
        columns = dict(zip(self.layout.regressors, extra.T, strict=True))
        return replace(self.layout, id=None, indexed=False).write(numbers, columns)

    def with_regressors(self, kept: np.ndarray) -> "Observed":
        """This series with some of its regressors, which are marked in `kept`."""
        names = tuple(name for name, keep in zip(self.layout.regressors, kept, strict=True) if keep)
        return replace(self, layout=replace(self.layout, regressors=names), extra=self.extra[:, kept])

    def extended(self, more: "Observed") -> "Observed":
        """This series with more rows. New rows may fill in times that had no value."""
        at = more.axis.numbers if more.axis.kind == self.axis.kind else self.axis.locate(more.stamps)
        again = np.isnan(self.y) & (np.abs(self.axis.numbers[:, None] - at[None, :]) < 1e-9).any(axis=1)
        keep = np.flatnonzero(~again)
        stamps = append(take(self.stamps, keep), more.stamps)
        y, extra = np.concatenate([self.y[keep], more.y]), np.concatenate([self.extra[keep], more.extra])
        found = Observed.of(self.layout, stamps, y, extra)
        found = replace(found, axis=found.axis.stepping_as(self.axis))
        if found.axis.kind != self.axis.kind:
            raise ValueError(
                f"new rows: the times were {self.axis.frequency} and would become {found.axis.frequency}: correct "
                "them, or fit all rows again."
            )
        return found


def read(
    series: Any,
    y: Any = None,
    *,
    time: str | None = None,
    target: str | None = None,
    regressors: Sequence[str] = (),
    sample_weight: Any = None,
) -> Observed:
    """One series from a pandas Series, a frame, or times and values; weights are numbers, or a column of the frame."""
    native = nw.from_native(series, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        if y is not None:
            raise ValueError("y: the values are a column of the frame: name it by target, and leave y out.")
        if isinstance(sample_weight, str):
            weights, native = read_regressors(native, (sample_weight,))[:, 0], native.drop(sample_weight)
        else:
            weights = _weights(sample_weight)
        layout, columns = read_frame(native, time=time, target=target, regressors=regressors)
        return Observed.of(layout, *columns, weights)
    if time is not None or target is not None or len(regressors):
        raise ValueError("time, target and regressors name columns of a frame: give a frame, or leave them out.")
    weights = _weights(sample_weight)
    if y is not None:
        name = getattr(y, "name", None)
        layout = Layout(target=name) if isinstance(name, str) and name else Layout()
        return Observed.of(layout, native_column(series), _values(y, "y"), weights=weights)
    if nw.dependencies.is_pandas_series(series):
        name = str(series.index.name or "time"), str(series.name if series.name is not None else "y")
        layout = Layout(*name, backend="pandas", indexed=True)
        return Observed.of(layout, series.index, _values(series, name[1]), weights=weights)
    raise ValueError("y: None, and series holds no times: give fit(times, values), a frame, or a pandas Series.")


def read_frame(
    frame: "nw.DataFrame[Any]",
    *,
    time: str | None,
    target: str | None,
    regressors: Sequence[str] = (),
    id: str | None = None,
) -> tuple[Layout, tuple[Any, np.ndarray, np.ndarray]]:
    """The roles of the columns of a frame; and the times, the values and the regressors."""
    names = (regressors,) if isinstance(regressors, str) else tuple(regressors)
    for name in names:
        if name not in frame.columns:
            raise ValueError(
                f"regressors: there is no column {quoted(name)}: choose among {list_names(frame.columns)}."
            )
        if name in (time, target):
            role = "time" if name == time else "target"
            raise ValueError(f"regressors: {quoted(name)} is the {role} as well: leave it out of the regressors.")
    native = frame.to_native()
    index = _index_of_times(native, time)
    columns = {name: read_column(frame[name]) for name in frame.columns if name not in (*names, id)}
    called = "" if index is None else str(index.name or "time")
    if index is not None:
        columns = {called: index.to_numpy() if index.dtype.kind == "M" else index.to_timestamp().to_numpy(), **columns}
    else:
        columns |= {name: _as_dates(frame[name].to_native()) for name in columns if _is_period(frame[name].to_native())}
    found, target = name_columns(Table("frame", columns), called or time, target)
    if found is None:
        raise ValueError(f"time: no column of the frame looks like times: choose one of {list_names(columns)}.")
    if found in names:
        raise ValueError(f"regressors: {quoted(found)} is what the index is called as well: rename the column.")
    if id is None:
        refuse_many(Table("frame", columns), found)
    indexed = index is not None and found == called
    layout = Layout(found, target, names, id, frame.implementation.name.lower(), indexed)
    y = read_numbers(columns[target], Column(target))
    extra = read_regressors(frame, names)
    return layout, (index if indexed else native_column(frame[found].to_native()), y, extra)


def read_regressors(frame: "nw.DataFrame[Any]", names: Sequence[str]) -> np.ndarray:
    """The regressors, (N, R); a missing number raises ValueError."""
    extra = np.empty((len(frame), len(names)))
    for i, name in enumerate(names):
        extra[:, i] = read_numbers(read_column(frame[name]), Column(name))
        Column(name).refuse(np.isnan(extra[:, i]), EMPTY)
    return extra


def native_column(values: Any) -> Any:
    """A column of times that `take` and `append` accept: a pandas Index, a polars series, an array or a list."""
    if nw.dependencies.is_pandas_series(values):
        return importlib.import_module("pandas").Index(values)
    if nw.dependencies.is_pandas_index(values) or nw.dependencies.is_polars_series(values):
        return values
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ValueError(f"times: an array of shape {values.shape}: give one time a row, shape ({len(values)},).")
        Column("time").refuse(np.ma.getmaskarray(values), MISSING)
        return np.asarray(values)  # kept with the model: a plain array, without a mask
    series = nw.from_native(values, series_only=True, pass_through=True)
    return series.to_list() if isinstance(series, nw.Series) else list(values)


def take(values: Any, rows: np.ndarray) -> Any:
    """Some rows of a native column."""
    return [values[i] for i in rows] if isinstance(values, list) else values[rows]


def append(first: Any, *others: Any) -> Any:
    """The concatenation of native columns, in the type of the first."""
    if nw.dependencies.is_pandas_index(first):
        pandas = importlib.import_module("pandas")
        return first.append([pandas.Index(other) for other in others]).rename(first.name)
    if nw.dependencies.is_polars_series(first):
        return importlib.import_module("polars").concat([first, *others])
    if isinstance(first, np.ndarray):
        return np.concatenate([first, *(np.asarray(other) for other in others)])
    return [value for column in (first, *others) for value in column]


def _weights(given: Any) -> np.ndarray | None:
    if isinstance(given, str):
        raise ValueError(f"sample_weight={quoted(given)} names a column of a frame: give a frame, or numbers.")
    return None if given is None else _values(given, "sample_weight")


def _values(y: Any, name: str) -> np.ndarray:
    series = nw.from_native(y, series_only=True, pass_through=True)
    values = read_column(series) if isinstance(series, nw.Series) else y
    single = values.ndim == 0 if isinstance(values, np.ndarray) else not isinstance(values, Iterable)
    if single:
        raise ValueError(f"{name}={quoted(values)} is one value: give one for each time.")
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}: give one value a time, shape ({len(values)},).")
    return read_numbers(values if isinstance(values, np.ndarray) else list(values), Column(name))


def _index_of_times(native: Any, time: str | None) -> Any:
    """The index of a pandas frame if it holds the times, else None."""
    if not nw.dependencies.is_pandas_dataframe(native):
        return None
    pandas = importlib.import_module("pandas")
    if time is not None and (time in native.columns or time != native.index.name):
        return None
    dated = isinstance(native.index, pandas.DatetimeIndex | pandas.PeriodIndex)
    return native.index if dated else None


def _is_period(native: Any) -> bool:
    return nw.dependencies.is_pandas_series(native) and str(native.dtype).startswith("period")


def _as_dates(native: Any) -> np.ndarray:
    return native.dt.to_timestamp().to_numpy()
