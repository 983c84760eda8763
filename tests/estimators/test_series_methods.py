"""Predictions, scores, paths, anomalies, changepoints and digests agree with the forecast and with known truth."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from farrier import Forecaster


@pytest.fixture(scope="module")
def daily() -> pd.Series:
    """63 days whose level rises by 10 from 1 February on."""
    index = pd.date_range("2024-01-01", periods=63)
    y = 50.0 + 10.0 * (index >= "2024-02-01")
    return pd.Series(y + np.random.default_rng(0).standard_normal(63), index, name="sales")


@pytest.fixture(scope="module")
def fitted(daily) -> Forecaster:
    return Forecaster(scale="identity", likelihood="gaussian").fit(daily)


def test_predictions_are_the_means_of_the_forecast(fitted):
    assert_allclose(fitted.predict(7), fitted.forecast(7)["mean"])


def test_a_score_is_one_for_a_perfect_prediction_and_low_for_another(fitted):
    times = pd.date_range("2024-03-04", periods=14)
    mean = fitted.predict(times)
    assert fitted.score(pd.Series(mean, times)) == pytest.approx(1.0)
    assert fitted.score(times, mean[::-1] + 30.0) < 0.0


def test_paths_have_the_distribution_of_the_forecast_at_each_step(fitted):
    paths = fitted.sample(5, count=4000).to_numpy()
    ahead = fitted.forecast(5, levels=(80,))
    assert paths.shape == (5, 4000)
    assert_allclose(np.quantile(paths, 0.5, axis=1), ahead["median"], atol=0.2)
    assert_allclose(np.quantile(paths, 0.9, axis=1), ahead["high_80"], atol=0.2)
    again = fitted.sample(5, count=4000).to_numpy()
    assert_allclose(paths, again)


def test_steps_of_a_path_of_a_random_walk_depend_on_each_other():
    y = np.random.default_rng(1).standard_normal(80).cumsum()
    paths = Forecaster().fit(np.arange(80.0), y).sample(10, count=500)
    last = np.array([[paths[f"path_{i}"][k] for i in range(1, 501)] for k in (8, 9)])
    assert np.corrcoef(last)[0, 1] > 0.7


def test_new_values_far_from_the_forecast_are_anomalies(fitted):
    times = pd.date_range("2024-03-04", periods=14)
    values = fitted.predict(times)
    values[4] += 15.0
    found = fitted.anomalies(pd.Series(values, times))
    assert list(found.index) == [times[4]]
    assert found["high"].iloc[0] < values[4] == found["value"].iloc[0]
    assert len(fitted.anomalies(level=50.0)) > len(fitted.anomalies(level=99.9))
    with pytest.raises(ValueError, match=r"level: 0\.0 is not a percentage"):
        fitted.anomalies(level=0.0)


@pytest.mark.parametrize("settings", [{}, {"kernels": ["Mat12"], "likelihood": "gaussian"}])
def test_every_outlier_is_an_anomaly_of_the_rows_of_the_fit(settings):
    """A curve that follows every row makes no row of the fit unexpected, but the other rows do."""
    index = pd.date_range("2024-01-01", periods=80)
    y = 50.0 + 5.0 * np.sin(np.arange(80) / 8.0) + 0.3 * np.random.default_rng(1).standard_normal(80)
    y[[20, 60]] += [9.0, -8.0]
    model = Forecaster(**settings).fit(pd.Series(y, index))
    outliers, anomalies = model.outliers(), model.anomalies()
    assert {index[20], index[60]} == set(outliers.index) <= set(anomalies.index)
    assert len(anomalies) <= 6
    same = anomalies.loc[outliers.index]
    assert_allclose(same["expected"], outliers["expected"])
    assert ((same["value"] < same["low"]) | (same["value"] > same["high"])).all()
    four = 100.0 * (1.0 - 2.0 * norm.sf(4.0))
    assert list(model.anomalies(level=four).index) == sorted(outliers.index)


def test_changepoints_are_dated(fitted):
    found = fitted.changepoints_
    assert abs(found.index[0] - pd.Timestamp("2024-02-01")) <= pd.Timedelta(days=1)
    assert found["low"].iloc[0] <= pd.Timestamp("2024-02-01") <= found["high"].iloc[0]
    assert found["change"].iloc[0] == pytest.approx(10.0, abs=1.0)
    assert "of the level" in found["component"].iloc[0]


def test_the_name_of_the_values_is_used(daily):
    model = Forecaster().fit(daily.index[:40], daily.iloc[:40])
    assert model.model_.context_.target_name == "sales"


def test_many_series_are_digested_by_structure():
    x = np.arange(40)
    rows = [
        {"unique_id": name, "ds": day, "y": value}
        for name in "abc"
        for day, value in zip(pd.date_range("2024-01-01", periods=40), x + np.sin(x), strict=True)
    ]
    found = Forecaster().fit(pd.DataFrame(rows)).digest()
    assert found["series"].sum() == 3
    assert found["example"].iloc[0] == "a"


def test_notebooks_show_words_and_tables(fitted):
    assert "<p>" in fitted._repr_mimebundle_()["text/html"]
    assert "<table>" in fitted.components_._repr_html_()
    assert "<p>" in fitted.explain()._repr_html_()
    assert set(Forecaster()._repr_mimebundle_()) == {"text/plain"}
    assert "formula" in fitted.components_.to_frame()
    assert len(fitted.decompose().to_frame()) == 63
