"""The page `docs/reproducing-the-paper.md`: every number that the paper prints beside ours, with a verdict.

    python -m benchmarks paper-page

A cell of ours comes from the suite `reproduction` if it was run there (the runs with the settings of the newest), else
from the suite of its table. The verdict is "reached" where our mean is within two printed standard deviations (5 %
where none is printed) of the printed number, or better, with half a unit of the last printed digit allowed for.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any, NamedTuple

from benchmarks import more_steps, reproduction_statements
from benchmarks.published import AUTHORS_RUN, CLASSIFICATION, IMPLICIT, UCI
from benchmarks.record import read

PAGE = Path(__file__).parent.parent / "docs" / "reproducing-the-paper.md"
TEXT = Path(__file__).parent / "reproducing_the_paper.md"
"""What was found, in words; the tables follow it."""
CLOSE = 0.05
"""The part of a number within which ours counts as reached if the paper prints no standard deviation; by judgement."""
DIGIT = {"RMSE": 0.005, "log-likelihood": 0.005, "% wrong": 0.005, "MNLL": 0.0005}
"""Half a unit of the last printed digit."""
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

    def verdict(self) -> str:
        """Whether our mean is as good as the printed number."""
        if not self.ours:
            return "not run"
        slack = 2.0 * self.spread if self.spread is not None else CLOSE * abs(self.printed)
        behind = (self.printed - mean(self.ours)) * (1.0 if self.more_is_better else -1.0)
        return "reached" if behind <= slack + DIGIT[self.figure] else "not reached"

    def row(self) -> str:
        """A row of the table on the page."""
        spread = "" if self.spread is None else f" ± {self.spread:.2f}"
        ours = f"{mean(self.ours):.3g}" if self.ours else ""
        ours += f" ± {stdev(self.ours):.2g}" if len(self.ours) > 1 else ""
        seeds = str(len(self.ours)) if self.ours else ""
        return (
            f"| {self.table} | {self.column} | {self.figure} | {self.printed:g}{spread} | {ours} | {seeds} | "
            f"{self.source} | {self.verdict()} |"
        )


def write(results: Path) -> Path:
    """Write the page from the results that there are."""
    lines = _lines(results, "reproduction")
    said = [part for part in (TEXT.read_text(), _series(lines), more_steps.section(lines)) if part]
    groups = {
        "Tables, extrapolated": list(_uci(results, lines)),
        "Two classes": list(_classes(results)),
        "Against black-box quantile kernels": list(_implicit(results)),
    }
    for title, cells in groups.items():
        reached = sum(cell.verdict() == "reached" for cell in cells)
        run = sum(bool(cell.ours) for cell in cells)
        said.append(
            f"## {title}\n\n{reached} of {run} cells that were run are reached; {len(cells) - run} were not run.\n\n"
            "| set | column | figure | printed | ours | seeds | suite | verdict |\n|---|---|---|---|---|---|---|---|\n"
            + "\n".join(cell.row() for cell in cells)
            + "\n"
        )
    said.append(reproduction_statements.section(results))
    PAGE.write_text("\n".join(said))
    return PAGE


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
        "processor seconds |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for line in lines:
        s = line["settings"]
        if s["set"] in AUTHORS_RUN:
            words = {"steps": "default", "points": "default", "rate": "default", "starts": 1, "initialisation": "both"}
            key = (s["set"], s["method"], *(s.get(word, default) for word, default in words.items()))
            groups.setdefault(key, []).append(line["figures"] | {"cpu": line["cpu_seconds"]})
    for key, runs in sorted(groups.items(), key=lambda item: [str(word) for word in item[0]]):
        errors = [run["rmse"] for run in runs]
        cells = [f"{median(errors):.3g} ({', '.join(f'{e:.3g}' for e in errors)})"]
        cells += [f"{median(run[word] for run in runs):.4g}" for word in ("log_likelihood", "bound", "cpu")]
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
                yield Cell(table, name, figure, printed, spread, values, figure != "RMSE", source if values else "")


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
                found = [x["figures"] for x in lines if wanted == {word: x["settings"].get(word) for word in wanted}]
                values = [figures["error"] for figures in found if "error" in figures]
                if split and not values:
                    continue
                source = ", ".join(["classification", *(["random splits"] if split else [])]) if values else ""
                column = "ours" if name == "paper" else name
                yield Cell(table, column, "% wrong", columns[name], CLASSES_SPREAD[table][name], values, False, source)


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
                source = _source(runs, "implicit") if values else ""
                yield Cell(name, column, figure, printed[place], None, values, False, source)
