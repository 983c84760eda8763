"""A model given all rows, by the tier that suits them: exact, through inducing points, or block by block.

Numbers of kernels come from a search (search/search.py) or from a fit; here are the posteriors that predict.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from farrier.evaluation.grid import on_grid
from farrier.evaluation.products import HostPool
from farrier.inference.blockwise import LocalPosterior
from farrier.inference.collapsed import CollapsedObjective, CollapsedPosterior, Features
from farrier.inference.exact_posterior import GaussianPosterior
from farrier.inference.inducing_points import choose
from farrier.inference.lbfgs import climb
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.weight_draws import prediction_weights
from farrier.inference.weight_priors import quasi_normal
from farrier.search.settings import SearchSettings
from farrier.search.structure import Part, model_with

Tell = Callable[[str, float], None]


def tier_of(posterior: GaussianPosterior | CollapsedPosterior | LocalPosterior) -> str:
    """The name of the way in which a posterior is found."""
    names = {GaussianPosterior: "exact", CollapsedPosterior: "collapsed", LocalPosterior: "local"}
    return names[type(posterior)]


def weights_of(model: ExactModel, draws: int) -> np.ndarray:
    """Draws of the weights over which predictions integrate."""
    return prediction_weights(model.prior, quasi_normal(draws, model.prior.noise_size))


def exact_posterior(
    model: ExactModel, X: np.ndarray, z: np.ndarray, settings: SearchSettings, weights: np.ndarray | None = None
) -> GaussianPosterior:
    """Predictions of a model from all rows, with these draws of the weights or those of its q(w)."""
    weights = weights_of(model, settings.posterior.draws) if weights is None else weights
    noise = np.full(len(z), float(model.noise)) if model.rows is None else np.asarray(model.rows)
    return GaussianPosterior(model.pool, weights, noise, snapped(X), z)


def snapped(X: np.ndarray) -> np.ndarray:
    """The rows on their grid, if they stand on one, which is where the exact tier sees them."""
    grid = on_grid(X[:, 0]) if X.shape[1] == 1 else None
    return X if grid is None else X.min() + grid[1] * grid[0][:, None].astype(float)


def collapsed_objective(
    model: ExactModel, X: np.ndarray, z: np.ndarray, draws: int, settings: SearchSettings
) -> CollapsedObjective:
    """The collapsed bound with inducing points for the model's kernels."""
    points = settings.inducing
    return CollapsedObjective.of(model, X, z, draws, points.tolerance, points.most, points.limits)


def collapsed_posterior(
    model: ExactModel, X: np.ndarray, z: np.ndarray, settings: SearchSettings
) -> CollapsedPosterior:
    """Predictions of a model from all rows, through inducing points."""
    objective = collapsed_objective(model, X, z, 1, settings)
    return CollapsedPosterior.of(objective, model, weights_of(model, settings.posterior.draws))


def collapsed_fit(
    parts: Sequence[Part],
    noise: float,
    X: np.ndarray,
    z: np.ndarray,
    tell: Tell,
    settings: SearchSettings,
    rounds: int | None = None,
    rows: np.ndarray | None = None,
) -> tuple[ExactModel, float, CollapsedPosterior]:
    """The parts fitted to all rows by the collapsed tier; the inducing points follow the kernels in each round.

    `rows` is the variance of the noise of each row, where it is known.
    """
    fits = settings.fits
    rounds = fits.collapsed_rounds if rounds is None else rounds
    model = model_with(parts, noise, X.shape[1], rows)
    total = np.nan
    for _ in range(rounds):
        objective = collapsed_objective(model, X, z, fits.final_draws, settings)
        numbers, terms = climb(
            objective,
            fits.final_iterations // rounds,
            fits.final_tolerance,
            callback=lambda i, t: tell("fitting all rows", t.total),
        )
        model, total = objective.model(numbers), terms[-1].total
    return model, total, collapsed_posterior(model, X, z, settings)


def needs_rows(model: ExactModel, X: np.ndarray, settings: SearchSettings) -> bool:
    """Whether inducing points leave much of the components, beside the noise."""
    points, count = settings.inducing, settings.posterior.unexplained_rows
    groups = choose(model.pool, X, points.tolerance, points.most, points.limits)
    host = HostPool.of(model.pool)
    _, left = Features(host, host.numbers, groups).at(X[np.linspace(0, len(X) - 1, count).astype(int)])
    w2 = np.asarray(model.prior.quantile(0.5)) ** 2
    return float(w2 @ left.mean(axis=1)) > settings.posterior.unexplained * float(model.noise)


def local_posterior(model: ExactModel, X: np.ndarray, z: np.ndarray, settings: SearchSettings) -> LocalPosterior:
    """Predictions of a model from all rows of a long series, block by block."""
    weights, points = weights_of(model, settings.posterior.block_draws), settings.inducing
    groups = choose(model.pool, X, points.tolerance, points.most, points.limits)
    return LocalPosterior.of(model.pool, weights, float(model.noise), groups, X, z)


POSTERIORS: dict[str, Callable[[ExactModel, np.ndarray, np.ndarray, SearchSettings], Any]] = {
    "exact": exact_posterior,
    "collapsed": collapsed_posterior,
    "local": local_posterior,
}
"""The posterior of a model given rows X and z, by the name of its tier."""
