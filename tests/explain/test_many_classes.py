"""Laws of three or more classes: chances add up to one and are calibrated, each class is explained, files keep all."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import farrier
from farrier import Classifier


def rows(seed, n):
    """Three classes whose chances are known: a soft maximum of three lines."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    score = np.column_stack([2.0 * X[:, 0], -2.0 * X[:, 0], 2.0 * X[:, 1]])
    chance = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    draw = (rng.random((n, 1)) > chance.cumsum(axis=1)).sum(axis=1)
    return X, np.array(["cat", "dog", "fox"])[draw], chance


@pytest.fixture(scope="module")
def model():
    X, labels, _ = rows(0, 180)
    return Classifier().fit(X, labels)


def test_chances_add_up_to_one_and_are_near_the_truth(model):
    X, labels, chance = rows(1, 400)
    found = model.predict_proba(X)
    assert_allclose(found.sum(axis=1), 1.0)
    assert np.mean(np.abs(found - chance)) < 0.06
    best = np.mean(np.array(["cat", "dog", "fox"])[chance.argmax(axis=1)] == labels)
    assert model.score(X, labels) > best - 0.04


def test_chances_are_calibrated(model):
    X, labels, _ = rows(2, 2000)
    found = model.predict_proba(X)
    for k, name in enumerate(model.classes_):
        for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
            there = (found[:, k] >= low) & (found[:, k] < high)
            assert abs(np.mean(labels[there] == name) - found[there, k].mean()) < 0.08


def test_each_class_is_explained_against_all_others(model):
    told = model.describe(title="Animals", target_name="animal", columns=["height", "weight"]).explain()
    assert list(told.of_class) == ["cat", "dog", "fox"]
    assert "fox against all others\n----------------------\n" in str(told)
    assert "animal = fox" in str(told)
    assert "weight" in str(told[2])
    assert told.sentence == "180 rows, two inputs, nothing missing."
    assert told.to_markdown().count("# Animals") == 3
    assert list(told.to_dict()["classes"]) == ["cat", "dog", "fox"]


def test_the_report_links_to_a_page_for_each_class(model, tmp_path):
    page = model.report(tmp_path / "animals.html").read_text()
    for name in ("animals-1-cat.html", "animals-2-dog.html", "animals-3-fox.html"):
        assert f'href="{name}"' in page
        assert "<svg" in (tmp_path / name).read_text() or "data-chart" in (tmp_path / name).read_text()


def test_files_keep_all_classes(model, tmp_path):
    again = farrier.load(model.save(tmp_path / "animals.farrier"))
    X = rows(3, 5)[0]
    assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-9)
    assert list(again.predict(X)) == list(model.predict(X))
