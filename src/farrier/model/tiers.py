"""The three tiers of inference: "exact", "collapsed" (inducing points) and "linear" (features and Markov chains, for
long series).

This file chooses between them, and has the bound, the fit and the posterior of each.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from farrier.evaluation.grid import on_grid
from farrier.inference.collapsed import CollapsedObjective, CollapsedPosterior
from farrier.inference.exact import ExactObjective
from farrier.inference.horseshoe import PointHorseshoe
from farrier.inference.inducing_points import PointLimits
from farrier.inference.lbfgs import ITERATIONS, ROUGH_TOLERANCE
from farrier.inference.linalg import one_thread
from farrier.inference.linear import LinearObjective
from farrier.inference.linear_model import FeatureLimits
from farrier.inference.linear_posterior import LinearPosterior
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.posteriors import GaussianPosterior
from farrier.inference.weight_priors import prediction_weights, quasi_normal
from farrier.model.stacking import DRAWS
from farrier.search.structure import Part, Structure, climbed_to

EXACT_ROWS = 1000
"""Most rows for which exact inference is used with `method="auto"`. [rows; by judgement]"""
EXACT_TABLE_ROWS = 2000
"""Most rows of a table for which exact inference is used with `method="auto"`. [rows; by judgement]"""
BOUND_DRAWS = 64
"""Draws of the weights with which bounds of pools are compared, averaged and reported: with 4 draws in 20 dimensions
reported bounds were 1.7 to 7.2 nats above their values with 4,096. [draws, a power of two; measured for version
0.1.0]"""
FEATURE_LIMITS = FeatureLimits()
"""Limits for features and Markov processes."""
TRACE_TOLERANCE = 1e-4
"""Part of a kernel's trace that its inducing points may leave unexplained. [part of the trace; by judgement]"""
MOST_POINTS = 400
"""Most inducing points of one kernel. [points; by judgement]"""
POINT_LIMITS = PointLimits()
"""Limits for all kernels together."""

Tell = Callable[[str, float], None]
"""A callback for progress: gets the current phase and the current bound."""


def tier_for(rows: int, asked: str = "auto", *, series: bool = False) -> str:
    """The tier for a number of rows: exact for few, for many linear (a series) or collapsed, or what the user asked
    for."""
    if asked != "auto":
        return asked
    return "exact" if rows <= EXACT_ROWS else "linear" if series else "collapsed"


def objective_of(
    tier: str, model: ExactModel, X: np.ndarray, z: np.ndarray, draws: int
) -> ExactObjective | CollapsedObjective | LinearObjective:
    """The bound of a model on rows X and z."""
    if tier == "exact":
        return ExactObjective.of(model, X, z, draws)
    if tier == "linear":
        return LinearObjective.of(model, X, z, draws, FEATURE_LIMITS)
    return CollapsedObjective.of(model, X, z, draws, TRACE_TOLERANCE, MOST_POINTS, POINT_LIMITS)


def bound_of(tier: str, model: ExactModel, X: np.ndarray, z: np.ndarray) -> float:
    """The bound with many draws of the weights. The bound of a fit is too high: it overfits its few draws."""
    objective = objective_of(tier, model, X, z, BOUND_DRAWS if model.prior.noise_size else 1)
    return objective.value(objective.start()).total


def climbed(
    tier: str,
    model: ExactModel,
    parts: Sequence[Part],
    X: np.ndarray,
    z: np.ndarray,
    *,
    iterations: int = ITERATIONS,
    tolerance: float = ROUGH_TOLERANCE,
    tell: Callable[[float], None] = lambda bound: None,
) -> tuple[Structure, int]:
    """A model fitted to rows X and z, as a structure at a local maximum of the bound, and the number of steps."""
    objective = objective_of(tier, model, X, z, DRAWS if model.prior.noise_size else 1)
    with one_thread(small=tier != "collapsed"):
        structure, climb = climbed_to(objective, parts, iterations, tolerance, tell)
    return structure, len(climb.terms)


def weights_of(model: ExactModel, draws: int) -> np.ndarray:
    """Draws of the weights for predictions, (S, m)."""
    if isinstance(model.prior, PointHorseshoe):
        return model.prior.quantile(0.5)[None]
    size = model.prior.noise_size
    return prediction_weights(model.prior, quasi_normal(draws if size else 1, size))


def exact_posterior(model: ExactModel, X: np.ndarray, z: np.ndarray) -> GaussianPosterior:
    """The exact posterior of a model given all rows."""
    noise = model.row_noise.variances(model.noise, len(z))
    return GaussianPosterior(model.pool, weights_of(model, DRAWS), noise, snapped(X), z)


def snapped(X: np.ndarray) -> np.ndarray:
    """Rows whose first input is moved to its regular grid, if it lies on one; exact inference works with these."""
    grid = on_grid(X[:, 0])
    if grid is None:
        return X
    first = X[:, 0].min() + grid[1] * grid[0].astype(float)
    return np.column_stack([first, X[:, 1:]])


def collapsed_posterior(model: ExactModel, X: np.ndarray, z: np.ndarray) -> CollapsedPosterior:
    """The collapsed posterior of a model given all rows."""
    objective = objective_of("collapsed", model, X, z, 1)
    assert isinstance(objective, CollapsedObjective)
    return CollapsedPosterior.of(objective, model, weights_of(model, DRAWS))


def linear_posterior(model: ExactModel, X: np.ndarray, z: np.ndarray) -> LinearPosterior:
    """The posterior of a model given all rows of a long series."""
    noise = model.row_noise.variances(model.noise, len(z))
    return LinearPosterior(model.pool, weights_of(model, DRAWS), noise, X, z, FEATURE_LIMITS)


POSTERIORS: dict[str, Callable[[ExactModel, np.ndarray, np.ndarray], Any]] = {
    "exact": exact_posterior,
    "collapsed": collapsed_posterior,
    "linear": linear_posterior,
}
"""The posterior of a model given rows X and z, by the name of its tier."""
