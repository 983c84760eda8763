"""How large a component is, in the words of its chart: from low to high, per unit, at the step, where it turns.

All sizes are computed from the posterior at given rows. The uncertainty of a difference f(a) - f(b) comes from the
joint posterior at both rows: what the data do not tell, the level of a component beside the others, cancels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from farrier.explain.facts import Estimate, Factor, Turn
from farrier.inference.posteriors import Posterior
from farrier.model.fitted import Fitted
from farrier.model.result import Result
from farrier.search.candidates import acts_on

Z95 = 1.96
"""The 97.5 % quantile of the standard normal distribution."""
ARM = 0.15
"""The smaller arm of a U or a hump, over the range of the curve, from which it is called one. [by judgement]"""
STRAIGHT = 0.06
"""Largest distance of a curve from its line, over its range, up to which it is called straight. [by judgement]"""
SAME = 0.25
"""A change below this part of the half width of the 80 % interval is no change, by judgement."""
FEWEST = 3
"""Fewest rows in a period from which its low and high are taken. [by judgement]"""

Say = Callable[[float], float]
"""A size on the scale of the model as words state it."""


def low_to_high(x: np.ndarray, mean: np.ndarray, factors: Sequence[Factor], unit: float, say: Say) -> float:
    """The distance from low to high: within a typical period, or over all rows.

    `x` is the input of the rows of a series, in the user's units; `unit` is the size of one on the scale of the model.
    """
    periods = [factor.period.value for factor in factors if factor.kind == "periodic" and factor.period is not None]
    spread = float(np.ptp(mean))
    if len(periods) == 1 and np.ptp(x) > periods[0] > 0:
        round_of = np.floor((x - x.min()) / periods[0]).astype(int)
        ranges = [np.ptp(mean[round_of == one]) for one in np.unique(round_of) if np.sum(round_of == one) >= FEWEST]
        # the last round is seldom whole
        spread = float(np.median(ranges[:-1] if len(ranges) > 1 else ranges)) if ranges else spread
    return say(spread * unit)


def difference(result: Result, i: int, a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """f(b) - f(a) of component i and its standard deviation, on the scale of the model; a and b are rows on it."""
    posterior, tier = result.explained.explaining.posterior, result.explained.tier
    both = np.vstack([a, b])
    if tier == "stochastic":
        mean, variance = (each[i] for each in posterior.components(both))
        return float(mean[1] - mean[0]), float(np.sqrt(max(variance.sum(), 0.0)))
    value, variance = _apart(posterior, both, [i])
    fitted = result.explained
    if fitted.beliefs.clock is not None and fitted.alone is not None and acts_on(fitted.alone.kernels[i]):
        variance = max(variance, _variance_of_members(fitted, i, both, value))
    return value, float(np.sqrt(variance))


def difference_of(posterior: Posterior, parts: Sequence[int], ends: np.ndarray) -> tuple[float, float]:
    """The same of the sum of some components, between the two rows `ends`."""
    value, variance = _apart(posterior, ends, parts)
    return value, float(np.sqrt(variance))


def _apart(posterior: Posterior, both: np.ndarray, parts: Sequence[int]) -> tuple[float, float]:
    """The difference of some components between two rows, and its variance."""
    mean, covariance = posterior.joint(both, np.array(parts))
    variance = covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1]
    return float(mean[1] - mean[0]), float(max(variance, 0.0))


def _variance_of_members(fitted: Fitted, i: int, both: np.ndarray, value: float) -> float:
    """The variance about `value` of the effect of a regressor in all structures that predict.

    Its size depends on what else there is: of few rows, one structure is surer of it than the rows allow.
    """
    on, found = acts_on(fitted.explaining.kernels[i]), []
    for one in (fitted, *fitted.others):
        parts = [k for k, kernel in enumerate(one.kernels) if acts_on(kernel) == on]
        if parts and one.scale.transform.name == fitted.scale.transform.name:
            unit, (mean, variance) = one.scale.sd / fitted.scale.sd, _apart(one.posterior, both, parts)
            found.append((one.share, unit**2 * variance + (unit * mean - value) ** 2))
    return float(np.average([size for _, size in found], weights=[share for share, _ in found])) if found else 0.0


def estimate(value: float, sd: float, unit: float, say: Say) -> Estimate:
    """A size with its 95 % interval, as words state it."""
    return Estimate(*(say(end * unit) for end in (value, value - Z95 * sd, value + Z95 * sd)))


def along(result: Result, d: int, places: Sequence[float]) -> np.ndarray:
    """Rows on the scale of the model with input d at given places in the user's units, and the others at their mean."""
    rows = np.tile(np.asarray(result.scale.x_mean, float), (len(places), 1))
    rows[:, d] = places
    return result.at(rows)


