"""The paper's figures from our runs: python -m benchmarks figure SUITE.

weights     the weights under the horseshoe and without a prior, one picture for each seed
bound       distances to the exact posterior against the number of points
timeseries  the forecast of the last tenth of each series, with some others' beside it
gefcom      the filled-in rows of the hourly load, one panel for each method
reproduction  the course of the bound of the paper's algorithm on the two series
decomposition  their forecasts and three largest components
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from benchmarks import bound_picture, decomposition_picture, gefcom, reproduction_picture, timeseries, weights_picture
from benchmarks.published import TIMESERIES_ROWS
from benchmarks.record import read
from benchmarks.style import BLUE, DARK, GREEN, GREY, ORANGE, save
from farrier.cli.compare import OURS

BESIDE = {"paper": ORANGE, "abcd": GREEN}
"""Other methods whose forecasts are drawn, and their colours."""
SHOWN_BEFORE = 4
"""Times as many rows before the forecast as in it are drawn."""


def weights(results: Path, data: Path | None) -> list[Path]:
    """One picture for each kind of inputs and seed."""
    runs: dict[tuple[str, int], dict[str, Any]] = {}
    for line in read(results / "weights.jsonl"):
        settings = line["settings"]
        runs.setdefault((settings.get("inputs", ""), line["seed"]), {})[settings["prior"]] = line["figures"]
    paths = []
    for (inputs, seed), found in runs.items():
        if len(found) == len(weights_picture.TITLES):
            paths.append(results / f"weights-{'raw-' * (inputs == 'raw')}seed{seed}.png")
            weights_picture.draw({prior: found[prior] for prior in weights_picture.TITLES}, seed, paths[-1])
    return paths


def bound(results: Path, data: Path | None) -> list[Path]:
    """The distances and bounds of all seeds; the posteriors themselves are drawn by the run alone."""
    lines = read(results / "bound.jsonl")
    rows = [
        {"M": line["settings"]["M"], "trained": line["settings"]["points"] == "trained", **line["figures"]}
        for line in lines
    ]
    bound_picture.draw(rows, np.zeros(0), None, 0, path := results / "bound-distances.png")
    return [path]


def forecasts(results: Path, data: Path | None) -> list[Path]:
    """Six panels."""
    runs = _predicted(results / "timeseries.jsonl", "series")
    names = [name for name in TIMESERIES_ROWS if (name, OURS) in runs]
    figure, panels = plt.subplots(2, 3, figsize=(13, 6.4), layout="constrained")
    for axes, name in zip(panels.flat, names, strict=False):
        x, y = timeseries.read_series(_needed(data) / "timeseries" / f"{name}.csv")
        start = TIMESERIES_ROWS[name]
        first = max(0, start - SHOWN_BEFORE * (len(y) - start))
        axes.plot(x[first:], y[first:], ".", color=GREY, markersize=3, label="data")
        axes.axvline(0.5 * (x[start - 1] + x[start]), color=DARK, linewidth=0.6)
        for method, colour in BESIDE.items():
            if (name, method) in runs:
                axes.plot(x[start:], runs[name, method]["mean"], color=colour, linewidth=1.0, label=method)
        ours = runs[name, OURS]
        axes.fill_between(x[start:], ours["low"], ours["high"], color=BLUE, alpha=0.2, linewidth=0)
        axes.plot(x[start:], ours["mean"], color=BLUE, linewidth=1.4, label="farrier, with 95 % intervals")
        shown = np.concatenate([y[first:], ours["low"], ours["high"]])
        axes.set_ylim(shown.min() - 0.1 * np.ptp(shown), shown.max() + 0.1 * np.ptp(shown))
        axes.set_title(name)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.suptitle("The last tenth of six series, forecast from the rest", x=0.01, ha="left")
    save(figure, path := results / "timeseries.png")
    return [path]


def load(results: Path, data: Path | None) -> list[Path]:
    """One panel for each method, the same rows in all."""
    lines = [line for line in read(results / "gefcom.jsonl") if "predicted" in line["figures"]]
    x, y = gefcom.read(_needed(data) / "timeseries" / "gefcom.csv.gz")
    figure, panels = plt.subplots(len(lines), 1, figsize=(12, 2.3 * len(lines)), sharex=True, layout="constrained")
    for axes, line in zip(np.atleast_1d(panels), lines, strict=True):
        train, test = gefcom.split(line["settings"]["rows"])
        z = (y - y[train].mean()) / y[train].std()
        figures = line["figures"]
        predicted = figures["predicted"]
        rows = test[-len(predicted["mean"]) :]
        axes.fill_between(x[rows], predicted["low"], predicted["high"], color=BLUE, alpha=0.2, linewidth=0)
        axes.plot(x[rows], predicted["mean"], color=BLUE, linewidth=0.9, label="mean and 95 % intervals")
        axes.plot(x[rows], z[rows], ".", color=DARK, markersize=2.5, label="load")
        axes.set_title(
            f"{line['settings']['method']}: RMSE {figures['rmse']:.3f}, "
            f"negative log-likelihood {-figures['log_likelihood']:.2f}"
        )
    axes.set_xlabel("days")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle("Hourly load, rows that were left out (the last of them)", x=0.01, ha="left")
    save(figure, path := results / "gefcom.png")
    return [path]


PICTURES: dict[str, Callable[[Path, Path | None], list[Path]]] = {
    "weights": weights,
    "bound": bound,
    "timeseries": forecasts,
    "gefcom": load,
    "reproduction": reproduction_picture.draw,
    "decomposition": decomposition_picture.draw,
}


def _needed(data: Path | None) -> Path:
    if data is None:
        raise SystemExit("--data-dir: this picture shows the data too: name the folder that holds timeseries/.")
    return data


def _predicted(path: Path, key: str) -> dict[tuple[str, str], dict[str, np.ndarray]]:
    return {
        (line["settings"][key], line["settings"]["method"]): {
            name: np.asarray(values) for name, values in line["figures"]["predicted"].items()
        }
        for line in read(path)
        if "predicted" in line["figures"]
    }
