"""Numbers, times and dates as people say them; and that saying them needs no numerical library."""

import math
import subprocess
import sys
from datetime import date

import pytest

from farrier.explain import numbers
from farrier.explain.facts import Axis, Estimate

MONTHS = Axis("month", 1949.04, 1960.96, "years", spacing=1 / 12)
YEARS = Axis("year", 1700.0, 1980.0, "years", spacing=1.0)
HOURS = Axis("time", 19000.0, 19365.0, "days", spacing=1 / 24)
DEPTH = Axis("depth", 0.0, 30.0, unit="mm")
AGE = Axis("age", 1.0, 365.0)


def estimate(value, width=0.0):
    return Estimate(value, value - width, value + width)


def day(year, month, number):
    return float((date(year, month, number) - date(1970, 1, 1)).days)


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (12.345, "12.3"),
        (0.0012345, "0.00123"),
        (9.996, "10.0"),
        (1234.5, "1230"),
        (123456.0, "123,000"),
        (-3.14159, "-3.14"),
        (0.0, "0"),
        (-0.0, "0"),
        (4.2e-12, "4.2e-12"),
        (6.02e23, "6.02e+23"),
    ],
)
def test_plain_numbers_have_three_significant_digits(x, said):
    assert numbers.significant(x) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.12, "12 %"),
        (0.0123, "1.2 %"),
        (0.05, "5 %"),
        (0.0004, "under 0.1 %"),
        (0.0, "under 0.1 %"),
        (0.994, "99.4 %"),
        (0.99, "99 %"),
        (0.9999, "over 99.9 %"),
        (1.0, "100 %"),
        (1.04, "104 %"),
        (0.0996, "10 %"),
    ],
)
def test_shares_are_said_in_per_cent(share, said):
    assert numbers.per_cent(share) == said


@pytest.mark.parametrize(
    ("axis", "length", "said"),
    [
        (MONTHS, Estimate(1.0, 0.992, 1.008), "12.0 months (11.9 to 12.1)"),
        (MONTHS, Estimate(1.0, 0.999, 1.001), "12.00 months (11.99 to 12.01)"),
        (MONTHS, Estimate(1.0, 1 - 1e-6, 1 + 1e-6), "12.0 months (give or take less than 0.1)"),
        (MONTHS, estimate(1.0), "12.0 months"),
        (MONTHS, estimate(2.9, 0.2), "34.8 months (32.4 to 37.2)"),
        (MONTHS, estimate(3.2, 0.5), "3.2 years (2.7 to 3.7)"),
        (MONTHS, Estimate(3.2, 2.7, math.inf), "3.2 years (2.7 or more)"),
        (MONTHS, Estimate(3.2, math.nan, math.nan), "3.2 years"),
        (YEARS, estimate(10.7, 0.3), "10.7 years (10.4 to 11.0)"),
        (YEARS, estimate(120.0, 11.0), "120 years (109 to 131)"),
        (YEARS, estimate(1.0, 0.2), "1.0 years (0.8 to 1.2)"),
        (HOURS, estimate(365.0, 40.0), "1.0 years (0.9 to 1.1)"),
        (HOURS, estimate(91.3, 5.0), "3.0 months (2.8 to 3.2)"),
        (HOURS, estimate(21.0, 2.0), "3.0 weeks (2.7 to 3.3)"),
        (HOURS, estimate(7.0, 0.2), "7.0 days (6.8 to 7.2)"),
        (HOURS, estimate(1.0, 0.1), "1.0 days (0.9 to 1.1)"),
        (HOURS, estimate(0.5, 0.1), "12.0 hours (9.6 to 14.4)"),
        (HOURS, estimate(0.01, 0.001), "14.4 minutes (13.0 to 15.8)"),
        (HOURS, estimate(1e-4, 1e-5), "8.6 seconds (7.8 to 9.5)"),
        (DEPTH, estimate(3.214, 0.1), "3.21 mm (3.11 to 3.31)"),
        (DEPTH, estimate(0.01, 5.0), "0.010 mm (-4.990 to 5.010)"),
        (AGE, estimate(33.0, 4.0), "33.0 units of age (29.0 to 37.0)"),
    ],
)
def test_a_length_has_its_unit_and_its_interval(axis, length, said):
    assert numbers.length(length, axis) == said


@pytest.mark.parametrize(
    ("axis", "period", "name"),
    [
        (MONTHS, estimate(1.0, 0.01), "yearly"),
        (MONTHS, estimate(1.02, 0.01), ""),
        (MONTHS, estimate(1.5, 1.0), ""),
        (MONTHS, estimate(0.5, 0.01), "half-yearly"),
        (MONTHS, estimate(0.25), "quarterly"),
        (HOURS, estimate(365.25), "yearly"),
        (HOURS, estimate(366.0, 2.0), "yearly"),
        (HOURS, estimate(30.4, 0.1), "monthly"),
        (HOURS, estimate(7.01, 0.02), "weekly"),
        (HOURS, estimate(0.9998, 0.0005), "daily"),
        (HOURS, estimate(0.99727, 0.0002), ""),
        (HOURS, estimate(1 / 24, 0.001), "hourly"),
        (DEPTH, estimate(1.0, 0.1), ""),
    ],
)
def test_a_calendar_name_needs_a_time_and_an_interval_that_covers_it(axis, period, name):
    assert numbers.calendar_name(period, axis) == name


