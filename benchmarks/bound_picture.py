"""The picture of the bound suite: posteriors beside the exact one, and below them distances and bounds against M."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.figures import wasserstein2
from benchmarks.style import BLUE, DARK, GREEN, GREY, VERMILION, save

LINES = {
    "single": ("single, M points", VERMILION, "o", "-"),
    "grouped": ("grouped, M a group, product q", BLUE, "s", "-"),
    "grouped_joint": ("grouped, M a group, joint q", BLUE, "s", ":"),
    "grouped_total": ("grouped, M in all, product q", GREEN, "^", "-"),
    "grouped_total_joint": ("grouped, M in all, joint q", GREEN, "^", ":"),
}

LOWEST = {"w2": 5e-4, "below_evidence": 5e-3}
"""Where the axes end: what is lower is as good as exact."""


def draw(rows: list[dict], grid: np.ndarray, shown: dict | None, M: int, path: Path) -> None:
    """Write the picture; the upper row only if posteriors at M were kept."""
    figure = plt.figure(figsize=(12, 4.2 if shown is None else 7.6), layout="constrained")
    if shown is None:
        lower = figure.subfigures(1, 1)
    else:
        upper, lower = figure.subfigures(2, 1, height_ratios=[1.0, 1.1])
        titles = {
            "single": f"single: {M} points",
            "grouped": f"grouped: {M} points a group",
            "grouped_total": f"grouped: {M // 3} points a group, {M} in all",
        }
        for axes, (name, title) in zip(upper.subplots(1, 3, sharey=True), titles.items(), strict=True):
            _posterior(axes, grid, shown, name)
            distance = wasserstein2(*shown["exact"], *shown[name])[0]
            axes.set_title(f"{title}    W2 = {distance:.2f}")
        upper.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    panels = lower.subplots(1, 3)
    _against_M(panels[0], rows, "w2", trained=False)
    panels[0].set(title="W2 to the exact posterior, points spread", ylabel="W2 (median, range over seeds)")
    _against_M(panels[1], rows, "w2", trained=True)
    panels[1].set(title="W2 to the exact posterior, points trained")
    _against_M(panels[2], rows, "below_evidence", trained=False)
    panels[2].set(title="Nats below the evidence, points spread")
    for axes in panels[:2]:
        axes.set_ylim(LOWEST["w2"], max(axes.get_ylim()[1] for axes in panels[:2]))
    panels[2].set_ylim(bottom=LOWEST["below_evidence"])
    figure.suptitle(
        "Data from SE1 + SE2 + Per1, 200 points, the model known: how good is the sparse posterior?", x=0.01, ha="left"
    )
    lower.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    save(figure, path)


def _posterior(axes: Axes, grid: np.ndarray, shown: dict, name: str) -> None:
    X, y = shown["data"]
    axes.plot(np.asarray(X)[:, 0], np.asarray(y), ".", color=GREY, markersize=5, label="data")
    mean, covariance = shown["exact"]
    sd = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    axes.plot(grid, mean, color=DARK, linewidth=1, label="exact posterior, mean ± 2 sd")
    axes.plot(grid, np.stack([mean - 2 * sd, mean + 2 * sd]).T, color=DARK, linewidth=0.7, linestyle="--")
    mean, covariance = shown[name]
    sd = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    colour = LINES[name][1]
    axes.fill_between(grid, mean - 2 * sd, mean + 2 * sd, color=colour, alpha=0.3, linewidth=0)
    axes.plot(grid, mean, color=colour, linewidth=1.4, label="sparse posterior, mean ± 2 sd (band, colour as below)")
    axes.set(xlabel="x", xlim=(grid[0], grid[-1]))


def _against_M(axes: Axes, rows: list[dict], key: str, *, trained: bool) -> None:
    Ms = list(dict.fromkeys(row["M"] for row in rows))
    for name, (label, colour, marker, dash) in LINES.items():
        values = np.array([[r[key][name] for r in rows if r["M"] == M and r["trained"] == trained] for M in Ms])
        axes.plot(Ms, np.median(values, axis=1), dash, color=colour, marker=marker, markersize=4, label=label)
        if dash == "-":
            axes.fill_between(Ms, values.min(axis=1), values.max(axis=1), color=colour, alpha=0.12, linewidth=0)
    axes.set(yscale="log", xlabel="M", xticks=Ms)
    axes.yaxis.set_major_locator(LogLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y")
