"""The sections of `docs/evaluation.md` about made data, whose truth is known; `SECTIONS` has them by suite."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.record import read, version_of

Line = dict[str, Any]


def grouped(lines: list[Line], name: str) -> Iterator[tuple[Any, list[Line]]]:
    """The lines for each value of a setting, and all of them."""
    for value in dict.fromkeys(line["settings"][name] for line in lines):
        yield value, [line for line in lines if line["settings"][name] == value]
    yield "all", lines


def known(path: Path) -> str:
    """How many of the made tables are named right, by kind."""
    rows = [
        "## Made tables of known structure\n",
        "250 rows, two to four inputs without effect (twenty in the last kind), noise of 0.35 of the signal's standard "
        "deviation. A table is right if the components act on exactly the inputs of its effects and each is called "
        "what it is. The rule for lines was made after seed 202 had been read, the true shares of products after seed "
        "400. `python -m benchmarks run known`.\n",
        "| table | named right | Sobol indices in their 95 % intervals | version |",
        "|---|---|---|---|",
    ]
    for kind, own in grouped(read(path), "kind"):
        right, inside, shares = (sum(line["figures"][name] for line in own) for name in ("right", "inside", "shares"))
        rows.append(f"| {kind} | {right} of {len(own)} | {inside} of {shares} | {version_of(own)} |")
    return "\n".join(rows) + "\n"


def table_times(path: Path) -> str:
    """Time, memory and error of made tables."""
    rows = [
        "## How long tables take\n",
        "Made tables, from rows to a model that predicts, on one core of a busy machine: a line, a wave, a bend and a "
        "product of two inputs; all others have no effect. The noise has a standard deviation of 0.3; the error is "
        "that of the mean against the function itself, at new rows. `python -m benchmarks run table-times`.\n",
        "| rows | inputs | processor time, s | memory, GB | error | inside the 95 % interval | found | version |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for line in read(path):
        own, f = line["settings"], line["figures"]
        start = f"| {own['rows']:,} | {own['inputs']} |"
        cells = (
            f"{f['failure']} | | | |"
            if "failure" in f
            else f"{f['fit_cpu_seconds']:.0f} | {f['gigabytes']:.1f} | {f['rmse']:.3f} | "
            f"{100 * f['coverage']:.0f} % | {f['found']}"
        )
        rows.append(f"{start} {cells} | {version_of([line])} |")
    return "\n".join(rows) + "\n"


def recovery(path: Path) -> str:
    """Precision and recall of what is found in data of known structure."""
    lines = read(path)
    ratios = sorted({line["settings"]["ratio"] for line in lines}, reverse=True)
    rows = [
        "## Known structures\n",
        "Data drawn from known sums of products, 200 rows, each part of unit variance, noise at a ratio of variances: "
        "precision and recall of the components that explain (`benchmarks/structures.py` says what counts as a match), "
        "means over the seeds. `python -m benchmarks run recovery`.\n",
        f"| structure | {' | '.join(f'precision, recall at {ratio:g}' for ratio in ratios)} | version |",
        "|---" * (len(ratios) + 2) + "|",
    ]
    for name, own in grouped(lines, "structure"):
        cells = []
        for ratio in ratios:
            some = [line["figures"] for line in own if line["settings"]["ratio"] == ratio]
            cells.append(", ".join(f"{mean(one[word] for one in some):.2f}" for word in ("precision", "recall")))
        rows.append(f"| {name} | {' | '.join(cells)} | {version_of(own)} |")
    return "\n".join(rows) + "\n"


def plain(path: Path) -> str:
    """What is found where there is no pattern."""
    rows = [
        "## Series without a pattern\n",
        "100 made months, and 12 that are forecast. White noise is right if nothing is found, a random walk if a "
        "random walk and nothing else is. `python -m benchmarks run plain`.\n",
        "| series | right | inside the 95 % interval | version |",
        "|---|---|---|---|",
    ]
    for kind, own in grouped(read(path), "kind"):
        right, inside = (mean(line["figures"][name] for line in own) for name in ("right", "inside"))
        rows.append(f"| {kind} | {round(right * len(own))} of {len(own)} | {100 * inside:.1f} % | {version_of(own)} |")
    return "\n".join(rows) + "\n"


def plain_tables(path: Path) -> str:
    """What intervals hold where little or nothing is found in a table."""
    rows = [
        "## Tables of noise and weak effects\n",
        "Inputs without effect, or one that explains 8 % of the variance. The predictive standard deviation is a root "
        "mean square over 2,000 new rows, divided by that of the noise. Where half of y is one value, intervals hold "
        "more than they say: no row lies below them. `python -m benchmarks run plain-tables`.\n",
        "| table | number | predictive sd | inside the 80 % interval | inside the 95 % interval | version |",
        "|---|---|---|---|---|---|",
    ]
    for kind, own in grouped(read(path), "kind"):
        sd, *inside = (mean(line["figures"][name] for line in own) for name in ("sd", "inside_80", "inside_95"))
        shares = " | ".join(f"{100 * share:.1f} %" for share in inside)
        rows.append(f"| {kind} | {len(own)} | {sd:.2f} | {shares} | {version_of(own)} |")
    return "\n".join(rows) + "\n"


def drivers(path: Path) -> str:
    """How often the interval of a regressor's effect holds it."""
    rows = [
        "## Series with regressors\n",
        "Made series of 60 to 3,000 days with a 0/1 promotion, a price or both, with and without the calendar of a "
        "country: how many effects lie in their 95 % intervals, and the share of the next 14 days inside the 95 % "
        "intervals of the forecast. `python -m benchmarks run drivers`.\n",
        "| series | number | effects in their intervals | days inside | processor time of a fit, median | version |",
        "|---|---|---|---|---|---|",
    ]
    for course, own in grouped(read(path), "course"):
        inside = [held for line in own for held in line["figures"]["inside"].values()]
        days = mean(line["figures"]["holds"] for line in own)
        seconds = median(line["figures"]["fit_cpu_seconds"] for line in own)
        rows.append(
            f"| {course} | {len(own)} | {sum(inside)} of {len(inside)} | {100 * days:.1f} % | {seconds:.2f} s "
            f"| {version_of(own)} |"
        )
    return "\n".join(rows) + "\n"


def calendar(path: Path) -> str:
    """Series with patterns of the calendar."""
    rows = [
        "## Patterns of the calendar\n",
        "Made series of hours and days; the error of the forecast over that of least squares on the columns that made "
        "the series. `python -m benchmarks run calendar`.\n",
        "| kind | median ratio | worst | inside the 95 % interval | named | version |",
        "|---|---|---|---|---|---|",
    ]
    for kind, own in grouped(read(path), "kind"):
        found = [line["figures"] for line in own]
        ratios, named = [one["ratio"] for one in found], sum(one["named"] for one in found)
        rows.append(
            f"| {kind} | {median(ratios):.2f} | {max(ratios):.2f} | {100 * mean(one['inside'] for one in found):.0f} % "
            f"| {named} of {len(own)} | {version_of(own)} |"
        )
    return "\n".join(rows) + "\n"


SECTIONS: Mapping[str, Callable[[Path], str]] = {
    "known": known,
    "recovery": recovery,
    "plain": plain,
    "plain-tables": plain_tables,
    "drivers": drivers,
    "calendar": calendar,
    "table-times": table_times,
}
"""The sections by the names of their suites, in the order of the page."""
