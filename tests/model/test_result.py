"""A result holds everything that was fitted, in the user's units, and does not change."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import farrier
from farrier.kernels.registry import Linear, Periodic, SquaredExponential
from farrier.model.result import Recipe

RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.uniform(20.0, 70.0, 40), "dose": RNG.uniform(0.0, 3.0, 40)})
Y = np.exp(1.0 + 0.5 * X["dose"].to_numpy() + 0.05 * RNG.normal(size=40))
KERNELS = [Linear(1.5, dims="dose"), SquaredExponential(15.0, dims="age")]


@pytest.fixture(scope="module")
def model():
    return farrier.Regressor(KERNELS, scale="log", iterations=30, random_state=3).fit(X, Y)


def test_rows_target_and_names_are_the_users(model):
    result = model.result_
    assert_allclose(result.rows, X.to_numpy(), rtol=1e-12)
    assert_array_equal(result.target, Y)
    assert result.columns == ("age", "dose")
    assert result.classes is None


def test_the_scale_of_the_model_has_mean_zero_and_variance_one(model):
    result = model.result_
    assert_allclose(result.inputs.mean(axis=0), 0.0, atol=1e-12)
    assert_allclose(result.inputs.std(axis=0), 1.0)
    assert_allclose([result.scaled_target.mean(), result.scaled_target.std()], [0.0, 1.0], atol=1e-12)
    assert_allclose(result.at(result.rows), result.inputs, atol=1e-12)


def test_fitted_attributes_are_those_of_the_result(model):
    fitted = model.result_.fitted
    assert (model.tier_, model.transform_, model.elbo_) == (fitted.tier, "log", fitted.bound)
    assert (model.n_iter_, model.record_, model.seconds_) == (fitted.steps, fitted.record, model.result_.seconds)
    assert [kernel.formula(["age", "dose"]) for kernel in model.pool_] == ["Lin[dose]", "SE[age]"]
    assert_allclose(model.predict(X), fitted.moments(model.result_.inputs)[0], rtol=1e-12)


def test_the_users_array_may_change_after_the_fit():
    x, y = np.arange(12.0)[:, None], np.sin(np.arange(12.0))
    model = farrier.Regressor(["SE"], iterations=5).fit(x, y)
    before = y.copy()
    y[:] = 0.0
    assert_array_equal(model.result_.target, before)


def test_a_result_cannot_be_changed(model):
    with pytest.raises(FrozenInstanceError):
        model.result_.seconds = 0.0


def test_an_estimator_can_hold_another_result(model):
    other = replace(model.result_, columns=("a", "b"))
    held = farrier.Regressor().hold(other)
    assert_array_equal(held.result_.fitted.moments(other.inputs)[0], model.predict(X))
    assert {row.formula for row in held.components_} == {"Lin[b]", "SE[a]"}


def test_describe_names_what_explanations_speak_of():
    model = farrier.Regressor(KERNELS, iterations=20).fit(X, Y)
    assert model.describe(title="Trial", target_name="response", columns=["years", "grams"]) is model
    assert {row.formula for row in model.components_} == {"Lin[grams]", "SE[years]"}
    told = model.explain().to_dict()
    assert (told["title"], told["target"]["name"]) == ("Trial", "response")
    assert [axis["name"] for axis in told["axes"]] == ["years", "grams"]
    # other rows are not described by that
    model.fit(X[:20], Y[:20])
    assert model.explain().to_dict()["title"] == ""
    assert model.result_.columns == ("age", "dose")


@pytest.mark.parametrize(
    ("said", "message"), [({"labels": ["a"]}, "labels: 1 names for 40"), ({"columns": ["a"]}, "columns: 1 names for 2")]
)
def test_describe_refuses_names_that_do_not_match(model, said, message):
    with pytest.raises(ValueError, match=message):
        model.describe(**said)


def test_classes_are_named_by_their_labels():
    x = np.linspace(-1.0, 1.0, 20)[:, None]
    model = farrier.Classifier().fit(x, np.where(x[:, 0] > 0.1, 7, 3))
    assert model.result_.classes == ("3", "7")
    assert set(model.result_.target) == {0.0, 1.0}
    assert_array_equal(model.result_.scaled_target, model.result_.target)


def test_a_recipe_shows_what_differs_from_the_defaults():
    kernel = Periodic(1.0, 2.0)
    settings = {"kernels": [kernel], "random_state": np.int64(4), "iterations": 9, "progress": print}
    defaults = {"kernels": "auto", "random_state": 0, "iterations": 9, "progress": None}
    recipe = Recipe.of("Regressor", settings, defaults, "fit(X, y)")
    assert recipe.settings == {"kernels": [str(kernel)], "random_state": 4, "iterations": 9}
    assert recipe.seed == 4
    assert recipe.code == f"farrier.Regressor(kernels={[str(kernel)]!r}, random_state=4).fit(X, y)"


def test_a_generator_is_no_seed():
    recipe = Recipe.of("Regressor", {"random_state": np.random.RandomState(0)}, {}, "fit(X, y)")
    assert recipe.seed is None
