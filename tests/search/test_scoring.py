"""Laws of the evidence: it is the integral over all parameters, prefers what the data were made of, and has a price."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import halfcauchy, multivariate_normal, norm

from farrier.evaluation.covariance import covariance_of
from farrier.evaluation.products import Products
from farrier.inference.laplace import Laplace
from farrier.inference.noise import Noise
from farrier.inference.parameter_vector import Terms
from farrier.kernels.registry import CentredPeriodic, Linear, Matern12, RandomWalk, SquaredExponential, Step
from farrier.search import scoring
from farrier.search.appraisal import Z95, intervals
from farrier.search.beliefs import Beliefs
from farrier.search.learned_priors import Clock, LogNormal, priors_for
from farrier.search.scoring import Evaluator
from farrier.search.structure import LEVEL, Move, Structure

N = 48
X = np.linspace(-1.7, 1.7, N)[:, None]
SIZE = 3.4 / (N - 1)
SEASON = 8.0 * SIZE
RNG = np.random.default_rng(0)
LINE_AND_SEASON = X[:, 0] + np.sin(2.0 * np.pi * X[:, 0] / SEASON) + 0.4 * RNG.standard_normal(N)


@pytest.fixture(autouse=True)
def precise(monkeypatch):
    """Fits that end at the maximum."""
    monkeypatch.setattr(scoring, "TOLERANCE", 1e-6)


def evaluator_of(x, y, **fields):
    beliefs = Beliefs(Clock.of(x[:, 0], [SEASON]))
    return Evaluator(x, y, covariance_of(x), beliefs=beliefs, **fields)


def standardised(y):
    return (y - y.mean()) / y.std()


@pytest.fixture(scope="module")
def evaluator():
    return evaluator_of(X, standardised(LINE_AND_SEASON))


@pytest.fixture(scope="module")
def true(evaluator):
    return fitted(evaluator, Linear(0.0), CentredPeriodic(SEASON, 1.0))


def fitted(evaluator, *kernels):
    return evaluator.fit([evaluator.part(kernel, 0.5) for kernel in kernels], 0.3, 100)


# the integral

GRID = np.linspace(-12.0, 8.0, 161)
CELL = 2.0 * float(np.log(GRID[1] - GRID[0]))
FEW = np.linspace(-1.7, 1.7, 14)[:, None]
SHIFTED = 0.8 + 0.5 * np.random.default_rng(4).standard_normal(14)


def log_half_cauchy(log_w, scale):
    return halfcauchy.logpdf(np.exp(log_w), scale=scale) + log_w


def test_the_score_of_level_and_noise_is_the_integral_over_both():
    few = evaluator_of(FEW, SHIFTED)
    scale = few.beliefs.model([LEVEL], 0.1, 1).noise_scale
    whole = []
    for log_noise in GRID:
        # C = noise I + w^2 11': its eigenvalues are noise, and noise + n w^2 for the mean
        noise, w2 = np.exp(log_noise), np.exp(2.0 * GRID)
        about = norm.logpdf(SHIFTED - SHIFTED.mean(), scale=np.sqrt(noise)).sum() + 0.5 * np.log(2.0 * np.pi * noise)
        level = norm.logpdf(np.sqrt(14) * SHIFTED.mean(), scale=np.sqrt(noise + 14 * w2))
        # the density of log noise variance is half of that of the log standard deviation
        prior = log_half_cauchy(0.5 * log_noise, scale) - np.log(2.0)
        whole.append(about + level + log_half_cauchy(GRID, LEVEL.scale) + prior)
    assert_allclose(few.empty().score, logsumexp(whole) + CELL, atol=0.2)


def test_the_score_of_a_walk_with_known_noise_is_the_integral_over_its_weights_and_its_prior():
    y = SHIFTED + np.cumsum(0.5 * np.random.default_rng(1).standard_normal(14))
    few = evaluator_of(FEW, y, noise=Noise(np.full(14, 0.05), known=True))
    walk = few.part(RandomWalk(few.beliefs.clock.origin, SEASON), 0.5)
    K = few.covariance.grams(Products.of([walk.kernel, LEVEL.kernel], 1))
    a, b = (one[..., None, None] for one in np.meshgrid(GRID[::2], GRID[::2]))
    C = np.exp(2.0 * a) * K[0] + np.exp(2.0 * b) * K[1] + 0.05 * np.eye(14)
    squares = np.einsum("n,abnm,m->ab", y, np.linalg.inv(C), y)
    likelihood = -0.5 * (squares + np.linalg.slogdet(C)[1] + 14 * np.log(2.0 * np.pi))
    whole = likelihood + (log_half_cauchy(a, walk.scale) + log_half_cauchy(b, LEVEL.scale))[..., 0, 0]
    structure = few.fit([walk], 1.0, 100)
    expected = logsumexp(whole) + CELL + 2.0 * np.log(2.0) + few.beliefs.log_structure([walk], 1)
    assert_allclose(structure.score, expected, atol=0.25)
    # the common noise is not a parameter where each row has its own
    assert_array_equal(structure.mode.moving, [0, 1])


def test_the_score_is_likelihood_density_volume_and_the_prior_of_the_structure(evaluator, true):
    mode, beliefs = true.mode, evaluator.beliefs
    C = evaluator.covariance_at(true) + true.noise * np.eye(N)
    likelihood = multivariate_normal(np.zeros(N), C).logpdf(evaluator.y)
    assert_allclose(true.terms.evidence, likelihood, rtol=1e-8)
    # of the weights the joint density, in which tau is integrated out
    densities = beliefs.log_densities(mode.model, 3.4, SIZE)[len(mode.model.pool) :].sum()
    densities += mode.model.prior.log_density
    expected = likelihood + densities + mode.laplace.log_volume + beliefs.log_structure(true.parts, 1)
    assert_allclose(true.score, expected, rtol=1e-8)


# what it prefers


def test_the_evidence_prefers_the_true_structure(evaluator, true):
    line, season = Linear(0.0), CentredPeriodic(SEASON, 1.0)
    for fewer in ([line], [season], []):
        assert fitted(evaluator, *fewer).score < true.score - 5.0


@pytest.mark.parametrize(
    "extra", [SquaredExponential(0.5), Linear(0.0), CentredPeriodic(0.9, 1.0), Step(0.4, 0.02)], ids=str
)
def test_a_component_that_is_not_needed_lowers_the_evidence(evaluator, true, extra):
    more = fitted(evaluator, Linear(0.0), CentredPeriodic(SEASON, 1.0), extra)
    assert more.score < true.score - 0.5


@pytest.mark.parametrize("steps", [None, 4, 12, 24], ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_component_without_correlation_between_rows_has_hardly_more_evidence_than_noise(steps, seed):
    y = standardised(np.random.default_rng(seed).standard_normal(N))
    clock = Clock.of(X[:, 0], [] if steps is None else [steps * SIZE])
    evaluator = Evaluator(X, y, covariance_of(X), beliefs=Beliefs(clock))
    for kernel in (SquaredExponential(0.3 * SIZE), Matern12(0.2 * SIZE)):
        assert fitted(evaluator, kernel).score < evaluator.empty().score + 0.5


def test_the_order_of_the_components_does_not_matter(evaluator, true):
    again = fitted(evaluator, CentredPeriodic(SEASON, 1.0), Linear(0.0))
    assert_allclose(again.score, true.score, atol=1e-2)


def test_a_likelihood_below_the_least_is_not_compared(evaluator, true):
    parts = [evaluator.part(Linear(0.0), 0.5)]
    usual = evaluator.fit(parts, 0.3)
    low, high = (evaluator.fit(parts, 0.3, least=usual.terms.evidence + by) for by in (-1.0, 1.0))
    assert low.score == usual.score
    assert high.score == -np.inf
    assert high.mode is None
    assert usual.terms.total - 0.1 < high.terms.total <= usual.terms.total
    assert_array_equal(evaluator.prices(high), [0.0])


def test_a_step_of_newtons_method_leads_from_the_end_of_a_short_fit_to_the_mode(evaluator):
    parts = [evaluator.part(Linear(0.0), 0.5), evaluator.part(CentredPeriodic(SEASON, 1.0), 0.5)]
    exact = evaluator.fit(parts, 0.3, 200)
    short = evaluator.fit(parts, 0.3, 8)
    assert 0.0 <= exact.terms.total - short.terms.total < 1e-4
    assert_allclose(short.mode.u, exact.mode.u, atol=0.02)


# modes


def test_draws_of_a_mode_are_antithetic_and_leave_alone_what_is_known(true):
    first, *draws = true.mode.models(6, lambda u: 0.0)
    assert len(draws) == 6
    assert first is true.mode.model
    logs = np.log([model.prior.w for model in draws])
    assert_allclose(logs.mean(axis=0), np.log(first.prior.w), rtol=1e-9)
    assert np.all(np.std([model.noise for model in draws]) > 0.0)
    for model in draws:
        assert float(model.pool[1].period) == pytest.approx(SEASON, rel=1e-12)
        assert float(model.pool[1].lengthscale) != float(first.pool[1].lengthscale)
    assert true.mode.models(0, lambda u: 0.0) == [first]


def test_a_draw_that_the_posterior_excludes_is_moved_towards_the_mode(true):
    mode = true.mode
    free, bound = (
        np.log([model.prior.w[0] for model in mode.models(6, density)]) - np.log(mode.model.prior.w[0])
        for density in (lambda u: 0.0, lambda u: 0.0 if u[0] >= mode.u[0] else -np.inf)
    )
    assert_allclose(bound[free >= 0.0], free[free >= 0.0])
    # half of the way, four times
    assert_allclose(bound[free < 0.0], free[free < 0.0] / 16.0)


def test_deviations_and_intervals_are_those_of_the_approximation(true):
    mode = true.mode
    assert_array_equal(mode.deviations > 0.0, np.isin(np.arange(len(mode.u)), mode.moving))
    low, high = intervals(true)
    line, shape = mode.deviations[4], mode.deviations[6]
    location = float(true.parts[0].kernel.location)
    assert_allclose([float(low[0].location), float(high[0].location)], [location - Z95 * line, location + Z95 * line])
    assert_allclose(float(high[1].lengthscale) / float(low[1].lengthscale), np.exp(2.0 * Z95 * shape))
    assert float(low[1].period) == float(high[1].period)


# prices


def test_prices_are_the_shares_of_components_in_the_evidence_if_their_parameters_are_independent(evaluator, true):
    mode = true.mode
    curvatures = 1.0 / mode.laplace.deviations**2
    alone = replace(mode, laplace=Laplace(mode.laplace.mode, curvatures, np.eye(len(curvatures))))
    densities = evaluator.beliefs.log_densities(mode.model, 3.4, SIZE)
    evidence = densities.sum() + alone.laplace.log_volume + evaluator.beliefs.log_structure(true.parts, 1)
    # weights of line, season and level, then the noise
    others = [2, 3]
    common = np.sum(densities[others] + np.log(np.sqrt(2.0 * np.pi) * alone.deviations[others]))
    assert_allclose(evaluator.prices(replace(true, mode=alone)).sum(), common - evidence, rtol=1e-9)


def test_a_known_period_costs_less_than_one_that_was_found(evaluator):
    known, found = (
        evaluator.prices(fitted(evaluator, Linear(0.0), CentredPeriodic(period, 1.0)))
        for period in (SEASON, SEASON * 1.001)
    )
    assert_allclose(known[0], found[0], atol=0.2)
    assert found[1] > known[1] + 1.5


# the screen


def test_the_score_test_ranks_the_true_candidate_among_the_first(monkeypatch):
    monkeypatch.setattr(scoring, "RANKED", 2)
    evaluator = evaluator_of(X, standardised(LINE_AND_SEASON))
    kernels = [
        CentredPeriodic(1.7 * SEASON, 1.0),
        Matern12(0.05),
        Step(0.0, 0.02),
        SquaredExponential(0.3),
        CentredPeriodic(SEASON, 1.0),
        CentredPeriodic(0.8 * SEASON, 1.0),
    ]
    line = fitted(evaluator, Linear(0.0))
    gains = evaluator.screen(line, [Move(kernel) for kernel in kernels])
    assert np.isfinite(gains).sum() == 2
    assert np.argmax(gains) == 4
    assert gains[4] > 5.0
    # what would replace a component is evaluated in any case
    moves = [*(Move(kernel) for kernel in kernels), Move(Linear(0.0) * SquaredExponential(3.0), 0)]
    assert_allclose(evaluator.screen(line, moves), [*gains, evaluator.screen(line, moves[-1:])[0]])
    assert np.isfinite(evaluator.screen(line, moves)[-1])


# where fits start


class Watched(Evaluator):
    """Fits that end as they are told to, and the noise from which they start."""

    enough = 0.01
    """The noise from which on a fit ends well."""
    poor = -1e4
    """How likely rows are where it does not."""

    def fit(self, parts, noise, iterations=None, tolerance=None, least=-np.inf):
        self.seen = [*getattr(self, "seen", []), noise]
        likely = self.poor - abs(noise - 4e-4) if noise < self.enough else 0.0
        return Structure(tuple(parts), noise, 0.0, terms=Terms(likely, likely, 0.0, 0.0))


def watched():
    beliefs = Beliefs(Clock.of(X[:, 0], [SEASON]), given=tiny_noise())
    return Watched(X, standardised(LINE_AND_SEASON), covariance_of(X), beliefs=beliefs)


def test_a_fit_that_ends_below_white_noise_starts_again_with_a_larger_noise():
    pool = watched()
    assert pool.beliefs.noise == pytest.approx(1e-4)
    end = pool.fit_pool([pool.part(Linear(0.0), 0.5)])
    assert_allclose(pool.seen, [1e-4 * 4.0**k for k in range(5)])
    assert end.noise == pool.seen[-1]


@pytest.mark.parametrize(("below", "fits"), [(4.9, 1), (5.1, 5)])
def test_rows_may_be_a_little_less_likely_than_as_white_noise(below, fits):
    pool = watched()
    pool.poor = float(norm.logpdf(pool.y).sum()) - below
    pool.fit_pool([pool.part(Linear(0.0), 0.5)])
    assert len(pool.seen) == fits


def test_of_fits_that_all_end_below_white_noise_the_best_is_taken():
    pool = watched()
    pool.enough = np.inf
    assert pool.fit_pool([pool.part(Linear(0.0), 0.5)]).noise == pytest.approx(4e-4)
    assert len(pool.seen) > 2


def test_a_fit_that_ends_well_is_not_repeated_and_starts_at_a_similar_structure(evaluator, true):
    pool, parts = watched(), list(true.parts)
    assert pool.fit_pool(parts, replace(true, noise=0.02)).noise == 0.02
    assert pool.seen == [0.02]
    again = evaluator.fit_pool([evaluator.part(part.kernel, 0.1) for part in parts], true)
    assert again.terms.total == pytest.approx(true.terms.total, abs=0.05)


def tiny_noise():
    usual = priors_for("monthly")
    return {**usual, "noise": LogNormal(float(np.log(0.01)), usual["noise"].sd)}


def test_a_fit_says_whether_it_ended_by_itself():
    rows = np.linspace(-1.5, 1.5, 30)[:, None]
    evaluator = Evaluator(rows, np.sin(4.0 * rows[:, 0]), covariance_of(rows))
    parts = [evaluator.part(SquaredExponential(0.5), 1.0)]
    assert not evaluator.fit(parts, 0.1, 2).finished
    assert evaluator.fit(parts, 0.1, 200).finished
