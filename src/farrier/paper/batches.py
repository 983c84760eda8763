"""Rows of data for compiled programs: all rows, padded to a round number, and minibatches of them.

A `RowSource` gives training the rows of its next steps. `Held` has all rows in memory, and every step draws some of
them inside the compiled program. Tables that need not fit in memory are read by out_of_core/minibatches.py.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
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


class StepRows(eqx.Module):
    """The rows of some steps of training."""

    @abstractmethod
    def at(self, step: Array, key: PRNGKeyArray) -> Batch:
        """The rows of one step, by its number and its randomness."""


@final
class Drawn(StepRows):
    """Every step draws `size` rows of the same batch."""

    batch: Batch
    size: int = eqx.field(static=True)

    def at(self, step: Array, key: PRNGKeyArray) -> Batch:
        return minibatch(self.batch, self.size, key)


@final
class InOrder(StepRows):
    """Each of B steps has rows of its own: the arrays of `batches` have a leading axis of B."""

    batches: Batch

    def at(self, step: Array, key: PRNGKeyArray) -> Batch:
        return jax.tree.map(lambda leaf: leaf[step % leaf.shape[0]], self.batches)


class RowSource(ABC):
    """Where the rows of training come from, on the scale of the model."""

    count: int
    """The number of all rows."""
    whole: bool
    """Whether one step can have all rows."""

    @abstractmethod
    def rows(self, steps: int, size: int) -> StepRows:
        """The rows of the next steps, `size` for each."""

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """All rows, each once."""


@final
class Held(RowSource):
    """All rows in memory."""

    whole = True

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        self.count = len(y)
        self._batch = padded(X, y)

    def rows(self, steps: int, size: int) -> StepRows:
        """The rows of the next steps, drawn with replacement; all of them if they are not more than `size`."""
        return Drawn(self._batch, self._batch.y.shape[0] if size >= self.count else size)

    def batches(self) -> Iterator[Batch]:
        """All rows at once."""
        yield self._batch
