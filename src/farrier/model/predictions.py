"""Predictions of structures on different scales of the target, mixed by their shares.

The distribution function of y is the average of those of all structures. Its quantile at a level lies between the
lowest and the highest quantile, at that level, of all that is mixed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, final

import numpy as np
from scipy.special import gammaln, logsumexp, ndtr, ndtri, stdtr, stdtrit

from farrier.inference.exact import LOG_2PI
from farrier.inference.mixtures import crossing, lowest_and_highest, quantiles, row_blocks
from farrier.model.target_scale import TargetScale

LEVELS = (np.arange(80) + 0.5) / 80
"""The levels of the quantiles whose moments are those of an observation of y, where the scale of the model is
transformed or several structures predict. By judgement: 80 of them, of which 2 on each side are 2.5 %."""
MIDDLE = slice(2, -2)
"""The quantiles of LEVELS whose average is the mean: the middle 95 %."""


@final
@dataclass(frozen=True, eq=False)
class Prediction:
    """Observations at N rows by one structure: an equal mixture of S normals on its scale."""

    share: float
    scale: TargetScale
    mean: np.ndarray
    """(S, N)."""
    sd: np.ndarray
    """(S, N)."""

    def at(self, rows: np.ndarray) -> "Prediction":
        """The prediction of some rows."""
        return replace(self, mean=self.mean[:, rows], sd=self.sd[:, rows])

    def quantiles(self, levels: np.ndarray) -> np.ndarray:
        """Quantiles of y, (levels, N)."""
        return self.scale.inverse(quantiles(self.mean, self.sd, levels))

    def between(self, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest quantile of its normals, (levels, N) each."""
        low, high = lowest_and_highest(self.mean, self.sd, levels)
        return self.scale.inverse(low), self.scale.inverse(high)

    def cumulative(self, y: np.ndarray) -> np.ndarray:
        """The share times P(Y <= y), for y (levels, N)."""
        below = ndtr((self.scale.reached(y)[:, None, :] - self.mean[None]) / self.sd[None])
        return self.share * below.mean(axis=1)

    def log_density(self, y: np.ndarray) -> np.ndarray:
        """The log of the share times the density of y (N,)."""
        z = self.scale.reached(y)
        each = -0.5 * (((z - self.mean) / self.sd) ** 2 + LOG_2PI) - np.log(self.sd)
        possible = np.isfinite(z)
        slopes = self.scale.log_slopes(np.where(possible, y, 1.0))
        inside = logsumexp(np.where(possible, each, 0.0), axis=0) - np.log(len(each)) + slopes + np.log(self.share)
        return np.where(possible, inside, -np.inf)


@final
@dataclass(frozen=True, eq=False)
class StudentPrediction:
    """Observations at N rows by one member of a table's average: a Student-t on its scale (stacking.py)."""

    share: np.ndarray
    """Its share at each row, (N,)."""
    scale: TargetScale
    mean: np.ndarray
    """(N,)."""
    sd: np.ndarray
    """The scale of the Student-t, (N,)."""
    degrees: np.ndarray
    """Its degrees of freedom, (N,)."""

    def at(self, rows: np.ndarray) -> "StudentPrediction":
        """The prediction of some rows."""
        share, mean, sd, degrees = (one[rows] for one in (self.share, self.mean, self.sd, self.degrees))
        return replace(self, share=share, mean=mean, sd=sd, degrees=degrees)

    def quantiles(self, levels: np.ndarray) -> np.ndarray:
        """Quantiles of y, (levels, N)."""
        return self.scale.inverse(self.mean + stdtrit(self.degrees, levels[:, None]) * self.sd)

    def between(self, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The quantiles themselves."""
        found = self.quantiles(levels)
        return found, found

    def cumulative(self, y: np.ndarray) -> np.ndarray:
        """The share times P(Y <= y), for y (levels, N)."""
        return self.share * stdtr(self.degrees, (self.scale.reached(y) - self.mean) / self.sd)

    def log_density(self, y: np.ndarray) -> np.ndarray:
        """The log of the share times the density of y (N,)."""
        z, nu = self.scale.reached(y), self.degrees
        possible = np.isfinite(z)
        square = ((np.where(possible, z, 0.0) - self.mean) / self.sd) ** 2
        constant = gammaln(0.5 * (nu + 1.0)) - gammaln(0.5 * nu) - 0.5 * np.log(np.pi * nu)
        slopes = self.scale.log_slopes(np.where(possible, y, 1.0))
        inside = constant - 0.5 * (nu + 1.0) * np.log1p(square / nu) - np.log(self.sd) + slopes + np.log(self.share)
        return np.where(possible, inside, -np.inf)


Shared: TypeAlias = Prediction | StudentPrediction
"""A prediction of one of several structures, with its share."""


def middle_spread(values: np.ndarray) -> np.ndarray:
    """The standard deviation of the middle 95 % of y, from its quantiles at LEVELS, over that of a standard normal."""
    return values[MIDDLE].std(axis=0) / ndtri(LEVELS[MIDDLE]).std()


def mixed_quantiles(predictions: Sequence[Shared], levels: np.ndarray) -> np.ndarray:
    """Quantiles of y, (levels, N), of the mixture of all predictions, some rows at a time."""
    if len(predictions) == 1:
        return predictions[0].quantiles(levels)
    rows = predictions[0].mean.shape[-1]
    normals = sum(one.mean.size for one in predictions) // max(rows, 1)
    found = [
        _mixed_quantiles([one.at(block) for one in predictions], levels)
        for block in row_blocks(rows, normals * len(levels))
    ]
    return np.concatenate([np.zeros((len(levels), 0)), *found], axis=1)


def _mixed_quantiles(predictions: Sequence[Shared], levels: np.ndarray) -> np.ndarray:
    lows, highs = zip(*(one.between(levels) for one in predictions), strict=True)
    ends, unit = (np.min(lows, axis=0), np.max(highs, axis=0)), _unit(predictions)

    def inverse(x: np.ndarray) -> np.ndarray:
        return x if unit is None else unit * np.sinh(x)

    def above(x: np.ndarray, level: np.ndarray, row: np.ndarray) -> np.ndarray:
        y = inverse(x)[None]
        return np.sum([one.at(row).cumulative(y)[0] for one in predictions], axis=0) - levels[level]

    if unit is not None:
        largest = 0.25 * np.finfo(float).max
        ends = tuple(np.arcsinh(np.clip(end / unit, -largest, largest)) for end in ends)
    return inverse(crossing(above, *ends))


def _unit(predictions: Sequence[Shared]) -> float | None:
    """The size of an ordinary y if it is transformed: quantiles are then found on the scale arsinh(y / unit).

    Far in a heavy tail a member on the scale of logarithms has quantiles of any size, and between such ends an interval
    of y would have to be halved a thousand times.
    """
    scale = next((one.scale for one in predictions if one.scale.transform.name != "identity"), None)
    return None if scale is None else float(scale.inverse(np.zeros(1))[0])
