"""Stamps of every type and time zone become times, and the future comes back as what came in."""

import pickle
import subprocess
import sys
from datetime import date, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.series.calendar import TimeAxis

BERLIN = "Europe/Berlin"


def months(first, count):
    return np.datetime64(first, "M") + np.arange(count)


def days(first, count):
    return np.datetime64(first, "D") + np.arange(count)


# types

TYPES = {
    "numpy days": days("2024-01-01", 20),
    "numpy nanoseconds": days("2024-01-01", 20).astype("M8[ns]"),
    "pandas index": pd.date_range("2024-01-01", periods=20),
    "pandas zone": pd.date_range("2024-03-20", periods=20, tz=BERLIN),
    "pandas zone, hours": pd.date_range("2024-10-26", periods=20, freq="h", tz=BERLIN),
    "pandas periods": pd.period_range("2024-01", periods=20, freq="M"),
    "pandas quarters": pd.period_range("2024Q1", periods=20, freq="Q-NOV"),
    "pandas weeks": pd.period_range("2024-01-01", periods=20, freq="W"),
    "polars dates": pl.Series("t", days("2024-01-01", 20)),
    "polars milliseconds": pl.Series("t", days("2024-01-01", 20).astype("M8[ms]")),
    "polars zone": pl.Series("t", days("2024-03-20", 20).astype("M8[us]")).dt.replace_time_zone(BERLIN),
    "dates": days("2024-01-01", 20).tolist(),
    "datetimes": days("2024-01-01", 20).astype("M8[us]").tolist(),
    "datetimes of a zone": [datetime(2024, 3, 20 + i, tzinfo=ZoneInfo(BERLIN)) for i in range(12)],
    "years as text": [str(year) for year in range(1990, 2010)],
    "quarters as text": ["2023-Q1", "2023-Q2", "2023-Q3", "2023-Q4"],
    "months as text": months("2023-02", 20).astype(str).tolist(),
    "days as text": days("2024-01-01", 20).astype(str),
    "minutes as text": [f"2024-01-01 13:{minute:02d}" for minute in range(0, 60, 5)],
    "seconds as text": [f"2024-01-01T13:00:{second:02d}" for second in range(0, 60, 5)],
    "UTC as text": [f"2024-01-01T{hour:02d}:00:00Z" for hour in range(12)],
    "offset as text": [f"2024-01-01T{hour:02d}:00+06:00" for hour in range(12)],
    "integers": np.arange(5),
    "floats": np.linspace(0.0, 2.0, 5),
    "list of integers": [3, 4, 5],
    "pandas numbers": pd.Index([1.5, 2.5, 3.5], name="t"),
    "polars numbers": pl.Series("t", [10, 20, 30]),
}


@pytest.mark.parametrize("name", TYPES)
def test_the_future_has_the_type_that_came_in_and_continues_it(name):
    stamps = TYPES[name]
    half = len(stamps) * 2 // 3
    after = TimeAxis.of(stamps[:half], "t").future(len(stamps) - half).stamps
    assert type(after) is (list if isinstance(stamps, np.ndarray) and stamps.dtype.kind == "U" else type(stamps))
    assert list(after) == list(stamps[half:])
    if not isinstance(after, list):
        assert after.dtype == stamps.dtype


def test_a_pandas_series_gives_an_index():
    stamps = pd.Series(pd.date_range("2024-01-31", periods=6, freq="ME"))
    after = TimeAxis.of(stamps, "month").future(2).stamps
    assert isinstance(after, pd.DatetimeIndex)
    assert list(after) == [pd.Timestamp("2024-07-31"), pd.Timestamp("2024-08-31")]
    assert after.name == "month"


def test_a_list_of_pandas_stamps_gives_an_index():
    every = pd.date_range("2024-01-01", periods=20, freq="h")
    assert list(TimeAxis.of(list(every[:12]), "t").future(8).stamps) == list(every[12:])


def test_an_axis_can_be_saved():
    for stamps in TYPES.values():
        axis = TimeAxis.of(stamps, "t")
        assert pickle.loads(pickle.dumps(axis)).future(2).labels == axis.future(2).labels


