"""Laws of the exact posterior: the textbook's formulas in plain numpy, mixtures over the weights, sampling."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from farrier.paper.exact_gp import ExactGP
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from farrier.kernels.registry import Linear, Periodic, SquaredExponential
from farrier.paper.pool import stack

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-2.0, 2.0, 9))
NEW = np.linspace(-3.0, 3.0, 5)
Y = np.sin(2.0 * X) + 0.5 * X + 0.2 * RNG.standard_normal(9)
NOISE = 0.15
WEIGHTS = np.array([[1.2, 0.5, 0.8], [0.3, 1.1, 0.9], [0.7, 0.2, 1.5], [2.0, 0.6, 0.1]])

POOL = stack([SquaredExponential(0.9), Linear(0.4), Periodic(1.6, 1.1)], 1)


def grams(x, z):
    """The three kernels of the pool."""
    lag = x[:, None] - z[None, :]
    return np.stack(
        [
            np.exp(-0.5 * (lag / 0.9) ** 2),
            (x[:, None] - 0.4) * (z[None, :] - 0.4),
            np.exp(-2.0 * np.sin(np.pi * lag / 1.6) ** 2 / 1.1**2),
        ]
    )


def textbook(w, x):
    """Mean and covariance of f and of its components at x, and the evidence, given one draw of the weights."""
    prior = w[:, None, None] ** 2 * grams(x, x)
    cross = w[:, None, None] ** 2 * grams(x, X)
    inverse = np.linalg.inv(np.sum(w[:, None, None] ** 2 * grams(X, X), axis=0) + NOISE * np.eye(9))
    f, parts = cross.sum(axis=0), [k @ inverse @ Y for k in cross]
    part_covariances = [K - k @ inverse @ k.T for K, k in zip(prior, cross, strict=True)]
    return f @ inverse @ Y, prior.sum(axis=0) - f @ inverse @ f.T, np.stack(parts), np.stack(part_covariances)


def evidence(w):
    C = np.sum(w[:, None, None] ** 2 * grams(X, X), axis=0) + NOISE * np.eye(9)
    return stats.multivariate_normal(np.zeros(9), C).logpdf(Y)


def posterior(weights):
    return ExactGP(POOL, jnp.asarray(weights), jnp.asarray(NOISE), jnp.asarray(X)[:, None], jnp.asarray(Y))


@eqx.filter_jit
def everything(gp, x):
    return {
        "draws": gp.draws(x),
        "joint": gp.joint_draws(x),
        "predict": gp.predict(x),
        "covariance": gp.covariance(x),
        "components": gp.components(x),
        "evidence": gp.log_marginal_likelihood(),
        "kl": gp.prior_kl(),
    }


@pytest.fixture(scope="module")
def found():
    return everything(posterior(WEIGHTS), jnp.asarray(NEW)[:, None])


@pytest.fixture(scope="module")
def one():
    # the same draw four times: a mixture of equals
    return everything(posterior(np.tile(WEIGHTS[:1], (4, 1))), jnp.asarray(NEW)[:, None])


def test_each_draw_of_the_weights_has_the_textbook_s_moments(found):
    for s, w in enumerate(WEIGHTS):
        mean, covariance, _, _ = textbook(w, NEW)
        assert_allclose(found["draws"][0][s], mean, rtol=1e-6)
        assert_allclose(found["draws"][1][s], np.diagonal(covariance), rtol=1e-6)
        assert_allclose(found["joint"][0][s], mean, rtol=1e-6)
        assert_allclose(found["joint"][1][s], covariance, rtol=1e-5, atol=1e-7)


def test_evidence_is_the_density_of_y(found):
    assert_allclose(found["evidence"], [evidence(w) for w in WEIGHTS], atol=1e-5)


def test_components_have_the_textbook_s_moments(one):
    _, _, parts, covariances = textbook(WEIGHTS[0], NEW)
    assert_allclose(one["components"][0], parts, rtol=1e-6, atol=1e-8)
    assert_allclose(one["components"][1], np.stack([np.diagonal(C) for C in covariances]), rtol=1e-5)


def test_components_add_up_to_the_prediction(found):
    assert_allclose(np.sum(found["components"][0], axis=0), found["predict"][0], rtol=1e-10)
    # but their variances do not: they are correlated
    assert np.any(np.sum(found["components"][1], axis=0) > 1.2 * found["predict"][1])


def test_prediction_is_the_mixture_over_the_weights(found):
    moments = [textbook(w, NEW) for w in WEIGHTS]
    means, covariances = np.stack([m[0] for m in moments]), np.stack([m[1] for m in moments])
    mean = means.mean(axis=0)
    second = np.mean([C + np.outer(m, m) for m, C in zip(means, covariances, strict=True)], axis=0)
    assert_allclose(found["predict"][0], mean, rtol=1e-6)
    assert_allclose(found["predict"][1], np.diagonal(second) - mean**2, rtol=1e-5)
    assert_allclose(found["covariance"], second - np.outer(mean, mean), rtol=1e-5, atol=1e-7)
    parts = np.stack([m[2] for m in moments])
    squares = np.stack([[np.diagonal(C) + p**2 for p, C in zip(m[2], m[3], strict=True)] for m in moments])
    assert_allclose(found["components"][0], parts.mean(axis=0), rtol=1e-6, atol=1e-8)
    assert_allclose(found["components"][1], squares.mean(axis=0) - parts.mean(axis=0) ** 2, rtol=1e-5)


def test_prior_kl_is_that_of_two_gaussians(found):
    def kl(w):
        # a little noise on both, since K is nearly singular
        K = np.sum(w[:, None, None] ** 2 * grams(X, X), axis=0) + 1e-9 * np.eye(9)
        mean, covariance, _, _ = textbook(w, X)
        S = covariance + 1e-9 * np.eye(9)
        solve = np.linalg.solve(K, np.eye(9))
        trace, square = np.trace(solve @ S), mean @ solve @ mean
        return 0.5 * (trace + square - 9 + np.linalg.slogdet(K)[1] - np.linalg.slogdet(S)[1])

    assert_allclose(found["kl"], np.mean([kl(w) for w in WEIGHTS]), rtol=1e-4)


def test_two_calls_give_the_same_numbers(found):
    again = everything(posterior(WEIGHTS), jnp.asarray(NEW)[:, None])
    assert_array_equal(again["predict"][0], found["predict"][0])
    assert_array_equal(again["predict"][1], found["predict"][1])


def test_at_takes_other_weights(found):
    other = everything(posterior(WEIGHTS).at(jnp.asarray(WEIGHTS[::-1])), jnp.asarray(NEW)[:, None])
    assert_allclose(other["draws"][0], found["draws"][0][::-1], rtol=1e-10)


@eqx.filter_jit
def sample(gp, x, key):
    return gp.sample(x, key, 20_000)


def test_samples_have_the_moments_of_the_mixture(found):
    draws = np.asarray(sample(posterior(WEIGHTS), jnp.asarray(NEW)[:, None], jax.random.key(0)))
    mean, covariance = np.asarray(found["predict"][0]), np.asarray(found["covariance"])
    assert draws.shape == (20_000, 5)
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 4.0 * np.sqrt(np.diagonal(covariance) / 20_000))
    products = np.einsum("sn,sk->snk", draws - mean, draws - mean)
    error = products.std(axis=0) / np.sqrt(20_000)
    assert np.all(np.abs(products.mean(axis=0) - covariance) < 4.5 * error)


def test_samples_depend_on_the_key_alone():
    gp, x = posterior(WEIGHTS), jnp.asarray(NEW)[:, None]
    first, again, other = (np.asarray(sample(gp, x, jax.random.key(seed))) for seed in (1, 1, 2))
    assert_array_equal(first, again)
    assert not np.any(first == other)
