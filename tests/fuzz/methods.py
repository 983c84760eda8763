"""Odd arguments: settings and methods of models that fit well, each with something odd in one or two places.

The rows are ordinary, so that the call reaches what `arrays` seldom does: bounds, steps, weights, samples, updates,
anomalies, backtests, categories, counts.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from farrier import Classifier, Forecaster, Regressor
from tests.fuzz.odd_values import Random, numbers, pick, times, values
from tests.fuzz.outcomes import FailureError, Tally, check_finite, judged

ODD = (
    *(
        None,
        True,
        0,
        1,
        2,
        -1,
        3.0,
        2.5,
        1e-300,
        1e300,
        10**12,
        float("nan"),
        float("inf"),
        "",
        "auto",
        "week",
        "1 day",
    ),
    *("2 hours", "x" * 20_000, (), [], [1.0], ["a"], {}, {"a": 1}, object(), np.float64(7.0), np.int8(3), np.zeros(0)),
    *(np.zeros((2, 2)), pd.Timestamp("2030-01-01"), pd.Timedelta(days=3), np.datetime64("2021-01"), b"a", 1j),
)
"""What is given where a number, a word or a table belongs."""
SERIES_SETTINGS = (
    *("floor", "cap", "step", "country", "holidays", "likelihood", "scale", "periods", "random_state", "iterations"),
    *("prior", "method", "n_jobs", "kernels", "progress"),
)
TABLE_SETTINGS = (
    *("floor", "cap", "likelihood", "scale", "periods", "calendar", "random_state", "iterations", "prior", "inducing"),
    *("starts", "batch_size", "learning_rate", "tolerance", "kernels", "progress"),
)
SLOW = {"stochastic", "paper"}
"""Values that start a fit of minutes; they are left out."""


def run(count: int, seed: int, folder: Path, first: int = 0) -> Tally:
    """Try `count` calls from number `first` on; call i depends on the seed and on i only."""
    tally = Tally("methods")
    for i in range(first, first + count):
        random = np.random.default_rng([seed, i])
        work = pick(random, (series, series, table, mixed, classes))
        outcome, about = judged(lambda random=random, work=work: work(random))
        tally.add(outcome, f"seed {seed}, call {i}, {work.__name__}: {about}")
    return tally


def series(random: Random) -> None:
    """A Forecaster of months or of plain numbers, then a method of it."""
    count = int(random.integers(12, 30))
    y = 5.0 + np.sin(np.arange(count)) + 0.1 * random.standard_normal(count)
    stamps = pick(random, (np.datetime64("2020-01") + np.arange(count), np.arange(count) / 4.0))
    settings: dict[str, Any] = _odd_setting(random, SERIES_SETTINGS)
    weight = _weights(random, count)
    model = Forecaster(**settings).fit(stamps, y, **weight)
    odd, more = _odd(random), int(pick(random, (1, 2, 5)))
    later = stamps[-1] + (stamps[1] - stamps[0]) * np.arange(1, more + 1)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: model.forecast(more)["mean"],
        lambda: model.forecast(odd)["mean"],
        lambda: model.forecast(2, pick(random, (odd, [odd], (50.0,), (0.001, 99.999))))["median"],
        lambda: model.predict(odd),
        lambda: model.predict(later),
        lambda: model.predict_quantiles(2, pick(random, (odd, [odd], (0.5, 0.01))))["time"] is None,
        lambda: model.sample(2, odd),
        lambda: model.sample(odd, 3),
        lambda: model.sample(2, 3, random_state=odd)["path_1"],
        lambda: model.anomalies(level=odd),
        lambda: model.anomalies(later, values(random, more))["low"],
        lambda: model.score(later, values(random, more)),
        lambda: model.update(later, values(random, more)).forecast(2)["mean"],
        lambda: model.update(times(random, more), numbers(random, more)).forecast(2)["mean"],
        lambda: model.backtest(odd),
        lambda: model.backtest(1, odd),
        lambda: model.decompose(odd),
        lambda: model.forecast(2, future=odd)["mean"],
        lambda: (model.changepoints_, model.components_, str(model.explain())),
        lambda: model.predict_in_sample((odd,))["mean"],
        lambda: model.outliers(),
    )
    _check(pick(random, calls)())


def table(random: Random) -> None:
    """A Regressor of two numbers, then a method of it."""
    X, y = random.standard_normal((24, 2)), numbers(random, 24)
    settings = {"kernels": ["SE", "Lin"], "iterations": 5} | _odd_setting(random, TABLE_SETTINGS)
    if random.random() < 0.3:
        settings["likelihood"] = pick(random, ("student-t", "poisson", "negative-binomial"))
        y = np.round(np.abs(y))
    model = Regressor(**settings).fit(X, y, **_weights(random, 24))
    odd, few = _odd(random), int(pick(random, (0, 1, 5)))
    calls: tuple[Callable[[], Any], ...] = (
        lambda: model.predict(X[:few], return_std=True),
        lambda: model.predict(X[:few], return_cov=True),
        lambda: model.predict(odd),
        lambda: model.predict_quantiles(X[:few], pick(random, (odd, [odd], (0.001, 0.999)))),
        lambda: model.log_density(X[:few], values(random, few)) is None,
        lambda: model.refit(X[: 4 + few], numbers(random, 4 + few)).predict(X[:2]),
        lambda: model.refit(odd, odd).predict(X[:2]),
        lambda: model.decompose(odd),
        lambda: model.describe(title=odd, target_name=odd).explain(),
        lambda: model.describe(columns=odd).explain(),
        lambda: (str(model.explain()), model.outliers()),
    )
    _check(pick(random, calls)())


def mixed(random: Random) -> None:
    """A table with text, dates, booleans and empty cells."""
    words: Any = np.array(["a", "b", "", "é" * 30, None], dtype=object)
    count = int(random.integers(12, 24))
    columns = {
        "number": numbers(random, count),
        "word": words[random.integers(len(words), size=count)],
        "day": pd.date_range("2020-01-01", periods=count).to_numpy(),
        "flag": random.random(count) < 0.5,
        "odd": values(random, count),
        "times": times(random, count),
    }
    names = list(random.choice(list(columns), size=int(random.integers(1, 4)), replace=False))
    try:
        X = pd.DataFrame({str(name): columns[str(name)] for name in names})
    except Exception:  # pandas refuses some columns
        X = pd.DataFrame({"word": columns["word"]})
    kind = pick(random, (Regressor, Classifier))
    y: Any = random.standard_normal(len(X)) if kind is Regressor else random.random(len(X)) < 0.5
    model = kind(["SE", "Lin"], iterations=5).fit(X, y)
    new = X.iloc[:5].astype(object)
    if random.random() < 0.5:
        new.loc[new.index[0], new.columns[0]] = pick(random, (None, new.iloc[1, 0]))
    _check(model.predict(new) if kind is Regressor else model.predict_proba(new))
    str(model.explain())


def classes(random: Random) -> None:
    """A Classifier with odd settings."""
    X, settings = random.standard_normal((24, 2)), _odd_setting(random, ("kernels", "iterations", "prior", "progress"))
    labels = pick(random, ((0, 1), ("a", "b", "c"), ("<b>", "=1+1")))
    y = [labels[i % len(labels)] for i in range(24)]
    model = Classifier(**({"kernels": ["SE", "Lin"], "iterations": 5} | settings)).fit(X, y)
    _check(model.predict_proba(X))
    str(model.describe(title=_odd(random)).explain())


def _odd(random: Random) -> Any:
    return pick(random, ODD)


def _odd_setting(random: Random, names: tuple[str, ...]) -> dict[str, Any]:
    """Often none, sometimes one or two settings with something odd."""
    chosen = {str(pick(random, names)): _odd(random) for _ in range(int(pick(random, (0, 0, 1, 1, 2))))}
    # what the defaults would take minutes for, or waits for many processes
    dear = {"iterations": 10, "kernels": ["SE"], "n_jobs": 1, "starts": 1}
    for name in chosen:
        if isinstance(chosen[name], str | None) or (isinstance(chosen[name], int) and name != "random_state"):
            chosen[name] = dear.get(name, chosen[name])
    return {name: value for name, value in chosen.items() if not (isinstance(value, str) and value in SLOW)}


def _weights(random: Random, count: int) -> dict[str, Any]:
    """Sometimes weights of the rows, often odd ones."""
    if random.random() < 0.7:
        return {}
    return {"sample_weight": pick(random, (np.ones(count), np.abs(numbers(random, count)), values(random, count)))}


def _check(found: Any) -> None:
    """Fail if an array of numbers is not finite."""
    for one in found if isinstance(found, tuple) else (found,):
        array = np.asarray(one) if isinstance(one, np.ndarray | pd.Series | float) else np.zeros(0)
        if array.dtype.kind == "f":
            check_finite(array, "a prediction")
        if array.dtype.kind == "c":
            raise FailureError("wrong order", "a complex prediction")
