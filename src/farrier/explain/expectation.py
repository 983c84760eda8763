"""What to expect, in a few sentences: the opening of a report.

For a series it tells the forecast: its average beside the past, where it is highest and lowest, how wide the 95 %
intervals are, and which structures share it. For a table it tells how well the inputs predict, and which of them have
no effect. The numbers come from the curves of the report, so that words and charts agree.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from farrier.explain import course_words
from farrier.explain.context import Setting, step_of, steps_in_words
from farrier.explain.facts import Facts, Target
from farrier.explain.findings import Findings, columns_of
from farrier.explain.measures import SAME, stays_at
from farrier.explain.numbers import (
    CALENDAR,
    calendar_name,
    capital,
    count,
    fixed,
    forecast_decimals,
    in_days,
    listing,
    per_cent,
    significant,
    span,
)
from farrier.explain.parts import given, in_degrees, read, wanders
from farrier.explain.phrases import amount, chance, phrase
from farrier.explain.profiles import CALENDAR as ROUND_NAMES
from farrier.model.result import Result
from farrier.series.calendar import TimeAxis

WORTH_A_WORD = 0.05
"""Share of a forecast above which other structures are mentioned, by judgement."""
SWING = 0.5
"""A forecast whose range is below this part of the width of its 80 % intervals has no high and low, by judgement."""
WIDENS = 1.2
"""Last over first width of the 95 % intervals above which both are told, by judgement."""
MOST_ROWS = 0.05, 0.95
"""The part of the rows whose expected values are told: nine in ten."""
NAMED = 4
"""Most inputs without effect, and most components, that are named, by judgement."""
AGO = {"yearly": "year", "weekly": "week", "daily": "day", "hourly": "hour"}
"""The unit of "63 days before", for rows one season earlier, by the name of the season."""


def expectation(result: Result, found: Findings, curves: Mapping[str, Any]) -> list[str]:
    """Sentences for the top of a report; `curves` are the fit and the forecast of curves.py."""
    kind = found.setting.kind
    if kind == "series":
        return _series(result, found, curves) if (curves.get("future") or {}).get("x") else []
    return _table(result, found) if kind == "table" else _classes(result, found, curves)


def structures(result: Result, end: np.ndarray | None) -> list[dict[str, Any]]:
    """The models that share the forecast; `end` holds the inputs of its last step."""
    fitted = result.explained
    # what explains is a projection of all of them together, or the first one
    together = fitted.remainder is not None
    found = []
    for i, one in enumerate((fitted, *fitted.others)):
        kernels = one.kernels[: fitted.survivors] if i == 0 and not together else one.kernels
        last = None if end is None else one.scale.inverse(one.posterior.draws(end)[0].mean(axis=0))[0]
        growth = fitted.beliefs.growth if i == 0 else fitted.others[i - 1].growth
        found.append(
            {
                "share": float(one.share),
                "formula": " + ".join(dict.fromkeys(kernel.formula(result.names) for kernel in kernels)) or "constant",
                "scale": one.scale.transform.name,
                "end": None if last is None else float(last),
                "explains": i == 0 and not together,
                "growth": growth if together else None,
            }
        )
    return found


GROWTHS = {"line": "growth that goes on", "nothing": "growth that fades"}
"""What tells the models of a series apart, in words."""


def sharing(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences on the models that share the forecast; none if one has nearly all of it."""
    if len(found) < 2 or 1.0 - found[0]["share"] <= WORTH_A_WORD:
        return []
    if all(one.get("growth") is not None for one in found):
        return _growths(found)
    others = len(found) - 1
    who = "one other" if others == 1 else f"{count(others)} others"
    ends = [one["end"] for one in found if one["end"] is not None and math.isfinite(one["end"])]
    apart = ""
    if len(ends) > 1 and significant(min(ends)) != significant(max(ends)):
        apart = f"; for the last step they expect between {significant(min(ends))} and {significant(max(ends))}"
    share, rest = per_cent(found[0]["share"]), per_cent(1.0 - found[0]["share"])
    return [f"The structure explained here has {share} of this forecast, {who} {rest}{apart}."]


