"""Leave-one-out predictions of a long series, in contiguous windows of its rows.

In a window they have the closed form of exact inference, in time linear in all rows. Taking a row out of the posterior
given all rows is a difference of two precisions, which has no digits left where a fast component follows every row.
"""

import numpy as np

from farrier.inference.likelihoods import Likelihood
from farrier.inference.linear_posterior import LinearPosterior
from farrier.inference.mixtures import moments
from farrier.inference.posteriors import GaussianPosterior
from farrier.inference.student_t import StudentT
from farrier.model.fitted import Fitted

WINDOW = 256
"""Rows of a window. [rows; by judgement: a covariance of so many takes milliseconds]"""


def left_out_in_windows(fitted: Fitted) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of f at each row of the fit, given the others of its window."""
    posterior = fitted.posterior
    assert isinstance(posterior, LinearPosterior)
    n, noise = len(posterior.y), np.broadcast_to(posterior.noise, posterior.y.shape)
    mean, variance = np.empty((2, n))
    for rows in np.array_split(np.argsort(posterior.X[:, 0], kind="stable"), -(-n // WINDOW)):
        window = posterior.pool, posterior.weights, noise[rows], posterior.X[rows], posterior.y[rows]
        mean[rows], variance[rows] = moments(*GaussianPosterior(*window).left_out())
    return mean, variance


def residuals_in_windows(fitted: Fitted, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The means of these predictions, and the residuals in standard deviations of an ordinary observation."""
    mean, variance = left_out_in_windows(fitted)
    return mean, (z - mean) / np.sqrt(variance + _ordinary(fitted.likelihood))


def score_in_windows(fitted: Fitted, y: np.ndarray) -> float:
    """The sum over the rows of the log density of y under these predictions."""
    mean, variance = left_out_in_windows(fitted)
    density = fitted.likelihood.log_density(fitted.scale.forward(y), mean, variance)
    return float(np.sum(density + fitted.scale.log_slopes(y)))


def _ordinary(likelihood: Likelihood) -> float:
    """The noise variance of an ordinary row."""
    if isinstance(likelihood, StudentT):
        return likelihood.ordinary_variance
    return float(likelihood.predict(np.zeros(1), np.zeros(1))[1][0])
