"""The estimators keep scikit-learn's contract, give back the user's units, and refuse bad input in one line."""

import jax
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

import farrier
from farrier import Classifier, Linear, Matern32, Periodic, Regressor, SquaredExponential

TINY = {"kernels": ["SE", "Lin"], "inducing": 6, "iterations": 100, "learning_rate": 0.1}


SMALLEST = {"kernels": ["SE"], "inducing": 5, "iterations": 100, "learning_rate": 0.1}


REPEATED = "a weight is a factor of the noise variance, whose size is fitted: a row of weight 2 is not two rows"
NOT_KEPT = {
    "check_sample_weight_equivalence_on_dense_data": REPEATED,
    "check_sample_weights_invariance": REPEATED,
}


@parametrize_with_checks(
    [Regressor(**SMALLEST), Classifier(**SMALLEST)], expected_failed_checks=lambda estimator: NOT_KEPT
)
def test_scikit_learn_contract(estimator, check, monkeypatch):
    # the contract is the same on 90 rows of three classes as on 300
    monkeypatch.setattr("sklearn.utils.estimator_checks.make_blobs", fewer_blobs)
    check(estimator)


def fewer_blobs(n_samples=100, **settings):
    return make_blobs(n_samples=min(n_samples, 90) if isinstance(n_samples, int) else n_samples, **settings)


@pytest.fixture(scope="module", autouse=True)
def _optax_promotes_dtypes():
    # Adam's bias correction raises a float to an integer power, which strict promotion refuses
    with jax.numpy_dtype_promotion("standard"):
        yield


@pytest.fixture(scope="module")
def series():
    generator = np.random.default_rng(0)
    time = np.linspace(2000.0, 2010.0, 60)
    return time[:, None], 50.0 + 5.0 * (time - 2005.0) + 20.0 * np.sin(2 * np.pi * time / 2.5) + generator.normal(
        size=60
    )


@pytest.fixture(scope="module", params=["exact", "stochastic"])
def model(series, request):
    settings = {"kernels": ["Lin", "Per", "SE"], "inducing": 20, "iterations": 800, "learning_rate": 0.03}
    return Regressor(method=request.param, **settings).fit(*series)


def test_fit_explains_the_series_and_predicts_it(model, series):
    X, y = series
    assert model.score(X, y) > 0.98
    assert {row.formula for row in model.components_[:2]} == {"Lin", "Per"}


def test_periods_come_back_in_the_units_of_x(model):
    period = next(row.period for row in model.components_ if row.formula == "Per")
    assert abs(float(period) - 2.5) < 0.1


def test_two_predictions_are_the_same_numbers(model, series):
    first, second = (model.predict(series[0], return_std=True) for _ in range(2))
    assert_array_equal(first[0], second[0])
    assert_array_equal(first[1], second[1])


def test_the_parts_add_up_to_the_prediction(model, series):
    X = series[0][:50] + 3.0
    assert_allclose(model.decompose(X).total(), model.predict(X), rtol=1e-10)


def test_standard_deviation_is_the_root_of_the_covariance_diagonal(model, series):
    X = series[0][:7] + 4.0
    mean, std = model.predict(X, return_std=True)
    joint_mean, covariance = model.predict(X, return_cov=True)
    assert_allclose(joint_mean, mean, rtol=1e-10)
    assert_allclose(np.sqrt(np.diag(covariance)), std, rtol=1e-8)


def test_uncertainty_grows_away_from_the_data(model):
    _, std = model.predict([[2009.0], [2030.0]], return_std=True)
    assert std[1] > std[0]


def test_log_density_integrates_to_one(model):
    grid = np.linspace(-400.0, 600.0, 4001)
    X = np.full((4001, 1), 2011.3)
    assert_allclose(np.trapezoid(np.exp(model.log_density(X, grid)), grid), 1.0, rtol=1e-4)


def test_units_of_x_and_y_do_not_matter(series):
    X, y = series
    settings = {"kernels": ["Lin", "SE"], "inducing": 10, "iterations": 150}
    plain = Regressor(**settings).fit(X, y)
    other = Regressor(**settings).fit(12.0 * X + 7.0, 1000.0 * y - 3.0)
    assert_allclose(other.predict(12.0 * X + 7.0), 1000.0 * plain.predict(X) - 3.0, rtol=1e-4)
    # log p(1000 y) = log p(y) - N log 1000
    assert_allclose(other.elbo_, plain.elbo_ - 60 * np.log(1000.0), rtol=1e-4)
    assert_allclose(other.components_[0].sd, 1000.0 * plain.components_[0].sd, rtol=1e-4)


