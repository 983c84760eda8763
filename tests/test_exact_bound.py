"""Laws of the exact bound: the density of y by scipy, derivatives by finite differences, and what must not matter."""

from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from numpy.testing import assert_allclose, assert_array_equal
from plain_kernels import plain_gram
from scipy.stats import multivariate_normal

from farrier.beliefs import log_prior
from farrier.covariance import Covariance, GridCovariance, covariance_of
from farrier.exact import LOWEST_NOISE, NOISE_CENTRE, NOISE_SPREAD, ExactModel, ExactObjective, evidence
from farrier.horseshoe import Horseshoe
from farrier.kernels.base import CentredPeriodic, Linear, RationalQuadratic, SquaredExponential, Step
from farrier.kernels.slots import SlotPool
from farrier.parameters import as_array, free
from farrier.priors import quasi_normal

RNG = np.random.default_rng(0)
KERNELS = [
    SquaredExponential(0.6),
    Linear(0.3) * CentredPeriodic(0.7, 0.9),
    Step(0.1, 0.2) * RationalQuadratic(0.5, 1.2),
    (1 - Step(-0.3, 0.4)) * Linear(-0.8),
]
X = np.linspace(-1.6, 1.6, 26)[:, None]
Y = np.sin(3.0 * X[:, 0]) + 0.3 * RNG.standard_normal(26)
DRAWS = quasi_normal(2, 9)


def model(size=8, noise=0.2, rows=None, kernels=KERNELS):
    count = len(kernels)
    prior = Horseshoe(
        mu_tau=as_array(-0.4),
        v_tau=as_array(0.3),
        mu=as_array(np.linspace(-0.5, 0.7, 8)[:size]),
        v=as_array(np.linspace(0.2, 0.5, 8)[:size]),
        present=as_array((np.arange(size) < count).astype(float)),
    )
    # the beliefs stand beside the numbers, so that their derivative is not zero
    centre = [kernel.rescale(1.2, 0.1) for kernel in kernels]
    return ExactModel(prior, noise, SlotPool.of(kernels, 1, size), SlotPool.of(centre, 1, size), rows)


def objective(template, X=X, y=Y, draws=DRAWS):
    covariance = covariance_of(X)
    return ExactObjective(template, covariance, covariance.scatter(y), draws[:, : template.prior.noise_size])


def densities(template, X, y, diagonal):
    """log N(y; 0, C_s) for each draw of the weights, by scipy."""
    w = np.asarray(template.prior.draw(jnp.asarray(DRAWS[:, : template.prior.noise_size])))
    grams = [plain_gram(kernel, X, X) for kernel in template.pool]
    C = np.einsum("si,inm->snm", w**2, np.stack(grams)) + np.diag(diagonal)
    return [multivariate_normal(np.zeros(len(y)), C_s).logpdf(y) for C_s in C]


@pytest.fixture(scope="module")
def found():
    bound = objective(model())
    return bound, *bound.terms(bound.start())


def test_evidence_is_the_density_of_y_and_its_derivative_by_the_covariance():
    A = RNG.standard_normal((6, 6))
    C, diagonal, y = A @ A.T, RNG.uniform(0.3, 1.0, 6), RNG.standard_normal(6)
    filled = np.ones(6)
    value, G = evidence(C.copy(), diagonal, filled, y) or (np.nan, C)
    assert_allclose(value, multivariate_normal(np.zeros(6), C + np.diag(diagonal)).logpdf(y), rtol=1e-6)
    along = RNG.standard_normal((6, 6))
    along = along + along.T
    plus, minus = (evidence(C + step * along, diagonal, filled, y) or (np.nan, C) for step in (1e-5, -1e-5))
    assert_allclose(np.sum(G * along), (plus[0] - minus[0]) / 2e-5, rtol=1e-5)


def test_a_row_that_is_not_real_is_left_out_of_the_evidence():
    A = RNG.standard_normal((5, 5))
    C, diagonal, y = A @ A.T, np.full(5, 0.4), RNG.standard_normal(5)
    alone = evidence(C.copy(), diagonal, np.ones(5), y) or (np.nan, C)
    wide, filled = np.zeros((7, 7)), np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    at = np.flatnonzero(filled)
    wide[np.ix_(at, at)] = C
    spread = np.zeros(7)
    spread[at] = y
    value, G = evidence(wide, np.full(7, 0.4), filled, spread) or (np.nan, C)
    assert_allclose(value, alone[0], rtol=1e-6)
    assert_allclose(G[np.ix_(at, at)], alone[1], rtol=1e-5, atol=1e-7)
    assert not G[filled == 0].any()


