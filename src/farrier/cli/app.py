"""The command line: `farrier explain | forecast | compare | datasets | version`.

DATA is a bundled series, a CSV (also gzipped), Excel or Parquet file, or - for standard input. options.py has the
options; each command has its own file in this folder. Results go to standard output, everything else to standard error.
Exit codes: 0 done, 1 a fit failed, 2 the input or an option is wrong, 130 stopped by Ctrl-C, 143 by TERM.
"""

import farrier.cli.interrupts  # noqa: I001 (first)
import farrier.cli.threads  # noqa: F401 (before numpy)

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from farrier.cli.options import (
    BacktestOption,
    CapOption,
    ClusterOption,
    CountryOption,
    Data,
    DateFormatOption,
    DecimalOption,
    FloorOption,
    HolidaysOption,
    Kernels,
    KernelsOption,
    LargeJobsOption,
    Likelihood,
    LikelihoodOption,
    Method,
    MethodOption,
    Noise,
    PeriodsOption,
    Prior,
    PriorOption,
    QuietOption,
    RegressorsOption,
    ScaleOption,
    SeedOption,
    SheetOption,
    StepOption,
    TargetLikelihoodOption,
    TargetOption,
    TargetScale,
    TimeOption,
)
from farrier.cli.screen import ends_cleanly, note, say

# XLA logs messages about cached programs that users do not need; asynchronous dispatch sometimes hangs
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("JAX_CPU_ENABLE_ASYNC_DISPATCH", "0")

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)


def _print_version(asked: bool) -> None:
    if asked:
        version()
        raise typer.Exit


