"""The components that explain, fitted by themselves: what `Fitted.alone` holds."""

import jax.numpy as jnp
import numpy as np

from farrier.collapsed import CollapsedObjective, CollapsedPosterior
from farrier.fitted import Alone
from farrier.learning import MOST_POINTS, PREDICTION_DRAWS, TOLERANCE, WIDE_DRAWS, Learned, exact_posterior
from farrier.priors import quasi_normal


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
    objective = CollapsedObjective.of(model, X, z, WIDE_DRAWS, TOLERANCE, MOST_POINTS)
    weights = np.asarray(model.prior.draw(jnp.asarray(quasi_normal(PREDICTION_DRAWS, model.prior.noise_size))))
    return Alone(CollapsedPosterior.of(objective, model, weights), model.prior, kernels, level, float(model.noise))
