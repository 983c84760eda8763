"""From a result to facts: what each component is, its size and its intervals, in the user's units.

The facts (facts.py) are plain numbers. Components are sorted by the variance they explain. Sizes are computed from the
posterior at the fitted rows; intervals come from the appraisal, if there is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from farrier.explain.components import NEGLIGIBLE
from farrier.explain.context import Context, Setting
from farrier.explain.facts import Estimate, Factor, Facts, Level
from farrier.explain.levels import category_of, level_facts
from farrier.explain.notes import notes
from farrier.explain.outlying import Outlying
from farrier.explain.parts import NAMED
from farrier.kernels import registry as base
from farrier.kernels.algebra import Base, Kernel
from farrier.kernels.calendar import CalendarPattern
from farrier.model.fitted import Fitted
from farrier.model.result import Result

Z95 = 1.96
"""The 97.5 % quantile of the standard normal distribution."""
MOST_ROWS = 4000
"""Most rows at which the sizes of components are computed, by judgement."""
OVERALL = 0.8
"""Net change over all changes of a curve together, above which it goes one way. [ratio; by judgement]"""
LEVEL = 0.05
"""A last step below this part of the largest is level. [ratio; by judgement]"""
FLAT = 1e-6
"""Steps of a curve smaller than this part of its range count as level, by judgement."""


@dataclass(frozen=True, eq=False)
class Findings:
    """The facts about a fitted model, from which explanations and reports are made."""

    setting: Setting
    named: tuple[int, ...]
    """The components that are explained, as indices into `Result.kernels`, in the order of `facts`."""
    facts: tuple[Facts, ...]
    noise: float | None
    """The standard deviation of the noise, in units of y, or relative where components multiply."""
    others: int
    """The number of kernels that are not explained."""
    rest_share: float | None
    """The share of the variance that these other kernels explain together."""
    explained: float
    """The share of the variance that all kernels explain together."""
    outlying: Outlying
    """The rows that are far from their expected values."""
    notes: tuple[str, ...] = ()
    """Sentences below the explanation."""

    @property
    def about_outliers(self) -> list[str]:
        """What is said of the outliers, sentence by sentence; empty if there are none."""
        return self.outlying.sentences(self.setting.target, len(self.setting.order))


def findings(result: Result, context: Context | None = None) -> Findings:
    """The findings of a result; `context` says what the inputs and the target are called."""
    fitted, setting = result.fitted, Setting.of(result, context)
    rows = np.unique(np.linspace(0, len(result.inputs) - 1, MOST_ROWS).round().astype(int))
    inputs = result.inputs[rows]
    mean, spread = fitted.parts(inputs, range(fitted.survivors))
    target = mean.sum(axis=0) if setting.kind == "classes" else fitted.scale.forward(result.target[rows])
    variance = max(float(np.var(target)), np.finfo(float).tiny)
    shares = mean.var(axis=1)[1 : 1 + fitted.survivors] / variance
    named = _order(fitted, shares)
    running = np.cumsum(mean[[1 + i for i in named]], axis=0)
    together = 1.0 - np.var(target - running, axis=1) / variance
    # the first component alone explains its own share
    together[:1] = np.minimum(shares[list(named[:1])], 1.0)
    facts = tuple(
        _facts(result, setting, _Curve(inputs, mean[1 + i], spread[1 + i]), i, place, shares[i], together[place])
        for place, i in enumerate(named)
    )
    left = mean.sum(axis=0) - mean[0] - (running[-1] if named else 0.0)
    others = len(fitted.kernels) - len(named) - (fitted.level is not None)
    return Findings(
        setting=setting,
        named=named,
        facts=facts,
        noise=_noise(fitted, setting),
        others=others,
        rest_share=float(np.var(left)) / variance if others else None,
        explained=1.0 - float(np.var(target - mean.sum(axis=0))) / variance,
        outlying=Outlying.of(result, setting),
        notes=notes(result, setting),
    )


def in_words_of(target_scale: str, size: float) -> float:
    """A size on the model's scale as explanations state it: in units of y, or relative where components multiply."""
    return float(np.expm1(size)) if target_scale == "multiplicative" else size


def columns_of(kernel: Kernel, columns: Sequence[str]) -> tuple[str, ...]:
    """The names of the inputs that a product acts on, in the order of the table."""
    used = {name for factor in kernel.products()[0] for name in _names(factor, columns) if factor.kind != "constant"}
    return tuple(name for name in columns if name in used)


