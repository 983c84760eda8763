"""From rows to a fitted model, for Gaussian noise.

1. The scale of the target is chosen by evidence (scales.py).
2. The structure is found on that scale (search/search.py), for many rows on a part of them.
3. The pool that predicts is fitted to all rows: by exact inference for few rows, by collapsed inference for many. A
   long series whose lengthscales are too short for inducing points keeps the hyperparameters of step 2, and is
   predicted block by block (inference/blockwise.py).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.blas import one_thread
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.weight_priors import NoPrior, Softmax, SpikeAndSlab, starting_weight
from farrier.kernels.algebra import Kernel, product_of
from farrier.model.finishing import Predictor, finished, prediction_pool
from farrier.model.fitted import Fitted
from farrier.model.scales import Scaled, best_scale
from farrier.model.target_scale import TargetScale, named
from farrier.model.tiers import (
    POSTERIORS,
    Tell,
    bound_of,
    climbed,
    collapsed_fit,
    exact_posterior,
    local_posterior,
    tier_for,
    too_short_for_inducing_points,
)
from farrier.search.appraisal import appraise
from farrier.search.averaging import average
from farrier.search.search import Search
from farrier.search.settings import SearchSettings
from farrier.search.structure import LEVEL, Decision, Part, Structure, model_with

PRIORS: dict[str, type[Horseshoe | NoPrior | Softmax | SpikeAndSlab]] = {
    "horseshoe": Horseshoe,
    "none": NoPrior,
    "softmax": Softmax,
    "spike-and-slab": SpikeAndSlab,
}
"""The priors on the weights, by name."""


def learn(
    X: np.ndarray,
    y: np.ndarray,
    *,
    known: Sequence[float] = (),
    transform: str = "auto",
    tier: str = "auto",
    timed: bool = False,
    calendar: tuple[Kernel, ...] = (),
    tell: Tell = lambda what, bound: None,
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """Find the structure of y given standardised inputs, and fit it.

    `known` are periods to try, and `calendar` patterns over the first input, in units of the standardised inputs.
    `timed` says that the first of several inputs is time. `tell` is called with the current phase and bound.
    """
    with one_thread():
        best = best_scale(X, y, known, transform, timed, tell, settings, calendar)
    with one_thread(small=len(X) <= settings.rows.exact):
        return _finish(best, X, y, tier_for(len(X), settings, tier), chosen=tier != "auto")


def fit_given(
    kernels: Sequence[Kernel],
    X: np.ndarray,
    y: np.ndarray,
    *,
    prior: str = "horseshoe",
    transform: str = "auto",
    tier: str = "auto",
    iterations: int = 300,
    tolerance: float | None = None,
    tell: Tell = lambda what, bound: None,
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """Fit weights and hyperparameters of given kernels; nothing is added or dropped."""
    scale = TargetScale.of(named("identity" if transform == "auto" else transform), y)
    z, tier = scale.forward(y), tier_for(len(X), settings, tier)
    parts = parts_of(kernels)
    model = model_with(parts, settings.fits.start_noise, X.shape[1])
    if prior != "horseshoe":
        model = replace(model, prior=PRIORS[prior].initial(len(parts)))
    structure, steps = climbed(
        tier,
        model,
        parts,
        X,
        z,
        settings,
        iterations=iterations,
        tolerance=tolerance,
        tell=lambda terms: tell("fitting", terms.total),
    )
    assert structure.model is not None
    model, found = structure.model, tuple(part.kernel for part in structure.parts)
    with one_thread(small=tier == "exact"):
        posterior = POSTERIORS[tier](model, X, z, settings)
        predictor = Predictor(model, posterior, found, tier, bound_of(tier, model, X, z, settings))
    return finished(predictor, structure, X, y, scale=scale, level=None, steps=steps, settings=settings)


def parts_of(kernels: Sequence[Kernel]) -> list[Part]:
    """The products of given kernels, with their starting weights."""
    products = [product_of(factors) for kernel in kernels for factors in kernel.products()]
    return [Part(product, product, starting_weight(len(products))) for product in products]


def _finish(scaled: Scaled, X: np.ndarray, y: np.ndarray, tier: str, *, chosen: bool) -> Fitted:
    """The pool that predicts, fitted to all rows; `chosen` says that the user asked for this tier."""
    search, structure, settings = scaled.search, scaled.structure, scaled.search.settings
    z = scaled.scale.forward(y)
    search.tell("fitting the predictive model", structure.score)
    parts = prediction_pool(search, structure)
    predictor = _few_rows(scaled, parts, X, z) if tier == "exact" else _many_rows(scaled, parts, X, z, chosen=chosen)
    return finished(
        predictor,
        structure,
        X,
        y,
        scale=scaled.scale,
        level=len(parts),
        steps=search.steps,
        settings=settings,
        record=search.record,
        appraisal=appraise(search, structure),
    )


def _few_rows(scaled: Scaled, parts: Sequence[Part], X: np.ndarray, z: np.ndarray) -> Predictor:
    """The average of the pool and of others that explain the rows about as well, by exact inference."""
    search, settings = scaled.search, scaled.search.settings
    rows = search if len(search.y) == len(z) else replace(search, X=X, y=z, covariance=covariance_of(X))
    many = len(z) > settings.rows.search
    draws = settings.fits.final_draws_many_rows if many else None
    wide = _fitted_pool(rows, parts, scaled.structure.noise, draws)
    members = [(wide, rows.bound(wide))]
    members += _other_pools(scaled, members[0][1]) if rows is search else []
    found = average([pool for pool, _ in members], [bound for _, bound in members], settings)
    posterior = exact_posterior(found.model, X, z, settings, found.weights)
    return Predictor(found.model, posterior, found.kernels, "exact", found.bound, found.members)


def _other_pools(scaled: Scaled, best: float) -> list[tuple[Structure, float]]:
    """Other pools that explain the rows about as well, fitted in the same way, with their bounds.

    They are the runners-up of the search together with the ordinary candidates, and these candidates alone.
    """
    search, settings = scaled.search, scaled.search.settings
    tried: list[tuple[str, Sequence[Part], float]] = [
        ("another structure", prediction_pool(search, runner), runner.noise) for runner in search.runners_up
    ]
    whole = scaled.whole
    if whole is not None and whole.terms and whole.terms.total > best - settings.scales.pool_margin:
        tried.append(("the ordinary candidates alone", list(whole.parts), whole.noise))
    # if no component was found, only a pool that is better than noise alone is averaged
    margin = settings.averaging.margin
    behind = margin if scaled.structure.parts else 0.0
    close = []
    for name, parts, noise in tried:
        search.tell("fitting alternative models", best)
        found = _fitted_pool(search, parts, noise)
        bound = search.bound(found)
        gain = bound - best
        action = "averaged" if -behind < gain < margin else "kept" if gain > 0 else "dropped"
        search.record.append(Decision(0, action, name, gain, "evidence of the pool"))
        close += [(found, bound)] if gain > -behind else []
    return close


def _many_rows(scaled: Scaled, parts: Sequence[Part], X: np.ndarray, z: np.ndarray, *, chosen: bool) -> Predictor:
    """The pool that predicts by collapsed inference, or block by block if lengthscales are too short for that."""
    search, noise, settings = scaled.search, scaled.structure.noise, scaled.search.settings
    posterior: Any
    if X.shape[1] == 1 and not chosen:
        wide = _fitted_pool(search, parts, noise)
        assert wide.model is not None
        if too_short_for_inducing_points(wide.model, X, settings):
            search.tell("computing the posterior block by block", wide.score)
            posterior = local_posterior(wide.model, X, z, settings)
            return Predictor(wide.model, posterior, tuple(wide.model.pool), "local", posterior.evidence)
    model = collapsed_fit([*parts, LEVEL], noise, X, z, search.tell, settings)
    posterior, bound = POSTERIORS["collapsed"](model, X, z, settings), bound_of("collapsed", model, X, z, settings)
    return Predictor(model, posterior, tuple(model.pool), "collapsed", bound)


def _fitted_pool(search: Search, parts: Sequence[Part], noise: float, draws: int | None = None) -> Structure:
    """A pool that predicts, fitted to the rows of a search."""
    fits = search.settings.fits
    return search.fit(parts, noise, fits.final_iterations, fits.final_tolerance, draws or fits.final_draws)
