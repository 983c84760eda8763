"""How much of the variance of a table's function each input carries, and each interaction of two (Sobol indices).

With inputs that are drawn independently, each from its rows, f has one decomposition into parts that do not overlap:

    f = f_0 + sum_d f_d(x_d) + sum_de f_de(x_d, x_e) + rest,     f_d(x) = E[f | x_d = x] - f_0,
    f_de(x, z) = E[f | x_d = x, x_e = z] - f_d(x) - f_e(z) - f_0

Their variances add up to that of f. Expectations over the other inputs are averages over few rows: an orthogonal array
(Owen 1992), in which every pair of levels of two inputs occurs equally often, so that no main effect and no interaction
of two other inputs disturbs them. They are linear in f, so that their joint posterior is normal given the parameters;
the interval of a share comes from draws of it, over several draws of the parameters. f is that of the structure that
explains; if it has no component, that of the member with the largest share in predictions.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

import numpy as np

from farrier.inference.posteriors import GaussianPosterior, LaplacePosterior
from farrier.model.fitted import Fitted
from farrier.search.periods import FEWEST_VALUES
from farrier.search.table_moves import INTERACTIONS

FUNCTION_DRAWS = 200
"""Draws of the function from which intervals come. [draws; by judgement]"""
ROWS = 2000
"""Rows of independent inputs over which the variance of the mean of the function is computed. [rows; by judgement]"""


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
    posteriors, scale = _explaining(fitted)
    design = _Design(posteriors, X)
    total = design.total()
    variances = {(d,): design.main(d) for d in range(X.shape[1])}
    variances |= {pair: design.pair(*pair) for pair in combinations(sorted(design.order[: design.paired]), 2)}
    whole = max(total, float(sum(one.mean() for one in variances.values())), np.finfo(float).tiny)
    drawn = np.sum(list(variances.values()), axis=0)
    drawn = np.maximum(drawn + whole - drawn.mean(), np.finfo(float).tiny)
    found = [_share(inputs, one, whole, drawn) for inputs, one in variances.items()]
    found.sort(key=lambda one: -one.value)
    return VarianceShares(tuple(found), max(1.0 - sum(one.value for one in found), 0.0), scale)


def _share(inputs: tuple[int, ...], variance: np.ndarray, whole: float, drawn: np.ndarray) -> Share:
    """The share from draws of its variance and of that of f: both are uncertain."""
    low, high = np.quantile(np.minimum(variance / drawn, 1.0), (0.025, 0.975))
    value = float(variance.mean()) / whole
    return Share(inputs, value, min(float(low), value), max(float(high), value))


def _explaining(fitted: Fitted) -> tuple[list[Any], str]:
    """The posterior of what explains, for some draws of its parameters, the mode first, and the name of its scale."""
    best = max(fitted.others, key=lambda one: one.share, default=None)
    own = fitted.survivors > 0 or best is None or best.share <= fitted.share
    posterior: Any = fitted.posterior if own or best is None else best.posterior
    scale = fitted.scale if own or best is None else best.scale
    parameters = list(posterior.posteriors) if isinstance(posterior, LaplacePosterior) else [posterior]
    # five draws of the parameters; more draws of f come from each
    return parameters[:5], scale.transform.name


class _Design:
    """Rows at which f is evaluated, and draws of its averages there."""

    def __init__(self, posteriors: list[Any], X: np.ndarray) -> None:
        self._posteriors, self._X = posteriors, X
        self._generator = np.random.default_rng(0)
        self.paired = INTERACTIONS
        self.order = self._interacting()

    @property
    def _mode(self) -> Any:
        return self._posteriors[0]

    def _shuffled(self, rows: int) -> np.ndarray:
        """Rows of independent inputs: a Latin hypercube."""
        return np.column_stack([self._generator.permutation(self._values(d, rows)) for d in range(self._X.shape[1])])

    def _background(self, levels: int) -> np.ndarray:
        """levels^2 rows of inputs: an orthogonal array of those that move f most, for a prime number of levels.

        Of row (i, j), column 0 has level j, and column k + 1 has level i + k j, modulo the number of levels. Which
        level is which value is drawn.
        """
        rows = self._shuffled(levels**2)
        i, j = np.divmod(np.arange(levels**2), levels)
        columns = [j, *((i + k * j) % levels for k in range(levels))]
        for d, column in zip(self.order, columns, strict=False):
            rows[:, d] = self._generator.permutation(self._values(d, levels))[column]
        return rows

    def _values(self, d: int, points: int) -> np.ndarray:
        """Values of one input, as frequent as among the rows; those of a number have its mean and variance too."""
        x = self._X[:, d]
        values = np.quantile(x, (np.arange(points) + 0.5) / points, method="inverted_cdf")
        if len(np.unique(x)) < FEWEST_VALUES or values.std() == 0.0:
            return values
        return x.mean() + (values - values.mean()) * (x.std() / values.std())

    def _draws(self, points: np.ndarray, groups: int) -> np.ndarray:
        """Draws of the averages of f over equal groups of consecutive points, (S, groups)."""
        count = -(-FUNCTION_DRAWS // len(self._posteriors))
        return np.concatenate([self._drawn(posterior, points, groups, count) for posterior in self._posteriors])

    def _drawn(self, posterior: Any, points: np.ndarray, groups: int, count: int) -> np.ndarray:
        """The same given one draw of the parameters."""
        if isinstance(posterior, GaussianPosterior) and len(posterior.weights) == 1:
            mean, covariance = posterior.averages(points, groups)
        else:
            mean, covariance = posterior.joint(points)
            size = len(points) // groups
            mean = mean.reshape(groups, size).mean(axis=1)
            covariance = covariance.reshape(groups, size, groups, size).mean(axis=(1, 3))
        values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
        noise = self._generator.standard_normal((count, groups))
        return mean + (noise * np.sqrt(np.maximum(values, 0.0))) @ vectors.T

    def total(self) -> float:
        """The posterior mean of the variance of f."""
        points = self._shuffled(FUNCTION_DRAWS)
        draws = self._draws(points, len(points))
        # the variance of the mean needs many rows; what draws have beyond it needs few
        beyond = draws.var(axis=1).mean() - draws.mean(axis=0).var()
        mean = self._mode.draws(self._shuffled(ROWS))[0].mean(axis=0)
        return float(mean.var() + max(beyond, 0.0))

    def main(self, d: int) -> np.ndarray:
        """Draws of the variance of f_d."""
        # 24 values of the input; the others from an orthogonal array of 5 levels, a prime number
        values = self._values(d, 24)
        effects = self._effects((d,), values[:, None], 5)
        return _variance(effects - effects.mean(axis=2, keepdims=True))

    def pair(self, d: int, e: int) -> np.ndarray:
        """Draws of the variance of f_de."""
        # a grid of 6 times 6 values; the other inputs have 3 levels, a prime number
        side = 6
        first, second = np.meshgrid(self._values(d, side), self._values(e, side), indexing="ij")
        places = np.column_stack([first.ravel(), second.ravel()])
        grid = self._effects((d, e), places, 3).reshape(-1, 2, side, side)
        alone = grid.mean(axis=2, keepdims=True) + grid.mean(axis=3, keepdims=True)
        return _variance((grid - alone + grid.mean(axis=(2, 3), keepdims=True)).reshape(len(grid), 2, -1))

    def _effects(self, inputs: tuple[int, ...], places: np.ndarray, levels: int) -> np.ndarray:
        """Draws of the averages of f at places (P, inputs), over each of two sets of other inputs, (S, 2, P)."""
        points = []
        for _ in range(2):
            rows = np.tile(self._background(levels), (len(places), 1))
            rows[:, inputs] = np.repeat(places, levels**2, axis=0)
            points.append(rows)
        return self._draws(np.concatenate(points), 2 * len(places)).reshape(-1, 2, len(places))

    def _interacting(self) -> list[int]:
        """The inputs, first those that change f most when they alone are drawn anew: an input may act through
        interactions alone."""
        rows = self._shuffled(FUNCTION_DRAWS)
        before = self._mode.draws(rows)[0].mean(axis=0)
        moved = []
        for d in range(rows.shape[1]):
            other = rows.copy()
            other[:, d] = self._generator.permutation(rows[:, d])
            moved.append(float(np.mean((self._mode.draws(other)[0].mean(axis=0) - before) ** 2)))
        return [int(d) for d in np.argsort(moved)[::-1]]


def _variance(effects: np.ndarray) -> np.ndarray:
    """The variance of an effect from two independent estimates of it, (S, 2, P): their errors do not add to it."""
    return np.maximum(np.mean(effects[:, 0] * effects[:, 1], axis=1), 0.0)