def _order(fitted: Fitted, shares: np.ndarray) -> tuple[int, ...]:
    """The components to explain, largest first: all that the search found, or the large ones of given kernels."""
    if fitted.appraisal is not None:
        return fitted.appraisal.order
    largest = [int(i) for i in np.argsort(shares)[::-1]]
    return tuple(i for place, i in enumerate(largest) if place == 0 or shares[i] >= NEGLIGIBLE)


@dataclass(frozen=True, eq=False)
class _Curve:
    """The posterior of one component at some rows, on the scale of the model."""

    inputs: np.ndarray
    mean: np.ndarray
    variance: np.ndarray


def _facts(
    result: Result, setting: Setting, curve: _Curve, i: int, place: int, share: float, cumulative: float
) -> Facts:
    fitted, kernel, scale = result.fitted, result.kernels[i], setting.target.scale
    appraisal, z_scale = fitted.appraisal, fitted.scale.sd
    factors = _factors(result, kernel, i)
    quantiles = [float(fitted.weights(level)[i]) for level in (0.5, 0.025, 0.975)]
    errors = [None, None]
    if appraisal is not None and appraisal.errors:
        errors = [in_words_of(scale, error * z_scale) for error in appraisal.errors[place : place + 2]]
    nouns = [factor.kind for factor in factors if factor.kind != "constant"]
    coded = category_of(kernel) is not None
    return Facts(
        formula=kernel.formula(result.names),
        factors=factors,
        share=float(share),
        cumulative=float(cumulative),
        sd=in_words_of(scale, float(curve.mean.std()) * z_scale),
        weight=Estimate(*quantiles),
        evidence=None if appraisal is None else appraisal.losses[i],
        error_before=errors[0],
        error_after=errors[1],
        slope=_slope(result, setting, curve, i) if nouns == ["linear"] else None,
        monotone=None if coded else _monotone(curve, columns_of(kernel, result.columns), result.columns),
        move=_move(kernel, quantiles, scale) if nouns == ["walk"] else None,
        **(_way(curve, columns_of(kernel, result.columns), result.columns) if "damped" in nouns else {}),
        **(_levels(result, curve, kernel, scale) if "periodic" not in nouns else {}),
        **level_facts(result, kernel, i, partial(in_words_of, scale)),
        amplitude=_amplitude(factors, setting) if "linear" in nouns and len(set(nouns)) > 1 else None,
    )


def _factors(result: Result, kernel: Kernel, i: int) -> tuple[Factor, ...]:
    """The factors of a component, with intervals of their hyperparameters."""
    appraisal, found = result.fitted.appraisal, kernel.products()[0]
    ends: list[Sequence[Base]] = []
    if appraisal is not None:
        ends = [result.in_units(side[i]).products()[0] for side in (appraisal.low, appraisal.high)]
    factors = []
    for place, factor in enumerate(found):
        names = _names(factor, result.columns)
        # over several inputs such a factor is a product of one factor for each input
        splits = isinstance(factor, base.SquaredExponential | base.Periodic) and len(names) <= NAMED + 1
        groups = [(name,) for name in names] if splits else [names]
        sides = [end[place] for end in ends]
        factors += [_factor(factor, sides, group, k) for k, group in enumerate(groups)]
    return tuple(factors)


def _factor(factor: Base, sides: Sequence[Base], names: tuple[str, ...], k: int) -> Factor:
    def number(name: str) -> Estimate | None:
        if len(names) > 1 or name not in factor.parameters():
            return None
        value, *others = (_entry(getattr(one, name), k) for one in (factor, *sides))
        return Estimate(value, min(value, *others), max(value, *others)) if others else Estimate(value, value, value)

    width = number("width")
    return Factor(
        kind=factor.kind,
        columns=names,
        location=number("location"),
        width=None if width is None else width.value,
        lengthscale=number("lengthscale"),
        # the period of a daily cycle in local time is a day
        period=number("period") or (number("day") if factor.kind == "periodic" else None),
        damping=number("damping"),
    )


def _entry(parameter: Any, k: int) -> float:
    """The number of column k of a parameter that has one for all columns or one for each."""
    entries = np.ravel(np.asarray(parameter, np.float64))
    return float(entries[k if len(entries) > 1 else 0])


