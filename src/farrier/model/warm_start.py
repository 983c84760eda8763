"""A fit that starts close: a few steps of the optimiser from kernels with their q(w)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from farrier.inference.blas import one_thread
from farrier.inference.exact import ExactObjective
from farrier.inference.hyperparameter_priors import price
from farrier.inference.lbfgs import climb
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.weight_priors import WeightPrior
from farrier.kernels.algebra import Kernel
from farrier.model.tiers import collapsed_objective
from farrier.search.settings import SearchSettings
from farrier.search.structure import Part, Structure, model_with


def climbed(
    kernels: Sequence[Kernel],
    prior: WeightPrior,
    noise: float,
    X: np.ndarray,
    z: np.ndarray,
    settings: SearchSettings,
    *,
    exact: bool,
    rows: np.ndarray | None = None,
) -> Structure:
    """Kernels and q(w) fitted to X and z, exactly or through inducing points.

    `rows` is the variance of the noise of each row, where it is known.
    """
    weights = np.asarray(prior.quantile(0.5))
    parts = [Part(kernel, kernel, float(weight)) for kernel, weight in zip(kernels, weights, strict=False)]
    model: ExactModel = replace(model_with(parts, noise, X.shape[1], rows), prior=prior)
    objective: Any = (
        ExactObjective.of(model, X, z, settings.fits.final_draws)
        if exact
        else collapsed_objective(model, X, z, settings.fits.final_draws, settings)
    )
    with one_thread(small=exact):
        numbers, terms = climb(objective, settings.fits.refit_iterations, settings.fits.final_tolerance)
    model = objective.model(numbers)
    weights = np.asarray(model.prior.quantile(0.5))
    found = tuple(Part(model.pool[i], part.centre, float(weights[i])) for i, part in enumerate(parts))
    return Structure(found, float(model.noise), terms[-1].total, model, terms[-1])


def without_level(structure: Structure, count: int, rows: int) -> Structure:
    """The first `count` parts, which explain, with the score that a search over so many rows would give them."""
    parts = structure.parts[:count]
    return replace(structure, parts=parts, score=structure.score - sum(price(part.kernel, rows) for part in parts))
