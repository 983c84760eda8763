"""An order of the inputs of a table that does not depend on the order of its columns.

A search breaks ties, and numbers random draws, by the place of an input. With the columns in another order the same
table would be searched in another way, and predictions would differ.
"""

from collections.abc import Sequence

import numpy as np


def column_order(X: np.ndarray, y: np.ndarray) -> tuple[int, ...]:
    """The inputs by their correlation with the target, the largest first; of equal ones the smaller values first."""
    away = np.asarray(y, float) - np.mean(y)

    def key(column: int) -> tuple[float, list[float]]:
        x = np.array(X[:, column])  # sums depend on the place of a number in memory
        spread = float(x.std())
        return -abs(float((x - x.mean()) @ away)) / (spread if spread > 0.0 else 1.0), x.tolist()

    return tuple(sorted(range(X.shape[1]), key=key))


def reordered(coded: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Some inputs by their places in another order."""
    return tuple(place for place, column in enumerate(order) if column in coded)
