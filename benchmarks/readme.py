"""The parts of README.md that are measured: the table of "How well it does", and what `farrier explain airline` prints.

Only lines of the present version count; a row without such lines is left out. Each row has `behind`: how many times
its worst figure is worse than what it is compared with (errors and seconds over those of others, values outside
intervals over the nominal part, one over a share that should be one). The row that is furthest behind comes first.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from math import exp, log
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.competition_data import SETS
from benchmarks.competition_methods import OURS
from benchmarks.competition_table import over_reference, place_of, reference_was_run, runs_of
from benchmarks.published import TIMESERIES, UCI
from benchmarks.record import present

PAGE = Path(__file__).parent.parent / "README.md"
COMMAND = ("explain", "airline", "--horizon", "24", "--out", "report.html")
"""The command whose output the page shows."""
SHOWN = (3, 1)
"""Rows of the forecast that the page shows at its beginning and its end."""
NOMINAL = 0.95
"""Level of the intervals whose coverage is reported."""
SIMPLE = ("full-gp", "ridge", "random forest", "gradient boosting")
"""Methods that Farrier is compared with on random tenths of tables, where they take as many rows."""
SERIES = "series of the M1, M3, M4 and Tourism competitions that no prior was learned from"
QUICK_PEER = "gradient boosting"
"""The method that Farrier's time on tables is compared with."""


class Row(NamedTuple):
    """A row of the table, and how many times its worst figure is worse than what it is compared with."""

    what: str
    measured_on: str
    found: str
    compared: str
    behind: float


Figures = Mapping[tuple[str, str], list[dict[str, Any]]]
"""The figures of all lines by set and method."""


def with_figures(text: str, results: Path) -> str:
    """The text of the page with the table made from the results."""
    return between(text, "figures", table(results))


def with_output(text: str) -> str:
    """The text of the page with the output of a run of the command."""
    return between(text, "output", f"```\n{shortened(output())}```")


def between(text: str, name: str, new: str) -> str:
    """The text with something else between the two marks of a name."""
    marks = re.compile(rf"(?<=<!-- {name}: python -m benchmarks pages -->\n).*?(?=\n<!-- end of {name} -->)", re.DOTALL)
    if len(marks.findall(text)) != 1:
        raise ValueError(f"the page needs the marks of {name!r} exactly once")
    return marks.sub(lambda _: new, text)


def output() -> str:
    """What the command prints."""
    with TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "farrier.cli.app", *COMMAND]
        return subprocess.run(words, cwd=folder, capture_output=True, check=True, text=True, encoding="utf-8").stdout


def shortened(printed: str) -> str:
    """The output with most rows of its forecast left out."""
    lines = printed.splitlines(keepends=True)
    rows = [i for i, line in enumerate(lines) if re.match(r"\d{4}-\d\d ", line)]
    first, last = rows[: SHOWN[0]], rows[len(rows) - SHOWN[1] :]
    return "".join([*lines[: first[-1] + 1], "...\n", *lines[last[0] :]])


def table(results: Path) -> str:
    """The table, worst rows first."""
    rows = [row for make in ROWS if (row := make(results)) is not None]
    intro = (
        f"All figures are of version {version('farrier')}. The row whose worst figure is furthest behind what it is "
        "compared with comes first."
    )
    cells = [(row.what, row.measured_on, row.found, row.compared) for row in sorted(rows, key=lambda one: -one.behind)]
    head = ("what", "measured on", "Farrier", "compared with")
    return "\n".join([intro, "", *(f"| {' | '.join(row)} |" for row in (head, ("---",) * 4, *cells))])


def _time_of_tables(results: Path) -> Row | None:
    """Processor time of tables."""
    figures = _figures(results, "tables", "table")
    both = [name for name, method in figures if method == OURS and (name, QUICK_PEER) in figures]
    if not both:
        return None
    ours, theirs = (
        [mean(one["processor_seconds"] for one in figures[name, method]) for name in both]
        for method in (OURS, QUICK_PEER)
    )
    return Row(
        "processor time of a fit",
        f"{len(both)} public tables, nine tenths of the rows",
        f"{min(ours):.0f} to {max(ours):.0f} s",
        f"{min(theirs):.0f} to {max(theirs):.0f} s (gradient boosting)",
        max(one / other for one, other in zip(ours, theirs, strict=True)),
    )


def _structures(results: Path) -> Row | None:
    """Precision and recall."""
    lines = present(results / "recovery.jsonl")
    if not lines:
        return None
    ratios = sorted({line["settings"]["ratio"] for line in lines}, reverse=True)
    found = [
        [mean(line["figures"][word] for line in lines if line["settings"]["ratio"] == ratio) for ratio in ratios]
        for word in ("precision", "recall")
    ]
    precision, recall = (", ".join(f"{100 * one:.0f}" for one in some) for some in found)
    return Row(
        "precision and recall of the components found",
        f"{len(lines)} made data sets of known structure, signal-to-noise ratios "
        f"{', '.join(f'{ratio:g}' for ratio in ratios)}",
        f"precision {precision} %; recall {recall} %",
        "100 %",
        1.0 / max(min(min(some) for some in found), 1e-9),
    )


def _intervals(results: Path) -> Row | None:
    """Coverage of the intervals of forecasts."""
    found = {name: runs[OURS] for name, runs in _competitions(results).items() if OURS in runs}
    if not found:
        return None
    inside = {name: own.mean("inside_95") for name, own in found.items()}
    return Row(
        "values inside the 95 % intervals of forecasts",
        f"{sum(len(own.figures) for own in found.values())} {SERIES}",
        ", ".join(f"{100 * share:.0f} % ({_set(name)})" for name, share in inside.items()),
        f"{100 * NOMINAL:.0f} %",
        max((1.0 - share) / (1.0 - NOMINAL) for share in inside.values()),
    )


