"""Stamps of time of any type as arrays of datetime64, and further stamps of the same type.

`read_stamps` takes numpy arrays, pandas and polars columns, Python dates, ISO text ("1949", "1949Q1", "1949-01",
"1949-01-15", "1949-01-15 13:00") and plain numbers. The form that it finds (stamp_forms.py) writes further stamps of
the same type. pandas and polars are imported only for columns of theirs. calendar.py finds the step between times and
the times that follow.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, tzinfo
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from farrier.data.quoting import quoted
from farrier.series.stamp_forms import (
    Form,
    Number,
    NumpyTime,
    PandasPeriod,
    PandasTime,
    PolarsTime,
    PythonTime,
    Text,
)

MISSING = "the time is missing: fill it in or delete the row"
NO_DATE = "is not a date such as 2024-03 or 2024-03-15 18:30: correct it"
OUTSIDE = f"the time lies outside the years {MINYEAR} to {MAXYEAR}: correct it, or give plain numbers"

_TEXT = re.compile(
    r"(?P<year>\d{4})(?:(?P<dash>[- ]?)Q(?P<quarter>[1-4])|-(?P<month>\d\d)(?P<day>-\d\d(?:(?P<mark>[T ])\d\d:\d\d"
    r"(?P<second>:\d\d(?P<fraction>\.\d{1,6})?)?(?P<zone>Z|[+-]\d\d:?\d\d)?)?)?)?"
)


_PLAIN = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?)?")


def is_plain_date(text: str) -> bool:
    """Whether text is an ISO month, date or time without a zone, which numpy reads as datetime64."""
    return _PLAIN.fullmatch(text) is not None


@dataclass(frozen=True)
class Column:
    """The name of a column and of its rows ("line 7"), for error messages."""

    name: str
    rows: Sequence[str] | None = None

    def row(self, i: int) -> str:
        """The name of a row."""
        return f"row {i}" if self.rows is None else self.rows[i]

    def refuse(self, bad: np.ndarray, why: str) -> None:
        """Raise ValueError for the first bad row, if there is one."""
        if bad.any():
            raise ValueError(f"column {quoted(self.name)}, {self.row(int(np.argmax(bad)))}: {why}")

    def refuse_twice(self, times: np.ndarray, labels: Sequence[str]) -> None:
        """Raise ValueError for the first time that comes twice, if there is one."""
        order = np.argsort(times, kind="stable")
        twice = np.flatnonzero(times[order][1:] == times[order][:-1])
        if len(twice):
            i, j = order[twice[0] : twice[0] + 2].tolist()
            raise ValueError(
                f"column {quoted(self.name)}, {self.row(i)} and {self.row(j)}: {quoted(labels[j])} comes twice: "
                "keep one of the rows, or average them"
            )


@dataclass(frozen=True)
class Stamps:
    """A column of times after reading."""

    wall: np.ndarray
    """Local time, datetime64[us]; plain numbers as float64."""
    utc: np.ndarray | None
    """The same in UTC if the time zone is known."""
    form: Form
    months: int = 0
    """The number of months that a stamp stands for; 0 for days and instants."""
    texts: Sequence[str] | None = None
    """The stamps as they were written, for text and periods."""


def read_stamps(values: Any, column: Column) -> Stamps:
    """The times in a column of any of the types above. A cell that is missing or not a time raises ValueError."""
    if nw.dependencies.is_pandas_series(values) or nw.dependencies.is_pandas_index(values):
        stamps = _read_pandas(values, column)
    elif nw.dependencies.is_polars_series(values):
        stamps = _read_polars(values, column)
    elif isinstance(values, np.ndarray):
        column.refuse(np.ma.getmaskarray(values), MISSING)
        stamps = _read_array(np.asarray(values), "numpy", column)
    else:
        series = nw.from_native(values, series_only=True, pass_through=True)
        stamps = _read_list(series.to_list() if isinstance(series, nw.Series) else list(values), column)
    column.refuse(np.isnat(stamps.wall) if stamps.wall.dtype.kind == "M" else np.isnan(stamps.wall), MISSING)
    return stamps


def _read_array(values: np.ndarray, container: str, column: Column) -> Stamps:
    if values.dtype.kind == "M":
        return Stamps(_microseconds(values, column), None, NumpyTime(values.dtype))
    if values.dtype.kind in "iuf":
        return Stamps(values.astype(np.float64), None, Number(values.dtype, container))
    return _read_list(values.tolist(), column)


def _microseconds(times: np.ndarray, column: Column) -> np.ndarray:
    """Times of any unit as datetime64[us]. Other years than those of Python's calendar raise ValueError."""
    years = times.astype("M8[Y]").astype(np.int64) + 1970
    column.refuse(~np.isnat(times) & ((years < MINYEAR) | (years > MAXYEAR)), OUTSIDE)
    return times.astype("M8[us]")


def _read_pandas(values: Any, column: Column) -> Stamps:
    import pandas as pd

    index = pd.Index(values)
    if isinstance(index, pd.PeriodIndex):
        months = {"Y": 12, "A": 12, "Q": 3, "M": 1}.get(index.freqstr.lstrip("0123456789")[0], 0)
        wall = _microseconds(index.to_timestamp(how="start").to_numpy(), column)
        return Stamps(wall, None, PandasPeriod(index.freqstr), months, index.astype(str).tolist())
    if isinstance(index, pd.DatetimeIndex):
        wall = _microseconds(index.tz_localize(None).to_numpy(), column)
        utc = None if index.tz is None else index.tz_convert("UTC").tz_localize(None).to_numpy().astype("M8[us]")
        return Stamps(wall, utc, PandasTime(index.unit, index.tz))
    if pd.api.types.is_numeric_dtype(index.dtype) and not pd.api.types.is_bool_dtype(index.dtype):
        dtype = np.dtype(np.int64 if pd.api.types.is_integer_dtype(index.dtype) else np.float64)
        return Stamps(index.to_numpy(dtype=np.float64, na_value=np.nan), None, Number(dtype, "pandas"))
    return _read_list([None if pd.isna(value) else value for value in index], column)


