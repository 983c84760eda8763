"""The story says what the model found, in the user's units, and its parts add up."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import farrier
from farrier.explain import residual_checks
from farrier.explain.context import Setting, axis_of, labels_of, quarter_of
from farrier.explain.explanation import Explanation
from farrier.explain.findings import findings
from farrier.explain.story import story
from farrier.kernels.registry import CentredPeriodic, Linear, SquaredExponential
from farrier.model.fitted import Fitted
from farrier.search.appraisal import Appraisal
from farrier.search.structure import Decision
from farrier.series.calendar import TimeAxis

RNG = np.random.default_rng(0)
X = 2000.0 + (np.arange(72)[:, None] + 0.5) / 12.0
Y = 50.0 + 3.0 * (X[:, 0] - 2003.0) + 6.0 * np.sin(2 * np.pi * X[:, 0]) + RNG.normal(size=72)


@pytest.fixture(scope="module")
def airline():
    air = farrier.datasets.load("airline")
    model = farrier.Regressor().fit(air.X, air.y)
    axis = TimeAxis.of(list(air.labels), air.time_name)
    return model.describe(
        title="Airline", target_name=air.target_name, target_unit=air.unit, axis=axis, labels=air.labels
    )


@pytest.fixture(scope="module")
def told(airline):
    return story(airline.result_, airline.context_, horizon=24)


@pytest.fixture(scope="module")
def given():
    """The result of kernels that were chosen; a made-up appraisal stands in for the search's."""
    kernels = [CentredPeriodic(1.0, 1.0), Linear(2003.0), SquaredExponential(2.0)]
    result = farrier.Regressor(kernels, iterations=60).fit(X, Y).result_
    fitted, low, high = result.fitted, [], []
    for kernel in fitted.kernels:
        low.append(kernel.rescale(0.999))
        high.append(kernel.rescale(1.001))
    appraisal = Appraisal(tuple(low), tuple(high), (80.0, 90.0, 1.0), (1.0, 0.6, 0.2, 0.2), (1, 0, 2), (0.6, 0.7, 0.1))
    return replace(result, fitted=replace(fitted, appraisal=appraisal))


def test_airline_has_a_trend_and_a_yearly_pattern(told):
    titles = [part["title"].lower() for part in told["components"]]
    assert any("trend" in title or "growth" in title or "rise" in title for title in titles)
    yearly = next(part for part in told["components"] if "yearly pattern" in part["title"].lower())
    assert "12.0 months" in yearly["sentence"]
    assert_allclose(yearly["period"]["value"], 1.0, atol=0.01)
    assert told["data"] == {
        "rows": 144,
        "sentence": "144 rows from January 1949 to December 1960, one a month, no gaps.",
    }


def test_airline_adds_up(told):
    assert told["title"] == "Airline"
    y, parts = np.array(told["series"]["y"]), told["components"]
    scale = told["target"]["scale"]
    for part in parts:
        assert_allclose(np.add(part["running"], part["residual"]), y, rtol=1e-6)
        assert len(part["mean"]) == len(part["x"]) == len(part["label"]) == 144 + 24
    before, after = parts[0], parts[1]
    factor = np.divide(after["running"], before["running"]) if scale == "multiplicative" else None
    if factor is not None:
        assert_allclose(factor, after["mean"][:144], rtol=1e-5)
        assert min(after["mean"]) > 0
    else:
        assert_allclose(np.subtract(after["running"], before["running"]), after["mean"][:144], atol=1e-3)
    assert parts[-1]["rest"]
    assert parts[-1]["cumulative"] > 0.95
    assert told["series"]["future"]["label"][0] == "1961-01"
    assert told["series"]["label"][0] == "1949-01"


def test_airline_report_is_light_and_strict_json(airline, told, tmp_path):
    json.dumps(told, allow_nan=False)
    path = airline.report(tmp_path / "airline.html", horizon=24)
    assert path.stat().st_size < 2_000_000
    assert "yearly pattern" in path.read_text(encoding="utf-8")


def test_airline_says_what_was_tried(told):
    assert {row["action"] for row in told["record"]} >= {"averaged", "projected"}
    assert told["repeat"]["code"] == "farrier.Regressor().fit(X, y)"
    # the packages of the tests are all installed; tests/test_without_jax.py makes a report without jax
    assert set(told["repeat"]["versions"]) == {"farrier", "jax", "numpy", "python"}
    assert told["repeat"]["seed"] == 0
    kept = [row for row in told["weights"] if row["kept"]]
    assert len(kept) == sum(not part["rest"] for part in told["components"])
    assert all(row["low"] < row["after"] < row["high"] for row in kept)


