"""The figures of the report: for each, what report.js draws, and a text that says what it shows.

Components are in the units of y, or factors where they multiply; the labels of the axes say which. In the map of two
inputs, z[i][j] belongs to x[j] and y[i].
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from farrier.explain.calendar_words import signed
from farrier.explain.facts import Estimate, Target
from farrier.explain.markup import extremes, figure, join, legend, number, text
from farrier.explain.report_levels import bars

Story = Mapping[str, Any]

HINT = (
    ' <span class="hint">Drag across the chart to look closer and double-click to see all again; on a touch screen,'
    " pinch. With the keyboard: arrows, plus and minus, 0.</span>"
)
LOOKS = ("line", "ahead", "further", "fourth", "other")
"""The classes of the legend for the lines of levels, in the order in which report.js draws them."""
ROOM = 0.22
"""Part of the height of a profile that is left for numbers, and that the smaller side has at least; by judgement."""
FEW = 7
"""Levels of a profile up to which each has its number; of more, the highest and the lowest. By judgement."""
MANY = 12
"""Levels of a profile above which a narrow screen names every second one. By judgement."""
MOST_NAMED = 31
"""Levels of a profile up to which each is named, by judgement."""
CHECK_AXES = {
    "acf": ("rows apart", "autocorrelation"),
    "periodogram": ("period", "share of the variance"),
    "qq": ("expected", "observed"),
    "calibration": ("share promised", "share found"),
}
"""The labels of x and y for each kind of check."""


def measure(story: Story) -> str:
    """The label of y on an axis: 'thousand passengers', or 'strength, MPa'."""
    target = story.get("target") or {}
    name, unit = str(target.get("name") or "y"), str(target.get("unit") or "")
    return unit if name in unit else f"{name}, {unit}" if unit else name


def main(story: Story) -> str:
    """The figure below the summary: the series with fit and forecast, or observed against fitted values."""
    series, kind = story.get("series") or {}, story.get("kind")
    if not series.get("y"):
        return ""
    if kind == "series":
        return _fit(story, series) if series.get("x") else ""
    if not series.get("mean"):
        return ""
    says = f"Chart of {measure(story)}, observed against fitted, one dot for each of {len(series['y'])} rows."
    caption = "<b>Observed against fitted</b>, one dot a row."
    if kind == "classes":
        caption += " The further apart the classes lie, the better they are told apart."
        return figure("scatter", says, caption, size="tall", x="fitted", y=measure(story))
    caption += " On the diagonal the two agree."
    return figure("scatter", says, caption, size="square", x=f"fitted {measure(story)}", y=f"observed {measure(story)}")


def _fit(story: Story, series: Story) -> str:
    future = series.get("future") or {}
    low, high = extremes(series["y"])
    first, last = _ends(series)
    says = f"Chart of {measure(story)}: {len(series['y'])} points from {first} to {last}, between {low} and {high}"
    says += ", the fitted line and its 95 % band"
    keys = [("dot", "data"), ("line", "fit"), ("fitband", "its 95 % band")]
    caption = "<b>The data and the fit.</b> The line is the median; the band should hold 95 of 100 observations."
    if future.get("x"):
        end = number((future.get("median") or future.get("mean") or [None])[-1])
        says += f"; then a forecast to {_ends(future)[1]}, where it is {end}, with 80 % and 95 % bands"
        keys += [("ahead", "forecast"), ("band80", "80 % band"), ("band95", "95 % band")]
        caption = "<b>The data, the fit and the forecast.</b> Lines are medians: half of the values should lie above. "
        caption += "A 95 % band should hold 95 of 100 observations."
    return figure("fit", f"{says}.", caption + HINT, size="tall", keys=legend(keys), y=measure(story))


def _ends(series: Story) -> tuple[str, str]:
    labels = series.get("label") or [number(x) for x in series["x"]]
    return str(labels[0]), str(labels[-1])


def component(story: Story, i: int, part: Story) -> str:
    """The figures of component i, counted from 1."""
    if story.get("kind") != "series":
        return effect(story, i, part)
    return (effect(story, i, part) if part.get("effect") else "") + _over_time(story, i, part)


def _over_time(story: Story, i: int, part: Story) -> str:
    """The component alone, then side by side the running sum over the data and the residual after it."""
    adds, base = own_axis(story)
    upto = "component 1" if i == 1 else f"components 1 to {i}"
    own, pair = "", []
    if part.get("x") and part.get("mean"):
        low, high = extremes(part["mean"])
        band = ", with a 95 % band" if part.get("low") else ""
        says = f"Chart of component {i} alone, {part.get('title')}: it runs between {low} and {high}{band}."
        own = figure(
            "alone", says, f"<b>On its own</b>{band and ', with its 95 % band'}.", y=adds, component=i - 1, base=base
        )
    in_units, ratio = _residual_scale(story, part)
    label = measure(story) if in_units else f"{measure(story)}, transformed"
    if part.get("running"):
        says = f"Chart of the mean and {upto} together, as a line over the data."
        caption = f"<b>Running sum</b>: the mean and {upto}, over the data."
        seen = "y" if in_units else "sum"
        pair.append(figure("running", says, caption, y=label, component=i - 1, observed=seen))
    if part.get("residual"):
        unit = (story.get("target") or {}).get("unit") if in_units and not ratio else ""
        typical = f"{number(_typical(part['residual'], base=ratio))} {unit or ''}".rstrip()
        says = f"Chart of what is left of the data after {upto}; its typical size is {typical}."
        caption = f"<b>Left over</b> after {upto}, typically {text(typical)}. Drawn to one scale for all components."
        label = "observed over running" if ratio else label
        pair.append(figure("residual", says, caption, y=label, component=i - 1, base=int(ratio)))
    return own + (f'<div class="pair">{join(pair)}</div>' if pair else "")


def effect(story: Story, i: int, part: Story) -> str:
    """The curve of one input of component i, counted from 1, the map of two, or a line for each level."""
    found, (adds, base) = part.get("effect"), own_axis(story)
    if not found and part.get("profile"):
        return ""  # the bars of the levels show it
    if not found:
        return '<p class="quiet">There is no picture of this one: it is not a curve of one input or a map of two.</p>'
    axes = {axis.get("name"): axis for axis in story.get("axes") or []}

    def named(column: str) -> str:
        unit = axes.get(column, {}).get("unit")
        return f"{column}, {unit}" if unit else str(column)

    if found.get("z"):
        first, second = found["columns"]
        low, high = extremes(value for row in found["z"] for value in row)
        says = f"Map of component {i} over {first} and {second}: {adds} between {low} and {high}."
        caption = (
            f"<b>{text(first)} and {text(second)} together</b> ({text(adds)}): blue down to {low}, orange up to {high}."
        )
        x, y = named(first), named(second)
        return figure("effect", says, caption, size="square", x=x, y=y, component=i - 1, base=base)
    column = found.get("column")
    if found.get("lines"):
        names = [str(line["name"]) for line in found["lines"]]
        says = f"Chart of component {i} over {column}, one line for each of {', '.join(names)}."
        caption = f"<b>The effect of {text(column)}</b> for the largest levels of {text(found.get('category'))}."
        keys = legend((look, text(name)) for look, name in zip(LOOKS, names, strict=False))
        return figure("effect", says, caption, keys=keys, x=named(str(column)), y=adds, component=i - 1, base=base)
    low, high = extremes(found.get("mean") or [])
    says = f"Chart of component {i} over {column}: {adds} between {low} and {high}, with a 95 % band."
    caption = f"<b>The effect of {text(column)}</b>, with its 95 % band."
    kind = axes.get(column, {}).get("kind") or "number"
    return figure("effect", says, caption, x=named(str(column)), y=adds, component=i - 1, base=base, kind=kind)


def check(story: Story, i: int) -> str:
    """The plot of check i, counted from 0; a plot may name its axes by x_label and y_label.

    The x of a periodogram are periods in units of the first input, on a log scale.
    """
    made = story["checks"][i]
    plot = made.get("plot") or {}
    if not plot.get("x") or not plot.get("y"):
        return ""
    usual = CHECK_AXES.get(str(plot.get("kind")), ("", ""))
    x, y = plot.get("x_label") or usual[0], plot.get("y_label") or usual[1]
    if x == "period":
        axis = (story.get("axes") or [{}])[0]
        unit = axis.get("kind") if axis.get("kind") in ("years", "days") else axis.get("unit")
        x = f"period, {unit}" if unit else x
    low, high = extremes(plot["y"])
    says = f"Chart of the check {made.get('name')}: {y} between {low} and {high}. {made.get('sentence') or ''}"
    return figure("check", says, "Grey: where chance would put it." if plot.get("low") else "", x=x, y=y, check=i)


def weights(rows: Sequence[Story]) -> str:
    """The weight of every candidate before and after the fit."""
    kept = sum(1 for row in rows if row.get("kept"))
    says = f"Chart of the weights of {len(rows)} candidates before and after shrinkage; {kept} were kept."
    keys = (("before", "before"), ("kept", "after, kept, with its 95 % interval"), ("gone", "after, not kept"))
    return figure("weights", says, keys=legend(keys), rows=len(rows), x="weight")


def own_axis(story: Story) -> tuple[str, int]:
    """The label of the axis of a component, and the value that changes nothing."""
    target = story.get("target") or {}
    if target.get("scale") == "multiplicative":
        # all factors are positive; curves with values at or below zero are logarithms
        curves = [value for part in story.get("components") or [] for value in part.get("mean") or []]
        curves += [
            value for part in story.get("components") or [] for value in (part.get("effect") or {}).get("mean") or []
        ]
        return ("multiplies by", 1) if all(value is None or value > 0 for value in curves) else ("adds, log scale", 0)
    added = f"adds, in {target['unit']}" if target.get("unit") else f"adds to {target.get('name') or 'y'}"
    if target.get("typical") is not None:
        added += f" near {number(target['typical'], 2)}"
    return "adds to the score" if target.get("scale") == "odds" else added, 0


def _residual_scale(story: Story, part: Story) -> tuple[bool, bool]:
    """Whether the running sum is in the units of y, and whether the residual is a ratio instead of a difference."""
    columns = ((story.get("series") or {}).get("y") or [], part.get("running") or [], part.get("residual") or [])
    rows = [row for row in zip(*columns, strict=False) if None not in row]
    differs = any(not math.isclose(y, running + left, rel_tol=1e-6, abs_tol=1e-9) for y, running, left in rows)
    ratio = differs and all(math.isclose(y, running * left, rel_tol=1e-6) for y, running, left in rows)
    return ratio or not differs, ratio


def _typical(values: Sequence[float | None], *, base: float) -> float | None:
    squares = [(value - base) ** 2 for value in values if value is not None]
    return math.sqrt(sum(squares) / len(squares)) if squares else None


def profile(story: Story, part: Story) -> str:
    """The levels of a pattern of the calendar or of a category as bars; empty for other components."""
    if story.get("kind") in ("table", "classes"):
        return bars(story, part)  # names of categories are long
    levels = part.get("profile") or []
    top = max((level["value"] for level in levels), default=0.0)
    bottom = min((level["value"] for level in levels), default=0.0)
    top, bottom = max(top, 0.0), max(-bottom, 0.0)
    if not top + bottom:
        return ""
    target = story.get("target") or {}
    y = Target(str(target.get("name") or ""), str(target.get("unit") or ""), str(target.get("scale") or "additive"))
    # the columns share the height as the highest and the lowest level do, with room for their numbers
    share = min(max(top / (top + bottom), ROOM), 1.0 - ROOM)
    told = {max(levels, key=_value)["name"], min(levels, key=_value)["name"]}
    items, few = [], len(levels) <= FEW
    for level in levels:
        value, rises = level["value"], level["value"] >= 0.0
        said = signed(Estimate(value, level["low"], level["high"]), y, interval=True)
        tall = 100.0 * (1.0 - ROOM) * abs(value) / ((top if rises else bottom) or 1.0)
        short = said.partition(" (")[0].removesuffix(f" {y.unit}") if few or level["name"] in told else ""
        mark = f'<i style="height:{tall:.1f}%"></i><span style="--at: {tall:.1f}%">{text(short)}</span>'
        items.append(
            f'<li title="{text(level["name"])} {text(said)}">'
            f'<div class="up" style="flex: {share:.3f}">{mark if rises else ""}</div>'
            f'<div class="down" style="flex: {1.0 - share:.3f}">{"" if rises else mark}</div>'
            f"<b>{text(_short_name(level['name'], len(levels)))}</b></li>"
        )
    low, high = (choose(levels, key=_value) for choose in (min, max))
    ends = [f"{one['name']} ({number(one['value'])})" for one in (low, high)]
    says = f"Chart of {len(levels)} levels, from {ends[0]} to {ends[1]}."
    look = "profile many" if len(levels) > MANY else "profile"
    return f'<ol class="{look}" role="img" aria-label="{text(says)}">{join(items)}</ol>'


def _value(level: Story) -> float:
    return level["value"]


def _short_name(name: str, count: int) -> str:
    """The name of a level as it fits below a column: 'Jan', 'Mon', '14'."""
    if count <= 2:
        return name
    return name[:2] if name[:1].isdigit() else name[:3] if count <= MOST_NAMED else ""
