"""Whether the rows of one input lie on a regular grid, as months or hours do, and at which places."""

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
