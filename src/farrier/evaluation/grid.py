"""Whether the rows of one input lie on a regular grid, as months or hours do, and at which places.

The distinct distances (lags) between rows of one input, and the pairs of rows with each of them: a function of the
distance is evaluated once per lag and spread over all pairs. Its derivative is the sum over the pairs of each lag.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

TOLERANCE = 0.1
"""Largest distance of a row from its grid place, in grid steps. By judgement: calendar months pass."""
EMPTY = 0.3
"""Largest share of empty places on a grid. By judgement: empty places cost as much as rows."""


def on_grid(x: np.ndarray, empty: float = EMPTY) -> tuple[np.ndarray, float] | None:
    """The place of each row on a regular grid and the spacing of the grid, or None if the rows are irregular.

    `empty` is the largest share of places without a row.
    """
    distinct = np.unique(x)
    if len(distinct) < len(x) or len(x) < 3:
        return None
    steps = np.diff(distinct)
    extent = distinct[-1] - distinct[0]
    # steps as multiples of the median step (months have 28 to 31 days), then the spacing that fits the whole range
    count = int(np.rint(steps / np.median(steps)).sum())
    if count < len(x) - 1 or len(x) < (1.0 - empty) * (count + 1):
        return None
    spacing = extent / count
    places = (x - distinct[0]) / spacing
    rounded = np.rint(places)
    if np.abs(places - rounded).max() > TOLERANCE or len(np.unique(rounded)) < len(x):
        return None
    return rounded.astype(int), spacing


SAME = 1e-10
"""Distances whose difference is below this part of the largest distance count as one. By judgement: rounding."""


@final
@dataclass(frozen=True)
class RegularLags:
    """Rows at every place of a regular grid."""

    spacing: float
    size: int

    @cached_property
    def values(self) -> np.ndarray:
        """The distances."""
        return self.spacing * np.arange(self.size)

    def spread(self, row: np.ndarray) -> np.ndarray:
        """The symmetric matrix with entries `row[|a - b|]`, as a view that copies nothing."""
        n = self.size
        both = np.concatenate([row[:0:-1], row])
        size = both.itemsize
        # the same as np.lib.stride_tricks.as_strided, which is slow for a few hundred rows
        view = np.ndarray((n, n), both.dtype, both, (n - 1) * size, (-size, size))
        view.flags.writeable = False
        return view

    def sums(self, G: np.ndarray) -> np.ndarray:
        """The sum of G[a, b] over all pairs with a - b = lag, for each lag; G is lower triangular and row-major."""
        n, size = self.size, G.itemsize
        # G[a, a - lag] has index a (n + 1) - lag; for lag > a that is an entry above the diagonal, which is zero
        diagonals = np.ndarray((n - 1, n), G.dtype, G, (n + 1) * size, ((n + 1) * size, -size))
        out = diagonals.sum(axis=0)
        out[0] += G[0, 0]
        return out


@final
class ListedLags:
    """Irregular rows: the distinct distances, and for each pair of rows the index of its distance."""

    values: np.ndarray
    """The distances."""

    def __init__(self, x: np.ndarray) -> None:
        distances = np.abs(x[:, None] - x[None, :])
        whole = np.rint(distances / max(distances.max() * SAME, np.finfo(float).tiny))
        _, first, which = np.unique(whole, return_index=True, return_inverse=True)
        self.values = distances.ravel()[first]
        self._which = which.reshape(distances.shape)

    def spread(self, row: np.ndarray) -> np.ndarray:
        """The matrix with `row[index of the distance]` for each pair."""
        return row[self._which]

    def sums(self, G: np.ndarray) -> np.ndarray:
        """The sum of G over the pairs of each distance."""
        return np.bincount(self._which.ravel(), weights=G.ravel(), minlength=len(self.values))