def test_intervals_and_errors_come_from_the_appraisal(given):
    line, cycle, _ = findings(given).facts
    assert line.formula == "Lin"
    scale = given.fitted.scale.sd
    assert_allclose([line.error_before, line.error_after], [scale, 0.6 * scale])
    assert_allclose([cycle.error_before, cycle.error_after], [0.6 * scale, 0.2 * scale])
    assert (line.evidence, cycle.evidence) == (90.0, 80.0)
    period = cycle.factors[0].period
    assert period.low < period.value < period.high
    assert_allclose(period.high / period.value, 1.001, rtol=1e-6)


@pytest.mark.parametrize(("loss", "error", "named"), [(2.0, 0.21, 3), (0.4, 0.19, 3), (0.4, 0.21, 2), (-0.4, 0.19, 2)])
def test_what_is_known_of_every_component_that_is_named_speaks_for_it(given, loss, error, named):
    """The evidence decides; where it is weak, so does the error. What is not named belongs to the rest."""
    appraisal = replace(given.fitted.appraisal, losses=(80.0, 90.0, loss), errors=(1.0, 0.6, 0.2, error))
    result = replace(given, fitted=replace(given.fitted, appraisal=appraisal))
    told, printed = story(result), str(Explanation(result))
    assert [one["rest"] for one in told["components"]] == [False] * named + [True] * (named == 2)
    assert told["summary"][0].startswith("Three components" if named == 3 else "Two components")
    assert ("\n\n3. " in printed) == (named == 3)
    assert ("The rest, everything too small or too doubtful to name, carries" in printed) == (named == 2)
    assert not re.search("against it|raises the", printed)


def test_of_two_that_could_take_each_others_place_the_one_that_lowers_the_error_is_named(given):
    appraisal = replace(given.fitted.appraisal, losses=(80.0, -0.3, -0.2))
    result = replace(given, fitted=replace(given.fitted, appraisal=appraisal))
    line, _ = findings(result).facts
    assert line.formula == "Lin"
    assert "Others could take its place" not in str(Explanation(given))
    assert "others could take its place" in str(Explanation(result)).replace("\n   ", " ")


def test_slope_and_share_are_in_the_users_units(given):
    line, cycle, _ = findings(given).facts
    assert line.slope.low < 3.0 < line.slope.high
    assert line.monotone == "rising"
    assert cycle.monotone is None
    assert_allclose(cycle.sd, 6.0 / np.sqrt(2.0), rtol=0.1)
    assert_allclose(line.cumulative, line.share)
    assert 0.9 < cycle.cumulative <= 1.0


def test_a_forecast_says_how_much_of_it_is_that_of_other_structures(airline, told):
    fitted = airline.result_.fitted
    shares = [one["share"] for one in told["structures"]]
    assert len(shares) == 1 + len(fitted.others) > 1
    assert shares[0] == fitted.share
    assert sum(shares) == pytest.approx(1.0)
    said, *_ = told["shared"]
    assert f"growth that goes on ({100 * fitted.share:.0f} %, " in said
    ends = [one["end"] for one in told["structures"]]
    median = told["series"]["future"]["median"][-1]
    assert min(ends) < median < max(ends)


def test_years_are_read_where_nobody_said_so(given):
    setting = Setting.of(given)
    assert setting.kind == "series"
    assert setting.axis.kind == "years"
    assert setting.labels[:2] == ["2000-01", "2000-02"]
    assert setting.sentence() == "72 rows from January 2000 to December 2005, one a month, no gaps."
    assert setting.horizon(None) == 12
    assert setting.horizon(3) == 3


@pytest.mark.parametrize("shift", [0.0, 0.125], ids=["beginning", "middle"])
def test_quarters_are_named_by_their_place_in_the_year(shift):
    said = [quarter_of(1959.0 + shift + 0.25 * k) for k in range(5)]
    first = [f"the {name} quarter of 1959" for name in ("first", "second", "third", "fourth")]
    assert said == [*first, "the first quarter of 1960"]


@pytest.mark.parametrize(
    ("start", "step", "label"),
    [
        (2000.0, 1 / 12, "2000-02"),
        (2000.0 + 1 / 24, 1 / 12, "2000-02"),
        (2000.125, 0.25, "2000Q2"),
        (2000.0, 1.0, "2001"),
    ],
)
def test_decimal_years_are_called_by_their_step(start, step, label):
    axis = TimeAxis.of(start + step * np.arange(30), "x0")
    assert labels_of(axis, axis.numbers, axis.labels())[1] == label


def test_rows_in_any_order_come_in_order_of_time():
    order = np.random.default_rng(1).permutation(72)
    model = farrier.Regressor([CentredPeriodic(1.0, 1.0), Linear(2003.0)], iterations=20).fit(X[order], Y[order])
    series = story(model.result_, horizon=0)["series"]
    assert_allclose(series["x"], X[:, 0])
    assert_allclose(series["y"], Y)
    assert series["future"]["x"] == []


