"""Laws of the formulas behind the evidence: score tests, noise of rows, counted work, and curvature from some rows."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from farrier.evaluation.covariance import covariance_of
from farrier.inference.exact import ExactObjective
from farrier.inference.noise import ALIKE, Noise
from farrier.kernels.registry import CentredPeriodic, Linear, Matern12, SquaredExponential, Step
from farrier.search import scoring
from farrier.search.beliefs import Beliefs
from farrier.search.learned_priors import Clock
from farrier.search.scoring import Evaluator, PartOfRows
from farrier.search.starting_values import INPUT_LENGTHSCALE
from farrier.search.structure import Move, Structure

N = 18
RNG = np.random.default_rng(2)
X = (2.0 + np.linspace(0.0, 3.4, N))[:, None]
SIZE = 3.4 / (N - 1)
Y = np.sin(3.0 * X[:, 0]) + 0.3 * RNG.standard_normal(N)
NOISES = RNG.uniform(0.2, 0.6, N)
KNOWN = Noise(NOISES, known=True)
TABLE = RNG.uniform(-1.5, 1.5, (N, 2))


def series(x=X, y=Y, **fields):
    return Evaluator(x, y, covariance_of(x), beliefs=Beliefs(Clock.of(x[:, 0])), **fields)


def table(x=TABLE, y=Y, **fields):
    return Evaluator(x, y, covariance_of(x), **fields)


def near_start(evaluator, *kernels, noise=0.3):
    """A structure after one step."""
    return evaluator.fit([evaluator.part(kernel, 0.5) for kernel in kernels], noise, 0)


def weighted(structure, x=X):
    """The covariance of each component."""
    return [part.weight**2 * gram(part.kernel, x) for part in structure.parts]


def gram(kernel, x=X):
    return kernel.gram(x, x)


def log_density(C, y):
    return multivariate_normal(np.zeros(len(y)), C).logpdf(y)


# noise


def test_the_noise_of_a_row_is_common_or_in_proportion_or_known():
    structure, C = Structure((), 0.3, 0.0), np.ones((N, N))
    assert_array_equal(series().spread(structure), np.full(N, 0.3))
    assert_allclose(series(noise=Noise(NOISES)).spread(structure), 0.3 * NOISES)
    assert_array_equal(series(noise=KNOWN).spread(structure), NOISES)
    assert_allclose(series(noise=KNOWN).noisy(C, structure), 1.0 + np.diag(NOISES))


def test_the_structure_without_components_starts_with_all_of_y_as_noise():
    common, known = series(), series(noise=KNOWN)
    assert common.empty() is common.fit([], float(np.mean(Y**2)))
    assert known.empty() is known.fit([], 1.0)


def test_without_components_or_without_a_model_the_covariance_is_zero():
    evaluator = series()
    fitted = near_start(evaluator, Linear(3.0))
    for structure in (evaluator.empty(), replace(fitted, model=None)):
        assert_array_equal(evaluator.covariance_at(structure), np.zeros((N, N)))
    # the level, the last component of the model, is part of it
    level = float(fitted.model.prior.w[1]) ** 2
    assert_allclose(evaluator.covariance_at(fitted), level + weighted(fitted)[0], rtol=1e-9)


def test_of_nothing_fitted_there_are_no_losses_and_no_sizes():
    nothing = Structure((), 1.0, 0.0)
    assert series().losses(nothing).shape == series().sizes(nothing).shape == (0,)


def test_losses_sizes_and_the_residual_are_those_of_the_dense_posterior():
    evaluator = series()
    structure = near_start(evaluator, Linear(3.0), SquaredExponential(0.4))
    C = evaluator.covariance_at(structure) + structure.noise * np.eye(N)
    a, own = np.linalg.solve(C, Y), weighted(structure)
    assert_allclose(evaluator.sizes(structure), [np.std(K @ a) for K in own])
    assert_allclose(evaluator.losses(structure), [log_density(C, Y) - log_density(C - K, Y) for K in own], rtol=1e-6)
    assert_allclose(evaluator.residual(structure), Y - (C - structure.noise * np.eye(N)) @ a)


def test_a_loss_after_a_fit_is_the_score_of_the_structure_minus_that_of_the_others():
    evaluator = series()
    structure = near_start(evaluator, Linear(3.0), SquaredExponential(0.4))
    first, second = structure.parts
    others = [evaluator.fit([one], structure.noise).score for one in (second, first)]
    assert_allclose(evaluator.refitted_losses(structure), structure.score - np.array(others))


# fits


@pytest.mark.parametrize("steps", [2, 4])
def test_a_fit_takes_at_most_as_many_steps_as_asked_for(steps):
    evaluator = series()
    evaluator.fit([evaluator.part(SquaredExponential(0.4), 0.5)], 0.3, steps)
    assert evaluator.steps == steps


def test_a_fit_tells_its_bound_and_counts_its_steps():
    told = []
    evaluator = series(tell=lambda what, bound: told.append((what, bound)))
    structure = evaluator.fit([evaluator.part(Matern12(0.4), 0.5)], 0.3, 3)
    assert told == [("fitting", structure.terms.total)]
    assert evaluator.steps == 3


def test_a_likelihood_that_just_reaches_the_least_is_compared():
    evaluator = series()
    parts = [evaluator.part(Linear(3.0), 0.5)]
    climbed = evaluator.fit(parts, 0.3, 2, least=np.inf)
    assert evaluator.fit(parts, 0.3, 2, least=climbed.terms.evidence).score == evaluator.fit(parts, 0.3, 2).score
    assert evaluator.fit(parts, 0.3, 2, least=np.nextafter(climbed.terms.evidence, 0.0)).score == -np.inf


def test_a_copy_for_other_rows_does_not_know_the_fits_of_the_first():
    first = series()
    parts = [first.part(SquaredExponential(0.4), 0.5)]
    first.fit(parts, 0.3, 3)
    assert replace(first, y=0.1 * Y).fit(parts, 0.3, 3).terms == series(y=0.1 * Y).fit(parts, 0.3, 3).terms


def test_steps_of_newtons_method_lead_above_the_end_of_a_climb():
    told = []
    evaluator = series(tell=lambda what, bound: told.append(bound))
    found = evaluator.fit([evaluator.part(SquaredExponential(0.4), 0.5)], 0.3, 4)
    assert found.terms.total > told[-1] + 1e-3


@pytest.mark.parametrize("kernel", [Step(3.1, 0.1), CentredPeriodic(0.77, 1.0)], ids=str)
def test_uniform_priors_are_over_the_range_and_the_usual_spacing_of_the_rows(kernel):
    evaluator = series()
    found = near_start(evaluator, kernel)
    beliefs, mode = evaluator.beliefs, found.mode
    densities = beliefs.log_densities(mode.model, 3.4, SIZE).sum()
    assert_allclose(
        found.score, found.terms.evidence + densities + mode.laplace.log_volume + beliefs.log_structure(found.parts, 1)
    )


def test_what_changes_at_one_time_save_adds_to_the_score_of_a_series_and_not_of_a_table(monkeypatch):
    plain = [near_start(rows(), Linear(0.5, dims=(0,))).score for rows in (series, table)]
    monkeypatch.setattr("farrier.search.scoring.saved_by_sharing", lambda mode, densities, apart: 2.5)
    found = [near_start(rows(), Linear(0.5, dims=(0,))).score for rows in (series, table)]
    assert_allclose(np.subtract(found, plain), [2.5, 0.0], atol=1e-9)


def test_the_place_of_a_step_in_a_table_is_one_of_its_rows():
    evaluator = table()
    found = near_start(evaluator, Step(0.1, 0.01, dims=(1,)))
    densities = evaluator.beliefs.log_densities(found.mode.model, 1.0, 1.0).sum()
    prior = found.score - found.terms.evidence - found.mode.laplace.log_volume - densities
    # seven families, two inputs, and the rows
    assert_allclose(prior, -np.log(7.0 * 2.0 * N))
    # its price has the same prior; the weight of the level and the noise are not its own
    own = np.flatnonzero((found.mode.deviations > 0.0) & ~np.isin(np.arange(len(found.mode.u)), [1, 2]))
    each = evaluator.beliefs.log_densities(found.mode.model, 1.0, 1.0)[own]
    filled = np.sum(each + np.log(np.sqrt(2.0 * np.pi) * found.mode.deviations[own]))
    assert_allclose(evaluator.prices(found), [np.log(7.0 * 2.0 * N) - filled])


# curvature


def test_the_gradient_from_some_rows_has_the_whole_prior_and_a_likelihood_in_proportion():
    some = np.arange(0, N, 3)
    model = Beliefs().model([table().part(SquaredExponential(np.array([0.7, 1.1])), 0.5)], 0.3, 2)
    whole, part = (
        ExactObjective(model, covariance_of(TABLE[rows]), Y[rows], np.zeros((1, 0))) for rows in (np.arange(N), some)
    )
    u = whole.start() + 0.1

    def slope(value):
        steps = 1e-5 * np.eye(len(u))
        return np.array([(value(part.terms(u + h)[0]) - value(part.terms(u - h)[0])) / 2e-5 for h in steps])

    likelihood, prior = slope(lambda one: one.evidence), slope(lambda one: one.total - one.evidence)
    assert_allclose(PartOfRows(whole, part).terms(u)[1], prior + 3.0 * likelihood, rtol=1e-5, atol=1e-6)


def volume(evaluator):
    return near_start(evaluator, SquaredExponential(0.9, dims=(0,))).mode.laplace.log_volume


@pytest.mark.parametrize("noise", [ALIKE, Noise(NOISES)], ids=["equal noise", "factors"])
def test_the_curvature_of_a_table_is_from_some_of_its_rows_each_taken_once(noise, monkeypatch):
    own = volume(table(noise=noise))
    monkeypatch.setattr(scoring, "CURVATURE_ROWS", N)
    assert volume(table(noise=noise)) == own
    some = np.random.default_rng(0).choice(N, N - 4, replace=False)
    monkeypatch.setattr(scoring, "CURVATURE_ROWS", N - 4)
    evaluator = table(noise=noise)
    assert volume(evaluator) != own
    # the same estimate by hand: the differences of the gradient at the start
    structure = near_start(evaluator, SquaredExponential(0.9, dims=(0,)))
    model, u, moving = structure.mode.model, structure.mode.u, structure.mode.moving
    whole, part = (
        ExactObjective(
            replace(model, row_noise=noise.at(rows)),
            covariance_of(TABLE[rows]),
            Y[rows],
            np.zeros((1, 0)),
        )
        for rows in (np.arange(N), some)
    )
    estimate = PartOfRows(whole, part)
    steps = scoring.CURVATURE_STEP * whole.typical()
    H = np.zeros((len(moving), len(moving)))
    for i, place in enumerate(moving):
        h = np.where(np.arange(len(u)) == place, steps, 0.0)
        H[i] = (estimate.terms(u)[1] - estimate.terms(u + h)[1])[moving] / steps[place]
    expected = np.maximum(np.linalg.eigvalsh(0.5 * (H + H.T)), scoring.LEAST_CURVATURE)
    assert_allclose(np.sort(structure.mode.laplace.values), expected, rtol=1e-9)


def test_the_curvature_is_from_all_rows_where_the_noise_of_each_is_known(monkeypatch):
    own = volume(table(noise=KNOWN))
    monkeypatch.setattr(scoring, "CURVATURE_ROWS", 5)
    assert volume(table(noise=KNOWN)) == own


def test_the_curvature_of_a_series_is_from_all_rows(monkeypatch):
    own = volume(series())
    monkeypatch.setattr(scoring, "CURVATURE_ROWS", 5)
    assert volume(series()) == own


# score tests


CANDIDATES = [
    Linear(3.0, 30.0),
    Linear(3.0),
    CentredPeriodic(2.1, 1.0),
    Matern12(0.15),
    SquaredExponential(0.4),
    SquaredExponential(3.0),
    Linear(2.0, 0.01),
    CentredPeriodic(0.6, 1.0),
]


def statistics(evaluator, structure, grams):
    """Slope and information of the log evidence in the squared weight of each candidate, at zero."""
    inverse = np.linalg.inv(evaluator.noisy(evaluator.covariance_at(structure), structure))
    a = inverse @ evaluator.y
    slopes = [0.5 * (a @ K @ a - np.trace(inverse @ K)) for K in grams]
    return np.array(slopes), np.array([0.5 * np.trace(inverse @ K @ inverse @ K) for K in grams])


@pytest.mark.parametrize("count", range(1, len(CANDIDATES)))
def test_candidates_are_ranked_by_squared_slope_over_information_with_the_sign_of_the_slope(count, monkeypatch):
    monkeypatch.setattr(scoring, "RANKED", count)
    monkeypatch.setattr(scoring, "PROBES", 4000)
    evaluator = series()
    structure = near_start(evaluator, SquaredExponential(5.0))
    slopes, information = statistics(evaluator, structure, [gram(kernel) for kernel in CANDIDATES])
    heights = np.sign(slopes) * slopes**2 / information
    assert min(slopes) < 0.0 < max(slopes)
    gains = evaluator.screen(structure, [Move(kernel) for kernel in CANDIDATES])
    chosen = np.isfinite(gains)
    assert chosen.sum() == count
    # the information is estimated with random probes, so that nearly equal ones may change places
    assert min(heights[chosen]) > max(heights[~chosen]) - 0.05 * max(abs(heights))


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_the_rank_of_a_candidate_depends_neither_on_units_nor_on_the_mean_of_its_functions(unit, monkeypatch):
    """A level explains most of y; the sums of a centred line are zero, and its kernel is large."""
    x = 10.0 * (X - X.mean())
    y, noise = unit * (1.0 + 0.06 * x[:, 0]), Structure((), unit**2, 0.0)
    monkeypatch.setattr(scoring, "RANKED", 1)
    monkeypatch.setattr(scoring, "PROBES", 400)
    evaluator = series(x=x, y=y)
    kernels = [SquaredExponential(500.0), Linear(0.0)]
    slopes, information = statistics(evaluator, noise, [gram(kernel, x) for kernel in kernels])
    assert np.argmax(slopes**2 / information) == 0
    assert np.argmax(slopes) == 1
    gains = evaluator.screen(noise, [Move(kernel) for kernel in kernels])
    assert_array_equal(np.isfinite(gains), [True, False])


@pytest.mark.parametrize("fields", [{}, {"noise": KNOWN}], ids=["common noise", "known noise"])
def test_a_gain_is_that_of_the_best_of_a_few_weights_and_noises_whatever_the_scale_of_the_kernel(fields):
    evaluator = series(**fields)
    structure = near_start(evaluator, SquaredExponential(5.0))
    kernels = [Linear(3.0, 0.2), Linear(3.0), Linear(3.0, 7.0), SquaredExponential(0.4)]
    C, noise = evaluator.covariance_at(structure), evaluator.spread(structure)
    size, levels = (0.3, (1.0,)) if fields else (structure.noise, (1.0, 0.4))
    base = log_density(C + np.diag(noise), Y)
    expected = []
    for K in (gram(kernel) for kernel in kernels):
        K = K / np.mean(np.diagonal(K))
        tried = [C + 3.0 * size * w2 * K + np.diag(level * noise) for w2 in (0.03, 0.3, 2.0) for level in levels]
        expected.append(max(log_density(one, Y) for one in tried) - base)
    gains = evaluator.screen(structure, [Move(kernel) for kernel in kernels])
    assert_allclose(gains, expected, rtol=1e-6, atol=1e-8)


def test_in_place_of_a_component_a_candidate_has_its_variance():
    evaluator = series(noise=KNOWN)
    structure = near_start(evaluator, SquaredExponential(5.0), Linear(3.0))
    old, new = weighted(structure)[1], gram(SquaredExponential(0.4))
    C = evaluator.noisy(evaluator.covariance_at(structure), structure)
    changed = C - old + np.mean(np.diagonal(old)) * new
    gains = evaluator.screen(structure, [Move(SquaredExponential(0.4), 1)])
    assert_allclose(gains, [log_density(changed, Y) - log_density(C, Y)], rtol=1e-6)


@pytest.mark.parametrize("noise", [0.2, 6.0])
def test_the_score_of_an_interaction_is_that_of_its_centred_kernels(noise, monkeypatch):
    monkeypatch.setattr(scoring, "PROBES", 20_000)
    y = 3.0 * TABLE[:, 0] * TABLE[:, 1] + RNG.standard_normal(N)
    evaluator, structure = table(y=y), Structure((), noise, 0.0)
    length = INPUT_LENGTHSCALE
    centring = np.eye(N) - 1.0 / N
    first, second = (centring @ gram(SquaredExponential(length), x[:, None]) @ centring for x in TABLE.T)
    (slope,), (information,) = statistics(evaluator, structure, [first * second])
    assert slope > 0.0
    assert_allclose(evaluator.interaction_scores(structure, [(0, 1)]), [0.5 * slope**2 / information], rtol=0.05)
    # the slope is negative where there is nothing but noise
    assert_array_equal(table(y=0.01 * Y).interaction_scores(structure, [(0, 1)]), [0.0])
