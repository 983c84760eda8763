"""The state of a fitted model is plain, holds draws instead of posteriors, and gives the same predictions."""

import copy
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import farrier
from farrier.estimators.result_state import result_from, state_of
from farrier.kernels.algebra import Kernel

X = 2000.0 + (np.arange(48)[:, None] + 0.5) / 12.0
Y = 10.0 + (X[:, 0] - 2000.0) + np.sin(2 * np.pi * X[:, 0]) + 0.2 * np.random.default_rng(0).normal(size=48)
NEW = np.vstack([X[-5:], X[-5:] + 0.7])
MODELS = {
    "series": lambda: farrier.Regressor().fit(X, Y),
    "given": lambda: farrier.Regressor(["Lin", "Per0"]).fit(X, Y),
    "collapsed": lambda: farrier.Regressor(["Lin", "Per0"], method="collapsed").fit(X, Y),
    "student-t": lambda: farrier.Regressor(likelihood="student-t").fit(X, Y),
    "counts": lambda: farrier.Regressor(["Lin", "Per0"], likelihood="negative-binomial").fit(X, np.round(Y)),
    "table": lambda: farrier.Regressor(iterations=20).fit(np.column_stack([X[:30], np.sin(X[:30] * 9)]), Y[:30]),
    "classes": lambda: farrier.Classifier(["SE"]).fit(X, np.greater(Y, Y.mean())),
}


@pytest.fixture(scope="module", params=MODELS)
def result(request):
    return MODELS[request.param]().result_


def _plain(value) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str for key in value) and all(map(_plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return value is None or isinstance(value, str | int | float | np.ndarray | np.number | Kernel)


def test_it_holds_plain_values_arrays_and_kernels(result):
    assert _plain(state_of(result))


def test_predictions_and_parts_are_the_same_bit_by_bit(result):
    again: Any = result_from(copy.deepcopy(state_of(result)))
    new = NEW[:, np.zeros(result.inputs.shape[1], int)]
    for one, other in ((result.fitted, again.fitted), (result.explained, again.explained)):
        inputs = result.at(new)
        assert_array_equal(other.observed(inputs), one.observed(inputs))
        assert_array_equal(other.parts(inputs, range(one.survivors)), one.parts(inputs, range(one.survivors)))
    assert repr(again.fitted.posterior.pool.kernels) == repr(result.fitted.posterior.pool.kernels)
    assert again.record == result.record


def test_it_does_not_change_when_it_is_written_again(result):
    state = state_of(result)
    assert repr(state_of(result_from(state))) == repr(state)


WRONG = {
    "products": lambda posterior: posterior["products"].pop(),
    "numbers": lambda posterior: posterior.update(numbers=posterior["numbers"][:, 1:]),
    "weights": lambda posterior: posterior.update(weights=posterior["weights"][:, 1:]),
    "noise": lambda posterior: posterior.update(noise=posterior["noise"][:0]),
    "rows": lambda posterior: posterior.update(X=posterior["X"][1:]),
    "targets": lambda posterior: posterior.update(y=posterior["y"][1:]),
    "engine": lambda posterior: posterior.update(engine="other"),
    "text": lambda posterior: posterior.update(inputs="1"),
    "more": lambda posterior: posterior.update(more=1.0),
}


@pytest.mark.parametrize("change", WRONG)
def test_parts_that_do_not_match_are_refused(change):
    state = copy.deepcopy(state_of(MODELS["given"]().result_))
    WRONG[change](state["fitted"]["posterior"])
    with pytest.raises((TypeError, ValueError, LookupError)):
        result_from(state)
