"""A posterior at many rows: compiled, a block of rows at a time, numpy arrays in and out.

Blocks keep the memory from growing with the table; the last one is filled up to a round number of rows, so that tables
of similar length share one compiled program.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from farrier.fit import padded
from farrier.likelihoods import Likelihood
from farrier.posteriors.interface import Posterior

BLOCK_ROWS = 1024

_draws = eqx.filter_jit(lambda posterior, X: posterior.draws(X))
_components = eqx.filter_jit(lambda posterior, X: posterior.components(X))
_joint = eqx.filter_jit(lambda posterior, X: (posterior.predict(X)[0], posterior.covariance(X)))


def draws(posterior: Posterior, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of f for each draw of the weights, (S, N)."""
    return _in_blocks(_draws, posterior, X)


def components(posterior: Posterior, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each component, (m, N)."""
    return _in_blocks(_components, posterior, X)


def joint(posterior: Posterior, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean (N,) and covariance (N, N) of f at all rows together."""
    mean, covariance = _joint(posterior, jnp.asarray(X))
    return np.asarray(mean), np.asarray(covariance)


def observed(likelihood: Likelihood, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of y for each draw, from those of f."""
    y_mean, y_variance = jax.vmap(likelihood.predict)(jnp.asarray(mean), jnp.asarray(variance))
    return np.asarray(y_mean), np.asarray(y_variance)


def _in_blocks(function: Callable[..., Any], posterior: Posterior, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    means, variances = [], []
    for start in range(0, len(X), BLOCK_ROWS):
        block = X[start : start + BLOCK_ROWS]
        mean, variance = function(posterior, padded(block, np.zeros(len(block))).X)
        means.append(np.asarray(mean)[:, : len(block)])
        variances.append(np.asarray(variance)[:, : len(block)])
    return np.concatenate(means, axis=1), np.concatenate(variances, axis=1)
