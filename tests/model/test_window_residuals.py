"""Leave-one-out predictions in windows: those of exact inference there, and steady where f follows each row."""

import numpy as np
from numpy.testing import assert_allclose

from farrier import Forecaster
from farrier.inference.posteriors import GaussianPosterior
from farrier.model.outliers import Doubt
from farrier.model.window_residuals import WINDOW, left_out_in_windows, score_in_windows


def fitted(y):
    model = Forecaster(likelihood="gaussian").fit(np.arange(float(len(y))), y)
    return model.model_.result_


def test_a_window_has_the_closed_form_of_its_own_rows():
    t = np.arange(1100.0)
    result = fitted(np.sin(t / 40.0) + 0.3 * np.random.default_rng(0).standard_normal(1100))
    mean, variance = left_out_in_windows(result.fitted)
    posterior, rows = result.fitted.posterior, np.arange(220)
    assert len(np.array_split(t, -(-1100 // WINDOW))[0]) == 220
    noise = np.broadcast_to(posterior.noise, posterior.y.shape)[rows]
    own = GaussianPosterior(posterior.pool, posterior.weights, noise, posterior.X[rows], posterior.y[rows])
    assert_allclose((mean[rows], variance[rows]), [one[0] for one in own.left_out()], rtol=1e-8)
    assert np.isfinite(score_in_windows(result.fitted, result.target))


def test_white_noise_of_a_long_series_is_in_no_doubt():
    result = fitted(np.random.default_rng(1).standard_normal(3000))
    doubt = Doubt.of(result.fitted, result.inputs, result.target)
    assert not doubt.due
    assert 0.8 < doubt.residuals.std() < 1.25
