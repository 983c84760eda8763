"""A saved model predicts and explains as before; other files are refused in one line."""

import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import farrier
from farrier.estimators.files import FORMAT, HEADER, MODEL
from farrier.kernels.base import CentredPeriodic, Linear

X = 2000.0 + (np.arange(60)[:, None] + 0.5) / 12.0


@pytest.fixture(scope="module")
def model():
    y = 3.0 * (X[:, 0] - 2000.0) + 6.0 * np.sin(2 * np.pi * X[:, 0]) + np.random.default_rng(0).normal(size=60)
    told = []
    model = farrier.Regressor([CentredPeriodic(1.0, 1.0), Linear(2002.5)], iterations=40, progress=told.append)
    return model.fit(X, y).describe(title="Mine", target_name="sales")


def test_a_loaded_model_is_the_same(model, tmp_path):
    path = model.save(tmp_path / "sales.farrier")
    loaded = farrier.load(path)
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert str(loaded.explain()) == str(model.explain())
    assert loaded.explain().to_dict()["title"] == "Mine"
    assert loaded.progress is None
    assert model.progress is not None
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_says_what_it_is(model, tmp_path):
    with zipfile.ZipFile(model.save(tmp_path / "sales.farrier")) as file:
        header = json.loads(file.read(HEADER))
    assert header == {"format": FORMAT, "farrier": farrier.__version__, "model": "Regressor"}


def test_factors_are_not_saved(model, tmp_path):
    before = model.save(tmp_path / "before.farrier").stat().st_size
    model.predict(X)
    assert model.save(tmp_path / "after.farrier").stat().st_size == pytest.approx(before, rel=0.01)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (None, "is no model that Farrier saved"),
        ({}, "is no model that Farrier saved"),
        ({HEADER: "[]", MODEL: ""}, "is no model that Farrier saved"),
        ({HEADER: '{"format": 99, "farrier": "9.0"}', MODEL: ""}, r"saved by Farrier 9\.0.*upgrade Farrier"),
        ({HEADER: '{"format": 1, "farrier": "0.0"}', MODEL: "nonsense"}, r"saved by Farrier 0\.0 and cannot be read"),
    ],
)
def test_other_files_are_refused(tmp_path, members, message):
    path = tmp_path / "other.farrier"
    if members is None:
        path.write_text("month,passengers\n")
    else:
        with zipfile.ZipFile(path, "w") as file:
            for name, text in members.items():
                file.writestr(name, text)
    with pytest.raises(ValueError, match=message):
        farrier.load(path)


def test_places_that_are_not_there_are_named(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        farrier.load(tmp_path / "missing.farrier")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.save(tmp_path / "missing" / "sales.farrier")
