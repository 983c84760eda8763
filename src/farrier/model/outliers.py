"""Outliers: what each row is expected to be given all others, and which rows are far from that.

A leave-one-out residual is the distance of a row from its leave-one-out prediction, divided by the standard deviation
of that prediction. Nothing is refitted: the predictions have a closed form, for exact inference from the inverse
covariance (inference/posteriors.py), otherwise from the sites (inference/gaussian_sites.py).
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import ndtr, ndtri

from farrier.inference.collapsed import CollapsedPosterior
from farrier.inference.counts import CountLikelihood, count_quantiles
from farrier.inference.gaussian_sites import Sites
from farrier.inference.likelihoods import Gaussian, Likelihood
from farrier.inference.linear_posterior import LinearPosterior
from farrier.inference.mixtures import moments
from farrier.inference.posteriors import GaussianPosterior, LaplacePosterior, Moments, Posterior
from farrier.inference.student_t import StudentT, Tails, robust_deviation
from farrier.model.fitted import Fitted
from farrier.model.held_out import folds_of, left_out_of
from farrier.model.many_rows import many_rows_score
from farrier.model.result import Result
from farrier.model.window_residuals import residuals_in_windows
from farrier.search.evidence import CHANCE

DEGREES = (2.5, 3.0, 4.0, 6.0, 10.0)
"""Degrees of freedom that leave-one-out residuals choose between. [degrees of freedom; by judgement]"""
LISTED = 4.0
"""Distance from its expected value beyond which a row is called an outlier. [standard deviations of the leave-one-out
prediction; by judgement]"""


@final
@dataclass(frozen=True, eq=False)
class Outliers:
    """The rows that are far from their expected values, the furthest first."""

    rows: np.ndarray
    """Their indices among the fitted rows."""
    value: np.ndarray
    """Their values, in units of y."""
    expected: np.ndarray
    """The medians of their leave-one-out predictions, in units of y."""
    sds: np.ndarray
    """Their leave-one-out residuals, with a sign. [standard deviations, on the scale of the model]"""


def residuals_of(fitted: Fitted, X: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The means of the leave-one-out predictions of the fitted rows, and the leave-one-out residuals."""
    mean, sd = expected_of(fitted, X, z)
    return mean, (z - mean) / sd


