"""The forecasts of the two series and their three largest components: python -m benchmarks figure decomposition."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from benchmarks.record import read
from benchmarks.reproduction import SERIES_ROWS, SHOWN_COMPONENTS
from benchmarks.style import BLUE, DARK, GREY, ORANGE, save
from benchmarks.timeseries import read_series


def draw(results: Path, data: Path | None) -> list[Path]:
    """One row for each series: data with forecast, then the components with their weights."""
    if data is None:
        raise ValueError("data_dir is missing: give --data-dir, the folder that holds timeseries/.")
    runs = {name: _chosen(read(results / "reproduction.jsonl"), name) for name in SERIES_ROWS}
    shown = {name: run for name, run in runs.items() if run is not None}
    size = (4.0 * (SHOWN_COMPONENTS + 1), 3.2 * len(shown))
    figure, panels = plt.subplots(len(shown), SHOWN_COMPONENTS + 1, figsize=size, layout="constrained", squeeze=False)
    for row, (name, run) in zip(panels, shown.items(), strict=True):
        x, y = read_series(data / "timeseries" / f"{name}.csv")
        start = 0.5 * (x[SERIES_ROWS[name] - 1] + x[SERIES_ROWS[name]])
        row[0].plot(x, y, ".", color=GREY, markersize=2)
        _band(row[0], run, BLUE, start)
        row[0].set_title(f"{name}: data and forecast")
        for axes, part in zip(row[1:], run["parts"], strict=False):
            _band(axes, {"x": run["x"], **part}, ORANGE, start)
            axes.set_title(f"{part['weight']:g}   {part['kernel']}")
    figure.suptitle(
        "The components whose means vary most, with the medians of their weights; 95 % bands", x=0.01, ha="left"
    )
    save(figure, path := results / "decomposition.png")
    return [path]


def _chosen(lines: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """The decomposition of the run with the highest bound."""
    runs = [
        line["figures"]
        for line in lines
        if (line["settings"]["set"], line["settings"]["method"]) == (name, "paper")
        and "decomposition" in line["figures"]
    ]
    return max(runs, key=lambda figures: figures["bound"])["decomposition"] if runs else None


def _band(axes: Axes, curve: dict[str, Any], colour: str, start: float) -> None:
    """A mean with its 95 % band, and a line where the forecast starts."""
    x, mean, sd = (np.asarray(curve[word]) for word in ("x", "mean", "sd"))
    axes.fill_between(x, mean - 1.96 * sd, mean + 1.96 * sd, color=colour, alpha=0.2, linewidth=0)
    axes.plot(x, mean, color=colour, linewidth=1.0)
    axes.axvline(start, color=DARK, linewidth=0.6)
