"""The numbers behind the plots: the fit, every component alone, the running sum, and the residual after it.

Components are in units of y, or factors where they multiply; on a transformed scale they are in units of y at its
typical level. Running sums and residuals are always in units of y. Each component is centred: its mean over the data is
added to the level. The data do not tell the mean of a slow component from the level, and a band with this uncertainty
would hide the shape.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from farrier.explain.centring import centred
from farrier.explain.context import Setting
from farrier.explain.findings import Findings, columns_of
from farrier.explain.levels import category_of, lines_of
from farrier.explain.measures import Z95
from farrier.model.result import Result
from farrier.model.target_scale import Transform

MOST_ROWS = 1000
"""Most rows that are plotted, evenly chosen, by judgement."""
CURVE_POINTS, GRID_POINTS = 80, 25
"""Points of the curve of one input, and along each side of the map of two, by judgement."""
LEVELS = (0.025, 0.1, 0.5, 0.9, 0.975)
"""Quantiles: the ends of the 95 % and 80 % bands, and the median between them."""
DIGITS = 8
"""Significant digits of a plotted number."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that are plotted, in order, and the steps of the forecast."""

    setting: Setting
    chosen: np.ndarray
    """The indices of these rows in the data."""
    x: np.ndarray
    """The first input, in the user's units, at the rows and then at the steps of the forecast."""
    labels: list[str]
    inputs: np.ndarray
    """The same rows on the scale of the model."""
    y: np.ndarray

    @classmethod
    def of(cls, result: Result, setting: Setting, ahead: int) -> "Rows":
        """The rows of a result, with `ahead` steps of forecast."""
        n = len(setting.order)
        chosen = setting.order[np.unique(np.linspace(0, n - 1, MOST_ROWS).round().astype(int))]
        inputs, x = result.inputs[chosen], result.rows[chosen, 0]
        labels = [setting.labels[i] for i in chosen] if setting.labels else []
        if ahead and setting.time is not None:
            later, names = setting.ahead(ahead)
            labels += names
            x = np.concatenate([x, later[:, 0]])
            inputs = np.vstack([inputs, result.at(later)])
        return cls(setting, chosen, x, labels, inputs, result.target[chosen])


@dataclass(frozen=True, eq=False)
class Curves:
    """The components at some rows on the scale of z: the level, the named components, the rest."""

    rows: Rows
    transform: Transform
    z_mean: float
    z_scale: float
    mean: np.ndarray
    sd: np.ndarray
    named: int
    difference: bool
    """Whether the rest is a difference of two fits, which has no band."""

    @classmethod
    def of(cls, result: Result, named: Sequence[int], rows: Rows) -> "Curves":
        """The curves of a result."""
        fitted = result.explained
        mean, variance = fitted.parts(rows.inputs, named)
        shift = mean[1:, : len(rows.y)].mean(axis=1, keepdims=True)
        mean = np.vstack([mean[:1] + shift.sum(), mean[1:] - shift])
        for place, i in enumerate(named, 1):
            variance[place] = centred(fitted, rows.inputs, rows.inputs[: len(rows.y)], i)[1]
        sd, difference = np.sqrt(np.maximum(variance, 0.0)), fitted.alone is not None
        scale = fitted.component_scale
        return cls(rows, scale.transform, scale.mean, scale.sd, mean, sd, len(named), difference)

    def of_component(self, place: int) -> dict[str, Any]:
        """The curve of a component for the story; empty lists for a table, which has no time."""
        if self.rows.setting.kind != "series":
            return {key: [] for key in ("x", "label", "mean", "low", "high", "running", "residual")}
        n = len(self.rows.y)
        mean, low, high = band_of(self.rows.setting, self.z_scale, self.mean[1 + place], self.sd[1 + place])
        banded = place in range(self.named) or not self.difference
        total = self.mean[: 2 + place, :n].sum(axis=0)
        running = self.transform.inverse(self.z_mean + self.z_scale * total)
        return {
            "x": self.rows.x.tolist(),
            "label": self.rows.labels,
            "mean": short(mean),
            "low": short(low) if banded else [],
            "high": short(high) if banded else [],
            "running": short(running),
            "residual": short(self.rows.y - running),
        }

    def size_of_rest(self) -> float:
        """The standard deviation of the rest, as explanations state it."""
        n = len(self.rows.y)
        return self.rows.setting.size(float(self.mean[-1, :n].std()) * self.z_scale)

    def swing_of_rest(self) -> float:
        """The distance of the rest from low to high, as explanations state it."""
        n = len(self.rows.y)
        return self.rows.setting.size(float(np.ptp(self.mean[-1, :n])) * self.z_scale)

    def end_of_rest(self) -> float | None:
        """The rest at the end of the forecast, as explanations state it; None without a forecast."""
        if len(self.rows.x) == len(self.rows.y):
            return None
        return self.rows.setting.size(float(self.mean[-1, -1]) * self.z_scale)


