"""Whether the rows of one input stand on a regular grid, as months or hours do, and where."""

import numpy as np

TOLERANCE = 0.1
"""How far a row may be from its place on a grid, in steps of the grid, to count as on it: calendar months are."""
EMPTY = 0.3
"""The largest part of a grid that may be empty: its rows are carried along."""


def on_grid(x: np.ndarray) -> tuple[np.ndarray, float] | None:
    """The place of each row on a regular grid and the grid's spacing, or None where there is no such grid."""
    distinct = np.unique(x)
    if len(distinct) < len(x) or len(x) < 3:
        return None
    steps = np.diff(distinct)
    extent = distinct[-1] - distinct[0]
    # each step in median steps (months have 28 to 31 days), then the spacing that fits the whole range
    count = int(np.rint(steps / np.median(steps)).sum())
    if count < len(x) - 1 or len(x) < (1.0 - EMPTY) * (count + 1):
        return None
    spacing = extent / count
    places = (x - distinct[0]) / spacing
    rounded = np.rint(places)
    if np.abs(places - rounded).max() > TOLERANCE or len(np.unique(rounded)) < len(x):
        return None
    return rounded.astype(int), spacing
