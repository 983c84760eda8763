"""The page `docs/reproducing-the-paper.md`: every number that the paper prints next to ours, with a verdict.

    python -m benchmarks pages

A cell of ours comes from the suite `reproduction` if it was run there (the runs with the settings of the newest), else
from the suite of its table. A printed number is *reached* where the mean of our runs is close to it, whichever of the
two is the better one (`verdict_on`); else ours is better or worse.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any, NamedTuple

from benchmarks import more_steps, reproduction_statements
from benchmarks.published import AUTHORS_RUN, CLASSIFICATION, CLOSE, DEVIATIONS, IMPLICIT, UCI, verdict_on
from benchmarks.record import read, version_of

PAGE = Path(__file__).parent.parent / "docs" / "reproducing-the-paper.md"
TEXT = Path(__file__).parent / "reproducing_the_paper.md"
"""What was found, in words; the tables follow it."""
DIGIT = {"RMSE": 0.005, "log-likelihood": 0.005, "% wrong": 0.005, "MNLL": 0.0005}
"""Half a unit of the last printed digit."""
REACHED = f"""## What "reached" means

A printed number is **reached** if the mean of our runs is within {DEVIATIONS:g} printed standard deviations of it,
above or below (within {100 * CLOSE:g} % of it where none is printed); half a unit of the last printed digit is allowed
for. Where the mean is further away, ours is **better** or **worse**. A number that ours is better than is not reached:
what was printed has not been reproduced. The column "version" is the version of Farrier that measured a row.
"""
COLUMNS = {"svgp-se": "SVGP-SE", "multisvgp": "no prior", "softmax": "softmax", "gp-nkn": "GP-NKN", "paper": "ours"}
"""The columns of the paper's tables by our names of the methods."""
ON_TABLES = {"paper": "paper-tables", "multisvgp": "no-prior-tables"}
"""Methods that run with the kernels of the authors' program for tables, where they were run so."""
CLASSIFIERS = {"additive-classifier": "additive GPs", "free-sets-classifier": "no prior", "sets-classifier": "paper"}
"""Our names of the columns of the classification table."""


class Cell(NamedTuple):
    """One printed number and our runs of it."""

    table: str
    column: str
    figure: str
    printed: float
    spread: float | None
    ours: list[float]
    more_is_better: bool
    source: str = ""
    version: str = ""

    def verdict(self) -> str:
        """Whether the printed number is reached; else whether our mean is better or worse."""
        if not self.ours:
            return "not run"
        return verdict_on(
            mean(self.ours), self.printed, self.spread, DIGIT[self.figure], more_is_better=self.more_is_better
        )

    def row(self) -> str:
        """A row of the table on the page."""
        spread = "" if self.spread is None else f" ± {self.spread:.2f}"
        ours = f"{mean(self.ours):.3g}" if self.ours else ""
        ours += f" ± {stdev(self.ours):.2g}" if len(self.ours) > 1 else ""
        seeds = str(len(self.ours)) if self.ours else ""
        return (
            f"| {self.table} | {self.column} | {self.figure} | {self.printed:g}{spread} | {ours} | {seeds} | "
            f"{self.source} | {self.version} | {self.verdict()} |"
        )


def page(results: Path) -> str:
    """The page, from the results that there are."""
    lines = _lines(results, "reproduction")
    text = TEXT.read_text(encoding="utf-8")
    said = [part for part in (text, _series(lines), more_steps.section(lines), REACHED) if part]
    groups = {
        "Tables, extrapolated": list(_uci(results, lines)),
        "Two classes": list(_classes(results)),
        "Against black-box quantile kernels": list(_implicit(results)),
    }
    for title, cells in groups.items():
        verdicts = [cell.verdict() for cell in cells]
        counts = {word: verdicts.count(word) for word in ("reached", "better", "worse", "not run")}
        said.append(
            f"## {title}\n\nOf {len(cells)} printed numbers {counts['reached']} are reached; ours is better in "
            f"{counts['better']} and worse in {counts['worse']}, and {counts['not run']} were not run.\n\n"
            "| set | column | figure | printed | ours | seeds | suite | version | verdict |\n"
            "|---|---|---|---|---|---|---|---|---|\n" + "\n".join(cell.row() for cell in cells) + "\n"
        )
    said.append(reproduction_statements.section(results))
    return "\n".join(said)


def _lines(results: Path, suite: str) -> list[dict[str, Any]]:
    path = results / f"{suite}.jsonl"
    return read(path) if path.exists() else []


