"""The options of the command line, with their help."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Kernels(StrEnum):
    """The source of the candidates."""

    auto = "auto"
    paper = "paper"


class Prior(StrEnum):
    """The prior on the weights."""

    horseshoe = "horseshoe"
    none = "none"
    softmax = "softmax"
    spike_and_slab = "spike-and-slab"


class Noise(StrEnum):
    """The distribution of the noise."""

    auto = "auto"
    gaussian = "gaussian"
    student_t = "student-t"
    poisson = "poisson"
    negative_binomial = "negative-binomial"
    hurdle = "hurdle"


Likelihood = StrEnum(
    "Likelihood", ["auto", "gaussian", "student-t", "poisson", "negative-binomial", "hurdle", "classes"]
)
"""The distribution of the target given the components."""


class TargetScale(StrEnum):
    """The scale on which components add up."""

    auto = "auto"
    identity = "identity"
    log = "log"
    square_root = "square-root"


class Method(StrEnum):
    """The method of inference."""

    auto = "auto"
    exact = "exact"
    collapsed = "collapsed"
    stochastic = "stochastic"


Data = Annotated[str, typer.Argument(metavar="DATA", help="A bundled series, a CSV, Excel or Parquet file, or -.")]
TimeOption = Annotated[
    str | None, typer.Option("--time", metavar="COLUMN", help="The column of times; guessed if only one is possible.")
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", metavar="COLUMN", help="The column to explain; guessed if only one is possible."),
]
RegressorsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--regressors", metavar="COLUMN ...", help="Columns whose future is known: rows without target hold it."
    ),
]
DateFormatOption = Annotated[
    str | None,
    typer.Option("--date-format", metavar="FORMAT", help="The order of dates, dmy or mdy, or a pattern like %d.%m.%Y."),
]
DecimalOption = Annotated[
    str | None, typer.Option("--decimal", metavar="MARK", help="The decimal mark of numbers: comma or point.")
]
SheetOption = Annotated[str | None, typer.Option("--sheet", metavar="NAME", help="The sheet of an Excel file.")]
PeriodsOption = Annotated[
    list[float] | None,
    typer.Option(
        "--periods",
        metavar="LENGTH ...",
        help="Periods to try: in years for steps of months or longer, in days for shorter steps. "
        "[default: those of the calendar]",
    ),
]
ScaleOption = Annotated[
    TargetScale, typer.Option("--scale", help="The scale on which components add up; auto chooses by evidence.")
]
LikelihoodOption = Annotated[
    Noise,
    typer.Option("--likelihood", help="The noise (student-t bears outliers), or counts; auto chooses."),
]
TargetLikelihoodOption = Annotated[
    Likelihood,
    typer.Option(
        "--likelihood",
        help="The noise of a number (student-t bears outliers), counts, or classes; auto chooses noise or counts by "
        "evidence and takes text as classes.",
    ),
]
FloorOption = Annotated[
    str | None,
    typer.Option("--floor", metavar="NUMBER", help="The lowest possible value, or none. [default: 0 if none is below]"),
]
CapOption = Annotated[
    float | None, typer.Option("--cap", metavar="NUMBER", help="The highest possible value: growth slows towards it.")
]
StepOption = Annotated[
    str | None,
    typer.Option(
        "--step",
        metavar="STEP",
        help="The step of a forecast if times are irregular: day, '2 weeks', '15 min', month. [default: the median]",
    ),
]
MethodOption = Annotated[
    Method,
    typer.Option("--method", help="Inference: exact for few rows, collapsed for many, stochastic as in the paper."),
]
PriorOption = Annotated[Prior, typer.Option("--prior", help="The prior on the weights of the candidates.")]
KernelsOption = Annotated[
    Kernels, typer.Option("--kernels", help="Candidates: found from the data (auto), or the 24 kernels of the paper.")
]
CountryOption = Annotated[
    str | None, typer.Option("--country", metavar="CODE", help="Whose holidays to try, such as DE, US or DE-BY.")
]
HolidaysOption = Annotated[
    Path | None,
    typer.Option(
        "--holidays", metavar="FILE", help="Further days to try: lines of DATE or DATE,NAME; future days too."
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="The same seed gives the same result.")]
BacktestOption = Annotated[
    bool,
    typer.Option("--backtest", help="Forecast from past dates too, and say how good that was. It takes as long again."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print results and errors only, no progress.")]
ClusterOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A Dask scheduler, tcp://HOST:PORT, for a table too large for memory."),
]
LargeJobsOption = Annotated[
    int, typer.Option(min=-1, metavar="N", help="Processes for a table too large for memory; -1: one for each core.")
]