def test_leaving_a_row_out_is_what_it_says(given):
    fitted: Fitted = given.fitted
    inputs, z = residual_checks.snapped(given.inputs), given.scaled_target
    mean, variance = residual_checks.left_out(fitted, inputs, z)
    earlier = residual_checks.given_earlier(fitted, inputs, z)
    pool, noise = fitted.posterior.pool, float(fitted.likelihood.variance)
    w = fitted.posterior.weights[0]
    K = pool.gram(inputs, inputs)
    C = np.einsum("i,inx->nx", w**2, K) + noise * np.eye(len(z))
    for row in (0, 30, 71):
        others = np.arange(len(z)) != row
        k = np.linalg.solve(C[np.ix_(others, others)], C[others, row])
        assert_allclose(mean[0, row], k @ z[others], rtol=1e-4, atol=1e-6)
        assert_allclose(variance[0, row], C[row, row] - k @ C[others, row], rtol=1e-4)
    k = np.linalg.solve(C[:30, :30], C[:30, 30])
    assert_allclose(earlier[0][0, 30], k @ z[:30], rtol=1e-4, atol=1e-6)
    assert_allclose(earlier[1][0, 30], C[30, 30] - k @ C[:30, 30], rtol=1e-4)


def test_tables_have_curves_and_maps():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.uniform(0.0, 10.0, (70, 3)), columns=["age", "dose", "other"])
    y = 2.0 * frame["dose"] + np.sin(frame["age"]) * frame["other"] + rng.normal(size=70)
    pair = SquaredExponential(2.0, dims=("age", "other"))
    result = farrier.Regressor([Linear(5.0, dims="dose"), pair], iterations=60).fit(frame, y).result_
    record = (Decision(1, "kept", "SE[0, 2] * Lin[1]", 2.0, "worth its price"),)
    told = story(replace(result, fitted=replace(result.fitted, record=record)))
    assert told["record"][0]["formula"] == "SE[age, other] * Lin[dose]"
    assert told["kind"] == "table"
    assert [axis["name"] for axis in told["axes"]] == ["age", "dose", "other"]
    line, both = told["components"][:2]
    if line["effect"] is None or "column" not in line["effect"]:
        line, both = both, line
    assert line["effect"]["column"] == "dose"
    rise = np.ptp(line["effect"]["mean"]) / np.ptp(line["effect"]["x"])
    assert_allclose(rise, 2.0, rtol=0.1)
    assert both["effect"]["columns"] == ["age", "other"]
    assert np.shape(both["effect"]["z"]) == (25, 25)
    assert "an interaction of age and other" in both["title"].lower()
    assert told["data"]["sentence"] == "70 rows, three inputs, nothing missing."
    assert [check["name"] for check in told["checks"]] == ["normality of residuals", "calibration"]
    json.dumps(told, allow_nan=False)


def test_classes_are_told_as_chances():
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.normal(size=(60, 2)), columns=["height", "weight"])
    labels = np.where(rows["height"] + 0.3 * rng.normal(size=60) > 0, "yes", "no")
    kernels = [Linear(0.0, dims="height"), SquaredExponential(1.0, dims="weight")]
    model = farrier.Classifier(kernels, inducing=10, iterations=200, learning_rate=0.05).fit(rows, labels)
    told = story(model.result_)
    assert told["kind"] == "classes"
    assert told["target"] == {"name": "yes", "unit": "", "scale": "odds", "typical": None, "counts": False}
    assert "the effect of height alone, raising the chance of yes throughout" in told["components"][0]["title"].lower()
    assert set(told["series"]["y"]) == {"no", "yes"}
    assert all(0.0 <= chance <= 1.0 for chance in told["series"]["mean"])
    assert told["components"][0]["evidence"] is None
    assert told["checks"] == []
    json.dumps(told, allow_nan=False)


def test_no_component_is_a_story_too():
    result = farrier.Regressor([SquaredExponential(2.0)], iterations=5).fit(X, RNG.normal(size=72)).result_
    nothing = Appraisal((), (), (), (1.0,), (), ())
    bare = replace(result, fitted=replace(result.fitted, survivors=0, appraisal=nothing))
    told = story(bare)
    assert told["summary"][0].startswith("No component stands out: the 72 rows look like a constant level and noise")
    assert [part["rest"] for part in told["components"]] == [True]
    assert str(Explanation(bare)).startswith("No component stands out")
    json.dumps(told, allow_nan=False)


def test_the_story_holds_no_place_of_this_machine(told):
    assert not re.search(r"/(home|tmp|work|usr)/", json.dumps(told))


def test_the_axis_of_the_times_is_what_the_sentences_need():
    stamps = [f"{year}-{month:02d}" for year in range(1949, 1961) for month in range(1, 13)]
    axis = axis_of(TimeAxis.of(stamps, "month"), "when")
    assert (axis.name, axis.kind, axis.unit) == ("when", "years", "")
    assert_allclose([axis.low, axis.high, axis.spacing], [1949 + 0.5 / 12, 1961 - 0.5 / 12, 1 / 12])
