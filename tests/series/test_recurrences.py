"""Laws of recurrences: the dates of a forecast are those of the calendar that the rows show, or it is said that not."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from pandas.tseries import offsets

from farrier.series.calendar import TimeAxis
from farrier.series.recurrences import HalfMonths, Openings, WorkingDays, recurrence_of

WEEKS = [f"W-{day}" for day in ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")]
DAYS = ["D", "2D", "3D", "10D", "B", "2B", "3B", "5B", "2W-MON", "4W-FRI", "WOM-1MON", "WOM-3FRI", "WOM-4THU", "36h"]
MONTHS = ["MS", "ME", "BMS", "BME", "2MS", "6ME", "SMS", "SME", "SMS-10", "SME-20"]
YEARS = ["QS", "QS-FEB", "QE", "QE-NOV", "BQS", "BQE", "BQE-NOV", "YS", "YS-APR", "YE", "YE-FEB", "BYS", "BYE", "2YS"]
HOURS = ["h", "2h", "6h", "bh", "min", "15min", "90min", "s", "30s"]
OTHERS = [
    offsets.LastWeekOfMonth(weekday=4),
    offsets.CustomBusinessMonthEnd(),
    offsets.CustomBusinessMonthBegin(),
    offsets.CustomBusinessDay(weekmask="Sun Mon Tue Wed Thu"),
    offsets.CustomBusinessDay(weekmask="Mon Wed Fri"),
    offsets.CustomBusinessHour(start="08:00", end="16:00"),
    offsets.FY5253(weekday=4, startingMonth=12, variation="last"),
]


@pytest.mark.parametrize("offset", [*WEEKS, *DAYS, *MONTHS, *YEARS, *HOURS, *OTHERS], ids=str)
def test_a_forecast_goes_on_as_pandas_does(offset):
    for first, count in (("2019-01-01", 64), ("2021-06-15", 90)):
        stamps = pd.date_range(first, periods=count + 12, freq=offset)
        axis = TimeAxis.of(stamps[:count], "time")
        assert_array_equal(axis.future(12).stamps, stamps[count:])


@pytest.mark.parametrize(("offset", "count"), [(offsets.Easter(), 40), ("bh", 24), (offsets.BusinessHour(), 13)])
def test_dates_that_are_not_certain_are_said_to_be_guessed(offset, count):
    stamps = pd.date_range("2019-01-01", periods=count, freq=offset)
    with pytest.warns(UserWarning, match="the dates of 'time' follow no known rule, and those of the forecast are"):
        assert len(TimeAxis.of(stamps, "time").future(3).stamps) == 3
    with_step = TimeAxis.of(stamps, "time").stepped("day")
    assert with_step.future(1).stamps[0] == stamps[-1] + pd.Timedelta(days=1)


def test_gaps_are_no_rule():
    days = np.arange("2024-01-01", "2024-04-01", dtype="M8[D]").astype("M8[us]")
    some = days[np.random.default_rng(0).random(len(days)) < 0.8]
    assert recurrence_of(some) is None
    assert recurrence_of(np.delete(days, [5, 12, 40])) is None
    hours = np.arange("2024-01-01T00", "2024-02-01T00", dtype="M8[h]").astype("M8[us]")
    assert recurrence_of(np.delete(hours, slice(50, 60))) is None
    seconds = np.random.default_rng(0).choice(10**9, 20_000, replace=False)
    assert recurrence_of(np.sort(days[0] + seconds.astype("m8[s]"))) is None


def test_rules_are_found_from_their_times():
    def rule(offset, count=40):
        return recurrence_of(pd.date_range("2024-01-01", periods=count, freq=offset).to_numpy().astype("M8[us]"))

    assert rule("SMS") == HalfMonths((1, 15))
    assert rule("SME") == HalfMonths((15, 31))
    assert rule("3B") == WorkingDays(3)
    hours = tuple(3_600_000_000 * np.arange(9, 17))
    assert rule("bh", 80) == Openings((0, 1, 2, 3, 4), hours)
    closed = pd.date_range("2024-01-01", periods=80, freq="bh").delete([3, 20, 41])
    assert recurrence_of(closed.to_numpy().astype("M8[us]")) == Openings((0, 1, 2, 3, 4), hours)
