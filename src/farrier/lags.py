"""The distances between rows of one input: which there are, and the pairs of rows that have each of them.

What depends on the distance alone is worked out once a distance, spread over all pairs, and a derivative comes back as
the sum over the pairs of each distance.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.lib.stride_tricks import as_strided

SAME = 1e-10
"""Distances that differ by less, in parts of the largest, are one."""


@final
@dataclass(frozen=True)
class RegularLags:
    """Rows at all places of a regular grid."""

    spacing: float
    size: int

    @property
    def values(self) -> np.ndarray:
        """The distances, (L, 1)."""
        return self.spacing * np.arange(self.size)[:, None]

    def spread(self, row: np.ndarray) -> np.ndarray:
        """The symmetric matrix with `row[|a - b|]` at a, b: a view, no copy of the values."""
        n = self.size
        both = np.concatenate([row[:0:-1], row])
        stride = both.strides[0]
        return as_strided(both[n - 1 :], (n, n), (-stride, stride), writeable=False)

    def sums(self, G: np.ndarray) -> np.ndarray:
        """The sum of G[a, b] over all pairs with a - b = lag, for each lag; G is lower triangular."""
        n = self.size
        # G[a, a - lag] is the number a (n + 1) - lag of G; where lag > a, that is one above the diagonal, a zero
        step = G.strides[1]
        diagonals = as_strided(G[1:, 1:], (n - 1, n), ((n + 1) * step, -step), writeable=False)
        out = diagonals.sum(axis=0)
        out[0] += G[0, 0]
        return out


@final
class ListedLags:
    """Rows anywhere: the distances that occur, and for each pair of rows which of them it has."""

    values: np.ndarray
    """The distances, (L, 1)."""

    def __init__(self, x: np.ndarray) -> None:
        distances = np.abs(x[:, None] - x[None, :])
        whole = np.rint(distances / max(distances.max() * SAME, np.finfo(float).tiny))
        _, first, which = np.unique(whole, return_index=True, return_inverse=True)
        self.values = distances.ravel()[first][:, None]
        self._which = which.reshape(distances.shape)

    def spread(self, row: np.ndarray) -> np.ndarray:
        """The matrix with the number of its distance for each pair."""
        return row[self._which]

    def sums(self, G: np.ndarray) -> np.ndarray:
        """The sum of G over the pairs of each distance."""
        return np.bincount(self._which.ravel(), weights=G.ravel(), minlength=len(self.values))
