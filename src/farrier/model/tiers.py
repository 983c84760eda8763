"""A model given all rows, by the tier that suits them: exact, through inducing points, or block by block.

Numbers of kernels come from a search (discover.py) or from a fit; here are the posteriors that predict.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from farrier.evaluation.grid import on_grid
from farrier.inference.blockwise import LocalPosterior
from farrier.inference.collapsed import CollapsedObjective, CollapsedPosterior, Features
from farrier.inference.exact_posterior import GaussianPosterior
from farrier.inference.inducing_points import choose
from farrier.inference.lbfgs import climb
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.weight_priors import prediction_weights, quasi_normal
from farrier.search.structure import Part, model_with

EXACT_ROWS = 1000
"""The most rows that the exact tier takes when nobody says otherwise."""
WIDE_ITERATIONS = 80
WIDE_TOLERANCE = 0.05
WIDE_DRAWS, MANY_ROWS_DRAWS = 4, 2
"""Draws of the weights in the last fit; each costs the cube of the rows, and many rows tell the weights better."""
PREDICTION_DRAWS = 8
"""Draws of the weights over which predictions integrate."""
TOLERANCE = 1e-4
"""The part of a kernel's trace that its inducing points may leave."""
MOST_POINTS = 400
"""Inducing points of one kernel at most."""
LEFT = 0.3
"""The variance that inducing points may leave of all components, in parts of the noise's, before rows are looked at."""
LEFT_ROWS = 400
"""Rows at which that is looked at."""
LOCAL_DRAWS = 4
"""Draws of the weights where rows are predicted block by block."""

Tell = Callable[[str, float], None]


def tier_of(posterior: GaussianPosterior | CollapsedPosterior | LocalPosterior) -> str:
    """The name of the way in which a posterior is found."""
    names = {GaussianPosterior: "exact", CollapsedPosterior: "collapsed", LocalPosterior: "local"}
    return names[type(posterior)]


def weights_of(model: ExactModel) -> np.ndarray:
    """Draws of the weights over which predictions integrate."""
    return prediction_weights(model.prior, quasi_normal(PREDICTION_DRAWS, model.prior.noise_size))


def exact_posterior(
    model: ExactModel, X: np.ndarray, z: np.ndarray, weights: np.ndarray | None = None
) -> GaussianPosterior:
    """Predictions of a model from all rows, with these draws of the weights or those of its q(w)."""
    weights = weights_of(model) if weights is None else weights
    noise = np.full(len(z), float(model.noise)) if model.rows is None else np.asarray(model.rows)
    return GaussianPosterior(model.pool, weights, noise, snapped(X), z)


def snapped(X: np.ndarray) -> np.ndarray:
    """The rows on their grid, if they stand on one, which is where the exact tier sees them."""
    grid = on_grid(X[:, 0]) if X.shape[1] == 1 else None
    return X if grid is None else X.min() + grid[1] * grid[0][:, None].astype(float)


def collapsed_posterior(model: ExactModel, X: np.ndarray, z: np.ndarray) -> CollapsedPosterior:
    """Predictions of a model from all rows, through inducing points."""
    objective = CollapsedObjective.of(model, X, z, 1, TOLERANCE, MOST_POINTS)
    return CollapsedPosterior.of(objective, model, weights_of(model))


def collapsed_fit(
    parts: Sequence[Part],
    noise: float,
    X: np.ndarray,
    z: np.ndarray,
    tell: Tell,
    rounds: int = 2,
    rows: np.ndarray | None = None,
) -> tuple[ExactModel, float, CollapsedPosterior]:
    """The parts fitted to all rows by the collapsed tier; the inducing points follow the kernels in each round.

    `rows` is the variance of the noise of each row, where it is known.
    """
    model = model_with(parts, noise, X.shape[1], rows)
    total = np.nan
    for _ in range(rounds):
        objective = CollapsedObjective.of(model, X, z, WIDE_DRAWS, TOLERANCE, MOST_POINTS)
        numbers, terms = climb(
            objective,
            WIDE_ITERATIONS // rounds,
            WIDE_TOLERANCE,
            callback=lambda i, t: tell("fitting all rows", t.total),
        )
        model, total = objective.model(numbers), terms[-1].total
    return model, total, collapsed_posterior(model, X, z)


def needs_rows(model: ExactModel, X: np.ndarray) -> bool:
    """Whether inducing points leave much of the components, beside the noise."""
    groups = choose(model.pool, X, TOLERANCE, MOST_POINTS)
    _, left = Features(model.pool, model.pool.numbers, groups).at(X[np.linspace(0, len(X) - 1, LEFT_ROWS).astype(int)])
    w2 = np.asarray(model.prior.quantile(0.5)) ** 2
    return float(w2 @ left.mean(axis=1)) > LEFT * float(model.noise)


def local_posterior(model: ExactModel, X: np.ndarray, z: np.ndarray) -> LocalPosterior:
    """Predictions of a model from all rows of a long series, block by block."""
    weights = prediction_weights(model.prior, quasi_normal(LOCAL_DRAWS, model.prior.noise_size))
    groups = choose(model.pool, X, TOLERANCE, MOST_POINTS)
    return LocalPosterior.of(model.pool, weights, float(model.noise), groups, X, z)


POSTERIORS: dict[str, Callable[[ExactModel, np.ndarray, np.ndarray], Any]] = {
    "exact": exact_posterior,
    "collapsed": collapsed_posterior,
    "local": local_posterior,
}
"""The posterior of a model given rows X and z, by the name of its tier."""