def _names(factor: Base, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(columns) if factor.dims is None else tuple(columns[int(d)] for d in factor.dims)


def _monotone(curve: _Curve, own: tuple[str, ...], columns: Sequence[str]) -> str | None:
    """Whether a curve of one input rises or falls throughout."""
    steps, least = _steps(curve, own, columns)
    if not len(steps) or least == 0.0:
        return None
    return "rising" if np.all(steps > -least) else "falling" if np.all(steps < least) else None


def _way(curve: _Curve, own: tuple[str, ...], columns: Sequence[str]) -> dict[str, str]:
    """Whether a curve of one input rises or falls on the whole, and at the end of the data, as fields of `Facts`."""
    steps, least = _steps(curve, own, columns)
    if not len(steps) or least == 0.0:
        return {}
    net, last, largest = steps.sum(), steps[-1], np.abs(steps).max()
    overall = {"overall": "rising" if net > 0.0 else "falling"} if abs(net) > OVERALL * np.abs(steps).sum() else {}
    heading = {"heading": "rising" if last > 0.0 else "falling"} if abs(last) > LEVEL * largest else {}
    return overall | heading


def _steps(curve: _Curve, own: tuple[str, ...], columns: Sequence[str]) -> tuple[np.ndarray, float]:
    """The differences of a curve along its one input, and the size below which they have no sign."""
    if len(own) != 1:
        return np.zeros(0), 0.0
    _, first = np.unique(curve.inputs[:, list(columns).index(own[0])], return_index=True)
    return np.diff(curve.mean[first]), FLAT * float(np.ptp(curve.mean))


def _move(kernel: Kernel, weights: Sequence[float], scale: str) -> Estimate:
    """The standard deviation of the change of a random walk over a unit of x, from the weight's median and interval."""
    walk = next(factor for factor in kernel.products()[0] if isinstance(factor, base.RandomWalk))
    root = float(np.sqrt(_entry(walk.scale, 0)))
    return Estimate(*(in_words_of(scale, weight / root) for weight in weights))


def _levels(result: Result, curve: _Curve, kernel: Kernel, scale: str) -> dict[str, Any]:
    """The levels of a pattern of the calendar, and the difference of two, as fields of `Facts`."""
    pattern = next((one for one in kernel.products()[0] if isinstance(one, CalendarPattern)), None)
    if pattern is None:
        return {}
    d, names, unit = (pattern.dims or (0,))[0], pattern.level_names(), result.fitted.scale.sd
    x = curve.inputs[:, int(d)] * result.scale.x_scale[int(d)] + result.scale.x_mean[int(d)]
    level, sd = pattern.levels_at(x), np.sqrt(np.maximum(curve.variance, 0.0))
    there = [(names[one], curve.mean[level == one].mean(), sd[level == one].mean()) for one in np.unique(level)]

    def estimate(mean: float, spread: float) -> Estimate:
        ends = (mean, mean - Z95 * spread, mean + Z95 * spread)
        return Estimate(*(in_words_of(scale, float(end) * unit) for end in ends))

    shown = there if pattern.shares is not None else [one for one in there if one[0] != names[0]]
    found: dict[str, Any] = {"profile": tuple(Level(name, estimate(mean, spread)) for name, mean, spread in shown)}
    if len(names) == len(there) == 2:
        # a pattern of two levels is one number times their difference
        (_, first, sd_first), (_, second, sd_second) = there
        found["contrast"] = estimate(second - first, sd_first + sd_second)
    return found


def _amplitude(factors: Sequence[Factor], setting: Setting) -> str | None:
    """How the size changes along the data, from where the linear factors are zero."""
    sides = set()
    for factor in factors:
        if factor.kind == "linear" and factor.location is not None:
            axis, at = setting.axes[factor.columns[0]], factor.location.value
            sides.add("growing" if at < axis.low else "shrinking" if at > axis.high else "smallest inside")
    return "smallest inside" if "smallest inside" in sides else sides.pop() if len(sides) == 1 else None


def _slope(result: Result, setting: Setting, curve: _Curve, i: int) -> Estimate | None:
    """The change of y for a unit of x along f(x) = b (x - location), whose variance is (x - location)^2 Var b."""
    kernel, fitted = result.fitted.explaining.kernels[i], result.fitted
    own = columns_of(kernel, result.columns)
    if len(own) != 1:
        return None
    d = result.columns.index(own[0])
    line = next(factor for factor in kernel.products()[0] if isinstance(factor, base.Linear))
    away = curve.inputs[:, d] - _entry(line.location, 0)
    far = int(np.argmax(np.abs(away)))
    slope, sd = curve.mean[far] / away[far], np.sqrt(max(curve.variance[far], 0.0)) / abs(away[far])
    unit = fitted.scale.sd / float(result.scale.x_scale[d])
    ends = (slope, slope - Z95 * sd, slope + Z95 * sd)
    return Estimate(*(in_words_of(setting.target.scale, float(end) * unit) for end in ends))


def _noise(fitted: Fitted, setting: Setting) -> float | None:
    if setting.kind == "classes":
        return None
    return in_words_of(setting.target.scale, float(np.sqrt(fitted.noise_variance)) * fitted.scale.sd)
