"""From rows to a fitted model, for Gaussian noise.

A table has its own way (table_fits.py). For a series:

1. The scale of the target is chosen by evidence (scales.py).
2. The structure is found on that scale (search/search.py), for many rows on a part of them.
3. For few rows a small set of structures predicts, by exact inference (members.py). A long series is fitted and
   predicted in time linear in its rows (long_series.py). Where the user asks for collapsed inference, the structure and
   the ordinary candidates are fitted together.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farrier.data.copies import counted
from farrier.inference.blas import one_thread
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.weight_priors import NoPrior, Softmax, SpikeAndSlab, starting_weight
from farrier.kernels.algebra import Kernel, product_of
from farrier.kernels.registry import Constant, Step, StepUntil
from farrier.model.finishing import Predictor, finished, prediction_pool, search_rows
from farrier.model.fitted import Fitted
from farrier.model.long_rows import window_rows
from farrier.model.long_series import finish_long_series
from farrier.model.many_rows import fit_many_rows
from farrier.model.members import Contender, fitted_set, predicting
from farrier.model.scales import Scaled, searched_scales
from farrier.model.table_fits import fit_few_rows, search_table
from farrier.model.target_scale import TargetScale, named
from farrier.model.tiers import (
    POSTERIORS,
    Tell,
    bound_of,
    climbed,
    collapsed_fit,
    tier_for,
)
from farrier.search.appraisal import appraise
from farrier.search.settings import SearchSettings
from farrier.search.structure import LEVEL, Part, horseshoe_model

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
    known: Sequence[float] | None = None,
    transform: str = "auto",
    tier: str = "auto",
    timed: bool = False,
    calendar: tuple[Kernel, ...] = (),
    coded: tuple[int, ...] = (),
    factors: np.ndarray | None = None,
    tell: Tell = lambda what, bound: None,
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """Find the structure of y given standardised inputs, and fit it.

    `known` are the seasons of the rows (None: not known), and `calendar` patterns over the first input, in units of the
    standardised inputs. `timed` says that the first input is time, `coded` which inputs are codes of categories.
    `factors` are the noise variances of the rows over the common one. `tell` is called with the current phase and
    bound.
    """
    if (X.shape[1] > 1 or coded) and not timed and tier in ("auto", "exact"):
        if factors is None:
            X, y = counted(X, y)
        with one_thread():
            tables = search_table(X, y, transform, tell, settings, coded, factors)
        if tier == "exact" or len(X) <= settings.rows.exact_table:
            return fit_few_rows(tables, X, y)
        return fit_many_rows(tables, X, y)
    with one_thread():
        found = searched_scales(X, y, known, transform, timed, tell, settings, calendar, coded, factors)
    # a category is no series
    tier = tier_for(len(X), settings, tier, series=timed or (X.shape[1] == 1 and not coded))
    with one_thread(small=tier == "linear" or len(X) <= settings.rows.exact):
        if tier == "exact":
            return _few_rows(found, X, y)
        if tier == "linear":
            return finish_long_series(found[0], X, y)
        return _finish_many_rows(found[0], X, y)


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
    factors: np.ndarray | None = None,
    tell: Tell = lambda what, bound: None,
    settings: SearchSettings = SearchSettings(),
) -> Fitted:
    """Fit weights and hyperparameters of given kernels; nothing is dropped, and at most a level is added (`levelled`).

    The fit ends when five steps together gain less than `tolerance` nats, which is at most the tolerance of the tier
    in the settings: a tolerance per row would end fits of many rows far below their maximum.
    `factors` as in `learn`.
    """
    scale = TargetScale.of(named("identity" if transform == "auto" else transform), y)
    z, tier = scale.forward(y), tier_for(len(X), settings, tier, series=X.shape[1] == 1)
    parts, level = levelled(parts_of(kernels))
    seen = window_rows(X[:, 0], settings.long) if tier == "linear" else np.arange(len(X))
    model = replace(horseshoe_model(parts, settings.fits.start_noise, X.shape[1]), factors=factors)
    if prior != "horseshoe":
        model = replace(model, prior=PRIORS[prior].initial(len(parts)))
    least = settings.long.tolerance if tier == "linear" else settings.fits.given_tolerance
    structure, steps = climbed(
        tier,
        model,
        parts,
        X[seen],
        z[seen],
        settings,
        iterations=iterations,
        tolerance=least if tolerance is None else min(tolerance, least),
        tell=lambda terms: tell("fitting", terms.total),
    )
    assert structure.model is not None
    model, found = structure.model, tuple(part.kernel for part in structure.parts)
    with one_thread(small=tier != "collapsed"):
        posterior = POSTERIORS[tier](model, X, z, settings)
        predictor = Predictor(model, posterior, found, tier, bound_of(tier, model, X, z, settings))
    chosen = replace(structure, parts=structure.parts[:level])
    return finished(predictor, chosen, X, y, scale=scale, level=level, steps=steps, settings=settings)


def levelled(parts: Sequence[Part]) -> tuple[list[Part], int | None]:
    """The components with a level, and its index, if a step is among them and no constant; else as they are, and None.

    A step is zero on one side, where y would otherwise have to be at its mean.
    """
    each = [part.kernel.products()[0] for part in parts]
    steps = any(isinstance(factor, Step | StepUntil) for factors in each for factor in factors)
    if not steps or any(len(factors) == 1 and isinstance(factors[0], Constant) for factors in each):
        return list(parts), None
    return [*parts, LEVEL], len(parts)


def parts_of(kernels: Sequence[Kernel]) -> list[Part]:
    """The products of given kernels, with their starting weights."""
    products = [product_of(factors) for kernel in kernels for factors in kernel.products()]
    return [Part(product, product, starting_weight(len(products))) for product in products]


def _few_rows(found: Sequence[Scaled], X: np.ndarray, y: np.ndarray) -> Fitted:
    """One structure explains; with the ordinary candidates beside it, on all scales that were searched, it predicts.

    What predicts is fitted to all rows; the parameters of the structure that explains a series are those of the rows of
    the search.
    """
    best = found[0]
    best.search.tell("fitting the predictive model", best.structure.score)
    series = best.search.of_series
    scales, seen = found, y[search_rows(X, best.search.settings, timed=series)]
    if not series and len(seen) < len(y):
        scales, seen = [best.on_all_rows(X, y)], y
    contenders = [one for scaled in scales for one in contenders_on(scaled, seen)]
    if len(seen) < len(y):
        contenders = predicting(contenders, X, y, best.search.settings)
    return fitted_set(
        contenders,
        Contender("the best structure", scales[0].structure, scales[0].search, best.scale, seen, factors=best.factors),
        X,
        y,
        appraisal=appraise(best.search, best.structure),
        record=best.search.record,
        settings=best.search.settings,
        steps=sum(one.search.steps for one in scales),
    )


def contenders_on(scaled: Scaled, y: np.ndarray) -> list[Contender]:
    """What may predict on one scale: the structure with the ordinary candidates beside it, and these alone.

    For a series in time there are two kinds of ordinary candidates, with growth that fades to a line and to nothing.

    They are fitted to the rows of the search, where the target is y.
    In time few things stay exactly as they were, so that a structure predicts a series by itself only if it is empty.
    """
    search, fits = scaled.search, scaled.search.settings.fits
    where = f" on the {scaled.scale.transform.name} scale"
    parts = prediction_pool(search, scaled.structure)
    wide = search.fit(parts, scaled.structure.noise, fits.final_iterations, fits.final_tolerance)
    found = [Contender("the structure with the ordinary candidates" + where, wide, search, scaled.scale, y)]
    if not scaled.structure.parts or not search.beliefs.of_time:
        found.append(Contender("the structure alone" + where, scaled.structure, search, scaled.scale, y))
    whole = scaled.whole
    if whole is None and search.beliefs.of_time:
        whole = search.whole(search.seasons())
    if whole is not None and scaled.structure.parts:
        name = "the ordinary candidates alone" + where
        found.append(Contender(name, whole, search, scaled.scale, y, searched=False))
    if search.beliefs.of_time:
        fading = replace(search, beliefs=replace(search.beliefs, growth="nothing"))
        name = "the ordinary candidates alone, with growth that fades to nothing," + where
        whole = fading.whole(search.seasons(), whole)
        found.append(Contender(name, whole, fading, scaled.scale, y, searched=False))
    return [replace(one, factors=scaled.factors) for one in found]


def _finish_many_rows(scaled: Scaled, X: np.ndarray, y: np.ndarray) -> Fitted:
    """The pool that predicts, fitted to all rows by collapsed inference."""
    search, structure, settings = scaled.search, scaled.structure, scaled.search.settings
    search.tell("fitting the predictive model", structure.score)
    parts, z = prediction_pool(search, structure), scaled.scale.forward(y)
    start, factors = structure.noise, scaled.factors
    model = collapsed_fit([*parts, LEVEL], start, X, z, search.tell, settings, factors=factors)
    posterior, bound = POSTERIORS["collapsed"](model, X, z, settings), bound_of("collapsed", model, X, z, settings)
    return finished(
        Predictor(model, posterior, tuple(model.pool), "collapsed", bound),
        structure,
        X,
        y,
        scale=scaled.scale,
        level=len(parts),
        steps=search.steps,
        settings=settings,
        record=search.record,
        appraisal=appraise(search, structure),
        beliefs=search.beliefs,
    )
