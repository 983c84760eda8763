"""Laws of the order of columns: the same table with its columns in another order has the same predictions."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import farrier
from farrier.data.column_order import column_order, reordered

ROWS, ORDER = 120, [2, 4, 0, 3, 1]


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(4)
    frame = pd.DataFrame(generator.standard_normal((ROWS, 3)), columns=["a", "b", "c"])
    frame["d"] = generator.choice(["x", "y", "z"], ROWS)
    frame["e"] = np.where(generator.uniform(size=ROWS) < 0.1, np.nan, generator.standard_normal(ROWS))
    y = 2.0 * frame["c"] + np.sin(2.0 * frame["b"]) + (frame["d"] == "x") + 0.3 * generator.standard_normal(ROWS)
    return frame, y.to_numpy()


@pytest.fixture(scope="module")
def models(table):
    frame, y = table
    return farrier.Regressor().fit(frame, y), farrier.Regressor().fit(frame.iloc[:, ORDER], y)


def test_predictions_do_not_depend_on_it(models, table):
    frame, _ = table
    one, other = models
    assert_allclose(one.predict(frame), other.predict(frame.iloc[:, ORDER]), rtol=1e-9)
    assert_allclose(one.predict_quantiles(frame), other.predict_quantiles(frame.iloc[:, ORDER]), rtol=1e-9)


def test_explanations_and_records_name_the_same_columns(models):
    one, other = models
    assert str(one.explain()) == str(other.explain())
    assert [row.formula for row in one.components_] == [row.formula for row in other.components_]
    assert one.record_ == other.record_


def test_classes_do_not_depend_on_it(table):
    frame, y = table
    one = farrier.Classifier().fit(frame, y > 0.0)
    other = farrier.Classifier().fit(frame.iloc[:, ORDER], y > 0.0)
    assert_allclose(one.predict_proba(frame), other.predict_proba(frame.iloc[:, ORDER]), rtol=1e-9)


def test_the_kernels_of_a_model_act_on_the_columns_of_the_user():
    generator = np.random.default_rng(5)
    X = generator.standard_normal((100, 4))
    model = farrier.Regressor().fit(X, X[:, 3] + 0.1 * generator.standard_normal(100))
    assert [kernel.formula() for kernel in model.pool_] == ["Lin[3]"]
    assert [row.kernel.endswith("dims=(3,))") for row in model.components_] == [True]
    again = farrier.Regressor(kernels=model.pool_).fit(X, X[:, 3])
    assert [row.formula for row in again.components_] == ["Lin[x3]"]


def test_the_order_follows_the_columns():
    generator = np.random.default_rng(6)
    X = generator.standard_normal((200, 3))
    X, y = np.column_stack([X, X[:, 0] ** 2, X[:, 0]]), X @ [0.1, -3.0, 1.0]
    assert column_order(X[:, :3], y) == (1, 2, 0)
    expected = X[:, list(column_order(X, y))]
    for order in permutations(range(5)):
        turned = X[:, order]
        np.testing.assert_array_equal(turned[:, list(column_order(turned, y))], expected)
    assert reordered((0, 3), (2, 3, 1, 0)) == (1, 3)
