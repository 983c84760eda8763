"""What the paper says outside its tables, beside our runs: a part of docs/reproducing-the-paper.md.

Every row is read from the lines of the suites; a statement whose suite was not run says so. A printed number agrees
where it is reached (published.py).
"""

from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from benchmarks.published import verdict_on
from benchmarks.record import read, version_of

HALF_AN_HOUR = 1800.0
"""Seconds within which the paper's algorithm finds the structure of a series, as the paper says."""
CONCRETE_ADDITIVE = (6.90, 0.05)
"""The printed RMSE of concrete with additive kernels of order one, and its standard deviation."""
DIGIT = 0.005
"""Half a unit of its last printed digit."""
AIRLINE_KERNELS = {"Per * SE", "Lin", "SE"}
"""The three largest components of airline, as the paper prints them."""
METHODS = (("paper-staged", "paper-tables", "paper"), ("no-prior-tables", "multisvgp"), ("softmax",))
"""Ours, no prior and softmax, by the names of the suite gefcom; of the first that was run."""


class Statement(NamedTuple):
    """What the paper says, what we found, and whether the two agree; None if it was not run."""

    said: str
    found: str
    agrees: bool | None
    version: str = ""

    def row(self) -> str:
        """A row of the table on the page."""
        verdict = "not run" if self.agrees is None else "yes" if self.agrees else "no"
        return f"| {self.said} | {self.found} | {self.version} | {verdict} |"


def section(results: Path) -> str:
    """The section of the page."""
    rows = [*_points(results), *_weights(results), *_series(results), _load(results), _concrete(results)]
    return (
        "## What the paper says outside its tables\n\n| the paper | ours | version | agrees |\n|---|---|---|---|\n"
        + "\n".join(statement.row() for statement in rows)
        + "\n"
    )


def _lines(results: Path, suite: str) -> list[dict[str, Any]]:
    path = results / f"{suite}.jsonl"
    return read(path) if path.exists() else []


def _points(results: Path) -> list[Statement]:
    """The proposition and the figure of Wasserstein distances."""
    lines = _lines(results, "bound")
    runs = [line["figures"]["w2"] for line in lines]
    said = "a group of M points for each kernel is closer to the exact posterior (W2) than M shared points"
    equal = "the same with M points in all (the proposition does not cover it)"
    if not runs:
        return [Statement(said, "", None), Statement(equal, "", None)]
    closer = sum(w2["grouped"] < w2["single"] for w2 in runs)
    total, version = sum(w2["grouped_total"] < w2["single"] for w2 in runs), version_of(lines)
    return [
        Statement(said, f"in {closer} of {len(runs)} runs of `bound`", closer > 0.5 * len(runs), version),
        Statement(equal, f"in {total} of {len(runs)}", total > 0.5 * len(runs), version),
    ]


def _weights(results: Path) -> list[Statement]:
    """The figure of the weights with and without the horseshoe prior."""
    lines = [line for line in _lines(results, "weights") if line["settings"].get("inputs") == "standardised"]
    found = []
    for prior, said in (
        ("horseshoe", "with the horseshoe the largest weight is that of a kernel with Per"),
        ("none", "without a prior it is not"),
    ):
        some = [line for line in lines if line["settings"]["prior"] == prior]
        runs = [line["figures"]["finds"] for line in some]
        right = sum(runs) if prior == "horseshoe" else len(runs) - sum(runs)
        words = f"in {right} of {len(runs)} seeds of `weights`" if runs else ""
        found.append(Statement(said, words, right > 0.5 * len(runs) if runs else None, version_of(some)))
    return found


def _series(results: Path) -> list[Statement]:
    """Kernels and times of the two series."""
    lines = [x for x in _lines(results, "reproduction") if x["settings"]["method"] == "paper"]
    found = []
    for name, said in (
        ("airline", "airline is Per * SE (weight 25.8), Lin (9.0) and SE (5.5), on raw y"),
        ("mauna400", "the trend and the season of CO2 are explained"),
    ):
        runs = [x for x in lines if x["settings"]["set"] == name and "decomposition" in x["figures"]]
        if not runs:
            found.append(Statement(said, "", None))
            continue
        best = max(runs, key=lambda run: run["figures"]["bound"])
        parts = best["figures"]["decomposition"]["parts"]
        words = ", ".join(f"{part['kernel']} ({part['weight']:g})" for part in parts)
        seasonal = any("Per" in part["kernel"] for part in parts) and any("Per" not in part["kernel"] for part in parts)
        same = name != "airline" or {_sorted(part["kernel"]) for part in parts} == AIRLINE_KERNELS
        found.append(Statement(said, f"{words}, on standardised y", seasonal and same, version_of([best])))
    series = [x for x in lines if x["settings"]["set"] in ("airline", "mauna400")]
    seconds = [x["cpu_seconds"] for x in series]
    said = "less than half an hour for airline and mauna"
    words = f"{median(seconds):.0f} s of processor time (median of {len(seconds)} runs)" if seconds else ""
    found.append(Statement(said, words, median(seconds) < HALF_AN_HOUR if seconds else None, version_of(series)))
    return found


def _sorted(kernel: str) -> str:
    """A product with its factors in alphabetical order."""
    return " * ".join(sorted(kernel.split(" * ")))


def _load(results: Path) -> Statement:
    """The figure of the hourly load."""
    said = "GEFCom: ours ahead of no prior and softmax in RMSE and NLL"
    lines = [x for x in _lines(results, "gefcom") if x["settings"]["rows"] > 38_000 and "rmse" in x["figures"]]
    found = {x["settings"]["method"]: _means(lines, x["settings"]["method"]) for x in lines}
    chosen = [next((name for name in names if name in found), "") for names in METHODS]
    runs = {name: found[name] for name in chosen if name}
    version = version_of(x for x in lines if x["settings"]["method"] in runs)
    words = ", ".join(f"{name} {run['rmse']:.3f} / {-run['log_likelihood']:.3f}" for name, run in runs.items())
    if len(runs) < len(METHODS):
        return Statement(said, words, None, version)
    ours, *others = (runs[name] for name in chosen)
    ahead = all(ours["rmse"] < x["rmse"] and ours["log_likelihood"] > x["log_likelihood"] for x in others)
    stages = " (ours in two stages, the others not)" if "paper-staged" in chosen else ""
    return Statement(said, f"RMSE / NLL: {words}{stages}", ahead, version)


def _means(lines: list[dict[str, Any]], method: str) -> dict[str, float]:
    """The error and the log-likelihood of a method, means over its seeds."""
    runs = [x["figures"] for x in lines if x["settings"]["method"] == method]
    return {word: mean(run[word] for run in runs) for word in ("rmse", "log_likelihood")}


def _concrete(results: Path) -> Statement:
    """The retrained concrete."""
    printed, spread = CONCRETE_ADDITIVE
    said = f"concrete with additive kernels of order one: RMSE {printed:.2f} ± {spread:.2f}"
    runs = [
        x
        for x in _lines(results, "uci")
        if (x["settings"]["table"], x["settings"]["method"]) == ("concrete", "additive-gp") and "rmse" in x["figures"]
    ]
    if not runs:
        return Statement(said, "", None)
    ours = mean(x["figures"]["rmse"] for x in runs)
    same = verdict_on(ours, printed, spread, DIGIT, more_is_better=False) == "reached"
    return Statement(said, f"{ours:.2f} (additive GP of all orders)", same, version_of(runs))
