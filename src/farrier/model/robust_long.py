"""Student-t noise for a long series: time and memory are linear in its rows.

A Student-t is a normal whose precision differs from row to row. The parameters and the expected precisions are fitted
alternately (EM), as those of the structural model are (robust_structural.py); here by the linear tier (long_series.py).
The structure is found on rows that are not suspicious, and all rows predict.
"""

from dataclasses import replace

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.gaussian_sites import Sites
from farrier.inference.likelihoods import StudentT
from farrier.inference.mixtures import moments
from farrier.model.finishing import Predictor, finished, search_rows
from farrier.model.fitted import Fitted
from farrier.model.long_series import (
    Windows,
    appraised,
    bound_given,
    fitted_to,
    with_deviations,
    with_memory,
    with_ordinary,
)
from farrier.model.scales import Scaled
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import Tell, linear_posterior
from farrier.search.search import Search
from farrier.search.structure import Structure


def finish_robust_long(scaled: Scaled, X: np.ndarray, y: np.ndarray, gaussian: Fitted, degrees: float) -> Fitted:
    """A structure that was found on rows without outliers, with Student-t noise for all rows.

    The first precisions are those that a fit with Gaussian noise expects.
    """
    mean, variance = moments(*gaussian.posterior.draws(X))
    away = (gaussian.scale.forward(y) - mean) ** 2 + variance
    # outliers make the noise of that fit large, and not the median of its squares
    factors = expected_factors(away / np.median(away), degrees)
    return _fitted(scaled.search, scaled.structure, scaled.scale, X, y, factors, degrees, wide=True)


def refit_robust_long(fitted: Fitted, X: np.ndarray, y: np.ndarray, tell: Tell) -> Fitted:
    """A structure that is known, fitted to other rows with Student-t noise."""
    settings, own, z = fitted.settings, fitted.explaining, fitted.scale.forward(y)
    assert isinstance(fitted.likelihood, StudentT)
    rows, degrees = search_rows(X, settings, timed=True), float(fitted.likelihood.degrees)
    mean, variance = moments(*fitted.posterior.draws(X))
    factors = expected_factors(((z - mean) ** 2 + variance) / float(fitted.likelihood.scale) ** 2, degrees)
    covariance = covariance_of(X[rows], timed=True)
    search = Search(X[rows], z[rows], covariance, (), tell, settings=settings, beliefs=fitted.beliefs)
    weights, noise = own.prior.quantile(0.5), float(fitted.likelihood.scale) ** 2
    parts = [search.part(kernel, float(w)) for kernel, w in zip(own.kernels, weights, strict=False)]
    found = search.fit(parts, noise)
    again = _fitted(search, found, fitted.scale, X, y, factors, degrees, wide=False)
    return replace(again, record=fitted.record)


def _fitted(
    search: Search,
    found: Structure,
    scale: TargetScale,
    X: np.ndarray,
    y: np.ndarray,
    factors: np.ndarray,
    degrees: float,
    *,
    wide: bool,
) -> Fitted:
    """Parameters and precisions in turn, then the posterior of all rows; `wide` tries more components beside these."""
    settings, z = search.settings, scale.forward(y)
    search.tell("fitting the long series with outliers", found.score)
    structure = fitted_to(search, found.parts, found.noise, Windows.of(X, z, settings, factors))
    for _ in range(settings.outliers.rounds - 1):
        factors = _expected(structure, X, z, factors, degrees, search)
        structure = fitted_to(search, structure.parts, structure.noise, Windows.of(X, z, settings, factors))
    rows = Windows.of(X, z, settings, factors)
    if wide:
        structure = with_memory(search, structure, rows)
    if len(structure.parts) > len(found.parts):
        found = search.fit([*found.parts, structure.parts[-1]], found.noise)
    structure = with_deviations(structure, rows, settings)
    best = with_ordinary(search, structure, rows) if wide else structure
    model = best.model
    assert model is not None
    assert structure.model is not None
    model, own = replace(model, factors=factors), replace(structure.model, factors=factors)
    posterior = linear_posterior(model, X, z, settings)
    likelihood = StudentT.with_degrees(float(np.sqrt(model.noise)), degrees)
    correction = Sites(z, model.noise * factors).correction(z, *moments(*posterior.draws(X)), likelihood)
    return finished(
        Predictor(model, posterior, tuple(model.pool), "linear", bound_given(model, posterior.evidence) + correction),
        replace(structure, model=model if best is structure else own),
        X,
        y,
        scale=scale,
        level=len(best.parts),
        steps=search.steps,
        settings=settings,
        record=search.record,
        appraisal=appraised(search, found, structure),
        likelihood=likelihood,
        beliefs=search.beliefs,
    )


def _expected(
    structure: Structure, X: np.ndarray, z: np.ndarray, factors: np.ndarray, degrees: float, search: Search
) -> np.ndarray:
    """The noise variances over the squared scale that the posterior of all rows expects."""
    model = structure.model
    assert model is not None
    posterior = linear_posterior(replace(model, factors=factors), X, z, search.settings)
    mean, variance = moments(*posterior.draws(X))
    return expected_factors(((z - mean) ** 2 + variance) / model.noise, degrees)


def expected_factors(square: np.ndarray, degrees: float) -> np.ndarray:
    """1 / E g of rows, for a normal of variance s^2 / g, given their squared residuals over s^2."""
    return (degrees + square) / (degrees + 1.0)
