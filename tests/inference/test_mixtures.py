"""Laws of mixtures: moments by hand, quantiles at which the distribution function is the level."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from farrier.inference.mixtures import (
    clipped_moments,
    crossing,
    joint_moments,
    moments,
    quantiles,
    row_blocks,
)

RNG = np.random.default_rng(0)
MEAN, VARIANCE = RNG.standard_normal((4, 3)), RNG.uniform(0.1, 2.0, (4, 3))


def test_the_variance_is_within_and_between():
    mean, variance = moments(MEAN, VARIANCE)
    assert_allclose(mean, MEAN.sum(axis=0) / 4)
    second = (VARIANCE + MEAN**2).sum(axis=0) / 4
    assert_allclose(variance, second - mean**2)


def test_joint_moments_have_those_of_each_row_on_the_diagonal():
    A = RNG.standard_normal((4, 3, 3))
    covariances = A @ A.transpose(0, 2, 1)
    mean, covariance = joint_moments(MEAN, covariances)
    expected = moments(MEAN, np.diagonal(covariances, axis1=1, axis2=2))
    assert_allclose(mean, expected[0])
    assert_allclose(np.diagonal(covariance), expected[1])
    assert_allclose(covariance, covariance.T)


def test_quantiles_are_where_the_distribution_function_is_the_level():
    levels = np.array([0.01, 0.3, 0.5, 0.975])
    found = quantiles(MEAN, np.sqrt(VARIANCE), levels)
    below = norm.cdf(found[:, None, :], MEAN[None], np.sqrt(VARIANCE)[None]).mean(axis=1)
    assert_allclose(below, np.broadcast_to(levels[:, None], below.shape), atol=1e-12)


@pytest.mark.parametrize("floor", [-3.0, 0.3, 2.0])
def test_moments_above_a_floor_are_those_of_clipped_draws(floor):
    mean, sd = np.array([[0.0], [1.5]]), np.array([[1.0], [0.4]])
    # quantiles of the mixture at many levels are an even sample of it
    sample = np.maximum(quantiles(mean, sd, (np.arange(20_000) + 0.5) / 20_000)[:, 0], floor)
    found = clipped_moments(mean, sd**2, floor, None)
    assert_allclose(np.ravel(found), [sample.mean(), sample.var()], rtol=1e-3, atol=1e-4)


def test_a_floor_far_below_changes_nothing():
    mean, variance = np.array([[370.0], [371.0]]), np.array([[0.01], [0.02]])
    assert_allclose(clipped_moments(mean, variance, 0.0, None), moments(mean, variance), rtol=1e-12)


def test_far_below_a_floor_all_values_are_the_floor():
    found = clipped_moments(np.array([[-1e3]]), np.array([[1.0]]), 2.0, None)
    assert_allclose(np.ravel(found), [2.0, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("floor", "cap"),
    [(None, 1.0), (-3.0, 0.3), (0.2, 0.5), (-9.0, 9.0), (None, None), (0.5, None)],
)
def test_moments_between_a_floor_and_a_cap_are_those_of_clipped_draws(floor, cap):
    mean, sd = np.array([[0.0], [1.5]]), np.array([[1.0], [0.4]])
    sample = np.clip(quantiles(mean, sd, (np.arange(20_000) + 0.5) / 20_000)[:, 0], floor, cap)
    found = clipped_moments(mean, sd**2, floor, cap)
    assert_allclose(np.ravel(found), [sample.mean(), sample.var()], rtol=1e-3, atol=1e-4)


def test_bounds_far_away_change_nothing():
    mean, variance = np.array([[370.0], [371.0]]), np.array([[0.01], [0.02]])
    assert_allclose(clipped_moments(mean, variance, 0.0, 1e6), moments(mean, variance), rtol=1e-12)


def bisected(function, low, high):
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = function(middle) < 0.0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


@pytest.mark.parametrize("bend", [1.0, 3.0, 9.0])
def test_a_rising_function_crosses_zero_where_bisection_says_after_few_evaluations(bend):
    at = np.linspace(-3.0, 2.0, 12).reshape(3, 4)

    def function(x, centre):
        return np.sign(x - centre) * np.abs(x - centre) ** bend + 0.01 * (x - centre)

    asked = []

    def above(x, i, j):
        asked.append(len(x))
        return function(x, at[i, j])

    found = crossing(above, np.full((3, 4), -7.0), np.full((3, 4), 5.0))
    assert_allclose(found, at, atol=1e-12)
    assert_allclose(found, bisected(lambda x: function(x, at), np.full((3, 4), -7.0), np.full((3, 4), 5.0)), atol=1e-12)
    assert sum(asked) < 25 * at.size


def test_an_interval_without_width_is_its_own_crossing():
    ends = np.array([[1.0, -2.0, 0.0]])
    assert_array_equal(crossing(lambda x, i, j: np.zeros(len(x)), ends, ends), ends)


def test_quantiles_do_not_depend_on_how_many_rows_there_are(monkeypatch):
    levels = np.array([0.1, 0.5, 0.99])
    mean, sd = np.array([[0.0, 5.0, -1.0], [3.0, 1.0, 80.0]]), np.array([[1.0, 0.1, 2.0], [0.5, 4.0, 1e-3]])
    whole = quantiles(mean, sd, levels)
    assert whole.shape == (3, 3)
    monkeypatch.setattr("farrier.inference.mixtures.AT_ONCE", 1)
    assert [list(block) for block in row_blocks(3, 6)] == [[0], [1], [2]]
    assert_allclose(quantiles(mean, sd, levels), whole, rtol=1e-13)
    assert quantiles(mean[:, :0], sd[:, :0], levels).shape == (3, 0)
