"""Fits whose predictions must have the same bits in every process, thread and number of BLAS threads.

    python -m tests.determinism series table          prints the name and the digest of each case

The cases `many rows` and `many steps` are large enough that BLAS may use several threads; they are for this command
and not for the suite: docs/trust.md says what they gave.
"""

import hashlib
import sys
import warnings

import numpy as np

from farrier import Classifier, Forecaster, Regressor

RNG_SEED = 5
"""Seed of the data of all cases."""


def made(rows: int, inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """A table with one smooth effect and noise."""
    random = np.random.default_rng(RNG_SEED)
    X = random.standard_normal((rows, inputs))
    return X, np.sin(2.0 * X[:, 0]) + 0.2 * random.standard_normal(rows)


def months(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A yearly pattern, a line and noise."""
    t, random = np.arange(rows), np.random.default_rng(RNG_SEED)
    return np.datetime64("2010-01") + t, 0.1 * t + 3.0 * np.sin(t / 6 * np.pi) + random.standard_normal(rows)


def forecast(rows: int, **settings) -> np.ndarray:
    """Mean and quantiles of 12 steps."""
    found = Forecaster(**settings).fit(*months(rows)).forecast(12)
    return np.stack([np.asarray(found[name], dtype=float) for name in ("mean", "median", "low_80", "high_95")])


def predictions(rows: int, **settings) -> np.ndarray:
    """Mean and standard deviation of ten rows of a table."""
    X, y = made(rows, 2)
    return np.stack(Regressor(**settings).fit(X, y).predict(X[:10] + 0.1, return_std=True))


def again(rows: int) -> np.ndarray:
    """The same of a table that is fitted to fewer rows, then to all."""
    X, y = made(rows, 2)
    model = Regressor().fit(X[: rows // 2], y[: rows // 2]).refit(X, y)
    return np.stack(model.predict(X[:10] + 0.1, return_std=True))


def chances(rows: int, **settings) -> np.ndarray:
    """Probabilities of ten rows."""
    X, y = made(rows, 2)
    return Classifier(**settings).fit(X, (y > 0).astype(int)).predict_proba(X[:10] + 0.1)


CASES = {
    "series": lambda: forecast(48),
    "long series": lambda: forecast(200),
    "table": lambda: predictions(30),
    "table fitted again": lambda: again(90),
    "classes": lambda: chances(40),
    "classes of many rows": lambda: chances(200, kernels=["SE", "Lin"]),
    "many rows": lambda: predictions(1200, kernels=["SE", "Lin"], iterations=3),
    "many steps": lambda: forecast(3000),
}
"""What is fitted and predicted, by name."""


def digest(name: str) -> str:
    """A digest of all bits of the predictions of a case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hashlib.sha256(np.ascontiguousarray(CASES[name]()).tobytes()).hexdigest()[:16]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, digest(name), sep=",", flush=True)
