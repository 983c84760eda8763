"""The sparse methods are the model and training of the paper with other priors, and predict in the units of y."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.baselines.full import FullGP
from farrier.baselines.sparse import (
    CANDIDATES,
    HorseshoeSVGP,
    PoolMultiSVGP,
    PoolSVGP,
    SmoothSVGP,
    SoftmaxOfSums,
    SoftmaxSVGP,
    SpikeAndSlabSVGP,
    VariationalSoftmaxSVGP,
    candidate_products,
)
from farrier.kernels.registry import SquaredExponential
from farrier.paper.pool import Pool, stack
from farrier.paper.trees import JAX

fixed = np.random.default_rng(4)
x = np.sort(fixed.uniform(0.0, 4.0, 40))
y = 50.0 + 9.0 * np.sin(2.0 * x) + 0.5 * fixed.normal(size=40)
TINY = {"points": 6, "iterations": 100, "learning_rate": 0.1}


@pytest.fixture
def small(monkeypatch):
    """Two kernels for the paper's 24, two candidates for 12: compiling is what takes the time."""
    pool = stack([SquaredExponential(0.7), SquaredExponential(2.0)], inputs=1)
    monkeypatch.setattr(Pool, "paper", staticmethod(lambda X, y, initialisation, seed: pool))
    monkeypatch.setattr("farrier.baselines.sparse.CANDIDATES", ("SE + SE", "Lin"))


def test_groups_of_points_fit_a_pool_with_a_prior(small):
    model = SpikeAndSlabSVGP(**TINY).fit(x, y)
    mean, sd = model.predict(x)
    assert np.sqrt(np.mean((mean - y) ** 2)) < 0.5 * y.std()
    assert np.all(sd > 0.0)
    assert model.pool_ == ["SE", "SE"]
    assert len(model.weights_) == 2


@pytest.mark.parametrize("method", [PoolSVGP, PoolMultiSVGP, SpikeAndSlabSVGP, HorseshoeSVGP])
def test_the_pool_is_the_papers(method):
    (pool,), prior = method()._pools_and_prior(x[:, None], y)
    assert len(pool) == len(prior.quantile(0.5)) == 24


def test_svgp_with_one_smooth_kernel_comes_near_the_full_process():
    sparse, full = SmoothSVGP(points=10, iterations=600, learning_rate=0.05).fit(x, y), FullGP(iterations=60).fit(x, y)
    assert sparse.elbo_ <= full.evidence_ + 0.1
    assert sparse.elbo_ > full.evidence_ - 3.0
    assert_allclose(sparse.predict(x)[0], full.predict(x)[0], atol=0.1 * y.std())
    # the squared units of y, in which the noise of the series is 0.5^2
    assert 0.05 < sparse.noise_variance_ < 1.0
    assert full.noise_variance_ is None


def test_candidates_share_one_unit_of_weight():
    owners = (0, 1, 1, 2)
    prior = SoftmaxOfSums(owners, np.array([0.0, 2.0, -1.0]), np.ones(4))
    w2 = prior.draw(np.zeros((1, 0)))[0] ** 2
    assert_allclose(w2[0] + w2[1] + w2[3], 1.0)
    assert_allclose(w2[1], w2[2])


SUMS = SoftmaxOfSums((0, 1, 1, 2), np.array([0.0, 2.0, -1.0]), np.array([0.5, 1.2, 0.7, 2.0]))


def test_weigh_of_candidate_sums_is_their_squared_weights_with_its_derivative():
    noise, u = np.zeros((2, 0)), SUMS.vector()
    weighed = SUMS.weigh(u, noise)
    assert_allclose(weighed.w2, SUMS.draw(noise) ** 2, rtol=1e-12)
    assert weighed.kl == SUMS.kl() == 0.0
    gain = np.random.default_rng(0).standard_normal(weighed.w2.shape)

    def height(u):
        return np.sum(gain * SUMS.with_vector(u).draw(noise) ** 2)

    expected = [(height(u + step) - height(u - step)) / 2e-6 for step in 1e-6 * np.eye(len(u))]
    assert_allclose(weighed.pull(gain), expected, rtol=1e-6, atol=1e-8)


def test_candidate_sums_are_the_same_in_jax():
    draws, kl = eqx.filter_jit(lambda prior: (prior.draw(jnp.zeros((2, 0)), JAX), prior.kl(JAX)))(SUMS)
    assert_allclose(draws, SUMS.draw(np.zeros((2, 0))), rtol=1e-12)
    assert kl == 0.0


def test_twelve_candidates_have_the_products_they_say():
    made = candidate_products(np.linspace(0.0, 1.0, 30)[:, None], np.zeros(30), seed=0)
    assert [" + ".join(str(product) for product in products) for products in made] == list(CANDIDATES)


def test_softmax_weighs_its_candidates(small):
    model = SoftmaxSVGP(**TINY).fit(x, y)
    assert_allclose(model.shares_.sum(), 1.0)
    assert model.kernel_ == "SE + SE"
    assert np.sqrt(np.mean((model.predict(x)[0] - y) ** 2)) < 0.5 * y.std()


def test_variational_softmax_averages_by_evidence(monkeypatch):
    monkeypatch.setattr("farrier.baselines.sparse.CANDIDATES", ("SE", "SE"))  # they start at different lengths
    model = VariationalSoftmaxSVGP(points=10, iterations=200, learning_rate=0.1).fit(x, y)
    assert_allclose(model.shares_[1] / model.shares_[0], np.exp(model.elbos_[1] - model.elbos_[0]), rtol=1e-6)
    assert_allclose(model.shares_.sum(), 1.0)
    assert model.elbos_.min() <= model.elbo_ <= model.elbos_.max()
    assert model.noise_variance_ is None
    mean, sd = model.predict(x)
    assert np.sqrt(np.mean((mean - y) ** 2)) < 0.3 * y.std()
    assert np.all(sd > 0.0)


def test_minibatches_meet_every_row_many_times():
    few, many = HorseshoeSVGP(), HorseshoeSVGP(full_rows=100, batch_size=50, epochs=20)
    assert few.steps_for(10_000) == few.iterations
    assert many.steps_for(100) == many.iterations
    assert many.steps_for(5_000) * 50 == 20 * 5_000
