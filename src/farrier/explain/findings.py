"""From a result to facts: what each component is, its size and its intervals, in the user's units.

The facts (facts.py) are plain numbers. Components are sorted by the variance they explain. Sizes are computed from the
posterior at the fitted rows; intervals come from the appraisal, if there is one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from farrier.explain import calendar_words, measures
from farrier.explain.changes import locations
from farrier.explain.components import NEGLIGIBLE, Parts
from farrier.explain.context import Context, Setting
from farrier.explain.courses import course_facts
from farrier.explain.events import in_total
from farrier.explain.facts import Estimate, Factor, Facts, Level, Round
from farrier.explain.levels import category_of, level_facts
from farrier.explain.measures import Z95, Say
from farrier.explain.notes import notes
from farrier.explain.outlying import Outlying
from farrier.explain.parts import NAMED, fall_of, read, wanders, worth_naming
from farrier.explain.profiles import ROUNDS, profile_of, round_of
from farrier.kernels import registry as base
from farrier.kernels.algebra import Base, Kernel
from farrier.kernels.calendar import CalendarPattern, LocalDay, local_times
from farrier.kernels.warped import Warped
from farrier.model.fitted import Fitted
from farrier.model.result import Result

OVERALL = 0.8
"""Net change over all changes of a curve together, above which it goes one way. [ratio; by judgement]"""
LEVEL = 0.05
"""A last step below this part of the largest is level. [ratio; by judgement]"""
Dates = Mapping[tuple[int, int], Estimate]
"""The interval of each changepoint, by the index of the kernel and of its factor."""
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
    doubtful: bool
    """Whether a component is among them that the search found, but whose evidence is weak."""
    rest_share: float | None
    """The share of the variance that these other kernels explain together."""
    explained: float
    """The share of the variance that all kernels explain together."""
    outlying: Outlying
    """The rows that are far from their expected values."""
    notes: tuple[str, ...] = ()
    """Sentences below the explanation."""
    stays: bool = False
    """Whether the series is a random walk whose forecast stays at the last value."""
    rounds: tuple[Round, ...] = ()
    """One year, week or day of all patterns that repeat so, together."""

    @property
    def rest(self) -> str:
        """The kernels that are not explained, in words."""
        return f"everything too small {'or too doubtful ' if self.doubtful else ''}to name"

    @property
    def about_rounds(self) -> list[str]:
        """When the patterns of one round are high and low together; nothing of those that stand alone."""
        several = [one for one in self.rounds if len(one.components) > 1]
        return [calendar_words.together(one, self.setting.target) for one in several]

    @property
    def about_outliers(self) -> list[str]:
        """What is said of the outliers, sentence by sentence; empty if there are none."""
        return self.outlying.sentences(self.setting.target, len(self.setting.order))


def findings(result: Result, context: Context | None = None) -> Findings:
    """The findings of a result; `context` says what the inputs and the target are called."""
    fitted, setting = result.explained, Setting.of(result, context)
    parts = Parts.of(result)
    inputs, mean, spread, target = result.inputs[parts.rows], parts.mean, parts.spread, parts.target
    variance, shares = parts.variance, parts.shares[1 : 1 + fitted.survivors]
    named = _order(fitted, shares)
    dates = locations(result)
    running = np.cumsum(mean[[1 + i for i in named]], axis=0)
    together = 1.0 - np.var(target - running, axis=1) / variance
    # the first component alone explains its own share
    together[:1] = np.minimum(shares[list(named[:1])], 1.0)
    facts = tuple(
        _facts(
            result, setting, _Curve(inputs, mean[1 + i], spread[1 + i]), i, place, (shares[i], together[place]), dates
        )
        for place, i in enumerate(named)
    )
    rounds = _rounds(result, setting, facts, inputs, mean[[1 + i for i in named]], spread[[1 + i for i in named]])
    partial = {place for one in rounds if len(one.components) > 1 for place in one.components}
    bent = any(one.slopes_around is not None for one in facts)
    facts = tuple(
        replace(one, partial=place in partial, bent=bent and [f.kind for f in one.factors] == ["linear"])
        for place, one in enumerate(facts)
    )
    left = mean.sum(axis=0) - mean[0] - (running[-1] if named else 0.0)
    others = len(fitted.kernels) - len(named) - (fitted.level is not None)
    return Findings(
        setting=setting,
        named=named,
        facts=facts,
        noise=_noise(fitted, setting),
        others=others,
        doubtful=fitted.appraisal is not None and len(named) < len(fitted.appraisal.order),
        # of counts of a constant rate there is no variance that could be shared
        rest_share=float(np.var(left)) / variance if others and (named or not fitted.counts) else None,
        explained=1.0 - float(np.var(target - mean.sum(axis=0))) / variance,
        outlying=Outlying.of(result, setting),
        stays=_stays(result, setting, facts),
        rounds=rounds,
        notes=notes(result, setting),
    )


def _rounds(
    result: Result, setting: Setting, facts: Sequence[Facts], inputs: np.ndarray, mean: np.ndarray, spread: np.ndarray
) -> tuple[Round, ...]:
    """The rounds of the calendar that components go through, longest first."""
    if setting.kind != "series":
        return ()
    x = inputs[:, 0] * result.scale.x_scale[0] + result.scale.x_mean[0]
    found = []
    for name in ROUNDS:
        own = [place for place, one in enumerate(facts) if round_of(one.factors, setting.axis) == name]
        if own:
            # the patterns are estimated together, so their variances are at least not too small when added
            sd = np.sqrt(np.maximum(spread[own].sum(axis=0), 0.0))
            unit = result.explained.scale.sd
            curve = unit * mean[own].sum(axis=0), unit * sd
            levels = profile_of(name, setting.axis, _local(result, x), *curve, setting.added)
            found.append(Round(name, tuple(Level(*level) for level in levels), tuple(own)))
    return tuple(one for one in found if one.profile)


def _local(result: Result, x: np.ndarray) -> np.ndarray:
    """Times on the clock of the patterns, if they have one that differs from the axis."""
    factors = [factor for kernel in result.kernels for factor in kernel.products()[0]]
    local = next((one for one in factors if isinstance(one, LocalDay | CalendarPattern) and len(one.offsets)), None)
    return x if local is None else local_times({key: local.entries(key, 1) for key in local.parameters()}, x)


def columns_of(kernel: Kernel, columns: Sequence[str]) -> tuple[str, ...]:
    """The names of the inputs that a product acts on, in the order of the table."""
    used = {name for factor in kernel.products()[0] for name in _names(factor, columns) if factor.kind != "constant"}
    return tuple(name for name in columns if name in used)


def _order(fitted: Fitted, shares: np.ndarray) -> tuple[int, ...]:
    """The components to explain, largest first: those that the search found and the evidence does not speak against, or
    the large ones of given kernels."""
    appraisal = fitted.appraisal
    if appraisal is not None:
        return tuple(i for i in appraisal.order if worth_naming(appraisal.losses[i], fall_of(*_errors(fitted, i))))
    largest = [int(i) for i in np.argsort(shares)[::-1]]
    return tuple(i for place, i in enumerate(largest) if place == 0 or shares[i] >= NEGLIGIBLE)


def _errors(fitted: Fitted, i: int) -> tuple[float | None, float | None]:
    """The cross-validated error before and after component i is added, on the scale of the model."""
    if fitted.appraisal is None or not fitted.appraisal.errors:
        return None, None
    place = fitted.appraisal.order.index(i)
    return fitted.appraisal.errors[place], fitted.appraisal.errors[place + 1]


@dataclass(frozen=True, eq=False)
class _Curve:
    """The posterior of one component at some rows, on the scale of the model."""

    inputs: np.ndarray
    mean: np.ndarray
    variance: np.ndarray


def _facts(
    result: Result, setting: Setting, curve: _Curve, i: int, place: int, shares: tuple[float, float], dates: Dates
) -> Facts:
    fitted, kernel = result.explained, result.kernels[i]
    appraisal, z_scale = fitted.appraisal, fitted.scale.sd
    factors = _factors(result, kernel, i, dates)
    quantiles = [float(fitted.weights(level)[i]) for level in (0.5, 0.025, 0.975)]
    errors = [None if error is None else setting.size(error * z_scale) for error in _errors(fitted, i)]
    nouns = [factor.kind for factor in factors if factor.kind != "constant"]
    coded, own = category_of(kernel) is not None, columns_of(kernel, result.columns)
    return Facts(
        formula=kernel.formula(result.names),
        factors=factors,
        share=float(shares[0]),
        cumulative=float(shares[1]),
        sd=setting.size(float(curve.mean.std()) * z_scale),
        weight=Estimate(*quantiles),
        evidence=None if appraisal is None else appraisal.losses[i],
        error_before=errors[0],
        error_after=errors[1],
        slope=_slope(result, own, i, setting.size) if nouns == ["linear"] else None,
        monotone=None if coded else _monotone(curve, own, result.columns),
        move=_move(kernel, quantiles, setting) if nouns == ["walk"] else None,
        **_way(curve, own, result.columns, whole=setting.kind != "series", damped="damped" in nouns),
        **(_levels(result, setting, curve, i) if "periodic" not in nouns else {}),
        **level_facts(result, kernel, i, setting.added),
        **({} if coded else _shown(result, setting, curve, factors, i)),
        **({} if coded else course_facts(result, i, setting.size)),
        amplitude=_amplitude(factors, setting) if "linear" in nouns and len(set(nouns)) > 1 else None,
    )


def _factors(result: Result, kernel: Kernel, i: int, dates: Dates) -> tuple[Factor, ...]:
    """The factors of a component, with intervals of their hyperparameters."""
    appraisal, found = result.explained.appraisal, kernel.products()[0]
    ends: list[Sequence[Base]] = []
    if appraisal is not None:
        ends = [result.in_units(side[i]).products()[0] for side in (appraisal.low, appraisal.high)]
    factors = []
    for place, factor in enumerate(found):
        names = _names(factor, result.columns)
        # over several inputs such a factor is a product of one factor for each input, but for a constant
        split = base.SquaredExponential | base.Periodic | base.CentredPeriodic
        splits = isinstance(factor, split) and len(names) <= NAMED + 1
        groups = [(name,) for name in names] if splits else [names]
        sides = [end[place] for end in ends]
        made = [_factor(factor, sides, group, k) for k, group in enumerate(groups)]
        date = dates.get((i, place))
        factors += made if date is None else [replace(one, location=date) for one in made]
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
        # the lengthscale of a warped input has no unit
        lengthscale=None if isinstance(factor, Warped) else number("lengthscale"),
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


def _way(curve: _Curve, own: tuple[str, ...], columns: Sequence[str], *, whole: bool, damped: bool) -> dict[str, str]:
    """Whether a curve of one input rises or falls on the whole, and at the end of the data, as fields of `Facts`.

    The former for damped trends and for the curves of a table (`whole`), the latter for damped trends.
    """
    steps, least = _steps(curve, own, columns)
    if not len(steps) or least == 0.0 or not (whole or damped):
        return {}
    net, last, largest = steps.sum(), steps[-1], np.abs(steps).max()
    overall = {"overall": "rising" if net > 0.0 else "falling"} if abs(net) > OVERALL * np.abs(steps).sum() else {}
    heading = {"heading": "rising" if last > 0.0 else "falling"} if abs(last) > LEVEL * largest else {}
    return overall | (heading if damped else {})


def _steps(curve: _Curve, own: tuple[str, ...], columns: Sequence[str]) -> tuple[np.ndarray, float]:
    """The differences of a curve along its one input, and the size below which they have no sign."""
    if len(own) != 1:
        return np.zeros(0), 0.0
    _, first = np.unique(curve.inputs[:, list(columns).index(own[0])], return_index=True)
    return np.diff(curve.mean[first]), FLAT * float(np.ptp(curve.mean))


def _move(kernel: Kernel, weights: Sequence[float], setting: Setting) -> Estimate:
    """The standard deviation of the change of a random walk over a unit of x, from the weight's median and interval."""
    walk = next(factor for factor in kernel.products()[0] if isinstance(factor, base.RandomWalk))
    root = float(np.sqrt(_entry(walk.scale, 0)))
    return Estimate(*(setting.size(weight / root) for weight in weights))


