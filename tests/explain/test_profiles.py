"""One round of the calendar has the right names and levels, whatever the step of the rows."""

import numpy as np
import pytest

from farrier.explain.facts import Axis, Estimate, Factor
from farrier.explain.profiles import profile_of, round_of

YEARS = Axis("month", 2000.0, 2004.0, "years", spacing=1 / 12, timed=True)
HOURS = Axis("time", 18000.0, 18030.0, "days", spacing=1 / 24, timed=True)


def periodic(period: float, column: str) -> Factor:
    return Factor("periodic", (column,), period=Estimate(period, 0.99 * period, 1.01 * period))


@pytest.mark.parametrize(
    ("factors", "axis", "name"),
    [
        ([periodic(1.0, "month")], YEARS, "yearly"),
        ([periodic(7.0, "time")], HOURS, "weekly"),
        ([periodic(1.0, "time")], HOURS, "daily"),
        ([periodic(3.3, "time")], HOURS, ""),
        ([Factor("weekend", ("time",))], HOURS, "weekly"),
        ([periodic(1.0, "time"), Factor("weekend", ("time",))], HOURS, ""),
        ([Factor("smooth", ("time",))], HOURS, ""),
    ],
)
def test_a_component_goes_through_the_round_of_its_period(factors, axis, name):
    assert round_of(factors, axis) == name


def test_months_have_their_names_and_their_levels():
    x = 2000.0 + np.arange(48) / 12.0
    mean = np.where(np.arange(48) % 12 == 6, 11.0, 0.0)
    levels = dict(profile_of("yearly", YEARS, x, mean, np.full(48, 0.1), float))
    assert max(levels, key=lambda name: levels[name].value) == "July"
    assert levels["July"].value == pytest.approx(11.0 - 11.0 / 12.0)
    assert levels["July"].high - levels["July"].low == pytest.approx(2 * 1.96 * 0.1)


def test_a_sample_of_the_rows_has_all_hours():
    """Two of three rows; the pattern was the opposite until three weeks before the end."""
    rows = np.sort(np.random.default_rng(0).choice(24 * 28, 16 * 28, replace=False))
    x, hour = 18000.0 + rows / 24.0, rows % 24
    mean = np.where(rows < 24 * 7, -1.0, 1.0) * np.where(hour == 12, 24.0, 0.0)
    levels = dict(profile_of("daily", HOURS, x, mean, np.zeros(len(x)), float))
    assert len(levels) == 24
    assert levels["12:00"].value == pytest.approx(23.0)


def test_quarters_have_theirs():
    axis = Axis("quarter", 2000.0, 2010.0, "years", spacing=0.25, timed=True)
    for shift in (0.0, 0.125):  # decimal years stand for the beginning of a quarter, stamps for its middle
        x = 2000.0 + shift + np.arange(40) / 4.0
        mean = np.where(np.arange(40) % 4 == 3, 4.0, 0.0)
        levels = dict(profile_of("yearly", axis, x, mean, np.full(40, 0.1), float))
        assert {name: round(one.value, 9) for name, one in levels.items()} == {"Q1": -1, "Q2": -1, "Q3": -1, "Q4": 3}
    assert round_of([periodic(1.0, "quarter")], axis) == "yearly"


def test_days_and_hours_have_theirs():
    x = 18000.0 + np.arange(24 * 28) / 24.0  # 18000 is a Sunday, 2019-04-14
    hour, day = np.arange(24 * 28) % 24, (np.arange(24 * 28) // 24) % 7
    sundays = dict(profile_of("weekly", HOURS, x, 7.0 * (day == 0), np.zeros(len(x)), float))
    noons = dict(profile_of("daily", HOURS, x, 24.0 * (hour == 12), np.zeros(len(x)), float))
    assert sundays["Sunday"].value == pytest.approx(6.0)
    assert noons["12:00"].value == pytest.approx(23.0)