@app.callback()
def about(
    asked: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Farrier finds the structure in data: trends, seasonal patterns, changepoints, noise."""


@app.command()
@ends_cleanly
def explain(
    context: typer.Context,
    data: Data,
    time: TimeOption = None,
    target: TargetOption = None,
    horizon: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="The number of steps to forecast, for a series.")
    ] = None,
    path: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the report, one HTML file, to this path.")
    ] = None,
    regressors: RegressorsOption = None,
    date_format: DateFormatOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    periods: PeriodsOption = None,
    scale: ScaleOption = TargetScale.auto,
    likelihood: TargetLikelihoodOption = Likelihood.auto,
    method: MethodOption = Method.auto,
    prior: PriorOption = Prior.horseshoe,
    kernels: KernelsOption = Kernels.auto,
    country: CountryOption = None,
    holidays: HolidaysOption = None,
    floor: FloorOption = None,
    cap: CapOption = None,
    step: StepOption = None,
    seed: SeedOption = 0,
    backtest: BacktestOption = False,
    cluster: ClusterOption = None,
    jobs: LargeJobsOption = 1,
    quiet: QuietOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole result as JSON.")] = False,
) -> None:
    """Explain the components of a series or a table in plain English."""
    from farrier.cli import explain as command
    from farrier.cli.source import Reading, open_source
    from farrier.cli.writing import check_out

    check_out(path, data)
    classes = likelihood.value == "classes"
    reading = Reading(time, target, _names(regressors), date_format, decimal, sheet, classes, step, cluster, jobs or 1)
    settings = _settings(scale, likelihood, method, prior, kernels, seed) | _days(country, holidays)
    settings |= _bounds(floor, cap)
    settings |= _periods(periods)
    source = open_source(data, reading, quiet=quiet, mixed=not regressors)
    asked = context.obj if isinstance(context.obj, str) else ""
    command.explain(source, settings, horizon, path, backtest=backtest, quiet=quiet, as_json=as_json, command=asked)


@app.command()
@ends_cleanly
def forecast(
    data: Data,
    horizon: Annotated[int, typer.Option(min=1, metavar="N", help="The number of steps to forecast.")],
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="PATH",
            help="Write the CSV to this file; for many series also a folder, FOLDER/, that the same command continues.",
        ),
    ] = None,
    levels: Annotated[
        list[float] | None,
        typer.Option(metavar="PERCENT ...", help="The levels of the intervals. [default: 80 95]"),
    ] = None,
    time: TimeOption = None,
    target: TargetOption = None,
    id: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that identifies the series; unique_id if there is one."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=-1, metavar="N", help="Processes for many series; -1: one for each core.")
    ] = -1,
    regressors: RegressorsOption = None,
    date_format: DateFormatOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    periods: PeriodsOption = None,
    escape: Annotated[
        bool,
        typer.Option("--escape-formulas", help="Put an apostrophe before text that a spreadsheet would run, as =1+1."),
    ] = False,
    scale: ScaleOption = TargetScale.auto,
    likelihood: LikelihoodOption = Noise.auto,
    method: MethodOption = Method.auto,
    prior: PriorOption = Prior.horseshoe,
    kernels: KernelsOption = Kernels.auto,
    country: CountryOption = None,
    holidays: HolidaysOption = None,
    floor: FloorOption = None,
    cap: CapOption = None,
    step: StepOption = None,
    seed: SeedOption = 0,
    backtest: BacktestOption = False,
    quiet: QuietOption = False,
) -> None:
    """Forecast one series, or many, and write the result as CSV."""
    from farrier.cli import forecast as command
    from farrier.cli.source import Reading

    reading = Reading(time, target, _names(regressors), date_format, decimal, sheet, step=step)
    settings = (
        _settings(scale, likelihood, method, prior, kernels, seed) | {"n_jobs": jobs or 1} | _days(country, holidays)
    )
    settings |= _bounds(floor, cap) | ({} if step is None else {"step": step})
    settings |= _periods(periods)
    ahead = horizon, tuple(levels or (80, 95))
    command.forecast(data, reading, settings, ahead, out, id=id, backtest=backtest, escape=escape, quiet=quiet)


@app.command()
@ends_cleanly
def compare(
    data: Data,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME ...", help="The methods to run; paper: those of the paper. [default: the usual ones]"
        ),
    ] = None,
    origins: Annotated[
        int, typer.Option(min=1, metavar="N", help="Origins from which a series is forecast, one after the other.")
    ] = 3,
    part: Annotated[
        float, typer.Option("--test", min=0.01, max=0.9, metavar="PART", help="The part of the rows to hold out.")
    ] = 0.1,
    limit: Annotated[
        float, typer.Option("--time-limit", min=1.0, metavar="SECONDS", help="Time limit for each method.")
    ] = 120.0,
    time: TimeOption = None,
    target: TargetOption = None,
    date_format: DateFormatOption = None,
    decimal: DecimalOption = None,
    sheet: SheetOption = None,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Compare Farrier with other methods on held-out rows."""
    from farrier.cli import compare as command
    from farrier.cli.source import Reading, open_source

    reading = Reading(time, target, (), date_format, decimal, sheet)
    source = open_source(data, reading, quiet=quiet)
    command.compare(source, _names(methods), part, limit, seed, origins=origins, quiet=quiet)


@app.command()
@ends_cleanly
def datasets() -> None:
    """List the bundled series."""
    from farrier import datasets

    for name in datasets.names():
        series = datasets.load(name)
        say(f"{name:10s}{len(series.y):4d} rows   {series.title} ({series.unit})")


@app.command()
@ends_cleanly
def version() -> None:
    """Print the version."""
    import farrier

    say(farrier.__version__)


def main() -> None:
    """Run the command line."""
    try:
        app(args=spread(sys.argv[1:]), obj=shlex.join(["farrier", *sys.argv[1:]]))
    except KeyboardInterrupt:  # before or after a command
        note("stopped")
        sys.exit(130)


def spread(arguments: list[str]) -> list[str]:
    """Arguments for typer, which needs an option once for each value: `--levels 80 95` is `--levels 80 --levels 95`."""
    spelled: list[str] = []
    option = ""
    for argument in arguments:
        if option and spelled[-1] != option and _continues(option, argument):
            spelled.append(option)
        elif option and spelled[-1] != option:
            option = ""
        if argument in ("--levels", "--methods", "--periods", "--regressors"):
            option = argument
        spelled.append(argument)
    return spelled


def _continues(option: str, argument: str) -> bool:
    if option in ("--levels", "--periods"):
        return argument.replace(".", "", 1).isdigit()
    if option == "--regressors":
        from farrier import datasets

        return not argument.startswith("-") and argument not in datasets.names() and not Path(argument).exists()
    from farrier.baselines import BASELINES
    from farrier.cli.compare import PAPER
    from farrier.cli.rivals import SERIES, TABLES

    return argument in ("farrier", PAPER, *SERIES, *TABLES, *BASELINES)


def _names(given: list[str] | None) -> tuple[str, ...]:
    """The names in an option that comes several times, or holds several names with commas between them."""
    return tuple(dict.fromkeys(name for each in given or () for name in each.split(",") if name))


def _periods(periods: list[float] | None) -> dict[str, Any]:
    """The setting of `--periods`, if it is given."""
    for period in periods or ():
        if not 0 < period < float("inf"):
            raise ValueError(f"--periods: {period:g} is not the length of a period: give numbers above 0")
    return {"periods": periods} if periods else {}


def _bounds(floor: str | None, cap: float | None) -> dict[str, Any]:
    """The settings of `--floor` and `--cap`, if they are given."""
    found: dict[str, Any] = {} if cap is None else {"cap": cap}
    if floor is None:
        return found
    try:
        found["floor"] = None if floor == "none" else floor if floor == "auto" else float(floor)
    except ValueError:
        raise ValueError(f"--floor: {floor!r} is not a number: give one, or none for no floor") from None
    return found


def _days(country: str | None, path: Path | None) -> dict[str, Any]:
    """Holidays as settings, if any are given."""
    from farrier.cli.source import read_days

    given = {"country": country, "holidays": None if path is None else read_days(path)}
    return {name: value for name, value in given.items() if value is not None}


def _settings(
    scale: TargetScale, likelihood: Noise | Likelihood, method: Method, prior: Prior, kernels: Kernels, seed: int
) -> dict[str, Any]:
    return {
        "scale": scale.value.replace("-", " "),
        "likelihood": likelihood.value,
        "method": method.value,
        "prior": prior.value,
        "kernels": kernels.value,
        "random_state": seed,
    }


if __name__ == "__main__":
    main()
