"""Laws of the jitter, which follows the size of the matrix and the precision of its numbers; singular matrices pass.
Laws of the inverse of a triangular matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.inference.linalg import LEAF, cholesky, inverse_of_upper, jitter

EPS = np.finfo(np.float64).eps


def gram(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n + 2))
    return A @ A.T


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e6])
def test_jitter_is_root_epsilon_of_the_mean_diagonal(scale):
    K = scale * gram(4)
    L = cholesky(K)
    extra = L @ L.T - K
    assert_allclose(np.diagonal(extra), np.sqrt(EPS) * np.trace(K) / 4, rtol=1e-5)
    assert_allclose(extra - np.diag(np.diagonal(extra)), 0.0, atol=1e-14 * np.trace(K))


def test_jitter_follows_the_precision():
    K = np.ones((3, 3), np.float32)
    assert_allclose(jitter(K), np.sqrt(np.finfo(np.float32).eps), rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e8])
def test_singular_gram_factorises(scale):
    x = np.linspace(0.0, 1.0, 40)
    smooth = np.exp(-0.5 * (x[:, None] - x) ** 2 / 3.0**2)
    assert np.linalg.eigvalsh(smooth)[0] < 1e-14
    assert np.all(np.isfinite(cholesky(scale * smooth)))
    assert np.all(np.isfinite(cholesky(scale * np.outer(x, x))))


def test_zero_matrix_has_a_factor_that_can_be_inverted():
    assert np.all(np.isfinite(np.linalg.inv(cholesky(np.zeros((3, 3))))))


@pytest.mark.parametrize("rows", [1, 2, LEAF, LEAF + 1, 3 * LEAF + 2])
def test_the_inverse_of_a_triangle_is_its_inverse_whatever_is_below(rows):
    U = np.asfortranarray(np.linalg.cholesky(gram(rows) + rows * np.eye(rows)).T)
    below = np.tril(np.random.default_rng(1).standard_normal((rows, rows)), -1)
    assert_allclose(np.triu(inverse_of_upper(np.asfortranarray(U + below))) @ U, np.eye(rows), atol=1e-12)
