"""Laws of the fixed quasi-random noise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from farrier.inference.weight_priors import quasi_normal


@pytest.mark.parametrize(("draws", "size"), [(2, 1), (4, 25), (32, 25), (64, 3), (256, 49)])
def test_quasi_normal_has_the_moments_of_a_normal(draws, size):
    Z = quasi_normal(draws, size)
    assert Z.shape == (draws, size)
    assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    assert_allclose((Z**2).mean(axis=0), 1.0, rtol=1e-12)
    if draws > size:
        assert_allclose(Z.T @ Z / draws, np.eye(size), atol=1e-12)


def test_quasi_normal_converges_faster_than_random_draws():
    # E exp(a'z) = exp(|a|^2 / 2)
    a, draws = np.full(5, 0.3), 1024
    exact = np.exp(0.5 * np.sum(a**2))
    random_error = np.sqrt((np.exp(np.sum((2.0 * a) ** 2) / 2.0) - exact**2) / draws)
    assert abs(np.mean(np.exp(quasi_normal(draws, 5) @ a)) - exact) < 0.1 * random_error


def test_quasi_normal_columns_look_normal():
    Z = quasi_normal(512, 4)
    assert max(stats.kstest(column, "norm").statistic for column in Z.T) < 0.02


def test_quasi_normal_gives_the_same_points_every_time():
    assert_array_equal(quasi_normal(16, 5), quasi_normal(16, 5))
    assert_array_equal(quasi_normal(1, 3), np.zeros((1, 3)))
    assert quasi_normal(8, 0).shape == (8, 0)


def test_quasi_normal_refuses_other_than_powers_of_two():
    for draws in (0, 3, 100):
        with pytest.raises(ValueError, match=f"draws={draws}"):
            quasi_normal(draws, 2)
