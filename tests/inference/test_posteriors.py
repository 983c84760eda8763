"""Laws of the exact posterior by LAPACK: the textbook's formulas in plain numpy, and that the parts add up."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from farrier.evaluation.products import Products
from farrier.inference import posteriors
from farrier.inference.posteriors import GaussianPosterior
from farrier.kernels.registry import CentredPeriodic, Linear, SquaredExponential
from tests.kernels.plain_kernels import plain_gram

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, (11, 1))
NEW = np.linspace(-3.0, 3.0, 7)[:, None]
Y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 0] + 0.2 * RNG.standard_normal(11)
NOISE = RNG.uniform(0.05, 0.3, 11)
WEIGHTS = np.array([[1.2, 0.5, 0.8], [0.3, 1.1, 0.9], [0.7, 0.2, 1.5]])
KERNELS = [SquaredExponential(0.9), Linear(0.4, np.sqrt(1.0 + 0.4**2)), CentredPeriodic(1.6, 1.1)]
POSTERIOR = GaussianPosterior(Products.of(KERNELS, 1), WEIGHTS, NOISE, X, Y)


def grams(A, B):
    return np.stack([plain_gram(kernel, A, B) for kernel in KERNELS])


def textbook(w, A, chosen=(1.0, 1.0, 1.0)):
    """Mean and covariance of the sum of the chosen components at the rows of A, given one draw of the weights."""
    w2 = w[:, None, None] ** 2
    inverse = np.linalg.inv(np.sum(w2 * grams(X, X), axis=0) + np.diag(NOISE))
    some = w2 * np.asarray(chosen)[:, None, None]
    cross, prior = np.sum(some * grams(A, X), axis=0), np.sum(some * grams(A, A), axis=0)
    return cross @ inverse @ Y, prior - cross @ inverse @ cross.T


def mixture(moments):
    """Mean and covariance over equally likely draws."""
    means = np.stack([mean for mean, _ in moments])
    second = np.mean([C + np.outer(m, m) for m, C in moments], axis=0)
    return means.mean(axis=0), second - np.outer(means.mean(axis=0), means.mean(axis=0))


def test_each_draw_of_the_weights_has_the_textbook_s_moments():
    means, variances = POSTERIOR.draws(NEW)
    for w, mean, variance in zip(WEIGHTS, means, variances, strict=True):
        expected, covariance = textbook(w, NEW)
        assert_allclose(mean, expected, rtol=1e-6, atol=1e-8)
        assert_allclose(variance, np.diagonal(covariance), rtol=1e-6)


def test_moments_at_the_rows_of_the_fit_are_those_of_any_rows():
    for found, expected in zip(POSTERIOR.at_rows(), POSTERIOR.draws(X), strict=True):
        assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_components_have_the_textbook_s_moments_over_the_draws():
    means, variances = POSTERIOR.components(NEW)
    for i in range(3):
        expected, covariance = mixture([textbook(w, NEW, np.eye(3)[i]) for w in WEIGHTS])
        assert_allclose(means[i], expected, rtol=1e-6, atol=1e-8)
        assert_allclose(variances[i], np.diagonal(covariance), rtol=1e-6)


@pytest.mark.parametrize("parts", [None, [1], [0, 2]], ids=["all", "one", "two"])
def test_joint_is_the_textbook_s_of_the_chosen_parts(parts):
    chosen = np.ones(3) if parts is None else np.isin(np.arange(3), parts).astype(float)
    mean, covariance = POSTERIOR.joint(NEW, None if parts is None else np.array(parts))
    expected, expected_covariance = mixture([textbook(w, NEW, chosen) for w in WEIGHTS])
    assert_allclose(mean, expected, rtol=1e-6, atol=1e-8)
    assert_allclose(covariance, expected_covariance, rtol=1e-5, atol=1e-7)


def test_components_add_up_to_the_whole():
    assert_allclose(POSTERIOR.components(NEW)[0].sum(axis=0), POSTERIOR.draws(NEW)[0].mean(axis=0), rtol=1e-10)
    assert_allclose(
        POSTERIOR.joint(NEW, np.array([0]))[0] + POSTERIOR.joint(NEW, np.array([1, 2]))[0],
        POSTERIOR.joint(NEW)[0],
        rtol=1e-9,
        atol=1e-12,
    )


def test_the_diagonal_of_joint_is_the_variance_over_the_draws():
    means, variances = POSTERIOR.draws(NEW)
    assert_allclose(np.diagonal(POSTERIOR.joint(NEW)[1]), variances.mean(axis=0) + means.var(axis=0), rtol=1e-9)


def test_blocks_give_the_same_numbers(monkeypatch):
    whole = [*POSTERIOR.draws(NEW), *POSTERIOR.components(NEW)]
    monkeypatch.setattr(posteriors, "BLOCK_ROWS", 3)
    for one, other in zip([*POSTERIOR.draws(NEW), *POSTERIOR.components(NEW)], whole, strict=True):
        assert_allclose(one, other, rtol=1e-10)


def test_without_noise_the_rows_are_met():
    exact = GaussianPosterior(POSTERIOR.pool, WEIGHTS[:1], np.full(11, 1e-7), X, Y)
    mean, variance = exact.draws(X)
    assert_allclose(mean[0], Y, atol=1e-2)
    assert np.all(variance < 1e-3)


def test_far_away_only_the_line_is_known():
    mean, variance = POSTERIOR.components(np.array([[60.0]]))
    assert abs(mean[0, 0]) < 1e-8
    assert_allclose(variance[0, 0], np.mean(WEIGHTS[:, 0] ** 2), rtol=1e-8)
    assert abs(mean[1, 0]) > 1.0


def test_a_covariance_that_is_not_positive_definite_is_said_in_words():
    with pytest.raises(ArithmeticError, match="not positive definite"):
        GaussianPosterior(POSTERIOR.pool, WEIGHTS, np.full(11, -9.0), X, Y).draws(NEW)


def test_component_means_at_the_rows_of_the_fit_are_those_at_equal_rows():
    assert_allclose(POSTERIOR.component_means(POSTERIOR.X), POSTERIOR.component_means(POSTERIOR.X.copy()), atol=1e-10)


def test_component_means_are_those_of_each_draw():
    found = POSTERIOR.component_means(NEW)
    assert found.shape == (3, 3, 7)
    assert_allclose(found.mean(axis=0), POSTERIOR.components(NEW)[0], rtol=1e-9, atol=1e-12)
    assert_allclose(found.sum(axis=1), POSTERIOR.draws(NEW)[0], rtol=1e-9, atol=1e-12)
    sums = np.array([[1.0, 0.0, 1.0]])
    assert_allclose(POSTERIOR.component_means(NEW, sums)[:, 0], found[:, 0] + found[:, 2])


def test_leaving_a_row_out_is_the_posterior_given_the_others():
    means, variances = POSTERIOR.left_out()
    for n in range(len(Y)):
        rest = np.arange(len(Y)) != n
        without = GaussianPosterior(POSTERIOR.pool, WEIGHTS, NOISE[rest], X[rest], Y[rest])
        mean, variance = without.draws(X[n : n + 1])
        assert_allclose(means[:, n], mean[:, 0], rtol=1e-5, atol=1e-7)
        assert_allclose(variances[:, n], variance[:, 0], rtol=1e-4, atol=1e-7)


def test_leaving_blocks_out_is_the_posterior_given_the_rows_outside_each():
    blocks = [np.array([0, 3, 4]), np.array([3, 10])]
    means, variances = POSTERIOR.left_out(blocks=blocks)
    alone, _ = POSTERIOR.left_out()
    assert_allclose(means[:, : len(Y)], alone)
    for block, places in zip(blocks, np.split(np.arange(len(Y), means.shape[1]), [3]), strict=True):
        rest = np.setdiff1d(np.arange(len(Y)), block)
        mean, variance = GaussianPosterior(POSTERIOR.pool, WEIGHTS, NOISE[rest], X[rest], Y[rest]).draws(X[block])
        assert_allclose(means[:, places], mean, rtol=1e-5, atol=1e-7)
        assert_allclose(variances[:, places], variance, rtol=1e-4, atol=1e-7)


def test_means_of_components_by_draw_are_the_textbook_s_and_average_to_the_components():
    by_draw = POSTERIOR.component_means(NEW)
    for w, means in zip(WEIGHTS, by_draw, strict=True):
        for i, mean in enumerate(means):
            assert_allclose(mean, textbook(w, NEW, np.eye(3)[i])[0], rtol=1e-6, atol=1e-8)
    assert_allclose(by_draw.mean(axis=0), POSTERIOR.components(NEW)[0], rtol=1e-8, atol=1e-10)
    both = POSTERIOR.component_means(NEW, np.array([[1.0, 0.0, 1.0]]))
    assert_allclose(both[:, 0], by_draw[:, 0] + by_draw[:, 2], rtol=1e-10)


@pytest.mark.parametrize("rows", [2, 256])
def test_means_are_the_textbook_s_in_blocks_too(rows, monkeypatch):
    monkeypatch.setattr(posteriors, "BLOCK_ROWS", rows)
    assert_allclose(POSTERIOR.means(NEW), [textbook(w, NEW)[0] for w in WEIGHTS], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("noise", [NOISE, np.full(11, 0.2)], ids=["of each row", "common"])
def test_some_rows_left_out_are_those_of_all(noise):
    posterior, rows = GaussianPosterior(POSTERIOR.pool, WEIGHTS, noise, X, Y), np.array([7, 0, 10])
    means, variances = posterior.left_out(rows)
    expected = posterior.left_out()
    assert_allclose(means, expected[0][:, rows], rtol=1e-9, atol=1e-12)
    assert_allclose(variances, expected[1][:, rows], rtol=1e-9, atol=1e-12)
    # each row is known a little: there are others near it
    assert np.all(variances > 0.0)


def test_one_step_predictions_are_the_posterior_given_earlier_rows():
    means, variances = POSTERIOR.one_step()
    for n in (1, 5, 10):
        before = GaussianPosterior(POSTERIOR.pool, WEIGHTS, NOISE[:n], X[:n], Y[:n])
        mean, variance = before.draws(X[n : n + 1])
        assert_allclose(means[:, n], mean[:, 0], rtol=1e-5, atol=1e-7)
        assert_allclose(variances[:, n], variance[:, 0] + NOISE[n], rtol=1e-5)


def test_repeated_rows_without_noise_have_a_posterior():
    rows = np.repeat(np.array([[0.1], [0.7]]), 3, axis=0)
    y = np.repeat([1.0, -0.5], 3)
    posterior = GaussianPosterior(Products.of([SquaredExponential(0.9)], 1), np.ones((1, 1)), np.zeros(6), rows, y)
    mean, variance = posterior.draws(rows)
    assert_allclose(mean[0], y, atol=1e-4)
    assert_allclose(variance, 0.0, atol=1e-4)


def test_averages_are_those_of_the_joint_posterior():
    one = GaussianPosterior(POSTERIOR.pool, WEIGHTS[:1], NOISE, X, Y)
    mean, covariance = one.joint(NEW[:6])
    A = np.kron(np.eye(3), np.full((1, 2), 0.5))
    found = one.averages(NEW[:6], 3)
    assert_allclose(found[0], A @ mean, rtol=1e-9)
    assert_allclose(found[1], A @ covariance @ A.T, rtol=1e-7, atol=1e-12)


PREDICTIONS = {
    "draws": lambda one: one.draws(MANY[:60] + 0.1),
    "components": lambda one: one.components(MANY[:60] + 0.1),
    "component_means": lambda one: one.component_means(MANY[:60] + 0.1),
    "joint": lambda one: one.joint(MANY[:60] + 0.1),
    "averages": lambda one: one.averages(MANY[:60] + 0.1, 6),
    "one_step": lambda one: one.one_step(),
    "left_out": lambda one: one.left_out(),
    "at_rows": lambda one: one.at_rows(),
}
MANY = RNG.standard_normal((200, 2))


@pytest.mark.parametrize("name", PREDICTIONS)
def test_predictions_have_the_same_bits_with_two_blas_threads(name):
    pool = Products.of([SquaredExponential(np.ones(2)), Linear(0.0, dims=(0,))], 2)

    def predicted(threads):
        fresh = GaussianPosterior(pool, np.array([[1.0, 0.5]]), np.full(200, 0.1), MANY, np.sin(MANY[:, 0]))
        with threadpool_limits(threads, user_api="blas"):
            assert {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"} == {threads}
            return PREDICTIONS[name](fresh)

    for two, one in zip(predicted(2), predicted(1), strict=True):
        assert_array_equal(two, one)
