"""From rows to structure where the noise is not Gaussian: classes, and outliers.

Sites (gaussian_sites.py) stand for the rows. They start from what is known before the rows, the structure is looked
for with them (search/search.py), they follow the posterior of what was found, and the search is repeated once with the
better ones.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.blas import one_thread
from farrier.inference.gaussian_sites import Sites
from farrier.inference.likelihoods import Likelihood, StudentT
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.weight_priors import starting_weight
from farrier.kernels.algebra import Kernel
from farrier.model.fitted import Alone, Fitted
from farrier.model.learning import beside, search_rows
from farrier.model.target_scale import named
from farrier.model.tiers import (
    Tell,
    collapsed_fit,
    collapsed_posterior,
    exact_posterior,
)
from farrier.search.appraisal import Appraisal, intervals
from farrier.search.search import Search
from farrier.search.settings import SearchSettings
from farrier.search.structure import LEVEL, Decision, Part, Structure


def learn_sites(
    X: np.ndarray,
    y: np.ndarray,
    likelihood: Likelihood,
    *,
    known: Sequence[float] = (),
    timed: bool = False,
    tell: Tell = lambda what, bound: None,
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """The structure of y given standardised inputs."""
    rows = search_rows(X, settings.rows)
    sites, record = Sites.first(y[rows], likelihood), []
    structure = search = None
    for turn in range(settings.sites.searches):
        # nobody knows yet how far Student's t scatters: the first search finds out
        given = None if turn == 0 and isinstance(likelihood, StudentT) else sites.variance
        covariance = covariance_of(X[rows])
        search = Search(X[rows], sites.target, covariance, known, tell, rows=given, settings=settings, timed=timed)
        with one_thread():
            structure = search.best(search.shrunk(search.whole(search.periods())))
        record = search.record
        if given is None:
            likelihood = StudentT.with_degrees(float(np.sqrt(structure.noise)), settings.sites.degrees)
            sites = replace(sites, variance=np.full(len(rows), structure.noise))
        structure, sites, likelihood = _followed(search, structure, sites, y[rows], likelihood)
    assert structure is not None
    assert search is not None
    search = replace(search, y=sites.target, rows=sites.variance)
    return _finished(search, structure, sites, X, y, likelihood, record)


def fit_sites(
    kernels: Sequence[Kernel],
    X: np.ndarray,
    y: np.ndarray,
    likelihood: Likelihood,
    settings: SearchSettings = SearchSettings(),
) -> tuple[Any, ExactModel, Likelihood]:
    """The posterior, the model and the noise of kernels that somebody chose; nothing is added or dropped."""
    sites = Sites.first(y, likelihood)
    search = Search(X, sites.target, covariance_of(X), rows=sites.variance, settings=settings)
    parts = [Part(kernel, kernel, starting_weight(len(kernels))) for kernel in kernels]
    posterior, model, _, _, likelihood = _whole(search, parts, 1.0, sites, X, y, likelihood)
    return posterior, model, likelihood


def _followed(
    search: Search, structure: Structure, sites: Sites, y: np.ndarray, likelihood: Likelihood
) -> tuple[Structure, Sites, Likelihood]:
    """The structure and the sites, each fitted to the other."""
    settings = search.settings
    for _ in range(settings.sites.fits):
        if structure.model is None:
            break
        for _ in range(settings.sites.steps):
            found = exact_posterior(replace(structure.model, rows=sites.variance), search.X, sites.target, settings)
            mean, variance = _marginals(found, search.X)
            sites = sites.follow(y, mean, variance, likelihood, settings.sites.step)
            likelihood = _noise(likelihood, y, mean, variance)
        again = replace(search, y=sites.target, rows=sites.variance)
        structure = again.fit(structure.parts, structure.noise)
    return structure, sites, likelihood


def _marginals(posterior: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of q(f) at the rows, over the draws of the weights."""
    mean, variance = posterior.draws(X)
    return mean.mean(axis=0), variance.mean(axis=0) + mean.var(axis=0)


