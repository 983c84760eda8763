"""Laws of `progress`: a bar for True, that goes away; the user's callback; nothing else."""

import math

import numpy as np
import pytest

from farrier import Classifier, Forecaster, Regressor
from farrier.data.progress import Progress
from farrier.estimators.watching import Folds, kind_of, watched

X = np.linspace(0.0, 1.0, 20)[:, None]


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_shown_if_nobody_watches(progress, capfd):
    with watched(progress) as show:
        assert show is None
    Regressor(kernels=["Lin"], progress=progress).fit(X, X[:, 0])
    assert capfd.readouterr().err == ""


def test_a_bar_goes_away_also_if_the_fit_fails(monkeypatch):
    ended = []
    monkeypatch.setattr("farrier.estimators.progress_bar.Bar.stop", lambda self: ended.append(self))

    def fails():
        with watched(True) as show:
            assert show is not None
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        fails()
    assert len(ended) == 1


def test_true_shows_a_fit_on_standard_error_and_is_no_part_of_the_recipe(capfd):
    model = Regressor(kernels=["Lin"], progress=True).fit(X, X[:, 0])
    assert "fitting ..." in capfd.readouterr().err
    assert "progress" not in model.result_.recipe.code


def test_many_series_and_many_classes_are_counted():
    said = []
    days = np.arange("2024-01-01", "2024-01-21", dtype="M8[D]")
    table = {"unique_id": list("ab") * 20, "ds": np.repeat(days, 2), "y": np.arange(40.0)}
    pandas = pytest.importorskip("pandas")
    Forecaster(kernels=["Lin"], progress=said.append).fit(pandas.DataFrame(table))
    assert [(one.step, one.steps) for one in said] == [(0, 2), (1, 2), (2, 2)]
    said.clear()
    Classifier(kernels=["SE"], progress=said.append).fit(X, np.repeat(list("abc"), [7, 6, 7]))
    assert {(one.step, one.steps) for one in said} == {(1, 3), (2, 3), (3, 3)}


def test_several_fits_are_parts_of_one():
    said = []
    folds = Folds(said.append, "origins", [1.0, 0.5, 0.5])
    folds.start(0)
    folds(Progress("growing", 0, 0, 0.0, 0.5))
    folds.start(1)
    folds.start(2)
    folds(Progress("growing", 0, 0, 0.0, math.nan))
    assert [one.done for one in said] == [0.0, 0.25, 0.5, 0.75, 0.75]
    assert all(one.phase == "origins" for one in said)


def test_kinds_follow_the_inputs():
    series, table = np.zeros((100, 1)), np.zeros((100, 3))
    assert kind_of(series, coded=False, timed=False) == "series"
    assert kind_of(np.zeros((5000, 1)), coded=False, timed=False) == "long series"
    assert kind_of(table, coded=False, timed=True) == "series"
    assert kind_of(table, coded=False, timed=False) == kind_of(series, coded=True, timed=False) == "table"
    assert kind_of(np.zeros((9000, 3)), coded=False, timed=False) == "long table"
