"""The residuals and predictions by which a fitted model is checked.

*Residuals* are one-step-ahead: each row is predicted from all rows before it. Whitened by the covariance, (L^-1 y)_n,
they are independent and standard normal if the model is right. Residuals of the fit are not independent, and neither
are leave-one-out residuals. *Calibration* uses leave-one-out predictions: each row is predicted from all others. Let m
and v be the mean and variance of f at a row, given the weights, and s^2 the noise variance. Then
(C^-1 y)_n = (y - m) / s^2 and (C^-1)_nn = (s^2 - v) / s^4 give the leave-one-out prediction

    y - E y = (y - m) s^2 / (s^2 - v),    Var y = s^4 / (s^2 - v)

Over the draws both are mixtures; where each draw has its own noise variance, s^2 is that. Nothing is refitted:
hyperparameters and weights are those of the whole fit. For noise that is not Gaussian, residuals are those of the fit,
and calibration is not checked.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.special import ndtr

from farrier.explain.checks import Check, checks
from farrier.explain.context import Setting, say_length
from farrier.inference.likelihoods import Gaussian
from farrier.inference.posteriors import GaussianPosterior
from farrier.model.fitted import Fitted
from farrier.model.result import Result
from farrier.model.tiers import snapped

MOST_ROWS = 1000
"""Most rows that are checked, the last ones, by judgement."""
LEAST = 1e-9
"""Smallest s^2 - v, as a part of s^2, by judgement: rounding must not make it zero."""


def model_checks(result: Result, setting: Setting) -> list[Check]:
    """The checks that apply to a result; none for classes and counts, whose residuals are not normal."""
    if setting.kind == "classes" or result.explained.counts:
        return []
    last = setting.order[-MOST_ROWS:]
    fitted = result.explained
    # the exact tier was fitted to inputs rounded to a grid
    inputs = (snapped(result.inputs) if fitted.tier == "exact" else result.inputs)[last]
    z = result.scaled_target[last]
    axis = setting.axis if setting.kind == "series" else None
    times = None if axis is None else result.rows[last, 0]
    if not isinstance(fitted.likelihood, Gaussian) or fitted.tier == "stochastic":
        return checks(_standardised(z, *fitted.observed(inputs)), times, None, axis, _say(setting))
    residual = _standardised(z, *given_earlier(fitted, inputs, z))
    mean, variance = left_out(fitted, inputs, z)
    calibration = ndtr((z - mean) / np.sqrt(variance)).mean(axis=0)
    return checks(residual, times, calibration, axis, _say(setting))


def about_checks(verdicts: Iterable[tuple[str, str]]) -> list[str]:
    """What checks say, from the verdict and the sentence of each: those that failed, or that none did."""
    judged = [(verdict, sentence) for verdict, sentence in verdicts if verdict != "none"]
    failed = [f"A check failed: {sentence}" for verdict, sentence in judged if verdict == "bad"]
    doubtful = [f"A check is doubtful: {sentence}" for verdict, sentence in judged if verdict == "doubtful"]
    if judged and not failed and not doubtful:
        return [f"Checks of what is left over: {'all' if len(judged) > 1 else 'it'} passed."]
    return failed + doubtful


def given_earlier(fitted: Fitted, inputs: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each fitted row given the rows before it, for each draw of the weights, (S, N)."""
    posterior: Any = fitted.posterior
    noise = np.full(len(z), float(_noise(fitted)))
    return GaussianPosterior(posterior.pool, posterior.weights, noise, inputs, z).one_step()


def left_out(fitted: Fitted, inputs: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each fitted row given all other rows, for each draw of the weights, (S, N)."""
    mean, variance = fitted.posterior.draws(inputs)
    noise: Any = _noise(fitted) if fitted.noises is None else fitted.noises[:, None]
    left = np.maximum(noise - variance, LEAST * noise)
    return z - (z - mean) * noise / left, noise**2 / left


def _noise(fitted: Fitted) -> float:
    likelihood: Any = fitted.likelihood
    return float(likelihood.variance)


def _standardised(z: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Residuals divided by the standard deviation of the mixture over the draws."""
    return (z - mean.mean(axis=0)) / np.sqrt(variance.mean(axis=0) + mean.var(axis=0))


def _say(setting: Setting) -> Any:
    return lambda x: say_length(x, setting.axis)
