"""What to expect is what the forecast says: of a season that grows, of a random walk, of a table, of classes."""

from dataclasses import replace

import numpy as np
import pytest

from farrier import Classifier, Forecaster, Regressor
from farrier.explain.expectation import sharing, walk
from farrier.explain.explanation import Explanation
from farrier.explain.story import story
from farrier.kernels.registry import CentredPeriodic, Linear, RandomWalk, SquaredExponential
from farrier.series.calendar import TimeAxis

MONTHS = 2000.0 + np.arange(60)[:, None] / 12.0


def told(kernels, y, X=MONTHS, **options):
    return story(Regressor(kernels=kernels, scale="identity").fit(X, y).result_, **options)


def test_a_season_is_compared_with_the_same_months_of_the_year_before():
    x = np.arange(60)
    y = 100.0 + x + 20.0 * (x % 12 == 6) + 0.3 * np.random.default_rng(0).standard_normal(60)
    found = told([Linear(2000.0), CentredPeriodic(1.0, 0.5)], y, horizon=6)
    said = found["expect"]
    average = np.mean(found["series"]["future"]["median"])
    assert said[0].startswith(f"Expect {average:.2f} on average over the next 6 months (January to June 2005), ")
    assert said[0].endswith("more than in the same months a year before.")
    more = float(said[0].split("), ")[1].split(" %")[0])
    assert more == pytest.approx(100.0 * (average / y[48:54].mean() - 1.0), abs=0.6)


def expected_of(stamps, period, horizon):
    """The first sentence on a forecast of a sine, whose period is in rows."""
    axis, rows = TimeAxis.of(stamps, "time"), np.arange(len(stamps))
    y = 50.0 + 10.0 * np.sin(2.0 * np.pi * rows / period) + 0.1 * np.random.default_rng(0).standard_normal(len(rows))
    kernel = CentredPeriodic(period * axis.spacing, 1.0)
    model = Regressor(kernels=[kernel], scale="identity").fit(axis.numbers[:, None], y).describe(axis=axis)
    return story(model.result_, model.context_, horizon=horizon)["expect"][0]


@pytest.mark.parametrize(
    ("stamps", "period", "horizon", "ahead", "past"),
    [
        (np.arange("2024-01-01", "2024-01-03", dtype="M8[10m]"), 144, 72, "72 steps of ten minutes", "steps a day"),
        (
            np.arange("2024-01-01", "2024-01-03", dtype="M8[10m]"),
            20,
            30,
            "30 steps of ten minutes",
            "steps 400 minutes",
        ),
        (np.arange("2024-01-01", "2024-05-01", dtype="M8[D]"), 21, 40, "40 days", "days 42 days"),
        (np.arange("2024-01-01", "2024-03-01", dtype="M8[D]"), 7, 10, "10 days", "days two weeks"),
        (np.arange("2018-01", "2022-01", dtype="M8[M]"), 12, 14, "14 months", "months two years"),
        (np.arange(80.0), 21, 40, "40 steps", "steps 42 steps"),
    ],
)
def test_steps_ahead_and_ago_are_told_in_units_that_people_know(stamps, period, horizon, ahead, past):
    said = expected_of(stamps, period, horizon)
    assert f" over the next {ahead} (" in said
    assert said.endswith(f" in the same {past} before.")


def test_the_highest_step_is_named():
    x = np.arange(60)
    y = 100.0 + 20.0 * (x % 12 == 6) + 0.3 * np.random.default_rng(0).standard_normal(60)
    said = told([CentredPeriodic(1.0, 0.3)], y, horizon=12)["expect"]
    assert said[1] == "It continues a yearly pattern."
    assert said[2].startswith("Highest in July 2005 (")


def test_a_random_walk_says_that_nothing_tells_the_way():
    y = np.random.default_rng(1).standard_normal(60).cumsum()
    found = told([RandomWalk(2000.0)], y, horizon=12)
    assert found["expect"][0].startswith("It moves like a random walk: the best forecast is near the last value")
    assert found["summary"][0] == "The 60 rows move like a random walk: the best forecast is the last value."


