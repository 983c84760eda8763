"""Plots by matplotlib with the numbers of the report: the fit, each component, the weights, past forecasts.

    ax = model.plot(horizon=24)
    ax.figure.savefig("fit.png")

Every function draws on `ax`, or on a new figure, and returns the axes. matplotlib comes with `farrier[plot]`.
"""

# ruff: noqa: E402

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np

from farrier.data.extras import require

require("plot", "a plot", "matplotlib")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from farrier.explain.backtest import Backtest
from farrier.explain.context import Context
from farrier.explain.report_figures import measure, own_axis
from farrier.explain.story import story
from farrier.model.result import Result

INK, BLUE, ORANGE, GREY = "#222222", "#2166ac", "#d95f02", "#999999"
BAND = 0.18
"""The opacity of bands, by judgement."""
WIDTH, HEIGHT = 9.0, 4.2
"""The size of a figure in inches, by judgement."""
GAP = 8.0
"""Gap between rows, in median steps, over which no line is drawn, by judgement."""
LINE_LENGTH = 112
"""Most characters in a line of a title, by judgement."""

Story = Mapping[str, Any]


def plot(result: Result, context: Context | None = None, *, horizon: int | None = 0, ax: Axes | None = None) -> Axes:
    """Data, fit and 95 % band, with a forecast of `horizon` steps (None: as many as in the report).

    For a table: observed against fitted values.
    """
    content = story(result, context, horizon=horizon)
    ax = _axes(ax)
    series = content["series"]
    if content["kind"] != "series":
        return _observed(ax, content)
    x = _times(content, series["x"])
    _curve(ax, content, series, "95 % band", "fit")
    future = series["future"]
    if future["x"]:
        later = _times(content, future["x"])
        for level in (95, 80):
            low, high = future[f"low{level}"], future[f"high{level}"]
            ax.fill_between(later, low, high, color=ORANGE, alpha=BAND, lw=0, label=f"{level} % band")
        ax.plot([*x[-1:], *later], [*series["median"][-1:], *future["median"]], color=ORANGE, lw=1.5, label="forecast")
    ax.plot(x, series["y"], ".", color=INK, ms=4, label="data")
    ax.set_ylabel(measure(content))
    _name_x(ax, content)
    ax.set_title(content["title"], loc="left")
    ax.legend(frameon=False, fontsize="small")
    return ax


def plot_components(result: Result, context: Context | None = None, *, horizon: int | None = 0) -> np.ndarray:
    """One panel for each component with its 95 % band, largest first; for a table the curve or map of its inputs."""
    content = story(result, context, horizon=horizon)
    parts = [part for part in content["components"] if part["mean"] or part["effect"] or part["profile"]]
    if not parts:
        _, ax = plt.subplots(figsize=(WIDTH, 1.5), layout="constrained")
        ax.set_axis_off()
        ax.text(0.0, 0.5, "No component was found.", va="center")
        return np.array([ax])
    size = (WIDTH, 2.3 * len(parts) + 0.4)
    series = content["kind"] == "series"
    _, axes = plt.subplots(len(parts), 1, figsize=size, sharex=series, squeeze=False, layout="constrained")
    for ax, part in zip(axes[:, 0], parts, strict=True):
        _component(ax, content, part)
    if series:
        _name_x(axes[-1, 0], content)
    return axes[:, 0]


def plot_weights(result: Result, context: Context | None = None, *, ax: Axes | None = None) -> Axes:
    """The weight of every candidate before and after the fit, with its 95 % interval, on a log scale."""
    rows = story(result, context, horizon=0)["weights"][::-1]
    ax = _axes(ax, height=0.28 * len(rows) + 1.2)
    places = np.arange(len(rows))
    for place, row in zip(places, rows, strict=True):
        colour = BLUE if row["kept"] else GREY
        ax.plot([max(row["low"], 1e-12), row["high"]], [place, place], color=colour, lw=2.0, solid_capstyle="butt")
        ax.plot(row["after"], place, "o", color=colour, ms=5)
    ax.plot([row["before"] for row in rows], places, "|", color=INK, ms=9, label="before")
    ax.plot([], [], "o-", color=BLUE, label="after, in the explanation")
    ax.plot([], [], "o-", color=GREY, label="after, in the rest")
    ax.set_xscale("log")
    ax.set_yticks(places, [row["formula"] for row in rows])
    ax.set_xlabel("weight")
    ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3)
    return ax


def plot_backtest(backtest: Backtest) -> np.ndarray:
    """Past forecasts with their bands over the values; below, the mean absolute error of each method by step ahead."""
    _, (top, below) = plt.subplots(2, 1, figsize=(WIDTH, 1.6 * HEIGHT), layout="constrained")
    content, kind = backtest.to_dict(), backtest.observed.axis.kind
    for place, past in enumerate(content["forecasts"]):
        x, labels = _dates(past["x"], kind), ("95 % band", "80 % band", "forecast") if place == 0 else ("", "", "")
        for level, label in zip((95, 80), labels, strict=False):
            low, high = past[f"low_{level}"], past[f"high_{level}"]
            top.fill_between(x, low, high, color=ORANGE, alpha=BAND, lw=0, label=label)
        top.plot(x, past["median"], color=ORANGE, lw=1.5, label=labels[2])
    top.plot(_dates(content["x"], kind), content["y"], ".", color=INK, ms=4, label="data")
    top.set_ylabel(backtest.observed.layout.target)
    styles = ((ORANGE, "o-"), (BLUE, "-"), (GREY, "-"), (INK, "--"))
    for (name, errors), (colour, style) in zip(content["errors"].items(), styles, strict=False):
        steps = np.arange(1, len(errors) + 1)
        below.plot(steps, errors, style, color=colour, lw=1.5, ms=4, label=name)
    below.set_ylim(bottom=0.0)
    below.set_xlabel(f"{content['step_name']}s ahead")
    below.set_ylabel("mean absolute error")
    below.xaxis.get_major_locator().set_params(integer=True)
    for ax in (top, below):
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
    return np.array([top, below])