def test_what_is_not_positive_definite_has_no_evidence():
    assert evidence(-np.eye(3), np.full(3, 0.1), np.ones(3), np.ones(3)) is None


def test_bound_is_mean_evidence_less_divergence_plus_beliefs(found):
    bound, terms, _ = found
    template = model()
    assert isinstance(bound.covariance, GridCovariance)
    assert_allclose(terms.evidence, np.mean(densities(template, X, Y, np.full(26, 0.2))), rtol=1e-6)
    assert_allclose(terms.kl, float(template.prior.kl()), rtol=1e-12)
    noise_belief = -0.5 * ((np.log(0.2) - NOISE_CENTRE) / NOISE_SPREAD) ** 2
    assert_allclose(terms.log_prior, float(log_prior(template.pool, template.centre)) + noise_belief, rtol=1e-12)
    assert_allclose(terms.total, terms.evidence - terms.kl + terms.log_prior, rtol=1e-12)


BLOCKS = {
    "prior": ("mu_tau", "v_tau", "mu", "v"),
    "pool": ("lengthscale", "mixture", "period", "shape", "line", "start", "start_width", "end", "end_width"),
}
LEAVES = [("noise",), *((part, name) for part, names in BLOCKS.items() for name in names)]


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: ".".join(leaf))
def test_derivative_is_that_of_finite_differences_in_every_block(found, leaf):
    bound, _, gradient = found

    def block(tree):
        for name in leaf:
            tree = getattr(tree, name)
        return tree

    zeros = jax.tree.map(jnp.zeros_like, free(model()))
    along = eqx.tree_at(block, zeros, jnp.asarray(RNG.standard_normal(np.shape(block(zeros)))))
    along = np.asarray(ravel_pytree(along)[0])
    plus, minus = (bound.terms(bound.start() + step * along)[0].total for step in (1e-5, -1e-5))
    assert abs(gradient @ along) > 1e-4
    assert_allclose(gradient @ along, (plus - minus) / 2e-5, rtol=1e-4)


def test_empty_kernels_change_neither_the_bound_nor_its_derivative(found):
    _, terms, gradient = found
    alone = model(size=4)
    assert_allclose(terms.evidence, np.mean(densities(alone, X, Y, np.full(26, 0.2))), rtol=1e-6)
    assert_allclose(terms.kl, float(alone.prior.kl()), rtol=1e-12)
    _, unravel = ravel_pytree(free(model()))
    for slope in jax.tree.leaves(unravel(jnp.asarray(gradient))):
        assert np.ndim(slope) == 0 or not np.asarray(slope)[4:].any()


def test_the_order_of_the_rows_does_not_matter(found):
    _, terms, gradient = found
    order = RNG.permutation(26)
    shuffled = objective(model(), X[order], Y[order])
    again, slope = shuffled.terms(shuffled.start())
    assert_allclose(again.total, terms.total, rtol=1e-9)
    assert_allclose(slope, gradient, rtol=1e-6, atol=1e-7)


def test_the_noise_of_each_row_stands_in_the_place_of_a_common_one():
    variances = RNG.uniform(0.05, 0.6, 26)
    order = RNG.permutation(26)
    bound = objective(model(rows=variances[order]), X[order], Y[order])
    terms, gradient = bound.terms(bound.start())
    assert_allclose(terms.evidence, np.mean(densities(model(), X, Y, variances)), rtol=1e-6)
    # the common noise is left with what is believed of it
    _, unravel = ravel_pytree(free(model()))
    believed = -(np.log(0.2) - NOISE_CENTRE) / NOISE_SPREAD**2
    assert_allclose(unravel(jnp.asarray(gradient)).noise, believed, rtol=1e-9)


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

    def forward(self, pool, w2):
        C, saved = self.true.forward(pool, w2)
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


def test_limits_hold_the_start_and_keep_empty_slots_where_they_are(found):
    bound, _, _ = found
    low, high = bound.limits().T
    assert np.all(low <= bound.start())
    assert np.all(bound.start() <= high)
    _, unravel = ravel_pytree(free(model()))
    width = unravel(jnp.asarray(high - low))
    assert np.all(np.asarray(width.pool.lengthscale)[[0, 2], 0] > 0)
    assert not np.asarray(width.pool.lengthscale)[[1, 3, 4, 5, 6, 7]].any()
    assert not np.asarray(width.pool.period)[[0, 2, 3]].any()


def test_noise_never_vanishes():
    low = objective(model(noise=10.0 * LOWEST_NOISE)).limits()[:, 0]
    _, unravel = ravel_pytree(free(model()))
    assert_allclose(unravel(jnp.asarray(low)).noise, np.log(LOWEST_NOISE), rtol=1e-12)
