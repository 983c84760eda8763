"""From what was learned to a fitted model: the whole pool predicts, and the survivors are fitted by themselves."""

import numpy as np

from farrier.model.fitted import Alone, Fitted, gaussian_noise
from farrier.model.learning import Learned
from farrier.model.tiers import POSTERIORS


def from_learned(learned: Learned, X: np.ndarray, y: np.ndarray) -> Fitted:
    """The fitted model of rows X, on the scale of the model, and y, in its own units."""
    return Fitted(
        posterior=learned.posterior,
        likelihood=gaussian_noise(learned.noise),
        prior=learned.model.prior,
        kernels=learned.kernels,
        survivors=learned.survivors,
        level=learned.level,
        transform=learned.transform,
        z_mean=learned.z_mean,
        z_scale=learned.z_scale,
        bound=learned.bound,
        tier=learned.tier,
        steps=learned.steps,
        record=learned.record,
        appraisal=learned.appraisal,
        alone=survivors(learned, X, y),
        members=learned.members,
        settings=learned.settings,
    )


def survivors(learned: Learned, X: np.ndarray, y: np.ndarray) -> Alone | None:
    """The posterior of the structure, given all rows; None where it is the whole pool, or empty."""
    structure = learned.structure
    model, kernels = structure.model, tuple(part.kernel for part in structure.parts)
    if model is None or model is learned.model or not kernels:
        return None
    z = (learned.transform.forward(y) - learned.z_mean) / learned.z_scale
    level = None if learned.level is None else len(kernels)
    return Alone(
        POSTERIORS[learned.tier](model, X, z, learned.settings), model.prior, kernels, level, float(model.noise)
    )
