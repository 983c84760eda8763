"""Laws of the distances between rows: each pair has the value of its own, sums are over pairs of equal distance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.grid import ListedLags, RegularLags

RNG = np.random.default_rng(0)
LAGS = pytest.mark.parametrize("lags", [RegularLags(0.5, 7), ListedLags(0.5 * np.arange(7))], ids=["regular", "listed"])


@LAGS
def test_each_pair_of_rows_has_the_value_of_its_lag(lags):
    assert_allclose(lags.values, 0.5 * np.arange(7))
    row = RNG.standard_normal(7)
    spread = lags.spread(row)
    assert spread.shape == (7, 7)
    for a in range(7):
        for b in range(7):
            assert spread[a, b] == row[abs(a - b)]


@LAGS
def test_sums_are_over_the_pairs_of_equal_lag(lags):
    M = np.tril(RNG.standard_normal((7, 7)))
    expected = [sum(M[a, a - lag] for a in range(lag, 7)) for lag in range(7)]
    assert_allclose(lags.sums(M), expected, rtol=1e-12)


def test_lags_anywhere_are_those_of_the_pairs():
    x = RNG.uniform(-1.0, 1.0, 9)
    listed = ListedLags(x)
    assert_allclose(listed.spread(listed.values), np.abs(x[:, None] - x[None, :]), atol=1e-9)
    assert len(listed.values) == 1 + 9 * 8 // 2
    G = np.tril(RNG.standard_normal((9, 9)))
    # of a function of the distance, the sum over pairs is the sum over distances
    assert_allclose(listed.sums(G) @ np.cos(listed.values), np.sum(G * np.cos(x[:, None] - x[None, :])), rtol=1e-9)


def test_distances_that_differ_by_rounding_are_one():
    x = 0.1 * np.arange(40)  # 0.1 * 3 is not 0.1 + 0.2
    assert len(np.unique(np.abs(x[:, None] - x[None, :]))) > 40
    assert len(ListedLags(x).values) == 40


def test_rows_at_one_place_have_the_distance_zero():
    listed = ListedLags(np.array([1.0, 1.0, 1.0]))
    assert_array_equal(listed.values, [0.0])
    assert_array_equal(listed.spread(np.array([7.0])), np.full((3, 3), 7.0))


def test_a_regular_spread_is_a_read_only_view():
    spread = RegularLags(0.5, 4).spread(np.arange(4.0))
    with pytest.raises(ValueError, match="read-only"):
        spread[0, 0] = 1.0


def test_rows_of_a_long_series_share_their_lags():
    pieces = np.concatenate([np.arange(20.0), np.arange(500.0, 520.0)])
    assert len(ListedLags(pieces).values) == 20 + 39
