"""Laws of the projected bound: an expectation over y, its derivative, and the exact bound where y is known."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from farrier.evaluation.covariance import SeriesCovariance, covariance_of
from farrier.evaluation.products import Products
from farrier.inference.exact import ExactObjective, ProjectedObjective, expected_log_density
from farrier.inference.horseshoe import PointHorseshoe
from farrier.inference.lbfgs import climb
from farrier.inference.noise import ALIKE, Noise
from farrier.inference.parameter_vector import ExactModel
from farrier.kernels.registry import CentredPeriodic, Linear, SquaredExponential
from tests.inference.directions import along_field, fields

RNG = np.random.default_rng(0)
KERNELS = [SquaredExponential(0.6), Linear(0.3) * CentredPeriodic(0.7, 0.9), Linear(-0.2)]
GRID = np.linspace(-1.6, 1.6, 15)[:, None]
GAPS = GRID[[0, 1, 2, 4, 5, 7, 8, 9, 10, 13, 14]]
ELSEWHERE = RNG.uniform(-1.6, 1.6, (12, 1))
ROWS = {"grid": GRID, "grid with gaps": GAPS, "irregular": ELSEWHERE}
each = pytest.mark.parametrize("X", ROWS.values(), ids=ROWS)


def model(row_noise=ALIKE):
    prior = PointHorseshoe(np.array([0.5, 0.9, 0.2]), np.array([0.4, 0.5, 0.3]))
    centre = [kernel.rescale(1.2, 0.1) for kernel in KERNELS]
    pools = [Products.of(kernels, 1) for kernels in (KERNELS, centre)]
    return ExactModel(prior, 0.2, pools[0], pools[1].unbounded, row_noise)


def spread(X, M):
    """M at the places of the rows in the covariance; zero at empty ones."""
    covariance = covariance_of(X)
    return np.stack([covariance.scatter(one) for one in np.stack([covariance.scatter(row) for row in M]).T])


def projected(template, X, M):
    covariance = covariance_of(X)
    y = np.zeros(len(covariance.X))
    return ProjectedObjective(template, covariance, y, np.zeros((1, 0)), moments=spread(X, M))


def exact(template, X, y):
    covariance = covariance_of(X)
    return ExactObjective(template, covariance, covariance.scatter(y), np.zeros((1, 0)))


def moments_of(n, seed=1):
    """Mean and covariance of a replicate of y, and E y y'."""
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((n, n)) / np.sqrt(n)
    mean, S = generator.standard_normal(n), A @ A.T + 0.1 * np.eye(n)
    return mean, S, np.outer(mean, mean) + S


def test_the_expectation_is_the_mean_over_draws_of_y():
    mean, S, M = moments_of(6)
    C = 1.3 * S + 0.4 * np.eye(6)
    value, inverse = expected_log_density(C, M)
    y = multivariate_normal(mean, S).rvs(40_000, random_state=np.random.default_rng(3))
    densities = multivariate_normal(np.zeros(6), C).logpdf(y)
    assert abs(value - densities.mean()) < 4.0 * densities.std() / np.sqrt(len(y))
    assert_allclose(inverse @ C, np.eye(6), atol=1e-10)


def test_no_covariance_has_a_higher_expectation_than_the_second_moments_themselves():
    M = moments_of(6)[2]
    top = expected_log_density(M, M)[0]
    for seed in range(5):
        other = moments_of(6, seed + 10)[1]
        assert expected_log_density(0.99 * M + 0.01 * other, M)[0] < top


def test_a_matrix_that_is_no_covariance_has_no_density():
    assert expected_log_density(np.diag([1.0, -1.0]), np.eye(2))[0] == -np.inf


@each
@pytest.mark.parametrize("noise", ["common", "factors", "known"])
def test_with_the_square_of_y_it_is_the_exact_bound_with_its_derivative(X, noise):
    assert isinstance(covariance_of(GAPS), SeriesCovariance)
    y, each = np.sin(3.0 * X[:, 0]), np.linspace(0.2, 0.7, len(X))
    template = {"common": model(), "factors": model(Noise(each)), "known": model(Noise(each, known=True))}[noise]
    bound, known = projected(template, X, np.outer(y, y)), exact(template, X, y)
    terms, gradient = bound.terms(bound.start())
    expected, slope = known.terms(known.start())
    # empty places of a grid are counted in neither slope, and the constant of their density differs
    missing = np.sum(~np.asarray(bound.covariance.filled, bool))
    assert_allclose(terms.total + 0.5 * missing * np.log(2.0 * np.pi), expected.total, rtol=1e-9)
    assert_allclose(gradient, slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("field", fields(model()))
@each
def test_the_derivative_is_that_of_finite_differences_in_every_field(X, field):
    bound = projected(model(), X, moments_of(len(X))[2])
    gradient = bound.terms(bound.start())[1]
    along = along_field(model(), field, RNG)
    plus, minus = (bound.terms(bound.start() + step * along)[0].total for step in (1e-5, -1e-5))
    assert abs(gradient @ along) > 1e-4
    assert_allclose(gradient @ along, (plus - minus) / 2e-5, rtol=1e-5)


@each
@pytest.mark.parametrize("field", ["prior.w", "Linear.location", "noise"])
def test_derivatives_hold_where_weights_are_so_large_that_jitter_is_as_large_as_the_noise(X, field):
    large = replace(model(), noise=1e-3, prior=replace(model().prior, w=np.array([0.5, 300.0, 300.0])))
    y, along = np.sin(3.0 * X[:, 0]), along_field(large, field, RNG)
    for bound in (exact(large, X, y), projected(large, X, moments_of(len(X))[2])):
        gradient = bound.terms(bound.start())[1]
        plus, minus = (bound.terms(bound.start() + step * along)[0].total for step in (1e-4, -1e-4))
        assert_allclose(gradient @ along, (plus - minus) / 2e-4, rtol=1e-4, atol=1e-3)


def test_the_projection_of_a_member_of_the_family_is_that_member():
    template = model()
    K = np.einsum("i,inm->nm", np.asarray(template.prior.w) ** 2, template.pool.gram(GRID, GRID))
    C = K + 0.2 * np.eye(len(GRID))
    away = replace(template, noise=0.6, prior=replace(template.prior, w=2.0 * template.prior.w))
    # the priors move it a little
    bound = projected(away, GRID, C)
    found = bound.terms(climb(bound, 200, 1e-6).numbers)[0]
    own = expected_log_density(C, C)[0]
    assert own - 0.5 < found.evidence < own