def test_a_forecast_that_leaves_the_last_value_is_not_called_the_last_value():
    """A walk explains, but standard trend models have a part of the forecast, which rises with the drift."""
    y = 100.0 + (0.4 + np.random.default_rng(2).standard_normal(60)).cumsum()
    months = np.arange("2015-01", "2020-01", dtype="M8[M]")
    walk_alone = Forecaster(kernels=[RandomWalk(2000.0)]).fit(months, y)
    found = Forecaster().fit(months, y)
    assert found.explain().findings.facts[0].formula == "RW"
    for model, stays in ((walk_alone, True), (found, False)):
        table = model.forecast(12)
        told = model.explain().to_dict(horizon=12)
        printed = " ".join(str(model.explain()).split())
        far = abs(table["median"][-1] - y[-1]) > 0.25 * 0.5 * (table["high_80"][-1] - table["low_80"][-1])
        assert far is not stays
        said = [printed, model.explain().to_markdown(), told["summary"][0], told["expect"][0]]
        assert [any("best forecast is" in one for one in text.split(".")) for text in said] == [stays] * 4
        assert ("nearly like a random walk" in told["expect"][0]) is not stays


def test_the_text_speaks_of_the_forecast_that_stands_beside_it():
    """The same walk, with a forecast of one step and with one of 60."""
    y = 100.0 + (0.4 + np.random.default_rng(2).standard_normal(60)).cumsum()
    model = Forecaster().fit(np.arange("2015-01", "2020-01", dtype="M8[M]"), y).model_
    model.describe(axis=TimeAxis.of(np.arange("2015-01", "2020-01", dtype="M8[M]"), "time"))
    near, far = (str(Explanation(model.result_, replace(model.context_, steps=steps))) for steps in (1, 60))
    assert "move like a random walk: the best forecast is the last value." in near
    assert "move nearly like a random walk." in far


def test_a_walk_that_is_left_says_where_the_forecast_lies():
    said = walk("97", np.array([97.9, 98.8]), np.array([2.0, 3.0]), stays=False)
    assert said.endswith("the last value is 97, the forecast lies between 97.9 and 98.8.")


def test_a_table_names_the_inputs_without_effect():
    generator = np.random.default_rng(2)
    X = generator.uniform(-1.0, 1.0, (60, 3))
    found = told([Linear(0.0, dims=(0,))], 3.0 * X[:, 0] + 0.1 * generator.standard_normal(60), X=X)
    assert found["expect"][-1] == "No effect was found of x1 and x2."


def test_counts_open_with_what_to_expect():
    generator = np.random.default_rng(4)
    X = generator.uniform(0.0, 2.0, (60, 2))
    model = Regressor(kernels=[Linear(0.0, dims=(0,))], likelihood="poisson").fit(X, generator.poisson(np.exp(X[:, 0])))
    said = story(model.result_)["expect"][0]
    mean, low, high = (float(word) for word in said.split() if word[0].isdigit())
    assert said.startswith("Expect the target of ")
    assert mean == pytest.approx(np.mean(model.result_.target), rel=0.01)
    assert 0.5 < low < 1.6 < 4.5 < high < 9.0


def test_classes_are_compared_with_the_larger_class():
    X = np.random.default_rng(3).standard_normal((60, 1))
    model = Classifier(kernels=[SquaredExponential(2.0)]).fit(X, X[:, 0] > 0.3)
    said = story(model.result_)["expect"]
    assert said[0].startswith("The chance of True is ")
    assert "always guessing the larger class" in said[1]


def test_structures_are_told_only_if_they_matter():
    one = {"share": 0.97, "end": 1.0}
    assert sharing([one, {"share": 0.03, "end": 2.0}]) == sharing([one]) == []
    goes_on, fades = ({"share": 0.4, "end": 2.0, "growth": "line"}, {"share": 0.6, "end": 1.5, "growth": "nothing"})
    assert sharing([goes_on, fades]) == [
        "Past rows tell little of which is right, so two models share this forecast: growth that goes on (40 %, 2.00 "
        "at the last step) and growth that fades (60 %, 1.50).",
    ]
    assert sharing([goes_on, fades | {"end": 2.0}]) == []
    (said,) = sharing([{"share": 0.6, "end": 1.0}, {"share": 0.4, "end": 2.0}])
    assert said == (
        "The structure explained here has 60 % of this forecast, one other 40 %; for the last step they expect between "
        "1.00 and 2.00."
    )
