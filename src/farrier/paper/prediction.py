"""A posterior at many rows: compiled code with numpy arrays in and out, in 64-bit floats.

Rows are evaluated in blocks, so that memory does not grow with the table. The last block is padded to a round number of
rows, so that tables of similar length share one compiled program.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from farrier.paper.batches import padded
from farrier.paper.forks import refuse_after_fork
from farrier.paper.posterior import Posterior

BLOCK_ROWS = 1024
"""Rows of one block, by judgement."""

_draws = eqx.filter_jit(lambda posterior, X: posterior.draws(X))
_components = eqx.filter_jit(lambda posterior, X: posterior.components(X))
_joint = eqx.filter_jit(lambda posterior, X: (posterior.predict(X)[0], posterior.covariance(X)))


@dataclass(frozen=True, eq=False)
class InBlocks:
    """A compiled posterior with numpy arrays in and out, evaluated in blocks of rows."""

    posterior: Posterior

    def draws(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of f for each draw of the weights, (S, N)."""
        return _in_blocks(_draws, self.posterior, X)

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each component, (m, N), or of their sums by `sums` (J, m), as if independent."""
        mean, variance = _in_blocks(_components, self.posterior, X)
        return (mean, variance) if sums is None else (sums @ mean, sums @ variance)

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean (N,) and covariance (N, N) of f at all rows together; `parts` must be None."""
        if parts is not None:
            raise ValueError("parts: the stochastic tier has no joint distribution of some components only.")
        refuse_after_fork()
        with jax.enable_x64(True):
            mean, covariance = _joint(self.posterior, jnp.asarray(X))
        return np.asarray(mean), np.array(covariance)


def _in_blocks(function: Callable[..., Any], posterior: Posterior, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    refuse_after_fork()
    means, variances = [], []
    for start in range(0, len(X), BLOCK_ROWS):
        block = X[start : start + BLOCK_ROWS]
        with jax.enable_x64(True):
            mean, variance = function(posterior, padded(block, np.zeros(len(block))).X)
        means.append(np.asarray(mean)[:, : len(block)])
        variances.append(np.asarray(variance)[:, : len(block)])
    return np.concatenate(means, axis=1), np.concatenate(variances, axis=1)
