"""Laws of the patterns of an axis: those that its rows can show, in local time, also where the clocks change."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

from farrier.kernels.registry import DayOfWeek, LocalDay
from farrier.series.calendar import TimeAxis
from farrier.series.calendar_patterns import calendar_patterns, offset_changes, shows_days, year_range

CHRISTMAS = {date(year, 12, day): f"the {day}th" for year in range(2022, 2026) for day in (25, 26)}


def symbols(index, holidays={}):  # noqa: B006
    return [str(kernel) for kernel in calendar_patterns(TimeAxis.of(index, "t"), holidays)]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (
            pd.date_range("2024-03-01", periods=504, freq="h"),
            # the hour of the week is one of the seasons
            ["Weekday", "Weekend", "Per0 * Weekend"],
        ),
        (pd.date_range("2024-03-01", periods=10, freq="D"), []),
        (pd.date_range("2024-03-01", periods=40, freq="D"), ["Weekday", "Weekend"]),
        (pd.bdate_range("2024-01-01", periods=80), ["Weekday", "Monthend", "Lastworkday", "Monthday"]),
        (pd.date_range("2024-03-01", periods=80, freq="W"), []),
        (pd.date_range("2010-01-01", periods=80, freq="MS"), []),
        (np.arange(100.0), []),
    ],
    ids=["hours", "ten days", "forty days", "business days", "weeks", "months", "numbers"],
)
def test_patterns_are_those_the_rows_can_show(index, expected):
    assert symbols(index) == expected


def test_two_years_of_days_show_months_and_holidays():
    found = symbols(pd.date_range("2022-03-01", periods=800), CHRISTMAS)
    assert {"Month", "Monthday", "Holiday", "Anyholiday", "Dayoff"} <= set(found)


def test_a_holiday_that_no_row_shows_is_no_pattern():
    assert "Holiday" not in symbols(pd.date_range("2024-03-01", periods=80), CHRISTMAS)


def test_rows_with_missing_weeks_show_the_week():
    index = pd.date_range("2024-03-01", periods=90)
    assert "Weekday" in symbols(index.delete(range(30, 51)))


def test_holidays_of_business_days_are_not_called_weekends():
    found = symbols(pd.bdate_range("2022-01-03", periods=700), CHRISTMAS)
    assert "Anyholiday" in found
    assert not {"Weekend", "Dayoff"} & set(found)


def test_days_of_zoned_hours_are_local_days_on_both_sides_of_a_change():
    index = pd.date_range("2024-03-10", periods=1000, freq="h", tz="Europe/Berlin")
    axis = TimeAxis.of(index, "t")
    week = next(kernel for kernel in calendar_patterns(axis) if isinstance(kernel, DayOfWeek))
    later = axis.future(24 * 260)  # past October
    for numbers, stamps in ((axis.numbers, index), (later.numbers, later.stamps)):
        assert np.array_equal(week.levels_at(numbers), stamps.day_of_week)


def test_daily_cycles_of_zoned_hours_follow_the_clock():
    zoned = calendar_patterns(TimeAxis.of(pd.date_range("2024-03-10", periods=500, freq="h", tz="Europe/Berlin"), "t"))
    assert sum(isinstance(kernel, LocalDay) for kernel in zoned) == 1
    assert "Perday * Weekend" in [str(kernel) for kernel in zoned]
    utc = symbols(pd.date_range("2024-03-10", periods=500, freq="h", tz="UTC"))
    assert "Per0 * Weekend" in utc


def test_zones_change_where_zoneinfo_says():
    changes, offsets = offset_changes(ZoneInfo("Europe/Berlin"), datetime(2024, 1, 1), datetime(2025, 1, 1))
    moments = [np.datetime64("1970-01-01") + np.timedelta64(round(day * 86400), "s") for day in changes]
    assert moments == [np.datetime64("2024-03-31T01:00:00"), np.datetime64("2024-10-27T01:00:00")]
    assert np.allclose(np.array(offsets) * 24, [1.0, 2.0, 1.0])


def test_years_reach_ahead_of_the_rows():
    axis = TimeAxis.of(pd.date_range("2024-03-01", periods=80), "t")
    first, last = year_range(axis)
    assert first == 2023
    assert last >= 2034
    assert shows_days(axis)


def test_years_stay_within_those_that_a_date_can_have():
    for start in ("0001-01-01", "9999-11-01"):
        days = np.datetime64(start) + np.arange(40)
        first, last = year_range(TimeAxis.of(days, "t"))
        assert 1 <= first <= last <= 9999