def _levels(result: Result, setting: Setting, curve: _Curve, i: int) -> dict[str, Any]:
    """The levels of a pattern of the calendar, and the difference of two, as fields of `Facts`."""
    pattern = next((one for one in result.kernels[i].products()[0] if isinstance(one, CalendarPattern)), None)
    if pattern is None:
        return {}
    d, names, unit = (pattern.dims or (0,))[0], pattern.level_names(), result.explained.scale.sd
    x = curve.inputs[:, int(d)] * result.scale.x_scale[int(d)] + result.scale.x_mean[int(d)]
    level, sd = pattern.levels_at(x), np.sqrt(np.maximum(curve.variance, 0.0))
    there = [(names[one], curve.mean[level == one].mean(), sd[level == one].mean()) for one in np.unique(level)]

    def estimate(mean: float, spread: float) -> Estimate:
        ends = (mean, mean - Z95 * spread, mean + Z95 * spread)
        return Estimate(*(setting.added(float(end) * unit) for end in ends))

    shown = there if pattern.shares is not None else [one for one in there if one[0] != names[0]]
    profile = [Level(name, estimate(mean, spread)) for name, mean, spread in shown]
    found: dict[str, Any] = {"profile": in_total(result, i, profile, setting.added)}
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


def _slope(result: Result, own: tuple[str, ...], i: int, say: Say) -> Estimate | None:
    return measures.slope(result, i, result.columns.index(own[0]), say) if len(own) == 1 else None


