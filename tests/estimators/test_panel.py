"""Many series in the long format: each as if it were alone, in the order and kind that came, none lost by another."""

import jax
import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose

from farrier import Forecaster
from farrier.estimators import panel
from tests.estimators.deadly import deadly

FAST = {"kernels": ["Lin", "SE"], "iterations": 15}
COMPILED = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **_: COMPILED.append(event) if event.endswith("backend_compile_duration") else None
)


def series(name, count, seed, first="2019-01-31"):
    generator = np.random.default_rng(seed)
    y = 10.0 + 0.2 * (seed % 3) * np.arange(count) + generator.normal(size=count)
    return pd.DataFrame({"unique_id": name, "ds": pd.date_range(first, periods=count, freq="ME"), "y": y})


NORTH, SOUTH, WEST = series("north", 24, 0), series("south", 30, 1), series("west", 26, 2, "2020-02-29")


@pytest.fixture(scope="module")
def fitted():
    # rows of the series between one another
    frame = pd.concat([SOUTH, NORTH, WEST]).sort_values("ds", kind="stable")
    return Forecaster(**FAST).fit(frame)


def test_each_series_is_forecast_as_if_it_were_alone(fitted):
    found = fitted.forecast(3, levels=(80,))
    assert list(found.columns) == ["unique_id", "ds", "mean", "median", "low_80", "high_80"]
    assert found["unique_id"].tolist() == ["south"] * 3 + ["north"] * 3 + ["west"] * 3
    for one in (NORTH, SOUTH, WEST):
        name = one["unique_id"].iloc[0]
        alone = Forecaster(**FAST).fit(one[["ds", "y"]]).forecast(3, levels=(80,))
        ours = found[found["unique_id"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(ours.drop(columns="unique_id"), alone, rtol=1e-10)


def test_one_of_many_is_a_forecaster(fitted):
    assert list(fitted.series_) == ["south", "north", "west"]
    assert_allclose(fitted["north"].forecast(2)["mean"], fitted.forecast(2)["mean"][2:4], rtol=1e-12)
    assert len(fitted["north"].components_) == 2
    with pytest.raises(AttributeError, match=r"choose one of them, such as forecaster\['south'\]"):
        fitted.explain()


def test_polars_and_other_names(fitted):
    both = pd.concat([SOUTH, NORTH])
    frame = pl.DataFrame(
        {"shop": both["unique_id"].to_list(), "when": both["ds"].to_numpy(), "sold": both["y"].to_numpy()}
    )
    found = Forecaster(**FAST).fit(frame, id="shop").forecast(2)
    assert type(found) is pl.DataFrame
    assert found.columns[:2] == ["shop", "when"]
    assert found["when"].dtype == frame["when"].dtype
    assert_allclose(found["mean"].to_numpy(), fitted.forecast(2)["mean"][:4], rtol=1e-10)


def test_a_failing_series_is_named_and_loses_no_other():
    flat = series("flat", 20, 3).assign(y=1.0)
    twice = series("twice", 20, 4)
    twice.loc[7, "ds"] = twice.loc[6, "ds"]
    short = series("short", 3, 5)
    with pytest.warns(UserWarning, match=r"3 of 4 series could not be fitted: see errors_\. 'twice': .* comes twice"):
        forecaster = Forecaster(**FAST).fit(pd.concat([flat, twice, NORTH, short]))
    assert set(forecaster.errors_) == {"flat", "twice", "short"}
    assert "constant" in str(forecaster.errors_["flat"])
    assert set(forecaster.forecast(2)["unique_id"]) == {"north"}
    with pytest.raises(KeyError, match="could not be fitted"):
        forecaster["flat"]
    with pytest.raises(ValueError, match="none of the 1 series could be fitted; 'flat': y is constant"):
        Forecaster(**FAST).fit(flat)


def test_update_takes_more_rows_of_some_and_new_series():
    both = pd.concat([NORTH, SOUTH])
    forecaster = Forecaster(**FAST).fit(both)
    before = forecaster.forecast(1)
    more = series("north", 26, 0).iloc[24:]
    forecaster.update(pd.concat([more, WEST]))
    after = forecaster.forecast(1)
    assert after["unique_id"].tolist() == ["north", "south", "west"]
    assert after["ds"][0] == before["ds"][0] + pd.offsets.MonthEnd(2)
    assert after["mean"][1] == before["mean"][1]
    assert [len(one.result_.target) for one in forecaster.series_.values()] == [26, len(SOUTH), len(WEST)]
    assert "26 rows" in str(forecaster["north"].explain())


def test_regressors_are_taken_from_the_rows_of_each_series():
    generator = np.random.default_rng(6)
    frame = pd.concat([NORTH, SOUTH], ignore_index=True)
    frame["price"] = generator.normal(size=len(frame))
    frame["y"] += 5.0 * frame["price"]
    forecaster = Forecaster(**FAST).fit(frame, regressors=["price"])
    future = pd.DataFrame({"unique_id": ["south", "north"] * 2, "price": [0.0, 0.0, 1.0, 2.0]})
    found = forecaster.forecast(2, future=future)["mean"].to_numpy()
    alone = forecaster["north"].forecast(2, future=future[future["unique_id"] == "north"])
    assert_allclose(found[:2], alone["mean"], rtol=1e-12)
    with pytest.raises(ValueError, match="there is no column 'unique_id' that identifies"):
        forecaster.forecast(2, future=future[["price"]])


def test_several_processes_give_the_same_numbers(fitted):
    told = []
    forecaster = Forecaster(**FAST, n_jobs=2, progress=told.append).fit(pd.concat([SOUTH, NORTH, WEST]))
    assert_allclose(forecaster.forecast(3)["mean"], fitted.forecast(3)["mean"], rtol=1e-8)
    assert [(each.step, each.steps) for each in told] == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_the_backend_that_the_user_has_set_is_used(fitted):
    """Threads share the memory of the process, so that a list gets what they append."""
    seen = []
    with parallel_config("threading", n_jobs=2):
        forecaster = Forecaster(**FAST, progress=seen.append).fit(pd.concat([SOUTH, NORTH, WEST]))
    assert_allclose(forecaster.forecast(3)["mean"], fitted.forecast(3)["mean"], rtol=1e-12)
    assert [each.step for each in seen] == [0, 1, 2, 3]


def test_a_process_that_dies_costs_only_the_series_that_killed_it(monkeypatch):
    monkeypatch.setattr(panel, "_one", deadly)
    monkeypatch.setattr(panel, "AHEAD", 1)  # south is beyond what was handed out when the process died
    frame = pd.concat([NORTH, series("deadly", 20, 3), SOUTH])
    with pytest.warns(UserWarning, match="1 of 3 series could not be fitted"):
        forecaster = Forecaster(**FAST, n_jobs=2).fit(frame)
    assert list(forecaster.errors_) == ["deadly"]
    assert str(forecaster.errors_["deadly"]).startswith("its process ended (TerminatedWorkerError), perhaps because")
    assert list(forecaster.series_) == ["north", "south"]


def test_another_series_of_similar_length_compiles_nothing():
    """Programs depend on the length, rounded, and on the number of candidates, rounded: not on what they are."""
    times = np.datetime64("2015-01", "M") + np.arange(60)
    generator = np.random.default_rng(7)
    noise = generator.normal(size=60)
    season, walk = 3.0 * np.sin(np.arange(60) * np.pi / 6), np.cumsum(generator.normal(size=60))
    first = Forecaster(["Lin", "Per", "SE"], iterations=15).fit(times, season + 0.1 * np.arange(60) + noise)
    first.forecast(12)
    COMPILED.clear()
    second = Forecaster(["SE * Per", "SE", "Lin * Lin", "Mat12"], iterations=15).fit(times[3:], (walk + noise)[3:])
    second.forecast(9)
    assert len(COMPILED) == 0