def _read_polars(values: Any, column: Column) -> Stamps:
    import polars as pl

    if values.dtype == pl.Date:
        return Stamps(_microseconds(values.to_numpy(), column), None, PolarsTime(None, None))
    if isinstance(values.dtype, pl.Datetime):
        unit, zone = values.dtype.time_unit, values.dtype.time_zone
        wall = _microseconds(values.dt.replace_time_zone(None).to_numpy(), column)
        utc = None
        if zone is not None:
            utc = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy().astype("M8[us]")
        return Stamps(wall, utc, PolarsTime(unit, zone))
    if values.dtype.is_numeric():
        dtype = np.dtype(np.int64 if values.dtype.is_integer() else np.float64)
        return Stamps(values.cast(pl.Float64).to_numpy(), None, Number(dtype, "polars"))
    # the type of another library, such as a period of pandas, of which polars knows only how it is stored
    if values.dtype.base_type().__name__ == "Extension":
        raise ValueError(
            f"column {quoted(column.name)}: polars does not know the times of type {quoted(str(values.dtype))}: "
            "give dates, ISO text or numbers"
        )
    return _read_list(values.to_list(), column)


def _read_list(values: list[Any], column: Column) -> Stamps:
    column.refuse(np.array([value is None or value != value for value in values], dtype=bool), MISSING)  # NaT != NaT
    kinds = {type(value) for value in values}
    pandas = nw.dependencies.get_pandas()
    if pandas is not None and kinds in ({pandas.Timestamp}, {pandas.Period}):
        index = pandas.Index(values)
        if index.dtype != object:  # one time zone, or one frequency
            return _read_pandas(index, column)
    if all(kind in (int, float) or issubclass(kind, np.number | np.datetime64) for kind in kinds):
        array = np.asarray(values)
        if array.dtype.kind in "iufM":
            return _read_array(array, "list", column)
        raise ValueError(f"column {quoted(column.name)}: its numbers are too large, or not of one type: give floats")
    if kinds == {date}:
        return Stamps(np.array(values, dtype="M8[us]"), None, PythonTime(dated=True, zone=None))
    if all(issubclass(kind, datetime) for kind in kinds):
        wall, utc, zone = _clocks(values, column)
        return Stamps(wall, utc, PythonTime(dated=False, zone=zone))
    odd = np.array([not isinstance(value, str) for value in values])
    first = values[int(np.argmax(odd))]
    column.refuse(
        odd, f"{quoted(first)} is not a time, or not of one type with the others: give dates, ISO text or numbers"
    )
    return _read_text([value.strip() for value in values], column)


def is_stamp(text: str) -> bool:
    """Whether a text is one of the ISO stamps above."""
    return _parse(text) is not None


def _parse(text: str) -> tuple[datetime, int] | None:
    """The instant at which a stamp starts, and how many months it stands for."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    try:
        if found["day"]:
            return datetime.fromisoformat(text), 0
        month = 3 * int(found["quarter"]) - 2 if found["quarter"] else int(found["month"] or 1)
        return datetime(int(found["year"]), month, 1), 1 if found["month"] else 3 if found["quarter"] else 12
    except ValueError:
        return None


def _read_text(texts: list[str], column: Column) -> Stamps:
    parsed = [_parse(text) for text in texts]
    bad = np.array([stamp is None for stamp in parsed])
    column.refuse(bad, f"{quoted(texts[int(np.argmax(bad))])} {NO_DATE}")
    stamps = [stamp for stamp in parsed if stamp is not None]
    wall, utc, zone = _clocks([moment for moment, _ in stamps], column)
    months = min(months for _, months in stamps)
    longest = _TEXT.fullmatch(max(texts, key=len))
    assert longest is not None
    detail = {12: "year", 3: "quarter", 1: "month", 0: "day"}[months]
    if longest["mark"]:
        detail = "minutes" if not longest["second"] else "seconds" if not longest["fraction"] else "microseconds"
    mark = longest["mark"] or longest["dash"] or ""
    return Stamps(wall, utc, Text(detail, mark, zone, longest["zone"] == "Z"), months, texts)


def _clocks(moments: list[datetime], column: Column) -> tuple[np.ndarray, np.ndarray | None, tzinfo | None]:
    """Local times, UTC times and the time zone; if the zones differ, UTC is the zone of all."""
    zones = {moment.tzinfo for moment in moments}
    if zones == {None}:
        return np.array(moments, dtype="M8[us]"), None, None
    without = np.array([moment.tzinfo is None for moment in moments])
    column.refuse(without, f"{moments[int(np.argmax(without))]} has no time zone where others do: give it one")
    zone = zones.pop() if len(zones) == 1 else UTC
    utc = np.array([moment.astimezone(UTC).replace(tzinfo=None) for moment in moments], dtype="M8[us]")
    wall = np.array([moment.astimezone(zone).replace(tzinfo=None) for moment in moments], dtype="M8[us]")
    return wall, utc, zone
