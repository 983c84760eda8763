"""A component minus its mean over the data: the data do not tell that mean from the level of all components."""

import numpy as np

from farrier.model.fitted import Fitted

CENTRE_ROWS, BLOCK_ROWS = 200, 1024
"""Rows over which a component is centred, and rows of one block of the computation, by judgement."""


def centred(fitted: Fitted, inputs: np.ndarray, rows: np.ndarray, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of component i minus its mean over `rows`; the stochastic tier does not adjust the variance."""
    posterior = fitted.explaining.posterior
    sample = rows[np.unique(np.linspace(0, len(rows) - 1, CENTRE_ROWS).round().astype(int))]
    if fitted.tier == "stochastic":
        mean, variance = (each[i] for each in posterior.components(np.vstack([inputs, sample])))
        return mean[: len(inputs)] - mean[len(inputs) :].mean(), variance[: len(inputs)]
    means, variances = [], []
    for first in range(0, len(inputs), BLOCK_ROWS):
        block = inputs[first : first + BLOCK_ROWS]
        mean, covariance = posterior.joint(np.vstack([block, sample]), np.array([i]))
        here, there = slice(0, len(block)), slice(len(block), None)
        means.append(mean[here] - mean[there].mean())
        # Var(f - m) = Var f - 2 Cov(f, m) + Var m
        both = covariance[here, there].mean(axis=1)
        variances.append(np.diagonal(covariance)[here] - 2.0 * both + covariance[there, there].mean())
    return np.concatenate(means), np.concatenate(variances)
