"""What a file says about the model in it that can be made again: predictions, and the times that follow a series.

A checksum tells that a file is as it was saved. These checks tell that the model still predicts what it did, to
`TOLERANCE`: another machine rounds differently, so the last bits may change.
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
"""Largest difference of two predictions, as a share of the range of all of them and of their standard deviations."""
MOST_ROWS = 64
"""Rows at which a model predicts again, evenly spread over those it was fitted to. By judgement: this takes a small
part of the time of a first prediction, which factorises the covariance of all rows."""
MOST_MODELS = 64
"""Models of a panel that predict again, evenly spread. By judgement: they take a few seconds."""
STEPS = 2
"""Steps ahead of a series whose times are compared."""


def checks_of(objects: Sequence[Any]) -> list[Any]:
    """What those of the objects say that predict or go on: to be saved with them."""
    return [_said(one) for one in _asked(objects)]


def check(objects: Sequence[Any], checks: Sequence[Any]) -> None:
    """ValueError where the objects do not say what they did when they were saved."""
    for one, before in zip(_asked(objects), checks, strict=True):
        same = _predicts(one, before) if isinstance(one, ClassifierMixin | RegressorMixin) else _said(one) == before
        if isinstance(one, FittedSeries):
            _check_rows(one)
        if not same:
            raise ValueError("the model does not predict what it did")


def _asked(objects: Sequence[Any]) -> list[Any]:
    models = [one for one in objects if isinstance(one, ClassifierMixin | RegressorMixin)]
    return _spread(models, MOST_MODELS) + [one for one in objects if isinstance(one, FittedSeries | Panel)]


def _said(one: Any) -> tuple[np.ndarray, ...] | list[str]:
    """Of a model: some of its rows, and what it predicts there. Of series: the next times, and the kind of table."""
    if isinstance(one, FittedSeries):
        return _following(one.observed.layout, one)
    if isinstance(one, Panel):
        return _following(one.layout, *list(one.series.values())[:1])
    rows = _some_rows(one)
    return rows, *_predicted(one, rows)


def _following(layout: Layout, *series: FittedSeries) -> list[str]:
    said = []
    for one in series:
        axis = one.observed.axis
        ahead = axis.future(STEPS if axis.spacing else 0)
        table = layout.write(ahead.stamps, {"y": ahead.numbers}, ["id"] * len(ahead.labels))
        said += [type(table).__name__, *ahead.labels, *(f"{number:.9g}" for number in ahead.numbers)]
    return said


def _some_rows(model: Any) -> np.ndarray:
    return np.stack(_spread(list(model.result_.rows), MOST_ROWS))


def _predicted(model: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation; or the probabilities of classes, and nothing."""
    predictor: Any = model
    # the rows have no names of columns, and a damaged model has numbers that overflow: neither concerns the user
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if isinstance(model, ClassifierMixin):
            return predictor.predict_proba(rows), np.zeros(0)
        mean, std = predictor.predict(rows, return_std=True)
    return mean, std


def _predicts(model: Any, before: Any) -> bool:
    """Whether a model has the rows that it had, and predicts there what it did."""
    rows, *values = before
    if not _are_close(_some_rows(model), rows, np.abs(rows).max(axis=0)):
        return False
    means, deviations = (one[np.isfinite(one)] for one in values)
    spread = (np.ptp(means) if len(means) else 0.0) + np.max(deviations, initial=0.0)
    return all(_are_close(now, one, spread) for now, one in zip(_predicted(model, rows), values, strict=True))


def _are_close(now: np.ndarray, before: np.ndarray, unit: Any) -> bool:
    return now.shape == before.shape and np.allclose(now, before, rtol=0.0, atol=TOLERANCE * unit, equal_nan=True)


def _check_rows(series: FittedSeries) -> None:
    """ValueError where a model was fitted to other rows than those of its series."""
    observed = series.observed
    if observed.extra.shape[1] != len(observed.layout.regressors):
        raise ValueError("the regressors have other names than there are columns")
    expected = np.column_stack([observed.axis.numbers, observed.extra])[observed.present]
    if not _are_close(series.model.result_.rows, expected, np.abs(expected).max(axis=0)):
        raise ValueError("the model was fitted to other rows than those of the series")


def _spread(values: list[Any], most: int) -> list[Any]:
    """At most so many of the values, evenly spread, the first and the last among them."""
    if len(values) <= most:
        return values
    return [values[i] for i in np.linspace(0, len(values) - 1, most).round().astype(int).tolist()]
