"""Laws of the order of inputs: the same table predicts the same, whatever the order of its columns."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from farrier import Classifier, Regressor
from farrier.model.column_order import column_order, reordered

RNG = np.random.default_rng(2)
ROWS = 90
NUMBERS = RNG.normal(size=(ROWS, 2))
CITY = RNG.choice(["a", "b", "c"], ROWS)
Y = np.sin(NUMBERS[:, 0]) + 0.4 * NUMBERS[:, 1] + (CITY == "b") + 0.4 * RNG.standard_normal(ROWS)
FRAME = pd.DataFrame({"city": CITY, "x": NUMBERS[:, 0], "z": np.where(RNG.random(ROWS) < 0.1, np.nan, NUMBERS[:, 1])})
ORDERS = [["x", "z", "city"], ["z", "city", "x"]]


def test_the_order_follows_the_columns():
    X = np.column_stack([NUMBERS, NUMBERS[:, 0] ** 2, NUMBERS[:, 0]])
    expected = X[:, list(column_order(X, Y))]
    for order in permutations(range(4)):
        turned = X[:, order]
        assert_array_equal(turned[:, list(column_order(turned, Y))], expected)
    assert reordered((0, 3), (2, 3, 1, 0)) == (1, 3)


def regression(frame):
    return np.concatenate(Regressor(likelihood="gaussian").fit(frame, Y).predict(frame[:20], return_std=True))


def classes(frame):
    return Classifier().fit(frame, Y > 0.5).predict_proba(frame[:20])


@pytest.mark.parametrize("predicted", [regression, classes])
def test_predictions_do_not_depend_on_the_order_of_columns(predicted):
    expected = predicted(FRAME)
    for order in ORDERS:
        assert_array_equal(predicted(FRAME[order]), expected)