def _shown(result: Result, setting: Setting, curve: _Curve, factors: Sequence[Factor], i: int) -> dict[str, Any]:
    """What the chart of a component shows, as fields of `Facts`."""
    unit, kernel = result.explained.scale.sd, result.kernels[i]
    own = columns_of(kernel, result.columns)
    windows = [factor for factor in factors if factor.kind in ("from", "until")]
    kinds = {factor.kind for factor in factors} - {"constant", "from", "until"}
    d = result.columns.index(own[0]) if own else 0
    x = curve.inputs[:, d] * result.scale.x_scale[d] + result.scale.x_mean[d]
    found: dict[str, Any] = {"swing": measures.low_to_high(x, curve.mean, factors, unit, setting.size)}
    if windows and not kinds and len({factor.columns for factor in windows}) == 1:
        found["jump"] = measures.jump(result, i, d, windows, setting.added)
    if kinds == {"linear"} and len(own) > 1 and len(factors) == 1:
        each = [measures.slope(result, i, result.columns.index(column), setting.size) for column in own]
        found["plane"] = tuple(zip(own, each, strict=True))
    name = round_of(factors, setting.axis) if setting.kind == "series" and len(own) == 1 else ""
    if name and "periodic" in kinds:
        sd = np.sqrt(np.maximum(curve.variance, 0.0))
        levels = profile_of(name, setting.axis, _local(result, x), unit * curve.mean, unit * sd, setting.added)
        found["profile"] = tuple(Level(*level) for level in levels)
    effect = len(own) == 1 and not windows and not setting.axes[own[0]].timed
    if effect and kinds and kinds <= {"linear", "smooth", "rough"} and measures.two_valued(result, d):
        found["contrast"] = measures.contrast(result, i, d, setting.added)
    elif effect and kinds <= {"smooth", "rough"}:
        shape = measures.shape(result, i, d, x, curve.mean, setting.size)
        found |= {"turn": shape.turn, "straight": shape.slope}
    return found


def _stays(result: Result, setting: Setting, facts: Sequence[Facts]) -> bool:
    """Whether the rows are a random walk whose forecast stays at the last value; of uneven times it is the next one."""
    if setting.kind != "series" or not setting.axis.spacing or not all(wanders(read(one)) for one in facts):
        return False
    ahead = result.at(setting.ahead(max(setting.horizon(None), 1))[0])
    low, median, high = result.explained.quantiles(ahead, (0.1, 0.5, 0.9))
    return measures.stays_at(float(result.target[setting.order[-1]]), median, 0.5 * (high - low))


def _noise(fitted: Fitted, setting: Setting) -> float | None:
    if setting.kind == "classes" or fitted.counts:
        return None
    return setting.size(float(np.sqrt(fitted.noise_variance)) * fitted.scale.sd)
