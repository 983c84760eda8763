"""The distances between rows of one input: which there are, and the pairs of rows that have each of them.

What depends on the distance alone is worked out once a distance, spread over all pairs, and a derivative comes back as
the sum over the pairs of each distance.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

SAME = 1e-10
"""Distances that differ by less, in parts of the largest, are one."""


@final
@dataclass(frozen=True)
class RegularLags:
    """Rows at all places of a regular grid."""

    spacing: float
    size: int

    @cached_property
    def values(self) -> np.ndarray:
        """The distances."""
        return self.spacing * np.arange(self.size)

    def spread(self, row: np.ndarray) -> np.ndarray:
        """The symmetric matrix with `row[|a - b|]` at a, b: a view, no copy of the values."""
        n = self.size
        both = np.concatenate([row[:0:-1], row])
        size = both.itemsize
        # what as_strided does, which takes longer than the work on a few hundred rows
        view = np.ndarray((n, n), both.dtype, both, (n - 1) * size, (-size, size))
        view.flags.writeable = False
        return view

    def sums(self, G: np.ndarray) -> np.ndarray:
        """The sum of G[a, b] over all pairs with a - b = lag, for each lag; G is lower triangular, row after row."""
        n, size = self.size, G.itemsize
        # G[a, a - lag] is the number a (n + 1) - lag of G; where lag > a, that is one above the diagonal, a zero
        diagonals = np.ndarray((n - 1, n), G.dtype, G, (n + 1) * size, ((n + 1) * size, -size))
        out = diagonals.sum(axis=0)
        out[0] += G[0, 0]
        return out


@final
class ListedLags:
    """Rows anywhere: the distances that occur, and for each pair of rows which of them it has."""

    values: np.ndarray
    """The distances."""

    def __init__(self, x: np.ndarray) -> None:
        distances = np.abs(x[:, None] - x[None, :])
        whole = np.rint(distances / max(distances.max() * SAME, np.finfo(float).tiny))
        _, first, which = np.unique(whole, return_index=True, return_inverse=True)
        self.values = distances.ravel()[first]
        self._which = which.reshape(distances.shape)

    def spread(self, row: np.ndarray) -> np.ndarray:
        """The matrix with the number of its distance for each pair."""
        return row[self._which]

    def sums(self, G: np.ndarray) -> np.ndarray:
        """The sum of G over the pairs of each distance."""
        return np.bincount(self._which.ravel(), weights=G.ravel(), minlength=len(self.values))