@pytest.mark.parametrize(
    ("axis", "x", "said"),
    [
        (YEARS, 1850.9, "1850"),
        (MONTHS, 1955 + 2 / 12, "March 1955"),
        (MONTHS, 1955 + 2.5 / 12, "March 1955"),
        (MONTHS, 1955 - 1e-12, "January 1955"),
        (MONTHS, 1955.9999, "December 1955"),
        (HOURS, day(2022, 3, 3) + 0.5, "3 March 2022"),
        (Axis("t", day(2000, 1, 1), day(2009, 1, 1), "days"), day(2004, 2, 29), "February 2004"),
        (Axis("t", 2022.0, 2022.5, "years"), 2022 + 61 / 365, "3 March 2022"),
        (Axis("t", 19000.0, 19030.0, "days"), day(2022, 1, 9) + 7 / 12, "9 January 2022 at 14:00"),
        (Axis("t", 19000.0, 19000.05, "days"), day(2022, 1, 8) + 65 / 86400, "8 January 2022 at 00:01:05"),
        (DEPTH, 12.345, "12.3 mm"),
        (AGE, 12.345, "12.3"),
        (YEARS, 1e7, "a time out of reach"),
    ],
)
def test_a_date_is_as_fine_as_the_range_deserves(axis, x, said):
    assert numbers.moment(x, axis) == said


@pytest.mark.parametrize(
    ("axis", "place", "said"),
    [
        (YEARS, estimate(1850.5, 2.0), "1850 (1848 to 1852)"),
        (MONTHS, estimate(1955.2, 0.18), "March 1955 (January to May 1955)"),
        (MONTHS, estimate(1955.2, 0.3), "March 1955 (November 1954 to July 1955)"),
        (MONTHS, estimate(1955.2, 0.001), "March 1955 (known to the month)"),
        (MONTHS, estimate(1955.2), "March 1955"),
        (HOURS, estimate(day(2022, 3, 3), 2.0), "3 March 2022 (1 to 5 March 2022)"),
        (
            Axis("t", 19000.0, 19030.0, "days"),
            estimate(19010.5, 0.25),
            "18 January 2022 at 12:00 (18 January 2022 at 06:00 to 18:00)",
        ),
        (DEPTH, estimate(12.0, 0.5), "12.0 mm (11.5 to 12.5)"),
        (AGE, Estimate(12.0, math.nan, math.nan), "12.0"),
    ],
)
def test_a_place_says_how_well_it_is_known(axis, place, said):
    assert "".join(numbers.moments(place, axis)) == said


@pytest.mark.parametrize(
    ("axis", "unit", "factor"),
    [
        (MONTHS, "a year", 1.0),
        (HOURS, "a month", 365.2425 / 12),
        (Axis("t", 0.0, 10.0, "days"), "a day", 1.0),
        (Axis("t", 0.0, 0.5, "days"), "an hour", 1 / 24),
        (Axis("t", 0.0, 0.5, "years"), "a month", 1 / 12),
        (DEPTH, "per mm", 1.0),
        (Axis("age", 0.0, 9.0, unit="days"), "per day", 1.0),
        (AGE, "per unit of age", 1.0),
    ],
)
def test_a_slope_is_counted_in_a_unit_that_suits_the_range(axis, unit, factor):
    slope, said = numbers.rate(Estimate(2.0, 1.0, 3.0), axis, relative=False)
    assert said == unit
    assert (slope.value, slope.low, slope.high) == pytest.approx((2 * factor, factor, 3 * factor))


def test_relative_changes_compound():
    slope, unit = numbers.rate(estimate(0.01, 0.001), Axis("t", 0.0, 0.5, "years"), relative=True)
    assert unit == "a month"
    assert (1 + slope.value) ** 12 == pytest.approx(1.01)


@pytest.mark.parametrize(
    ("x", "relative", "said"),
    [
        (8.39, False, "8.39"),
        (8.4, False, "8.40"),
        (1.1, True, "a factor of 2.1"),
        (0.155, True, "16 %"),
        (0.0055, True, "0.5 %"),
    ],
)
def test_a_size_is_said_in_one_way(x, relative, said):
    assert numbers.sized(x, relative=relative) == said


def test_a_forecast_has_the_decimals_that_its_narrowest_interval_is_worth():
    widths = (300.0, 30.0, 3.0, 0.03)
    assert [numbers.forecast_decimals([0.0, 0.0], [width, 400.0]) for width in widths] == [-1, 0, 1, 3]
    assert numbers.forecast_decimals([12.3], [12.3]) == 1


def test_counting_in_words():
    assert [numbers.count(n) for n in (0, 1, 12, 13, 144, 25000)] == ["no", "one", "twelve", "13", "144", "25,000"]
    assert [numbers.ordinal(n) for n in (1, 2, 10, 11, 12, 13, 21, 22, 111)] == (
        ["first", "second", "tenth", "11th", "12th", "13th", "21st", "22nd", "111th"]
    )
    assert numbers.listing(["a"]) == "a"
    assert numbers.listing(["a", "b", "c"]) == "a, b and c"


def test_words_need_no_numerical_library():
    code = (
        "import sys, farrier.explain.sentences, farrier.explain.numbers, farrier.explain.facts\n"
        "sys.exit(', '.join({'numpy', 'jax', 'scipy'} & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