def _noise(likelihood: Likelihood, y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> Likelihood:
    """Student's t with the scale that suits what f leaves; other noise has no numbers."""
    if not isinstance(likelihood, StudentT):
        return likelihood
    degrees, scale = float(likelihood.degrees), float(np.asarray(likelihood.scale))
    square = (y - mean) ** 2 + variance
    weight = (degrees + 1.0) / (degrees + square / scale**2)
    return StudentT.with_degrees(float(np.sqrt(np.mean(weight * square))), degrees)


def _finished(
    search: Search,
    structure: Structure,
    sites: Sites,
    X: np.ndarray,
    y: np.ndarray,
    likelihood: Likelihood,
    record: list[Decision],
) -> Fitted:
    """The whole pool on all rows predicts, the survivors explain."""
    search.tell("fitting the whole pool", structure.score)
    if len(search.y) < len(y) and structure.model is not None:
        mean, variance = exact_posterior(structure.model, search.X, search.y, search.settings).draws(X)
        sites = sites.at(y, mean.mean(axis=0), variance.mean(axis=0) + mean.var(axis=0), likelihood)
    elif len(search.y) < len(y):
        sites = Sites.first(y, likelihood)
    parts = beside(search, structure)
    posterior, model, total, sites, likelihood = _whole(search, parts, structure.noise, sites, X, y, likelihood)
    alone, appraisal = None, Appraisal((), (), (), (), (), ())
    if structure.model is not None and structure.parts:
        kernels = tuple(part.kernel for part in structure.parts)
        fitted = posterior_of(replace(structure.model, rows=sites.variance), X, sites, search.settings)
        alone = Alone(fitted, structure.model.prior, kernels, len(kernels))
        sizes = search.sizes(structure)
        appraisal = Appraisal(
            *intervals(search, structure.model, len(kernels)),
            losses=tuple(float(loss) for loss in search.refitted_losses(structure)),
            errors=(),
            order=tuple(int(i) for i in np.argsort(sizes)[::-1]),
            sizes=tuple(float(size) for size in sizes),
        )
    mean, variance = _marginals(posterior, X)
    return Fitted(
        posterior=posterior,
        likelihood=likelihood,
        prior=model.prior,
        kernels=tuple(model.pool[i] for i in range(len(parts) + 1)),
        survivors=len(structure.parts),
        transform=named("identity"),
        z_mean=0.0,
        z_scale=1.0,
        bound=total + sites.correction(y, mean, variance, likelihood),
        tier="exact" if len(X) <= search.settings.rows.exact else "collapsed",
        steps=search.steps,
        level=len(parts),
        record=tuple(record),
        appraisal=appraisal,
        alone=alone,
        settings=search.settings,
    )


def _whole(
    search: Search,
    parts: Sequence[Part],
    noise: float,
    sites: Sites,
    X: np.ndarray,
    y: np.ndarray,
    likelihood: Likelihood,
) -> tuple[Any, ExactModel, float, Sites, Likelihood]:
    """The pool that predicts and its sites, each fitted to the other."""
    settings = search.settings
    found: tuple[Any, ExactModel, float] | None = None
    for turn in range(settings.sites.fits):
        if len(X) <= settings.rows.exact:
            rows = replace(search, X=X, y=sites.target, covariance=covariance_of(X), rows=sites.variance)
            wide = rows.fit(parts, noise, settings.fits.final_iterations, settings.fits.final_tolerance)
            assert wide.model is not None
            parts, model, total = wide.parts, wide.model, wide.terms.total if wide.terms else np.nan
        else:
            model, total, _ = collapsed_fit(
                [*parts, LEVEL], noise, X, sites.target, search.tell, settings, 1, sites.variance
            )
            medians = np.asarray(model.prior.quantile(0.5))
            parts = [replace(p, kernel=model.pool[i], weight=float(medians[i])) for i, p in enumerate(parts)]
        for _ in range(settings.sites.later_steps if turn else settings.sites.steps):
            posterior = posterior_of(replace(model, rows=sites.variance), X, sites, settings)
            mean, variance = _marginals(posterior, X)
            sites = sites.follow(y, mean, variance, likelihood, settings.sites.step)
            likelihood = _noise(likelihood, y, mean, variance)
        found = posterior_of(replace(model, rows=sites.variance), X, sites, settings), model, total
    assert found is not None
    return *found, sites, likelihood


def posterior_of(model: ExactModel, X: np.ndarray, sites: Sites, settings: SearchSettings) -> Any:
    """The posterior of f given the sites, of whichever tier suits the rows."""
    by_tier = exact_posterior if len(X) <= settings.rows.exact else collapsed_posterior
    return by_tier(model, X, sites.target, settings)
