"""A refit keeps structure and scales, fits the rows it is given, and says when it cannot."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import farrier
from farrier.kernels.registry import Linear, SquaredExponential
from farrier.model.fit import fit
from farrier.model.problem import Problem

RNG = np.random.default_rng(1)
X = np.arange(50.0)[:, None]
Y = 30.0 + 0.5 * X[:, 0] + 3.0 * np.sin(X[:, 0] / 4.0) + 0.3 * RNG.normal(size=50)
KERNELS = [Linear(20.0), SquaredExponential(6.0)]


@pytest.fixture(scope="module")
def model():
    return farrier.Regressor(KERNELS, iterations=100).fit(X[:40], Y[:40])


def test_scales_and_structure_stay_and_the_old_model_is_untouched(model):
    before = model.predict(X)
    again = model.refit(X, Y)
    assert again is not model
    assert_array_equal(model.predict(X), before)
    assert again.result_.scale is model.result_.scale
    assert (again.result_.fitted.scale.mean, again.result_.fitted.scale.sd) == (
        model.result_.fitted.scale.mean,
        model.result_.fitted.scale.sd,
    )
    assert [kernel.formula() for kernel in again.pool_] == [kernel.formula() for kernel in model.pool_]
    assert_allclose(again.result_.rows, X, atol=1e-9)


def test_rows_that_are_new_are_learnt(model):
    higher = Y + 6.0 * (X[:, 0] >= 40.0)
    apart = np.abs(model.refit(X, higher).predict(X[40:]) - higher[40:]).mean()
    assert apart < 1.0 < 5.0 < np.abs(model.predict(X[40:]) - higher[40:]).mean()


def test_a_refit_to_the_same_rows_changes_little_and_loses_no_evidence(model):
    again = model.refit(X[:40], Y[:40])
    assert again.elbo_ > model.elbo_ - 0.1
    assert_allclose(again.predict(X[:40]), model.predict(X[:40]), atol=0.2)


def test_progress_is_reported_and_the_description_of_old_rows_is_dropped(model):
    said = []
    again = model.describe(title="Old").refit(X, Y, progress=said.append)
    assert said[0].phase == "refitting the structure"
    assert again.context_.title == ""
    assert model.context_.title == "Old"


def test_values_that_do_not_fit_are_refused(model):
    with pytest.raises(ValueError, match="y has 3 values and X has 50 rows"):
        model.refit(X, Y[:3])
    with pytest.raises(ValueError, match="y contains NaN at row 1"):
        model.refit(X[:2], [1.0, np.nan])


def test_the_stochastic_tier_says_what_to_do(model):
    result = model.result_
    with pytest.raises(ValueError, match="fit all rows again"):
        fit(Problem(result.inputs, result.target), replace(result.fitted, tier="stochastic"))


def test_classes_are_refitted_through_their_sites():
    x = RNG.uniform(-2.0, 2.0, (60, 1))
    labels = (x[:, 0] + 0.3 * RNG.normal(size=60) > 0.0).astype(int)
    result = farrier.Classifier().fit(x[:40], labels[:40]).result_
    again = fit(Problem(result.at(x), labels.astype(float)), result.fitted)
    chance, _ = again.observed(result.at(x))
    assert np.mean((chance.mean(axis=0) > 0.5) == labels) > 0.85
    assert len(again.explaining.kernels) == len(result.fitted.explaining.kernels)
