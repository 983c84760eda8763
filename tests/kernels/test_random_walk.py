"""Laws of the random walk: independent increments, and two directions that know nothing of each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels.registry import RandomWalk

ORIGIN, SCALE = 0.3, 1.4


def test_increments_are_independent_with_variance_one_a_scale():
    times = np.array([0.3, 0.5, 1.2, 1.3, 3.0])[:, None]
    differences = np.diff(np.eye(5), axis=0)
    for side in (1.0, -1.0):
        X = ORIGIN + side * (times - ORIGIN)
        found = differences @ RandomWalk(ORIGIN, SCALE).gram(X, X) @ differences.T
        assert_allclose(found, np.diag(np.diff(times[:, 0]) / SCALE), atol=1e-14)


def test_the_best_forecast_is_the_last_value():
    rows, later = np.array([[0.5], [0.9], [2.4]]), np.array([[2.5], [40.0]])
    walk = RandomWalk(ORIGIN, SCALE)
    weights = np.linalg.solve(walk.gram(rows, rows), walk.gram(rows, later))
    assert_allclose(weights, [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]], atol=1e-12)


def test_it_is_zero_at_its_origin_and_forgets_across_it():
    walk, left, right = RandomWalk(ORIGIN, SCALE), np.array([[-2.0], [0.1]]), np.array([[0.4], [3.0]])
    assert_allclose(walk.gram(left, right), 0.0, atol=1e-15)
    assert_allclose(walk.diag(np.array([[ORIGIN]])), 0.0)


def test_two_inputs_ask_for_dims():
    with pytest.raises(ValueError, match="RW acts on one input, got 2: name it with dims="):
        RandomWalk().gram(np.zeros((2, 2)), np.zeros((2, 2)))
