"""Laws of the words about outliers: how many, the largest, and what the noise makes of them."""

from dataclasses import replace

import numpy as np
import pytest

from farrier import Regressor
from farrier.explain.explanation import Explanation
from farrier.explain.facts import Target
from farrier.explain.outlying import Outlier, Outlying
from farrier.search.structure import Decision

FIVE = tuple(Outlier(f"2001-0{i}", 90.0 + i, 60.0, 9.0 - i) for i in range(1, 6))


def test_the_three_largest_are_named():
    said = " ".join(Outlying(FIVE, robust=True, limit=4.0).sentences(Target("sales"), 120))
    assert said == (
        "Five of 120 rows are outliers, more than 4 standard deviations from what the other rows make expected. The "
        "largest are 2001-01 (91.0 where 60.0 was expected), 2001-02 (92.0 where 60.0 was expected) and 2001-03 (93.0 "
        "where 60.0 was expected). The noise is a Student-t, so they hardly move the components."
    )


def test_one_outlier_is_told_in_the_singular():
    said = " ".join(Outlying(FIVE[:1], robust=False, limit=4.0, compared=True).sentences(Target("sales"), 30))
    assert said.startswith("One of 30 rows is an outlier, ")
    assert "It is 2001-01 (" in said
    assert said.endswith("The noise is taken as normal: a Student-t does not explain sales clearly better.")


def test_a_student_t_that_was_not_fitted_is_not_called_worse(model):
    """Kernels that are given get no comparison of the noise, long series neither; a search of a short one does."""
    (last,) = model.explain().findings.about_outliers[-1:]
    assert last == "The noise is taken as normal; with likelihood='student-t' outliers have little influence."
    fitted = model.result_.fitted
    record = (Decision(0, "dropped", "noise: Student-t", -2.0, "evidence of the noise"),)
    compared = replace(model.result_, fitted=replace(fitted, record=record))
    assert Explanation(compared).findings.about_outliers[-1].endswith("a Student-t does not explain y clearly better.")


def test_nothing_is_said_where_there_is_nothing():
    assert Outlying().sentences(Target("sales"), 30) == []
    assert len(Outlying(robust=True).sentences(Target("sales"), 30)) == 1


@pytest.fixture(scope="module")
def model():
    generator = np.random.default_rng(0)
    X = generator.uniform(-1.0, 1.0, (50, 2))
    y = 3.0 * X[:, 0] + 0.1 * generator.standard_normal(50)
    y[7] += 4.0
    return Regressor(kernels=["Lin", "1"]).fit(X, y)


def test_a_table_names_rows_in_text_story_markdown_and_report(model, tmp_path):
    explanation = model.explain()
    assert "One of 50 rows is an outlier" in str(explanation).replace("\n", " ")
    assert "It is row 7" in str(explanation).replace("\n", " ")
    assert "It is row 7" in explanation.to_markdown()
    (entry,) = explanation.to_dict()["outliers"]
    assert entry["label"] == "row 7"
    assert entry["value"] == pytest.approx(model.outliers()["value"][0])
    page = model.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<section id="outliers"><h2>Outliers</h2>' in page
    assert '<td class="words">row 7</td>' in page
