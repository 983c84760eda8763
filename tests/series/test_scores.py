"""Laws of the scores: units, the best value, agreement with scipy, values by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from farrier.series.scores import (
    coverage,
    crps,
    crps_levels,
    gaussian_log_score,
    log_score,
    mase,
    msis,
    rmse,
    seasonal_scale,
    smape,
)

RNG = np.random.default_rng(0)
Y, MEAN, SD = RNG.normal(size=20), RNG.normal(size=20), RNG.uniform(0.5, 2.0, 20)


def test_rmse_is_the_distance_over_the_root_of_the_rows_and_has_the_unit_of_y():
    assert_allclose(rmse(Y, MEAN), np.linalg.norm(Y - MEAN) / np.sqrt(20), rtol=1e-12)
    assert_allclose(rmse(1e3 * Y + 5.0, 1e3 * MEAN + 5.0), 1e3 * rmse(Y, MEAN), rtol=1e-12)
    assert rmse(Y, Y) == 0.0


def test_the_log_score_is_the_mean_log_density():
    densities = norm.logpdf(Y, MEAN, SD)
    assert_allclose(log_score(densities), densities.sum() / 20, rtol=1e-12)
    assert_allclose(gaussian_log_score(Y, MEAN, SD), log_score(densities), rtol=1e-12)


def test_coverage_counts_targets_inside_or_on_the_ends():
    y = np.array([0.0, 1.0, 2.0, 3.0])
    assert coverage(y, np.full(4, 1.0), np.full(4, 2.0)) == 0.5


def test_the_ranked_probability_score_is_that_of_a_normal_distribution():
    z = (Y - MEAN) / SD
    # Gneiting and Raftery (2007), equation 21
    exact = SD * (z * (2.0 * norm.cdf(z) - 1.0) + 2.0 * norm.pdf(z) - 1.0 / np.sqrt(np.pi))
    quantiles = norm.ppf(crps_levels(50), MEAN[:, None], SD[:, None])
    assert_allclose(crps(Y, quantiles), exact, rtol=0.01)


def test_the_ranked_probability_score_of_one_value_is_its_absolute_error():
    assert_allclose(crps(Y, np.repeat(MEAN[:, None], 7, axis=1)), np.abs(Y - MEAN), rtol=1e-12)


PAST = np.array([1.0, 5.0, 2.0, 9.0])
"""Steps of size 4, 3, 7; over two rows of size 1 and 4."""


def test_errors_are_scaled_by_the_mean_step_over_a_season_of_the_training_rows():
    assert_allclose([seasonal_scale(PAST, 1), seasonal_scale(PAST, 2)], [14.0 / 3.0, 2.5], rtol=1e-15)
    y, forecast = np.array([10.0, 4.0]), np.array([7.0, 6.0])
    assert_allclose(mase(y, forecast, PAST, 2), (3.0 + 2.0) / 2.0 / 2.5, rtol=1e-15)


def test_the_symmetric_error_is_in_per_cent_of_the_mean_of_value_and_forecast():
    assert_allclose(smape(np.array([3.0, -1.0]), np.array([1.0, 1.0])), (100.0 + 200.0) / 2.0, rtol=1e-15)
    assert smape(np.array([0.0, 2.0]), np.array([0.0, 2.0])) == 0.0


def test_the_interval_score_is_the_width_and_a_fine_for_each_miss():
    low, high = np.full(3, 2.0), np.full(3, 6.0)
    y = np.array([3.0, 1.5, 7.0])
    assert_allclose(msis(y, low, high, PAST, 2), (4.0 + (4.0 + 40.0 * 0.5) + (4.0 + 40.0)) / 3.0 / 2.5, rtol=1e-12)
    assert_allclose(msis(y, low, high, PAST, 2, level=80), (12.0 + 10.0 * 1.5) / 3.0 / 2.5, rtol=1e-12)


def test_scaled_figures_do_not_depend_on_the_unit():
    y, low, high = Y[:5], MEAN[:5] - SD[:5], MEAN[:5] + SD[:5]
    assert_allclose(mase(3.0 * y, 3.0 * low, 3.0 * Y[5:], 4), mase(y, low, Y[5:], 4), rtol=1e-12)
    assert_allclose(msis(3.0 * y, 3.0 * low, 3.0 * high, 3.0 * Y[5:], 4), msis(y, low, high, Y[5:], 4), rtol=1e-12)


def test_rows_that_give_no_scale_are_refused():
    with pytest.raises(ValueError, match="4 rows for season=4"):
        seasonal_scale(PAST, 4)
    with pytest.raises(ValueError, match="repeats exactly with season=2"):
        seasonal_scale(np.array([1.0, 2.0, 1.0, 2.0]), 2)
