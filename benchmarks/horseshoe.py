"""How should the weights of the default pool be inferred? Five ways (weight_methods.py), on the same pool and rows.

Series of the part "learn", with one growth (a line) and the scale of the target that the default fit chose, so that
only the inference of the weights differs. Log scores are of the test rows in units of the seasonal naive error.

Two checks of the noise: `two sines`, a pool of 24 smooth curves and cycles on 100 rows of two sines and noise of
variance 0.09; and `white noise`, the default `Regressor` on one plain input that y does not depend on, even or uneven.
"""

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from benchmarks.competition_data import SETS, Series, chosen, read_set
from benchmarks.readme import between
from benchmarks.record import Clock, Recorder, key, read, tell
from benchmarks.weight_methods import METHODS, Inferred
from farrier import Forecaster, Regressor
from farrier.evaluation.covariance import covariance_of
from farrier.inference.linalg import one_thread
from farrier.kernels.registry import CentredPeriodic, SquaredExponential
from farrier.model.predictions import Prediction
from farrier.model.problem import Problem
from farrier.model.series import pool_fit
from farrier.model.target_scale import TargetScale
from farrier.model.tiers import exact_posterior
from farrier.search.beliefs import Beliefs
from farrier.search.scoring import Evaluator
from farrier.search.structure import Part
from farrier.series.scores import coverage, log_score, mase, msis, seasonal_scale

DESCRIPTION = "ways to infer the weights of the default pool: Laplace, the mode, variational, half-Cauchy, a sampler"
PAGE = Path(__file__).parent.parent / "docs" / "how-it-works.md"
DEVELOPMENT = ("m1_monthly", "m3_quarterly", "tourism_monthly")
LEVELS = np.array([0.025, 0.1, 0.5, 0.9, 0.975])
WAVES, NOISE = (0.31, 0.83), 0.09
"""Periods of the two sines, x being in [-1.7, 1.7], and the variance of the noise beside them."""
WHITE_ROWS = (60, 90, 120)
SHOWN = {"mase": ".3f", "inside_80": ".3f", "inside_95": ".3f", "msis": ".2f", "log_score": ".3f"}
"""The figures of a forecast, and how many digits."""
Measured = tuple[dict[str, Any], int, dict[str, Any], Clock]


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds forecast/")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(DEVELOPMENT), metavar="SET")
    parser.add_argument("--series", type=int, default=40, metavar="N", help="a sample of N series of each set")
    parser.add_argument("--seeds", type=int, nargs="*", default=list(range(20)), help="of the two checks of the noise")
    methods = ", ".join(METHODS)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME", help=methods)
    parser.add_argument("--jobs", type=int, default=1, help="processes, with one BLAS thread each")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Each series and each seed that has no lines yet."""
    done, methods = record.all_done(), arguments.methods
    tasks: list[tuple[Any, tuple[Any, ...], list[tuple[dict[str, Any], int]]]] = [
        (of_series, (name, series, methods), [(_settings(name, series, method), 0) for method in methods])
        for name in arguments.sets
        for series in chosen(read_set(arguments.data_dir, name), "learn", arguments.series)
    ]
    for seed in arguments.seeds:
        sines = [({"rows": "two sines", "method": method}, seed) for method in methods]
        tasks.append((two_sines, (seed, methods), sines))
        tasks.append((white_noise, (seed,), [(settings, seed) for settings in _white()]))
    waiting = [(work, given) for work, given, lines in tasks if not all(key(*line) in done for line in lines)]
    tell(f"{len(waiting)} series and seeds to measure")
    options: Any = {"n_jobs": arguments.jobs, "batch_size": 1, "return_as": "generator_unordered"}
    found: Any = Parallel(**options)(delayed(work)(*given) for work, given in waiting)
    for count, measured in enumerate(found, 1):
        for settings, seed, figures, clock in measured:
            record.add(settings, seed, figures, clock)
        tell(f"{count} of {len(waiting)}: {measured[0][0]}")


def _settings(name: str, series: Series, method: str) -> dict[str, Any]:
    return {"set": name, "series": series.name, "method": method}


class Task(NamedTuple):
    """A pool at its start, and what its predictions are compared with."""

    evaluator: Evaluator
    parts: Sequence[Part]
    scale: TargetScale
    X: np.ndarray
    z: np.ndarray

    def predicted(self, inferred: Inferred, ahead: np.ndarray) -> Prediction:
        """The mixture of the predictions of all models, given all rows."""
        means, sds = [], []
        for model in inferred.models:
            posterior = exact_posterior(model, self.X, self.z)
            mean, variance = posterior.draws(ahead)
            means.append(mean[0])
            sds.append(np.sqrt(variance[0] + model.noise))
        return Prediction(1.0, self.scale, np.array(means), np.array(sds))


def of_series(name: str, series: Series, methods: Sequence[str]) -> list[Measured]:
    """The figures of each method on one series."""
    season = SETS[name].season
    task, ahead = default_pool(series, SETS[name].stamps(len(series.past)))
    found: list[Measured] = []
    with one_thread():
        for method in methods:
            clock = Clock()
            # a copy, which remembers no fit of another method
            inferred = METHODS[method](replace(task.evaluator), task.parts)
            prediction = task.predicted(inferred, ahead)
            quantiles = prediction.quantiles(LEVELS)
            clock.stop()
            figures = scores(quantiles, prediction.log_density(series.ahead), series, season)
            figures |= {"noise": inferred.noise, "tau": inferred.tau}
            found.append((_settings(name, series, method), 0, figures, clock))
    return found


def default_pool(series: Series, stamps: np.ndarray) -> tuple[Task, np.ndarray]:
    """The pool of the default fit with growth that fades to a line, at its start, and the inputs of the test rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        forecaster = Forecaster(likelihood="gaussian").fit(stamps, series.past)
    result = forecaster.result_
    clock = result.fitted.beliefs.clock
    assert clock is not None
    rows = Problem(result.inputs, series.past, seasons=clock.seasons, timed=True)
    fitted = pool_fit(rows, rows.beliefs, result.fitted.scale.transform)
    parts = [Part(one.centre, one.centre, one.scale, one.scale) for one in fitted.structure.parts]
    ahead = result.at(forecaster.fitted_.ahead(len(series.ahead), None).X)
    return Task(fitted.evaluator, parts, fitted.scale, rows.X, fitted.scale.forward(rows.y)), ahead


