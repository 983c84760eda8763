"""Every way to fit and to fit again, once each, on a few rows: the engine, the noise, and what is known beforehand.

A path is a function that returns a fitted `Regressor` or `Classifier` and the rows to predict. Paths through engines
that are made for many rows are taken with fewer: `many` lowers their limits.
"""

import sys
from collections.abc import Callable
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pytest

import farrier.estimators.classifier
import farrier.estimators.forecaster
import farrier.estimators.regressor
import farrier.fleet.memory
import farrier.model.fit
import farrier.out_of_core

Path: TypeAlias = Callable[[], tuple[Any, np.ndarray]]
MANY = {
    "EXACT_ROWS": 150,
    "EXACT_TABLE_ROWS": 150,
    "TABLE_ROWS": 80,
    "FITTED_ROWS": 100,
    "PREDICTING_ROWS": 180,
}
"""Limits of rows by which 200 are many."""


def months(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A made series of months: growth, a year, a level that wanders, noise."""
    generator, t = np.random.default_rng(seed), np.arange(count)
    y = 100.0 + 0.5 * t + 10.0 * np.sin(2.0 * np.pi * t / 12.0) + np.cumsum(generator.standard_normal(count))
    return np.datetime64("2010-01") + t, y + generator.standard_normal(count)


def with_step(rows: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same with a level that rises after half of the rows."""
    return rows, y + 40.0 * (np.arange(len(y)) >= len(y) // 2)


def hours(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A made series of hours: a line, a day, noise."""
    generator, t = np.random.default_rng(seed), np.arange(count)
    y = 50.0 + 0.01 * t + 5.0 * np.sin(2.0 * np.pi * t / 24.0) + generator.standard_normal(count)
    return np.datetime64("2020-01-06T00") + t, y


def with_outliers(rows: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same with a row in twenty far away."""
    return rows, y + 15.0 * np.std(np.diff(y)) * (np.arange(len(y)) % 20 == 7)


def table(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A made table: a straight effect, a curve, noise."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(-2.0, 2.0, (count, 2))
    return X, 2.0 * X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.3 * generator.standard_normal(count)


def forecaster(series: tuple[np.ndarray, np.ndarray], *, more: int = 0, **settings: Any) -> tuple[Any, np.ndarray]:
    """The model of a series by a `Forecaster`, and some of its rows with twelve steps ahead; `more` rows come later."""
    times, y = series
    seen = len(y) - more
    found = farrier.Forecaster(**settings).fit(times[:seen], y[:seen])
    found = found.update(times[seen:], y[seen:]) if more else found
    model = found.model_
    X = model.result_.rows
    step = X[-1] - X[-2]
    return model, np.concatenate([X[:: len(X) // 6], X[-1] + step * np.array([[1.0], [4.0], [12.0]])])


def regressor(
    rows: tuple[np.ndarray, np.ndarray], *, more: int = 0, weights: np.ndarray | None = None, **settings: Any
) -> tuple[Any, np.ndarray]:
    """A `Regressor` of a table, and some of its rows; `more` rows come later."""
    X, y = rows
    seen = len(y) - more
    model = farrier.Regressor(**settings).fit(X[:seen], y[:seen], sample_weight=weights)
    return (model.refit(X, y) if more else model), X[:: len(X) // 8]


def many(path: Path) -> Path:
    """The same with limits by which the rows are many.

    All modules that hold a limit are imported above: one that was imported here first would keep the lower limit for
    all later fits.
    """

    def found() -> tuple[Any, np.ndarray]:
        with pytest.MonkeyPatch.context() as patch:
            modules = [module for name, module in sys.modules.items() if name.startswith("farrier.")]
            for module, name in product(modules, MANY):
                if hasattr(module, name):
                    patch.setattr(module, name, MANY[name])
            return path()

    return found


def classifier(count: int) -> tuple[Any, np.ndarray]:
    """Two classes whose odds follow a line."""
    X, y = table(count, 8)
    return farrier.Classifier().fit(X, np.where(y > 0.0, "yes", "no")), X[:: count // 8]


def counts(likelihood: str, count: int, more: int = 0) -> tuple[Any, np.ndarray]:
    """Counts whose rate has a season."""
    generator, t = np.random.default_rng(9), np.arange(float(count))
    y = generator.poisson(np.exp(1.0 + 0.6 * np.sin(2.0 * np.pi * t / 12.0))).astype(float)
    return regressor((t[:, None], y), more=more, likelihood=likelihood)


def categories() -> tuple[Any, np.ndarray]:
    """A table with a category and empty cells."""
    import pandas as pd

    X, y = table(90, 10)
    kind = np.array(["red", "green", "blue"])[np.arange(90) % 3]
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(np.arange(90) % 11 == 5, np.nan, X[:, 1]), "kind": kind})
    return farrier.Regressor().fit(frame, y + 2.0 * (kind == "red")), frame.iloc[::11]


def drivers() -> tuple[Any, np.ndarray]:
    """A series of days with a promotion."""
    import pandas as pd

    generator, t = np.random.default_rng(11), np.arange(84)
    promo = (generator.uniform(size=84) < 0.2).astype(float)
    y = 40.0 + 8.0 * promo + 4.0 * (t % 7 >= 5) + generator.standard_normal(84)
    frame = pd.DataFrame({"day": np.datetime64("2024-01-01") + t, "y": y, "promo": promo})
    model = farrier.Forecaster().fit(frame, time="day", target="y", regressors=["promo"]).model_
    return model, pd.DataFrame(model.result_.rows[::12], columns=model.feature_names_in_)


def blocks() -> tuple[Any, np.ndarray]:
    """A table that is read in blocks."""
    X, y = table(400, 12)
    return farrier.out_of_core.fit(X, y=y), X[::50]


LINES = ["Lin", "SE"]
WEIGHTS = np.where(np.arange(90) % 3 == 0, 4.0, 1.0)
PATHS: dict[str, Path] = {
    "series": lambda: forecaster(months(72, 1)),
    "series, updated": lambda: forecaster(months(72, 1), more=6),
    "series, Student-t": lambda: forecaster(with_outliers(*months(72, 2)), likelihood="student-t"),
    "series, Student-t, updated": lambda: forecaster(with_outliers(*months(60, 2)), more=6, likelihood="student-t"),
    "series with a step": lambda: forecaster(with_step(*months(72, 14))),
    "drivers": drivers,
    "long series": many(lambda: forecaster(hours(260, 5))),
    "long series, updated": many(lambda: forecaster(hours(260, 5), more=12)),
    "long series, Student-t": many(lambda: forecaster(with_outliers(*hours(260, 6)), likelihood="student-t")),
    "table, fitted again": lambda: regressor(table(90, 7), more=10),
    "table, weighted": lambda: regressor(table(90, 7), weights=WEIGHTS),
    "table, categories": categories,
    "table, Student-t": lambda: regressor(with_outliers(*table(120, 7)), likelihood="student-t"),
    "table, many rows": many(lambda: regressor(table(200, 7))),
    "table, many rows, fitted again": many(lambda: regressor(table(200, 7), more=10)),
    "table, collapsed": lambda: regressor(table(120, 7), method="collapsed"),
    "table, collapsed, fitted again": lambda: regressor(table(120, 7), more=10, method="collapsed"),
    "table in blocks": blocks,
    "classes, many rows": many(lambda: classifier(200)),
    "counts": lambda: counts("poisson", 72),
    "counts, fitted again": lambda: counts("poisson", 72, more=6),
    "counts, negative binomial, many rows": many(lambda: counts("negative-binomial", 152)),
    "given kernels": lambda: regressor(table(60, 13), kernels=LINES),
    "given kernels, fitted again": lambda: regressor(table(60, 13), more=6, kernels=LINES),
    "given kernels, no prior": lambda: regressor(table(60, 13), kernels=LINES, prior="none"),
    "given kernels, Student-t": lambda: regressor(table(60, 13), kernels=LINES, likelihood="student-t"),
    "given kernels, collapsed": lambda: regressor(table(60, 13), kernels=LINES, method="collapsed"),
    "given kernels, many rows of a series": many(
        lambda: regressor((np.arange(200.0)[:, None], hours(200, 5)[1]), kernels=["Lin", "Mat12", "Per"])
    ),
}
