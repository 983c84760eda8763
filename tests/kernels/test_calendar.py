"""Laws of calendar patterns: the levels are those of Python's calendar, in local time; they carry no level; units."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.products import Products
from farrier.kernels import registry
from farrier.kernels.parameters import trained
from farrier.kernels.periodic import CentredPeriodic
from farrier.kernels.registry import (
    CALENDAR,
    FAMILIES,
    AnyHoliday,
    DayOff,
    DayOfMonth,
    DayOfWeek,
    Holiday,
    LastWorkday,
    LocalDay,
    MonthEnd,
    MonthOfYear,
    SquaredExponential,
    Weekend,
)
from tests.kernels.plain_kernels import equal

RNG = np.random.default_rng(0)
FIRST = date(2024, 1, 1).toordinal() - date(1970, 1, 1).toordinal()
"""2024-01-01, a Monday, as days since 1970-01-01."""
NEW_YEAR, LABOUR = FIRST, FIRST + 121
CLOCK = {"changes": [FIRST + 90.041, FIRST + 300.041], "offsets": [1 / 24, 2 / 24, 1 / 24]}
HOLIDAY = {"holidays": [NEW_YEAR, LABOUR, FIRST + 366], "called": [1, 2, 1], "titles": ("New Year", "Labour Day")}
KERNELS = [
    DayOfWeek(**CLOCK),
    Weekend(**CLOCK),
    MonthOfYear(),
    DayOfMonth(),
    MonthEnd(),
    LastWorkday(),
    Holiday(**HOLIDAY),
    AnyHoliday(holidays=[NEW_YEAR, LABOUR]),
    DayOff(**CLOCK, holidays=[LABOUR]),
    LocalDay(**CLOCK, lengthscale=0.7),
]
ROWS = (FIRST + np.round(RNG.uniform(0.0, 400.0, 60) * 24) / 24)[:, None]
each = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def test_the_list_has_every_family_of_the_calendar():
    assert tuple(type(kernel) for kernel in KERNELS) == CALENDAR
    symbols, ranks = zip(*((family.symbol, family.rank) for family in (*FAMILIES, *CALENDAR)), strict=True)
    assert len(set(symbols)) == len(symbols)
    assert len(set(ranks)) == len(ranks)


def dates(kernel):
    """The local date of each row, by Python."""
    found = []
    for x in ROWS[:, 0]:
        offset = kernel.offsets[int(np.sum(kernel.changes <= x))] if len(kernel.offsets) else 0.0
        moment = datetime(1970, 1, 1) + timedelta(seconds=round((x + offset) * 86400))
        found.append(moment.date())
    return found


def last_workday(day):
    last = (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    while last.weekday() > 4:
        last -= timedelta(days=1)
    return day == last


ORACLES = {
    DayOfWeek: date.weekday,
    Weekend: lambda day: int(day.weekday() > 4),
    DayOff: lambda day: int(day.weekday() > 4 or day == date(2024, 5, 1)),
    MonthOfYear: lambda day: day.month - 1,
    DayOfMonth: lambda day: day.day - 1,
    MonthEnd: lambda day: int((day + timedelta(days=1)).day == 1),
    LastWorkday: last_workday,
    Holiday: lambda day: {date(2024, 1, 1): 1, date(2025, 1, 1): 1, date(2024, 5, 1): 2}.get(day, 0),
    AnyHoliday: lambda day: int(day in (date(2024, 1, 1), date(2024, 5, 1))),
}


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=str)
def test_levels_are_those_of_the_local_date(kernel):
    assert_array_equal(kernel.levels_at(ROWS[:, 0]), [ORACLES[type(kernel)](day) for day in dates(kernel)])
    assert max(kernel.levels_at(ROWS[:, 0])) < len(kernel.level_names())


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=str)
def test_the_covariance_is_that_of_centred_independent_levels(kernel):
    level, count = kernel.levels_at(ROWS[:, 0]), len(kernel.level_names())
    if kernel.shares is None:
        effect = np.eye(count)
        effect[0] = 0.0
    else:
        assert_allclose(kernel.shares.sum(), 1.0, rtol=1e-12)
        effect = np.eye(count) - kernel.shares[None, :]
        effect = effect / np.sqrt(kernel.shares @ np.sum(effect**2, axis=1))
    assert_allclose(kernel.gram(ROWS, ROWS[:9]), effect[level] @ effect[level[:9]].T, atol=1e-12)
    assert_allclose(kernel.diag(ROWS), np.sum(effect[level] ** 2, axis=1), atol=1e-12)


@pytest.mark.parametrize("family", [DayOfWeek, Weekend, MonthOfYear, DayOfMonth], ids=lambda one: one.__name__)
def test_patterns_carry_no_level_and_have_unit_variance_over_the_calendar(family):
    days = np.arange(146097.0)  # the 400 years after which the Gregorian calendar repeats
    X = days[:, None]
    assert_allclose(family().gram(X[:31], X).mean(axis=1), 0.0, atol=1e-9)
    assert_allclose(family().diag(X).mean(), 1.0, rtol=1e-9)


@each
def test_they_are_the_same_in_other_units(kernel):
    moved = kernel.rescale(1 / 300.0, -17.3)
    X = ROWS / 300.0 - 17.3
    assert_allclose(moved.gram(X, X[:9]), kernel.gram(ROWS, ROWS[:9]), atol=1e-7)


@each
def test_repr_evaluates_to_the_kernel(kernel):
    assert equal(eval(repr(kernel), vars(registry).copy()), kernel)


@each
def test_products_evaluate_them_and_keep_their_tables(kernel):
    smooth = SquaredExponential(40.0)
    pool = Products.of([kernel * smooth, kernel], 1)
    assert_allclose(pool.gram(ROWS, ROWS[:9])[0], kernel.gram(ROWS, ROWS[:9]) * smooth.gram(ROWS, ROWS[:9]))
    assert_allclose(pool.diag(ROWS)[1], kernel.diag(ROWS))
    again = pool.with_unbounded(pool.unbounded)
    assert equal(again[1], kernel)


@each
def test_dims_choose_the_input_and_two_ask_for_them(kernel):
    X = np.hstack([RNG.standard_normal((60, 1)), ROWS])
    assert_allclose(kernel.replace(dims=1).gram(X, X), kernel.gram(ROWS, ROWS))
    with pytest.raises(ValueError, match="acts on one input, got 2: name it with dims="):
        kernel.gram(X, X)


def test_only_the_local_day_has_a_trained_number():
    assert [family for family in CALENDAR if trained(family)] == [LocalDay]


def test_the_local_day_is_a_cycle_of_local_time():
    zone = ZoneInfo("Europe/Berlin")
    spring = datetime(2024, 3, 31, 1, tzinfo=UTC)  # the clocks go forward
    start = (spring - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1)
    clock = {"changes": [start], "offsets": [1 / 24, 2 / 24]}
    utc = start + np.arange(-30, 31)[:, None] / 24
    local = [(spring + timedelta(hours=h)).astimezone(zone).replace(tzinfo=None) for h in range(-30, 31)]
    X = np.array([(moment - datetime(1970, 1, 1)) / timedelta(days=1) for moment in local])[:, None]
    day, cycle = LocalDay(**clock, lengthscale=0.7), CentredPeriodic(1.0, 0.7)
    assert_allclose(day.gram(utc, utc), cycle.gram(X, X), atol=1e-6)
    assert np.max(np.abs(day.gram(utc, utc) - cycle.gram(utc, utc))) > 0.05


def test_the_derivative_of_the_local_day_is_that_of_finite_differences():
    pool, G = Products.of([KERNELS[-1]], 1), RNG.standard_normal((60, 60))
    slopes, h = pool.no_slopes(), 1e-6
    pool.terms[0].gram(pool.numbers, ROWS, ROWS)[1](G, slopes)
    ends = [np.vdot(G, pool.terms[0].gram(pool.numbers + sign * h, ROWS, ROWS)[0]) for sign in (-1, 1)]
    assert_allclose(slopes, (ends[1] - ends[0]) / (2 * h), rtol=1e-6)


def test_a_clock_with_too_few_offsets_is_refused():
    with pytest.raises(ValueError, match="DayOfWeek: offsets has 2 entries for 2 changes of the clock: give 3"):
        DayOfWeek(changes=[1.0, 2.0], offsets=[0.0, 0.5])


def test_shares_of_the_calendar_add_up_to_one():
    shared = [family for family in CALENDAR if getattr(family, "shares", None) is not None]
    assert len(shared) > 3
    for family in shared:
        assert np.all(family.shares > 0.0)
        assert np.sum(family.shares) == pytest.approx(1.0)
