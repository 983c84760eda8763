"""Laws of estimators on real tables, with data whose truth is known: text, truth values, dates, empty cells, ids."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

import farrier
from farrier import Category, Classifier, Regressor, SquaredExponential

N = 160
EFFECTS = {"Berlin": -50.0, "Hamburg": 0.0, "Munich": 150.0}


def housing(seed=0, rows=N):
    """Prices of flats: a line in size, an effect of the city, nothing of the rest; some cells are empty."""
    rng = np.random.default_rng(seed)
    city, size, age = rng.choice(list(EFFECTS), rows), rng.uniform(40.0, 150.0, rows), rng.uniform(0.0, 60.0, rows)
    frame = pd.DataFrame(
        {
            "id": np.arange(1000, 1000 + rows),
            "city": city,
            "size": size,
            "age": np.where(rng.random(rows) < 0.1, np.nan, age),
            "lift": rng.random(rows) < 0.5,
            "agent": [f"agent {i}" for i in range(rows)],
        }
    )
    effect = np.array([EFFECTS[one] for one in city])
    return frame, 500.0 + 3.0 * size + effect + 10.0 * rng.standard_normal(rows), effect


@pytest.fixture(scope="module")
def fitted():
    frame, price, effect = housing()
    return Regressor(scale="identity", likelihood="gaussian").fit(frame, price), frame, price, effect


def test_the_parts_are_those_of_the_truth(fitted):
    model = fitted[0]
    assert {one.formula.partition("[")[2] for one in model.components_} == {"city]", "size]"}
    assert {one.name: one.role for one in model.result_.table.columns} == {
        "id": "left out",
        "city": "a category of 3 levels",
        "size": "a number",
        "age": "a number",
        "lift": "a category of 2 levels",
        "agent": "left out",
    }


def levels_of(model):
    (facts,) = (one for one in model.explain().findings.facts if one.profile)
    return facts.profile


def test_the_effects_of_levels_are_those_of_the_truth_highest_first(fitted):
    model, _, _, effect = fitted
    assert [level.name for level in levels_of(model)] == ["Munich", "Hamburg", "Berlin"]
    for level in levels_of(model):
        assert abs(level.value.value - EFFECTS[level.name] + effect.mean()) < 5.0


def test_the_intervals_of_levels_hold_the_truth_as_often_as_they_say():
    held = []
    for seed in range(24):
        frame, price, effect = housing(seed, 60)
        kernels = [Category(dims="city"), SquaredExponential(400.0, dims="size")]
        model = Regressor(kernels, iterations=40).fit(frame[["city", "size"]], price)
        truth = {name: value - effect.mean() for name, value in EFFECTS.items()}
        held += [level.value.low < truth[level.name] < level.value.high for level in levels_of(model)]
    assert 0.88 < np.mean(held) < 0.999


def test_the_explanation_says_what_was_done_with_each_column(fitted):
    said = " ".join(str(fitted[0].explain()).split())
    assert "The effect of city: Munich +1" in said
    assert "beside the mean" in said
    assert "Left out: id (every row has its own value, so it identifies rows); agent (every row has its own" in said
    assert "Empty cells: age: 8 empty cells count as" in said


def test_an_unseen_level_falls_back_to_the_mean_with_a_wide_interval(fitted):
    model, frame, _, _ = fitted
    rows = frame[:3]
    mean, sd = model.predict(rows, return_std=True)
    unseen, wide = model.predict(rows.assign(city="Rome"), return_std=True)
    assert np.all(wide > 5.0 * sd)
    apart = unseen - mean
    assert np.ptp(apart + [EFFECTS[one] for one in rows["city"]]) < 30.0


def test_an_empty_cell_at_prediction_has_a_finite_answer(fitted):
    model, frame, _, _ = fitted
    rows = frame[:4].assign(age=np.nan, city=None, size=[np.nan, 50.0, 60.0, 70.0])
    assert np.isfinite(model.predict(rows, return_std=True)).all()


def test_other_frames_predict_the_same_and_files_keep_the_columns(fitted, tmp_path):
    model, frame, _, _ = fitted
    before = model.predict(frame[:5])
    assert_allclose(model.predict(pl.DataFrame(frame[:5].to_dict("list"))), before)
    again = farrier.load(model.save(tmp_path / "flats.farrier"))
    assert_allclose(again.predict(frame[:5]), before)
    assert again.result_.table == model.result_.table


def test_a_refit_keeps_the_columns(fitted):
    model, frame, price, _ = fitted
    again = model.refit(frame[:100], price[:100])
    assert_allclose(again.predict(frame[:5]), model.predict(frame[:5]), atol=15.0)


def test_other_columns_are_refused(fitted):
    model, frame, _, _ = fitted
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["city", "size"]])
    with pytest.raises(ValueError, match="X: column 'size' holds text \\(such as 'big'\\) where numbers were fitted"):
        model.predict(frame[:2].assign(size=["big", "small"]))


def test_the_report_has_bars_of_the_levels_and_a_table_of_the_columns(fitted, tmp_path):
    page = fitted[0].report(tmp_path / "report.html").read_text()
    assert '<th scope="row">Munich</th>' in page
    assert "What was done with each column" in page
    assert "every row has its own value, so it identifies rows" in page


def test_plots_show_levels(fitted):
    axes = fitted[0].plot_components()
    assert "Munich" in [tick.get_text() for ax in np.ravel(axes) for tick in ax.get_yticklabels()]


def test_given_act_on_numbers_and_categories_by_name():
    frame, price, _ = housing()
    model = Regressor([SquaredExponential(50.0, dims="size"), Category(dims="city"), "Lin"], iterations=30)
    model.fit(frame, price)
    assert [kernel.formula(model.result_.columns) for kernel in model.pool_] == [
        "SE[size]",
        "Cat[city]",
        "Lin[size, age]",
    ]
    assert "lift (no kernel acts on it)" in " ".join(str(model.explain()).split())


@pytest.mark.parametrize("settings", [{"kernels": ["Lin"]}, {"kernels": "paper"}, {"prior": "none"}], ids=str)
def test_categories_are_not_dropped_beside_given(settings):
    frame, price, _ = housing()
    with pytest.raises(ValueError, match="no kernel acts on the category 'city': leave the column out of X, or give "):
        Regressor(**settings).fit(frame, price)
    with pytest.raises(ValueError, match="no kernel acts on the category 'city'"):
        Classifier(**settings).fit(frame, price > 0.0)


def test_an_effect_that_differs_between_levels_is_told_with_its_slopes():
    frame, _, _ = housing(3)
    rng = np.random.default_rng(3)
    slope = frame["city"].map({"Berlin": 1.0, "Hamburg": 3.0, "Munich": 8.0}).to_numpy(float)
    price = slope * (frame["size"].to_numpy() - 90.0) + 10.0 * rng.standard_normal(N)
    model = Regressor(scale="identity", likelihood="gaussian").fit(frame[["city", "size"]], price)
    said = " ".join(str(model.explain()).split())
    assert "an effect of size that differs between the levels of city" in said.lower()
    assert "rising most for Munich" in said
    effects = [part["effect"] for part in model.explain().to_dict()["components"]]
    assert any(one and [line["name"] for line in one.get("lines", [])] == list(EFFECTS) for one in effects)


def test_a_date_is_told_by_month():
    rng = np.random.default_rng(4)
    sold = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1400, N), unit="D")
    y = 5.0 * sold.month.isin([6, 7, 8]) + 0.3 * rng.standard_normal(N)
    model = Regressor(scale="identity", likelihood="gaussian").fit(pd.DataFrame({"sold": sold, "x": rng.random(N)}), y)
    assert "Cat[sold (month)]" in {one.formula for one in model.components_}


def test_a_single_category_is_enough_and_has_no_trend():
    frame, price, _ = housing()
    model = Regressor(scale="identity", likelihood="gaussian").fit(frame[["city"]], price)
    assert [one.formula for one in model.components_] == ["Cat"]
    assert "the effect of city: Munich" in str(model.explain()).replace("\n   ", " ").replace("The", "the")


def test_classes_take_the_same_tables():
    frame, _, effect = housing(5, 200)
    labels = np.where(effect + 40.0 * np.random.default_rng(5).standard_normal(200) > 40.0, "dear", "cheap")
    model = Classifier().fit(frame, labels)
    assert {one.formula for one in model.components_} == {"Cat[city]"}
    assert model.score(frame, labels) > 0.8
    unseen = model.predict_proba(frame[:1].assign(city="Rome"))
    assert 0.15 < unseen[0, 0] < 0.9


def test_names_of_several_types_are_refused():
    frame, price, _ = housing(6, 20)
    with pytest.raises(ValueError, match="X: some columns are named by text and others are not"):
        Regressor().fit(frame.rename(columns={"size": 3}), price)


def test_a_level_that_is_called_missing_is_no_empty_cell():
    rng = np.random.default_rng(4)
    state = rng.choice(np.array(["missing", "known", None], object), 90)
    y = np.select([state == "missing", state == "known"], [10.0, 0.0], -20.0) + 0.5 * rng.standard_normal(90)
    frame = pd.DataFrame({"state": state, "size": rng.uniform(size=90), "size missing": rng.uniform(size=90)})
    model = Regressor(scale="identity", likelihood="gaussian").fit(frame, y)
    rows = pd.DataFrame({"state": ["missing", "known", None], "size": 0.5, "size missing": 0.5})
    assert_allclose(model.predict(rows), [10.0, 0.0, -20.0], atol=0.6)
    assert [level.name for level in levels_of(model)] == ["missing", "known", "(missing)"]
    whole = model.fit(frame[state != None], y[state != None])  # noqa: E711
    (facts,) = whole.explain().findings.facts
    assert abs(facts.contrast.value - 10.0) < 0.6 or abs(facts.contrast.value + 10.0) < 0.6


@pytest.mark.parametrize("order", [["y0", "x", "city"], ["city", "x", "y0"]])
def test_the_effect_of_an_empty_cell_is_told_in_any_order_of_columns(order):
    rng = np.random.default_rng(6)
    empty = rng.random(120) < 0.2
    frame = pd.DataFrame({"y0": rng.uniform(-1.0, 1.0, 120), "x": rng.uniform(-1.0, 1.0, 120)})
    frame["city"] = rng.choice(["a", "b"], 120)
    y = (
        9.0 * frame["y0"]
        + 2.0 * frame["x"]
        - 4.0 * empty
        + 3.0 * (frame["city"] == "b")
        + 0.1 * rng.standard_normal(120)
    )
    model = Regressor(scale="identity", likelihood="gaussian").fit(frame.assign(x=frame["x"].mask(empty))[order], y)
    (effect,) = (one.contrast for one in model.explain().findings.facts if "x missing" in one.formula)
    assert effect.low < -4.0 < effect.high
    assert effect.high - effect.low < 2.5


@pytest.mark.parametrize("name", ["i", "index", "id"])
def test_an_input_that_counts_the_rows_is_not_dropped(name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: np.arange(60), "x": rng.uniform(size=60)})
    y = frame[name].to_numpy(float)
    assert abs(Regressor().fit(frame, y).predict(frame[3:4])[0] - 3.0) < 0.1
    if name == "i":
        mixed = frame.assign(city=rng.choice(["a", "b"], 60))
        assert abs(Regressor().fit(mixed, y).predict(mixed[3:4])[0] - 3.0) < 0.1
