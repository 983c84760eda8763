"""Laws of the average of two pools: the better one where it is clearly better, else a mixture of both."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.evaluation.covariance import covariance_of
from farrier.inference.exact_posterior import GaussianPosterior
from farrier.kernels.registry import CentredPeriodic, Linear, SquaredExponential
from farrier.search.averaging import average
from farrier.search.search import Search
from farrier.search.settings import AveragingSettings, PosteriorSettings, SearchSettings
from farrier.search.structure import Part

RNG = np.random.default_rng(0)
X = np.linspace(-1.6, 1.6, 40)[:, None]
Y = np.sin(3.0 * X[:, 0]) + X[:, 0] + 0.2 * RNG.standard_normal(40)
NEW = np.linspace(-2.0, 2.0, 9)[:, None]
DRAWS, TEMPERATURE = 8, 4.0
SETTINGS = SearchSettings(
    averaging=AveragingSettings(temperature=TEMPERATURE), posterior=PosteriorSettings(draws=DRAWS)
)


def fitted(*kernels):
    search = Search(X, Y / Y.std(), covariance_of(X))
    return search.fit([Part(kernel, kernel, 0.5) for kernel in kernels], 0.1)


@pytest.fixture(scope="module")
def pools():
    return fitted(SquaredExponential(0.5)), fitted(Linear(0.0), CentredPeriodic(2.0, 1.0))


def predict(found):
    noise = np.full(len(X), float(found.model.noise))
    pool = found.model.pool
    return GaussianPosterior(pool, found.weights, noise, X, Y / Y.std()).draws(NEW)[0].mean(axis=0)


def both_with(pools, nats=0.0):
    """The average of both pools, the second so many nats ahead."""
    return average(pools, [-10.0, nats - 10.0], SETTINGS)


def test_one_pool_is_itself(pools):
    found = average(pools[:1], [-10.0], SETTINGS)
    assert found.model is pools[0].model
    assert found.weights.shape == (DRAWS, 2)
    assert [member.share for member in found.members] == [1.0]


def test_where_one_is_clearly_better_every_draw_is_its_own(pools):
    for nats, first, second in ((50.0, 0, DRAWS), (-50.0, DRAWS, 0)):
        found = both_with(pools, nats)
        assert np.count_nonzero(found.weights[:, :2].all(axis=1)) == first
        assert np.count_nonzero(found.weights[:, 2:].all(axis=1)) == second


def test_equal_evidence_is_an_equal_mixture(pools):
    both = both_with(pools)
    assert_allclose([member.share for member in both.members], [0.5, 0.5])
    assert [str(kernel) for kernel in both.kernels] == ["SE", "1", "Lin", "Per0", "1"]
    assert_allclose(both.weights[: DRAWS // 2, 2:], 0.0)
    assert_allclose(both.weights[DRAWS // 2 :, :2], 0.0)
    apart = [predict(both_with(pools, nats)) for nats in (50.0, -50.0)]
    middle = predict(both)
    # between the two, up to the draws that were chosen and a noise between theirs
    assert_allclose(middle, 0.5 * (apart[0] + apart[1]), atol=0.1 * np.ptp(Y))


def test_the_bound_is_that_of_the_better_one(pools):
    assert both_with(pools, 2.0).bound == -8.0
    assert both_with(pools, -2.0).bound == -10.0


def test_as_one_model_the_two_share_the_variance(pools):
    first, second = pools
    medians = both_with(pools).model.prior.quantile(0.5)
    assert medians[0] == pytest.approx(np.sqrt(0.5) * first.parts[0].weight, rel=1e-6)
    assert medians[2] == pytest.approx(np.sqrt(0.5) * second.parts[0].weight, rel=1e-6)


def test_three_pools_have_draws_by_their_evidence(pools):
    behind = -TEMPERATURE * np.log(2.0)
    found = average([*pools, pools[1]], [0.0, behind, behind], SETTINGS)
    assert_allclose([member.share for member in found.members], [0.5, 0.25, 0.25])
    owned = [np.count_nonzero(found.weights[:, block].any(axis=1)) for block in (slice(0, 2), slice(2, 5), slice(5, 8))]
    assert owned == [4, 2, 2]
    assert len(found.kernels) == found.weights.shape[1] == 8


def test_shares_go_with_a_part_of_the_difference(pools):
    first, second = (member.share for member in both_with(pools, 2.0 * TEMPERATURE).members)
    assert_allclose(second / first, np.exp(2.0), rtol=1e-9)
    assert_allclose(first + second, 1.0)
