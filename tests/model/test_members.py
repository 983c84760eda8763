"""Laws of the set that predicts: shares by evidence, draws by shares, one explains; refitted, updated and saved."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

import farrier
from farrier.evaluation.covariance import covariance_of
from farrier.inference.mixtures import moments
from farrier.kernels.registry import CentredPeriodic, Linear, Matern12
from farrier.model import members
from farrier.model.fit import fit
from farrier.model.members import Contender, fitted_set, member, shares_of
from farrier.model.predictions import LEVELS, MIDDLE
from farrier.model.problem import Problem
from farrier.model.target_scale import LOG_ODDS, TargetScale, named
from farrier.search.appraisal import appraise
from farrier.search.beliefs import Beliefs
from farrier.search.evidence import CHANCE
from farrier.search.learned_priors import GROWTHS, Clock
from farrier.search.scoring import Evaluator

N = 40
X = np.linspace(-1.7, 1.7, N)[:, None]
NEW = np.array([[0.2], [1.8], [2.2]])
SEASON = 8 * 3.4 / 39
RNG = np.random.default_rng(2)
Y = np.exp(0.4 * X[:, 0] + 0.3 * np.sin(2.0 * np.pi * X[:, 0] / SEASON) + 0.1 * RNG.standard_normal(N))
LINE, CYCLE, ROUGH = Linear(0.0), CentredPeriodic(SEASON, 1.0), Matern12(0.2)


def contender(name, *kernels):
    scale = TargetScale.of(named(name), Y)
    beliefs = Beliefs(Clock.of(X[:, 0], [SEASON]))
    evaluator = Evaluator(X, scale.forward(Y), covariance_of(X), beliefs=beliefs)
    structure = evaluator.fit([evaluator.part(kernel, 0.5) for kernel in kernels], 0.2)
    return Contender(f"{name} {len(kernels)}", structure, evaluator, scale, Y)


@pytest.fixture(scope="module")
def contenders():
    return [
        contender("log", LINE, CYCLE, ROUGH),
        contender("identity", LINE, CYCLE),
        contender("log", LINE),
    ]


def the_set(contenders):
    told = appraise(contenders[0].evaluator, contenders[0].structure)
    return fitted_set(contenders, X, Y, appraisal=told, record=(), steps=0)


def raised(one, nats):
    """The contender with more evidence."""
    return replace(one, structure=replace(one.structure, score=one.structure.score + nats))


@pytest.fixture(scope="module")
def mixed(contenders):
    """A set with members on two scales that predict about as much."""
    first, other, _ = contenders
    return the_set([first, raised(other, first.height - other.height - 0.5)])


# shares


@pytest.fixture
def all_predict(monkeypatch):
    monkeypatch.setattr(members, "SMALLEST_SHARE", 0.0)


def test_shares_follow_the_evidence(contenders, all_predict):
    shares = shares_of(contenders)
    heights = np.array([one.height for one in contenders])
    assert_allclose(shares.sum(), 1.0)
    assert_allclose(np.log(shares[0] / shares[1:]), heights[0] - heights[1:], rtol=1e-9)


@pytest.mark.parametrize(("nats", "share"), [(-1.0, 1.0 / (1.0 + np.exp(-1.0))), (-20.0, 1.0)])
def test_structures_with_small_shares_do_not_predict(contenders, nats, share):
    first = contenders[0]
    shares = shares_of([first, raised(first, nats)])
    assert_allclose(shares, [share, 1.0 - share], atol=1e-12)


def test_the_first_predicts_even_if_others_are_much_better(contenders):
    first = contenders[0]
    shares = shares_of([first, raised(first, 50.0)])
    assert 0.0 < shares[0] < 1e-3
    assert_allclose(shares.sum(), 1.0)


def test_only_a_large_difference_counts_between_growth_that_fades_to_a_line_and_to_nothing(contenders, all_predict):
    first = contenders[0]
    fading = replace(first.evaluator, beliefs=replace(first.evaluator.beliefs, growth="nothing"))
    other = replace(first, evaluator=fading)
    gap = other.height - first.height
    near, far = (raised(other, -gap - nats) for nats in (CHANCE - 1.0, CHANCE + 2.0))
    assert_allclose(shares_of([first, near]), [0.5, 0.5])
    apart = shares_of([first, far])
    assert_allclose(np.log(apart[0] / apart[1]), 2.0)
    # two alike have together what one has alone
    assert_allclose(shares_of([first, near, near]), [0.5, 0.25, 0.25])


def test_heights_are_in_the_units_of_y_and_components_of_a_pool_of_a_series_have_no_price(contenders):
    one = contenders[0]
    free = one.evaluator.beliefs.log_structure(one.structure.parts, 1)
    assert free < 0.0
    jacobian = np.sum(-np.log(Y)) - N * np.log(np.log(Y).std())
    preference = LOG_ODDS["log"]
    assert_allclose(one.height, one.structure.score - free + jacobian + preference, rtol=1e-10)


def test_components_of_a_table_have_their_price(contenders):
    one = contenders[0]
    table = replace(one, evaluator=replace(one.evaluator, beliefs=Beliefs()))
    assert_allclose(table.height - one.height, one.evaluator.beliefs.log_structure(one.structure.parts, 1))


@pytest.mark.parametrize(("share", "draws"), [(1.0, 8), (0.3, 4), (0.01, 2)])
def test_a_structure_has_draws_by_its_share(contenders, share, draws, monkeypatch):
    monkeypatch.setattr(members, "SERIES_DRAWS", 8)
    one = member(contenders[0], share, X, Y)
    assert len(one.noises) == len(one.posterior.posteriors) == 1 + draws
    assert_allclose(one.weights, contenders[0].structure.mode.model.prior.w)
    assert one.noises[0] == contenders[0].structure.mode.model.noise
    mean, variance = one.observed(NEW)
    assert_allclose(mean, one.posterior.draws(NEW)[0])
    assert_allclose(variance - one.posterior.draws(NEW)[1], np.broadcast_to(one.noises[:, None], mean.shape))


# the fitted set


def test_the_first_is_the_model_and_the_other_predicts_with_its_share(mixed):
    assert_allclose(mixed.share / mixed.others[0].share, np.exp(0.5), rtol=1e-6)
    assert_allclose(mixed.share + mixed.others[0].share, 1.0)
    assert mixed.scale.transform.name == "log"
    assert mixed.others[0].scale.transform.name == "identity"
    assert (mixed.survivors, mixed.level) == (3, 3)
    assert [str(kernel) for kernel in mixed.explaining.kernels][:3] == ["Lin", "Per0", "Mat12"]
    (said,) = mixed.record
    assert (said.action, said.formula) == ("averaged", "identity 2")
    assert_allclose(said.gain, -0.5)


def test_one_that_does_not_predict_is_in_the_record(contenders):
    first = contenders[0]
    found = the_set([first, raised(first, -30.0)])
    assert found.others == ()
    assert found.share == 1.0
    assert found.record[0].action == "dropped"


def test_quantiles_and_moments_are_those_of_the_mixture(mixed):
    own, other = replace(mixed, share=1.0, others=()), mixed.others[0]
    alone = replace(own, posterior=other.posterior, noises=other.noises, scale=other.scale)
    middle = mixed.quantiles(NEW, [0.5])[0]
    both = mixed.share * own.cumulative(NEW, middle) + other.share * alone.cumulative(NEW, middle)
    assert_allclose(both, 0.5, atol=1e-9)
    assert_allclose(mixed.cumulative(NEW, middle), 0.5, atol=1e-9)
    mean, sd = mixed.moments(NEW)
    values = mixed.quantiles(NEW, LEVELS)
    # on a transformed scale the mean is that of the middle 95 %
    assert_allclose(mean, values[MIDDLE].mean(axis=0))
    assert_allclose(sd, values.std(axis=0))
    assert_allclose(mean, mixed.share * own.moments(NEW)[0] + other.share * alone.moments(NEW)[0], rtol=0.01)


def test_the_density_is_the_mixture_and_integrates_to_one_with_members_on_two_scales(mixed):
    y = np.concatenate([np.linspace(-3.0, -1e-6, 500), np.linspace(1e-6, 12.0, 3000)])
    density = np.exp(mixed.log_density(np.repeat(NEW[:1], len(y), axis=0), y))
    assert np.all(np.isfinite(density))
    assert_allclose(np.trapezoid(density, y), 1.0, atol=2e-3)
    # a member on the identity believes a little in values below zero
    assert np.all(density[:500] >= 0.0)
    own = replace(mixed, share=1.0, others=())
    alone = replace(own, **{name: getattr(mixed.others[0], name) for name in ("posterior", "noises", "scale")})
    at = np.full(3, 1.5)
    each = [np.log(mixed.share) + own.log_density(NEW, at), np.log1p(-mixed.share) + alone.log_density(NEW, at)]
    assert_allclose(mixed.log_density(NEW, at), logsumexp(each, axis=0), rtol=1e-9)


def test_the_parts_add_up_to_the_average_of_the_structures(mixed):
    mean, variance = mixed.parts(NEW, [0, 1, 2])
    # level, line, cycle, what is rough, and the rest
    assert mean.shape == variance.shape == (5, 3)
    own = mixed.posterior.draws(NEW)[0].mean(axis=0)
    other = mixed.others[0]
    there = mixed.scale.forward(other.scale.inverse(other.posterior.draws(NEW)[0].mean(axis=0)))
    assert_allclose(mean.sum(axis=0), mixed.share * own + other.share * there, rtol=1e-9)
    assert np.all(variance >= 0.0)


def test_the_joint_distribution_is_that_of_all_structures_on_the_scale(contenders):
    first, _, line = contenders
    found = the_set([first, raised(line, first.height - line.height)])
    assert_allclose(found.share, 0.5)
    mean, covariance = found.joint(NEW)
    each = [moments(*one.posterior.draws(NEW)) for one in (found, found.others[0])]
    average = 0.5 * (each[0][0] + each[1][0])
    assert_allclose(mean, average, rtol=1e-9)
    second = sum(0.5 * (variance + m**2) for m, variance in each) - average**2
    assert_allclose(np.diagonal(covariance), second, rtol=1e-6)


# later rows


def test_a_refit_to_the_same_rows_keeps_the_set_and_its_predictions(contenders, monkeypatch):
    # two structures of real evidence, the second on another scale
    first, other, _ = contenders
    monkeypatch.setattr(members, "SMALLEST_SHARE", 1e-12)
    fitted = the_set([first, other])
    again = fit(Problem(X, Y), fitted)
    assert [one.scale for one in again.others] == [one.scale for one in fitted.others]
    assert [str(kernel) for kernel in again.kernels] == [str(kernel) for kernel in fitted.kernels]
    assert_allclose(again.share, fitted.share, atol=0.1)
    assert_allclose(again.bound, fitted.bound, atol=0.5)
    assert_allclose(again.quantiles(NEW, [0.1, 0.5, 0.9]), fitted.quantiles(NEW, [0.1, 0.5, 0.9]), rtol=0.05)
    assert again.beliefs == fitted.beliefs


def test_a_refit_drops_the_structures_that_later_values_make_impossible(contenders):
    # the first is on the identity, the second on the logarithm
    _, identity, line = contenders
    fitted = the_set([identity, raised(line, identity.height - line.height)])
    assert len(fitted.others) == 1
    below = np.where(np.arange(N) == 3, -0.1, Y)
    again = fit(Problem(X, below), fitted)
    assert again.others == ()
    assert again.share == 1.0


@pytest.fixture(scope="module")
def model():
    # over such a range neither of the two scales is much better than the other
    months, noise = np.datetime64("2015-01") + np.arange(N), np.random.default_rng(0).standard_normal(N)
    y = 50.0 + 0.7 * np.arange(N) + 4.0 * np.sin(2.0 * np.pi * np.arange(N) / 12) + noise
    return farrier.Forecaster().fit(months, y)


def kinds_of(model):
    fitted = model.result_.fitted
    kinds = [(fitted.scale.transform.name, fitted.beliefs.growth)]
    return sorted([*kinds, *((one.scale.transform.name, one.growth) for one in fitted.others)])


def test_an_update_keeps_the_number_of_members(model, tmp_path):
    assert kinds_of(model) == [(scale, growth) for scale in ("identity", "square root") for growth in GROWTHS]
    again = farrier.load(model.save(tmp_path / "set.farrier"))
    assert kinds_of(again) == kinds_of(model)
    assert again.result_.fitted.share == model.result_.fitted.share
    assert_array_equal(again.forecast(3)["mean"], model.forecast(3)["mean"])
    before = len(again.result_.fitted.kernels)
    again.update([np.datetime64("2018-05")], [78.0])
    assert kinds_of(again) == kinds_of(model)
    assert len(again.result_.fitted.kernels) == before
    again.update([np.datetime64("2018-06")], [80.0])
    assert kinds_of(again) == kinds_of(model)
