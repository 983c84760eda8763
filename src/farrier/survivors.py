"""The components that explain, fitted by themselves: what `Fitted.alone` holds."""

import numpy as np

from farrier.collapsed import CollapsedObjective, CollapsedPosterior
from farrier.fitted import Alone
from farrier.learning import MOST_POINTS, TOLERANCE, WIDE_DRAWS, Learned, exact_posterior, local_posterior, weights_of


def survivors(learned: Learned, X: np.ndarray, y: np.ndarray) -> Alone | None:
    """The posterior of the structure, given all rows; None where it is the whole pool, or empty."""
    structure = learned.structure
    model, kernels = structure.model, tuple(part.kernel for part in structure.parts)
    if model is None or model is learned.model or not kernels:
        return None
    z = (learned.transform.forward(y) - learned.z_mean) / learned.z_scale
    level = None if learned.level is None else len(kernels)
    if learned.tier == "exact":
        return Alone(exact_posterior(model, X, z), model.prior, kernels, level, float(model.noise))
    if learned.tier == "local":
        return Alone(local_posterior(model, X, z), model.prior, kernels, level, float(model.noise))
    objective = CollapsedObjective.of(model, X, z, WIDE_DRAWS, TOLERANCE, MOST_POINTS)
    posterior = CollapsedPosterior.of(objective, model, weights_of(model))
    return Alone(posterior, model.prior, kernels, level, float(model.noise))
