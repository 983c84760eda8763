"""The types of stamps of time that users give, and further stamps of the same type.

stamps.py reads a column and finds its `Form`, which writes the times that follow, so that users get back the type they
gave. pandas and polars are imported only for columns of theirs.
"""

import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, tzinfo
from typing import Any, final
from zoneinfo import ZoneInfo

import numpy as np

LAST = np.datetime64(f"{MAXYEAR}-12-30", "us")
"""The last time that can be written: a day before the end of Python's calendar, for the time zones."""


class Form(ABC):
    """A type of stamps."""

    @property
    def last(self) -> np.datetime64:
        """The last time of this type, datetime64[us]."""
        return LAST

    @abstractmethod
    def write(self, times: np.ndarray, name: str, *, local: bool) -> Any:
        """Stamps of this type from datetime64[us] in local time, or in UTC if not `local`."""


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
        utc = to_utc(times, ZoneInfo(self.zone)) if local else times
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
        utc = to_utc(times, self.zone) if local else times
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


def to_utc(times: np.ndarray, zone: tzinfo) -> np.ndarray:
    """Local times in UTC: the earlier instant of an hour that comes twice, one hour later for a skipped hour."""
    moments = [moment.replace(tzinfo=zone).astimezone(UTC) for moment in times.tolist()]
    return np.array([moment.replace(tzinfo=None) for moment in moments], dtype="M8[us]")