def _series(lines: list[dict[str, Any]]) -> str:
    """The runs on the two series, medians over the seeds."""
    rows = [
        "## The two series\n",
        "The paper prints pictures only. The authors' code, trained by their settings, was run by us and forecasts the "
        f"last tenth with an RMSE of {AUTHORS_RUN['airline']} on airline and {AUTHORS_RUN['mauna400']} on mauna400. "
        "Ours, medians over the seeds (in brackets the single runs):\n",
        "| set | method | steps | points | step size | starts | starting values | RMSE | log-likelihood | bound | "
        "processor seconds | version |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for line in lines:
        s = line["settings"]
        if s["set"] in AUTHORS_RUN:
            words = {"steps": "default", "points": "default", "rate": "default", "starts": 1, "initialisation": "both"}
            key = (s["set"], s["method"], *(s.get(word, default) for word, default in words.items()))
            groups.setdefault(key, []).append(line)
    for key, some in sorted(groups.items(), key=lambda item: [str(word) for word in item[0]]):
        runs = [line["figures"] | {"cpu": line["cpu_seconds"]} for line in some]
        errors = [run["rmse"] for run in runs]
        cells = [f"{median(errors):.3g} ({', '.join(f'{e:.3g}' for e in errors)})"]
        cells += [f"{median(run[word] for run in runs):.4g}" for word in ("log_likelihood", "bound", "cpu")]
        cells.append(version_of(some))
        rows.append(f"| {' | '.join(str(word) for word in key)} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _uci(results: Path, lines: list[dict[str, Any]]) -> Iterator[Cell]:
    older = _lines(results, "uci")
    for table, columns in UCI.items():
        for method, name in COLUMNS.items():
            names = (method, ON_TABLES.get(method))
            here = _newest([x for x in lines if x["settings"]["set"] == table and x["settings"]["method"] in names])
            there = [x for x in older if x["settings"]["table"] == table and x["settings"]["method"] == method]
            runs, source = (here, _source(here)) if here else (there, "uci") if there else ([], "")
            for place, (figure, word) in enumerate((("RMSE", "rmse"), ("log-likelihood", "log_likelihood"))):
                # the authors' code counts the noise twice: where we know the noise, so do we in this comparison
                values = [_twice(run["figures"], word) for run in runs if word in run["figures"]]
                printed, spread = columns[method][place]
                shown = (source, version_of(runs)) if values else ("", "")
                yield Cell(table, name, figure, printed, spread, values, figure != "RMSE", *shown)


def _newest(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs whose settings are those of the newest run."""
    newest = max(lines, key=lambda line: line["date"], default=None)
    return [] if newest is None else [line for line in lines if line["settings"] == newest["settings"]]


def _source(lines: list[dict[str, Any]], suite: str = "reproduction") -> str:
    """The suite, with the method and the settings that are not those of the column."""
    settings = lines[0]["settings"]
    words = [settings["method"]] if settings["method"] in ON_TABLES.values() else []
    words += [f"{settings['members']} starts"] if "members" in settings else []
    words += ["two stages"] if settings.get("staged") else []
    return ", ".join([suite, *words])


def _twice(figures: dict[str, Any], word: str) -> float:
    return figures.get("noise_twice", figures[word]) if word == "log_likelihood" else figures[word]


def _classes(results: Path) -> Iterator[Cell]:
    lines = _lines(results, "classification")
    for table, columns in CLASSIFICATION.items():
        for method, name in CLASSIFIERS.items():
            for split in (None, "random"):
                wanted = {"table": table, "method": method, "split": split}
                found = [x for x in lines if wanted == {word: x["settings"].get(word) for word in wanted}]
                values = [one["figures"]["error"] for one in found if "error" in one["figures"]]
                if split and not values:
                    continue
                source = ", ".join(["classification", *(["random splits"] if split else [])]) if values else ""
                column = "ours" if name == "paper" else name
                spread, version = CLASSES_SPREAD[table][name], version_of(found) if values else ""
                yield Cell(table, column, "% wrong", columns[name], spread, values, False, source, version)


CLASSES_SPREAD = {
    "heart": {"additive GPs": 4.56, "no prior": 1.41, "paper": 2.11},
    "liver": {"additive GPs": 8.37, "no prior": 6.93, "paper": 2.52},
    "pima": {"additive GPs": 3.46, "no prior": 3.72, "paper": 1.65},
}
"""The printed standard deviations of the classification table."""


def _implicit(results: Path) -> Iterator[Cell]:
    lines = _lines(results, "implicit")
    for name, columns in IMPLICIT.items():
        for method, printed in columns.items():
            names = (method, ON_TABLES.get(method))
            runs = _newest([x for x in lines if x["settings"]["set"] == name and x["settings"]["method"] in names])
            for place, (figure, word, sign) in enumerate((("RMSE", "rmse", 1.0), ("MNLL", "log_likelihood", -1.0))):
                values = [sign * run["figures"][word] for run in runs if word in run["figures"]]
                column = "ours" if method == "paper" else "BBQ"
                shown = (_source(runs, "implicit"), version_of(runs)) if values else ("", "")
                yield Cell(name, column, figure, printed[place], None, values, False, *shown)