def test_neither_pandas_nor_polars_is_imported_for_plain_stamps():
    code = (
        "import sys; from farrier.series.calendar import TimeAxis; TimeAxis.of(['2020-01', '2020-02'], 't').future(2); "
        "assert not {'pandas', 'polars', 'pyarrow', 'jax'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# time zones


@pytest.mark.parametrize("first", ["2024-03-20", "2024-10-18"])
def test_midnights_stay_a_day_apart_when_the_clocks_change(first):
    stamps = pd.date_range(first, periods=20, tz=BERLIN)
    axis = TimeAxis.of(stamps, "day")
    assert axis.frequency == "daily"
    assert_array_equal(axis.numbers, TimeAxis.of(stamps.tz_localize(None), "day").numbers)


@pytest.mark.parametrize("first", ["2024-03-30", "2024-10-26"])
def test_hours_are_counted_in_utc(first):
    stamps = pd.date_range(first, periods=48, freq="h", tz=BERLIN)
    axis = TimeAxis.of(stamps, "hour")
    assert (axis.frequency, axis.gaps) == ("hourly", 0)
    assert_array_equal(axis.numbers, TimeAxis.of(stamps.tz_convert("UTC").tz_localize(None), "hour").numbers)
    assert axis.labels()[0] == f"{first} 00:00"


def test_a_midnight_that_the_clocks_skipped_does_not_break_days():
    # In São Paulo the clocks went from 0:00 to 1:00 on 2018-11-04.
    stamps = pd.date_range("2018-10-10", periods=60).tz_localize("America/Sao_Paulo", nonexistent="shift_forward")
    assert list(stamps.hour[24:27]) == [0, 1, 0]
    moments = [stamp.to_pydatetime() for stamp in stamps]
    series = pl.Series("day", moments, dtype=pl.Datetime("us", "America/Sao_Paulo"))
    for every in (stamps, series, moments):
        axis = TimeAxis.of(every, "day")
        assert (axis.frequency, axis.gaps) == ("daily", 0)
        assert_array_equal(np.diff(axis.numbers), 1.0)
        assert list(TimeAxis.of(every[:20], "day").future(40).stamps) == list(every[20:])


def test_months_of_a_zone_are_the_months_of_its_clock():
    stamps = pd.date_range("2024-01-01", periods=12, freq="MS", tz="Asia/Tokyo")
    assert_allclose(TimeAxis.of(stamps, "m").numbers, 2024 + (np.arange(12) + 0.5) / 12)


def test_offsets_that_differ_become_utc():
    stamps = ["2024-03-30T23:00+01:00", "2024-03-31T23:00+02:00", "2024-04-01T23:00+02:00", "2024-04-01T23:30+02:00"]
    axis = TimeAxis.of(stamps, "t")
    assert_allclose(np.diff(axis.numbers), [23 / 24, 1.0, 0.5 / 24], rtol=1e-9)
    with pytest.warns(UserWarning, match="follow no known rule"):
        assert axis.future(1).stamps[0].endswith("+00:00")


# hostile columns


FAR = {
    "a list": [datetime(9990 + i, 1, 1) for i in range(8)],
    "text": [f"{9990 + i}-01-01" for i in range(8)],
    "numpy": np.array([f"{9990 + i}-01-01" for i in range(8)], dtype="M8[D]"),
    "pandas": pd.DatetimeIndex(np.array([f"{9990 + i}-01-01" for i in range(8)], dtype="M8[s]")),
    "polars": pl.Series("t", [date(9990 + i, 1, 1) for i in range(8)]),
}


@pytest.mark.parametrize("name", FAR)
def test_the_future_ends_with_the_calendar(name):
    axis = TimeAxis.of(FAR[name], "t")
    assert len(axis.future(2).stamps) == 2
    for horizon in (3, 100_000):
        with pytest.raises(ValueError, match=r"go past the year 9999, .* give at most 2$"):
            axis.future(horizon)


@pytest.mark.parametrize("kind", [lambda t: t, pd.DatetimeIndex, lambda t: pl.Series("t", t)])
def test_nanoseconds_end_in_2262_and_never_wrap(kind):
    stamps = kind(np.array([f"{2250 + i}-01-01" for i in range(8)], dtype="M8[ns]"))
    axis = TimeAxis.of(stamps, "t")
    assert axis.future(5).labels[-1] == "2262"
    with pytest.raises(ValueError, match=r"the year 2262, .* give at most 5$"):
        axis.future(6)


@pytest.mark.parametrize("year", ["-0003", "0000", "10000", "250000"])
def test_years_outside_the_calendar_are_refused(year):
    times = np.array(["2020", "2021", year], dtype="M8[Y]")
    with pytest.raises(ValueError, match="row 2: the time lies outside the years 1 to 9999"):
        TimeAxis.of(times, "t")


def test_small_integers_give_way_to_larger_ones():
    after = TimeAxis.of(np.arange(120, dtype=np.int8), "t").future(20).stamps
    assert_array_equal(after, np.arange(120, 140))
    assert after.dtype == np.int64
    assert TimeAxis.of(np.arange(100, dtype=np.int8), "t").future(20).stamps.dtype == np.int8


@pytest.mark.parametrize(
    "others",
    [pd.date_range("2024-01-02", periods=3), pd.period_range("2024-01-02", periods=3)],
    ids=["without zone", "periods"],
)
def test_stamps_of_several_kinds_in_a_list_are_refused(others):
    with pytest.raises(ValueError, match=r"no time zone where others do|not of one type"):
        TimeAxis.of([pd.Timestamp("2024-01-01", tz="UTC"), *others], "t")


def test_stamps_of_several_zones_in_a_list_are_read_in_utc():
    stamps = [pd.Timestamp("2024-01-01", tz="UTC"), *pd.date_range("2024-01-02 01:00", periods=3, tz=BERLIN)]
    assert TimeAxis.of(stamps, "t").labels() == [f"2024-01-0{day}" for day in (1, 2, 3, 4)]


def test_a_masked_time_is_missing():
    times = np.ma.array(np.arange(6.0), mask=[0, 0, 1, 0, 0, 0])
    with pytest.raises(ValueError, match="row 2: the time is missing"):
        TimeAxis.of(times, "t")


def test_errors_cut_long_names_and_cells():
    with pytest.raises(ValueError, match="not a date") as caught:
        TimeAxis.of(["2024-01-01", "x" * 20_000], "n" * 20_000)
    assert len(str(caught.value)) < 400
    assert "20,000 characters" in str(caught.value)


def test_integers_beyond_64_bits_are_no_times():
    with pytest.raises(ValueError, match="too large, or not of one type"):
        TimeAxis.of([10**400, 10**401], "t")
