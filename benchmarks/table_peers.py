"""The peers of the suite `tables` that are not Gaussian processes, with the settings that they are measured with."""

from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any

import numpy as np

from farrier.series.scores import coverage, gaussian_log_score, rmse

FOLDS = 5
"""Parts of the training rows in the cross-validation that gives the standard deviation of a prediction."""
Z95 = 1.96
"""The 97.5 % quantile of a standard normal."""


def _ridge(seed: int) -> Any:
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-4, 4, 25)))


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(500, max_features=0.5, random_state=seed)


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(
        n_estimators=600, learning_rate=0.05, max_depth=4, subsample=0.7, max_features=0.7, random_state=seed
    )


def _explainable_boosting(seed: int, **settings: Any) -> Any:
    from interpret.glassbox import ExplainableBoostingRegressor  # pyright: ignore[reportMissingImports]

    return ExplainableBoostingRegressor(random_state=seed, n_jobs=1, **settings)


def _fewer_bags(seed: int) -> Any:
    return _explainable_boosting(seed, outer_bags=4)


PEERS: dict[str, Callable[[int], Any]] = {
    "ridge": _ridge,
    "random forest": _forest,
    "gradient boosting": _boosting,
    "EBM": _explainable_boosting,
}
"""The methods by name, as functions of a seed."""
QUICKER: dict[str, Callable[[int], Any]] = {"EBM": _fewer_bags}
"""What stands for a slow method in the cross-validation: EBM with 4 instead of 14 outer bags. The model that predicts
has the usual number."""
NEEDED = {"EBM": "interpret"}
"""Packages without which a method is left out."""


def run_peer(
    name: str, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray, seed: int
) -> dict[str, Any]:
    """The figures of one method; seconds include the cross-validation."""
    package = NEEDED.get(name)
    if package is not None and find_spec(package) is None:
        return {"left_out": f"{package} is not installed"}
    from sklearn.model_selection import KFold, cross_val_predict

    begin, used = perf_counter(), process_time()
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    quicker = QUICKER.get(name, PEERS[name])
    sd = np.std(y - cross_val_predict(quicker(seed), X, y, cv=folds))
    mean = PEERS[name](seed).fit(X, y).predict(X_new)
    seconds = {"fit_seconds": perf_counter() - begin, "processor_seconds": process_time() - used}
    return {key: round(value, 2) for key, value in seconds.items()} | {
        "rmse": rmse(y_new, mean),
        "log_likelihood": gaussian_log_score(y_new, mean, np.full(len(y_new), sd)),
        "coverage": coverage(y_new, mean - Z95 * sd, mean + Z95 * sd),
    }


def class_peers(seed: int) -> dict[str, Any]:
    """The same methods for classes, by name."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegressionCV(max_iter=1000)),
        "random forest": RandomForestClassifier(500, max_features=0.5, random_state=seed),
        "gradient boosting": GradientBoostingClassifier(
            n_estimators=150, learning_rate=0.05, max_depth=4, subsample=0.7, max_features=0.7, random_state=seed
        ),
    }
