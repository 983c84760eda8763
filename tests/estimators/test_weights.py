"""Laws of `sample_weight`: precise rows count more, only ratios count, and what it does not suit is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from farrier import Constant, Forecaster, Linear, Regressor

RNG = np.random.default_rng(0)
X = np.linspace(0.0, 10.0, 40)[:, None]
ROUGH = np.arange(40) % 2 == 1
Y = 3.0 * X[:, 0] + np.where(ROUGH, 8.0, 0.3) * RNG.standard_normal(40)
WEIGHTS = np.where(ROUGH, 0.3**2 / 8.0**2, 1.0)
LINE = {"kernels": ["Lin"], "scale": "identity"}
SETTINGS = {
    "given kernels": LINE,
    "pool": {"scale": "identity"},
    "given kernels, collapsed": LINE | {"method": "collapsed"},
    "pool, collapsed": {"scale": "identity", "method": "collapsed"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_rows_of_large_weight_are_followed_and_others_are_not(settings):
    inside = np.linspace(0.5, 9.5, 10)[:, None]
    errors = []
    for weights in (None, WEIGHTS):
        model = Regressor(**settings).fit(X, Y, sample_weight=weights)
        errors.append(np.sqrt(np.mean((model.predict(inside) - 3.0 * inside[:, 0]) ** 2)))
    assert errors[1] < 0.5
    assert errors[1] < 0.5 * errors[0]


def test_only_ratios_count_and_equal_weights_change_nothing():
    plain = Regressor(**LINE).fit(X, Y).predict(X)
    assert_allclose(Regressor(**LINE).fit(X, Y, np.full(40, 7.0)).predict(X), plain, rtol=1e-12)
    one, other = (Regressor(**LINE).fit(X, Y, scale * WEIGHTS).predict(X, return_std=True) for scale in (1.0, 50.0))
    assert_allclose(one, other, rtol=1e-4)


def test_collapsed_inference_agrees_with_exact_inference():
    kernels = [Linear(0.0, dims=(0,)), Linear(0.0, dims=(1,)), Constant()]
    table = np.column_stack([X[:, 0], RNG.uniform(size=40)])
    found = [Regressor(kernels, method=method).fit(table, Y, WEIGHTS) for method in ("exact", "collapsed")]
    exact, collapsed = (np.array(model.predict(table, return_std=True)) for model in found)
    assert_allclose(collapsed, exact, rtol=0.02)
    assert abs(found[0].elbo_ - found[1].elbo_) < 0.2


def test_many_rows_of_given_are_weighed():
    rows = np.random.default_rng(1).uniform(size=(1100, 2))
    wrong = rows[:, 0] < 0.5
    y = np.where(wrong, 5.0, rows[:, 1])
    model = Regressor(["Lin", "1"], iterations=20).fit(rows, y, np.where(wrong, 1e-6, 1.0))
    assert model.tier_ == "collapsed"
    assert np.abs(model.predict(rows[~wrong]) - y[~wrong]).max() < 0.05


def test_many_rows_that_weights_do_not_suit_are_refused():
    many = np.random.default_rng(1).uniform(size=(2001, 2))
    for rows in (many, many[:, :1]):
        with pytest.raises(ValueError, match=r"rows are too many for method='auto': .* or method='collapsed'\.$"):
            Regressor().fit(rows, many[:, 0], 1.0 + many[:, 1])


def test_a_table_takes_weights():
    table = np.column_stack([X[:, 0], RNG.uniform(size=40)])
    model = Regressor(scale="identity").fit(table, Y, WEIGHTS)
    assert np.abs(model.predict(table) - 3.0 * X[:, 0]).mean() < 1.0


def test_weights_of_a_series_follow_its_rows():
    days = pd.date_range("2024-01-01", periods=40)
    frame = pd.DataFrame({"day": days, "y": Y, "w": WEIGHTS})
    shuffled = frame.sample(frac=1.0, random_state=1)
    by_name = Forecaster(**LINE).fit(shuffled, sample_weight="w")
    by_array = Forecaster(**LINE).fit(days, Y, sample_weight=WEIGHTS)
    assert_allclose(by_name.predict(3), by_array.predict(3), rtol=1e-9)
    assert abs(by_array.predict(1)[0] - 3.0 * 40 * 10.0 / 39) < 1.0
    with pytest.raises(ValueError, match=r"refit: this model was fitted with sample_weight: fit all rows again"):
        by_array.update(pd.DatetimeIndex(["2024-03-01"]), [30.0])
    assert "sample_weight=sample_weight" in by_array.result_.recipe.code


@pytest.mark.parametrize(
    ("settings", "weights", "why"),
    [
        (LINE, np.ones(3), r"sample_weight has shape \(3,\), and there are 40 rows"),
        (LINE, np.r_[0.0, np.ones(39)], r"sample_weight: row 0 has 0: give numbers above zero"),
        (LINE | {"likelihood": "student-t"}, WEIGHTS, r"sample_weight needs likelihood='gaussian'"),
        (LINE | {"method": "stochastic"}, WEIGHTS, r"sample_weight needs method='collapsed', got 'stochastic'"),
    ],
)
def test_what_weights_cannot_be_is_refused(settings, weights, why):
    with pytest.raises(ValueError, match=why):
        Regressor(**settings).fit(X, Y, sample_weight=weights)
