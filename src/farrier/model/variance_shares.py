"""How much of the variance of a table's function each input carries, and each interaction of two (Sobol indices).

With inputs that are drawn independently, each from its rows, f has one decomposition into parts that do not overlap:

    f = f_0 + sum_d f_d(x_d) + sum_de f_de(x_d, x_e) + rest,     f_d(x) = E[f | x_d = x] - f_0,
    f_de(x, z) = E[f | x_d = x, x_e = z] - f_d(x) - f_e(z) - f_0

Their variances add up to that of f. Expectations over the other inputs are averages over some rows of shuffled inputs.
They are linear in f, so that their joint posterior is normal; the interval of a share comes from draws of it. f is that
of the member with the largest share in predictions, on its own scale of the target, at the mode of its parameters.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

import numpy as np

from farrier.inference.laplace import LaplacePosterior
from farrier.model.fitted import Fitted
from farrier.search.candidate_settings import ShareSettings


@final
@dataclass(frozen=True)
class Share:
    """The part of the variance of f that some inputs carry, beyond what fewer of them carry, with a 95 % interval."""

    inputs: tuple[int, ...]
    value: float
    low: float
    high: float


@final
@dataclass(frozen=True)
class VarianceShares:
    """The shares, largest first."""

    shares: tuple[Share, ...]
    rest: float
    """The share of all other interactions: the shares and this add up to one."""
    scale: str
    """The scale of the target on which f is."""


def variance_shares(fitted: Fitted, X: np.ndarray) -> VarianceShares:
    """The shares for rows X on the scale of the model."""
    posterior, scale = _strongest(fitted)
    design = _Design(posterior, X, fitted.settings.shares)
    total = design.total()
    mains = {(d,): design.main(d) for d in range(X.shape[1])}
    order = sorted(mains, key=lambda one: -float(mains[one].mean()))
    # an input may act through interactions alone, so the inputs that move f most are compared by both
    chosen = design.interacting([one[0] for one in order])
    variances = mains | {pair: design.pair(*pair) for pair in combinations(sorted(chosen), 2)}
    whole = max(total, float(sum(one.mean() for one in variances.values())), np.finfo(float).tiny)
    found = [
        Share(inputs, float(one.mean()) / whole, *(float(end) / whole for end in np.quantile(one, (0.025, 0.975))))
        for inputs, one in variances.items()
    ]
    found.sort(key=lambda one: -one.value)
    return VarianceShares(tuple(found), max(1.0 - sum(one.value for one in found), 0.0), scale)


def _strongest(fitted: Fitted) -> tuple[Any, str]:
    """The posterior with the largest share in predictions, and the name of its scale."""
    best = max(fitted.others, key=lambda one: one.share, default=None)
    own = best is None or best.share <= fitted.share
    posterior: Any = fitted.posterior if own or best is None else best.posterior
    scale = fitted.scale if own or best is None else best.scale
    return posterior.posteriors[0] if isinstance(posterior, LaplacePosterior) else posterior, scale.transform.name


class _Design:
    """Rows at which f is evaluated, and draws of its averages there."""

    def __init__(self, posterior: Any, X: np.ndarray, settings: ShareSettings) -> None:
        self._posterior, self._X, self._settings = posterior, X, settings
        self._generator = np.random.default_rng(0)

    def _shuffled(self, rows: int) -> np.ndarray:
        """Rows of independent inputs."""
        return np.column_stack([self._generator.choice(x, rows) for x in self._X.T])

    def _values(self, d: int, points: int) -> np.ndarray:
        """Values of one input, as frequent as among the rows."""
        return np.quantile(self._X[:, d], (np.arange(points) + 0.5) / points, method="inverted_cdf")

    def _draws(self, points: np.ndarray, groups: int) -> np.ndarray:
        """Draws of the averages of f over equal groups of consecutive points, (S, groups)."""
        mean, covariance = self._posterior.joint(points)
        size = len(points) // groups
        mean = mean.reshape(groups, size).mean(axis=1)
        covariance = covariance.reshape(groups, size, groups, size).mean(axis=(1, 3))
        values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
        noise = self._generator.standard_normal((self._settings.draws, groups))
        return mean + (noise * np.sqrt(np.maximum(values, 0.0))) @ vectors.T

    def total(self) -> float:
        """The posterior mean of the variance of f."""
        points = self._shuffled(self._settings.drawn_rows)
        draws = self._draws(points, len(points))
        # the variance of the mean needs many rows; what draws have beyond it needs few
        beyond = draws.var(axis=1).mean() - draws.mean(axis=0).var()
        mean = self._posterior.draws(self._shuffled(self._settings.rows))[0].mean(axis=0)
        return float(mean.var() + max(beyond, 0.0))

    def main(self, d: int) -> np.ndarray:
        """Draws of the variance of f_d."""
        values = self._values(d, self._settings.points)
        points = np.tile(self._shuffled(self._settings.background), (len(values), 1))
        points[:, d] = np.repeat(values, self._settings.background)
        return self._draws(points, len(values)).var(axis=1)

    def pair(self, d: int, e: int) -> np.ndarray:
        """Draws of the variance of f_de."""
        side, background = self._settings.side, self._settings.pair_background
        first, second = np.meshgrid(self._values(d, side), self._values(e, side), indexing="ij")
        points = np.tile(self._shuffled(background), (side * side, 1))
        points[:, d], points[:, e] = np.repeat(first.ravel(), background), np.repeat(second.ravel(), background)
        grid = self._draws(points, side * side).reshape(-1, side, side)
        alone = grid.mean(axis=1, keepdims=True) + grid.mean(axis=2, keepdims=True)
        return np.mean((grid - alone + grid.mean(axis=(1, 2), keepdims=True)) ** 2, axis=(1, 2))

    def interacting(self, order: list[int]) -> list[int]:
        """The inputs whose pairs are looked at: those that change f most when they alone are drawn anew."""
        rows = self._shuffled(self._settings.drawn_rows)
        before = self._posterior.draws(rows)[0].mean(axis=0)
        moved = []
        for d in order:
            other = rows.copy()
            other[:, d] = self._generator.permutation(rows[:, d])
            moved.append(float(np.mean((self._posterior.draws(other)[0].mean(axis=0) - before) ** 2)))
        best = np.argsort(moved)[::-1][: self._settings.paired]
        return [order[int(i)] for i in best]