def _growths(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The shares of models whose growth goes on and of those whose growth fades, and the last step of both; nothing
    where they expect the same."""
    groups = {words: [one for one in found if one["growth"] == growth] for growth, words in GROWTHS.items()}
    ends = {words: _last(alike) for words, alike in groups.items() if alike}
    if len(set(filter(None, ends.values()))) < 2:
        return []
    said = [
        f"{words} ({per_cent(sum(one['share'] for one in groups[words]))}, {end}{'' if place else ' at the last step'})"
        for place, (words, end) in enumerate(ends.items())
    ]
    return [f"Past rows tell little of which is right, so two models share this forecast: {listing(said)}."]


def _last(alike: Sequence[Mapping[str, Any]]) -> str:
    """What these models expect for the last step, on average; empty if that is not known."""
    ends = [(one["end"], one["share"]) for one in alike if one["end"] is not None and math.isfinite(one["end"])]
    weight = sum(share for _, share in ends)
    return significant(sum(end * share for end, share in ends) / weight) if weight > 0 else ""


def _series(result: Result, found: Findings, curves: Mapping[str, Any]) -> list[str]:
    future, setting = curves["future"], found.setting
    if found.setting.target.counts:
        return _counts(result, found, future)
    parts = [read(facts) for facts in found.facts]
    median = np.asarray(future["median"], float)
    half = 0.5 * (np.asarray(future["high80"], float) - np.asarray(future["low80"], float))
    unit = _unit(setting.target)
    if parts and all(wanders(one) for one in parts):
        now = _text(float(result.target[setting.order[-1]]), unit, half)
        said = [walk(now, median, half, stays=forecast_stays(result, setting, future))]
    elif not parts:
        mean = _text(median[-1], unit, half)
        said = [f"Nothing but a level and noise was found: the best forecast is the mean, {mean}."]
    else:
        told = found.facts[:NAMED], parts[:NAMED]
        names = [phrase(one, part, setting.axes, setting.target, brief=True) for one, part in zip(*told, strict=True)]
        said = [_level(result, found, median, half), f"It continues {listing(names)}."]
        said += [ends for one in told[0] if (ends := course_words.levels_off(one))]
        if any(one.periodic or one.calendar for one in parts) and np.ptp(median) > SWING * 2.0 * half.mean():
            ends = [int(np.argmax(median)), int(np.argmin(median))]
            high, low = (f"{setting.when(future['x'][place])} ({_text(median[place], '', half)})" for place in ends)
            said.append(f"Highest {high}, lowest {low}.")
    return [*said, _width(setting, future, half)]


def _counts(result: Result, found: Findings, future: Mapping[str, Any]) -> list[str]:
    """The average rate of the forecast of counts, what it continues, and how many there may be."""
    setting, steps = found.setting, len(future["median"])
    assert setting.time is not None
    word, units = step_of(setting.time)
    each = word if word and units == 1 else "step"
    mean, _ = result.explained.moments(result.at(setting.ahead(steps)[0]))
    name = "the target" if setting.target.name == "y" else setting.target.name
    many = steps_in_words(setting.time, steps).removeprefix("one ")
    said = [f"Expect {name} of {significant(float(mean.mean()), 2)} on average over the next {many}."]
    if max(future["median"]) == 0.0:
        said.append(f"Zero is the likeliest value of every {each}.")
    if found.facts:
        parts = [(one, read(one)) for one in found.facts[:NAMED]]
        names = [phrase(*one, setting.axes, setting.target, brief=True) for one in parts]
        said.append(f"It continues {listing(names)}.")
    ends = [fixed(float(end), 0) for end in (min(future["low95"]), max(future["high95"]))]
    return [*said, f"95 of 100 values should lie between {ends[0]} and {ends[1]}."]


def forecast_stays(result: Result, setting: Setting, future: Mapping[str, Any]) -> bool:
    """Whether a forecast stays at the last value."""
    low, median, high = (np.asarray(future[name], float) for name in ("low80", "median", "high80"))
    return stays_at(float(result.target[setting.order[-1]]), median, 0.5 * (high - low))


def walk(last: str, median: np.ndarray, half: np.ndarray, *, stays: bool) -> str:
    """Where a random walk goes: nowhere, unless the structures that share the forecast move a little."""
    if stays:
        return (
            f"It moves like a random walk: the best forecast is near the last value, {last}, and past rows do not tell "
            "whether it will rise or fall."
        )
    ends = [_text(float(end), "", half) for end in (median.min(), median.max())]
    lies = f"is about {ends[0]}" if ends[0] == ends[1] else f"lies between {ends[0]} and {ends[1]}"
    return f"It moves nearly like a random walk: the last value is {last}, the forecast {lies}."


def _level(result: Result, found: Findings, median: np.ndarray, half: np.ndarray) -> str:
    """The average of the forecast, beside that of rows of the same season."""
    setting, steps = found.setting, len(median)
    y = result.target[setting.order]
    assert setting.time is not None
    many = steps_in_words(setting.time, steps).removeprefix("one ")
    first, last = (setting.moment(float(x)) for x in setting.ahead(steps)[0][[0, -1], 0])
    when = f" ({span(first, last)})" if steps > 1 else f" ({first})"
    said = f"Expect {_text(median.mean(), _unit(setting.target), half)}{' on average' if steps > 1 else ''} "
    said += f"over the next {many}{when}"
    period, name = _season(found.facts, setting)
    back = period * math.ceil(steps / period)
    if setting.time.gaps or back > len(y):
        return f"{said}."
    before = float(y[len(y) - back : len(y) - back + steps or None].mean())
    same, ago = many.partition(" of ")[0].removeprefix(f"{steps} "), _ago(setting.time, back, back // period, name)
    past = f"the {many} before" if back == steps else f"the same {same} {ago} before"
    change = float(median.mean()) - before
    if abs(change) < SAME * half.mean():
        return f"{said}, about as much as in {past}."
    more = "more" if change > 0 else "less"
    target = setting.target
    relative = y.min() > 0 and not in_degrees(target.name, target.unit)
    by = per_cent(abs(change) / before) if relative else _text(abs(change), "", half)
    return f"{said}, {by} {more} than in {past}."


def _ago(time: TimeAxis, steps: int, rounds: int, season: str) -> str:
    """How long so many steps, or rounds of a season, are: 'a year', 'two weeks', '63 days', '50 minutes'."""
    if season in AGO:
        return (
            f"{'an' if season == 'hourly' else 'a'} {AGO[season]}" if rounds == 1 else f"{count(rounds)} {AGO[season]}s"
        )
    word, units = step_of(time)
    return f"{steps * units} {word or 'step'}{'s' if steps * units > 1 else ''}"


def _season(components: Sequence[Facts], setting: Setting) -> tuple[int, str]:
    """The longest period of a pattern that fits into the data, in steps, and its name; one step if there is none."""
    axis, found = setting.axis, [(1, "")]
    for factor in (factor for facts in components for factor in facts.factors if axis.spacing > 0):
        period = given(factor.period) if factor.kind == "periodic" else None
        if period is not None:
            found.append((round(period.value / axis.spacing), calendar_name(period, axis)))
        elif name := ROUND_NAMES.get(factor.kind):
            found.append((round(dict(CALENDAR)[name] / in_days(axis) / axis.spacing), name))
    return max(one for one in found if 1 <= one[0] <= len(setting.order))


def _width(setting: Setting, future: Mapping[str, Any], half: np.ndarray) -> str:
    low, high = (np.asarray(future[name], float) for name in ("low95", "high95"))
    width = high - low
    ends = [_text(value, "", half) for value in (low[0], high[0], low[-1], high[-1])]
    first = f"between {ends[0]} and {ends[1]}"
    if len(low) == 1:
        return f"The 95 % interval lies {first}."
    if width[-1] <= WIDENS * width[0] and width[0] <= WIDENS * width[-1]:
        return f"95 of 100 values should be within about {significant(0.5 * width.mean(), 2)} of the forecast."
    begin, end = (setting.when(future["x"][place]) for place in (0, -1))
    return f"95 of 100 values should lie {first} {begin}, and between {ends[2]} and {ends[3]} {end}."


def _table(result: Result, found: Findings) -> list[str]:
    target = found.setting.target
    name = target.name if target.name != "y" else "the target"
    if not found.facts:
        return [f"No input was found to say anything about {name}: the best guess for every row is the mean."]
    first, last = found.facts[0].error_before, found.facts[-1].error_after
    said = []
    if first is not None and last is not None:
        errors = [amount(error, target).removeprefix("about ") for error in (last, first)]
        said.append(
            f"For a new row, expect {name} to be predicted with an error of about {errors[0]}; the mean alone is off "
            f"by {errors[1]}."
        )
    else:
        expected, _ = result.explained.moments(result.inputs)
        low, high = (significant(float(end)) for end in np.quantile(expected, MOST_ROWS))
        mean = significant(float(result.target.mean()))
        said.append(
            f"Expect {name} of {mean} on average, and from {low} to {high} in nine rows of ten by their inputs."
        )
    return [*said, *_without_effect(result, found)]


def _classes(result: Result, found: Findings, curves: Mapping[str, Any]) -> list[str]:
    rows = len(result.target)
    told = float(np.mean((np.asarray(curves["mean"], float) > 0.5) == (result.target[: len(curves["mean"])] > 0.5)))
    share = float(result.target.mean())
    said = [f"{capital(chance(found.setting.target))} is {per_cent(share)} over all {rows:,} rows."]
    if len(curves["mean"]) == rows and found.facts:
        usual = max(share, 1.0 - share)
        said.append(
            f"With the inputs the likelier class is right in {per_cent(told)} of the rows that were fitted; always "
            f"guessing the larger class, in {per_cent(usual)}."
        )
    return [*said, *_without_effect(result, found)]


def _without_effect(result: Result, found: Findings) -> list[str]:
    used = {name for i in found.named for name in columns_of(result.kernels[i], result.columns)}
    idle = [name for name in result.columns if name not in used]
    if not idle:
        return []
    names = listing(idle) if len(idle) <= NAMED else f"{', '.join(idle[:NAMED])} and {count(len(idle) - NAMED)} more"
    return [f"No effect was found of {names}."]


def _unit(target: Target) -> str:
    return target.unit


def _text(value: float, unit: str, half: np.ndarray) -> str:
    """A number with its unit and as many decimals as the table of the forecast; `half` are half widths of intervals."""
    wide = (2.0 * half).tolist()
    return f"{fixed(float(value), forecast_decimals([0.0] * len(wide), wide))} {unit}".rstrip()
