"""Stamps of time of any type as arrays of datetime64, and further stamps of the same type.

`read_stamps` takes numpy arrays, pandas and polars columns, Python dates, ISO text ("1949", "1949Q1", "1949-01",
"1949-01-15", "1949-01-15 13:00") and plain numbers. The `Form` it finds writes further stamps, so that users get
back the type they gave. pandas and polars are imported only for columns of theirs. calendar.py finds the step between
times and the times that follow.
"""

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, tzinfo
from typing import Any, final
from zoneinfo import ZoneInfo

import narwhals.stable.v2 as nw
import numpy as np

from farrier.model.quoting import quoted

MISSING = "the time is missing: fill it in or delete the row"
NO_DATE = "is not a date such as 2024-03 or 2024-03-15 18:30: correct it"
OUTSIDE = f"the time lies outside the years {MINYEAR} to {MAXYEAR}: correct it, or give plain numbers"
LAST = np.datetime64(f"{MAXYEAR}-12-30", "us")
"""The last time that can be written: a day before the end of Python's calendar, for the time zones."""

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


class Form(ABC):
    """A type of stamps."""

    @property
    def last(self) -> np.datetime64:
        """The last time of this type, datetime64[us]."""
        return LAST

    @abstractmethod
    def write(self, times: np.ndarray, name: str, *, local: bool) -> Any:
        """Stamps of this type from datetime64[us] in local time, or in UTC if not `local`."""


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


@final
@dataclass(frozen=True)
class Number(Form):
    """Plain numbers."""

    dtype: np.dtype
    container: str

    def write(self, times: np.ndarray, name: str, *, local: bool) -> Any:
        numbers = times
        if self.dtype.kind in "iu" and np.array_equal(times, np.round(times)):
            # a small type such as int8 may not hold the times that follow
            fits = (one for one in (self.dtype, np.dtype(np.int64)) if _holds(one, times))
            numbers = times.astype(next(fits, times.dtype))
        if self.container == "pandas":
            return importlib.import_module("pandas").Index(numbers, name=name)
        if self.container == "polars":
            return importlib.import_module("polars").Series(name, numbers)
        return numbers.tolist() if self.container == "list" else numbers


def _holds(dtype: np.dtype, numbers: np.ndarray) -> bool:
    """Whether a type of integers holds whole numbers; float64 rounds the largest integer up, hence the strict end."""
    ends = np.iinfo(dtype)
    return len(numbers) == 0 or (float(ends.min) <= numbers.min() and numbers.max() < float(ends.max) + 1.0)


@final
@dataclass(frozen=True)
class NumpyTime(Form):
    """datetime64 of any unit."""

    dtype: np.dtype

    @property
    def last(self) -> np.datetime64:
        return _last_of(np.datetime_data(self.dtype)[0])

    def write(self, times: np.ndarray, name: str, *, local: bool) -> np.ndarray:
        return times.astype(self.dtype)


@final
@dataclass(frozen=True)
class PandasTime(Form):
    """A pandas DatetimeIndex, with or without time zone."""

    unit: str
    zone: tzinfo | None

    @property
    def last(self) -> np.datetime64:
        return _last_of(self.unit)

    def write(self, times: np.ndarray, name: str, *, local: bool) -> Any:
        index = importlib.import_module("pandas").DatetimeIndex(times.astype(f"M8[{self.unit}]"), name=name)
        if self.zone is None:
            return index
        if not local:
            return index.tz_localize("UTC").tz_convert(self.zone)
        earlier = np.ones(len(index), dtype=bool)
        return index.tz_localize(self.zone, ambiguous=earlier, nonexistent="shift_forward")


@final
@dataclass(frozen=True)
class PandasPeriod(Form):
    """A pandas PeriodIndex."""

    frequency: str

    def write(self, times: np.ndarray, name: str, *, local: bool) -> Any:
        pandas = importlib.import_module("pandas")
        return pandas.PeriodIndex(pandas.DatetimeIndex(times), freq=self.frequency, name=name)


@final
@dataclass(frozen=True)
class PolarsTime(Form):
    """A polars series of Datetime, with or without time zone, or of Date if `unit` is None."""

    unit: str | None
    zone: str | None

    @property
    def last(self) -> np.datetime64:
        return _last_of(self.unit or "D")

    def write(self, times: np.ndarray, name: str, *, local: bool) -> Any:
        polars = importlib.import_module("polars")
        if self.unit is None:
            return polars.Series(name, times.astype("M8[D]"))
        if self.zone is None:
            return polars.Series(name, times).dt.cast_time_unit(self.unit)
        utc = _to_utc(times, ZoneInfo(self.zone)) if local else times
        series = polars.Series(name, utc).dt.cast_time_unit(self.unit)
        return series.dt.replace_time_zone("UTC").dt.convert_time_zone(self.zone)


@final
@dataclass(frozen=True)
class PythonTime(Form):
    """A list of datetimes, with or without time zone, or of dates."""

    dated: bool
    zone: tzinfo | None

    def write(self, times: np.ndarray, name: str, *, local: bool) -> list[Any]:
        if self.dated:
            return times.astype("M8[D]").tolist()
        if self.zone is None:
            return times.tolist()
        utc = _to_utc(times, self.zone) if local else times
        return [moment.replace(tzinfo=UTC).astimezone(self.zone) for moment in utc.tolist()]


@final
@dataclass(frozen=True)
class Text(Form):
    """ISO text down to the year, quarter, month or day, or to a `timespec` of isoformat."""

    detail: str
    mark: str
    zone: tzinfo | None
    zulu: bool

    def write(self, times: np.ndarray, name: str, *, local: bool) -> list[str]:
        return [self._write(moment) for moment in PythonTime(False, self.zone).write(times, name, local=local)]

    def _write(self, moment: datetime) -> str:
        match self.detail:
            case "year":
                return f"{moment.year:04d}"
            case "quarter":
                return f"{moment.year:04d}{self.mark}Q{(moment.month + 2) // 3}"
            case "month":
                return f"{moment.year:04d}-{moment.month:02d}"
            case "day":
                return moment.date().isoformat()
        text = moment.isoformat(sep=self.mark, timespec=self.detail)
        return text.replace("+00:00", "Z") if self.zulu else text


def _last_of(unit: str) -> np.datetime64:
    """The last time of a unit of datetime64; 64 bits of nanoseconds end in 2262."""
    if unit in ("ns", "ps", "fs", "as"):
        return (np.datetime64(np.iinfo(np.int64).max, unit).astype("M8[D]") - 1).astype("M8[us]")
    return LAST


def zone_of(form: Form) -> str | None:
    """The name of the time zone of stamps; None if they have none."""
    zoned = isinstance(form, PandasTime | PolarsTime | PythonTime | Text)
    return str(form.zone) if zoned and form.zone is not None else None


def tzinfo_of(form: Form) -> tzinfo | None:
    """The time zone of stamps; None if they have none."""
    if not isinstance(form, PandasTime | PolarsTime | PythonTime | Text) or form.zone is None:
        return None
    return ZoneInfo(form.zone) if isinstance(form.zone, str) else form.zone


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


def _to_utc(times: np.ndarray, zone: tzinfo) -> np.ndarray:
    """Local times in UTC: the earlier instant of an hour that comes twice, one hour later for a skipped hour."""
    moments = [moment.replace(tzinfo=zone).astimezone(UTC) for moment in times.tolist()]
    return np.array([moment.replace(tzinfo=None) for moment in moments], dtype="M8[us]")
