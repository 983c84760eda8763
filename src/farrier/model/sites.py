"""From rows to a fitted model for likelihoods that are not Gaussian: classes, counts, and outliers (Student-t).

Each row is represented by a Gaussian site (inference/gaussian_sites.py). With fixed sites, a model is fitted as for
Gaussian noise; with a fixed model, the sites take steps along the natural gradient. The pool is fitted to the first
sites and projected; then sites and structure are fitted to each other, and the projection is made again with the new
sites. For outliers of a large table the structure is found on the other rows (tables.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.counts import NegativeBinomial
from farrier.inference.gaussian_sites import Sites
from farrier.inference.likelihoods import Likelihood
from farrier.inference.linalg import one_thread
from farrier.inference.mixtures import moments
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.student_t import StudentT
from farrier.model.finishing import Predictor, finished, search_rows
from farrier.model.fitted import Fitted
from farrier.model.problem import Problem
from farrier.model.table_fits import Scaled
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import EXACT_ROWS, POSTERIORS, bound_of, collapsed_fit, exact_posterior, tier_for
from farrier.search.appraisal import appraise
from farrier.search.projection import Projection, explaining
from farrier.search.rows import Rows
from farrier.search.scoring import Evaluator
from farrier.search.structure import LEVEL, Decision, Part, Structure
from farrier.search.table_candidates import Warps
from farrier.search.table_moves import Columns

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


def fit_sites(problem: Problem, likelihood: Likelihood) -> Fitted:
    """The model of a target with another likelihood, in its own units."""
    X, z = problem.X, problem.y
    rows, timed = search_rows(X, timed=problem.timed), problem.timed
    sites, structure = Sites.first(z[rows], likelihood), Structure((), 1.0, 0.0)
    covariance, known = covariance_of(X[rows], timed=timed), problem.seasons or ()
    evaluator = Evaluator(X[rows], sites.target, covariance, known, problem.tell, beliefs=problem.beliefs)
    kind, record = Rows(Columns(Warps.of(X, problem.coded)), problem.calendar), list[Decision]()
    for _ in range(SITE_FITS):
        evaluator, record = replace(evaluator, y=sites.target, rows=sites.variance, steps=0), []
        with one_thread():
            whole = kind.pool(evaluator)
            structure = explaining(evaluator, Projection.of(evaluator, whole), whole, kind, record)
            structure, sites, likelihood = _structure_and_sites(evaluator, structure, sites, z[rows], likelihood)
    with one_thread(small=len(X) <= EXACT_ROWS):
        return _finish(evaluator, kind, structure, sites, likelihood, TargetScale(), X, z, record)


def fit_students_t(found: Scaled, X: np.ndarray, y: np.ndarray, degrees: float) -> Fitted:
    """Student-t noise for all rows of a table, with a structure that was found on rows without outliers."""
    structure, own = found.structure, found.evaluator
    assert structure is not None
    rows, z = search_rows(X), found.scale.forward(y)
    likelihood = StudentT.with_degrees(float(np.sqrt(structure.noise)), degrees)
    mean, variance = np.zeros(len(rows)), np.full(len(rows), structure.noise / len(rows))
    if structure.model is not None:
        mean, variance = marginals(exact_posterior(structure.model, own.X, own.y), X[rows])
    sites = Sites.at(z[rows], mean, variance, likelihood)
    evaluator = replace(own, X=X[rows], y=sites.target, covariance=covariance_of(X[rows]), rows=sites.variance)
    with one_thread():
        structure, sites, likelihood = _structure_and_sites(evaluator, structure, sites, z[rows], likelihood)
    with one_thread(small=len(X) <= EXACT_ROWS):
        return _finish(evaluator, found.kind, structure, sites, likelihood, found.scale, X, y, found.record)


def _finish(
    evaluator: Evaluator,
    kind: Rows,
    structure: Structure,
    sites: Sites,
    likelihood: Likelihood,
    scale: TargetScale,
    X: np.ndarray,
    y: np.ndarray,
    record: Sequence[Decision],
) -> Fitted:
    """The pool that predicts, fitted to all rows."""
    z = scale.forward(y)
    evaluator = replace(evaluator, y=sites.target, rows=sites.variance)
    evaluator.tell("fitting the predictive model", structure.score)
    parts = kind.beside(evaluator, structure)
    fit = _pool(evaluator, parts, structure.noise, _on_all_rows(evaluator, structure, sites, X, z, likelihood), X, z)
    return finished(
        predictor_of(fit, len(X)),
        structure,
        X,
        y,
        scale=scale,
        level=len(parts),
        steps=evaluator.steps,
        record=record,
        appraisal=appraise(evaluator, structure, gaussian=False),
        beliefs=evaluator.beliefs,
        likelihood=fit.likelihood,
        sites=fit.sites.target,
    )


def _structure_and_sites(
    evaluator: Evaluator, structure: Structure, sites: Sites, y: np.ndarray, likelihood: Likelihood
) -> tuple[Structure, Sites, Likelihood]:
    """The structure and the sites, fitted to each other alternately."""
    for _ in range(SITE_FITS):
        if structure.model is None:
            break
        model = structure.model
        sites, likelihood = updated_sites(model, sites, likelihood, evaluator.X, y, "exact")
        again = replace(evaluator, y=sites.target, rows=sites.variance)
        structure = again.fit(structure.parts, structure.noise)
    return structure, sites, likelihood


def _on_all_rows(
    evaluator: Evaluator, structure: Structure, sites: Sites, X: np.ndarray, y: np.ndarray, likelihood: Likelihood
) -> tuple[Sites, Likelihood]:
    """The sites of all rows, from those of the rows of the evaluator."""
    if len(evaluator.y) == len(y):
        return sites, likelihood
    if structure.model is None:
        return Sites.first(y, likelihood), likelihood
    posterior = exact_posterior(structure.model, evaluator.X, evaluator.y)
    return Sites.at(y, *marginals(posterior, X), likelihood), likelihood


def _pool(
    evaluator: Evaluator,
    parts: Sequence[Part],
    noise: float,
    start: tuple[Sites, Likelihood],
    X: np.ndarray,
    y: np.ndarray,
) -> SiteFit:
    """The pool that predicts and its sites, fitted to each other alternately."""
    tier = tier_for(len(X))
    current = list(parts)

    def fit(sites: Sites) -> ExactModel:
        nonlocal current
        if tier == "exact":
            covariance = covariance_of(X, timed=evaluator.of_series)
            rows = replace(evaluator, X=X, y=sites.target, covariance=covariance, rows=sites.variance)
            wide = rows.fit(current, noise)
            assert wide.model is not None
            current = list(wide.parts)
            return wide.model
        model = collapsed_fit([*current, LEVEL], noise, X, sites.target, evaluator.tell, 1, sites.variance)
        medians = model.prior.quantile(0.5)
        current = [replace(p, kernel=model.pool[i], weight=float(medians[i])) for i, p in enumerate(current)]
        return model

    return fit_in_turn(fit, *start, X, y, tier)
