"""Laws of the scores: units, the best value, agreement with scipy."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import norm

from farrier.model.scores import coverage, gaussian_log_score, log_score, rmse

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
