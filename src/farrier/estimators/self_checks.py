"""Checks that a file holds about its model: some predictions, and the times that follow a series.

A checksum shows that a file is unchanged. These checks show that the loaded model predicts the same as the saved one,
within `TOLERANCE`, since machines may differ in the last bits.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from farrier.estimators.fitted_series import FittedSeries
from farrier.estimators.panel import Panel
from farrier.series.observed import Layout

TOLERANCE = 1e-8
"""Largest difference of two predictions, relative to the range of the means plus the largest standard deviation. By
judgement."""
MOST_ROWS = 64
"""Most rows at which a model predicts, evenly chosen among the fitted rows. By judgement: a first prediction factorises
the covariance of all rows, and these rows add little to its time."""
MOST_MODELS = 64
"""Most models of a panel that predict, evenly chosen. By judgement: they take a few seconds."""
STEPS = 2
"""Future steps of a series whose times are compared, by judgement."""


def checks_of(model: Any) -> list[Any]:
    """The checks of a model and of the models and series in it, to be saved with them."""
    return [_check_of(one) for one in _checked(model)]


def check(model: Any, checks: Sequence[Any]) -> None:
    """Raise ValueError if the checks of a model are not the saved ones."""
    for one, before in zip(_checked(model), checks, strict=True):
        same = _predicts(one, before) if isinstance(one, ClassifierMixin | RegressorMixin) else _check_of(one) == before
        if isinstance(one, FittedSeries):
            _check_rows(one)
        if not same:
            raise ValueError("the model does not predict what it predicted before it was saved")


def _checked(model: Any) -> list[Any]:
    """What is checked."""
    objects = _within(model)
    models = [one for one in objects if isinstance(one, ClassifierMixin | RegressorMixin) and "result_" in vars(one)]
    return _evenly(models, MOST_MODELS) + [one for one in objects if isinstance(one, FittedSeries | Panel)]


def _within(one: Any) -> list[Any]:
    """A model or a series, and all that it holds."""
    match one:
        case Panel():
            parts = list(one.series.values())
        case FittedSeries():
            parts = [one.model]
        case _:
            parts = [vars(one)["fitted_"]] if "fitted_" in vars(one) else vars(one).get("models_", [])
    return [one, *(inner for part in parts for inner in _within(part))]


def _check_of(one: Any) -> tuple[np.ndarray, ...] | list[str]:
    """For a model: some of its rows and its predictions there. For series: the next times and the kind of table."""
    if isinstance(one, FittedSeries):
        return _following(one.observed.layout, one)
    if isinstance(one, Panel):
        return _following(one.layout, *list(one.series.values())[:1])
    rows = _some_rows(one)
    return rows, *_predicted(one, rows)


def _following(layout: Layout, *series: FittedSeries) -> list[str]:
    texts = []
    for one in series:
        axis = one.observed.axis
        ahead = axis.future(STEPS if axis.spacing else 0)
        table = layout.write(ahead.stamps, {"y": ahead.numbers}, ["id"] * len(ahead.labels))
        texts += [type(table).__name__, *ahead.labels, *(f"{number:.9g}" for number in ahead.numbers)]
    return texts


def _some_rows(model: Any) -> np.ndarray:
    return np.stack(_evenly(list(model.result_.rows), MOST_ROWS))


def _predicted(model: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation; for a classifier the probabilities of the second class and an empty array."""
    result = model.result_
    # the user need not see warnings about overflow in a damaged model
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        fitted, inputs = result.fitted, result.at(rows)
        if result.classes is not None:
            return fitted.observed(inputs)[0].mean(axis=0), np.zeros(0)
        return fitted.moments(inputs)


def _predicts(model: Any, before: Any) -> bool:
    """Whether a model has the saved rows, and predicts there what it predicted before."""
    rows, *values = before
    if not _are_close(_some_rows(model), rows, np.abs(rows).max(axis=0)):
        return False
    means, deviations = (one[np.isfinite(one)] for one in values)
    spread = (np.ptp(means) if len(means) else 0.0) + np.max(deviations, initial=0.0)
    return all(_are_close(now, one, spread) for now, one in zip(_predicted(model, rows), values, strict=True))


def _are_close(now: np.ndarray, before: np.ndarray, unit: Any) -> bool:
    return now.shape == before.shape and np.allclose(now, before, rtol=0.0, atol=TOLERANCE * unit, equal_nan=True)


def _check_rows(series: FittedSeries) -> None:
    """Raise ValueError if the rows of a model are not those of its series."""
    observed = series.observed
    if observed.extra.shape[1] != len(observed.layout.regressors):
        raise ValueError("the number of regressors does not match their names")
    expected = np.column_stack([observed.axis.numbers, observed.extra])[observed.present]
    if not _are_close(series.model.result_.rows, expected, np.abs(expected).max(axis=0)):
        raise ValueError("the rows of the model are not those of the series")


def _evenly(values: list[Any], most: int) -> list[Any]:
    """At most `most` of the values, evenly chosen, with the first and the last."""
    if len(values) <= most:
        return values
    return [values[i] for i in np.linspace(0, len(values) - 1, most).round().astype(int).tolist()]
