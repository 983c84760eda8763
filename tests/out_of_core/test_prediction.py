"""Predictions in blocks are those of the model."""

import numpy as np
import pytest

from farrier import Regressor
from farrier.out_of_core import predict
from farrier.out_of_core.sources import open_rows
from tests.out_of_core.rows import X, Y


@pytest.fixture(scope="module")
def model():
    return Regressor(kernels=["SE"], iterations=5).fit(X[:60], Y[:60])


def test_blocks_together_are_the_prediction_of_all_rows(model):
    found = list(predict(model, open_rows(X, rows=40)))
    assert [len(one["mean"]) for one in found] == [37, 38, 37, 38]
    mean, std = model.predict(X, return_std=True)
    low, high = model.predict_quantiles(X, (0.025, 0.975)).T
    for name, expected in (("mean", mean), ("std", std), ("low_95", low), ("high_95", high)):
        np.testing.assert_allclose(np.concatenate([one[name] for one in found]), expected, rtol=1e-10, atol=1e-10)


def test_other_columns_than_those_of_the_fit_are_refused(model):
    with pytest.raises(ValueError, match=r"^data: 1 columns, and the model has 2"):
        predict(model, X[:, :1])
