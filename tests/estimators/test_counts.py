"""Laws of counts, with data whose truth is known: parts, effects as factors, intervals, files, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import farrier
from farrier import Regressor

FACTORS = {"basic": 2.0, "plus": 1.0, "pro": 0.5}


def claims(seed, rows, size=None):
    """Counts of claims: a factor for each plan, a curve of age, nothing of x; Poisson without size."""
    rng = np.random.default_rng(seed)
    plan, age = rng.choice(list(FACTORS), rows), rng.uniform(18.0, 80.0, rows)
    rate = 4.0 * np.array([FACTORS[one] for one in plan]) * np.exp(0.7 * np.sin(age / 10.0))
    y = rng.poisson(rate) if size is None else rng.negative_binomial(size, size / (size + rate))
    return pd.DataFrame({"plan": plan, "age": age, "x": rng.standard_normal(rows)}), y, rate


@pytest.fixture(scope="module", params=["poisson", "negative-binomial"])
def fitted(request):
    size = None if request.param == "poisson" else 3.0
    frame, y, _ = claims(0, 240, size)
    return Regressor(likelihood=request.param).fit(frame, y), size


def test_the_parts_are_those_of_the_truth(fitted):
    model, _ = fitted
    assert {one.formula.partition("[")[2] for one in model.components_} == {"plan]", "age]"}
    assert model.transform_ == "log"


def test_effects_of_levels_are_factors_in_their_intervals(fitted):
    model, _ = fitted
    (facts,) = (one for one in model.explain().findings.facts if one.profile)
    high, low = facts.profile[0], facts.profile[-1]
    assert (high.name, low.name) == ("basic", "pro")
    assert abs(np.log((1.0 + high.value.value) / (1.0 + low.value.value) / 4.0)) < 0.35
    said = " ".join(str(model.explain()).split())
    assert "The effect of plan: basic +" in said
    assert "Counts vary about their expected value" in said


def test_a_single_count_among_zeros_is_fitted():
    y = np.zeros(36)
    y[7] = 3.0
    series = farrier.Forecaster(likelihood="poisson").fit(pd.date_range("2020-01-01", periods=36, freq="MS"), y)
    assert_allclose(series.forecast(3)["mean"], y.mean(), atol=0.05)
    rows = np.arange(36.0)[:, None]
    assert np.all(Regressor(likelihood="poisson").fit(rows, y).predict(rows) < 3.0)


def test_means_and_intervals_hold_for_new_rows(fitted):
    model, size = fitted
    frame, y, rate = claims(1, 1500, size)
    mean, sd = model.predict(frame, return_std=True)
    assert np.mean(np.abs(np.log(mean / rate))) < 0.2
    expected = np.sqrt(rate + (0.0 if size is None else rate**2 / size))
    assert 0.8 < np.median(sd / expected) < 1.25
    low, middle, high = model.predict_quantiles(frame, [0.025, 0.5, 0.975]).T
    assert np.all((low >= 0.0) & (low == np.rint(low)) & (low <= middle) & (middle <= high))
    assert 0.92 < np.mean((low <= y) & (y <= high)) < 0.995


def test_probabilities_add_up_to_one(fitted):
    model, _ = fitted
    frame, _, _ = claims(2, 1)
    total = sum(np.exp(model.log_density(frame, [float(y)]))[0] for y in range(200))
    assert_allclose(total, 1.0, atol=2e-3)


def test_the_parts_add_up_to_the_log_of_the_rate(fitted):
    model, _ = fitted
    frame, _, _ = claims(3, 6)
    assert_allclose(np.exp(model.decompose(frame).total()), model.predict(frame), rtol=0.1)


def test_the_size_is_that_of_the_truth_and_files_keep_it(fitted, tmp_path):
    model, size = fitted
    again = farrier.load(model.save(tmp_path / "claims.farrier"))
    frame, _, _ = claims(4, 5)
    assert_allclose(again.predict(frame), model.predict(frame))
    assert again.likelihood_ == model.likelihood_ == ("poisson" if size is None else "negative-binomial")
    if size is not None:
        assert 1.8 < model.result_.fitted.likelihood.size < 5.0


def test_a_series_of_counts_has_a_report_in_counts(tmp_path):
    rng = np.random.default_rng(5)
    x = np.arange(80.0)
    y = rng.poisson(np.exp(1.0 + np.sin(x / 8.0)))
    model = Regressor(likelihood="poisson").fit(x[:, None], y)
    parts = model.explain().to_dict()["components"]
    assert abs(np.mean(parts[-1]["running"]) - y.mean()) < 1.0
    assert model.report(tmp_path / "counts.html").is_file()


def test_given_take_counts():
    frame, y, _ = claims(6, 60)
    model = Regressor(["SE"], likelihood="negative-binomial").fit(frame[["age", "x"]], y)
    assert np.isfinite(model.predict(frame[["age", "x"]])).all()


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, -1.0, "needs counts 0, 1, 2, ..., got -1 in row 3"),
        ({}, 1.5, "got 1.5 in row 3"),
        ({"scale": "identity"}, 1.0, "likelihood='poisson' needs scale='auto', got 'identity'"),
        ({"method": "stochastic"}, 1.0, "needs method='auto', got 'stochastic'"),
        ({"prior": "none"}, 1.0, "needs prior='horseshoe', got 'none'"),
    ],
)
def test_what_counts_do_not_take_is_refused(settings, y, message):
    values = np.where(np.arange(12) == 3, y, np.arange(12.0))
    with pytest.raises(ValueError, match=message):
        Regressor(likelihood="poisson", **settings).fit(np.arange(12.0)[:, None], values)
