"""Laws of the Gaussian density: scipy's values, derivatives by differences, rows that are not real, rows left out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from farrier.inference.exact import leave_one_out, log_density, log_density_and_slope, log_normal

RNG = np.random.default_rng(0)
A = RNG.standard_normal((6, 6))
C, Y = A @ A.T + np.eye(6), RNG.standard_normal(6)


def test_the_density_is_scipys():
    expected = multivariate_normal(np.zeros(6), C).logpdf(Y)
    assert_allclose(log_density(C.copy(), Y), expected)
    quadratic, log_determinant = Y @ np.linalg.solve(C, Y), np.linalg.slogdet(C)[1]
    assert_allclose(log_normal(quadratic, log_determinant, 6), expected)
    assert_allclose(leave_one_out(C, Y)[0], expected)


def test_what_is_not_positive_definite_has_no_density():
    assert log_density(-np.eye(3), np.ones(3)) == -np.inf
    # also if two negative eigenvalues make the determinant positive
    for size in (2, 3):
        assert leave_one_out(-np.eye(size), np.ones(size)) is None


@pytest.mark.parametrize("row", range(6))
def test_a_row_that_is_left_out_is_predicted_from_the_others(row):
    others = np.arange(6) != row
    mean = C[row, others] @ np.linalg.solve(C[np.ix_(others, others)], Y[others])
    assert_allclose(leave_one_out(C, Y)[1][row], Y[row] - mean)


def test_evidence_is_the_density_of_y_and_its_derivative_by_the_covariance():
    A = RNG.standard_normal((6, 6))
    C, diagonal, y = A @ A.T, RNG.uniform(0.3, 1.0, 6), RNG.standard_normal(6)
    filled = np.ones(6)
    G = C.copy()
    value = log_density_and_slope(G, diagonal, filled, y)
    assert_allclose(value, multivariate_normal(np.zeros(6), C + np.diag(diagonal)).logpdf(y), rtol=1e-6)
    along = RNG.standard_normal((6, 6))
    along = along + along.T
    plus, minus = (log_density_and_slope(C + step * along, diagonal, filled, y) or np.nan for step in (1e-5, -1e-5))
    assert_allclose(np.sum(G * along), (plus - minus) / 2e-5, rtol=1e-5)
    assert_array_equal(np.triu(G, 1), 0.0)


def test_a_row_that_is_not_real_is_left_out_of_the_log_density_and_slope():
    A = RNG.standard_normal((5, 5))
    C, diagonal, y = A @ A.T, np.full(5, 0.4), RNG.standard_normal(5)
    alone = C.copy()
    expected = log_density_and_slope(alone, diagonal, np.ones(5), y)
    wide, filled = np.zeros((7, 7)), np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    at = np.flatnonzero(filled)
    wide[np.ix_(at, at)] = C
    spread = np.zeros(7)
    spread[at] = y
    assert_allclose(log_density_and_slope(wide, np.full(7, 0.4), filled, spread), expected, rtol=1e-6)
    assert_allclose(wide[np.ix_(at, at)], alone, rtol=1e-5, atol=1e-7)
    assert not wide[filled == 0].any()


def test_what_is_not_positive_definite_has_no_log_density_and_slope():
    assert log_density_and_slope(-np.eye(3), np.full(3, 0.1), np.ones(3), np.ones(3)) is None
