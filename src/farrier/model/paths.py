"""Sample paths: what a series may do, step by step, in agreement with its forecast.

The steps of a path depend on each other: after a high month comes a high month. The correlations are those of the joint
posterior of f and of the noise. Each step of a path is then moved to the quantiles of the forecast (a Gaussian copula),
so that the paths together have exactly the distribution that the forecast states for each step, on any scale, with its
floor, and for all structures that share it.
"""

import numpy as np
from scipy.special import ndtr

from farrier.inference.linalg import jitter
from farrier.model.fitted import Fitted

LEVELS = np.concatenate([[0.001, 0.005], np.arange(1, 100) / 100.0, [0.995, 0.999]])
"""The quantiles between which a step of a path is interpolated; beyond them it is cut. [by judgement]"""


def sample_paths(fitted: Fitted, inputs: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Paths of observations at rows on the scale of the model, (count, N), in the units of y."""
    _, covariance = fitted.joint(inputs)
    covariance = covariance + fitted.noise_variance * np.eye(len(inputs))
    covariance[np.diag_indices(len(inputs))] += jitter(covariance)
    sd = np.sqrt(np.diagonal(covariance))
    L = np.linalg.cholesky(covariance / np.outer(sd, sd))
    u = ndtr(np.random.default_rng(seed).standard_normal((count, len(inputs))) @ L.T)
    quantiles = fitted.quantiles(inputs, LEVELS)
    if fitted.counts:
        places = np.minimum(np.searchsorted(LEVELS, u), len(LEVELS) - 1)
        return quantiles[places, np.arange(len(inputs))]
    return np.stack([np.interp(u[:, n], LEVELS, quantiles[:, n]) for n in range(len(inputs))], axis=1)
