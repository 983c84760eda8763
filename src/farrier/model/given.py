"""Fits of kernels that the user names, under any of the priors on weights: nothing is found, and nothing dropped."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

import numpy as np

from farrier.inference.gaussian_sites import Sites
from farrier.inference.lbfgs import ITERATIONS, ROUGH_TOLERANCE, TOLERANCE
from farrier.inference.likelihoods import Likelihood
from farrier.inference.linalg import one_thread
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.student_t import StudentT
from farrier.inference.weight_priors import starting_weight
from farrier.kernels.algebra import Kernel, product_of
from farrier.kernels.registry import Constant, Step, StepUntil
from farrier.model.finishing import Predictor, finished
from farrier.model.fitted import Fitted
from farrier.model.problem import Given, Problem
from farrier.model.sites import SITE_FITS, fit_in_turn, predictor_of
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import POSTERIORS, bound_of, climbed, tier_for
from farrier.model.windows import window_rows
from farrier.search.scoring import START_NOISE
from farrier.search.structure import LEVEL, Part, Structure, horseshoe_model

PRIORS = ("horseshoe", "none", "softmax", "spike-and-slab")
"""The priors on the weights, by name."""


def fit_given(problem: Problem, given: Given, likelihood: Likelihood | None = None) -> Fitted:
    """Fit weights and hyperparameters of given kernels; nothing is dropped, and at most a level is added (`levelled`).

    The noise is Gaussian, or that of another likelihood by Gaussian sites.
    """
    parts, level = levelled(parts_of(given.kernels))
    if likelihood is not None:
        return _by_sites(problem, parts, level, likelihood)
    X, scale = problem.X, problem.one_scale
    z, tier = scale.forward(problem.y), tier_for(len(X), problem.engine, series=X.shape[1] == 1)
    seen = window_rows(X[:, 0]) if tier == "linear" else np.arange(len(X))
    model = replace(horseshoe_model(parts, START_NOISE, X.shape[1]), factors=problem.factors)
    if given.prior != "horseshoe":
        compared = import_module("farrier.baselines.weight_priors")
        model = replace(model, prior=compared.PRIORS[given.prior].initial(len(parts)))
    # given kernels are compared with those of others: the bound is then within 0.004 nats of its maximum
    least = ROUGH_TOLERANCE if tier == "linear" else 0.5 * TOLERANCE
    structure, steps = climbed(
        tier,
        model,
        parts,
        X[seen],
        z[seen],
        iterations=given.iterations,
        tolerance=min(given.tolerance, least),
        tell=lambda terms: problem.tell("fitting", terms.total),
    )
    assert structure.model is not None
    model, found = structure.model, tuple(part.kernel for part in structure.parts)
    with one_thread(small=tier != "collapsed"):
        posterior = POSTERIORS[tier](model, X, z)
        predictor = Predictor(model, posterior, found, tier, bound_of(tier, model, X, z))
    chosen = replace(structure, parts=structure.parts[:level])
    return finished(predictor, chosen, X, problem.y, scale=scale, level=level, steps=steps)


def _by_sites(problem: Problem, parts: Sequence[Part], level: int | None, likelihood: Likelihood) -> Fitted:
    """The fit with a likelihood that is not Gaussian; only a Student-t is for y on a scale."""
    scale = problem.one_scale if isinstance(likelihood, StudentT) else TargetScale()
    X, z, tier = problem.X, scale.forward(problem.y), tier_for(len(problem.X))

    def fit(sites: Sites) -> ExactModel:
        model = horseshoe_model(parts, 1.0, X.shape[1], sites.variance)
        structure, _ = climbed(tier, model, parts, X, sites.target)
        problem.tell("fitting", structure.score)
        assert structure.model is not None
        return structure.model

    with one_thread(small=tier != "collapsed"):
        found = fit_in_turn(fit, Sites.first(z, likelihood), likelihood, X, z, tier)
    medians = found.model.prior.quantile(0.5)
    chosen = tuple(
        Part(found.model.pool[i], part.centre, float(median))
        for i, (part, median) in enumerate(zip(parts, medians, strict=True))
    )
    return finished(
        predictor_of(found, len(X)),
        Structure(chosen[:level], found.model.noise, found.bound, found.model),
        X,
        problem.y,
        scale=scale,
        level=level,
        steps=SITE_FITS * ITERATIONS,
        likelihood=found.likelihood,
        sites=found.sites.target,
    )


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