def _plain_tables(results: Path) -> Row | None:
    """Coverage of the intervals of tables in which little is found."""
    lines = present(results / "plain-tables.jsonl")
    if not lines:
        return None
    inside = mean(line["figures"]["inside_95"] for line in lines)
    kinds = len({line["settings"]["kind"] for line in lines})
    return Row(
        "values inside the 95 % intervals of tables in which little is found",
        f"{len(lines)} made tables of noise and weak effects, {kinds} kinds",
        f"{100 * inside:.1f} %",
        f"{100 * NOMINAL:.0f} %",
        (1.0 - inside) / (1.0 - NOMINAL),
    )


def _drivers(results: Path) -> Row | None:
    """How often the interval of a regressor's effect holds it."""
    lines = present(results / "drivers.jsonl")
    if not lines:
        return None
    inside = [held for line in lines for held in line["figures"]["inside"].values()]
    return Row(
        "effects of regressors inside their 95 % intervals",
        f"{len(lines)} made series of 60 to 3,000 days",
        f"{100 * mean(inside):.0f} %",
        f"{100 * NOMINAL:.0f} %",
        (1.0 - mean(inside)) / (1.0 - NOMINAL),
    )


def _extrapolation(results: Path) -> Row | None:
    """Errors on rows outside of the others."""
    figures = _figures(results, "uci", "table")
    ratios = {
        name: mean(one["rmse"] for one in some) / min(printed[0][0] for printed in UCI[name].values())
        for (name, method), some in figures.items()
        if method == OURS
    }
    return _over(
        "error of extrapolation",
        "public tables, test rows outside the others",
        ratios,
        "the best that the paper prints for any of its methods, table by table",
    )


def _last_tenth(results: Path) -> Row | None:
    """Errors of forecasts of the paper's series."""
    figures = _figures(results, "timeseries", "series")
    ratios = {
        name: mean(one["rmse"] for one in some) / TIMESERIES[name]
        for (name, method), some in figures.items()
        if method == OURS
    }
    return _over(
        "error of a forecast of the last tenth", "public series", ratios, "the best of nine published methods for each"
    )


def _forecasts(results: Path) -> Row | None:
    """MASE of the competitions' series over AutoETS's."""
    found = {name: runs for name, runs in _competitions(results).items() if OURS in runs and reference_was_run(runs)}
    ratios = {name: over_reference(runs[OURS], runs, name) for name, runs in found.items()}
    both = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    if not both:
        return None
    return Row(
        "error of forecasts (mean MASE)",
        f"{sum(len(found[name][OURS].figures) for name in both)} {SERIES}",
        ", ".join(f"{ratio:.2f} ({_set(name)})" for name, ratio in both.items()) + " times",
        "AutoETS on the same series",
        max(both.values()),
    )


def _random_tenths(results: Path) -> Row | None:
    """Errors on random tenths of tables, and the coverage of their intervals."""
    figures = _figures(results, "tables", "table")
    ratios, inside = {}, []
    for name in [name for name, method in figures if method == OURS]:
        others = [mean(one["rmse"] for one in figures[name, method]) for method in SIMPLE if (name, method) in figures]
        if others:
            ratios[name] = mean(one["rmse"] for one in figures[name, OURS]) / min(others)
            inside.append(100.0 * mean(one["coverage"] for one in figures[name, OURS]))
    if not ratios:
        return None
    row = _over(
        "error on random tenths",
        "public tables",
        ratios,
        "the best of ridge regression, a random forest, gradient boosting and a plain Gaussian process for each",
    )
    assert row is not None
    return row._replace(found=f"{row.found}; {min(inside):.1f} to {max(inside):.1f} % inside the 95 % intervals")


ROWS: tuple[Callable[[Path], Row | None], ...] = (
    _time_of_tables,
    _structures,
    _intervals,
    _plain_tables,
    _drivers,
    _extrapolation,
    _last_tenth,
    _forecasts,
    _random_tenths,
)


def _figures(results: Path, suite: str, key: str) -> Figures:
    """The figures of the present version by set and method, without methods that left a set out."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in present(results / f"{suite}.jsonl"):
        if "rmse" in line["figures"]:
            found.setdefault((line["settings"][key], line["settings"]["method"]), []).append(line["figures"])
    return found


def _competitions(results: Path) -> dict[str, Any]:
    """The runs by the present version on the series from which no prior was learned, by set and method."""
    lines = present(results / "competitions.jsonl")
    found = {name: [line for line in lines if place_of(line["settings"]) == (name, "report")] for name in SETS}
    return {name: runs_of(some) for name, some in found.items() if some}


def _set(name: str) -> str:
    """A set as people call it: M1 yearly."""
    competition, _, frequency = name.partition("_")
    return f"{competition.capitalize()} {frequency}"


def _over(what: str, sets: str, ratios: Mapping[str, float], compared: str) -> Row | None:
    """A row of errors over those of others."""
    if not ratios:
        return None
    worst, best = (choose(ratios, key=lambda name: ratios[name]) for choose in (max, min))
    typical = exp(mean(log(ratio) for ratio in ratios.values()))
    found = (
        f"{ratios[best]:.2f} ({best}) to {ratios[worst]:.2f} ({worst}) times; geometric mean {typical:.2f}, larger on "
        f"{sum(ratio > 1.0 for ratio in ratios.values())} of {len(ratios)}"
    )
    return Row(what, f"{len(ratios)} {sets}", found, compared, ratios[worst])