def _axes(ax: Axes | None, height: float = HEIGHT) -> Axes:
    if ax is None:
        _, ax = plt.subplots(figsize=(WIDTH, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _component(ax: Axes, content: Story, part: Story) -> None:
    label, nothing = own_axis(content)
    ax.spines[["top", "right"]].set_visible(False)
    effect = part["effect"]
    ax.set_title(_title(part), loc="left", fontsize="medium")
    if effect and effect.get("z"):
        image = ax.pcolormesh(effect["x"], effect["y"], effect["z"], cmap="RdBu_r", shading="nearest")
        ax.figure.colorbar(image, ax=ax, label=label)
        ax.set_xlabel(effect["columns"][0])
        ax.set_ylabel(effect["columns"][1])
        return
    if part["profile"] and content["kind"] != "series":
        names = [level["name"] for level in part["profile"]]
        ends = np.array([[one["value"] - one["low"], one["high"] - one["value"]] for one in part["profile"]]).T
        ax.barh(names, [one["value"] for one in part["profile"]], xerr=np.abs(ends), color=BLUE, ecolor=INK)
        ax.invert_yaxis()
        ax.set_xlabel(label)
        return
    ax.axhline(nothing, color=GREY, lw=0.8)
    if effect and effect.get("lines"):
        for line in effect["lines"]:
            ax.plot(effect["x"], line["mean"], lw=1.5, label=line["name"])
        ax.legend(frameon=False, fontsize="small", title=effect["category"])
        ax.set_xlabel(effect["column"])
        ax.set_ylabel(label, fontsize="small")
        return
    curve = effect or part
    _curve(ax, content, curve)
    series = content["series"]
    if not effect and len(curve["x"]) > len(series["x"]):
        ax.axvline(_times(content, series["x"])[-1], color=GREY, lw=0.8, ls=":")
    ax.set_ylabel(label, fontsize="small")
    if effect:
        ax.set_xlabel(effect["column"])


def _curve(ax: Axes, content: Story, curve: Story, band: str = "", line: str = "") -> None:
    """A median or mean, and its band if there is one, interrupted at gaps between the rows."""
    x, steps = _times(content, curve["x"]), np.diff(curve["x"])
    ends = np.flatnonzero(steps > GAP * np.median(steps)) + 1 if len(steps) > 2 else []
    for piece in (slice(first, last) for first, last in pairwise([0, *ends, len(x)])):
        labels = (band, line) if piece.start == 0 else ("", "")
        if curve["low"]:
            low, high = curve["low"][piece], curve["high"][piece]
            ax.fill_between(x[piece], low, high, color=BLUE, alpha=BAND, lw=0, label=labels[0])
        ax.plot(x[piece], curve.get("median", curve["mean"])[piece], color=BLUE, lw=1.5, label=labels[1])


def _title(part: Story) -> str:
    words, lines = f"{part['title']} ({part['formula']})".split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > LINE_LENGTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def _observed(ax: Axes, content: Story) -> Axes:
    fitted, seen = content["series"]["mean"], content["series"]["y"]
    if content["kind"] == "classes":
        classes = sorted(set(seen))
        spread = ((np.arange(len(seen)) * 0.618034) % 1.0 - 0.5) * 0.5
        ax.plot(fitted, [classes.index(name) for name in seen] + spread, ".", color=INK, ms=4)
        ax.set_yticks(range(len(classes)), classes)
        ax.set_xlabel(f"fitted chance of {content['target']['name']}")
        return ax
    ends = [min(*fitted, *seen), max(*fitted, *seen)]
    ax.plot(ends, ends, color=GREY, lw=0.8)
    ax.plot(fitted, seen, ".", color=INK, ms=4)
    ax.set_xlabel(f"fitted {measure(content)}")
    ax.set_ylabel(f"observed {measure(content)}")
    return ax


def _times(content: Story, x: Sequence[float]) -> Any:
    """Days since 1970 as dates; years and plain numbers as they are."""
    return _dates(x, content["axes"][0]["kind"] if content["kind"] == "series" else "number")


def _dates(x: Sequence[float], kind: str) -> Any:
    """Numbers of an axis of that kind: days since 1970 as dates, others as they are."""
    if kind != "days":
        return x
    return [datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day) for day in x]


def _name_x(ax: Axes, content: Story) -> None:
    axis = content["axes"][0]
    if axis["kind"] == "number":
        ax.set_xlabel(f"{axis['name']}, {axis['unit']}" if axis["unit"] else axis["name"])
