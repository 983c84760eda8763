"""Hostile arrays and frames: the estimators called with odd columns, types, containers and arguments.

A call that returns must give finite numbers, intervals in their order, and an explanation with words in it.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from farrier import Classifier, Forecaster, Regressor, load
from tests.fuzz.odd_values import NAMES, Random, numbers, pick, times, values
from tests.fuzz.outcomes import FailureError, Tally, check_finite, judged

ROWS = (0, 1, 2, 3, 4, 5, 8, *(12, 24, 40) * 6)
HORIZONS = (*(1, 3, 12) * 8, 0, -1, 2.5, 200, 10**9, None, "3")
LEVELS = (*((80, 95),) * 16, (50,), (), (0.5,), (100,), (-1,), (np.nan,), (99.9999,))
KERNELS: tuple[Any, ...] = (*(["SE"], ["SE", "Lin"], ["RQ"], ["Per0", "Lin"]) * 4, ["SE * Per"], [], ["what"], [3])


def run(count: int, seed: int, folder: Path, first: int = 0) -> Tally:
    """Try `count` calls from number `first` on; call i depends on the seed and on i only."""
    tally = Tally("arrays")
    for i in range(first, first + count):
        random = np.random.default_rng([seed, i])
        work = pick(random, (series, series, series, frames, table, table, classes))
        outcome, about = judged(lambda random=random, work=work: work(random, folder))
        tally.add(outcome, f"seed {seed}, call {i}, {work.__name__}: {about}")
    return tally


def series(random: Random, folder: Path) -> None:
    """A Forecaster on times and values."""
    count = int(pick(random, ROWS))
    model = _forecaster(random).fit(times(random, count), values(random, count))
    _use_series(model, random, folder)


def frames(random: Random, folder: Path) -> None:
    """A Forecaster on a frame: one series or many, with or without regressors."""
    count = int(pick(random, ROWS))
    columns: dict[Any, Any] = {pick(random, ("ds", "time", *NAMES)): times(random, count), "y": numbers(random, count)}
    options: dict[str, Any] = {}
    if random.random() < 0.3:
        columns["promo"] = numbers(random, count)
        options["regressors"] = pick(random, (["promo"], "promo", ["gone"]))
    if random.random() < 0.3:
        ids: Any = pick(random, (("a", "b"), ("=1+1", "<b>"), (1, 2), (None, "a"), (1.5, float("nan"))))
        columns["unique_id"] = [pick(random, ids) for _ in range(count)]
    try:
        frame = _frame(columns, random)
    except Exception:  # pandas and polars refuse some columns
        frame = pd.DataFrame({"ds": np.arange(count), "y": numbers(random, count)})
        options = {}
    model = _forecaster(random).fit(frame, **options)
    _use_series(model, random, folder)


def _frame(columns: dict[Any, Any], random: Random) -> Any:
    if random.random() < 0.4:
        return pl.DataFrame(columns, strict=False)
    frame: Any = pd.DataFrame(columns)
    match int(random.integers(12)):
        case 0:
            frame.columns = pd.MultiIndex.from_tuples([("a", name) for name in frame.columns])
        case 1:
            frame.columns = list(range(len(frame.columns)))
        case 2:
            frame = pd.concat([frame, frame], axis=1)
        case 3:
            frame = frame.set_index(frame.columns[0])
    return frame


def table(random: Random, folder: Path) -> None:
    """A Regressor on a table."""
    X = _inputs(random)
    count = len(X) if isinstance(X, np.ndarray | list | pd.DataFrame) else 24
    y = values(random, count)
    given = random.random() < 0.5
    options: dict[str, Any] = {"kernels": pick(random, KERNELS), "iterations": 5} if given else {}
    if random.random() < 0.2:
        options["scale"] = pick(random, (*("log", "square root", "identity") * 4, "cube"))
    if given and random.random() < 0.2:
        options |= {"likelihood": "student-t"}
    model = Regressor(**options).fit(X, y)
    new = X if random.random() < 0.7 else _inputs(random)
    mean, std = model.predict(new, return_std=True)
    check_finite(mean, "mean")
    check_finite(std, "standard deviation")
    if np.any(std < 0):
        raise FailureError("wrong order", "a negative standard deviation")
    quantiles = model.predict_quantiles(new)
    check_finite(quantiles, "quantiles")
    if np.any(np.diff(quantiles, axis=1) < 0):
        raise FailureError("wrong order", "quantiles")
    parts = model.decompose(new)
    check_finite(parts.mean, "means of components")
    check_finite(parts.sd, "standard deviations of components")
    _keep(model, random, folder)


def classes(random: Random, folder: Path) -> None:
    """A Classifier."""
    X = _inputs(random)
    count = len(X) if isinstance(X, np.ndarray | list | pd.DataFrame) else 24
    labels: Any = pick(
        random, (("no", "yes"), (0, 1), (True, False), (1,), (1, 2, 3), (0.5, 1.5), (None, 1), ("", "é"))
    )
    y = values(random, count) if random.random() < 0.2 else [pick(random, labels) for _ in range(count)]
    model = Classifier(pick(random, KERNELS), iterations=5).fit(X, y)
    probability = model.predict_proba(X)
    check_finite(probability, "probability")
    if np.any(probability < 0) or np.any(np.abs(probability.sum(axis=1) - 1) > 1e-9):
        raise FailureError("wrong order", "probabilities")
    _keep(model, random, folder)


def _inputs(random: Random) -> Any:
    count, width = int(pick(random, ROWS)), int(pick(random, (0, *(1, 1, 2, 3) * 4)))
    X = np.column_stack([np.empty((count, 0)), *(numbers(random, count) for _ in range(width))])
    names = [f"c{i}" for i in range(width)]
    kinds = (
        *(lambda: X,) * 24,
        lambda: X.tolist(),
        lambda: X.astype(np.float32),
        lambda: pd.DataFrame(X, columns=names),
        lambda: pl.DataFrame(X, schema=names) if width else pl.DataFrame(),
        lambda: pl.DataFrame(X, schema=names).lazy() if width else pl.DataFrame().lazy(),
        lambda: pd.DataFrame(X, columns=["x" * 20_000, *names[1:]] if width else []),
        lambda: pd.DataFrame(X).assign(text="a"),
        lambda: np.ma.array(X, mask=random.random(X.shape) < 0.05),
        lambda: X.astype(object),
        lambda: X.astype(str),
        lambda: X[:, :, None],
        lambda: X[:, 0] if width else X,
        lambda: [[1.0], [1.0, 2.0]],
        lambda: values(random, count),
    )
    with np.errstate(all="ignore"):
        return pick(random, kinds)()


def _forecaster(random: Random) -> Forecaster:
    options: dict[str, Any] = {}
    if random.random() < 0.3:
        options = {"kernels": pick(random, KERNELS), "iterations": 5}
    if random.random() < 0.1:
        options["periods"] = pick(random, ([7.0], [0.0], [-1.0], [1e300], ["a"], [float("nan")]))
    return Forecaster(**options)


def _use_series(model: Forecaster, random: Random, folder: Path) -> None:
    horizon, levels = pick(random, HORIZONS), pick(random, LEVELS)
    found = model.forecast(horizon, levels)
    columns = {name: np.asarray(found[name], dtype=np.float64) for name in ("mean", "median")}
    ends = sorted(name for name in found if str(name).startswith(("low_", "high_")))
    columns |= {name: np.asarray(found[name], dtype=np.float64) for name in ends}
    for name, column in columns.items():
        check_finite(column, name)
        if (name.startswith("low_") and np.any(column > columns["median"])) or (
            name.startswith("high_") and np.any(column < columns["median"])
        ):
            raise FailureError("wrong order", name)
        if isinstance(horizon, int) and len(column) % horizon:
            raise FailureError("lost output", f"{len(column)} rows for {horizon} steps")
    _keep(model, random, folder)


def _keep(model: Any, random: Random, folder: Path) -> None:
    """Sometimes explain, save and load a model."""
    chance = random.random()
    if chance < 0.15 and not (isinstance(model, Forecaster) and "series" in vars(model.fitted_)):
        if len(str(model.explain())) < 20:
            raise FailureError("lost output", "an explanation without words")
    elif chance < 0.25:
        path = model.save(folder / "model.farrier")
        load(path)
