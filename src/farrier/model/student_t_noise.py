"""Student-t noise as normal noise with a factor for each row (inference/noise.py), and the choice of the noise.

The first factors come from leave-one-out residuals of the fit with Gaussian noise, so that no row hides in its own fit;
those of a refit from the posterior of the fit before. The evidence is that of the normals, corrected to the Student-t
(inference/gaussian_sites.py).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from farrier.inference.gaussian_sites import Sites
from farrier.inference.mixtures import moments
from farrier.inference.noise import Noise, alternately
from farrier.inference.posteriors import GaussianPosterior
from farrier.inference.student_t import StudentT
from farrier.model.fitted import Fitted
from farrier.model.members import Contender
from farrier.model.outliers import Doubt
from farrier.model.problem import Problem
from farrier.model.tiers import EXACT_ROWS, exact_posterior, linear_posterior
from farrier.search.evidence import VERY_STRONG
from farrier.search.structure import Decision

STUDENTS_T = "noise: Student-t"
"""The name of Student-t noise in the record of the decisions."""


def at_rows(posterior: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of f at the rows of a fit, over the draws."""
    return moments(*(posterior.at_rows() if isinstance(posterior, GaussianPosterior) else posterior.draws(X)))


def squares_at_rows(posterior: Any, X: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The expected squared residual of each row of a fit."""
    mean, variance = at_rows(posterior, X)
    return (z - mean) ** 2 + variance


def expected(fit: Contender, X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> tuple[Contender, np.ndarray]:
    """A fit with the evidence of the Student-t, and the expected squared residuals of all rows over its squared scale.

    `rows` are those to which it was fitted.
    """
    (model,), z = fit.models(0), fit.scale.forward(y)
    mean, variance = at_rows((linear_posterior if len(X) > EXACT_ROWS else exact_posterior)(model, X, z), X)
    sites = Sites(z[rows], fit.noise.variances(model.noise, len(z))[rows])
    correction = sites.correction(z[rows], mean[rows], variance[rows], fit.likelihood(model))
    return replace(fit, correction=correction), ((z - mean) ** 2 + variance) / model.noise


def noise_after(doubt: Doubt, degrees: float | None = None) -> Noise:
    """The noise of all rows that the residuals of a fit with Gaussian noise suggest, also with given degrees."""
    noise = Noise(degrees=degrees or doubt.tails.degrees, ordinary=~doubt.suspicious)
    return noise.expecting((doubt.residuals / doubt.tails.scale) ** 2)


def noise_around(fitted: Fitted, X: np.ndarray, y: np.ndarray) -> Noise:
    """The noise of rows that the posterior of a fit with Student-t noise, which need not have seen them, suggests."""
    assert isinstance(fitted.likelihood, StudentT)
    mean, variance = moments(*fitted.posterior.draws(X))
    square = (fitted.scale.forward(y) - mean) ** 2 + variance
    return Noise(degrees=float(fitted.likelihood.degrees)).expecting(square / float(fitted.likelihood.scale) ** 2)


def noise_beyond(fit: Contender, degrees: float, X: np.ndarray, y: np.ndarray) -> Noise:
    """The noise of all rows that a fit with Gaussian noise to some ordinary rows suggests."""
    mode, own, z = fit.structure.at_mode(), fit.evaluator, fit.scale.forward(y)
    mean, variance = moments(*exact_posterior(mode.model, own.X, own.y).draws(X))
    return Noise(degrees=degrees).expecting(((z - mean) ** 2 + variance) / mode.model.noise)


def in_turn(
    fit: Callable[[Noise, float], Contender], noise: Noise, X: np.ndarray, y: np.ndarray, rows: np.ndarray
) -> Contender:
    """A fit to some of the rows with Gaussian noise, or fits and Student-t noise in turn.

    The second argument of `fit` is the log likelihood below which a score is not needed: only the last one has one.
    """
    if noise.degrees is None:
        return fit(noise, -np.inf)
    found, noise = alternately(lambda given, last: expected(fit(given, -np.inf if last else np.inf), X, y, rows), noise)
    return replace(found, noise=noise)


def with_better_noise(
    gaussian: Fitted,
    problem: Problem,
    likelihood: str,
    robust: Callable[[Doubt], tuple[float, Callable[[], Fitted]]],
) -> Fitted:
    """A fit with Gaussian noise, or one with Student-t noise, with the decision in the record.

    Student-t noise is tried if the leave-one-out residuals of the other suggest it, and kept if its evidence is clearly
    higher, or if it is asked for. `robust` gives what it gains, and its fit.
    """
    chosen = likelihood == "student-t"
    if likelihood == "gaussian":
        return gaussian
    doubt = Doubt.of(gaussian, problem.X, problem.y)
    if not (doubt.due or chosen):
        return gaussian
    problem.tell("looking for outliers", gaussian.bound)
    gain, fitted = robust(doubt)
    kept = chosen or gain > VERY_STRONG
    best, reason = fitted() if kept else gaussian, "asked for" if chosen else "evidence of the noise"
    return replace(best, record=(*best.record, Decision(0, "kept" if kept else "dropped", STUDENTS_T, gain, reason)))
