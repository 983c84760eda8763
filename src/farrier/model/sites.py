"""From rows to a fitted model for classes and counts.

Each row is represented by a Gaussian site (inference/gaussian_sites.py). With fixed sites, a model is fitted as for
Gaussian noise; with a fixed model, the sites take steps along the natural gradient. The pool is fitted to the first
sites and projected; then sites and structure are fitted to each other, and the projection is made again with the new
sites. A refit starts from the values of a fitted model, and from the optimal sites for its posterior.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.counts import NegativeBinomial
from farrier.inference.gaussian_sites import Sites
from farrier.inference.likelihoods import Likelihood
from farrier.inference.linalg import one_thread
from farrier.inference.mixtures import moments
from farrier.inference.parameter_vector import ExactModel
from farrier.model.finishing import finished
from farrier.model.fitted import Fitted
from farrier.model.problem import Problem
from farrier.model.rows import search_rows
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import EXACT_ROWS, POSTERIORS, climbed, exact_posterior, tier_for
from farrier.search.appraisal import appraise
from farrier.search.projection import Projection, explaining
from farrier.search.rows import REST_WEIGHT, Rows
from farrier.search.scoring import START_NOISE, Evaluator
from farrier.search.structure import LEVEL, Decision, Part, Structure, horseshoe_model
from farrier.search.table_candidates import Warps
from farrier.search.table_moves import Columns

SITE_FITS = 2
"""Times that parameters and sites are fitted alternately. [fits; by judgement]"""
SITE_STEPS, SITE_STEP = 8, 0.7
"""Natural-gradient steps of the sites for a fixed model, and their length: a step of one would set them to their
optimum for the current posterior. [steps, part; by judgement]"""


def updated_sites(
    model: ExactModel, sites: Sites, likelihood: Likelihood, X: np.ndarray, y: np.ndarray, tier: str
) -> tuple[Sites, Likelihood]:
    """The sites after some steps for a fixed model, and the likelihood: a negative binomial with its best size."""
    for _ in range(SITE_STEPS):
        posterior = POSTERIORS[tier](replace(model, row_noise=sites.noise), X, sites.target)
        mean, variance = moments(*posterior.draws(X))
        sites = sites.natural_gradient_step(y, mean, variance, likelihood, SITE_STEP)
        if isinstance(likelihood, NegativeBinomial):
            likelihood = likelihood.with_best_size(y, mean, variance)
    return sites, likelihood


def fit_in_turn(
    fit: Callable[[Sites], ExactModel],
    start: tuple[Sites, Likelihood],
    X: np.ndarray,
    y: np.ndarray,
    tier: str,
) -> tuple[ExactModel, Sites, Likelihood]:
    """Alternate between `fit`, which fits a model to sites, and updates of the sites."""
    model, (sites, likelihood) = None, start
    for _ in range(SITE_FITS):
        model = fit(sites)
        sites, likelihood = updated_sites(model, sites, likelihood, X, y, tier)
    assert model is not None
    return replace(model, row_noise=sites.noise), sites, likelihood


def fit_sites(problem: Problem, likelihood: Likelihood) -> Fitted:
    """The model of a target with another likelihood, in its own units."""
    X, z = problem.X, problem.y
    rows = search_rows(X, timed=problem.timed)
    sites, structure, record = Sites.first(z[rows], likelihood), Structure((), 1.0, 0.0), list[Decision]()
    evaluator = _evaluator(problem, rows, sites.target)
    kind = Rows(Columns(Warps.of(X, problem.coded)), problem.calendar)
    for _ in range(SITE_FITS):
        evaluator, record = replace(evaluator, y=sites.target, noise=sites.noise, steps=0), []
        with one_thread():
            whole = kind.pool(evaluator)
            structure = explaining(evaluator, Projection.of(evaluator, whole), whole, kind, record)
            structure, sites, likelihood = _structure_and_sites(evaluator, structure, sites, z[rows], likelihood)
    evaluator = replace(evaluator, y=sites.target, noise=sites.noise)
    evaluator.tell("fitting the predictive model", structure.score)
    with one_thread(small=len(X) <= EXACT_ROWS):
        start = _on_all_rows(evaluator, structure, sites, X, z, likelihood)
        found = _pool(evaluator, kind.beside(evaluator, structure), structure.noise, start, X, z)
        return _finished(evaluator, structure, *found, problem, record)


def refit_sites(fitted: Fitted, problem: Problem) -> Fitted:
    """The pool and the structure of a fitted model, fitted to other rows from their present values."""
    X, y, own = problem.X, problem.y, fitted.explaining
    problem = replace(problem, timed=fitted.beliefs.clock is not None)
    start = Sites.at(y, *moments(*fitted.posterior.draws(X)), fitted.likelihood)
    rows = search_rows(X, timed=problem.timed)
    evaluator = replace(_evaluator(problem, rows, start.target[rows]), beliefs=fitted.beliefs)
    weight = None if evaluator.of_series else REST_WEIGHT
    scales = [None] * fitted.survivors + [weight] * (len(fitted.kernels) - 1 - fitted.survivors)
    each = zip(fitted.kernels, np.asarray(fitted.prior.quantile(0.5)), scales, strict=False)
    with one_thread(small=len(X) <= EXACT_ROWS):
        parts = [evaluator.part(kernel, float(w), scale) for kernel, w, scale in each]
        model, sites, likelihood = _pool(evaluator, parts, START_NOISE, (start, fitted.likelihood), X, y)
        evaluator = replace(evaluator, y=sites.target[rows], noise=sites.noise.at(rows))
        survivors = zip(own.kernels, np.asarray(own.prior.quantile(0.5)), strict=False)
        structure = evaluator.fit([evaluator.part(kernel, float(w)) for kernel, w in survivors], START_NOISE)
        return _finished(evaluator, structure, model, sites, likelihood, problem, fitted.record)


def _evaluator(problem: Problem, rows: np.ndarray, target: np.ndarray) -> Evaluator:
    """What fits structures to some of the rows, whose sites have a target."""
    X, known = problem.X[rows], problem.seasons or ()
    covariance = covariance_of(X, timed=problem.timed)
    return Evaluator(X, target, covariance, known, problem.tell, beliefs=problem.beliefs)


def _finished(
    evaluator: Evaluator,
    structure: Structure,
    model: ExactModel,
    sites: Sites,
    likelihood: Likelihood,
    problem: Problem,
    record: Sequence[Decision],
) -> Fitted:
    """The fitted model of a structure, and of a pool with the sites of all rows."""
    return finished(
        model,
        tier_for(len(problem.X)),
        structure,
        problem.X,
        problem.y,
        scale=TargetScale(),
        level=len(model.pool) - 1,
        steps=evaluator.steps,
        record=record,
        appraisal=appraise(evaluator, structure, gaussian=False),
        beliefs=evaluator.beliefs,
        likelihood=likelihood,
        sites=sites,
    )


def _structure_and_sites(
    evaluator: Evaluator, structure: Structure, sites: Sites, y: np.ndarray, likelihood: Likelihood
) -> tuple[Structure, Sites, Likelihood]:
    """The structure and the sites, fitted to each other alternately."""
    for _ in range(SITE_FITS):
        if structure.model is None:
            break
        sites, likelihood = updated_sites(structure.model, sites, likelihood, evaluator.X, y, "exact")
        again = replace(evaluator, y=sites.target, noise=sites.noise)
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
    return Sites.at(y, *moments(*posterior.draws(X)), likelihood), likelihood


def _pool(
    evaluator: Evaluator,
    parts: Sequence[Part],
    noise: float,
    start: tuple[Sites, Likelihood],
    X: np.ndarray,
    y: np.ndarray,
) -> tuple[ExactModel, Sites, Likelihood]:
    """The pool that predicts and its sites, fitted to each other alternately."""
    tier, current = tier_for(len(X)), parts

    def fit(sites: Sites) -> ExactModel:
        nonlocal current
        if tier == "exact":
            covariance = covariance_of(X, timed=evaluator.of_series)
            rows = replace(evaluator, X=X, y=sites.target, covariance=covariance, noise=sites.noise)
            found = rows.fit(current, noise)
        else:
            model = horseshoe_model([*current, LEVEL], noise, X.shape[1], sites.noise)
            tell = partial(evaluator.tell, "fitting all rows")
            found, _ = climbed(tier, model, current, X, sites.target, tell=tell)
        assert found.model is not None
        current = found.parts
        return found.model

    return fit_in_turn(fit, start, X, y, tier)