def slope(result: Result, i: int, d: int, say: Say) -> Estimate:
    """The change of y for a unit of input d along a straight component."""
    x = result.rows[:, d]
    ends = along(result, d, [float(x.min()), float(x.max())])
    value, sd = difference(result, i, ends[:1], ends[1:])
    return estimate(value, sd, result.explained.scale.sd / float(np.ptp(x)), say)


def two_valued(result: Result, d: int) -> bool:
    """Whether input d has two values among the rows, such as 0 and 1."""
    return len(np.unique(result.inputs[:, d])) == 2


def contrast(result: Result, i: int, d: int, say: Say) -> Estimate:
    """What component i adds at the higher of the two values of input d, beside the lower one."""
    x = result.rows[:, d]
    ends = along(result, d, [float(x.min()), float(x.max())])
    value, sd = difference(result, i, ends[:1], ends[1:])
    return estimate(value, sd, result.explained.scale.sd, say)


def jump(result: Result, i: int, d: int, windows: Sequence[Factor], say: Say) -> Estimate | None:
    """The change of the level where its one window begins or ends: after minus before."""
    x, places = result.rows[:, d], [factor.location.value for factor in windows if factor.location is not None]
    if len(places) != len(windows) or len(places) > 2:
        return None
    # a window with two ends is told by its middle beside what is before it
    inside = float(np.mean(places)) if len(places) == 2 else float(x.max())
    ends = along(result, d, [float(x.min()), inside])
    value, sd = difference(result, i, ends[:1], ends[1:])
    return estimate(value, sd, result.explained.scale.sd, say)


def stays_at(last: float, median: np.ndarray, half: np.ndarray) -> bool:
    """Whether a forecast, with these half widths of its 80 % intervals, stays at the last value."""
    return bool(np.all(np.abs(median - last) <= SAME * half))


@dataclass(frozen=True)
class Shape:
    """The shape of the curve of one input."""

    turn: Turn | None = None
    slope: Estimate | None = None
    """The mean slope of a curve that is nearly straight."""


def shape(result: Result, i: int, d: int, x: np.ndarray, mean: np.ndarray, say: Say) -> Shape:
    """The shape of a curve given at rows: a U, a hump, nearly a straight line, or none of these."""
    places, first = np.unique(x, return_index=True)
    curve, spread = mean[first], float(np.ptp(mean))
    if len(places) < FEWEST or spread == 0.0:
        return Shape()
    line = np.polyval(np.polyfit(places - places.mean(), curve, 1), places - places.mean())
    if np.abs(curve - line).max() <= STRAIGHT * spread:
        return Shape(slope=slope(result, i, d, say))
    for kind, at in (("lowest", int(np.argmin(curve))), ("highest", int(np.argmax(curve)))):
        arms = [abs(curve[end] - curve[at]) for end in (0, -1)]
        flips = np.diff(curve)[:at], np.diff(curve)[at:]
        sign = -1.0 if kind == "lowest" else 1.0
        steady = all(np.all(way * part >= -1e-3 * spread) for way, part in zip((sign, -sign), flips, strict=True))
        if min(arms) >= ARM * spread and steady:
            return Shape(turn=Turn(kind, float(places[at])))
    return Shape()
