"""Laws of fits of kernels that somebody chose: they are kept, in any unit, and fitted to their maximum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.covariance import SeriesCovariance, covariance_of
from farrier.kernels.registry import CentredPeriodic, Constant, Linear, Matern12, SquaredExponential, Step
from farrier.model.given import fit_given, levelled, parts_of
from farrier.model.problem import Given, Problem
from farrier.model.rows import search_rows
from farrier.model.tiers import snapped

N = 64
X = np.linspace(-1.7, 1.7, N)[:, None]
RNG = np.random.default_rng(0)
GROWTH = np.exp(0.5 * X[:, 0] + 0.5 * np.sin(2.0 * np.pi * X[:, 0] / 0.31) + 0.15 * RNG.standard_normal(N))


def test_given_are_kept_and_the_bound_is_in_units_of_y():
    kernels = [Linear(0.0), CentredPeriodic(0.31, 1.0) + SquaredExponential(0.5)]
    one, ten = (
        fit_given(Problem(X, factor * GROWTH, scale="log"), Given(kernels, iterations=4)) for factor in (1.0, 10.0)
    )
    assert [str(kernel) for kernel in one.kernels] == ["Lin", "Per0", "SE"]
    assert one.survivors == 3
    assert one.tier == "exact"
    assert_allclose(ten.bound, one.bound - N * np.log(10.0), atol=1e-6)
    assert_allclose(ten.scale.mean, one.scale.mean + np.log(10.0), rtol=1e-12)


def test_given_are_fitted_to_their_maximum_however_many_rows_there_are():
    rows, rng = 300, np.random.default_rng(1)
    x = np.linspace(-1.7, 1.7, rows)
    y = np.sin(9.0 * x) + 0.5 * np.sin(20.0 * np.pi * x) + x + 0.3 * rng.standard_normal(rows)
    kernels = [SquaredExponential(0.3), Matern12(0.2), Linear(0.0)]
    # 0.002 nats per row, the default of the estimators, would end it 4 nats below
    problem, tolerances = Problem(x[:, None], y), (0.002 * rows, 1e-6)
    usual, longer = (fit_given(problem, Given(kernels, tolerance=tolerance)) for tolerance in tolerances)
    assert usual.steps < longer.steps
    assert abs(usual.bound - longer.bound) < 0.05


def test_given_of_a_long_series_are_fitted_in_linear_time():
    x = np.linspace(-1.7, 1.7, 300)[:, None]
    y = np.cumsum(np.random.default_rng(3).standard_normal(300))
    found = fit_given(Problem(x, y, engine="linear"), Given([Matern12(0.5), Constant()], iterations=10))
    assert found.tier == "linear"
    assert np.isfinite(found.bound)
    assert np.abs(found.moments(x)[0] - y).mean() < 1.0


@pytest.mark.parametrize("prior", ["none", "softmax", "spike-and-slab"])
def test_every_prior_on_the_weights_fits(prior):
    found = fit_given(Problem(X, GROWTH), Given([Linear(0.0), SquaredExponential(0.5)], prior, iterations=20))
    assert np.corrcoef(found.moments(X)[0], GROWTH)[0, 1] > 0.5


def test_a_step_gets_a_level_unless_there_is_a_constant():
    step = Step(0.2, 0.02)
    parts, level = levelled(parts_of([step, Linear(0.0)]))
    assert ([part.kernel.formula() for part in parts], level) == (["Step", "Lin", "1"], 2)
    assert levelled(parts_of([step, Constant()]))[1] is None
    assert levelled(parts_of([Linear(0.0)]))[1] is None


def test_few_rows_are_all_seen_and_a_part_of_many_is_the_same_every_time():
    assert_array_equal(search_rows(X), np.arange(N))
    many = np.random.default_rng(0).permutation(700).astype(float)[:, None]
    rows = search_rows(many)
    assert_array_equal(rows, search_rows(many))
    assert len(np.unique(rows)) == len(rows) < 700
    # spread over all, with neighbours in several places
    found = np.sort(many[rows, 0])
    assert (found[0], found[-1]) == (0.0, 699.0)
    assert np.sum(np.diff(found) == 1.0) >= 4


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
