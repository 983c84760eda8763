"""Alternating fits of a model and its Gaussian sites, for likelihoods that are not Gaussian.

With fixed sites, the model is fitted as for Gaussian noise. With a fixed model, the sites take steps along the natural
gradient (inference/gaussian_sites.py).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from farrier.inference.counts import NegativeBinomial
from farrier.inference.gaussian_sites import Sites
from farrier.inference.likelihoods import Likelihood
from farrier.inference.mixtures import moments
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.student_t import StudentT
from farrier.model.finishing import Predictor
from farrier.model.tiers import POSTERIORS, bound_of, tier_for

SITE_FITS = 2
"""Times that parameters and sites are fitted alternately. [fits; by judgement]"""


@final
@dataclass(frozen=True, eq=False)
class SiteFit:
    """A model with its sites and its posterior."""

    model: ExactModel
    """The model, with the variances of the sites as the noise of its rows."""
    sites: Sites
    likelihood: Likelihood
    posterior: Any
    bound: float
    """The evidence lower bound of y on the scale of the model."""


def predictor_of(fit: SiteFit, rows: int) -> Predictor:
    """What predicts so many rows."""
    return Predictor(fit.model, fit.posterior, tuple(fit.model.pool), tier_for(rows), fit.bound)


def marginals(posterior: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of f at the rows, averaged over the draws of the weights."""
    return moments(*posterior.draws(X))


def updated_sites(
    model: ExactModel,
    sites: Sites,
    likelihood: Likelihood,
    X: np.ndarray,
    y: np.ndarray,
    tier: str,
) -> tuple[Sites, Likelihood]:
    """The sites after eight natural-gradient steps for a fixed model, and the likelihood with its scale updated."""
    for _ in range(8):
        posterior = POSTERIORS[tier](replace(model, rows=sites.variance), X, sites.target)
        mean, variance = marginals(posterior, X)
        # a full step would set the sites to their optimum for the current posterior
        sites = sites.natural_gradient_step(y, mean, variance, likelihood, 0.7)
        likelihood = _with_scale(likelihood, y, mean, variance)
    return sites, likelihood


def fit_in_turn(
    fit: Callable[[Sites], ExactModel],
    sites: Sites,
    likelihood: Likelihood,
    X: np.ndarray,
    y: np.ndarray,
    tier: str,
) -> SiteFit:
    """Alternate between `fit`, which fits a model to sites, and updates of the sites."""
    model = None
    for _ in range(SITE_FITS):
        model = fit(sites)
        sites, likelihood = updated_sites(model, sites, likelihood, X, y, tier)
    assert model is not None
    model = replace(model, rows=sites.variance)
    posterior = POSTERIORS[tier](model, X, sites.target)
    correction = sites.correction(y, *marginals(posterior, X), likelihood)
    bound = bound_of(tier, model, X, sites.target) + correction
    return SiteFit(model, sites, likelihood, posterior, bound)


def _with_scale(likelihood: Likelihood, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> Likelihood:
    """A Student-t likelihood after one EM step of its scale, a negative binomial with its best size.

    Other likelihoods have no scale and stay.
    """
    if isinstance(likelihood, NegativeBinomial):
        return likelihood.with_best_size(y, mean, variance)
    if not isinstance(likelihood, StudentT):
        return likelihood
    degrees, scale = float(likelihood.degrees), float(likelihood.scale)
    square = (y - mean) ** 2 + variance
    weight = (degrees + 1.0) / (degrees + square / scale**2)
    return StudentT.with_degrees(float(np.sqrt(np.mean(weight * square))), degrees)
