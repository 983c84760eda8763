"""The competitions as Markdown: one table for each set and part, our runs beside the peers' published figures.

A figure is the mean over the series of a method. MASE over AutoETS's is on the same series where AutoETS was run here,
else over its published mean, which is that of all series of the set. The last column is the version of Farrier that
measured the row.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.competition_data import PARTS, SETS, part_of
from benchmarks.competition_methods import METHODS, REFERENCE
from benchmarks.published import COMPETITIONS
from benchmarks.record import read, version_of

FIGURES = {
    "mase": ("MASE of the median", "{:.3f}"),
    "mase_of_mean": ("MASE of the mean", "{:.3f}"),
    "smape": ("sMAPE", "{:.2f}"),
    "inside_80": ("80 % holds", "{:.3f}"),
    "inside_95": ("95 % holds", "{:.3f}"),
    "msis": ("MSIS", "{:.2f}"),
    "seconds": ("CPU s, mean", "{:.2f}"),
}
"""Names in the lines, titles and how many digits."""
PUBLISHED = ("mase", "smape", "inside_80", "inside_95", "msis", "seconds")
"""The figures of the published rows, in their order."""


class Runs(NamedTuple):
    """The series that one method has forecast, by name, how many it could not, and the versions of Farrier."""

    figures: dict[str, dict[str, float]]
    failures: int
    version: str

    def mean(self, name: str) -> float:
        """The mean of a figure over the series."""
        return float(np.mean([one[name] for one in self.figures.values()]))


def tables(path: Path) -> str:
    """All tables of a file of lines."""
    lines = read(path)
    said = []
    for name in SETS:
        for part in PARTS:
            of_part = [line for line in lines if place_of(line["settings"]) == (name, part)]
            if of_part:
                said.append(_table(name, part, of_part))
    return "\n\n".join(said)


def place_of(settings: dict[str, Any]) -> tuple[str, str]:
    """The set and the part of a line."""
    return settings["set"], part_of(settings["series"])


def _table(name: str, part: str, lines: list[dict[str, Any]]) -> str:
    runs = runs_of(lines)
    count = len({line["settings"]["series"] for line in lines})
    titles = [title for title, _ in FIGURES.values()]
    rows = [
        ["method", "series", *titles, "CPU s, median", "MASE over AutoETS's", "version"],
        ["---"] * (len(titles) + 5),
        *(_row(method, runs, name) for method in METHODS if method in runs),
        *(_published_row(name, method) for method in COMPETITIONS[name]),
    ]
    said = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"## {name}, part {part}: {count} series\n\n{said}\n\n{_note(runs)}"


def runs_of(lines: list[dict[str, Any]]) -> dict[str, Runs]:
    """The runs of each method among the lines of one set and part."""
    by_method: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        by_method.setdefault(line["settings"]["method"], []).append(line)
    found = {}
    for method, some in by_method.items():
        good = [line for line in some if "failure" not in line["figures"]]
        figures = {line["settings"]["series"]: {**line["figures"], "seconds": line["cpu_seconds"]} for line in good}
        found[method] = Runs(figures, len(some) - len(good), version_of(some))
    return found


def _row(method: str, runs: dict[str, Runs], name: str) -> list[str]:
    own = runs[method]
    count = str(len(own.figures)) + (f" ({own.failures} failed)" if own.failures else "")
    if not own.figures:
        return [method, count, *[""] * (len(FIGURES) + 2), own.version]
    cells = [shape.format(own.mean(figure)) for figure, (_, shape) in FIGURES.items()]
    middle = float(np.median([one["seconds"] for one in own.figures.values()]))
    ratio = over_reference(own, runs, name)
    return [method, count, *cells, f"{middle:.2f}", "" if ratio is None else f"{ratio:.3f}", own.version]


def over_reference(own: Runs, runs: dict[str, Runs], name: str) -> float | None:
    """Mean MASE over AutoETS's on the same series, or over its published mean; None if no series is the same."""
    if not reference_was_run(runs):
        return own.mean("mase") / COMPETITIONS[name][REFERENCE][0]
    peer = runs[REFERENCE].figures
    both = [series for series in own.figures if series in peer]
    if not both:
        return None
    return float(
        np.mean([own.figures[series]["mase"] for series in both]) / np.mean([peer[series]["mase"] for series in both])
    )


def reference_was_run(runs: dict[str, Runs]) -> bool:
    """Whether AutoETS has forecast some of the series."""
    return REFERENCE in runs and bool(runs[REFERENCE].figures)


def _published_row(name: str, method: str) -> list[str]:
    numbers: dict[str, float | None] = dict(zip(PUBLISHED, COMPETITIONS[name][method], strict=True))
    cells = []
    for figure, (_, shape) in FIGURES.items():
        number = numbers.get(figure)
        cells.append("" if number is None else shape.format(number))
    return [f"{method}, published", "all", *cells, "", "", ""]


def _note(runs: dict[str, Runs]) -> str:
    if reference_was_run(runs):
        ratios = "The ratios are to AutoETS's mean MASE on the same series."
    else:
        ratios = "AutoETS was not run here: the ratios are to its published mean MASE."
    return f"{ratios} Published figures are means over all series of the set, of both parts."
