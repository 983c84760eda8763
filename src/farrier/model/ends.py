"""The ends of the rows: what is left out together to see how well a model predicts beyond its rows."""

import numpy as np


def ends_of(X: np.ndarray, part: float) -> list[np.ndarray]:
    """The rows at either end of each principal component of the inputs, in ascending order.

    At each end it is that part of the rows, at least one.
    """
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    count = max(round(part * len(X)), 1)
    orders = np.argsort(Z @ np.linalg.svd(Z, full_matrices=False)[2].T, axis=0, kind="stable").T
    return [np.sort(end) for order in orders for end in (order[:count], order[-count:])]
