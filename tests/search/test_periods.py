"""Laws of the search for periods: what is there is found once, what is not there is not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.signal import lombscargle

from farrier.search.periods import _periodogram, find_periods, multiples_of

X = np.arange(120.0) / 12.0  # ten years of months


def noise(size, seed=0, count=120):
    return size * np.random.default_rng(seed).standard_normal(count)


def wave(x, period, phase=0.3):
    return np.sin(2.0 * np.pi * x / period + phase)


@pytest.mark.parametrize("period", [0.31, 1.0, 2.7])
def test_a_sine_has_its_period(period):
    found = find_periods(X, wave(X, period) + noise(0.2), 3)
    assert_allclose(found[0], period, rtol=0.01)


def test_the_period_does_not_depend_on_units_or_on_the_order_of_rows():
    y = 40.0 + 7.0 * wave(X, 1.0) + noise(1.0)
    order = np.random.default_rng(1).permutation(120)
    found = find_periods(X, y, 3)
    assert_allclose(find_periods(X[order], y[order], 3), found, rtol=1e-9)
    assert_allclose(find_periods(365.25 * X + 1900.0, 0.01 * y, 3), 365.25 * np.array(found), rtol=1e-6)


def test_a_saw_tooth_has_one_period_and_no_harmonics():
    found = find_periods(X, (X % 1.0) + noise(0.02), 3)
    assert_allclose(found[0], 1.0, rtol=0.01)
    # 1/2, 1/3, 1/4 ... are the saw's own
    assert not any(abs(1.0 / p - round(1.0 / p)) < 0.1 for p in found[1:])


def test_two_cycles_are_both_found_the_stronger_first():
    found = find_periods(X, 2.0 * wave(X, 1.0) + wave(X, 0.37) + noise(0.2), 3)
    assert_allclose(found[:2], [1.0, 0.37], rtol=0.01)


def test_a_growing_cycle_has_no_sidebands():
    found = find_periods(X, (1.0 + X / 3.0) * wave(X, 1.0) + noise(0.05), 3)
    assert_allclose(found[0], 1.0, rtol=0.01)
    assert not any(0.75 < p < 1.33 for p in found[1:])


@pytest.mark.parametrize("trend", [X, X**2, 40.0 - 3.0 * X + 0.1 * X**2], ids=["line", "square", "bend"])
def test_a_trend_has_no_period_and_hides_none(trend):
    assert find_periods(X, trend, 3) == []
    for y in (noise(1.0), wave(X, 0.8) + noise(0.3)):
        assert_allclose(find_periods(X, y + trend, 3), find_periods(X, y, 3), rtol=1e-6)


def test_a_trend_that_is_no_parabola_has_no_period_that_repeats_often():
    assert all(p > 3.0 for p in find_periods(X, np.exp(X / 5.0), 3))


def test_a_small_cycle_on_a_large_trend_is_found():
    found = find_periods(X, 50.0 * X + 0.7 * X**2 + wave(X, 1.0) + noise(0.1), 3)
    assert_allclose(found[0], 1.0, rtol=0.01)


def test_known_periods_are_taken_where_they_are_close():
    y = wave(X, 1.02) + noise(0.1)
    assert find_periods(X, y, 1, known=(1.0, 0.25)) == [1.0]
    assert_allclose(find_periods(X, y, 1, known=(1.2, 0.25)), [1.02], rtol=0.01)


def test_white_noise_has_few_periods():
    counts = [len(find_periods(X, noise(1.0, seed), 5)) for seed in range(20)]
    assert np.mean(counts) < 2.5


def test_no_more_than_asked_for():
    y = sum(wave(X, p) for p in (0.2, 0.37, 0.61, 1.0, 1.7))
    for count in (0, 1, 2):
        assert len(find_periods(X, y, count)) == count


def test_irregular_rows_are_no_obstacle():
    x = np.sort(np.random.default_rng(2).uniform(0.0, 10.0, 120))
    assert_allclose(find_periods(x, wave(x, 0.83) + noise(0.2), 2)[0], 0.83, rtol=0.01)


@pytest.mark.parametrize(
    "x",
    [np.arange(6.0), np.zeros(20), np.repeat([0.0, 1.0, 2.0], 8)],
    ids=["few rows", "one place", "three places"],
)
def test_too_short_a_series_has_no_period(x):
    assert find_periods(x, wave(x, 2.7) + noise(0.1, count=len(x)), 3) == []


def test_a_constant_has_no_period():
    assert find_periods(X, np.full(120, 3.0), 3) == []


def test_on_a_grid_the_power_is_that_of_lomb_and_scargle():
    x = np.delete(X, [3, 4, 30])
    y = wave(x, 1.0) + noise(0.5, count=len(x))
    y -= y.mean()
    frequencies, power = _periodogram(x, float(x[1] - x[0]), 0.5)
    expected = lombscargle(x, y, 2.0 * np.pi * frequencies)
    assert_allclose(power(y), expected, atol=0.05 * expected.max())


def test_pieces_of_a_regular_series_are_on_its_grid_too():
    x = np.concatenate([np.arange(60.0), 300.0 + np.arange(60.0), 500.0 + np.arange(60.0)])
    frequencies, _ = _periodogram(x, 1.0, 3.0 / np.ptp(x))
    # the step of a power of two of frequencies, and none above half a cycle a step
    assert 1.0 / (frequencies[1] - frequencies[0]) == 8192
    assert frequencies[-1] < 0.5
    assert_allclose(find_periods(x, wave(x, 7.3) + noise(0.5, count=len(x)), 1), [7.3], rtol=1e-3)


def test_few_rows_far_apart_are_not_put_on_a_grid():
    x = np.concatenate([np.arange(20.0), 1e7 + np.arange(20.0)])
    frequencies, _ = _periodogram(x, 1.0, 3.0 / np.ptp(x))
    assert len(frequencies) < 2000


def test_periods_of_a_long_series_are_found():
    x = np.arange(100_000.0)
    assert_allclose(find_periods(x, wave(x, 24.0) + noise(1.0, count=len(x)), 1), [24.0], rtol=1e-4)


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_few_rows_have_no_period(rows):
    assert find_periods(X[:rows], wave(X[:rows], 0.3), 4) == []


def test_rows_at_one_place_have_no_period():
    assert find_periods(np.full(20, 3.0), noise(1.0, count=20), 4) == []


@pytest.mark.parametrize("x", [[], [1.0], [1.0] * 20, np.repeat(np.arange(6.0), 9), np.arange(7.0)], ids=len)
def test_too_few_rows_or_values_show_no_period_and_no_multiple_of_one(x):
    x = np.array(x)
    assert find_periods(x, noise(1.0, count=len(x)), 3) == []
    assert multiples_of(x, noise(1.0, count=len(x)), []) == []
