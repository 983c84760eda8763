"""Laws of Laplace's approximation, and of draws by Hamiltonian Monte Carlo."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.evaluation.products import Products
from farrier.inference.laplace import Laplace, Trajectories, curvature, sampled
from farrier.inference.mixtures import moments
from farrier.inference.parameter_vector import Terms
from farrier.inference.posteriors import GaussianPosterior, LaplacePosterior
from farrier.kernels.registry import Linear, SquaredExponential

RNG = np.random.default_rng(0)
A = RNG.standard_normal((4, 4))
H = A @ A.T + np.eye(4)
TOP = np.array([0.3, -1.0, 2.0, 0.5])


class Quadratic:
    """log N up to a constant, with the precision H about TOP."""

    def terms(self, numbers):
        away = numbers - TOP
        value = float(-0.5 * away @ H @ away)
        return Terms(value, value, 0.0, 0.0), -H @ away


STEPS = np.array([1e-3, 0.1, 2.0, 1e-2])


def test_the_curvature_of_a_quadratic_is_its_precision_whatever_the_steps():
    assert_allclose(curvature(Quadratic(), TOP, np.arange(4), STEPS), H, rtol=1e-8)
    some = np.array([0, 2])
    assert_allclose(curvature(Quadratic(), TOP, some, STEPS), H[np.ix_(some, some)], rtol=1e-8)


class Quartic:
    """A density whose curvature changes, and the points at which its gradient was asked for."""

    def __init__(self):
        self.asked = []

    def terms(self, numbers):
        self.asked.append(numbers.copy())
        value = float(-np.sum(numbers**2 + numbers**4))
        return Terms(value, value, 0.0, 0.0), -2.0 * numbers - 4.0 * numbers**3


def test_the_curvature_takes_one_gradient_and_one_step_ahead_for_each_parameter():
    quartic, u = Quartic(), np.array([0.2, -0.1, 0.0])
    found = curvature(quartic, u, np.array([0, 2]), np.array([1e-6, 5.0, 1e-6]))
    assert_allclose(found, np.diag(2.0 + 12.0 * u[[0, 2]] ** 2), atol=1e-4)
    assert_allclose(np.array(quartic.asked) - u, [[0.0, 0.0, 0.0], [1e-6, 0.0, 0.0], [0.0, 0.0, 1e-6]], atol=1e-12)
    slope, again = quartic.terms(u)[1], Quartic()
    assert_allclose(curvature(again, u, np.array([0, 2]), np.array([1e-6, 5.0, 1e-6]), slope), found)
    assert len(again.asked) == 2


def test_the_evidence_of_a_normal_density_is_one():
    # the integral of exp(-(u - TOP)' H (u - TOP) / 2) is (2 pi)^(P / 2) / sqrt|H|
    laplace = Laplace.of(TOP, H, 1e-9)
    assert_allclose(laplace.log_volume, 2.0 * np.log(2.0 * np.pi) - 0.5 * np.linalg.slogdet(H)[1])
    assert_allclose(laplace.deviations, np.sqrt(np.diagonal(np.linalg.inv(H))))


def test_a_step_of_newtons_method_ends_at_the_top_of_a_quadratic():
    away = TOP + 0.3
    (terms, slope), found = Quadratic().terms(away), curvature(Quadratic(), away, np.arange(4), STEPS)
    laplace = Laplace.of(away, found, 1e-12)
    assert_allclose(away + laplace.newton(slope), TOP, atol=1e-8)
    assert_allclose(laplace.expected_gain(slope), -terms.total)
    assert_allclose(laplace.H, H, rtol=1e-8)


def test_draws_are_antithetic_pairs_with_the_inverse_curvature_as_covariance():
    draws = Laplace.of(TOP, H, 1e-9).draws(40_000)
    assert_allclose(draws.mean(axis=0), TOP, atol=1e-12)
    assert_allclose(np.cov(draws.T), np.linalg.inv(H), atol=0.02)
    few = Laplace.of(TOP, H, 1e-9)
    assert few.draws(8).shape == (8, 4)
    assert_allclose(few.draws(8), few.draws(8, seed=0))
    assert np.abs(few.draws(8) - few.draws(8, seed=1)).max() > 0.1


def test_draws_hang_on_no_last_digit_of_the_curvature():
    # eigenvectors of equal eigenvalues are arbitrary, and so are the signs of all
    H, nudge = np.diag([4.0, 4.0, 4.0, 9.0]), np.random.default_rng(0).standard_normal((4, 4)) * 1e-12
    one, other = (Laplace.of(np.zeros(4), each, least=0.1).draws(6) for each in (H, H + nudge + nudge.T))
    assert_allclose(one, other, atol=1e-9)


def test_a_flat_direction_is_no_wider_than_the_least_curvature_allows():
    flat = Laplace.of(np.zeros(2), np.diag([4.0, 0.0]), 0.25)
    assert_allclose(flat.deviations, [0.5, 2.0])


def test_the_posterior_is_the_mixture_of_its_draws():
    X, new = np.linspace(-1.0, 1.0, 12)[:, None], np.array([[0.1], [1.5]])
    y = np.sin(3.0 * X[:, 0])
    pools = [Products.of([SquaredExponential(length), Linear(0.0)], 1) for length in (0.5, 1.0)]
    one, other = (
        GaussianPosterior(pool, np.full((1, 2), weight), np.full(12, 0.1), X, y)
        for pool, weight in zip(pools, (1.0, 0.7), strict=True)
    )
    both = LaplacePosterior((one, other))
    assert_allclose(both.draws(new)[0], np.concatenate([one.draws(new)[0], other.draws(new)[0]]))
    means = np.stack([one.components(new)[0], other.components(new)[0]])
    found, variance = both.components(new)
    assert_allclose(found, means.mean(axis=0))
    assert_allclose(found.sum(axis=0), both.draws(new)[0].mean(axis=0))
    assert_allclose(variance, one.components(new)[1] + means.var(axis=0))
    assert_allclose(np.diagonal(both.joint(new)[1]), moments(*both.draws(new))[1])
    assert both.pool is one.pool
    assert both.weights is one.weights


def test_a_mixture_of_one_is_that_one():
    X = np.linspace(-1.0, 1.0, 6)[:, None]
    one = GaussianPosterior(Products.of([Linear(0.3)], 1), np.ones((1, 1)), np.full(6, 0.1), X, X[:, 0])
    for found, expected in zip(LaplacePosterior((one,)).draws(X), one.draws(X), strict=True):
        assert_allclose(found, expected)


SPREAD = np.array([0.5, 2.0])
WIDE = np.array([[-50.0, 50.0]] * 3)


class Normal:
    """Independent normals in the first two numbers; the third is not drawn."""

    def terms(self, numbers):
        away = numbers[:2] / SPREAD
        value = -0.5 * float(away @ away)
        return Terms(value, value, 0.0, 0.0), np.append(-away / SPREAD, 0.0)


def draws(limits=WIDE, count=1500, seed=0):
    # the curvature is that of standard normals, which the density is not
    laplace = Laplace(np.zeros(2), np.ones(2), np.eye(2))
    wanted = Trajectories(draws=count, apart=1, warm=50, steps=8, step=0.3)
    return sampled(Normal(), np.array([0.0, 0.0, 7.0]), np.arange(2), laplace, limits, wanted, seed)


def test_draws_have_the_moments_of_the_density():
    found = draws()
    assert found.shape == (1500, 3)
    assert found[:, :2].std(axis=0) == pytest.approx(SPREAD, rel=0.12)
    assert np.all(np.abs(found[:, :2].mean(axis=0)) < 0.25 * SPREAD)
    assert np.all(found[:, 2] == 7.0)


def test_nothing_is_drawn_outside_the_limits():
    found = draws(np.array([[-0.4, 0.4], [-50.0, 50.0], [0.0, 10.0]]), 200)
    assert np.abs(found[:, 0]).max() <= 0.4


def test_draws_are_the_same_every_time():
    np.testing.assert_array_equal(draws(count=5), draws(count=5))
