"""Inducing points that fit their kernel: for each kernel as many as it needs, chosen from the rows.

A kernel of rank one (a line, a step) is known everywhere once its function is known at one point; a cycle takes some
twenty; a smooth function as many as it has lengthscales in the range. The greedy choice (a pivoted Cholesky factor)
takes the row where the kernel is least explained by those taken before, until no more than a small part of the trace
is left. For kernels of finite rank it is exact after as many points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from farrier.evaluation.products import Products


@final
@dataclass(frozen=True)
class PointLimits:
    """Limits for the inducing points of all kernels together. A greedy choice cut short is that of fewer points."""

    together: int = 900
    """Most inducing points of all kernels together: time is cubic in them. [points; by judgement]"""
    products: float = 6e9
    """Most rows times the square of all points, the cost of one evaluation: some seconds.
    [multiplications; by judgement]"""
    rows: int = 800
    """Rows among which inducing points are chosen. [rows; by judgement]"""


@dataclass(frozen=True)
class Groups:
    """Z (m, M, D): the points of each kernel, filled up to the largest group; `sizes` says how many count."""

    Z: np.ndarray
    sizes: tuple[int, ...]

    @property
    def total(self) -> int:
        """R, the number of all points."""
        return sum(self.sizes)


def choose(pool: Products, X: np.ndarray, tolerance: float, most: int, limits: PointLimits = PointLimits()) -> Groups:
    """Groups that leave at most `tolerance` of each kernel's trace, of at most `most` points each."""
    rows = X[_representative_rows(X, limits.rows)]
    chosen = [pivots(term.gram(pool.numbers, rows, rows)[0], tolerance, most) for term in pool.terms]
    together = min(limits.together, int(np.sqrt(limits.products / len(X))))
    largest = _largest_common_size([len(one) for one in chosen], together)
    chosen = [one[:largest] for one in chosen]
    sizes = tuple(len(one) for one in chosen)
    widest = max(sizes)
    Z = np.stack([rows[np.concatenate([one, np.repeat(one[:1], widest - len(one))])] for one in chosen])
    return Groups(Z, sizes)


def _largest_common_size(sizes: Sequence[int], total: int) -> int:
    """The largest size that groups may keep so that there are no more points than `total` together."""
    return max((c for c in range(1, max(sizes) + 1) if sum(min(size, c) for size in sizes) <= total), default=1)


def pivots(K: np.ndarray, tolerance: float, most: int) -> np.ndarray:
    """The rows of a pivoted Cholesky factor of K, in the order they are taken."""
    left = np.array(np.diagonal(K))
    total = left.sum()
    factor = np.zeros((min(most, len(K)), len(K)))
    taken: list[int] = []
    while len(taken) < len(factor) and (not taken or left.sum() > tolerance * total):
        pivot = int(np.argmax(left))
        if left[pivot] <= 1e-10 * max(total / len(K), 1e-300):
            break
        row = (K[pivot] - factor[: len(taken), pivot] @ factor[: len(taken)]) / np.sqrt(left[pivot])
        factor[len(taken)] = row
        left = np.maximum(left - row**2, 0.0)
        left[pivot] = 0.0
        taken.append(pivot)
    return np.array(taken or [0])


def _representative_rows(X: np.ndarray, count: int) -> np.ndarray:
    """At most `count` rows: evenly in order for one input, at random (always the same) for several."""
    if len(X) <= count:
        return np.arange(len(X))
    if X.shape[1] == 1:
        return np.argsort(X[:, 0])[np.linspace(0, len(X) - 1, count).astype(int)]
    return np.sort(np.random.default_rng(0).choice(len(X), count, replace=False))
