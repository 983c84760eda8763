"""The course of the bound on the two series: python -m benchmarks figure reproduction."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.record import read
from benchmarks.reproduction import SERIES_ROWS
from benchmarks.style import BLUE, ORANGE, save

COLOURS = {"paper": BLUE, "paper-as-printed": ORANGE}
LABELS = {"paper": "natural gradients for q(u)", "paper-as-printed": "Adam for all, as printed"}
LOWEST = -3.0
"""Nats a row below which a bound is not drawn; by judgement."""


def draw(results: Path, data: Path | None) -> list[Path]:
    """One panel for each series: the bound in nats a row against the step, one line for each run."""
    lines = read(results / "reproduction.jsonl")
    figure, panels = plt.subplots(1, len(SERIES_ROWS), figsize=(11, 3.8), layout="constrained")
    for axes, (name, rows) in zip(panels, SERIES_ROWS.items(), strict=True):
        told = set()
        for line in lines:
            method, figures = line["settings"]["method"], line["figures"]
            if line["settings"]["set"] != name or method not in COLOURS:
                continue
            for course in figures["bounds"]:
                heights = np.array([np.nan if value is None else value for value in course]) / rows
                heights[heights < LOWEST] = np.nan
                label = LABELS[method] if method not in told else None
                axes.plot(figures["steps"], heights, color=COLOURS[method], linewidth=1.0, alpha=0.8, label=label)
                told.add(method)
        axes.set(title=name, xlabel="step", ylabel="evidence lower bound, nats a row", xscale="log")
        axes.grid()
        if told:
            axes.legend(loc="lower right")
    path = results / "reproduction.png"
    save(figure, path)
    return [path]
