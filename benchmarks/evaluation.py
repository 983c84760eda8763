"""The page `docs/evaluation.md`, made from the committed results: python -m benchmarks pages."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev

from scipy.special import stdtr

from benchmarks import beside, competition_table, evaluation_made, forecasters
from benchmarks.classification import AS_PRINTED
from benchmarks.record import read, version_of
from farrier.cli.compare import OURS

TESTED = 0.1
"""The part of the rows that is held out in the suite `classification`."""
SURE = 0.05
"""The probability of a difference by chance below which a method counts as better."""
PAGE = Path(__file__).parent.parent / "docs" / "evaluation.md"
HEAD = """# Evaluation

Farrier compared with the methods that the AAAI 2021 paper compares with, all of them our implementations on our kernels
(`farrier.baselines`), and with published numbers (in brackets, alone where we did not run the method; for the time
series the best of nine methods for each). Bold is the best of our runs. "Ahead", "level" and "behind" compare Farrier
with each printed number: level is within one of the published standard deviations, or 2 % where none is printed.

This page is made from `benchmarks/results/*.jsonl` by `python -m benchmarks pages`; each line there names its commit,
versions, cores and seconds. **The column "version" is the version of Farrier that measured a row.** Rows of 0.1.0 are
those of other methods, which were not measured again, and some of the last table.

