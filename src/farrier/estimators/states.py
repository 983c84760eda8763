"""The states of estimators and of fitted series: plain values, arrays, kernels and times, as model files hold them.

    {"estimator": "Regressor", "parameters": {"kernels": "auto", ...}, "fitted": {"result_": {...}, "context_": {...}}}

model/state.py writes the results. A series is kept as its times, values and regressors.
"""

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from farrier.data.records import Hook, Records
from farrier.estimators.estimator import Estimator
from farrier.estimators.fitted_series import FittedSeries, TimeRegressor
from farrier.estimators.panel import Panel
from farrier.estimators.result_state import HOOKS, result_from, state_of
from farrier.explain.context import Context
from farrier.model.result import Result
from farrier.series.observed import Layout, Observed
from farrier.series.steps import Steps

ESTIMATORS = ("Regressor", "Classifier", "Forecaster")
"""The estimators that a file may hold."""
LEFT_OUT = "progress"
"""The parameter of an estimator that is not saved: a callback."""
CACHED = "components_"
"""An attribute that is made when it is asked for."""
FITTED: dict[str, Any] = {
    "result_": Result,
    "context_": Context,
    "fitted_": FittedSeries | Panel,
    "models_": list[Estimator],
    "classes_": np.ndarray,
    "frame_": str | None,
    "n_features_in_": int,
    "feature_names_in_": np.ndarray,
}
"""The attributes of a fitted estimator; others are plain values."""
HISTORY = "history_"
"""The attribute that the paper's algorithm adds."""


@dataclass(frozen=True, eq=False)
class Series:
    """What a series is made from."""

    layout: Layout
    stamps: Any
    y: np.ndarray
    extra: np.ndarray
    weights: np.ndarray | None = None
    step: Steps | None = None


def model_state(model: BaseEstimator) -> dict[str, Any]:
    """The state of an estimator; TypeError if files cannot hold it."""
    cls = type(model)
    if cls is not _class_named(cls.__name__):
        raise TypeError(
            f"{cls.__module__}.{cls.__qualname__} is not an estimator that files can hold: save the Regressor, "
            "Classifier or Forecaster inside it"
        )
    parameters = {name: value for name, value in model.get_params(deep=False).items() if name != LEFT_OUT}
    others = {name: value for name, value in vars(model).items() if name not in {*parameters, LEFT_OUT, CACHED}}
    fitted = {name: RECORDS.plain(_kind_of(name), value) for name, value in others.items()}
    return {"estimator": cls.__name__, "parameters": parameters, "fitted": fitted}


def model_from(state: Any) -> Any:
    """The estimator; TypeError or ValueError if something does not fit."""
    match state:
        case {"estimator": str(name), "parameters": dict(parameters), "fitted": dict(fitted), **others} if not others:
            cls = _class_named(name)
        case _:
            raise TypeError("there is no estimator")
    if cls is None or set(parameters) != set(cls().get_params(deep=False)) - {LEFT_OUT}:
        raise TypeError(f"{name!r} is not an estimator, or has other parameters")
    model = cls(**parameters)
    for key, value in fitted.items():
        # a value must not replace a method or a parameter
        if not key.isidentifier() or key.startswith("__") or key in vars(model) or hasattr(cls, key):
            raise TypeError(f"{name} cannot have an attribute {key!r}")
        setattr(model, key, RECORDS.built(_kind_of(key), value))
    if "result_" in fitted and vars(model).get("n_features_in_") != _columns(model.result_):
        raise ValueError("the number of columns does not match the rows")
    return model


def _columns(result: Result) -> int:
    """The columns of the user's table."""
    return len(result.columns if result.table is None else result.table.columns)


def _class_named(name: str) -> Any:
    if name in ESTIMATORS:
        return getattr(import_module("farrier"), name)
    return TimeRegressor if name == TimeRegressor.__name__ else None


def _kind_of(attribute: str) -> Any:
    return import_module("farrier.paper.training").History if attribute == HISTORY else FITTED.get(attribute, Any)


def _series_state(observed: Observed) -> dict[str, Any]:
    own = (observed.layout, observed.stamps, observed.y, observed.extra, observed.weights, observed.axis.chosen)
    return RECORDS.plain(Series, Series(*own))


def _series_from(state: Any) -> Observed:
    one: Series = RECORDS.built(Series, state)
    observed = Observed.of(one.layout, one.stamps, one.y, one.extra, one.weights)
    return replace(observed, axis=replace(observed.axis, chosen=one.step))


RECORDS = Records(
    {
        **HOOKS,
        Result: Hook(state_of, result_from),
        Observed: Hook(_series_state, _series_from),
        BaseEstimator: Hook(model_state, model_from),
    }
)
