"""Laws of the whole way from rows to a model: the scale is chosen by evidence, the parts add up, in any unit."""

import numpy as np
import pytest
from farrier.model.learning import fit_given, learn
from farrier.search.search import Search
from farrier.search.settings import (
    CandidateSettings,
    RowSettings,
    SearchSettings,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from farrier.evaluation.covariance import SeriesCovariance, covariance_of
from farrier.kernels.registry import CentredPeriodic, Linear, Matern12, SquaredExponential
from farrier.model.finishing import prediction_pool, search_rows
from farrier.model.tiers import snapped
from farrier.search.beliefs import Beliefs

N = 64
X = np.linspace(-1.7, 1.7, N)[:, None]
NEW = np.linspace(-1.9, 2.3, 9)[:, None]
RNG = np.random.default_rng(0)
WHITE = 3.0 + 7.0 * RNG.standard_normal(N)
GROWTH = np.exp(0.5 * X[:, 0] + 0.5 * np.sin(2.0 * np.pi * X[:, 0] / 0.31) + 0.15 * RNG.standard_normal(N))


ONE_PERIOD = SearchSettings(candidates=CandidateSettings(most_periods=1))
"""Fewer candidates, which the laws here do not need."""


@pytest.fixture(scope="module")
def white():
    return learn(X, WHITE, settings=ONE_PERIOD)


@pytest.fixture(scope="module")
def growth():
    return learn(X, GROWTH, settings=ONE_PERIOD)


def test_white_noise_has_no_component_and_is_predicted_by_its_mean(white):
    assert white.survivors == 0
    assert white.alone is None
    mean, variance = white.posterior.joint(NEW)
    # the ordinary candidates follow the rows a little, and beyond the rows hardly
    assert np.sqrt(np.mean(mean**2)) < 0.4
    assert np.all(np.abs(mean[np.abs(NEW[:, 0]) > 1.7]) < 0.25)
    assert np.all(np.diagonal(variance)[np.abs(NEW[:, 0]) < 1.7] < 0.3)
    assert 0.6 < white.noise_variance < 1.2


def test_values_below_zero_keep_their_scale(white):
    assert white.scale.transform.name == "identity"
    assert not any(decision.formula.startswith("scale: ") for decision in white.record)


def test_what_grows_by_factors_is_learned_on_the_logarithm(growth):
    assert growth.scale.transform.name == "log"
    scales = {d.formula: d for d in growth.record if d.formula.startswith("scale: ")}
    assert {name: d.action for name, d in scales.items()} == {
        "scale: identity": "dropped",
        "scale: log": "kept",
        "scale: square root": "dropped",
    }
    assert scales["scale: log"].gain > 0 > scales["scale: identity"].gain


def test_its_line_and_its_season_are_found(growth):
    assert sorted(str(kernel) for kernel in growth.explaining.kernels) == ["Lin", "Per0"]


def test_the_survivors_are_the_first_of_the_pool_that_predicts(growth):
    assert growth.survivors == 2
    assert [str(k) for k in growth.kernels[:2]] == [str(kernel) for kernel in growth.explaining.kernels]
    assert len(growth.kernels) > 5
    assert growth.level is not None
    assert str(growth.kernels[growth.level]) == "1"
    assert len(growth.posterior.pool) == len(growth.kernels)


def test_parts_add_up_to_the_prediction(growth):
    components = growth.posterior.components(NEW)[0]
    mean, _ = growth.posterior.joint(NEW)
    assert_allclose(components.sum(axis=0), mean, rtol=1e-9, atol=1e-10)
    rest = np.arange(growth.survivors, len(growth.posterior.pool))
    both = growth.posterior.joint(NEW, np.arange(growth.survivors))[0] + growth.posterior.joint(NEW, rest)[0]
    assert_allclose(both, mean, rtol=1e-8, atol=1e-10)


def test_the_fit_follows_the_data(growth):
    mean, _ = growth.posterior.draws(X)
    z = growth.scale.forward(GROWTH)
    assert np.corrcoef(mean.mean(axis=0), z)[0, 1] > 0.95


def test_the_bound_is_that_of_y_in_its_own_units(white):
    # of white noise no bound exceeds the density at the best mean and variance, and a good one is not far below
    best = multivariate_normal(np.full(N, WHITE.mean()), WHITE.var() * np.eye(N)).logpdf(WHITE)
    assert best - 15.0 < white.bound < best


def test_every_structure_that_predicts_is_in_the_record(growth):
    names = [d.formula for d in growth.record if d.reason == "evidence of the structure"]
    assert "the ordinary candidates alone on the log scale" in names
    averaged = [d for d in growth.record if d.action == "averaged"]
    assert len(averaged) == len(growth.others)
    assert all(d.gain > np.log(growth.settings.averaging.smallest_share) for d in averaged)


# kernels that somebody chose


def test_given_kernels_are_kept_and_the_bound_is_in_units_of_y():
    kernels = [Linear(0.0), CentredPeriodic(0.31, 1.0) + SquaredExponential(0.5)]
    one, ten = (fit_given(kernels, X, factor * GROWTH, transform="log", iterations=4) for factor in (1.0, 10.0))
    assert [str(kernel) for kernel in one.kernels] == ["Lin", "Per0", "SE"]
    assert one.survivors == 3
    assert one.tier == "exact"
    assert_allclose(ten.bound, one.bound - N * np.log(10.0), atol=1e-6)
    assert_allclose(ten.scale.mean, one.scale.mean + np.log(10.0), rtol=1e-12)


def test_given_kernels_are_fitted_to_their_maximum_however_many_rows_there_are():
    rows, rng = 300, np.random.default_rng(1)
    x = np.linspace(-1.7, 1.7, rows)
    y = np.sin(9.0 * x) + 0.5 * np.sin(20.0 * np.pi * x) + x + 0.3 * rng.standard_normal(rows)
    kernels = [SquaredExponential(0.3), Matern12(0.2), Linear(0.0)]
    # 0.002 nats per row, the default of the estimators, would end it 4 nats below
    usual, longer = (fit_given(kernels, x[:, None], y, tolerance=tolerance) for tolerance in (0.002 * rows, 1e-6))
    assert usual.steps < longer.steps
    assert abs(usual.bound - longer.bound) < 0.05


# rows


def test_a_part_of_many_rows_is_the_same_every_time_and_spans_all():
    settings = SearchSettings(rows=RowSettings(search=20, part=20, pieces=4))
    x = RNG.permutation(90).astype(float)[:, None]
    rows = search_rows(x, settings)
    assert_array_equal(rows, search_rows(x, settings))
    assert 12 <= len(np.unique(rows)) == len(rows) <= 20
    # spread over all, with neighbours in several places
    found = np.sort(x[rows, 0])
    assert (found[0], found[-1]) == (0.0, 89.0)
    assert np.diff(found).max() <= 15.0
    assert np.sum(np.diff(found) == 1.0) >= 4
    table = RNG.standard_normal((90, 3))
    assert_array_equal(search_rows(table, settings), search_rows(table, settings))
    assert len(np.unique(search_rows(table, settings))) == 20


def test_few_rows_are_all_searched():
    assert_array_equal(search_rows(X, SearchSettings()), np.arange(N))


def test_rows_on_a_grid_are_snapped_to_where_the_exact_tier_sees_them():
    jittered = X + 0.01 * (X[1] - X[0]) * np.sin(np.arange(N))[:, None]
    order = RNG.permutation(N)
    near = snapped(jittered[order])
    assert_allclose(near, jittered[order], atol=0.02 * float(X[1, 0] - X[0, 0]))
    covariance = covariance_of(jittered[order])
    assert isinstance(covariance, SeriesCovariance)
    assert_allclose(np.diff(np.sort(near[:, 0])), np.ptp(jittered) / (N - 1), rtol=1e-9)
    irregular = RNG.uniform(0.0, 1.0, (30, 1))
    assert_array_equal(snapped(irregular), irregular)
    assert_array_equal(snapped(RNG.uniform(0.0, 1.0, (30, 2))).shape, (30, 2))


def test_a_season_of_the_calendar_predicts_even_if_none_was_found():
    month = float(X[1, 0] - X[0, 0])
    beliefs = Beliefs.of(X, [12 * month], ONE_PERIOD.priors, timed=True)
    search = Search(X, WHITE - WHITE.mean(), covariance_of(X), [12 * month], settings=ONE_PERIOD, beliefs=beliefs)
    pool = prediction_pool(search, search.empty())
    assert [part.kernel.formula() for part in pool].count("Mat12 * Per0") == 1
