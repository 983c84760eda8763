"""The collapsed bound given rows that are read in blocks, by one process or by many, and need not fit in memory.

The bound takes the rows only as sums (collapsed.py). So its value takes one map over the blocks and one reduction: each
block gives its statistics, matrices of the size of the inducing points, and these are added. Its derivative takes one
more map and reduction: each block gives the derivatives of its rows. The sums are added in the order of the blocks, so
the result is the same to the bit however many processes there are, and whatever became of some of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol

import numpy as np

from farrier.evaluation.products import Products
from farrier.inference.blas import one_thread
from farrier.inference.collapsed import CollapsedBound, Features, Statistics, block_slopes, block_statistics
from farrier.inference.inducing_points import Groups
from farrier.inference.parameter_vector import ExactModel


class RowBlocks(Protocol):
    """Rows on the scale of the model, in blocks."""

    @property
    def count(self) -> int:
        """The number of rows."""
        ...

    def map(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """function(X, z, *arguments) for every block of rows X (n, D) and targets z (n,), in the order of the blocks.

        The function and what it takes and returns can be sent to other processes.
        """
        ...


@dataclass
class BlockObjective(CollapsedBound):
    """The collapsed bound given rows in blocks; the noise variance is common to all rows."""

    template: ExactModel
    groups: Groups
    rows: RowBlocks
    draws: np.ndarray
    _latest: dict[bytes, Statistics] = field(default_factory=dict, repr=False)

    @property
    def count(self) -> int:
        return self.rows.count

    def statistics(self, features: Features) -> Statistics:
        key = features.numbers.tobytes()
        if key not in self._latest:
            self._latest.clear()
            found = self.rows.map(sums_of_block, features.pool, features.numbers, self.groups)
            self._latest[key] = added(found)
        return self._latest[key]

    def slopes(self, features: Features, by: tuple[np.ndarray, ...]) -> np.ndarray:
        slopes = features.pool.no_slopes()
        found = self.rows.map(slopes_of_block, features.pool, features.numbers, self.groups, by)
        for own, by_factors in found:
            slopes += own
            for total, one in zip(features.factor_slopes, by_factors, strict=True):
                total += one
        features.pull_factors(slopes)
        return slopes


def sums_of_block(X: np.ndarray, z: np.ndarray, pool: Products, numbers: np.ndarray, groups: Groups) -> Statistics:
    """The statistics of a block of rows."""
    with one_thread():
        return block_statistics(Features(pool, numbers, groups), X, z, np.ones(len(z)))


def slopes_of_block(
    X: np.ndarray, z: np.ndarray, pool: Products, numbers: np.ndarray, groups: Groups, by: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Derivatives of a block of rows with respect to the hyperparameters and to the Cholesky factors."""
    with one_thread():
        features = Features(pool, numbers, groups)
        return block_slopes(features, X, z, np.ones(len(z)), by), features.factor_slopes


def added(found: Iterator[Statistics]) -> Statistics:
    """The sum of statistics, in their order."""
    return reduce(_sum, found)


def _sum(one: Statistics, other: Statistics) -> Statistics:
    return Statistics(one.A + other.A, one.b + other.b, one.t + other.t, one.yy + other.yy, one.log_d + other.log_d)