def scores(quantiles: np.ndarray, densities: np.ndarray, series: Series, season: int) -> dict[str, Any]:
    """The figures of one forecast."""
    past, ahead = series.past, series.ahead
    low_95, low_80, median, high_80, high_95 = quantiles
    return {
        "mase": mase(ahead, median, past, season),
        "inside_80": coverage(ahead, low_80, high_80),
        "inside_95": coverage(ahead, low_95, high_95),
        "msis": msis(ahead, low_95, high_95, past, season, level=95.0),
        "log_score": log_score(densities) + float(np.log(seasonal_scale(past, season))),
    }


def two_sines(seed: int, methods: Sequence[str]) -> list[Measured]:
    """The noise variance that each method finds with a pool of 24 components."""
    x = np.linspace(-1.7, 1.7, 100)[:, None]
    generator = np.random.default_rng(seed)
    phases = generator.uniform(0.0, 2.0 * np.pi, 2)
    y = np.sin(2.0 * np.pi * x / WAVES + phases).sum(axis=1) + np.sqrt(NOISE) * generator.standard_normal(100)
    z = (y - y.mean()) / y.std()
    evaluator = Evaluator(x, z, covariance_of(x), beliefs=Beliefs.of(x))
    curves = [SquaredExponential(length) for length in np.geomspace(0.05, 3.2, 8)]
    cycles = [CentredPeriodic(period, 1.0) for period in np.geomspace(0.15, 2.0, 8)]
    kernels = [*curves, *cycles, *(SquaredExponential(1.0) * cycle for cycle in cycles)]
    parts = [evaluator.part(kernel, evaluator.beliefs.scale(kernel)) for kernel in kernels]
    found: list[Measured] = []
    with one_thread():
        for method in methods:
            clock = Clock()
            inferred = METHODS[method](replace(evaluator), parts)
            figures = {"noise": inferred.noise * float(y.var()), "tau": inferred.tau}
            found.append(({"rows": "two sines", "method": method}, seed, figures, clock.stop()))
    return found


def _white() -> list[dict[str, Any]]:
    return [
        {"rows": "white noise", "count": count, "inputs": inputs}
        for count in WHITE_ROWS
        for inputs in ("even", "uneven")
    ]


