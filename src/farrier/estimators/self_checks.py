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
from farrier.explain.context import rows_of

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
        now = _said(one)
        if isinstance(one, FittedSeries):
            _check_rows(one)
        if not _same(now, before):
            raise ValueError("the model does not predict what it did")


def _asked(objects: Sequence[Any]) -> list[Any]:
    models = [one for one in objects if isinstance(one, ClassifierMixin | RegressorMixin)]
    return _spread(models, MOST_MODELS) + [one for one in objects if isinstance(one, FittedSeries)]


def _said(one: Any) -> tuple[np.ndarray, np.ndarray | list[str]]:
    """Mean and standard deviation, or probabilities, at some rows; of a series, the next times."""
    if isinstance(one, FittedSeries):
        axis = one.observed.axis
        ahead = axis.future(STEPS if axis.spacing else 0)
        return ahead.numbers, ahead.labels
    model: Any = one
    rows = np.stack(_spread(list(rows_of(one)), MOST_ROWS))
    # the rows have no names of columns, and a damaged model has numbers that overflow: neither concerns the user
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if isinstance(one, ClassifierMixin):
            return model.predict_proba(rows), np.zeros(0)
        mean, std = model.predict(rows, return_std=True)
    return mean, std


def _same(now: tuple[Any, Any], before: Any) -> bool:
    (first, second), (first_before, second_before) = now, before
    if isinstance(second, list):
        return second == second_before and np.allclose(first, first_before, rtol=0.0, atol=1e-9)
    if first.shape != first_before.shape or second.shape != second_before.shape:
        return False
    means, deviations = (values[np.isfinite(values)] for values in (first_before, second_before))
    spread = (np.ptp(means) if len(means) else 0.0) + np.max(deviations, initial=0.0)
    pairs = ((first, first_before), (second, second_before))
    return all(np.allclose(a, b, rtol=0.0, atol=TOLERANCE * spread, equal_nan=True) for a, b in pairs)


def _check_rows(series: FittedSeries) -> None:
    """ValueError where a model was fitted to other rows than those of its series."""
    observed = series.observed
    rows, present = rows_of(series.model), observed.present
    expected = np.column_stack([observed.axis.numbers[present], observed.extra[present]])
    reach = np.abs(expected).max(axis=0) + np.ptp(expected, axis=0)
    if rows.shape != expected.shape or not np.all(np.abs(rows - expected) <= TOLERANCE * reach):
        raise ValueError("the model was fitted to other rows than those of the series")


def _spread(values: list[Any], most: int) -> list[Any]:
    """At most so many of the values, evenly spread, the first and the last among them."""
    if len(values) <= most:
        return values
    return [values[i] for i in np.linspace(0, len(values) - 1, most).round().astype(int).tolist()]
