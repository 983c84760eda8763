"""The paper's additive classifier weighs the sets of inputs that matter, for the order given or found."""

import numpy as np
import pytest

from farrier.baselines.additive_sets import FreeSetsClassifier, SetsClassifier

fixed = np.random.default_rng(1)
X = fixed.normal(size=(120, 3))
y = (np.sin(2.0 * X[:, 1]) > 0.0).astype(float)
TINY = {"points": 12, "iterations": 100, "batch_size": 64}


@pytest.mark.parametrize("kind", [SetsClassifier, FreeSetsClassifier])
def test_the_set_that_matters_has_the_largest_weight(kind):
    model = kind(order=1, **TINY).fit(X, y)
    p, sd = model.predict(X)
    assert model.sets_ == [(0,), (1,), (2,)]
    assert int(np.argmax(model.weights_)) == 1
    assert np.mean((p > 0.5) == y) > 0.9
    assert np.allclose(sd**2, p * (1.0 - p))


def test_the_order_is_that_of_additive_processes_if_none_is_given(monkeypatch):
    class Found:
        order_ = 2

    monkeypatch.setattr("farrier.baselines.additive_sets.AdditiveClassifier.fit", lambda self, X, y: Found())
    model = SetsClassifier(points=6, iterations=50).fit(X, y)
    assert model.sets_ == [(0, 1), (0, 2), (1, 2)]


def test_other_labels_are_refused():
    with pytest.raises(ValueError, match="encode the two classes"):
        SetsClassifier(order=1).fit(X, 2.0 * y)