def test_own_kernels_are_in_the_units_of_x(series):
    X, y = series
    # the kinds of kernels and the number of points of `model`, whose compiled program they share
    kernels = [Linear(2005.0), Periodic(2.5, 1.0), SquaredExponential(4.0)]
    model = Regressor(kernels=kernels, inducing=20, iterations=1, learning_rate=1e-9, method="stochastic").fit(X, y)
    assert_allclose(float(model.pool_[0].location), 2005.0, rtol=1e-9)
    assert_allclose(float(model.pool_[1].period), 2.5, rtol=1e-6)
    assert_allclose(float(model.pool_[2].lengthscale), 4.0, rtol=1e-6)


def test_same_seed_same_model_other_seed_other(series):
    X, y = series
    first, second, other = (
        Regressor(**TINY, random_state=seed, method="stochastic").fit(X, y).predict(X) for seed in (3, 3, 4)
    )
    assert_array_equal(first, second)
    assert np.any(first != other)


def test_pandas_and_polars_give_the_same_as_numpy(series):
    X, y = series
    numbers = Regressor(**TINY).fit(X, y)
    for frame in (pd.DataFrame({"year": X[:, 0]}), pl.DataFrame({"year": X[:, 0]})):
        model = Regressor(**TINY).fit(frame, y)
        assert_allclose(model.predict(frame), numbers.predict(X), rtol=1e-12)
        parts = model.decompose(frame).to_frame(like=frame)
        assert type(parts) is type(frame)
        assert parts.columns[0] == "level"
        assert type(model.components_.to_frame(like=frame)) is type(frame)


def test_named_inputs_are_found_by_dims():
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(generator.normal(size=(50, 3)), columns=["age", "height", "noise"])
    kernels = [SquaredExponential(1.0, dims="age"), Linear(0.0, dims="height")]
    model = Regressor(kernels=kernels, inducing=10, iterations=300, learning_rate=0.05)
    model.fit(frame, np.sin(frame["age"]) + 2.0 * frame["height"])
    assert [row.formula for row in model.components_] == ["Lin[height]", "SE[age]"]


def test_student_t_bears_an_outlier(series):
    X, y = series
    spoilt = y.copy()
    spoilt[30] += 500.0
    settings = {"kernels": ["Lin", "Per"], "inducing": 15, "iterations": 600, "learning_rate": 0.03}
    errors = {
        noise: np.abs(Regressor(likelihood=noise, **settings).fit(X, spoilt).predict(X) - y).mean()
        for noise in ("gaussian", "student-t")
    }
    assert errors["student-t"] < errors["gaussian"]


def test_classifier_learns_and_keeps_the_labels():
    generator = np.random.default_rng(2)
    X = generator.normal(size=(80, 2))
    labels = np.where(X[:, 0] > 0, "yes", "no")
    model = Classifier(kernels=["SE", "Lin"], inducing=15, iterations=400, learning_rate=0.05).fit(X, labels)
    assert model.score(X, labels) > 0.9
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert set(model.predict(X)) == {"no", "yes"}


def test_fit_leaves_jax_as_it_was(series):
    before = jax.config.jax_enable_x64
    with jax.enable_x64(False):
        Regressor(**TINY).fit(*series).predict(series[0])
        assert not jax.config.jax_enable_x64
    assert jax.config.jax_enable_x64 == before


def test_progress_is_told(series):
    seen = []
    Regressor(**TINY, method="stochastic", progress=seen.append).fit(*series)
    assert seen[0].phase == "compiling"
    assert seen[-1].step == seen[-1].steps == 100


def test_exact_is_the_default_for_few_rows_of_gaussian_noise(series):
    automatic, exact = (Regressor(**TINY, method=method).fit(*series) for method in ("auto", "exact"))
    assert automatic.elbo_ == exact.elbo_


def test_the_exact_bound_is_above_the_stochastic_one_for_the_same_kernels(series):
    sparse = Regressor(**TINY, method="stochastic").fit(*series)
    exact = Regressor(kernels=sparse.pool_, method="exact").fit(*series)
    assert exact.elbo_ > sparse.elbo_


