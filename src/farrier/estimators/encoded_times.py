"""Times as plain values and back: dates, time zones, columns of pandas and polars.

Each value is a small dictionary such as {"kind": "date", "text": "2024-03-01"}. pandas and polars are imported only for
their own values. `node` encodes the values inside; the decoders get these values decoded.
"""

import sys
from collections.abc import Callable
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta, timezone, tzinfo
from importlib import import_module
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

Node = dict[str, Any]
"""A value of a model file."""
Encode = Callable[[Any], Any]
"""From a value to its node."""

POLARS_NUMBERS = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64")
"""Types of polars columns that are plain numbers."""
POLARS_OTHERS = ("String", "Boolean")
"""Types of polars columns that are kept as a list of values."""
PANDAS_VALUES = ("object", "str", "string", "Int64", "Int32", "Float64", "Float32", "bool")
"""Types of a pandas index that are kept as a list of values; others become "object"."""


def encode(value: Any, node: Encode) -> Node | None:
    """The node of a time, a zone or a column; None for other values. `node` encodes the values inside."""
    library = type(value).__module__.partition(".")[0]
    if library == "pandas" and "pandas" in sys.modules:
        return _pandas(value, node)
    if library == "polars" and "polars" in sys.modules:
        return _polars(value, node)
    if isinstance(value, datetime):
        return {
            "kind": "datetime",
            "text": value.replace(tzinfo=None).isoformat(),
            "zone": None if value.tzinfo is None else _zone(value.tzinfo),
            "fold": value.fold,
        }
    if isinstance(value, date):
        return {"kind": "date", "text": value.isoformat()}
    if isinstance(value, timedelta):
        return {"kind": "timedelta", "days": value.days, "seconds": value.seconds, "microseconds": value.microseconds}
    return _zone(value) if isinstance(value, tzinfo) else None


def _zone(zone: tzinfo) -> Node:
    name = zone.key if isinstance(zone, ZoneInfo) else getattr(zone, "zone", None)
    if isinstance(name, str):
        return {"kind": "zone", "name": name}
    offset = zone.utcoffset(None)
    if offset is None:
        raise TypeError(f"the time zone {zone} has no name that a file could hold: use zoneinfo.ZoneInfo")
    return {"kind": "offset", "seconds": offset.total_seconds()}


def _pandas(value: Any, node: Encode) -> Node | None:
    pandas = import_module("pandas")
    if value is pandas.NaT:
        return {"kind": "pandas missing time"}
    if isinstance(value, pandas.Timestamp):
        zone = None if value.tzinfo is None else _zone(value.tzinfo)
        return {"kind": "pandas timestamp", "utc": node(value.to_datetime64()), "zone": zone}
    if isinstance(value, pandas.Period):
        return {"kind": "pandas period", "ordinal": int(value.ordinal), "freq": value.freqstr}
    if isinstance(value, pandas.DatetimeIndex):
        naive = value if value.tz is None else value.tz_convert("UTC").tz_localize(None)
        zone = None if value.tz is None else _zone(value.tz)
        inside = {"values": node(naive.to_numpy()), "zone": zone, "freq": value.freqstr, "name": node(value.name)}
        return {"kind": "pandas times", **inside}
    if isinstance(value, pandas.PeriodIndex):
        ordinals = node(value.asi8)
        return {"kind": "pandas periods", "values": ordinals, "freq": value.freqstr, "name": node(value.name)}
    if not isinstance(value, pandas.Index) or isinstance(value, pandas.MultiIndex):
        return None
    if isinstance(value.dtype, np.dtype) and value.dtype.kind in "iufb":
        return {"kind": "pandas numbers", "values": node(value.to_numpy()), "name": node(value.name)}
    dtype = str(value.dtype) if str(value.dtype) in PANDAS_VALUES else "object"
    entries = [None if pandas.isna(entry) else entry for entry in value]
    return {"kind": "pandas index", "values": node(entries), "dtype": dtype, "name": node(value.name)}


def _polars(value: Any, node: Encode) -> Node | None:
    polars = import_module("polars")
    if not isinstance(value, polars.Series):
        return None
    common = {"name": value.name}
    if isinstance(value.dtype, polars.Datetime):
        inside = {"unit": value.dtype.time_unit, "zone": value.dtype.time_zone}
        return {"kind": "polars times", "values": node(value.to_physical().to_numpy()), **inside, **common}
    if value.dtype == polars.Date:
        return {"kind": "polars dates", "values": node(value.to_physical().to_numpy()), **common}
    name = str(value.dtype)
    if name in POLARS_NUMBERS and not value.null_count():
        return {"kind": "polars numbers", "values": node(value.to_numpy()), "dtype": name, **common}
    if name in (*POLARS_NUMBERS, *POLARS_OTHERS):
        return {"kind": "polars values", "values": node(value.to_list()), "dtype": name, **common}
    return None


