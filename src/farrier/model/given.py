"""Fits of kernels that the user names, under any of the priors on weights: nothing is found, and nothing dropped."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

import numpy as np

from farrier.inference.gaussian_sites import Sites
from farrier.inference.lbfgs import ITERATIONS, ROUGH_TOLERANCE, TOLERANCE
from farrier.inference.likelihoods import Gaussian, Likelihood
from farrier.inference.linalg import one_thread
from farrier.inference.mixtures import moments
from farrier.inference.noise import ALIKE, Noise, alternately
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.student_t import StudentT
from farrier.inference.weight_priors import starting_weight
from farrier.kernels.algebra import Kernel, product_of
from farrier.kernels.registry import Constant, Step, StepUntil
from farrier.model.finishing import finished
from farrier.model.fitted import Fitted
from farrier.model.outliers import Doubt
from farrier.model.problem import Given, Problem
from farrier.model.rows import window_rows
from farrier.model.sites import fit_in_turn
from farrier.model.student_t_noise import noise_after, noise_around, squares_at_rows
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import POSTERIORS, climbed, tier_for
from farrier.search.scoring import START_NOISE
from farrier.search.structure import LEVEL, Part, Structure, horseshoe_model, parts_in

PRIORS = ("horseshoe", "none", "softmax", "spike-and-slab")
"""The priors on the weights, by name."""
GIVEN_ROUNDS = 8
"""Times that given kernels and the precisions of their rows are fitted alternately: the fit with Gaussian noise, where
they start, may be far off. [rounds; measured on 8 tables of 60 rows with gross outliers: the bound is 0.05 nats below
that of 20 rounds, with 3 rounds 12]"""


def fit_given(problem: Problem, given: Given, likelihood: Likelihood | None = None) -> Fitted:
    """Fit weights and hyperparameters of given kernels; nothing is dropped, and at most a level is added (`levelled`).

    The noise is Gaussian or Student-t, or that of another likelihood by Gaussian sites.
    """
    parts, level = levelled(parts_of(given.kernels))
    model = horseshoe_model(parts, START_NOISE, problem.X.shape[1])
    if given.prior != "horseshoe":
        compared = import_module("farrier.baselines.weight_priors")
        model = replace(model, prior=compared.PRIORS[given.prior].initial(len(parts)))
    if likelihood is None or isinstance(likelihood, StudentT):
        # given kernels are compared with those of others: the bound is then within 0.004 nats of its maximum
        tier = tier_for(len(problem.X), problem.engine, series=problem.X.shape[1] == 1)
        tolerance = min(given.tolerance, ROUGH_TOLERANCE if tier == "linear" else 0.5 * TOLERANCE)
        ends = given.iterations, tolerance
        fitted = _fitted(problem, problem.one_scale, tier, model, parts, level, problem.noise, ends=ends)
        if likelihood is None:
            return fitted
        noise = noise_after(Doubt.of(fitted, problem.X, problem.y), float(likelihood.degrees))
        return _fitted(problem, problem.one_scale, tier, model, parts, level, noise, ends=ends)
    start = Sites.first(problem.y, likelihood), likelihood
    return _fitted(problem, TargetScale(), tier_for(len(problem.X)), model, parts, level, start=start)


def refit_given(fitted: Fitted, problem: Problem) -> Fitted:
    """Given kernels, fitted to other rows from their present values."""
    X, likelihood, noise, start = problem.X, fitted.likelihood, ALIKE, None
    each = zip(fitted.kernels, np.asarray(fitted.prior.quantile(0.5)), strict=False)
    parts = [Part(kernel, kernel, float(weight)) for kernel, weight in each]
    tier, common = fitted.tier, fitted.noise_variance
    if isinstance(likelihood, StudentT):
        noise, common = noise_around(fitted, X, problem.y), float(likelihood.scale) ** 2
    elif not isinstance(likelihood, Gaussian):
        start = Sites.at(problem.y, *moments(*fitted.posterior.draws(X)), likelihood), likelihood
        tier, common = tier_for(len(X)), START_NOISE
    model = replace(horseshoe_model(parts, common, X.shape[1]), prior=fitted.prior)
    found = _fitted(problem, fitted.scale, tier, model, parts, fitted.level, noise, start)
    return replace(found, steps=fitted.steps, record=fitted.record, beliefs=fitted.beliefs)


def _fitted(
    problem: Problem,
    scale: TargetScale,
    tier: str,
    model: ExactModel,
    parts: Sequence[Part],
    level: int | None,
    noise: Noise = ALIKE,
    start: tuple[Sites, Likelihood] | None = None,
    *,
    ends: tuple[int, float] = (ITERATIONS, ROUGH_TOLERANCE),
) -> Fitted:
    """The fit of components from the values of a model: with the noise of the rows, or from sites and a likelihood."""
    X, z, steps, sites, likelihood = problem.X, scale.forward(problem.y), 0, None, None
    seen = window_rows(X[:, 0]) if tier == "linear" else np.arange(len(X))

    def fit(target: np.ndarray, noise: Noise) -> ExactModel:
        nonlocal model, steps
        structure, taken = climbed(
            tier,
            replace(model, row_noise=noise.at(seen)),
            parts,
            X[seen],
            target[seen],
            iterations=ends[0],
            tolerance=ends[1],
            tell=lambda bound: problem.tell("fitting", bound),
        )
        assert structure.model is not None
        model, steps = replace(structure.model, row_noise=noise), steps + taken
        return model

    def expected(noise: Noise, last: bool) -> tuple[ExactModel, np.ndarray]:
        square = squares_at_rows(POSTERIORS[tier](fit(z, noise), X, z), X, z)
        return model, square / model.noise

    with one_thread(small=tier != "collapsed"):
        if start is not None:
            found, sites, likelihood = fit_in_turn(lambda one: fit(one.target, one.noise), start, X, z, tier)
        elif noise.degrees is None:
            found = fit(z, noise)
        else:
            found, noise = alternately(expected, noise, GIVEN_ROUNDS)
            found, sites = replace(found, row_noise=noise), Sites(z, noise.variances(found.noise, len(z)))
            likelihood = StudentT.with_degrees(float(np.sqrt(found.noise)), float(noise.degrees or 0.0))
        return finished(
            found,
            tier,
            Structure(parts_in(found, parts)[:level], found.noise, 0.0, found),
            X,
            problem.y,
            scale=scale,
            level=level,
            steps=steps,
            likelihood=likelihood,
            sites=sites,
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
