"""Golden sentences of calendar patterns: what is high, what is low, by how much, and what stays unsaid."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from farrier import Forecaster
from farrier.explain import report_figures, sentences
from farrier.explain.calendar_words import extremes
from farrier.explain.facts import Axis, Estimate, Level, Target
from tests.explain.components import component, factor, line, periodic, smooth

DAY = {"day": Axis("day", 19000.0, 19200.0, "days", spacing=1.0)}
SALES, SHARE = Target("sales", "EUR"), Target("sales", "EUR", "multiplicative")
WEEK = tuple(Level(name, Estimate(v, v - 3.0, v + 3.0)) for name, v in (("Friday", 12.0), ("Sunday", -30.0)))
DAYS = (Level("working days", Estimate(12.0, 11.0, 13.0)), Level("weekends", Estimate(-30.0, -32.0, -28.0)))
EVENTS = (
    Level("Christmas Day", Estimate(120.0, 95.0, 145.0)),
    Level("Labor Day", Estimate(3.0, -20.0, 26.0)),
    Level("Easter Monday", Estimate(-30.0, -41.0, -19.0)),
)


def pattern(kind, *others, **known):
    return component(factor(kind, "day"), *others, **known)


@pytest.mark.parametrize(
    ("facts", "target", "title", "said"),
    [
        (
            pattern("weekday", profile=WEEK),
            SALES,
            "A weekly pattern",
            "A weekly pattern: lowest on Sundays (-30 EUR), highest on Fridays (+12 EUR).",
        ),
        (
            pattern("weekend", profile=DAYS, contrast=Estimate(-42.0, -45.0, -39.0)),
            SALES,
            "Lower weekends",
            "Lower weekends: -42.0 EUR (-45.0 to -39.0) beside working days.",
        ),
        (
            pattern("weekend", profile=DAYS, contrast=Estimate(0.12, 0.10, 0.14)),
            SHARE,
            "Higher weekends",
            "Higher weekends: +12.0 % (10.0 to 14.0) beside working days.",
        ),
        (
            pattern(
                "monthend",
                profile=(Level("the last day of the month", Estimate(8.0, 7.0, 9.0)),),
                contrast=Estimate(8.0, 7.0, 9.0),
            ),
            SALES,
            "Higher month ends",
            "Higher month ends: +8.00 EUR (7.00 to 9.00) on the last day of the month.",
        ),
        (
            pattern("holiday", profile=EVENTS),
            SALES,
            "Holidays",
            "Holidays: Christmas Day +120 EUR (95 to 145), Easter Monday -30.0 EUR (-41.0 to -19.0), and one other.",
        ),
        (
            pattern("holiday", profile=(Level("promotion", Estimate(9.0, 8.0, 10.0)),)),
            SALES,
            "Promotion",
            "Promotion: +9.00 EUR (8.00 to 10.00).",
        ),
        (
            pattern("month", profile=(Level("May", Estimate(2.0, 1.0, 3.0)), Level("June", Estimate(-1.0, -2.0, 0.0)))),
            SALES,
            "A yearly pattern, month by month",
            "A yearly pattern, month by month: lowest in June (-1.0 EUR), highest in May (+2.0 EUR).",
        ),
        (
            pattern("monthday", profile=(Level("1", Estimate(2.0, 1.0, 3.0)), Level("22", Estimate(-1.0, -2.0, 0.0)))),
            SALES,
            "A pattern of the days of the month",
            "A pattern of the days of the month: lowest on the 22nd (-1.0 EUR), highest on the 1st (+2.0 EUR).",
        ),
        (pattern("weekend"), SALES, "A pattern of weekends", "A pattern of weekends."),
    ],
)
def test_a_pattern_says_when_and_how_much(facts, target, title, said):
    assert sentences.title(facts, DAY, target) == title
    assert sentences.sentence(facts, DAY, target) == said
    assert sentences.future(facts, DAY, target) == "It goes on with the calendar beyond the data."


def test_a_daily_cycle_that_differs_between_days_says_so():
    facts = component(periodic(1.0, column="day"), factor("weekend", "day"))
    said = sentences.sentence(facts, DAY, SALES)
    assert said.startswith("A daily pattern that repeats exactly every 1.0 days")
    assert "its shape differs between working days and days off" in said


def week(*values, spread=1.5):
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return tuple(Level(name, Estimate(v, v - spread, v + spread)) for name, v in zip(names, values, strict=True))


def test_a_day_that_is_highest_by_chance_is_not_named():
    profile = week(1.9, 0.5, 2.8, 1.7, 3.0, 2.6, -12.4)
    said = sentences.sentence(pattern("weekday", profile=profile), DAY, SALES)
    assert said.startswith("A weekly pattern: lowest on Sundays (-12 EUR), mostly about +2.4 EUR otherwise.")
    assert extremes(profile, SALES) == "lowest on Sundays (-12 EUR), mostly about +2.4 EUR otherwise"
    # two days that differ are no matter of one day and the others
    two = week(-21.0, -20.0, -20.5, -21.5, -20.2, 40.0, 59.0)
    assert "otherwise" not in extremes(two, SALES)
    # where intervals tell it apart it is
    sure = week(1.9, 0.5, 2.8, 1.7, 3.0, 2.6, -12.4, spread=0.1)
    assert extremes(sure, SALES) == "highest on Fridays (+3.0 EUR), lowest on Sundays (-12 EUR)"


def test_other_factors_modify_a_pattern():
    said = sentences.sentence(pattern("weekday", smooth(50.0, "day"), profile=WEEK), DAY, SALES)
    assert "Its size changes over about 7.1 weeks" in said
    growing = pattern("weekday", line(18000.0, "day"), profile=WEEK, amplitude="growing")
    assert "Its size grows" in sentences.sentence(growing, DAY, SALES)
    assert sentences.future(growing, DAY, SALES).endswith("beyond the data, and its size keeps growing.")


def test_quarters_are_told_by_name():
    """Growth of 4 % a year, and 2.7 % more in each fourth quarter than the trend says."""
    x, effect = np.arange(48), np.log([1.0, 0.99, 0.985, 1.027])
    y = np.exp(4.5 + 0.01 * x + effect[x % 4] + 0.003 * np.random.default_rng(0).standard_normal(48))
    model = Forecaster().fit(np.arange("2010-01", "2022-01", 3, dtype="M8[M]"), y)
    said = " ".join(str(model.explain()).split())
    assert re.search(r"It is highest in Q4 \(\+2\.[678] %\), lowest in Q3 \(-1\.[456] %\)\.", said)
    assert "weeks" not in said
    (year,) = model.explain().to_dict()["rounds"]
    assert [one["name"] for one in year["profile"]] == ["Q1", "Q2", "Q3", "Q4"]


@pytest.fixture(scope="module")
def fitted():
    index = pd.date_range("2024-01-01", periods=84)
    y = 50.0 - 9.0 * (index.day_of_week == 6) + 4.0 * (index.day_of_week == 4)
    noise = 0.5 * np.random.default_rng(0).standard_normal(84)
    return Forecaster(scale="identity").fit(pd.Series(y + noise, index, name="sales"))


def test_the_levels_of_a_fitted_week_are_those_of_the_data(fitted):
    said = str(fitted.explain())
    assert "lowest on Sundays (-8" in said
    assert "highest on Fridays (+4" in said
    story = fitted.explain().to_dict()
    (week,) = [part for part in story["components"] if part["formula"] == "Weekday"]
    assert [level["name"] for level in week["profile"]][::6] == ["Monday", "Sunday"]
    truth = np.array([0.0, 0.0, 0.0, 0.0, 4.0, 0.0, -9.0]) + 5.0 / 7.0
    assert_allclose([level["value"] for level in week["profile"]], truth, atol=0.5)
    assert all(level["low"] < t < level["high"] for level, t in zip(week["profile"], truth, strict=True))


def test_the_report_shows_levels_as_bars():
    part = {"profile": [{"name": "Sunday <&>", "value": -2.0, "low": -3.0, "high": -1.0}]}
    shown = report_figures.profile({"target": {"scale": "additive"}}, part)
    assert '<div class="down" style="flex: 0.780"><i style="height:78.0%">' in shown
    assert "Sunday &lt;&amp;&gt;" in shown
    assert "-2.00 (-3.00 to -1.00)" in shown
    assert report_figures.profile({}, {"profile": []}) == ""
