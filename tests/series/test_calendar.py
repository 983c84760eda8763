"""Times become numbers with equal steps, and go on in the type and on the calendar that came in."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.series.calendar import MOST_STEPS, TimeAxis, decimal_years


def months(first, count):
    return np.datetime64(first, "M") + np.arange(count)


def days(first, count, step=1):
    return np.datetime64(first, "D") + step * np.arange(count)


# frequencies

FREQUENCIES = [
    ("YS", "yearly", "years", 1.0),
    ("YE", "yearly", "years", 1.0),
    ("YE-JUN", "yearly", "years", 1.0),
    ("10YE", "yearly", "years", 10.0),
    ("QS", "quarterly", "years", 0.25),
    ("QE", "quarterly", "years", 0.25),
    ("QE-NOV", "quarterly", "years", 0.25),
    ("2QS", "quarterly", "years", 0.5),
    ("MS", "monthly", "years", 1 / 12),
    ("ME", "monthly", "years", 1 / 12),
    ("2MS", "monthly", "years", 2 / 12),
    ("BME", "monthly", "years", 1 / 12),
    ("BMS", "monthly", "years", 1 / 12),
    ("W-SUN", "weekly", "days", 7.0),
    ("2W-MON", "weekly", "days", 14.0),
    ("D", "daily", "days", 1.0),
    ("3D", "daily", "days", 3.0),
    ("B", "business-daily", "days", 1.0),
    ("h", "hourly", "days", 1 / 24),
    ("6h", "hourly", "days", 0.25),
    ("30min", "minutes", "days", 1 / 48),
    ("s", "seconds", "days", 1 / 86400),
    ("250ms", "seconds", "days", 0.25 / 86400),
]


@pytest.mark.parametrize(("code", "frequency", "kind", "spacing"), FREQUENCIES)
def test_pandas_and_farrier_agree_on_what_comes_next(code, frequency, kind, spacing):
    every = pd.date_range("2019-11-20", periods=64, freq=code)
    axis = TimeAxis.of(every[:40], "when")
    assert (axis.frequency, axis.kind, axis.gaps) == (frequency, kind, 0)
    assert_allclose(axis.spacing, spacing, rtol=1e-12)
    assert_array_equal(axis.future(24).stamps, every[40:])


@pytest.mark.parametrize(("code", "frequency", "kind", "spacing"), FREQUENCIES)
def test_the_numbers_go_on_where_the_data_end(code, frequency, kind, spacing):
    every = pd.date_range("2019-11-20", periods=64, freq=code)
    axis = TimeAxis.of(every[:40], "when")
    numbers = np.concatenate([axis.numbers, axis.future(24).numbers])
    assert_array_equal(numbers, TimeAxis.of(every, "when").numbers)
    if frequency != "business-daily":
        assert_allclose(np.diff(numbers), spacing, rtol=1e-6)


@pytest.mark.parametrize(("code", "frequency", "kind", "spacing"), FREQUENCIES)
def test_gaps_are_counted_and_change_nothing_else(code, frequency, kind, spacing):
    every = pd.date_range("2019-11-20", periods=60, freq=code)
    axis = TimeAxis.of(every.delete([3, 17, 18, 40]), "when")
    assert (axis.frequency, axis.gaps) == (frequency, 4)
    assert_allclose(axis.spacing, spacing, rtol=1e-12)
    assert axis.future(1).stamps[0] == every[-1] + every.freq


@pytest.mark.parametrize("day", [1, 15, 28, 29, 30])
def test_a_day_of_the_month_stays_that_day(day):
    stamps = [date(2021, month, min(day, 28 if month == 2 else 30)) for month in range(1, 13)]
    axis = TimeAxis.of(stamps, "date")
    assert axis.frequency == "monthly"
    assert axis.future(2).stamps == [date(2022, 1, day), date(2022, 2, min(day, 28))]


def test_month_ends_stay_month_ends_also_in_leap_years():
    stamps = (months("2023-03", 10) + 1).astype("M8[D]") - 1
    assert axis_future(stamps, 3) == ["2024-01-31", "2024-02-29", "2024-03-31"]


def axis_future(stamps, horizon):
    return [str(stamp) for stamp in TimeAxis.of(stamps, "when").future(horizon).stamps]


def test_month_k_of_a_year_is_the_middle_of_a_twelfth():
    for stamps in (months("1949-01", 24), months("1949-01", 24).astype("M8[D]"), months("1949-01", 24).astype(str)):
        assert_allclose(TimeAxis.of(stamps, "month").numbers, 1949 + (np.arange(1, 25) - 0.5) / 12, rtol=1e-15)


def test_quarters_and_years_are_their_middles():
    assert_array_equal(TimeAxis.of(["1949Q1", "1949Q2", "1949Q4"], "q").numbers, [1949.125, 1949.375, 1949.875])
    assert_array_equal(TimeAxis.of(["1949", "1950", "1953"], "year").numbers, [1949.5, 1950.5, 1953.5])


def test_days_count_from_1970():
    assert_array_equal(TimeAxis.of(days("1969-12-31", 3), "d").numbers, [-1.0, 0.0, 1.0])
    assert_allclose(TimeAxis.of(["1970-01-01 06:00", "1970-01-01 12:00"], "t").numbers, [0.25, 0.5])


def test_business_days_skip_the_weekend():
    friday = days("2024-01-01", 19)
    axis = TimeAxis.of(friday[np.is_busday(friday)], "date")
    assert [str(stamp) for stamp in axis.future(2).stamps] == ["2024-01-22", "2024-01-23"]
    assert axis.gaps == 0


def test_five_days_of_one_week_are_daily():
    assert TimeAxis.of(days("2024-01-01", 5), "date").frequency == "daily"


def test_scattered_stamps_are_irregular_with_their_median_step():
    rng = np.random.default_rng(0)
    scattered = np.sort(np.datetime64("2020-01-01T00:00:00") + rng.integers(0, 10**7, 50))
    axis = TimeAxis.of(scattered, "t")
    assert (axis.frequency, axis.kind, axis.gaps) == ("irregular", "days", 0)
    assert_allclose(axis.spacing * 86400, np.median(np.diff(scattered).astype(int)), atol=1)
    with pytest.warns(UserWarning, match="of 't' follow no known rule, and those of the forecast are 1.05 days"):
        ahead = np.diff(axis.future(3).stamps).astype(int)
    assert_allclose(ahead, axis.spacing * 86400, atol=1e-6)


def test_irregular_dates_go_on_as_dates():
    axis = TimeAxis.of([date(2020, 1, 1) + timedelta(days=d) for d in (0, 3, 4, 11, 30, 38, 60)], "date")
    assert axis.frequency == "irregular"
    with pytest.warns(UserWarning, match=r"8 days apart, the median: choose a step such as 'month' \(step="):
        assert all(type(stamp) is date for stamp in axis.future(2).stamps)
    assert axis.labels()[1] == "2020-01-04"


def test_the_order_of_rows_is_kept():
    axis = TimeAxis.of(["2020-03", "2020-01", "2020-02"], "month")
    assert_allclose(axis.numbers, 2020 + np.array([2.5, 0.5, 1.5]) / 12)
    assert axis.future(1).stamps == ["2020-04"]


# plain numbers


@pytest.mark.parametrize(
    ("numbers", "name", "kind", "frequency", "spacing"),
    [
        (np.arange(1949, 1961), "t", "years", "yearly", 1.0),
        (1949 + np.arange(48) / 4, "t", "years", "quarterly", 0.25),
        (1949 + np.arange(48) / 12, "t", "years", "monthly", 1 / 12),
        (np.round(1949 + np.arange(48) / 12, 2), "t", "years", "monthly", 1 / 12),
        (np.array([1800.0, 1810.0, 1820.0, 1850.0]), "year", "years", "yearly", 10.0),
        (np.array([1800.0, 1803.2, 1811.7]), "Year", "years", "irregular", 5.85),
        (np.array([1800.0, 1803.2, 1811.7]), "depth", "number", "irregular", 5.85),
        (np.arange(20.0), "t", "number", "regular", 1.0),
        (np.arange(20.0) * 0.1, "t", "number", "regular", 0.1),
        (np.arange(1949, 3000, 7), "t", "number", "regular", 7.0),
    ],
)
def test_plain_numbers_stay_as_they_are(numbers, name, kind, frequency, spacing):
    axis = TimeAxis.of(numbers, name)
    assert (axis.kind, axis.frequency) == (kind, frequency)
    assert_allclose(axis.spacing, spacing, rtol=1e-9)
    assert_array_equal(axis.numbers, numbers)
    assert_allclose(axis.future(2).numbers, numbers[-1] + spacing * np.array([1, 2]), rtol=1e-12)


def test_gaps_between_numbers_are_counted():
    assert TimeAxis.of(np.delete(np.arange(30.0), [4, 5, 9]), "t").gaps == 3
    assert TimeAxis.of(np.delete(np.arange(1950, 1990), [4, 5, 9]), "t").gaps == 3


@pytest.mark.parametrize(
    ("stamp", "year"),
    [
        ("2021-01-01", 2021.0),
        ("2021-12-31", 2021 + 364 / 365),
        ("2020-12-31", 2020 + 365 / 366),
        ("2021-01-01T12:00", 2021 + 0.5 / 365),
        ("1900-03-01", 1900 + 59 / 365),
    ],
)
def test_instants_become_decimal_years(stamp, year):
    assert_allclose(decimal_years(np.array([stamp], dtype="M8[us]")), [year], rtol=1e-15)


# what else an axis tells


@pytest.mark.parametrize(
    ("stamps", "periods"),
    [
        (months("2000-01", 24), [1.0]),
        (months("2000-01", 23), []),
        (pd.period_range("2000Q1", periods=12, freq="Q"), [1.0]),
        (np.arange(1900, 1990), []),
        (1900 + np.arange(100) / 12, [1.0]),
        (days("2000-01-03", 110, 7), [365.2425]),
        (days("2021-01-01", 730), [365.2425, 7.0]),
        (days("2021-01-01", 100), [7.0]),
        (days("2021-01-01", 13), []),
        (pd.bdate_range("2021-01-01", periods=60), [7.0]),
        (pd.date_range("2021-01-01", periods=400, freq="h"), [7.0, 1.0]),
        (pd.date_range("2021-01-01", periods=400, freq="10min"), [1.0, 1 / 24]),
        (pd.date_range("2021-01-01", periods=400, freq="s"), [1 / 1440]),
        (pd.date_range("2021-01-01", periods=100, freq="12h"), [7.0]),
        (np.arange(100.0), []),
    ],
)
def test_calendar_periods_are_those_the_data_could_show(stamps, periods):
    assert TimeAxis.of(stamps, "t").calendar_periods() == periods


@pytest.mark.parametrize(
    ("stamps", "label", "after"),
    [
        (pd.date_range("1949-12-31", periods=4, freq="YE"), "1949", "1953"),
        (pd.date_range("1949-03-31", periods=4, freq="QE"), "1949Q1", "1950Q1"),
        (pd.date_range("1949-01-31", periods=4, freq="ME"), "1949-01", "1949-05"),
        (pd.date_range("1949-01-15 12:00", periods=4), "1949-01-15", "1949-01-19"),
        (pd.date_range("1949-01-15", periods=4, freq="h"), "1949-01-15 00:00", "1949-01-15 04:00"),
        (pd.date_range("1949-01-15", periods=4, freq="s"), "1949-01-15 00:00:00", "1949-01-15 00:00:04"),
        (["1949-01-31", "1949-02-28", "1949-03-31"], "1949-01-31", "1949-04-30"),
        (np.array([1.0, 1.5, 2.0]), "1", "2.5"),
    ],
)
def test_labels_say_as_much_as_the_frequency_needs(stamps, label, after):
    axis = TimeAxis.of(stamps, "t")
    assert axis.labels()[0] == label
    assert axis.future(1).labels == [after]


def test_how_far_labels_go_does_not_depend_on_where_the_data_end():
    axis = TimeAxis.of(pd.date_range("2024-01-01", periods=60, freq="s"), "t")
    assert axis.future(1).labels == ["2024-01-01 00:01:00"]


def test_one_month_alone_has_a_next_one():
    assert TimeAxis.of(["2024-02"], "month").future(2).stamps == ["2024-03", "2024-04"]


# refusals

TWICE = "comes twice: keep one of the rows, or average them"
NO_DATE = "is not a date such as 2024-03 or 2024-03-15 18:30: correct it"
MISSING = "the time is missing: fill it in or delete the row"


@pytest.mark.parametrize(
    ("stamps", "expected"),
    [
        (["2020-02", "2020-01", "2020-02"], f"column 't', row 0 and row 2: '2020-02' {TWICE}"),
        (np.array(["2020-01-01"] * 2, dtype="M8[D]"), f"column 't', row 0 and row 1: '2020-01-01' {TWICE}"),
        ([1.0, 2.5, 2.5], f"column 't', row 1 and row 2: '2.5' {TWICE}"),
        (
            [datetime(2024, 1, 1, 13, tzinfo=UTC), datetime(2024, 1, 1, 14, tzinfo=timezone(timedelta(hours=1)))],
            f"column 't', row 0 and row 1: '2024-01-01 13:00' {TWICE}",
        ),
        (["2020-01", None, "2020-03"], f"column 't', row 1: {MISSING}"),
        (np.array(["2020-01", "NaT"], dtype="M8[M]"), f"column 't', row 1: {MISSING}"),
        (pd.DatetimeIndex(["2020-01-01", pd.NaT]), f"column 't', row 1: {MISSING}"),
        (pd.PeriodIndex(["2020-01", None], freq="M"), f"column 't', row 1: {MISSING}"),
        (pd.Series(["2020-01", pd.NA], dtype="string"), f"column 't', row 1: {MISSING}"),
        (pd.Series([1, pd.NA], dtype="Int64"), f"column 't', row 1: {MISSING}"),
        (pl.Series([None, date(2020, 1, 1)]), f"column 't', row 0: {MISSING}"),
        (pl.Series([1, None]), f"column 't', row 1: {MISSING}"),
        ([1.0, float("nan")], f"column 't', row 1: {MISSING}"),
        (np.array([1.0, np.inf]), "column 't', row 1: the time is not finite: correct it or delete the row"),
        (
            ["2020-01", "Feb 2020"],
            f"column 't', row 1: 'Feb 2020' {NO_DATE}",
        ),
        (["2020-13"], f"column 't', row 0: '2020-13' {NO_DATE}"),
        (
            ["2021-02-29"],
            f"column 't', row 0: '2021-02-29' {NO_DATE}",
        ),
        (
            [True, False],
            "column 't', row 0: True is not a time, or not of one type with the others: "
            "give dates, ISO text or numbers",
        ),
        (
            ["2020-01-01 10:00Z", "2020-01-01 11:00"],
            "column 't', row 1: 2020-01-01 11:00:00 has no time zone where others do: give it one",
        ),
        ([], "column 't' holds no times: give at least one row"),
    ],
)
def test_times_that_cannot_be_used_are_refused_in_one_line(stamps, expected):
    with pytest.raises(ValueError) as caught:
        TimeAxis.of(stamps, "t")
    assert str(caught.value) == expected


def test_rows_are_called_what_the_caller_calls_them():
    with pytest.raises(ValueError, match=r"^column 't', line 2 and line 9: "):
        TimeAxis.of([1, 1], "t", rows=["line 2", "line 9"])


def test_a_future_needs_a_spacing_and_a_horizon():
    with pytest.raises(ValueError, match="holds one time only"):
        TimeAxis.of([date(2020, 1, 1)], "t").future(1)
    with pytest.raises(ValueError, match="horizon: -1 is not a number of steps"):
        TimeAxis.of([1, 2], "t").future(-1)


def test_endless_horizons_are_refused():
    axis = TimeAxis.of(np.arange(10.0), "t")
    for horizon in (MOST_STEPS + 1, 10**12):
        with pytest.raises(ValueError, match="too many: give at most 100,000"):
            axis.future(horizon)


@pytest.mark.parametrize("step", [1.0, 1000.0, 86_400_000.0])
def test_epoch_milliseconds_have_labels_that_differ(step):
    axis = TimeAxis.of(1.6e12 + step * np.arange(20), "t")
    assert len(set(axis.labels())) == 20
    assert axis.future(1).labels == [f"{1_600_000_000_000 + 20 * int(step)}"]


def test_labels_show_as_many_digits_as_tell_numbers_apart():
    labels = TimeAxis.of(1.0 + 1e-12 * np.arange(20), "t").labels()
    assert len(set(labels)) == 20


@pytest.mark.parametrize("times", [1e155 * np.arange(8), np.array([-1e308, 0.0, 1e308])])
def test_times_whose_squares_overflow_are_refused(times):
    with pytest.raises(ValueError, match=r"the time is beyond 1e\+150: use a larger unit"):
        TimeAxis.of(times, "t")


def test_steps_of_very_different_size_are_irregular():
    assert TimeAxis.of(np.array([0.0, 1e-30, 2e-30, 3e-30, 1.0]), "t").frequency == "irregular"