The page says that a method was not run, or was left out for its number of rows. Farrier is not random and runs once.
SVGP-SE has ten seeds on the tables; methods that take minutes have one, and no ±. Methods with inducing points have
100 of them for one kernel (10,000 steps of Adam on 128 rows), and 50 for each kernel of a pool (3,000 steps at most,
fewer where the bound is flat), far from the 30,000 steps of the paper's authors. The searches (abcd, skc) grow their
kernel for 150 s on a table and 600 s on a series at most, and then stand where they are. Seconds are those of one
core with another run on the other one.
"""
ABOUT = {
    "uci": (
        "Tables, extrapolated",
        "Rows are projected on the first principal component of the inputs as they are in the file; the lowest and the "
        "highest fifteenth are the test rows. Figures in units of y. The paper's log-likelihoods come from code that "
        "counts the noise twice, which costs up to 0.1 where the noise is all there is and gains where intervals are "
        "too narrow; ours do not.",
    ),
    "tables": (
        "Tables, random tenths",
        "A tenth of the rows, drawn at random, is held out; a cell is the mean over the splits in "
        "`benchmarks/results/tables.jsonl`, five of each set. Scikit-learn's methods and EBM predict a normal whose "
        "standard deviation is that of "
        "their residuals in cross-validation, in which EBM has 4 instead of 14 outer bags. The marks of wine are whole "
        "numbers and many of its rows stand there twice, so a density can gather at them without bound: its "
        "log-likelihood says little.",
    ),
    "timeseries": ("Series, forecast", "The first nine tenths train, the last tenth is forecast as a whole."),
    "gefcom": ("Hourly load", "Zone 1 of GEFCom 2012: a tenth of the rows, drawn at random, is filled in."),
    "classification": (
        "Two classes",
        "A random tenth is held out, ten times. `additive-classifier` is printed as additive GPs, `subset-classifier` "
        "is the paper's own way on all rows; settings of scikit-learn's methods are in `benchmarks/table_peers.py`. "
        "`sets-classifier` and `free-sets-classifier` (no prior) are the paper's algorithm on the one split of its "
        "authors' program, so that their rows cannot be compared with the others, except for those of random "
        "splits. Farrier's seconds are those of a busy machine.",
    ),
    "implicit": (
        "Against kernels without a formula",
        "The fixed splits of the black-box quantile kernels' authors, on their scale. Farrier's seconds are those of "
        "a busy machine. That CO2, which is no series in time here, is predicted like a table was decided on 15 splits "
        "inside the training rows of five other series, after its test rows had been seen: the log score was higher "
        "on 13 of them, the error lower on 9 (version 0.2.0).",
    ),
}


def page(results: Path) -> str:
    """The page, from the results that there are."""
    after = {"uci": _protocol, "tables": _first_splits, "classification": _paired}
    said = [HEAD]
    for suite, (title, about) in ABOUT.items():
        path = results / f"{suite}.jsonl"
        if not path.exists():
            continue
        cores = sorted({line["cpus"] for line in read(path)})
        said.append(
            f"## {title}\n\n{about} `python -m benchmarks run {suite}`, {cores[0]} cores.\n\n{beside.tables(path)}\n"
        )
        if suite in after:
            said.append(after[suite](path))
    others = evaluation_made.SECTIONS | {"competitions": _competitions, "forecasters": _forecasters, "reach": _reach}
    for suite, section in others.items():
        if (path := results / f"{suite}.jsonl").exists():
            said.append(section(path))
    return "\n".join(part for part in said if part)


def _protocol(path: Path) -> str:
    """Whether the one method that leaves no choice comes out as printed."""
    agrees = beside.agreement(path)
    if not agrees:
        return ""
    close = [[name for name, both in agrees.items() if both[k]] for k in (0, 1)]
    return (
        "The protocol is the paper's if the plainest method comes out as printed. Our SVGP-SE (version "
        f"{beside.versions_of(path)['svgp-se']}) is within two of the printed standard deviations "
        f"in RMSE on {len(close[0])} of {len(agrees)} tables ({', '.join(close[0])}), and in log-likelihood, with the "
        f"noise counted twice, on {len(close[1])} ({', '.join(close[1])}). Which of "
        "energy's many rows of equal projection are test rows is not known, and it matters there: ours is better than "
        "printed, as it is by the last printed digit on wine. On concrete the mean of ten seeds is two printed "
        "standard deviations above the printed one. yacht has 40 test rows and varies most from seed to seed.\n"
    )


def _first_splits(path: Path) -> str:
    """Farrier on the splits that other methods were run on, where those are fewer."""
    seeds: dict[tuple[str, str], set[int]] = {}
    ours: dict[str, dict[int, dict[str, float]]] = {}
    for line in read(path):
        table, method, seed = line["settings"]["table"], line["settings"]["method"], line["seed"]
        if "rmse" in line["figures"]:
            seeds.setdefault((table, method), set()).add(seed)
            if method == OURS:
                ours.setdefault(table, {})[seed] = line["figures"]
    fewer = {table: own for (table, _), own in seeds.items() if own < ours.get(table, {}).keys()}
    if not fewer:
        return ""
    words = [
        f"{mean(ours[table][one]['rmse'] for one in own):.3g} and "
        f"{mean(ours[table][one]['log_likelihood'] for one in own):.3g} on {table}"
        for table, own in fewer.items()
    ]
    version = beside.versions_of(path)[OURS]
    return (
        "A cell of EBM or gp-nkn without ± is the first split alone, not to be compared with means of five. On this "
        f"split Farrier's error and log-likelihood (version {version}) are {', '.join(words)}.\n"
    )


def _paired(path: Path) -> str:
    """Differences of the errors on the same splits, and whether any of them is more than chance.

    Methods that are run on the split of the authors' program have no splits in common with ours.
    """
    errors: dict[tuple[str, str], dict[int, float]] = {}
    for line in read(path):
        settings = line["settings"]
        errors.setdefault((settings["table"], beside.method_of(settings)), {})[line["seed"]] = line["figures"]["error"]
    versions = beside.versions_of(path)
    title = f"farrier {versions.get(OURS, '')} minus"
    rows, better = [f"| {title} | version | table | splits | difference | p |", "|---|---|---|---|---|---|"], []
    for (table, method), other in sorted(errors.items()):
        ours = errors.get((table, OURS), {})
        both = sorted(ours.keys() & other.keys())
        if method in (OURS, *AS_PRINTED) or len(both) < 2:
            continue
        gap, error, p = resampled_test([ours[seed] - other[seed] for seed in both])
        rows.append(f"| {method} | {versions[method]} | {table} | {len(both)} | {gap:.1f} ± {error:.1f} | {p:.2f} |")
        better += [f"{method} on {table}"] if p < SURE else []
    verdict = (
        f"Better than Farrier: {', '.join(better)}."
        if better
        else "By this test no method is better than Farrier on any table."
    )
    return (
        "The same splits, one by one: Farrier's per cent wrong minus the other's, with its standard error, and the "
        "probability of a difference as large if the other were no better (one-sided t-test for random splits that "
        f"share rows, Nadeau and Bengio 2003). {verdict} Below {SURE:g} a method counts as better; nothing is "
        "corrected for the number of tests, which would make it harder.\n\n" + "\n".join(rows) + "\n"
    )


def resampled_test(gaps: Sequence[float]) -> tuple[float, float, float]:
    """The mean of paired differences on random splits, its standard error, and P(one as large | no difference).

    Splits share rows, so that the variance of the mean is not 1 / J of that of one: it is 1 / J + test rows / training
    rows of it.
    """
    variance = stdev(gaps) ** 2 * (1.0 / len(gaps) + TESTED / (1.0 - TESTED))
    if variance == 0.0:
        return mean(gaps), 0.0, 1.0 if mean(gaps) <= 0.0 else 0.0
    error = variance**0.5
    return mean(gaps), error, float(stdtr(len(gaps) - 1, -mean(gaps) / error))


def _forecasters(path: Path) -> str:
    """The table of the forecasters that people use."""
    lines = read(path)
    cases = {(line["settings"]["series"], line["settings"]["cut"]) for line in lines}
    names = {name for name, _ in cases}
    return (
        f"## Compared with the forecasters that people use\n\n{len(names)} public series that come with statsmodels "
        "and pmdarima (the economy of the United States, Germany and Denmark, rivers, sunspots, the sea, beer, wine, "
        "wool, a heart, the lynx), cut at 80 % and 90 %; the tenth after the cut is forecast as a whole. ARIMA is "
        "pmdarima's `auto_arima`, the form of exponential smoothing is chosen by AICc. How wrong earlier forecasts of "
        "lynx and sunspots were led to the cycles of series of years (`search/enriching.py`). "
        f"`python -m benchmarks run forecasters`.\n\n{forecasters.summary(path)}\n"
    )


def _competitions(path: Path) -> str:
    """The tables of the competitions' series."""
    return (
        "## Series of the M competitions\n\nSeries from which no prior was learned, with default settings. "
        "AutoETS and AutoTheta are statsforecast's. `python -m benchmarks run competitions`.\n\n"
        + competition_table.tables(path).replace("## ", "### ")
        + "\n"
    )


