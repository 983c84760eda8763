"""Rows of data for compiled programs: all rows, padded to a round number, and random minibatches of them."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from farrier.paper.objective import Batch


def padded(X: np.ndarray, y: np.ndarray) -> Batch:
    """All rows, padded to a round number, so that data of similar length share one compiled program."""
    rows = _round_up(len(y))
    fill = rows - len(y)
    X = np.concatenate([X, np.repeat(X[:1], fill, axis=0)])
    y = np.concatenate([y, np.repeat(y[:1], fill)])
    counts = np.concatenate([np.ones(rows - fill), np.zeros(fill)])
    return Batch(jnp.asarray(X), jnp.asarray(y), jnp.asarray(counts))


def _round_up(rows: int) -> int:
    """The next of 16, 20, 24, 28, 32, 40, 48, 56, 64, 80 ..., at most a quarter more than `rows`."""
    step = 4
    while 8 * step <= rows:
        step *= 2
    return max(16, -(-rows // step) * step)


def minibatch(batch: Batch, size: int, key: PRNGKeyArray) -> Batch:
    """`size` rows drawn with replacement, each with its share of the whole count; all rows if they are not more."""
    if batch.y.shape[0] <= size:
        return batch
    total = jnp.sum(batch.counts)
    index = jax.random.randint(key, (size,), 0, total.astype(jnp.int32))
    return Batch(batch.X[index], batch.y[index], jnp.full((size,), 1.0 / size, batch.y.dtype) * total)
