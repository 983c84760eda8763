"""Fits of kernels that the user names, under any of the priors on weights: nothing is found, and nothing dropped."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farrier.inference.horseshoe import Horseshoe
from farrier.inference.lbfgs import TOLERANCE
from farrier.inference.linalg import one_thread
from farrier.inference.weight_priors import NoPrior, Softmax, SpikeAndSlab, starting_weight
from farrier.kernels.algebra import Kernel, product_of
from farrier.kernels.registry import Constant, Step, StepUntil
from farrier.model.finishing import Predictor, finished
from farrier.model.fitted import Fitted
from farrier.model.long_rows import window_rows
from farrier.model.target_scale import TargetScale, named
from farrier.model.tiers import POSTERIORS, Tell, bound_of, climbed, tier_for
from farrier.search.scoring import START_NOISE
from farrier.search.structure import LEVEL, Part, horseshoe_model

PRIORS: dict[str, type[Horseshoe | NoPrior | Softmax | SpikeAndSlab]] = {
    "horseshoe": Horseshoe,
    "none": NoPrior,
    "softmax": Softmax,
    "spike-and-slab": SpikeAndSlab,
}
"""The priors on the weights, by name."""


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
) -> Fitted:
    """Fit weights and hyperparameters of given kernels; nothing is dropped, and at most a level is added (`levelled`).

    The fit ends when five steps together gain less than `tolerance` nats, which is at most the tolerance of the tier
    here: a tolerance per row would end fits of many rows far below their maximum.
    `factors` are the noise variances of the rows over the common one. `tell` is called with the current phase and
    bound.
    """
    scale = TargetScale.of(named("identity" if transform == "auto" else transform), y)
    z, tier = scale.forward(y), tier_for(len(X), tier, series=X.shape[1] == 1)
    parts, level = levelled(parts_of(kernels))
    seen = window_rows(X[:, 0]) if tier == "linear" else np.arange(len(X))
    model = replace(horseshoe_model(parts, START_NOISE, X.shape[1]), factors=factors)
    if prior != "horseshoe":
        model = replace(model, prior=PRIORS[prior].initial(len(parts)))
    # given kernels are compared with those of others: the bound is then within 0.004 nats of its maximum
    least = TOLERANCE if tier == "linear" else 0.05 * TOLERANCE
    structure, steps = climbed(
        tier,
        model,
        parts,
        X[seen],
        z[seen],
        iterations=iterations,
        tolerance=least if tolerance is None else min(tolerance, least),
        tell=lambda terms: tell("fitting", terms.total),
    )
    assert structure.model is not None
    model, found = structure.model, tuple(part.kernel for part in structure.parts)
    with one_thread(small=tier != "collapsed"):
        posterior = POSTERIORS[tier](model, X, z)
        predictor = Predictor(model, posterior, found, tier, bound_of(tier, model, X, z))
    chosen = replace(structure, parts=structure.parts[:level])
    return finished(predictor, chosen, X, y, scale=scale, level=level, steps=steps)


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