def _one_of(value: Any, allowed: tuple[Any, ...]) -> Any:
    if value not in allowed:
        raise ValueError(f"{value!r} is not one of {allowed}")
    return value


def _integers(values: Any) -> np.ndarray:
    if not isinstance(values, np.ndarray) or values.dtype.kind != "i" or values.ndim != 1:
        raise TypeError("counts of time are one row of whole numbers")
    return values


def _of_the_calendar(counts: np.ndarray, unit: str) -> np.ndarray:
    """Counts since 1970 that lie in the years 1 to 9999: polars ends the program at others."""
    years = counts.astype(f"M8[{unit}]").astype("M8[Y]").astype(np.int64) + 1970
    if len(years) and not (years.min() > MINYEAR and years.max() < MAXYEAR):
        raise ValueError("a time lies outside the calendar")
    return counts


def _zone_named(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except OSError as error:  # the name of a folder of zones
        raise ValueError(f"there is no time zone {name!r}") from error


def _datetime(text: str, zone: tzinfo | None, fold: int) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=_one_of(fold, (0, 1)))


def _timestamp(utc: np.datetime64, zone: tzinfo | None) -> Any:
    stamp = import_module("pandas").Timestamp(utc)
    return stamp if zone is None else stamp.tz_localize("UTC").tz_convert(zone)


def _times(values: Any, zone: tzinfo | None, freq: str | None, name: Any) -> Any:
    if not isinstance(values, np.ndarray) or values.dtype.kind != "M" or values.ndim != 1:
        raise TypeError("times are one row of datetime64")
    pandas = import_module("pandas")
    index = pandas.DatetimeIndex(values, name=name)
    index = index if zone is None else index.tz_localize("UTC").tz_convert(zone)
    return index if freq is None else pandas.DatetimeIndex(index, freq=freq)


def _periods(values: Any, freq: str, name: Any) -> Any:
    return import_module("pandas").PeriodIndex.from_ordinals(_integers(values), freq=freq, name=name)


def _index(values: Any, dtype: str, name: Any) -> Any:
    return import_module("pandas").Index(values, dtype=_one_of(dtype, PANDAS_VALUES), name=name)


def _polars_times(values: Any, unit: str, zone: str | None, name: str) -> Any:
    polars = import_module("polars")
    zone = None if zone is None else _zone_named(zone).key
    counts = _of_the_calendar(_integers(values), _one_of(unit, ("ms", "us", "ns")))
    return _polars_series(counts, polars.Int64, name).cast(polars.Datetime(unit, zone))


def _polars_dates(values: Any, name: str) -> Any:
    polars = import_module("polars")
    return _polars_series(_of_the_calendar(_integers(values), "D"), polars.Int32, name).cast(polars.Date)


def _polars_values(values: Any, dtype: str, name: str) -> Any:
    return _polars_series(
        values, getattr(import_module("polars"), _one_of(dtype, POLARS_NUMBERS + POLARS_OTHERS)), name
    )


def _polars_series(values: Any, dtype: Any, name: str) -> Any:
    polars = import_module("polars")
    try:
        return polars.Series(name, values, dtype=dtype)
    except polars.exceptions.PolarsError as error:
        raise ValueError(f"a column of polars is not of the type {dtype}") from error


DECODERS: dict[str, Callable[..., Any]] = {
    "datetime": _datetime,
    "date": lambda text: date.fromisoformat(text),
    "timedelta": lambda days, seconds, microseconds: timedelta(days, seconds, microseconds),
    "zone": _zone_named,
    "offset": lambda seconds: timezone(timedelta(seconds=seconds)) if seconds else UTC,
    "pandas missing time": lambda: import_module("pandas").NaT,
    "pandas timestamp": _timestamp,
    "pandas period": lambda ordinal, freq: import_module("pandas").Period(ordinal=ordinal, freq=freq),
    "pandas times": _times,
    "pandas periods": _periods,
    "pandas numbers": lambda values, name: import_module("pandas").Index(values, name=name),
    "pandas index": _index,
    "polars times": _polars_times,
    "polars dates": _polars_dates,
    "polars numbers": _polars_values,
    "polars values": _polars_values,
}
"""The function that builds each kind; its arguments are the other entries of the node, decoded."""
