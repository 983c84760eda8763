"""Laws of the compiled linear algebra: the jitter of inference/linalg.py, and Gaussian formulas against numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from farrier.inference.linalg import cholesky as plain_cholesky
from farrier.paper.linalg import (
    cholesky,
    inverse_lower,
    jittered,
    kl_to_standard_normal,
    log_determinant,
    solve_lower,
    whitened,
)

EPS = np.finfo(np.float64).eps


def gram(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n + 2))
    return A @ A.T


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e6])
def test_the_factor_is_that_of_plain_numpy(scale):
    K = scale * gram(4)
    assert_allclose(cholesky(jnp.asarray(K)), plain_cholesky(K), rtol=1e-12, atol=1e-12 * np.sqrt(scale))


def test_each_matrix_of_a_stack_has_its_own_jitter():
    stacked = np.stack([gram(3, 1), 1e5 * gram(3, 2)])
    L = np.asarray(cholesky(jnp.asarray(stacked)))
    for factor, K in zip(L, stacked, strict=True):
        assert_allclose(np.diagonal(factor @ factor.T - K), np.sqrt(EPS) * np.trace(K) / 3, rtol=1e-5)


def test_jitter_follows_the_precision():
    K = np.ones((3, 3), np.float32)
    L = np.asarray(cholesky(jnp.asarray(K)), np.float64)
    assert_allclose(np.diagonal(L @ L.T - K), np.sqrt(np.finfo(np.float32).eps), rtol=1e-2)


def test_zero_matrix_factorises_with_finite_derivatives():
    def whitened(K):
        return jnp.sum(solve_lower(cholesky(K), K) ** 2)

    value, slope = jax.jit(jax.value_and_grad(whitened))(jnp.zeros((3, 3)))
    assert value == 0.0
    assert np.all(np.isfinite(slope))


def test_derivative_at_a_singular_matrix_is_finite():
    x = jnp.linspace(0.0, 1.0, 20)

    def log_det(length):
        return log_determinant(cholesky(jnp.exp(-0.5 * ((x[:, None] - x[None, :]) / length) ** 2)))

    assert np.isfinite(jax.jit(jax.grad(log_det))(2.0))


def test_solve_undoes_the_factor():
    L = np.stack([np.linalg.cholesky(gram(4, seed)) for seed in (0, 1)])
    B = np.random.default_rng(2).standard_normal((2, 4, 3))
    assert_allclose(solve_lower(jnp.asarray(L), jnp.asarray(B)), np.linalg.solve(L, B), rtol=1e-10)


def test_log_determinant_is_numpy_s():
    stacked = np.stack([gram(4, seed) for seed in range(3)])
    expected = np.linalg.slogdet(stacked)[1]
    assert_allclose(log_determinant(jnp.asarray(np.linalg.cholesky(stacked))), expected, rtol=1e-12)


def normal(n, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(n), np.tril(0.4 * rng.standard_normal((n, n)), -1) + np.diag(rng.uniform(0.3, 2.0, n))


def test_kl_is_the_expected_log_ratio():
    mean, root = normal(3, 0)
    draws = mean + np.random.default_rng(1).standard_normal((40_000, 3)) @ root.T
    ratio = stats.multivariate_normal(mean, root @ root.T).logpdf(draws)
    ratio -= stats.multivariate_normal(np.zeros(3)).logpdf(draws)
    kl = float(kl_to_standard_normal(jnp.asarray(mean), jnp.asarray(root)))
    assert abs(ratio.mean() - kl) < 4.0 * ratio.std() / np.sqrt(len(ratio))


def test_kl_is_half_of_trace_and_square_less_size_and_log_determinant():
    means, roots = zip(*(normal(4, seed) for seed in range(3)), strict=True)
    kl = kl_to_standard_normal(jnp.asarray(np.stack(means)), jnp.asarray(np.stack(roots)))
    for value, a, root in zip(kl, means, roots, strict=True):
        S = root @ root.T
        assert_allclose(value, 0.5 * (np.trace(S) + a @ a - 4 - np.linalg.slogdet(S)[1]), rtol=1e-12)


def test_kl_vanishes_at_the_standard_normal_alone():
    assert_allclose(kl_to_standard_normal(jnp.zeros(3), jnp.eye(3)), 0.0, atol=1e-15)
    assert kl_to_standard_normal(jnp.full((3,), 1e-3), jnp.eye(3)) > 0.0
    assert kl_to_standard_normal(jnp.zeros(3), 0.99 * jnp.eye(3)) > 0.0


@pytest.mark.parametrize("N", [3, 40])
def test_inverse_of_a_triangular_matrix(N):
    L = np.stack([np.linalg.cholesky(gram(N, seed)) for seed in (0, 1)])
    assert_allclose(inverse_lower(jnp.asarray(L)) @ L, np.stack([np.eye(N)] * 2), atol=1e-8)


def test_whitening_agrees_with_solving_and_so_do_its_derivatives():
    x, z = jnp.linspace(0.0, 1.0, 23)[:, None], jnp.linspace(-0.1, 1.2, 19)[:, None]
    target = jnp.asarray(np.random.default_rng(1).standard_normal((19, 23)))

    def fit(method, length, z):
        K, B = jnp.exp(-(((z - z.T) / length) ** 2)), jnp.exp(-(((z - x.T) / length) ** 2))
        return jnp.sum(method(jittered(K), B) * target)

    def solved(K, B):
        return solve_lower(jnp.linalg.cholesky(K), B)

    for slope in (lambda f: jax.value_and_grad(f), lambda f: jax.grad(f, argnums=1)):
        by_products = jax.jit(slope(lambda length, z: fit(whitened, length, z)))(0.05, z)
        by_solving = jax.jit(slope(lambda length, z: fit(solved, length, z)))(0.05, z)
        for one, other in zip(jax.tree.leaves(by_products), jax.tree.leaves(by_solving), strict=True):
            assert_allclose(one, other, rtol=1e-7, atol=1e-9)
