"""The command line: `farrier explain DATA`, `farrier datasets`, `farrier version`.

DATA is a bundled series or a CSV file. Results go to standard output, everything else to standard error. Exit codes:
0 done, 1 the fit failed, 2 the input or an option is wrong, 130 stopped by Ctrl-C.
"""

import farrier.threads  # noqa: F401, I001 (before numpy)

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

if TYPE_CHECKING:
    from farrier.datasets import Dataset
    from farrier.estimators import Regressor

LEGEND = (
    "Lin: a line. Per: repeats every period. SE: varies smoothly. A product combines them: Lin * Per is a pattern that "
    "grows or shrinks. sd: what a component adds, share: its square over the variance of the data; components overlap."
)

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


@app.callback()
def about() -> None:
    """Farrier finds the structure in data: trends, seasons, and what else is there."""


@app.command()
def explain(
    data: Annotated[str, typer.Argument(help="A bundled series (see `farrier datasets`) or the path of a CSV file.")],
    time: Annotated[str | None, typer.Option(help="The column of the time; guessed when there are two.")] = None,
    target: Annotated[str | None, typer.Option(help="The column to explain; guessed when there are two.")] = None,
    horizon: Annotated[int, typer.Option(min=0, help="How many steps to forecast.")] = 0,
    inducing: Annotated[int | None, typer.Option(min=1, help="Inducing points for each kernel, if stochastic.")] = None,
    iterations: Annotated[int, typer.Option(min=1, help="The most training steps.")] = 2500,
    method: Annotated[str, typer.Option(help="auto, exact (few rows) or stochastic (the paper's).")] = "auto",
    prior: Annotated[str, typer.Option(help="horseshoe, none, softmax or spike-and-slab.")] = "horseshoe",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Fit a series, and print its components and a forecast."""
    series = _read(data, time, target)
    from farrier.estimators import Regressor

    with _progress(quiet=quiet) as progress:
        model = Regressor(
            prior=prior,
            method=method,  # pyright: ignore[reportArgumentType] (checked by fit)
            inducing=inducing,
            iterations=iterations,
            random_state=seed,
            progress=progress,
        ).fit(series.X, series.y)
    forecast = _forecast(series, model, horizon)
    if as_json:
        _print_json(series, model, forecast)
    else:
        _print_text(series, model, forecast)


@app.command()
def datasets() -> None:
    """List the bundled series."""
    from farrier import datasets

    for name in datasets.names():
        series = datasets.load(name)
        out.print(f"{name:10s}{len(series.y):4d} rows   {series.title} ({series.unit})", soft_wrap=True)


@app.command()
def version() -> None:
    """Print the version."""
    import farrier

    out.print(farrier.__version__)


def main() -> None:
    """Run the command line; what goes wrong is said in one line."""
    try:
        app()
    except (ValueError, FileNotFoundError) as error:
        _fail(error, code=2)
    except ArithmeticError as error:
        _fail(error, code=1)


def _fail(error: Exception, code: int) -> None:
    err.print(f"farrier: {error}", markup=False, soft_wrap=True)
    sys.exit(code)


def _read(data: str, time: str | None, target: str | None) -> "Dataset":
    from farrier import datasets

    if data in datasets.names() or not (Path(data).suffix or Path(data).exists()):
        return datasets.load(data)
    return datasets.read_csv(data, time, target)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """A callback that draws a bar on standard error while the fit goes on."""
    if quiet:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} steps"),
        TextColumn("{task.fields[bound]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err) as bar:
        task = bar.add_task("compiling", total=1, bound="")

        def tell(progress: Any) -> None:
            bound = "" if progress.phase == "compiling" else f"bound {progress.bound:.1f}"
            bar.update(task, description=progress.phase, completed=progress.step, total=progress.steps, bound=bound)

        yield tell


def _forecast(series: "Dataset", model: "Regressor", horizon: int) -> list[dict[str, Any]]:
    """One row for each future step: its time, the mean and the 80 and 95 % intervals of an observation."""
    if not horizon:
        return []
    import numpy as np
    from scipy.stats import norm

    spacing = float(np.median(np.diff(series.time)))
    times = series.time[-1] + spacing * np.arange(1, horizon + 1)
    mean, std = model.predict(times[:, None], return_std=True)
    rows = []
    for label, m, s in zip(series.labels_after(times), mean, std, strict=True):
        intervals = {
            f"{side} {level}": m + sign * norm.ppf(0.5 + level / 200) * s
            for level in (80, 95)
            for side, sign in (("low", -1), ("high", 1))
        }
        rows.append({series.time_name: label, "mean": float(m)} | {k: float(v) for k, v in intervals.items()})
    return rows


def _print_text(series: "Dataset", model: "Regressor", forecast: list[dict[str, Any]]) -> None:
    unit = f" ({series.unit})" if series.unit else ""
    span = f"{series.labels[0]} to {series.labels[-1]}"
    out.print(f"{series.title}{unit}: {len(series.y)} rows, {span}", soft_wrap=True)
    stopped = "the bound was flat" if model.history_.stopped_early else "all steps were used"
    out.print(f"Fitted in {model.n_iter_} steps ({stopped}); log evidence at least {model.elbo_:.1f}.\n")
    out.print(_table(model.components_.lines()))
    out.print(f"\n{LEGEND}")
    if forecast:
        out.print()
        header = tuple(forecast[0])
        cells = [tuple(v if isinstance(v, str) else f"{v:.5g}" for v in row.values()) for row in forecast]
        out.print(_table([header, *cells]))


def _table(lines: list[tuple[str, ...]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(lines[0]):
        table.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
    for line in lines[1:]:
        table.add_row(*line)
    return table


def _print_json(series: "Dataset", model: "Regressor", forecast: list[dict[str, Any]]) -> None:
    result = {
        "name": series.name,
        "rows": len(series.y),
        "steps": model.n_iter_,
        "elbo": model.elbo_,
        "components": model.components_.to_dict(),
        "forecast": forecast,
    }
    sys.stdout.write(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
