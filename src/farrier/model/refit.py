"""Refits: the same structure for other rows, without a new search.

Weights and hyperparameters are fitted again from their current values, for both models of a fit: the survivors, which
explain, and the pool, which predicts. The scale of inputs and target stays that of the first fit, so parameters keep
their units. For a likelihood that is not Gaussian, the sites (inference/gaussian_sites.py) of old and new rows start at
the optimum for the current posterior.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.collapsed import CollapsedPosterior
from farrier.inference.gaussian_sites import Sites
from farrier.inference.likelihoods import Gaussian
from farrier.inference.linalg import one_thread
from farrier.inference.parameter_vector import NOISE_CENTRE, ExactModel
from farrier.inference.weight_priors import WeightPrior
from farrier.kernels.algebra import Kernel
from farrier.model.count_series import refit_count_series
from farrier.model.finishing import Predictor, finished, search_rows
from farrier.model.fitted import Fitted, Member
from farrier.model.many_rows import many_rows_set
from farrier.model.members import Contender, RowNoise, fitted_set
from farrier.model.problem import Problem
from farrier.model.series import ROBUST_ROUNDS, refit_series
from farrier.model.sites import fit_in_turn, marginals
from farrier.model.student_t_noise import alternately, noise_around
from farrier.model.table_fits import fitting_rows
from farrier.model.tiers import EXACT_ROWS, POSTERIORS, Tell, bound_of, climbed, tier_for
from farrier.model.windows import window_rows
from farrier.search.appraisal import appraise, appraise_sites
from farrier.search.scoring import Evaluator
from farrier.search.structure import Part, Structure, horseshoe_model

UNUSED_NOISE = float(np.exp(NOISE_CENTRE))
"""The common noise variance where each row has its own: unused in the fit, so it is set to the mode of its prior."""


def refit(fitted: Fitted, problem: Problem) -> Fitted:
    """The structure of a fitted model, fitted to other rows on its scale; the kind of noise stays.

    Raises ValueError for the stochastic tier, which cannot be refitted, and for y outside the scale of the first fit.
    """
    X, y, tell, transform = problem.X, problem.y, problem.tell, fitted.scale.transform
    if fitted.tier == "stochastic":
        raise ValueError("a model of method='stochastic' cannot be refitted: fit all rows again.")
    if float(y.min()) <= transform.lowest:
        raise ValueError(
            f"y: {y.min():g} is not possible on the {transform.name} scale of the fitted model: fit all rows again."
        )
    tell("refitting the structure", np.nan)
    if fitted.counts and fitted.beliefs.of_time:
        return refit_count_series(fitted, problem)
    if fitted.projects:
        return refit_series(fitted, replace(problem, timed=fitted.beliefs.of_time, engine=fitted.tier))
    one = _refit if isinstance(fitted.likelihood, Gaussian) else _refit_sites
    with one_thread(small=fitted.tier == "linear" or len(X) <= EXACT_ROWS):
        return (one if fitted.noises is None else _refit_set)(fitted, X, y, tell)


def _refit_set(fitted: Fitted, X: np.ndarray, y: np.ndarray, tell: Tell) -> Fitted:
    """For the members of a table with exact inference: each is fitted again, and stacked."""
    if isinstance(fitted.posterior, CollapsedPosterior):
        return _refit_many_rows(fitted, X, y, tell)
    start = None if isinstance(fitted.likelihood, Gaussian) else noise_around(fitted, X, fitted.scale.forward(y))
    possible = [one for one in fitted.members if float(y.min()) > one.scale.transform.lowest]
    contenders = [_refit_member(one, fitted, X, y, tell, start) for one in possible]
    first = contenders[0]
    return fitted_set(
        contenders,
        X,
        y,
        appraisal=appraise(first.evaluator, first.structure),
        record=fitted.record,
        steps=fitted.steps,
    )


def _refit_many_rows(fitted: Fitted, X: np.ndarray, y: np.ndarray, tell: Tell) -> Fitted:
    """For a large table (many_rows.py): structure and pools are fitted again to a part of the rows, then to all."""
    some = fitting_rows(X)
    X_some, y_some = X[some], y[some]
    covariance, noise = covariance_of(X_some), float(fitted.noises[0]) if fitted.noises is not None else UNUSED_NOISE
    own = Evaluator(X_some, fitted.scale.forward(y_some), covariance, (), tell, beliefs=fitted.beliefs)
    contenders = [Contender("the structure", _refitted_survivors(fitted, own, noise), own, fitted.scale, y_some)]
    for one in fitted.others:
        if float(y.min()) > one.scale.transform.lowest:
            contenders.append(replace(_refit_member(one, fitted, X_some, y_some, tell, None), mode_only=True))
    appraisal = appraise(own, contenders[0].structure)
    return many_rows_set(contenders, X, y, tell, appraisal, fitted.record, fitted.steps)


def _refit_member(
    member: Member, fitted: Fitted, X: np.ndarray, y: np.ndarray, tell: Tell, start: RowNoise | None
) -> Contender:
    """One structure, fitted again; `start` is the noise of the rows if it is Student-t."""
    z = member.scale.forward(y)
    covariance = covariance_of(X, timed=fitted.beliefs.clock is not None)
    beliefs = replace(fitted.beliefs, growth=member.growth)

    def fit(noise: RowNoise | None, least: float = -np.inf) -> Contender:
        factors = None if noise is None else noise.factors
        search = Evaluator(X, z, covariance, (), tell, beliefs=beliefs, factors=factors)
        # the last kernel is the level, which every structure has
        each = zip(member.kernels, member.weights[:-1], strict=False)
        parts = [search.part(kernel, float(weight)) for kernel, weight in each]
        structure = search.fit(parts, float(member.noises[0]), least=least)
        return Contender(
            "a structure fitted again", structure, search, member.scale, y, noise, searched=member.searched
        )

    if start is None:
        return fit(None)
    return alternately(fit, start, X, y, np.arange(len(y)), ROBUST_ROUNDS)


def _refit(fitted: Fitted, X: np.ndarray, y: np.ndarray, tell: Tell) -> Fitted:
    """For Gaussian noise."""
    tier = fitted.tier
    timed = fitted.beliefs.clock is not None
    z, rows = fitted.scale.forward(y), search_rows(X, timed=timed)
    noise = fitted.likelihood.predict(np.zeros(1), np.zeros(1))[1][0]
    seen = window_rows(X[:, 0]) if tier == "linear" else np.arange(len(X))
    structure = whole = _refitted_pool(tier, fitted.kernels, fitted.prior, noise, X[seen], z[seen], fitted)
    search = None
    if fitted.appraisal is None and fitted.level is not None:  # given kernels and a level
        structure = replace(whole, parts=whole.parts[: fitted.level])
    elif fitted.alone is not None or fitted.level is not None:
        covariance = covariance_of(X[rows], timed=timed)
        search = Evaluator(X[rows], z[rows], covariance, (), tell, beliefs=fitted.beliefs)
        structure = search.empty()
    if search is not None and fitted.alone is not None:
        structure = _refitted_survivors(fitted, search, whole.noise)
    model = whole.model
    assert model is not None
    kernels = tuple(part.kernel for part in whole.parts)
    return finished(
        Predictor(model, POSTERIORS[tier](model, X, z), kernels, tier, bound_of(tier, model, X, z)),
        structure,
        X,
        y,
        scale=fitted.scale,
        level=fitted.level,
        steps=fitted.steps,
        record=fitted.record,
        appraisal=None if search is None or fitted.appraisal is None else appraise(search, structure),
        beliefs=fitted.beliefs,
    )


def _refit_sites(fitted: Fitted, X: np.ndarray, y: np.ndarray, tell: Tell) -> Fitted:
    """For other likelihoods."""
    tier = tier_for(len(X))
    timed = fitted.beliefs.clock is not None
    z, rows = fitted.scale.forward(y), search_rows(X, timed=timed)
    pool, prior = fitted.kernels, fitted.prior

    def fit(sites: Sites) -> ExactModel:
        nonlocal pool, prior
        whole = _refitted_pool(tier, pool, prior, UNUSED_NOISE, X, sites.target, fitted, sites.variance)
        assert whole.model is not None
        pool, prior = tuple(part.kernel for part in whole.parts), whole.model.prior
        return whole.model

    start = Sites.at(z, *marginals(fitted.posterior, X), fitted.likelihood)
    found = fit_in_turn(fit, start, fitted.likelihood, X, z, tier)
    target, variance = found.sites.target, found.sites.variance
    structure, appraisal = _as_structure(found.model), fitted.appraisal
    if fitted.alone is not None:
        covariance = covariance_of(X[rows], timed=timed)
        search = Evaluator(X[rows], target[rows], covariance, (), tell, rows=variance[rows], beliefs=fitted.beliefs)
        structure = _refitted_survivors(fitted, search, UNUSED_NOISE)
        appraisal = appraise_sites(search, structure)
    return finished(
        Predictor(found.model, found.posterior, pool, tier, found.bound),
        structure,
        X,
        y,
        scale=fitted.scale,
        level=fitted.level,
        steps=fitted.steps,
        record=fitted.record,
        appraisal=appraisal,
        likelihood=found.likelihood,
        sites=target,
        beliefs=fitted.beliefs,
    )


def _refitted_pool(
    tier: str,
    kernels: Sequence[Kernel],
    prior: WeightPrior,
    noise: float,
    X: np.ndarray,
    z: np.ndarray,
    fitted: Fitted,
    rows: np.ndarray | None = None,
) -> Structure:
    """Kernels fitted again, starting from their current values and q(w)."""
    weights = prior.quantile(0.5)
    parts = [Part(kernel, kernel, float(weight)) for kernel, weight in zip(kernels, weights, strict=False)]
    model = replace(horseshoe_model(parts, noise, X.shape[1], rows), prior=prior)
    return climbed(tier, model, parts, X, z)[0]


def _refitted_survivors(fitted: Fitted, search: Evaluator, noise: float) -> Structure:
    """The survivors, fitted again to the rows of a search."""
    own = fitted.explaining
    weights = own.prior.quantile(0.5)
    parts = [search.part(kernel, float(w)) for kernel, w in zip(own.kernels, weights, strict=False)]
    return search.fit(parts, noise)


def _as_structure(model: ExactModel) -> Structure:
    """A structure with all components of a model."""
    medians = model.prior.quantile(0.5)
    parts = [Part(kernel, kernel, float(median)) for kernel, median in zip(model.pool, medians, strict=True)]
    return Structure(tuple(parts), model.noise, 0.0, model)
