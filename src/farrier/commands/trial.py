"""One method of `farrier compare` in a process of its own: rows in on standard input, one line of JSON out.

python -m farrier.commands.trial NAME SEED < rows.npz
"""

import farrier.threads  # noqa: F401, I001 (before numpy)

import io
import json
import sys
from time import perf_counter
from typing import Any

import numpy as np


def main() -> None:
    """Fit, predict, and say how well."""
    name, seed = sys.argv[1], int(sys.argv[2])
    rows = np.load(io.BytesIO(sys.stdin.buffer.read()))
    begin = perf_counter()
    try:
        told = score(name, seed, **rows)
    except Exception as error:
        told = {"failure": " ".join(str(error).split()) or type(error).__name__}
    print(json.dumps({"seconds": perf_counter() - begin} | told))


def score(
    name: str, seed: int, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray, periods: np.ndarray
) -> dict[str, Any]:
    """Errors and densities of the method at rows that it has not seen."""
    twice = {}
    if name == "farrier":
        from farrier.regressor import Regressor

        model = Regressor(random_state=seed, periods=periods.tolist() if X.shape[1] == 1 else None).fit(X, y)
        mean, densities = model.predict(X_new), model.log_density(X_new, y_new)
        low, high = model.predict_quantiles(X_new, (0.025, 0.975)).T
        found = f"{model.transform_}: " + " + ".join(repr(kernel) for kernel in model.pool_)
    else:
        from scipy.stats import norm

        from farrier.baselines import BASELINES
        from farrier.cache import keep_compiled_programs

        keep_compiled_programs()
        model = BASELINES[name](seed=seed).fit(X, y)
        mean, sd = model.predict(X_new)
        found = ""
        densities = norm.logpdf(y_new, mean, sd)
        if hasattr(model, "noise_variance_"):
            twice = {"noise_twice": float(np.mean(norm.logpdf(y_new, mean, np.hypot(sd, model.noise_variance_**0.5))))}
        low, high = mean - norm.ppf(0.975) * sd, mean + norm.ppf(0.975) * sd
    return {
        "rmse": float(np.sqrt(np.mean((y_new - mean) ** 2))),
        "log_likelihood": float(np.mean(densities)),
        "coverage": float(np.mean((low <= y_new) & (y_new <= high))),
        "found": found,
        "predicted": {name: _short(values) for name, values in (("mean", mean), ("low", low), ("high", high))},
    } | twice


def _short(values: np.ndarray) -> list[float]:
    """As many digits as a picture shows."""
    return [float(f"{value:.7g}") for value in values]


if __name__ == "__main__":
    main()
