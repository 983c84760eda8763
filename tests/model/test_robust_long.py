"""Laws of Student-t noise for long series: outliers do not move the prediction, and it can be refitted."""

from types import SimpleNamespace

import numpy as np
import pytest
from farrier.model.robust import learn_robust
from farrier.model.robust_long import expected_factors

from farrier.inference.likelihoods import StudentT
from farrier.model.refit import refit_robust_long
from tests.model.test_long_series import SETTINGS

RNG = np.random.default_rng(2)
X = np.linspace(-1.7, 1.7, 400)[:, None]
TRUTH = np.sin(2.0 * X[:, 0])
OUT = np.arange(400) % 20 == 7
Y = TRUTH + 0.1 * RNG.standard_normal(400) + np.where(OUT, 5.0, 0.0)


@pytest.fixture(scope="module")
def fits():
    """With Gaussian noise, and with the noise that was asked for."""
    given = {"transform": "identity", "settings": SETTINGS}
    return SimpleNamespace(gaussian=learn_robust(X, Y, **given), robust=learn_robust(X, Y, chosen=True, **given))


def test_a_long_series_has_gaussian_noise_unless_it_is_asked_for(fits):
    assert fits.gaussian.tier == fits.robust.tier == "linear"
    assert not isinstance(fits.gaussian.likelihood, StudentT)
    assert isinstance(fits.robust.likelihood, StudentT)


def test_outliers_do_not_move_the_prediction(fits):
    errors = [np.abs(one.quantiles(X, [0.5])[0] - TRUTH)[~OUT].mean() for one in (fits.gaussian, fits.robust)]
    assert errors[1] < 0.06
    assert errors[1] < 0.5 * errors[0]


def test_intervals_hold_ordinary_rows(fits):
    low, high = fits.robust.quantiles(X, [0.1, 0.9])
    inside = (low < Y) & (high > Y)
    assert 0.7 < inside[~OUT].mean() < 0.95
    assert not inside[OUT].any()


def test_the_evidence_is_higher_where_there_are_outliers(fits):
    assert fits.robust.bound > fits.gaussian.bound + 100.0


def test_it_is_refitted_by_the_same_tier(fits):
    again = refit_robust_long(fits.robust, X[:300], Y[:300], lambda what, bound: None)
    assert again.tier == "linear"
    assert isinstance(again.likelihood, StudentT)
    assert np.abs(again.quantiles(X[:300], [0.5])[0] - TRUTH[:300])[~OUT[:300]].mean() < 0.08


def test_expected_variances_are_those_of_a_gamma_precision():
    degrees, square = 4.0, np.array([0.0, 1.0, 9.0])
    # g given a residual r of scale one is Gamma((d + 1) / 2, (d + r^2) / 2)
    np.testing.assert_allclose(1.0 / expected_factors(square, degrees), ((degrees + 1) / 2) / ((degrees + square) / 2))
