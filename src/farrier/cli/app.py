"""The command line: `farrier explain | forecast | compare | datasets | version`.

DATA is a bundled series, or a CSV (also gzipped) or Parquet file. What the commands do stands in commands/. Results go
to standard output, everything else to standard error. Exit codes: 0 done, 1 the fit failed, 2 the input or an option is
wrong, 130 stopped by Ctrl-C.
"""

import farrier.cli.threads  # noqa: F401, I001 (before numpy)

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from farrier.cli.screen import ends_cleanly, note, say

# What XLA says about programs from its cache is of use to nobody here; asynchronous dispatch has been seen to hang.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("JAX_CPU_ENABLE_ASYNC_DISPATCH", "0")


class Kernels(StrEnum):
    """Where the candidates come from."""

    auto = "auto"
    paper = "paper"


class Prior(StrEnum):
    """The prior on the weights."""

    horseshoe = "horseshoe"
    none = "none"
    softmax = "softmax"
    spike_and_slab = "spike-and-slab"


class TargetScale(StrEnum):
    """The scale on which components add up."""

    auto = "auto"
    identity = "identity"
    log = "log"
    square_root = "square-root"


class Method(StrEnum):
    """How the model is trained."""

    auto = "auto"
    exact = "exact"
    collapsed = "collapsed"
    stochastic = "stochastic"


Data = Annotated[str, typer.Argument(metavar="DATA", help="A bundled series, or the path of a CSV or Parquet file.")]
TimeOption = Annotated[
    str | None, typer.Option("--time", metavar="COLUMN", help="The column of times; guessed where one can be meant.")
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", metavar="COLUMN", help="The column to explain; guessed where one can be meant."),
]
ScaleOption = Annotated[
    TargetScale, typer.Option("--scale", help="The scale on which components add up; auto lets evidence decide.")
]
MethodOption = Annotated[
    Method,
    typer.Option("--method", help="How to train: exact for few rows, collapsed for many, stochastic as in the paper."),
]
PriorOption = Annotated[Prior, typer.Option("--prior", help="The prior on the weights of the candidates.")]
KernelsOption = Annotated[
    Kernels, typer.Option("--kernels", help="Candidates from the data (auto), or the 24 of the paper.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="The same seed gives the same result.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Results and errors only, no progress.")]

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def about() -> None:
    """Farrier finds the structure in data: trends, seasons, and what else is there."""


@app.command()
@ends_cleanly
def explain(
    data: Data,
    time: TimeOption = None,
    target: TargetOption = None,
    horizon: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="How many steps to forecast, of a series.")
    ] = None,
    path: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the report, one HTML file, to this place.")
    ] = None,
    scale: ScaleOption = TargetScale.auto,
    method: MethodOption = Method.auto,
    prior: PriorOption = Prior.horseshoe,
    kernels: KernelsOption = Kernels.auto,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything that was found as JSON.")] = False,
) -> None:
    """Say in plain words what a series or a table is made of."""
    from farrier.cli import explain as command
    from farrier.cli.source import open_source

    source = open_source(data, time, target, quiet=quiet)
    settings = _settings(scale, method, prior, kernels, seed)
    command.explain(source, settings, horizon, path, quiet=quiet, as_json=as_json)


@app.command()
@ends_cleanly
def forecast(
    data: Data,
    horizon: Annotated[int, typer.Option(min=1, metavar="N", help="How many steps to forecast.")],
    path: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the CSV to this place, not to the screen.")
    ] = None,
    levels: Annotated[
        list[float] | None, typer.Option(metavar="PERCENT ...", help="The intervals to give. [default: 80 95]")
    ] = None,
    time: TimeOption = None,
    target: TargetOption = None,
    id: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that tells many series apart; unique_id if there is one."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=-1, metavar="N", help="Processes for many series; -1: as many as cores.")
    ] = -1,
    scale: ScaleOption = TargetScale.auto,
    method: MethodOption = Method.auto,
    prior: PriorOption = Prior.horseshoe,
    kernels: KernelsOption = Kernels.auto,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Write the next steps of one series, or of many, as CSV."""
    from farrier.cli import forecast as command

    settings = _settings(scale, method, prior, kernels, seed) | {"n_jobs": jobs or 1}
    ahead = horizon, tuple(levels or (80, 95))
    command.forecast(data, {"time": time, "target": target}, settings, ahead, path, id=id, quiet=quiet)


@app.command()
@ends_cleanly
def compare(
    data: Data,
    methods: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME ...", help="The methods to run; all that suit the rows if left out."),
    ] = None,
    part: Annotated[
        float, typer.Option("--test", min=0.01, max=0.9, metavar="PART", help="The part of the rows to hold out.")
    ] = 0.1,
    limit: Annotated[
        float, typer.Option("--time-limit", min=1.0, metavar="SECONDS", help="The most time for one method.")
    ] = 120.0,
    time: TimeOption = None,
    target: TargetOption = None,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Run Farrier beside other methods on rows that none of them has seen."""
    from farrier.cli import compare as command
    from farrier.cli.source import open_source

    source = open_source(data, time, target, quiet=quiet)
    named = [name for each in methods or () for name in each.split(",") if name]
    command.compare(source, named, part, limit, seed, quiet=quiet)


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
        app(args=spread(sys.argv[1:]))
    except KeyboardInterrupt:  # before or after a command
        note("stopped")
        sys.exit(130)


def spread(arguments: list[str]) -> list[str]:
    """`--levels 80 95` and `--methods abcd paper` as typer knows them: the option once for each value."""
    spelled: list[str] = []
    option = ""
    for argument in arguments:
        if option and spelled[-1] != option and _continues(option, argument):
            spelled.append(option)
        elif option and spelled[-1] != option:
            option = ""
        if argument in ("--levels", "--methods"):
            option = argument
        spelled.append(argument)
    return spelled


def _continues(option: str, argument: str) -> bool:
    if option == "--levels":
        return argument.replace(".", "", 1).isdigit()
    from farrier.baselines import BASELINES

    return argument in ("farrier", *BASELINES)


def _settings(scale: TargetScale, method: Method, prior: Prior, kernels: Kernels, seed: int) -> dict[str, Any]:
    return {
        "scale": scale.value.replace("-", " "),
        "method": method.value,
        "prior": prior.value,
        "kernels": kernels.value,
        "random_state": seed,
    }


if __name__ == "__main__":
    main()
