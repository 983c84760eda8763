"""More rows, the same structure, where the noise is not Gaussian.

Sites (inference/gaussian_sites.py) stand for the rows. They start where the posterior so far has them, at old rows and
new ones; then the pool that predicts and its sites are fitted to each other, and the components that explain are
fitted to the sites.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.gaussian_sites import Sites
from farrier.inference.likelihoods import Likelihood, StudentT
from farrier.inference.parameter_vector import NOISE_CENTRE, ExactModel
from farrier.model.fitted import Alone, Fitted
from farrier.model.learning import search_rows
from farrier.model.other_noise import posterior_of
from farrier.model.tiers import Tell
from farrier.model.warm_start import climbed, without_level
from farrier.search.appraisal import Appraisal, intervals
from farrier.search.search import Search
from farrier.search.structure import LEVEL, Structure

UNUSED_NOISE = float(np.exp(NOISE_CENTRE))
"""The common noise where each row has its own: it has no part in the fit, and here its prior is highest."""


def refit_sites(fitted: Fitted, X: np.ndarray, y: np.ndarray, tell: Tell) -> Fitted:
    """The structure of a fitted model, fitted to rows X on the scale of the model, and y in its own units."""
    settings = fitted.settings
    z, likelihood, exact = fitted.scaled(y), fitted.likelihood, len(X) <= settings.rows.exact
    sites = Sites.at(z, *_marginals(fitted.posterior, X), likelihood)
    pool, prior = fitted.kernels, fitted.prior
    model, posterior, total = None, None, np.nan
    for turn in range(settings.sites.fits):
        tell("fitting the same structure again", total)
        whole = climbed(pool, prior, UNUSED_NOISE, X, sites.target, settings, exact=exact, rows=sites.variance)
        model, total = _model(whole), whole.terms.total if whole.terms else np.nan
        pool, prior = tuple(part.kernel for part in whole.parts), model.prior
        for _ in range(settings.sites.later_steps if turn else settings.sites.steps):
            mean, variance = _marginals(posterior_of(replace(model, rows=sites.variance), X, sites, settings), X)
            sites = sites.follow(z, mean, variance, likelihood, settings.sites.step)
            likelihood = _with_scale(likelihood, z, mean, variance)
        posterior = posterior_of(replace(model, rows=sites.variance), X, sites, settings)
    assert model is not None
    assert posterior is not None
    alone, appraisal = _explaining(fitted, X, sites, tell)
    jacobian = float(fitted.transform.log_slope(y).sum()) - len(y) * float(np.log(fitted.z_scale))
    return replace(
        fitted,
        posterior=posterior,
        likelihood=likelihood,
        prior=prior,
        kernels=pool,
        bound=total + sites.correction(z, *_marginals(posterior, X), likelihood) + jacobian,
        tier="exact" if exact else "collapsed",
        appraisal=appraisal,
        alone=alone,
    )


def _explaining(fitted: Fitted, X: np.ndarray, sites: Sites, tell: Tell) -> tuple[Alone | None, Appraisal | None]:
    """The components that explain, given the sites, and how sure they are."""
    if fitted.alone is None:
        return None, fitted.appraisal
    settings, count = fitted.settings, len(fitted.alone.kernels)
    rows = search_rows(X, settings.rows)
    covariance, noise = covariance_of(X[rows]), sites.variance[rows]
    search = Search(X[rows], sites.target[rows], covariance, (), tell, rows=noise, settings=settings)
    structure = climbed(
        (*fitted.alone.kernels, LEVEL.kernel),
        fitted.alone.prior,
        UNUSED_NOISE,
        search.X,
        search.y,
        settings,
        exact=True,
        rows=search.rows,
    )
    structure, model = without_level(structure, count, len(rows)), _model(structure)
    sizes = search.sizes(structure)
    appraisal = Appraisal(
        *intervals(search, model, count),
        losses=tuple(float(loss) for loss in search.refitted_losses(structure)),
        errors=(),
        order=tuple(int(i) for i in np.argsort(sizes)[::-1]),
        sizes=tuple(float(size) for size in sizes),
    )
    posterior = posterior_of(replace(model, rows=sites.variance), X, sites, settings)
    kernels = tuple(part.kernel for part in structure.parts)
    return Alone(posterior, model.prior, kernels, count), appraisal


def _model(structure: Structure) -> ExactModel:
    assert structure.model is not None
    return structure.model


def _marginals(posterior: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of f at the rows, over the draws of the weights."""
    mean, variance = posterior.draws(X)
    return mean.mean(axis=0), variance.mean(axis=0) + mean.var(axis=0)


def _with_scale(likelihood: Likelihood, z: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> Likelihood:
    """Student's t with the scale that suits what f leaves: a step of EM. Other noise has no scale."""
    if not isinstance(likelihood, StudentT):
        return likelihood
    degrees, scale = float(likelihood.degrees), float(np.asarray(likelihood.scale))
    square = (z - mean) ** 2 + variance
    weight = (degrees + 1.0) / (degrees + square / scale**2)
    return StudentT.with_degrees(float(np.sqrt(np.mean(weight * square))), degrees)
