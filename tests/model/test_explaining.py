"""Laws of what explains a series: few components, which with a stated remainder add up to the forecast."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.inference.mixtures import moments
from farrier.model.explaining import explained, steps_ahead
from farrier.model.problem import Problem
from farrier.model.series import fit_series

N = 72
X = np.linspace(-1.7, 1.7, N)[:, None]
STEP = float(X[1, 0] - X[0, 0])
NOISE = np.random.default_rng(0).standard_normal(N)
Y = 50.0 + 0.2 * np.arange(N) + 5.0 * np.sin(2.0 * np.pi * np.arange(N) / 12) + 0.5 * NOISE
AHEAD = steps_ahead(X)


def months(y, **fields):
    return Problem(X, y, seasons=[12 * STEP], timed=True, **fields)


@pytest.fixture(scope="module")
def fitted():
    return fit_series(months(Y, scale="identity"))


@pytest.fixture(scope="module")
def told(fitted):
    return explained(fitted, X, Y)


def test_a_forecast_has_a_part_of_the_rows_as_steps_and_regressors_at_their_means():
    assert_allclose(AHEAD[:, 0], X[-1, 0] + STEP * np.arange(1, 13))
    both = np.column_stack([X[:, 0], NOISE])
    assert_array_equal(steps_ahead(both)[:, 1], 0.0)
    assert len(steps_ahead(np.arange(1000.0)[:, None])) == 24


def test_a_line_and_a_season_are_explained_as_these(fitted, told):
    assert sorted(str(kernel) for kernel in told.explaining.kernels) == ["Lin", "Per0"]
    assert told.survivors == 2
    # the pool that predicts is as it was
    assert_array_equal(told.quantiles(AHEAD, [0.1, 0.9]), fitted.quantiles(AHEAD, [0.1, 0.9]))
    assert (fitted.projects, told.projects) == (True, False)


def test_components_add_up_to_the_forecast_within_a_part_of_its_half_width(fitted, told):
    count = told.survivors
    mean, _ = told.alone.posterior.components(AHEAD)
    # the last component is the level
    assert mean.shape[-2] == count + 1
    forecast, covariance = fitted.joint(AHEAD)
    half = 1.96 * np.sqrt(np.diagonal(covariance) + fitted.noise_variance)
    remainder = np.abs(mean.sum(axis=0) - forecast) / half
    assert np.median(remainder) < 0.12
    # what is told is the average over these steps
    assert told.remainder == pytest.approx(np.mean(remainder))
    assert fitted.remainder is None


def test_the_components_and_the_stated_rest_are_the_forecast(fitted, told):
    mean, variance = told.parts(AHEAD, range(told.survivors))
    # level, components, and the rest
    assert len(mean) == told.survivors + 2
    assert_allclose(mean.sum(axis=0), fitted.joint(AHEAD)[0], rtol=1e-7, atol=1e-9)
    assert np.all(variance >= 0.0)


def test_what_explains_is_as_uncertain_as_the_rows_leave_it_and_as_far_as_it_was_moved(told):
    posterior = told.alone.posterior
    given, agreed, both = (one.draws(AHEAD) for one in (posterior.given, posterior.agreed, posterior))
    assert_array_equal(both[0], agreed[0])
    assert_allclose(both[1], given[1] + (agreed[0] - given[0]) ** 2)
    mean, covariance = posterior.joint(AHEAD)
    assert_allclose((mean, np.diagonal(covariance)), moments(*both), rtol=1e-5, atol=1e-8)
    # it agrees with the forecast better than what the rows alone give
    forecast = told.joint(AHEAD)[0]
    assert np.linalg.norm(agreed[0][0] - forecast) <= np.linalg.norm(given[0][0] - forecast)


def test_white_noise_has_no_component():
    y = 3.0 + 7.0 * NOISE
    told = explained(fit_series(months(y)), X, y)
    assert told.survivors == 0
    assert all(decision.gain <= 0.0 for decision in told.record if decision.action == "projected")


@pytest.mark.parametrize("engine", ["linear", "collapsed"])
def test_every_engine_is_explained(engine):
    found = fit_series(months(Y, engine=engine, scale="identity"))
    told = explained(found, X, Y)
    assert sorted(str(kernel) for kernel in told.explaining.kernels) == ["Lin", "Per0"]


def test_the_order_of_components_is_that_of_their_sizes_and_the_record_says_the_path(told):
    assert len(told.appraisal.order) == 2
    assert told.appraisal.sizes[told.appraisal.order[0]] == max(told.appraisal.sizes)
    projected = [decision for decision in told.record if decision.action == "projected"]
    assert len(projected) >= 2
    assert max(decision.gain for decision in projected) == 0.0
