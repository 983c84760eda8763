"""The means and standard deviations of rows that are read in blocks: one map over the blocks, and one reduction.

Each block gives its number of rows n, its mean m and its sum of squares s about that mean. Two blocks together have

    n = n1 + n2,   m = m1 + d n2 / n,   s = s1 + s2 + d^2 n1 n2 / n,   d = m2 - m1

which loses no digits where the mean is far from zero.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from farrier.data.tables import Scale
from farrier.inference.collapsed import RowBlocks

Moments = tuple[int, np.ndarray, np.ndarray]
"""The number of rows, their mean, and their sum of squares about it."""


def scale_of_blocks(rows: RowBlocks, coded: Sequence[int] = ()) -> Scale:
    """The scale on which all rows have mean zero and standard deviation one, as `Scale.of`."""
    count, mean, squares = reduce(_added, (one for one in rows.map(_moments) if one[0]))
    sd = np.sqrt(squares / count)
    mean[list(coded)], sd[list(coded)] = 0.0, 1.0
    return Scale(mean[:-1], sd[:-1], float(mean[-1]), float(sd[-1]))


def _moments(X: np.ndarray, z: np.ndarray) -> Moments:
    """The moments of the inputs of a block, and of its target, which comes last."""
    if not len(z):
        return 0, np.zeros(0), np.zeros(0)
    together = np.column_stack([X, z])
    mean = together.mean(axis=0)
    return len(z), mean, ((together - mean) ** 2).sum(axis=0)


def _added(one: Moments, other: Moments) -> Moments:
    """The moments of two blocks together."""
    (n1, m1, s1), (n2, m2, s2) = one, other
    n, d = n1 + n2, m2 - m1
    return n, m1 + d * (n2 / n), s1 + s2 + d**2 * (n1 * n2 / n)
