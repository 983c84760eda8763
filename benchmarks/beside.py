"""Our runs beside the published numbers: one Markdown table a suite, and what they say about Farrier.

A cell is the mean over seeds, with the standard deviation where there are several, and the published number in brackets
where there is one. The last column is the version of Farrier that measured the row. The best of our runs is bold.
Verdicts compare Farrier with every published number: level where they are within one of the published standard
deviations, or within half a unit of its last printed digit if that is more, or within 2 % where none is printed.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from benchmarks.published import CLASSIFICATION, IMPLICIT, TIMESERIES, UCI, verdict_on
from benchmarks.record import read, version_of
from farrier.cli.compare import OURS

BEST_OF_NINE = "best of nine published"
ROUNDED = 0.005
"""Half a unit of the last digit that the paper prints."""
CLOSE = 0.02
"""The part of a number within which two are level if nobody says how much it varies."""


class Figure(NamedTuple):
    """A figure of a suite: its name in the lines, in the table, and whether more is better (None: neither)."""

    name: str
    title: str
    more_is_better: bool | None
    sign: float = 1.0


class Published(NamedTuple):
    """A published number; `spread` is its standard deviation, None where there is none."""

    value: float
    spread: float | None


Lookup = Callable[[str, str, int], Published | None]
"""From the name of a set, a method and the place of a figure to the published number."""

PRINTED_CLASSIFIERS = {"additive-classifier": "additive GPs", "no prior": "no prior", "subset-classifier": "paper"}
"""Our names of the published columns."""

RMSE = Figure("rmse", "RMSE", more_is_better=False)
DENSITY = Figure("log_likelihood", "log-likelihood", more_is_better=True)
ERROR = Figure("error", "% wrong", more_is_better=False)
COVERAGE = Figure("coverage", "part inside the 95 % intervals", more_is_better=None)
NEGATIVE = Figure("log_likelihood", "mean negative log-likelihood", more_is_better=False, sign=-1.0)


def _uci(name: str, method: str, place: int) -> Published | None:
    found = UCI.get(name, {}).get(method)
    return Published(*found[place]) if found else None


def _series(name: str, method: str, place: int) -> Published | None:
    return Published(TIMESERIES[name], None) if method == BEST_OF_NINE and place == 0 else None


def _implicit(name: str, method: str, place: int) -> Published | None:
    found = IMPLICIT.get(name, {}).get(method)
    return Published(found[place], None) if found else None


def _classes(name: str, method: str, place: int) -> Published | None:
    found = CLASSIFICATION.get(name, {}).get(PRINTED_CLASSIFIERS.get(method, ""))
    return Published(found, None) if found is not None and place == 0 else None


class Suite(NamedTuple):
    """The setting that names a set, the figures, where published numbers are, and whose they are."""

    key: str
    figures: tuple[Figure, ...]
    published: Lookup
    printed: tuple[str, ...]


SUITES: Mapping[str, Suite] = {
    "uci": Suite("table", (RMSE, DENSITY), _uci, ("svgp-se", "multisvgp", "softmax", "gp-nkn", "paper")),
    "timeseries": Suite("series", (RMSE, DENSITY), _series, (BEST_OF_NINE,)),
    "gefcom": Suite("rows", (RMSE, NEGATIVE), lambda *_: None, ()),
    "classification": Suite("table", (ERROR, DENSITY), _classes, tuple(PRINTED_CLASSIFIERS)),
    "tables": Suite("table", (RMSE, DENSITY, COVERAGE), lambda *_: None, ()),
    "implicit": Suite("set", (RMSE, NEGATIVE), _implicit, ("bbq", "paper")),
}


def tables(path: Path) -> str:
    """The tables of a suite's file: one for each figure with its verdicts, and the seconds."""
    suite = SUITES[path.stem]
    runs = _runs(path, suite.key)
    sets = list(dict.fromkeys(name for name, _ in runs))
    run = list(dict.fromkeys(method for _, method in runs))
    versions = versions_of(path)
    said = []
    for place, figure in enumerate(suite.figures):
        printed = {m: [suite.published(name, m, place) for name in sets] for m in suite.printed}
        printed = {method: numbers for method, numbers in printed.items() if any(numbers)}
        best = {name: _best(runs, name, figure) for name in sets}
        rows = _head(figure.title, [*sets, "version"])
        for method in dict.fromkeys([*run, *printed]):
            numbers = printed.get(method, [None] * len(sets))
            cells = [
                _cell(runs.get((name, method)), figure, best[name], number)
                for name, number in zip(sets, numbers, strict=True)
            ]
            rows.append(f"| {method} | {' | '.join([*cells, versions.get(method, '')])} |")
        said.append("\n".join(rows))
        if printed:
            rows = _head(f"{figure.title}: farrier {versions.get(OURS, '')} is, against the printed", sets)
            for method, numbers in printed.items():
                verdicts = [_verdict(runs, name, figure, one) for name, one in zip(sets, numbers, strict=True)]
                rows.append(f"| {method} | {' | '.join(verdicts)} |")
            said.append("\n".join(rows))
    rows = _head("seconds", [*sets, "version"])
    for method in run:
        cells = [_seconds(runs.get((name, method))) for name in sets]
        rows.append(f"| {method} | {' | '.join([*cells, versions[method]])} |")
    return "\n\n".join([*said, "\n".join(rows)])


