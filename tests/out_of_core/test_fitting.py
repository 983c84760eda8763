"""A table in blocks is fitted as one in memory: the number of blocks does not matter, and the function is found."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import farrier
from farrier.data.table_inputs import cells_of
from farrier.out_of_core import fit, predict
from farrier.out_of_core.sources import Source, open_rows
from tests.out_of_core.rows import RNG, X, Y

NEW = RNG.normal(size=(200, 2))
TRUTH = 2.0 * np.sin(1.5 * NEW[:, 0]) + NEW[:, 1]


@pytest.fixture(scope="module")
def fitted():
    return fit(open_rows(X, y=Y, rows=40), scale="identity")


def test_the_function_is_found(fitted):
    mean, std = fitted.predict(NEW, return_std=True)
    inside = np.all(np.abs(NEW) < 2.0, axis=1)
    assert np.sqrt(np.mean((mean - TRUTH)[inside] ** 2)) < 0.1
    assert 0.07 < np.median(std) < 0.2
    assert fitted.tier_ == "collapsed"


def test_blocks_do_not_change_the_model(fitted):
    whole = fit(X, y=Y, scale="identity")
    np.testing.assert_allclose(whole.predict(NEW), fitted.predict(NEW), rtol=1e-5, atol=1e-5)
    assert whole.elbo_ == pytest.approx(fitted.elbo_, abs=1e-3)


def test_the_parts_add_up_to_the_prediction(fitted):
    parts = fitted.decompose(NEW[:20])
    np.testing.assert_allclose(parts.total(), fitted.predict(NEW[:20]), atol=1e-8)


def test_the_rows_that_were_fitted_are_told(fitted):
    assert fitted.result_.sampled_from == len(Y)
    said = fitted.explain().findings.setting.sentence()
    assert said.startswith("150 rows, of which a random sample of 152 is shown")


def test_a_saved_model_predicts_the_same(fitted, tmp_path):
    fitted.save(tmp_path / "model.farrier")
    again = farrier.load(tmp_path / "model.farrier")
    np.testing.assert_array_equal(again.predict(NEW), fitted.predict(NEW))


def test_rows_without_a_target_cannot_be_fitted():
    with pytest.raises(ValueError, match=r"^target: name the column to explain"):
        fit(X)


@dataclass(frozen=True)
class FrameBlock:
    """The rows of a frame as a block."""

    frame: pd.DataFrame
    number: int = 0

    @property
    def count(self):
        return len(self.frame)

    def cells(self):
        return cells_of(self.frame)[0]


def test_the_order_of_columns_does_not_matter():
    frame = pd.DataFrame({"city": np.where(NEW[:80, 0] > 0.0, "a", "b"), "x": X[:80, 0], "z": X[:80, 1]})
    frame["z"] = frame["z"].mask(NEW[:80, 1] > 1.3)
    y, found = Y[:80] + (frame["city"] == "a"), []
    for order in (["city", "z", "x"], ["x", "city", "z"]):
        rows = Source("rows", tuple(order), "y", (FrameBlock(frame[order].assign(y=y)),))
        found.append(next(predict(fit(rows, scale="identity"), rows)))
    assert np.std(found[0]["mean"] - y) < 0.5
    np.testing.assert_array_equal(found[0]["std"], found[1]["std"])
    np.testing.assert_array_equal(found[0]["mean"], found[1]["mean"])
