"""An explanation prints, and turns into tables, Markdown and a dictionary."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

import farrier
from farrier.kernels.registry import CentredPeriodic, Linear


@pytest.fixture(scope="module")
def model():
    x = 2000.0 + (np.arange(60) + 0.5) / 12.0
    y = 3.0 * (x - 2000.0) + 6.0 * np.sin(2 * np.pi * x) + np.random.default_rng(0).normal(size=60)
    return farrier.Regressor([CentredPeriodic(1.0, 1.0), Linear(2002.5)], iterations=60).fit(x[:, None], y)


def test_it_prints_one_paragraph_a_component(model):
    said = str(model.explain())
    assert said.startswith("Two components were found in 60 rows")
    assert "A linear rise of " in said
    assert "that repeats exactly every " in said
    assert max(map(len, said.splitlines())) <= 88
    assert repr(model.explain()) == said
    assert len(model.explain()) == 2


def test_a_number_and_its_per_cent_sign_stay_together(model):
    assert not any(line.lstrip().startswith("%") for line in str(model.explain()).splitlines())


def test_tables_are_of_the_kind_that_is_asked_for(model):
    explanation = model.explain()
    for like in (pd.DataFrame(), pl.DataFrame()):
        frame = explanation.to_frame(like=like)
        assert type(frame) is type(like)
        assert list(frame["formula"]) == [facts.formula for facts in explanation.findings.facts]
    assert isinstance(explanation.to_frame(), pd.DataFrame)
    assert {"component", "share", "weight_low", "sentence"} <= set(explanation.to_frame().columns)


def test_markdown_has_a_heading_for_each(model):
    said = model.explain().to_markdown()
    assert said.count("\n## ") == 2
    assert "| Component |" in said
    assert model.explain()._repr_markdown_() == said


def test_the_story_takes_a_title_and_a_horizon(model):
    told = model.explain().to_dict(title="Mine", horizon=3)
    assert told["title"] == "Mine"
    assert len(told["series"]["future"]["x"]) == 3
    assert len(model.explain().to_dict()["series"]["future"]["x"]) == 10


def test_what_is_not_fitted_says_so(model, tmp_path):
    for ask in ("explain", "plot", "plot_components", "plot_weights"):
        with pytest.raises(NotFittedError):
            getattr(farrier.Regressor(), ask)()
    with pytest.raises(NotFittedError):
        farrier.Regressor().report(tmp_path / "report.html")
    with pytest.raises(ValueError, match="horizon: -1 is not a number of steps"):
        model.report(tmp_path / "report.html", horizon=-1)


def test_text_and_table_of_a_long_series_have_the_same_sizes():
    """Evenly chosen rows had favoured some hours of the day, so that each of the two had a share of its own."""
    x = np.arange(6001) / 24.0
    pattern = 20.0 * np.cos(2 * np.pi * x) * (1.0 + 0.5 * np.cos(4 * np.pi * x))
    y = pattern + 3.0 * np.random.default_rng(0).standard_normal(len(x))
    model = farrier.Regressor([CentredPeriodic(1.0, 1.0)], iterations=2).fit(x[:, None], y)
    (facts,), (row,) = model.explain().findings.facts, model.components_
    assert model.tier_ == "linear"
    assert (facts.share, facts.sd) == (row.share, row.sd)
    assert facts.share == pytest.approx(np.var(pattern) / np.var(y), abs=0.002)