def _head(title: str, sets: Sequence[str]) -> list[str]:
    return [f"| {title} | {' | '.join(str(name) for name in sets)} |", "|---" * (len(sets) + 1) + "|"]


def agreement(path: Path, method: str = "svgp-se") -> dict[str, tuple[bool, bool]]:
    """For each UCI table whether our runs of a method are within two standard deviations of the printed ones.

    The error, and the log-likelihood with the noise counted twice, which is how the authors' code has it; half a unit
    of the last printed digit is allowed for.
    """
    agrees = {}
    for (name, who), found in _runs(path, "table").items():
        figures = [
            [run[figure] for run in found if figure in run] if who == method else []
            for figure in ("rmse", "noise_twice")
        ]
        if all(figures):
            printed = [_uci(name, method, place) for place in (0, 1)]
            close = [
                one is not None
                and verdict_on(mean(values), one.value, one.spread, ROUNDED, more_is_better=False) == "reached"
                for values, one in zip(figures, printed, strict=True)
            ]
            agrees[name] = close[0], close[1]
    return agrees


def _runs(path: Path, key: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in read(path):
        settings = line["settings"]
        runs.setdefault((settings[key], method_of(settings)), []).append(line["figures"])
    return runs


def versions_of(path: Path) -> dict[str, str]:
    """The versions of Farrier that have measured the lines of each method."""
    lines: dict[str, list[dict[str, Any]]] = {}
    for line in read(path):
        lines.setdefault(method_of(line["settings"]), []).append(line)
    return {method: version_of(some) for method, some in lines.items()}


def method_of(settings: Mapping[str, Any]) -> str:
    """The method of a run, with its way of splitting the rows if that is not the usual one of the suite."""
    way = settings.get("split")
    return settings["method"] if way is None else f"{settings['method']}, {way} splits"


def _values(found: list[dict[str, Any]] | None, figure: Figure) -> list[float]:
    return [figure.sign * run[figure.name] for run in found or () if figure.name in run]


def _best(runs: dict[tuple[str, str], list[dict[str, Any]]], name: str, figure: Figure) -> float | None:
    if figure.more_is_better is None:
        return None
    means = [mean(values) for (one, _), found in runs.items() if one == name and (values := _values(found, figure))]
    return (max if figure.more_is_better else min)(means) if means else None


def _cell(found: list[dict[str, Any]] | None, figure: Figure, best: float | None, published: Published | None) -> str:
    printed = f" ({published.value:g})" if published else ""
    values = _values(found, figure)
    if not values:
        why = next((run[word] for run in found or () for word in ("left_out", "failure") if word in run), "")
        return f"{why}{printed}".strip() or "not run"
    spread = f" ± {stdev(values):.2g}" if len(values) > 1 else ""
    text = f"{mean(values):.3g}{spread}"
    return (f"**{text}**" if mean(values) == best else text) + printed


def _verdict(
    runs: dict[tuple[str, str], list[dict[str, Any]]], name: str, figure: Figure, published: Published | None
) -> str:
    values = _values(runs.get((name, OURS)), figure)
    if published is None or not values:
        return ""
    gap = (mean(values) - published.value) * (1.0 if figure.more_is_better else -1.0)
    slack = CLOSE * abs(published.value) if published.spread is None else max(published.spread, ROUNDED)
    return "level" if abs(gap) <= slack else "ahead" if gap > 0 else "behind"


def _seconds(found: list[dict[str, Any]] | None) -> str:
    values = [run["fit_seconds"] for run in found or () if "fit_seconds" in run and "failure" not in run]
    return f"{mean(values):.0f}" if values else ""