def expected_of(fitted: Fitted, X: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The leave-one-out predictions of the fitted rows: means, and standard deviations of an ordinary observation."""
    likelihood, posterior = fitted.likelihood, fitted.posterior
    mean, variance = _left_out(posterior, likelihood, X, z)
    if isinstance(likelihood, StudentT):
        noise = likelihood.ordinary_variance
    else:
        _, (noise,) = likelihood.predict(np.zeros(1), np.zeros(1))
    return mean, np.sqrt(variance + noise)


def _left_out(posterior: Posterior, likelihood: Likelihood, X: np.ndarray, z: np.ndarray) -> Moments:
    """Mean and variance of f at rows of the fit by leave-one-out predictions; copies of rows are left out with them."""
    if isinstance(posterior, GaussianPosterior | LaplacePosterior):
        mode = posterior.posteriors[0] if isinstance(posterior, LaplacePosterior) else posterior
        mean, variance = moments(*mode.left_out())
        if len(mean) == len(z):
            return mean, variance
    q, prior = moments(*posterior.draws(X)), np.inf
    if isinstance(posterior, CollapsedPosterior):
        prior = np.mean(posterior.weights**2 @ posterior.pool.diag(X), axis=0)
    return Sites.at(z, *q, likelihood).left_out(*q, prior)


def left_out_score(fitted: Fitted, X: np.ndarray, y: np.ndarray) -> float:
    """The sum over the fitted rows of the log density of y under their leave-one-out predictions."""
    posterior, z = fitted.posterior, fitted.scale.forward(y)
    if fitted.stacking is not None and isinstance(posterior, CollapsedPosterior):
        return many_rows_score(fitted, X, y)
    if fitted.stacking is not None:
        folds = folds_of(len(y))
        left = [left_out_of(one, y, folds, ()) for one in fitted.members]
        return float(np.sum(fitted.stacking.log_densities(left)))
    mean, variance = _left_out(posterior, fitted.likelihood, X, z)
    return float(np.sum(fitted.likelihood.log_density(z, mean, variance) + fitted.scale.log_slopes(y)))


def mixed_residuals(fitted: Fitted, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for all members of the average of a table: residuals are normal quantiles of the mixture's probability.

    Means are on the scale of the model, of the member with the largest share.
    """
    below, above, best = np.zeros(len(y)), np.zeros(len(y)), (0.0, np.zeros(len(y)))
    for member in fitted.members:
        (mean,), (variance,) = member.posterior.posteriors[0].left_out()
        away = (member.scale.forward(y) - mean) / np.sqrt(variance + member.noises[0])
        below, above = below + member.share * ndtr(away), above + member.share * ndtr(-away)
        if member.share > best[0]:
            inside = np.maximum(member.scale.inverse(mean), fitted.scale.least)
            best = member.share, fitted.scale.forward(inside)
    tail = np.maximum(np.minimum(below, above), np.finfo(float).tiny)
    return best[1], np.where(below < above, ndtri(tail), -ndtri(tail))


def suspicious(distances: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """Which rows the search for a structure should not see: those with large residuals, or far from their predictions.

    `distances` are the residuals before division by the standard deviations of the predictions. A component that
    follows an outlier makes the prediction of its row uncertain, and the residual small. Many such rows are a part of
    what is to be explained: then none is suspicious.
    """
    kinds = ((residuals, LISTED), (distances, 2.0 * LISTED))
    far = np.max([np.abs(one) / (limit * robust_deviation(one)) for one, limit in kinds], axis=0)
    found = far > 1.0
    # more than a fifth of the rows are no outliers
    return found & (np.mean(found) <= 0.2)


@final
@dataclass(frozen=True, eq=False)
class Doubt:
    """What the residuals of a fit with Gaussian noise say against it."""

    residuals: np.ndarray
    """The leave-one-out residuals."""
    tails: Tails
    """The Student-t that suits them best."""
    suspicious: np.ndarray
    """Which rows are suspicious."""
    due: bool
    """Whether Student-t noise is worth a fit."""

    @classmethod
    def of(cls, fitted: Fitted, X: np.ndarray, y: np.ndarray) -> "Doubt":
        """The doubt about a fit of the rows X on the scale of the model, and y in its own units."""
        z = fitted.scale.forward(y)
        of_table = X.shape[1] > 1 and fitted.beliefs.clock is None
        mixed = of_table and bool(fitted.others) and isinstance(fitted.posterior, LaplacePosterior)
        if isinstance(fitted.posterior, LinearPosterior):
            mean, residuals = residuals_in_windows(fitted, z)
        else:
            mean, residuals = mixed_residuals(fitted, y) if mixed else residuals_of(fitted, X, z)
        tails, odd = Tails.of(residuals, DEGREES), suspicious(z - mean, residuals)
        _, counts = np.unique(y, return_counts=True)
        # an average of structures has heavy tails of its own: a table asks for a tenth of a nat for each row
        margin = max(CHANCE, 0.1 * len(y)) if of_table else CHANCE
        # where half of the values are one and the same, such as zero, there are no outliers
        clear = tails.gain > margin and bool(odd.any()) and counts.max() < 0.5 * len(y)
        return cls(residuals, tails, odd, clear)


def expected_intervals(result: Result, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each fitted row what all others make expected, in units of y: the median, and the ends of an interval.

    The interval should hold `level` per cent of ordinary values. The rows of `outliers_of` lie outside if the level is
    at most that of its limit.
    """
    fitted = result.fitted
    if isinstance(fitted.likelihood, CountLikelihood):
        f = _left_out(fitted.posterior, fitted.likelihood, result.inputs, result.scaled_target)
        ends = np.array([0.5, 0.5 - level / 200.0, 0.5 + level / 200.0])
        median, low, high = count_quantiles(fitted.likelihood, f[0][None], f[1][None], ends)
        return median, low, high
    mean, sd = expected_of(fitted, result.inputs, result.scaled_target)
    half = ndtri(0.5 + level / 200.0) * sd
    median, low, high = (fitted.scale.inverse(one) for one in (mean, mean - half, mean + half))
    return median, low, high


def outliers_of(result: Result) -> Outliers:
    """The outliers of a fitted model. Classes have none, and the paper's algorithm gives no leave-one-out residuals."""
    fitted, z = result.fitted, result.scaled_target
    if fitted.tier == "stochastic" or not isinstance(fitted.likelihood, Gaussian | StudentT):
        return Outliers(np.zeros(0, int), *np.zeros((3, 0)))
    mean, residuals = residuals_of(fitted, result.inputs, z)
    far = np.flatnonzero(np.abs(residuals) > LISTED)
    rows = far[np.argsort(-np.abs(residuals[far]), kind="stable")]
    return Outliers(rows, result.target[rows], fitted.scale.inverse(mean[rows]), residuals[rows])
