"""One golden sentence for every row of the grammar of random walks and damped trends, and models that have them."""

import numpy as np
import pytest

import farrier
from farrier.explain import sentences
from farrier.explain.facts import Axis, Estimate, Target
from tests.explain.components import (
    ENDED,
    FALLING,
    GROWING,
    GROWTH,
    LEFT,
    NOISE,
    PASSENGERS,
    RISING,
    ROUGHLY,
    SERIES,
    TABLE,
    UNTIL,
    WITHIN,
    YEAR,
    component,
    factor,
    smooth,
)

WALK = factor("walk")
# 12 % a month, in years
DAMPED = factor("damped", damping=Estimate(1.534, 1.0, 2.0))
MOVE = {"move": Estimate(11.1, 9.7, 12.8)}
WANDERS = "A level that wanders."
LAST = "Beyond the data it stays at its last value, ever less certain."
LEVELS = "Beyond the data it goes on, ever more slowly, and levels off."

# factors, what else is known; title, sentence, future
ROWS = {
    "walk": ([WALK], {}, "A wandering level", WANDERS, LAST),
    "walk, its move": (
        [WALK],
        MOVE,
        "A wandering level",
        f"{WANDERS} It typically moves by about 3.2 thousand a month (2.8 to 3.7).",
        LAST,
    ),
    "walk, its size": (
        [WALK],
        {"sd": 11.0, "swing": 31.0, "share": 0.5},
        "A wandering level",
        f"{WANDERS} It moves passengers by about 31 thousand from low to high.",
        LAST,
    ),
    "walk, growing": (
        [LEFT, WALK],
        GROWING,
        "A wandering level whose size grows",
        "A level that wanders. Its size grows linearly.",
        "Beyond the data it goes on along a line, ever less certain.",
    ),
    "walk, until": (
        [WALK, UNTIL],
        {},
        "A wandering level until March 1957",
        "A level that wanders, until March 1957 (January to May 1957). The change takes about 6.0 months.",
        ENDED,
    ),
    "walk and season": (
        [YEAR, WALK],
        {},
        "A yearly pattern whose shape drifts",
        f"{ROUGHLY}. {WITHIN}, and its shape wanders.",
        "It repeats beyond the data as it was last, ever less certain.",
    ),
    "walk and smooth": (
        [smooth(3.2), WALK],
        {},
        "Smooth variation over about 3.2 years",
        "Smooth variation over about 3.2 years (2.6 to 4.0). Its size wanders.",
        "Beyond the data it drifts on smoothly and is back at the mean within about 3.2 years, while its possible size "
        "keeps growing.",
    ),
    "walk and noise": (
        [NOISE, WALK],
        {},
        "Uncorrelated noise",
        "Uncorrelated noise. Its spread keeps growing.",
        "It goes on beyond the data, and its spread keeps growing.",
    ),
    "damped, rising": (
        [DAMPED],
        RISING,
        "Growth that fades",
        "Growth that fades by 12 % a month (8 to 15).",
        LEVELS,
    ),
    "damped, falling": (
        [DAMPED],
        FALLING,
        "A decline that fades",
        "A decline that fades by 12 % a month (8 to 15).",
        LEVELS,
    ),
    "damped, turning": (
        [DAMPED],
        {"heading": "falling"},
        "A trend that fades",
        "A trend that fades by 12 % a month (8 to 15), falling at the end of the data.",
        LEVELS,
    ),
    "damped, growing on the whole": (
        [DAMPED],
        {"overall": "rising", "heading": "rising"},
        "Growth that fades",
        "Growth that fades by 12 % a month (8 to 15).",
        LEVELS,
    ),
    "damped, growing on the whole and falling at last": (
        [DAMPED],
        {"overall": "rising", "heading": "falling"},
        "Growth that fades",
        "Growth that fades by 12 % a month (8 to 15), falling at the end of the data.",
        LEVELS,
    ),
    "damped, unknown": ([factor("damped")], RISING, "Growth that fades", "Growth that fades.", LEVELS),
    "damped, slowly": (
        [factor("damped", damping=Estimate(0.1, 0.1, 0.1))],
        RISING,
        "Growth that fades",
        "Growth that fades by 9.5 % a year.",
        LEVELS,
    ),
    "damped, hardly": (
        [factor("damped", damping=Estimate(1e-5, 1e-6, 1e-4))],
        RISING,
        "Growth that fades",
        "Growth that fades by under 0.1 % a year.",
        LEVELS,
    ),
    "damped, at once": (
        [factor("damped", damping=Estimate(200.0, 100.0, 300.0))],
        RISING,
        "Growth that fades",
        "Growth that fades by over 99.9 % a month.",
        LEVELS,
    ),
    "damped and season": (
        [YEAR, DAMPED],
        {},
        "A yearly pattern whose shape drifts",
        f"{ROUGHLY}. {WITHIN}, and its shape changes at a pace that fades.",
        "It repeats beyond the data as it was last, ever less certain.",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_golden_sentences(row):
    factors, known, title, sentence, future = ROWS[row]
    facts = component(*factors, **known)
    assert sentences.title(facts, SERIES, PASSENGERS) == title
    assert sentences.sentence(facts, SERIES, PASSENGERS) == sentence
    assert sentences.future(facts, SERIES, PASSENGERS) == future


def test_moves_are_relative_where_components_multiply():
    # log(1.12) over a year is log(1.12) / sqrt(12) over a month
    slow, fast = (component(WALK, move=Estimate(x, 0.8 * x, 1.25 * x)) for x in (0.12, 20.0))
    assert sentences.sentence(slow, SERIES, GROWTH).endswith("It typically moves by about 3.3 % a month (2.7 to 4.1).")
    assert sentences.sentence(fast, SERIES, GROWTH).endswith("It typically moves by a factor of about 2.4 a month.")


@pytest.mark.parametrize(
    ("axis", "unit"),
    [
        (Axis("t", 0.0, 60.0, spacing=1.0), "a step"),
        (Axis("t", 0.0, 60.0), "per unit of t"),
        (Axis("depth", 0.0, 60.0, unit="mm", spacing=2.0), "per mm"),
        (Axis("t", 19000.0, 19400.0, "days", spacing=1.0), "a day"),
        (Axis("t", 19000.0, 19900.0, "days", spacing=7.0), "a week"),
        (Axis("t", 1950.0, 1980.0, "years", spacing=0.25), "a quarter"),
        (Axis("t", 1950.0, 1980.0, "years", spacing=1.0), "a year"),
        (Axis("t", 19000.0, 19010.0, "days", spacing=1 / 48), "an hour"),
        (Axis("t", 1950.0, 1980.0, "years"), "a year"),
    ],
    ids=str,
)
def test_the_unit_is_that_of_the_rows(axis, unit):
    target = Target("y")
    walk = component(factor("walk", axis.name), move=Estimate(1.0, 1.0, 1.0))
    trend = component(factor("damped", axis.name, damping=Estimate(5.0, 5.0, 5.0)), **RISING)
    assert sentences.sentence(walk, {axis.name: axis}, target).endswith(f" {unit}.")
    assert sentences.sentence(trend, {axis.name: axis}, target).endswith(f" {unit}.")


def test_among_several_inputs_they_are_effects_and_parts_of_interactions():
    walk, trend = factor("walk", "age"), factor("damped", "age", damping=Estimate(0.2, 0.2, 0.2))
    assert sentences.sentence(component(walk), TABLE, PASSENGERS) == "The effect of age alone: a level that wanders."
    assert sentences.sentence(component(trend), TABLE, PASSENGERS) == (
        "The effect of age alone: a trend that fades by 18 % per day."
    )
    both = component(walk, smooth(20.0, "water"))
    assert sentences.sentence(both, TABLE, PASSENGERS).startswith(
        "An interaction of age and water: wandering in age and smooth in water over about 20.0 units of water"
    )
    assert sentences.future(both, TABLE, PASSENGERS) == (
        "Beyond the data it stays at its last value along age and returns to the mean along water."
    )
    other = component(trend, factor("linear", "water"))
    assert "levelling off in age" in sentences.sentence(other, TABLE, PASSENGERS)
    assert "levels off along age" in sentences.future(other, TABLE, PASSENGERS)


# models


RNG = np.random.default_rng(5)
X = np.arange(60.0)[:, None] + 1900.0
STEPS = 3.0 * RNG.standard_normal(60)


def trending(rows):
    """Growth of 8 a row at first, of which 10 % fades from row to row."""
    return 80.0 * (1.0 - 0.9 ** np.arange(rows)) + 0.3 * RNG.standard_normal(rows)


@pytest.fixture(scope="module")
def walking():
    return farrier.Regressor(kernels=[farrier.Constant(), farrier.RandomWalk(1900.0, 59.0)]).fit(
        X, 100.0 + np.cumsum(STEPS)
    )


def test_a_walk_is_told_with_the_size_of_its_moves(walking):
    (found,) = walking.explain().findings.facts
    assert found.move.low < np.std(STEPS) < found.move.high
    np.testing.assert_allclose(found.move.value, np.std(STEPS), rtol=0.15)
    assert WANDERS[:-1] in " ".join(str(walking.explain()).split())


def test_the_best_forecast_of_a_walk_is_its_last_value(walking):
    mean, sd = walking.predict(np.array([[1959.0], [1960.0], [1999.0]]), return_std=True)
    np.testing.assert_allclose(mean[1:], mean[0], rtol=1e-6)
    np.testing.assert_allclose(sd[2], np.std(STEPS) * np.sqrt(40.0), rtol=0.25)


def test_growth_that_fades_is_told_by_its_rate():
    model = farrier.Regressor(kernels=[farrier.Constant(), farrier.DampedTrend(0.05, 1900.0, 59.0)]).fit(
        X, trending(60)
    )
    (found,) = model.explain().findings.facts
    (factor,) = found.factors
    # the damping is in the units of the rows; one path says little of it
    assert 0.01 < factor.damping.value < 1.0
    assert factor.damping.value == pytest.approx(float(np.ravel(model.pool_[1].damping)[0]))
    assert "Growth that fades by" in str(model.explain())
    assert found.heading is None


@pytest.mark.parametrize(
    "kernels",
    [[farrier.RandomWalk(1900.0, 59.0), farrier.DampedTrend(0.1, 1900.0, 59.0)], ["RW", "Damp", "Per * Mat12"]],
    ids=["given", "named"],
)
def test_a_regressor_with_both_is_reported_drawn_saved_and_loaded(kernels, tmp_path):
    model = farrier.Regressor(kernels=kernels).fit(X, trending(60) + np.cumsum(STEPS))
    assert "no wording" not in str(model.explain())
    assert model.report(tmp_path / "report.html").exists()
    model.plot_components()
    again = farrier.load(model.save(tmp_path / "both.farrier"))
    assert [type(kernel) for kernel in again.pool_] == [type(kernel) for kernel in model.pool_]
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-12)
    assert str(again.explain()) == str(model.explain())


@pytest.mark.parametrize("kernels", [["RW", "Damp"], ["1", "RW", "Damp", "Per * Mat12"]], ids=str)
def test_a_forecaster_with_both_tells_months(kernels, tmp_path):
    months = np.arange("2015-01", "2020-01", dtype="datetime64[M]").astype("datetime64[D]")
    model = farrier.Forecaster(kernels=kernels).fit(months, 200.0 + trending(60) + np.cumsum(STEPS))
    told = str(model.explain())
    assert "no wording" not in told
    assert " a month" in " ".join(told.split())
    assert np.all(np.isfinite(np.asarray(model.forecast(6)["mean"], float)))
    assert model.report(tmp_path / "report.html").exists()
    model.plot()
    again = farrier.load(model.save(tmp_path / "both.farrier"))
    assert str(again.explain()) == told


def test_the_steps_of_a_walk_over_business_days_are_told_by_business_day():
    rng = np.random.default_rng(2)
    days = np.arange("2024-01-01", "2024-10-01", dtype="M8[D]")
    days = days[np.is_busday(days)]
    y = 100.0 + rng.standard_normal(len(days)).cumsum()
    text = " ".join(str(farrier.Forecaster(kernels=["1", "RW"]).fit(days, y).explain()).split())
    told = text.split("It typically moves by about ")[1].split(")")[0]
    size, unit = told.split(" (")[0].split(" ", 1)
    assert unit == "a business day"
    # a walk in calendar days has wider steps over weekends: five steps a week have the variance of seven days
    assert float(size) == pytest.approx(np.sqrt(np.mean(np.diff(y) ** 2)), rel=0.15)
