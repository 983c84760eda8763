"""Notes: how much of the forecast is explained, other structures that would do, and a floor where it cuts."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from farrier import Forecaster, Regressor
from farrier.explain.notes import about_forecast
from farrier.model.fitted import Rival

TIMES = np.arange("2015-01", "2020-01", dtype="M8[M]")
LINE = 0.5 * np.arange(60.0) + np.random.default_rng(0).uniform(0.0, 1.0, 60)


def explained(y, **settings):
    return Forecaster(kernels=["Lin"], scale="identity", **settings).fit(TIMES, y).explain()


def test_a_floor_that_cuts_is_told_in_text_markdown_and_story():
    said = explained(LINE[::-1])
    for text in (str(said), said.to_markdown(), said.to_dict()["notes"][0]):
        assert "Forecasts do not go below 0, because no value does" in " ".join(text.split())


def test_a_floor_far_away_is_not_told():
    assert "do not go below" not in str(explained(LINE + 1000.0))


def test_without_a_floor_nothing_is_told():
    assert "do not go below" not in str(explained(LINE[::-1], floor=None))


def told(remainder, *rivals, survivors=2):
    explained = SimpleNamespace(remainder=remainder, rivals=rivals, survivors=survivors)
    result: Any = SimpleNamespace(explained=explained)
    return about_forecast(result)


@pytest.mark.parametrize(
    ("survivors", "remainder", "sentences"),
    [
        (
            2,
            0.0312,
            [
                "Together these components account for the forecast to within 3.1 % of the half-width of its 95 % "
                "interval."
            ],
        ),
        (1, 0.2, ["This component accounts for the forecast to within 20 % of the half-width of its 95 % interval."]),
        (0, 0.2, []),
        (2, None, []),
    ],
    ids=["two", "one", "nothing was found", "no projection"],
)
def test_how_near_the_components_come_to_the_forecast_is_told(survivors, remainder, sentences):
    assert told(remainder, survivors=survivors) == sentences


@pytest.mark.parametrize(
    ("shift", "end"),
    [
        (0.4, "it would put the end of the forecast higher by 40 % of that half-width."),
        (-1.2, "it would put the end of the forecast lower by 120 % of that half-width."),
        (0.05, "it would leave the end of the forecast where it is."),
    ],
)
def test_another_structure_is_told_with_where_it_would_put_the_end_of_the_forecast(shift, end):
    _, sentence = told(0.1, Rival("RW + Per0", 0.7, shift))
    assert sentence == f"Another structure is supported nearly as well by the rows (RW + Per0): {end}"


def test_of_many_other_structures_the_two_with_the_most_evidence_are_told():
    rivals = [Rival(name, behind, 0.0) for name, behind in (("A", 0.9), ("B", 0.1), ("C", 0.5))]
    _, *sentences = told(0.1, *rivals)
    assert [sentence.split("(")[1][0] for sentence in sentences] == ["B", "C"]


def test_a_series_tells_how_near_its_components_come_and_a_table_does_not():
    noise = np.random.default_rng(0).standard_normal(60)
    y = 50.0 + 0.5 * np.arange(60) + 5.0 * np.sin(2.0 * np.pi * np.arange(60) / 12) + 0.5 * noise
    said = Forecaster(scale="identity").fit(TIMES, y).explain()
    (sentence,) = [note for note in said.to_dict()["notes"] if "half-width of its 95 % interval" in note]
    assert sentence.startswith("Together these components account for the forecast to within ")
    for text in (str(said), said.to_markdown()):
        assert sentence in " ".join(text.split())
    X = np.column_stack([noise, noise[::-1]])
    table = Regressor(likelihood="gaussian").fit(X, noise + X[:, 1])
    assert "half-width" not in str(table.explain())