def white_noise(seed: int) -> list[Measured]:
    """The noise variance, over the variance of y, that the default fit of a curve finds in white noise."""
    found: list[Measured] = []
    for settings in _white():
        count = settings["count"]
        generator = np.random.default_rng([seed, count])
        x = np.linspace(0.0, 10.0, count) if settings["inputs"] == "even" else np.sort(generator.uniform(0, 10, count))
        y, clock = generator.standard_normal(count), Clock()
        fitted = Regressor().fit(x[:, None], y).result_.fitted
        figures = {"noise": fitted.noise_variance * fitted.scale.sd**2 / float(y.var())}
        found.append((settings, seed, figures, clock.stop()))
    return found


def tables(path: Path) -> str:
    """The figures of each method, for each set and for all; then the two checks of the noise."""
    lines = read(path)
    of_sets = [line for line in lines if "set" in line["settings"]]
    sets = [name for name in SETS if any(line["settings"]["set"] == name for line in of_sets)]
    groups = {"all": of_sets} | {name: [line for line in of_sets if line["settings"]["set"] == name] for name in sets}
    said = [_of_methods(name, group) for name, group in groups.items() if group]
    said += [text for name in ("two sines", "white noise") if (text := _of_noise(name, lines))]
    return "\n\n".join(said)


def with_table(text: str, results: Path) -> str:
    """The text of the page with one table: all series, and the noise that each method finds beside two sines."""
    lines = read(results / "horseshoe.jsonl")
    rows = _rows([line for line in lines if "set" in line["settings"]])
    found = [line for line in lines if line["settings"].get("rows") == "two sines"]
    rows[0] += [f"noise variance, {NOISE:g} is true"]
    rows[1] += ["---"]
    for row in rows[2:]:
        values = [line["figures"]["noise"] for line in found if line["settings"]["method"] == row[0]]
        row.append(f"{np.median(values):.3f} ({min(values):.3f} to {max(values):.3f})" if values else "")
    return between(text, "figures", _markdown(rows))


def _of_methods(name: str, lines: Sequence[dict[str, Any]]) -> str:
    return f"## {name}\n\n{_markdown(_rows(lines))}"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _rows(lines: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The titles, and a row for each method."""
    by_method = {method: [line for line in lines if line["settings"]["method"] == method] for method in METHODS}
    judge = {_name(line): line["figures"]["noise"] for line in by_method["sampler"]}
    titles = ["method", "series", "MASE", "80 % holds", "95 % holds", "MSIS", "log score", "CPU s"]
    titles += ["noise variance over the sampler's", "tau (90 %)"]
    rows = [titles, ["---"] * len(titles)]
    for method, some in by_method.items():
        if not some:
            continue
        figures = [line["figures"] for line in some]
        shown = [f"{np.mean([one[key] for one in figures]):{digits}}" for key, digits in SHOWN.items()]
        seconds = float(np.mean([line["cpu_seconds"] for line in some]))
        ratio = np.median([line["figures"]["noise"] / judge[_name(line)] for line in some if _name(line) in judge])
        rows.append([method, str(len(some)), *shown, f"{seconds:.2f}", f"{ratio:.2f}", _tau(figures)])
    return rows


def _name(line: dict[str, Any]) -> tuple[str, str]:
    return line["settings"]["set"], line["settings"]["series"]


def _tau(figures: Sequence[dict[str, Any]]) -> str:
    """The medians over series of the quantiles of tau."""
    each = [one["tau"] for one in figures if one["tau"]]
    if not each:
        return "none"
    low, middle, high = np.median(each, axis=0)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def _of_noise(name: str, lines: Sequence[dict[str, Any]]) -> str:
    groups: dict[tuple[Any, ...], list[float]] = {}
    for line in lines:
        settings = line["settings"]
        if settings.get("rows") == name:
            group = tuple(value for key, value in settings.items() if key != "rows")
            groups.setdefault(group, []).append(line["figures"]["noise"])
    if not groups:
        return ""
    truth = NOISE if name == "two sines" else 1.0
    rows = [["", "runs", "noise variance, median", "lowest", "highest", "below a fifth of the true one"], ["---"] * 6]
    for group, values in groups.items():
        low = sum(value < 0.2 * truth for value in values)
        numbers = [f"{value:.3g}" for value in (np.median(values), min(values), max(values))]
        rows.append([" ".join(map(str, group)), str(len(values)), *numbers, str(low)])
    return f"## {name}: true noise variance {truth:g}\n\n{_markdown(rows)}"