def band_of(setting: Setting, z_scale: float, mean: np.ndarray, sd: np.ndarray) -> tuple[np.ndarray, ...]:
    """The mean and the ends of the 95 % band of a component; factors where components multiply."""
    curves = [z_scale * (mean + side * sd) for side in (0.0, -Z95, Z95)]
    if setting.target.scale == "multiplicative":
        return tuple(np.exp(curve) for curve in curves)
    return tuple(np.array([setting.added(t) for t in curve.tolist()]) for curve in curves)


def short(values: np.ndarray) -> list[float]:
    """The numbers rounded to as many digits as a plot needs."""
    return [float(f"{value:.{DIGITS}g}") for value in values]


def fit_of(result: Result, rows: Rows) -> dict[str, Any]:
    """The data and the fit; for a series also the band of an observation and the forecast.

    Charts of a series show the median: it lies inside all bands, and on a log scale it is what a forecast means.
    """
    fitted, n = result.explained, len(rows.y)
    if result.classes is not None:
        chance, _ = fitted.observed(rows.inputs)
        return {"y": [result.classes[int(c)] for c in rows.y], "mean": short(chance.mean(axis=0))}
    mean, _ = fitted.moments(rows.inputs)
    if rows.setting.kind == "table":
        return {"y": rows.y.tolist(), "mean": short(mean)}
    low95, low80, median, high80, high95 = fitted.quantiles(rows.inputs, LEVELS)
    bands = {"median": median, "low80": low80, "high80": high80, "low95": low95, "high95": high95}
    return {
        "x": rows.x[:n].tolist(),
        "label": rows.labels[:n],
        "y": rows.y.tolist(),
        "mean": short(mean[:n]),
        "median": short(median[:n]),
        "low": short(low95[:n]),
        "high": short(high95[:n]),
        "future": {"x": rows.x[n:].tolist(), "label": rows.labels[n:], "mean": short(mean[n:])}
        | {name: short(band[n:]) for name, band in bands.items()},
    }


def effects(result: Result, found: Findings) -> list[dict[str, Any] | None]:
    """For each component: the curve of one input, the map of two; None for more, and along the time of a series."""
    return [_effect(result, found, place) for place in range(len(found.named))]


def _effect(result: Result, found: Findings, place: int) -> dict[str, Any] | None:
    setting, columns = found.setting, result.columns
    own = columns_of(result.kernels[found.named[place]], columns)
    if category_of(result.kernels[found.named[place]]) is not None:
        return _by_level(result, found, place, own)
    if len(own) not in (1, 2) or any(setting.axes[name].timed for name in own):
        return None
    points = CURVE_POINTS if len(own) == 1 else GRID_POINTS
    ticks = [np.linspace(setting.axes[name].low, setting.axes[name].high, points) for name in own]
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*ticks)], axis=1)
    rows = np.tile(result.scale.x_mean, (len(grid), 1))
    rows[:, [columns.index(name) for name in own]] = grid
    fitted = result.explained
    mean, variance = centred(fitted, result.at(rows), result.inputs, found.named[place])
    mean, low, high = band_of(setting, fitted.scale.sd, mean, np.sqrt(np.maximum(variance, 0.0)))
    if len(own) == 1:
        return {"column": own[0], "x": short(ticks[0]), "mean": short(mean), "low": short(low), "high": short(high)}
    # z[i][j] belongs to x[j] and y[i]
    z = [short(line) for line in mean.reshape(points, points)]
    return {"columns": list(own), "x": short(ticks[0]), "y": short(ticks[1]), "z": z}


def _by_level(result: Result, found: Findings, place: int, own: tuple[str, ...]) -> dict[str, Any] | None:
    """A number and a category: a curve along the number for each of the largest levels; None for others."""
    setting, i = found.setting, found.named[place]
    numbers = [name for name in own if not result.levels_of(result.columns.index(name))]
    if len(own) != 2 or len(numbers) != 1:
        return None
    column = result.columns.index(numbers[0])
    ticks = np.linspace(setting.axes[numbers[0]].low, setting.axes[numbers[0]].high, CURVE_POINTS)
    lines = lines_of(result, result.kernels[i], i, column, ticks)
    scale = result.explained.scale.sd
    curves = [(name, band_of(setting, scale, mean, np.zeros(len(mean)))[0]) for name, mean in lines]
    return {
        "column": numbers[0],
        "category": next(name for name in own if name not in numbers),
        "x": short(ticks),
        "lines": [{"name": name, "mean": short(mean)} for name, mean in curves],
    }
