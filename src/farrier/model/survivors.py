"""The components that explain, fitted by themselves: what `Fitted.alone` holds."""

import numpy as np

from farrier.model.fitted import Alone
from farrier.model.learning import Learned
from farrier.model.tiers import POSTERIORS


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
