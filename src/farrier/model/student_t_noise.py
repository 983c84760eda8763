"""Student-t noise as normal noise whose variance differs from row to row, and the choice between it and Gaussian noise.

A Student-t with d degrees of freedom and scale s is a normal of variance s^2 / g with g ~ Gamma(d/2, d/2). A model and
the expected precisions of its rows are fitted alternately (EM):

    E g_n = (d + 1) / (d + E (z_n - f_n)^2 / s^2)

The first precisions come from leave-one-out residuals of the fit with Gaussian noise, so that no row hides in its own
fit. The evidence is Laplace's, corrected from the normals to the Student-t (inference/gaussian_sites.py).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from farrier.inference.gaussian_sites import Sites
from farrier.inference.mixtures import moments
from farrier.inference.student_t import StudentT
from farrier.model.fitted import Fitted
from farrier.model.members import Contender, RowNoise
from farrier.model.outliers import Doubt
from farrier.model.tiers import EXACT_ROWS, exact_posterior, linear_posterior
from farrier.search.evidence import VERY_STRONG
from farrier.search.structure import Decision


def noise_after(doubt: Doubt) -> RowNoise:
    """The noise of all rows that the residuals of a fit with Gaussian noise suggest."""
    factors = expected_factors((doubt.residuals / doubt.tails.scale) ** 2, doubt.tails.degrees)
    return RowNoise(doubt.tails.degrees, factors, ~doubt.suspicious)


def noise_around(fitted: Fitted, X: np.ndarray, z: np.ndarray) -> RowNoise:
    """The noise of rows that the posterior of a fit with Student-t noise, which need not have seen them, suggests."""
    assert isinstance(fitted.likelihood, StudentT)
    mean, variance = moments(*fitted.posterior.draws(X))
    degrees, scale = float(fitted.likelihood.degrees), float(fitted.likelihood.scale)
    factors = expected_factors(((z - mean) ** 2 + variance) / scale**2, degrees)
    return RowNoise(degrees, factors, np.ones(len(z), bool))


def alternately(
    fit: Callable[[RowNoise, float], Contender],
    noise: RowNoise,
    X: np.ndarray,
    y: np.ndarray,
    rows: np.ndarray,
    rounds: int,
) -> Contender:
    """Fits and the precisions that they expect, in turn; `rows` are those to which `fit` fits.

    The second argument of `fit` is the log likelihood below which a score is not needed: only the last fit has one.
    """
    for _ in range(rounds - 1):
        better = expected(fit(noise, np.inf), X, y, rows).noise
        assert better is not None
        noise = better
    return expected(fit(noise, -np.inf), X, y, rows)


def expected(fit: Contender, X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> Contender:
    """The fit with the precisions that its posterior expects, and with the evidence of the Student-t.

    `rows` are those to which it was fitted.
    """
    (model,), z, noise = fit.models(0), fit.scale.forward(y), fit.noise
    assert noise is not None
    if len(X) > EXACT_ROWS:
        mean, variance = moments(*linear_posterior(model, X, z).draws(X))
    else:
        mean, variance = moments(*exact_posterior(model, X, z, model.prior.quantile(0.5)[None]).at_rows())
    factors = expected_factors(((z - mean) ** 2 + variance) / model.noise, noise.degrees)
    sites = Sites(z[rows], model.noise * noise.factors[rows])
    correction = sites.correction(z[rows], mean[rows], variance[rows], fit.likelihood(model))
    return replace(fit, noise=replace(noise, factors=factors), correction=correction)


def expected_factors(square: np.ndarray, degrees: float) -> np.ndarray:
    """1 / E g of rows, for a normal of variance s^2 / g, given their squared residuals over s^2."""
    return (degrees + square) / (degrees + 1.0)


STUDENTS_T = "noise: Student-t"
"""The name of Student-t noise in the record of the decisions."""


def better_noise(gaussian: Fitted, robust: Fitted, *, chosen: bool, gain: float | None = None) -> Fitted:
    """Student-t noise if its evidence is clearly higher, or if it was chosen; with the decision in the record.

    `gain` replaces the difference of evidence.
    """
    gain = float(robust.bound - gaussian.bound) if gain is None else gain
    needed = VERY_STRONG
    if chosen:
        decision, best = Decision(0, "kept", STUDENTS_T, gain, "asked for"), robust
    else:
        action, best = ("kept", robust) if gain > needed else ("dropped", gaussian)
        decision = Decision(0, action, STUDENTS_T, gain, "evidence of the noise")
    return replace(best, record=(*best.record, decision))
