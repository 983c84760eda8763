"""Rows that are left out of a posterior: one at a time, a fold, or an end of the rows at a time.

Single rows show how far off the members of a table's average are, ends of the rows how far off they are beyond the
rows, and folds give the level of a row that owes nothing to its own y (stacking.py).
"""

from collections.abc import Sequence

import numpy as np

from farrier.inference.mixtures import moments
from farrier.inference.noise import ALIKE, Noise
from farrier.model.fitted import Member
from farrier.model.stacking import LeftOut

FOLDS = 5
"""Folds of the rows: the shares at a row follow from a prediction that has not seen its fold. [folds; by judgement]"""


def ends_of(X: np.ndarray, part: float = 0.1) -> list[np.ndarray]:
    """The rows at either end of each principal component of the inputs, in ascending order.

    At each end it is that part of the rows, at least one.
    """
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    count = max(round(part * len(X)), 1)
    orders = np.argsort(Z @ np.linalg.svd(Z, full_matrices=False)[2].T, axis=0, kind="stable").T
    return [np.sort(end) for order in orders for end in (order[:count], order[-count:])]


def folds_of(rows: int, count: int = FOLDS) -> list[np.ndarray]:
    """Random folds of nearly equal size, each in ascending order; the same at every call."""
    order = np.random.default_rng(0).permutation(rows)
    return [np.sort(fold) for fold in np.array_split(order, min(count, rows))]


def left_out_of(
    member: Member,
    y: np.ndarray,
    folds: Sequence[np.ndarray],
    ends: Sequence[np.ndarray],
    noise: Noise = ALIKE,
) -> LeftOut:
    """Leave-one-out predictions of all rows, and of the ends of the rows, averaged over draws of the parameters.

    Where the noise is Student-t, it is that of an ordinary row: whether a row is an outlier is not known before.
    """
    count = len(y)
    rows = np.concatenate([np.arange(count), *folds, *ends])
    mean, variance = member.posterior.left_out(blocks=[*folds, *ends])
    mean, variance = moments(mean, variance + member.noises[:, None] * noise.foreseen.relative(count)[rows])
    level = np.empty(count)
    level[np.concatenate(folds)] = mean[count : 2 * count]
    z, slopes, sd = member.scale.forward(y)[rows], member.scale.log_slopes(y)[rows], np.sqrt(variance)
    far = slice(2 * count, None)
    together = LeftOut(mean[far], sd[far], z[far], slopes[far], member.scale, mean[far])
    return LeftOut(mean[:count], sd[:count], z[:count], slopes[:count], member.scale, level, together)
