"""More rows, the same structure: the weights and numbers that were found are taken up again, nothing is looked for.

Both models of learning.py are fitted again from where they stand: the survivors, which explain, and the whole shrunk
pool, which predicts. The scale of inputs and target stays that of the first fit, so that every number keeps its
meaning. A fit from the start spends most of its time looking for the structure; this spends none.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from farrier.estimators.regressor import Regressor, from_learned
from farrier.evaluation.covariance import covariance_of
from farrier.inference.blas import one_thread
from farrier.inference.exact import ExactObjective
from farrier.inference.hyperparameter_priors import price
from farrier.inference.lbfgs import climb
from farrier.inference.likelihoods import Gaussian
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.weight_priors import WeightPrior
from farrier.kernels.algebra import Kernel
from farrier.model.fitted import Fitted
from farrier.model.learning import Learned, search_rows
from farrier.model.progress import Progress
from farrier.model.tiers import (
    POSTERIORS,
    Tell,
    collapsed_objective,
    exact_posterior,
    weights_of,
)
from farrier.search.appraisal import appraise
from farrier.search.averaging import Average, Member, average
from farrier.search.search import Search
from farrier.search.settings import SearchSettings
from farrier.search.structure import LEVEL, Part, Structure, model_with


def refitted(model: Regressor, X: Any, y: np.ndarray, progress: Callable[[Progress], None] | None = None) -> Regressor:
    """A copy of the model with its structure, fitted to these rows, which hold the old ones and more.

    The stochastic tier has no such start and fits from the beginning.
    """
    found, fitted, begin = copy(model), model._fitted, perf_counter()
    found.progress = progress
    if fitted.tier == "stochastic":
        return found.fit(X, y)
    low, scale = y.min(), fitted.transform
    if low <= scale.lowest:
        raise ValueError(
            f"y: {low:g} has no place on the {scale.name} scale of the structure so far: fit all rows again."
        )
    inputs = model._inputs(X)
    with jax.enable_x64(True):
        again = from_learned(refit(fitted, inputs, y, found._tell()), inputs, y)
        found._finish(again, model._scale, model._columns, inputs, again.scaled(y))
    found.seconds_ = perf_counter() - begin
    return found


def refit(fitted: Fitted, X: np.ndarray, y: np.ndarray, tell: Tell = lambda what, bound: None) -> Learned:
    """The structure of a fitted model, fitted to rows X, y; X is on the scale of the model."""
    tell("fitting the same structure again", np.nan)
    settings = fitted.settings
    z, rows = fitted.scaled(y), search_rows(X, settings.rows)
    seen = rows if fitted.tier == "local" else np.arange(len(X))
    exact = fitted.tier != "collapsed"
    pools = [_climbed(*pool, _noise(fitted), X[seen], z[seen], settings, exact=exact) for pool in _pools(fitted)]
    structure, search = pools[0], None
    if fitted.alone is not None or fitted.level is not None:
        search = Search(X[rows], z[rows], covariance_of(X[rows]), (), tell, settings=settings)
        structure = search.empty()
    if search is not None and fitted.alone is not None:
        kernels = (*fitted.alone.kernels, *([] if fitted.alone.level is None else [LEVEL.kernel]))
        structure = _climbed(kernels, fitted.alone.prior, pools[0].noise, search.X, search.y, settings, exact=True)
        structure = _without_level(structure, len(fitted.alone.kernels), len(search.y))
    whole = _together(pools, settings)
    by_tier = POSTERIORS[fitted.tier] if fitted.tier != "exact" else partial(exact_posterior, weights=whole.weights)
    jacobian = float(fitted.transform.log_slope(y).sum()) - len(y) * float(np.log(fitted.z_scale))
    return Learned(
        transform=fitted.transform,
        z_mean=fitted.z_mean,
        z_scale=fitted.z_scale,
        structure=structure,
        model=whole.model,
        kernels=whole.kernels,
        level=fitted.level,
        posterior=by_tier(whole.model, X, z, settings),
        bound=whole.bound + jacobian,
        tier=fitted.tier,
        steps=fitted.steps,
        appraisal=None if search is None or fitted.appraisal is None else appraise(search, structure),
        record=fitted.record,
        members=whole.members,
        settings=settings,
    )


def _pools(fitted: Fitted) -> list[tuple[Sequence[Kernel], WeightPrior]]:
    """The kernels and q(w) of each pool that predicts."""
    found, first = [], 0
    for prior in [member.prior for member in fitted.members] or [fitted.prior]:
        count = len(np.asarray(prior.quantile(0.5)))
        found.append((fitted.kernels[first : first + count], prior))
        first += count
    return found


def _together(pools: Sequence[Structure], settings: SearchSettings) -> Average:
    """One pool as it is, or several averaged; each of several ends with its level."""
    if len(pools) > 1:
        return average([replace(pool, parts=pool.parts[:-1]) for pool in pools], settings)
    (pool,) = pools
    assert pool.model is not None
    assert pool.terms is not None
    kernels = tuple(part.kernel for part in pool.parts)
    weights = weights_of(pool.model, settings.posterior.draws)
    return Average(pool.model, weights, kernels, pool.terms.total, (Member(pool.model.prior, 1.0),))


def _climbed(
    kernels: Sequence[Kernel],
    prior: WeightPrior,
    noise: float,
    X: np.ndarray,
    z: np.ndarray,
    settings: SearchSettings,
    exact: bool,
) -> Structure:
    """A few steps from kernels with their q(w): the start is close."""
    fits = settings.fits
    weights = np.asarray(prior.quantile(0.5))
    parts = [Part(kernel, kernel, float(weight)) for kernel, weight in zip(kernels, weights, strict=False)]
    model: ExactModel = replace(model_with(parts, noise, X.shape[1]), prior=prior)
    objective: Any = (
        ExactObjective.of(model, X, z, fits.final_draws)
        if exact
        else collapsed_objective(model, X, z, fits.final_draws, settings)
    )
    with one_thread(small=exact):
        numbers, terms = climb(objective, fits.refit_iterations, fits.final_tolerance)
    model = objective.model(numbers)
    weights = np.asarray(model.prior.quantile(0.5))
    found = tuple(Part(model.pool[i], part.centre, float(weights[i])) for i, part in enumerate(parts))
    return Structure(found, float(model.noise), terms[-1].total, model, terms[-1])


def _without_level(structure: Structure, count: int, rows: int) -> Structure:
    """The parts that explain, with the score that a search would give them."""
    parts = structure.parts[:count]
    return replace(structure, parts=parts, score=structure.score - sum(price(part.kernel, rows) for part in parts))


def _noise(fitted: Fitted) -> float:
    assert isinstance(fitted.likelihood, Gaussian)
    return float(np.asarray(fitted.likelihood.variance))
