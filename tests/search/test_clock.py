"""Laws of the clock: where it starts, its step, and what times of the priors are counted in."""

import numpy as np
import pytest

from farrier.search.learned_priors import Clock

X = np.linspace(-1.7, 1.7, 60)
STEP = float(X[1] - X[0])
YEAR = 12.0 * STEP


def test_it_starts_a_step_before_the_first_row():
    clock = Clock.of(X[::-1], [YEAR])
    assert clock.step == pytest.approx(STEP)
    assert clock.origin == pytest.approx(X[0] - STEP)


def test_gaps_and_repeated_times_do_not_change_the_step():
    kept = np.delete(X, [7, 8, 9, 30])
    assert Clock.of(np.concatenate([kept, kept[:20]])).step == pytest.approx(STEP)


def test_it_counts_in_its_shortest_season_or_in_steps():
    assert Clock.of(X).unit == pytest.approx(STEP)
    both = Clock.of(X, [14.0 * YEAR, 24.0 * STEP])
    assert both.seasons == (24.0 * STEP, 14.0 * YEAR)
    assert both.unit == pytest.approx(24.0 * STEP)


@pytest.mark.parametrize(
    ("steps", "frequency"),
    [([], "yearly"), ([4], "quarterly"), ([12], "monthly"), ([168, 24], "hourly"), ([17], "other")],
)
def test_the_shortest_season_tells_the_frequency(steps, frequency):
    assert Clock.of(X, [count * STEP for count in steps]).frequency == frequency


@pytest.mark.parametrize("factor", [0.001, 1.0, 365.25])
def test_other_units_of_time_give_the_same_clock_in_those_units(factor):
    clock, other = Clock.of(X, [YEAR]), Clock.of(factor * X, [factor * YEAR])
    assert other.frequency == clock.frequency
    found = other.origin, other.step, other.unit
    assert found == pytest.approx((factor * clock.origin, factor * clock.step, factor * clock.unit))


def test_seasons_that_are_given_are_all_of_them_even_if_there_are_none():
    assert Clock.of(X, []).complete
    assert Clock.of(X, [YEAR]).complete
    assert not Clock.of(X).complete
