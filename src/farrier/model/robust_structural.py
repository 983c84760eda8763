"""The structural model with the noise of higher evidence: Gaussian, or Student-t where there are outliers.

A Student-t with d degrees of freedom and scale s is a normal of variance s^2 / g with g ~ Gamma(d/2, d/2). The model
and the expected precisions of its rows are fitted alternately (EM):

    E g_n = (d + 1) / (d + E (z_n - f_n)^2 / s^2)

The first precisions come from leave-one-out residuals of the fit with Gaussian noise, so that no row hides in its own
fit. The evidence is Laplace's, corrected from the normals to the Student-t (inference/gaussian_sites.py).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farrier.inference.blas import one_thread
from farrier.inference.gaussian_sites import Sites
from farrier.inference.mixtures import moments
from farrier.kernels.algebra import Kernel
from farrier.model.fitted import Fitted
from farrier.model.members import Contender, RowNoise
from farrier.model.outliers import Doubt
from farrier.model.robust import better_noise
from farrier.model.robust_long import expected_factors
from farrier.model.structural import (
    fit_structural,
    fitted_structural,
    structural_beliefs,
    structural_fit,
    transforms_to_try,
    useful_scales,
)
from farrier.model.target_scale import Transform
from farrier.model.tiers import exact_posterior, linear_posterior
from farrier.search.beliefs import Beliefs
from farrier.search.settings import SearchSettings


def fit_robust_structural(
    X: np.ndarray,
    y: np.ndarray,
    seasons: Sequence[float] = (),
    *,
    chosen: bool = False,
    calendar: Sequence[Kernel] = (),
    transform: str = "auto",
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """The structural model with Gaussian or Student-t noise; `chosen` says that the user asked for Student-t.

    A long series (tier "linear") keeps Gaussian noise, unless chosen.
    """
    gaussian = fit_structural(X, y, seasons, calendar=calendar, transform=transform, settings=settings)
    if gaussian.tier == "linear" and not chosen:
        return gaussian
    doubt = Doubt.of(gaussian, X, y)
    if not (doubt.due or chosen):
        return gaussian
    factors = expected_factors((doubt.residuals / doubt.tails.scale) ** 2, doubt.tails.degrees)
    start = RowNoise(doubt.tails.degrees, factors, ~doubt.suspicious)
    with one_thread(small=len(X) <= settings.rows.exact):
        best, scales = [], transforms_to_try(y, transform, settings)
        for beliefs in structural_beliefs(X, seasons, settings):
            fits = [_fitted(X, y, beliefs, one, settings, calendar, start) for one in scales]
            best.append(max(fits, key=lambda one: one.height))
            scales = useful_scales(fits, settings)
        robust = fitted_structural(best, X, y)
    return better_noise(gaussian, robust, chosen=chosen)


def _fitted(
    X: np.ndarray,
    y: np.ndarray,
    beliefs: Beliefs,
    transform: Transform,
    settings: SearchSettings,
    calendar: Sequence[Kernel],
    noise: RowNoise,
) -> Contender:
    """A structural model with Student-t noise on one scale of the target, from the noise of all rows at the start."""
    fit = structural_fit(X, y, beliefs, transform, settings, calendar, noise)
    for _ in range(settings.outliers.rounds - 1):
        last = _after(fit, X, y, settings)
        fit = structural_fit(X, y, beliefs, transform, settings, calendar, last.noise, near=last.structure)
    return _after(fit, X, y, settings)


def _after(fit: Contender, X: np.ndarray, y: np.ndarray, settings: SearchSettings) -> Contender:
    """The fit with the precisions that its posterior expects, and with the evidence of the Student-t."""
    (model,), z, noise = fit.models(0), fit.scale.forward(y), fit.noise
    assert noise is not None
    if len(X) > settings.rows.exact:
        mean, variance = moments(*linear_posterior(model, X, z, settings).draws(X))
    else:
        mean, variance = moments(*exact_posterior(model, X, z, settings, model.prior.quantile(0.5)[None]).draws(X))
    factors = expected_factors(((z - mean) ** 2 + variance) / model.noise, noise.degrees)
    last = np.argsort(X[:, 0], kind="stable")[-settings.structural.rows :]
    sites = Sites(z[last], model.noise * noise.factors[last])
    correction = sites.correction(z[last], mean[last], variance[last], fit.likelihood(model))
    return replace(fit, noise=replace(noise, factors=factors), correction=correction)