def _reach(path: Path) -> str:
    """The table of times to the paper's log-likelihood."""
    rows = [
        "## As good as the paper's algorithm, how soon\n",
        "The paper's algorithm (our implementation, its authors' number of steps) is run to its end; then Farrier "
        "searches the same rows in the same process. *As good* is when the best structure so far first has at least "
        "the paper's log-likelihood of the test rows, for good; *whole* is the whole fit. Seconds of the processor. "
        "The authors took 100 points. `python -m benchmarks run reach`.\n",
        "| set | points a kernel | paper: seconds | log-likelihood "
        "| farrier: as good, s | ratio | whole, s | ratio | log-likelihood | version |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for line in read(path):
        f, name, points = line["figures"], line["settings"]["set"], line["settings"]["points"]
        soon = ("never", "") if f["reached"] is None else (f"{f['reached']:.1f}", f"{f['ratio']:.0f}")
        rows.append(
            f"| {name} | {points} | {f['paper_seconds']:.0f} | {f['paper_log_likelihood']:.3g} | {soon[0]} | {soon[1]} "
            f"| {f['seconds']:.1f} | {f['whole_ratio']:.0f} | {f['log_likelihood']:.3g} | {version_of([line])} |"
        )
    never = [line["settings"] for line in read(path) if line["figures"]["reached"] is None]
    if never:
        named = " and ".join(f"{one['set']} with {one['points']} points" for one in never)
        rows.append(f"\nOn {named} the paper's algorithm ends above Farrier, which never is as good.")
    return "\n".join(rows) + "\n"
