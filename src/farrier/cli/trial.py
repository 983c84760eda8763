"""One method of `farrier compare` in a process of its own: reads rows from standard input, prints one line of JSON.

python -m farrier.cli.trial NAME SEED LIMIT < rows.npz

A method with a time limit of its own gets a part of LIMIT, and predicts with the best kernel it has found by then.
"""

import farrier.cli.threads  # noqa: F401, I001 (before numpy)

import io
import json
import sys
from dataclasses import fields
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from farrier.cli import rivals
from farrier.series.scores import coverage, gaussian_log_score, log_score, rmse

if TYPE_CHECKING:
    from farrier.estimators.regressor import Regressor

SEARCHING = 0.6
"""The part of the time limit for a search, by judgement: its best kernel must still be fitted."""


def main() -> None:
    """Fit, predict, and print the scores."""
    name, seed, limit = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    rows = np.load(io.BytesIO(sys.stdin.buffer.read()))
    begin = perf_counter()
    try:
        scores = score(name, seed, limit, **rows)
    except Exception as error:
        scores = {"failure": " ".join(str(error).split()) or type(error).__name__}
    print(json.dumps({"seconds": perf_counter() - begin} | scores))


def score(
    name: str,
    seed: int,
    limit: float,
    X: np.ndarray,
    y: np.ndarray,
    X_new: np.ndarray,
    y_new: np.ndarray,
    periods: np.ndarray,
    kind: np.ndarray,
) -> dict[str, Any]:
    """The scores of a method at held-out rows."""
    twice = {}
    if name == "farrier":
        model, X_new = _farrier(X, y, X_new, seed, periods.tolist(), str(kind))
        mean, likely = model.predict(X_new), log_score(model.log_density(X_new, y_new))
        low, high = model.predict_quantiles(X_new, (0.025, 0.975)).T
        found = f"{model.transform_}: " + " + ".join(repr(kernel) for kernel in model.pool_)
    elif name in (*rivals.SERIES, *rivals.TABLES):
        mean, sd = rivals.predict(name, X, y, X_new, periods.tolist(), seed, str(kind))
        found, likely = "", gaussian_log_score(y_new, mean, sd)
        low, high = mean - rivals.Z95 * sd, mean + rivals.Z95 * sd
    else:
        from scipy.stats import norm

        from farrier.baselines import BASELINES
        from farrier.paper.cache import keep_compiled_programs

        keep_compiled_programs()
        method = BASELINES[name](seed=seed)
        if any(field.name == "time_limit" for field in fields(method)):
            method.time_limit = SEARCHING * limit
        model = method.fit(X, y)
        mean, sd = model.predict(X_new)
        found = ""
        likely = gaussian_log_score(y_new, mean, sd)
        if (noise := model.noise_variance_) is not None:
            twice = {"noise_twice": gaussian_log_score(y_new, mean, np.hypot(sd, noise**0.5))}
        low, high = mean - norm.ppf(0.975) * sd, mean + norm.ppf(0.975) * sd
    return {
        "rmse": rmse(y_new, mean),
        "log_likelihood": likely,
        "coverage": coverage(y_new, low, high),
        "found": found,
        "predicted": {name: _short(values) for name, values in (("mean", mean), ("low", low), ("high", high))},
    } | twice


def _farrier(
    X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int, periods: list[float], kind: str
) -> tuple["Regressor", Any]:
    """A fitted model, and the rows that were held out as its inputs: dates have the patterns of the calendar."""
    if X.shape[1] > 1 or kind == "number":
        from farrier.estimators.regressor import Regressor

        # an empty list would say that there are no periods
        given = periods or None if X.shape[1] == 1 else None
        return Regressor(random_state=seed, periods=given).fit(X, y), X_new
    from farrier.estimators.fitted_series import FittedSeries
    from farrier.estimators.forecaster import Forecaster

    past, ahead = (rivals.dates_of(x[:, 0], kind) for x in (X, X_new))
    fitted = Forecaster(random_state=seed).fit(past, y).fitted_
    assert isinstance(fitted, FittedSeries)
    return fitted.model, fitted.ahead(ahead, None).X


def _short(values: np.ndarray) -> list[float]:
    """The numbers rounded to as many digits as a plot needs."""
    return [float(f"{value:.7g}") for value in values]


if __name__ == "__main__":
    main()
