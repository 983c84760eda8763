"""The page `docs/evaluation.md`, made from the committed results: python -m benchmarks page."""

from pathlib import Path

from benchmarks import beside
from benchmarks.record import read

PAGE = Path(__file__).parent.parent / "docs" / "evaluation.md"
HEAD = """# Evaluation

Farrier beside the methods that the AAAI 2021 paper compares with, all of them our implementations on our kernels
(`farrier.baselines`), and beside published numbers (in brackets, alone where we did not run the method; for the time
series the best of nine methods for each). Bold is the best of our runs. "Ahead", "level" and "behind" compare Farrier
with the paper's own method, for the series with the best of nine: level is within one of the published standard
deviations, or 2 % where none is printed.

This page is made from `benchmarks/results/*.jsonl` by `python -m benchmarks page`; each line there names its commit,
versions, cores and seconds. A method that was not run, or was left out for its number of rows, is said to be. Farrier
is not random and runs once; how many seeds the others had is in the lines.
"""
ABOUT = {
    "uci": (
        "Tables, extrapolated",
        "Rows are projected on the first principal component of the inputs; the lowest and the highest fifteenth are "
        "the test rows. Figures in units of y.",
    ),
    "timeseries": ("Series, forecast", "The first nine tenths train, the last tenth is forecast as a whole."),
    "gefcom": ("Hourly load", "Zone 1 of GEFCom 2012: a tenth of the rows, drawn at random, is filled in."),
    "implicit": (
        "Against kernels without a formula",
        "The fixed splits of the black-box quantile kernels' authors, on their scale.",
    ),
}


def write(results: Path) -> Path:
    """Write the page from the results that there are."""
    said = [HEAD]
    for suite, (title, about) in ABOUT.items():
        path = results / f"{suite}.jsonl"
        if not path.exists():
            continue
        cores = sorted({line["cpus"] for line in read(path)})
        said.append(
            f"## {title}\n\n{about} `python -m benchmarks run {suite}`, {cores[0]} cores.\n\n{beside.tables(path)}\n"
        )
    PAGE.write_text("\n".join(said))
    return PAGE
