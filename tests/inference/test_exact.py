"""Laws of the exact bound: the density of y by scipy, derivatives by finite differences, and what must not matter."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from farrier.baselines.weight_priors import draw
from farrier.evaluation.covariance import Covariance, SeriesCovariance, covariance_of
from farrier.evaluation.products import Products
from farrier.inference.exact import ExactObjective
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.noise import ALIKE, Noise
from farrier.inference.parameter_vector import (
    LOWEST_NOISE,
    NOISE_CENTRE,
    NOISE_SPREAD,
    ExactModel,
    log_prior,
    precisions,
    reaches,
    spreads,
)
from farrier.inference.weight_priors import quasi_normal
from farrier.kernels.registry import CentredPeriodic, Linear, RationalQuadratic, SquaredExponential, Step
from tests.inference.directions import along_field, fields
from tests.inference.prior_cases import divergence
from tests.kernels.plain_kernels import plain_gram

RNG = np.random.default_rng(0)
KERNELS = [
    SquaredExponential(0.6),
    Linear(0.3) * CentredPeriodic(0.7, 0.9),
    Step(0.1, 0.2) * RationalQuadratic(0.5, 1.2),
    (1 - Step(-0.3, 0.4)) * Linear(-0.8),
]
X = np.linspace(-1.6, 1.6, 26)[:, None]
Y = np.sin(3.0 * X[:, 0]) + 0.3 * RNG.standard_normal(26)
DRAWS = quasi_normal(2, 5)


def model(noise=0.2, rows=None, kernels=KERNELS):
    size = len(kernels)
    prior = Horseshoe(
        mu_tau=np.asarray(-0.4), v_tau=np.asarray(0.3), mu=np.linspace(-0.5, 0.7, size), v=np.linspace(0.2, 0.5, size)
    )
    # the priors are centred beside the hyperparameters, so that their derivative is not zero
    row_noise = ALIKE if rows is None else Noise(rows, known=True)
    centre = [kernel.rescale(1.2, 0.1) for kernel in kernels]
    return ExactModel(prior, noise, Products.of(kernels, 1), Products.of(centre, 1).unbounded, row_noise)


def objective(template, X=X, y=Y, draws=DRAWS):
    covariance = covariance_of(X)
    return ExactObjective(template, covariance, covariance.scatter(y), draws[:, : template.prior.noise_size])


def densities(template, X, y, diagonal):
    """log N(y; 0, C_s) for each draw of the weights, by scipy."""
    w = draw(template.prior, DRAWS[:, : template.prior.noise_size])
    grams = [plain_gram(kernel, X, X) for kernel in template.pool]
    C = np.einsum("si,inm->snm", w**2, np.stack(grams)) + np.diag(diagonal)
    return [multivariate_normal(np.zeros(len(y)), C_s).logpdf(y) for C_s in C]


@pytest.fixture(scope="module")
def found():
    bound = objective(model())
    return bound, *bound.terms(bound.start())


def test_bound_is_mean_evidence_less_divergence_plus_log_prior(found):
    bound, terms, _ = found
    template = model()
    assert isinstance(bound.covariance, SeriesCovariance)
    assert_allclose(terms.evidence, np.mean(densities(template, X, Y, np.full(26, 0.2))), rtol=1e-6)
    assert_allclose(terms.kl, divergence(template.prior), rtol=1e-9)
    noise_belief = -0.5 * ((np.log(0.2) - NOISE_CENTRE) / NOISE_SPREAD) ** 2
    believed, _ = log_prior(template.pool.unbounded, template.centre, precisions(spreads(template.pool)))
    assert_allclose(terms.log_prior, believed + noise_belief, rtol=1e-12)
    assert_allclose(terms.total, terms.evidence - terms.kl + terms.log_prior, rtol=1e-12)


@pytest.mark.parametrize("field", fields(model()))
def test_derivative_is_that_of_finite_differences_in_every_field(found, field):
    bound, _, gradient = found
    along = along_field(model(), field, RNG)
    plus, minus = (bound.terms(bound.start() + step * along)[0].total for step in (1e-5, -1e-5))
    assert abs(gradient @ along) > 1e-4
    assert_allclose(gradient @ along, (plus - minus) / 2e-5, rtol=1e-4)


def test_the_order_of_the_rows_does_not_matter(found):
    _, terms, gradient = found
    order = RNG.permutation(26)
    shuffled = objective(model(), X[order], Y[order])
    again, slope = shuffled.terms(shuffled.start())
    assert_allclose(again.total, terms.total, rtol=1e-9)
    assert_allclose(slope, gradient, rtol=1e-6, atol=1e-7)


def test_the_noise_of_each_row_replaces_a_common_one():
    variances = RNG.uniform(0.05, 0.6, 26)
    order = RNG.permutation(26)
    bound = objective(model(rows=variances[order]), X[order], Y[order])
    terms, gradient = bound.terms(bound.start())
    assert_allclose(terms.evidence, np.mean(densities(model(), X, Y, variances)), rtol=1e-6)
    # the common noise is left with what is believed of it
    believed = -(np.log(0.2) - NOISE_CENTRE) / NOISE_SPREAD**2
    assert_allclose(gradient[fields(model())["noise"]], believed, rtol=1e-9)


def test_equal_noise_of_each_row_is_a_common_noise(found):
    _, terms, _ = found
    bound = objective(model(rows=np.full(26, 0.2)))
    assert_allclose(bound.terms(bound.start())[0].evidence, terms.evidence, rtol=1e-12)


@dataclass
class Negative(Covariance):
    """A covariance that is none."""

    true: Covariance

    def __post_init__(self):
        self.X, self.filled, self.places = self.true.X, self.true.filled, self.true.places

    def forward(self, pool, numbers, w2):
        C, saved = self.true.forward(pool, numbers, w2)
        return -C, saved

    def backward(self, saved, dC):
        raise AssertionError("there is nothing to go back from")

    def grams(self, pool):
        return self.true.grams(pool)


def test_a_covariance_that_is_not_positive_definite_gives_minus_infinity(found):
    bound, _, _ = found
    terms, gradient = replace(bound, covariance=Negative(bound.covariance)).terms(bound.start())
    assert terms.total == -np.inf
    assert_array_equal(gradient, np.zeros(len(bound.start())))


def test_model_and_numbers_are_inverse(found):
    bound, _, _ = found
    numbers = bound.start() + 0.01 * RNG.standard_normal(len(bound.start()))
    assert_allclose(objective(bound.model(numbers)).start(), numbers, rtol=1e-10, atol=1e-12)


def test_limits_hold_the_start_and_hyperparameters_move_about_where_they_are_centred(found):
    bound, _, _ = found
    low, high = bound.limits().T
    assert np.all(low <= bound.start())
    assert np.all(bound.start() <= high)
    template = model()
    hyperparameters = slice(-len(template.centre), None)
    reach = reaches(template.pool)
    assert_allclose(low[hyperparameters], np.minimum(template.centre - reach, template.pool.unbounded), rtol=1e-12)
    assert_allclose(high[hyperparameters], np.maximum(template.centre + reach, template.pool.unbounded), rtol=1e-12)


def test_noise_never_vanishes():
    low = objective(model(noise=10.0 * LOWEST_NOISE)).limits()[:, 0]
    assert_allclose(low[fields(model())["noise"]], np.log(LOWEST_NOISE), rtol=1e-12)


def test_the_value_alone_is_that_of_the_terms(found):
    bound, terms, _ = found
    assert_allclose(bound.value(bound.start()), terms, rtol=1e-12)
    # rows that a grid fills up, and noise of each row
    gaps = objective(model(rows=np.full(24, 0.3)), np.delete(X, [3, 9], axis=0), np.delete(Y, [3, 9]))
    assert_allclose(gaps.value(gaps.start()), gaps.terms(gaps.start())[0], rtol=1e-12)


def test_the_noise_of_rows_may_be_multiples_of_a_common_one():
    factors = np.linspace(0.5, 9.0, len(Y))
    common, known = replace(model(), row_noise=Noise(factors)), model(rows=0.2 * factors)
    bound, u = objective(common), objective(common).start()
    terms, gradient = bound.terms(u)
    assert terms.evidence == pytest.approx(objective(known).terms(u)[0].evidence, abs=1e-9)
    assert bound.value(u).total == pytest.approx(terms.total, abs=1e-6)
    place = len(common.prior.vector())
    step = np.zeros_like(u)
    step[place] = 1e-5
    slope = (bound.terms(u + step)[0].total - bound.terms(u - step)[0].total) / 2e-5
    assert gradient[place] == pytest.approx(slope, rel=1e-6)
