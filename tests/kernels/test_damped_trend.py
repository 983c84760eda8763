"""Laws of the damped trend: its limits, its increments, both sides of the origin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels.registry import DampedTrend, Linear, RandomWalk

ORIGIN, SCALE = 0.3, 1.4
X = np.array([-2.0, -0.7, 0.1, 0.3, 0.9, 2.4])[:, None]
RIGHT, LEFT = X[X > ORIGIN][:, None], X[X < ORIGIN][:, None]


def test_a_trend_without_damping_is_a_line_through_its_origin():
    line = Linear(ORIGIN, SCALE).gram(X, X)
    for damping in (1e-2, 1e-3, 1e-5):
        assert_allclose(DampedTrend(damping, ORIGIN, SCALE).gram(X, X), line, rtol=3 * damping + 1e-6, atol=1e-15)
        assert_allclose(DampedTrend(damping, ORIGIN, SCALE).diag(X), np.diagonal(line), rtol=3 * damping + 1e-6)


def test_a_trend_that_is_damped_at_once_is_a_random_walk():
    # of the variance p / 2 a unit; the walk counts its scale once, the trend twice
    walk = RandomWalk(ORIGIN, SCALE**2).gram(X, X)
    for damping in (1e4, 1e6):
        assert_allclose(DampedTrend(damping, ORIGIN, SCALE).gram(X, X) * damping / 2, walk, atol=2.0 / damping)


def test_both_sides_of_the_origin_are_mirrors():
    kernel, mirrored = DampedTrend(0.8, ORIGIN, SCALE), 2 * ORIGIN - RIGHT
    assert_allclose(kernel.gram(mirrored, mirrored), kernel.gram(RIGHT, RIGHT), rtol=1e-12)
    assert_allclose(kernel.diag(np.array([[ORIGIN]])), 0.0)


def test_the_slope_is_remembered_across_the_origin():
    # one that rises to the right comes from below on the left
    assert np.all(DampedTrend(0.8, ORIGIN).gram(LEFT, RIGHT) < 0.0)


def test_expected_increments_of_a_trend_fade_by_its_damping():
    # the slope at the origin is the value of a very short step; the covariance of unit increments with it
    p, steps = 0.7, np.arange(6.0)[:, None] + ORIGIN
    near = np.array([[ORIGIN + 1e-7]])
    increments = np.diff(DampedTrend(p, ORIGIN).gram(steps, near)[:, 0])
    assert_allclose(increments[1:] / increments[:-1], np.exp(-p), rtol=1e-6)
    # all increments together are finite: it levels off
    far = DampedTrend(p, ORIGIN).gram(np.array([[1e3]]), near)[0, 0]
    assert_allclose(far / increments[0], 1.0 / (1.0 - np.exp(-p)), rtol=1e-6)


def test_increments_of_a_trend_do_not_depend_on_the_origin():
    times = np.array([0.5, 1.2, 1.3, 3.0])[:, None]
    differences = np.diff(np.eye(4), axis=0)
    grams = [DampedTrend(0.8, origin).gram(times, times) for origin in (-5.0, 0.3, 2.0)]
    found = [differences @ K @ differences.T for K in grams]
    assert_allclose(found[1], found[0], rtol=1e-10)
    assert_allclose(found[2], found[0], rtol=1e-10)


@pytest.mark.parametrize("damping", [1e-5, 1e-3])
def test_a_slow_damping_loses_no_digits(damping):
    # the integral of 1 - p |u - v| over u up to s and v up to t, by the midpoint rule
    s, t = 0.4, 1.1
    value = DampedTrend(damping, 0.0).gram(np.array([[s]]), np.array([[t]]))[0, 0]
    middles = (np.arange(1000) + 0.5) / 1000
    apart = np.mean(np.abs(np.subtract.outer(s * middles, t * middles)))
    assert_allclose(value / (s * t) - 1.0, -damping * apart, rtol=2 * damping + 1e-4)


def test_two_inputs_ask_for_dims():
    with pytest.raises(ValueError, match="Damp acts on one input, got 2: name it with dims="):
        DampedTrend(1.0).gram(np.zeros((2, 2)), np.zeros((2, 2)))