@pytest.mark.parametrize("method", ["exact", "stochastic"])
def test_predictions_on_another_scale_come_back_in_the_units_of_y(series, method):
    X, _ = series
    y = np.exp(3.0 + 0.2 * (X[:, 0] - 2005.0))
    model = Regressor(**TINY, scale="log", method=method).fit(X, y)
    assert model.transform_ == "log"
    assert model.score(X, y) > 0.9


def test_every_product_of_kernels_can_be_integrated_out():
    X = np.random.default_rng(0).standard_normal((30, 2))
    two_inputs = SquaredExponential(1.0) * Periodic(np.ones(2)) * Matern32(2.0)
    model = Regressor(kernels=[two_inputs]).fit(X, X[:, 0])
    assert model.tier_ == "exact"
    assert model.score(X, X[:, 0]) > 0.9


def test_table_sums_up_what_is_negligible(model):
    text = str(model.components_)
    assert text.splitlines()[0].startswith("component")
    assert len(text.splitlines()) == 2 + len(model.components_.large()) + (len(model.components_.large()) < 3)


X_GOOD, Y_GOOD = np.arange(12.0)[:, None], np.sin(np.arange(12.0))


@pytest.mark.parametrize(
    ("estimator", "X", "y", "message"),
    [
        (Regressor(), np.where(X_GOOD == 3, np.nan, X_GOOD), Y_GOOD, r"X contains NaN at row 3, column 0"),
        (Regressor(), X_GOOD, np.where(Y_GOOD > 0.9, np.inf, Y_GOOD), r"y contains inf at row 2"),
        (Regressor(), pd.DataFrame({"a": [1.0, None, 3.0]}), [1.0, 2.0, 3.0], r"column 'a' contains NaN at row 1"),
        (Regressor(), pd.DataFrame({"a": ["u"] * 12}), Y_GOOD, r"no column can explain anything \('a': the same"),
        (Regressor(), np.array([["u"]] * 12), Y_GOOD, r"no column can explain anything \('x0': the same"),
        (Regressor(), np.zeros((0, 1)), np.zeros(0), r"0 sample"),
        (Regressor(), [[1.0]], [1.0], r"1 sample"),
        (Regressor(), np.c_[X_GOOD, np.ones(12)], Y_GOOD, r"column 'x1' is constant \(1 in every row\)"),
        (Regressor(), X_GOOD, np.full(12, 5.0), r"y is constant \(5 in every row\)"),
        (Regressor(), X_GOOD, Y_GOOD[:5], r"inconsistent numbers of samples: \[12, 5\]"),
        (Regressor(inducing=13), X_GOOD, Y_GOOD, r"inducing=13 is more than the 12 rows"),
        (Regressor(inducing=0), X_GOOD, Y_GOOD, r"'inducing' parameter of Regressor must be"),
        (Regressor(prior="lasso"), X_GOOD, Y_GOOD, r"'prior' parameter of Regressor must be a str among"),
        (Regressor(kernels=["SE * Pre"]), X_GOOD, Y_GOOD, r"'Pre' in 'SE \* Pre' is not a kernel"),
        (Regressor(kernels=[3]), X_GOOD, Y_GOOD, r"kernels must hold kernels or formulas"),
        (Regressor(kernels=[]), X_GOOD, Y_GOOD, r"at least one kernel"),
        (Regressor(kernels=[Linear(0.0, dims="b")]), X_GOOD, Y_GOOD, r"no input is named 'b'"),
        (
            Regressor(method="exact", likelihood="student-t"),
            X_GOOD,
            Y_GOOD,
            r"method='exact' needs likelihood='gaussian'",
        ),
        (Classifier(), X_GOOD, np.ones(12, int), r"one class only"),
    ],
)
def test_bad_input_is_refused_before_any_work(estimator, X, y, message):
    told = []
    estimator = clone(estimator).set_params(progress=told.append)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)
    assert not told


def test_predicting_both_std_and_cov_is_refused(model):
    with pytest.raises(ValueError, match="return_std and return_cov"):
        model.predict([[2001.0]], return_std=True, return_cov=True)


def test_public_names_are_there():
    for name in farrier.__all__:
        assert getattr(farrier, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = farrier.Nothing
