"""Laws of what rows are made of: the pool of each kind, its seasons, and the changes that a pool hides."""

import numpy as np
import pytest

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import Category, DayOfWeek
from farrier.search.beliefs import Beliefs
from farrier.search.rows import Rows
from farrier.search.scoring import Evaluator
from farrier.search.table_candidates import Warps
from farrier.search.table_moves import Columns
from tests.search.made_series import LINE_AND_SEASON, SIZE, STEP, WHITE, X, of_curve, of_months

TABLE = np.column_stack([np.random.default_rng(0).standard_normal((30, 2)), np.arange(30) % 3])


def of_table(y):
    return Evaluator(TABLE, y, covariance_of(TABLE), beliefs=Beliefs.of(TABLE, coded=(2,)))


def formulas(kernels):
    return [kernel.formula() for kernel in kernels]


def test_a_series_in_time_is_made_of_level_trend_walk_seasons_and_the_calendar():
    week = DayOfWeek().rescale(SIZE, X[0, 0])
    found = formulas(Rows(calendar=(week,)).ordinary(of_months(WHITE), [12 * SIZE], []))
    assert found[:5] == ["Lin", "Damp", "RW", "Mat12", "Mat12 * Per0"]
    assert found[5:] == ["Weekday"]


def test_every_component_of_a_series_starts_at_the_median_of_its_learned_scale():
    evaluator = of_months(WHITE)
    for part in Rows().beside(evaluator, evaluator.empty()):
        assert part.scale == evaluator.beliefs.scale(part.kernel)


def test_a_curve_is_made_of_curves_and_lines_and_a_table_of_its_columns():
    curve = formulas(Rows().ordinary(of_curve(WHITE), [0.31], []))
    assert {"Lin", "SE", "Per0"} <= set(curve)
    assert "RW" not in curve
    evaluator = of_table(TABLE[:, 0])
    kernels = Rows(Columns(Warps.none(3, (2,)))).ordinary(evaluator, [], [])
    assert {"Cat[2]", "SE[0]", "SE[1]", "RQ[0, 1]"} <= set(formulas(kernels))
    for kernel in kernels:
        for factor in kernel.products()[0]:
            assert (2 in factor.positions(3)) == isinstance(factor, Category)


def test_seasons_are_those_of_the_calendar_or_of_y_where_it_has_none():
    rows = Rows()
    assert rows.seasons(of_months(LINE_AND_SEASON)) == [12 * SIZE]
    (period, *_) = rows.seasons(of_curve(LINE_AND_SEASON))
    assert period == pytest.approx(0.31, rel=0.05)
    assert rows.seasons(of_table(TABLE[:, 0])) == []


def test_beside_a_structure_stand_the_candidates_that_it_does_not_have():
    evaluator = of_months(LINE_AND_SEASON)
    structure = evaluator.fit([evaluator.part(evaluator.beliefs.walk, 0.3)], 0.3, 2)
    parts = Rows().beside(evaluator, structure)
    assert parts[0] is structure.parts[0]
    assert formulas(part.kernel for part in parts).count("RW") == 1
    # a season of the calendar may be too small to be found, and still be there
    assert "Mat12 * Per0" in formulas(part.kernel for part in parts)


def test_another_fit_of_the_same_series_starts_at_the_values_of_the_first():
    evaluator = of_months(LINE_AND_SEASON)
    first = Rows().pool(evaluator)
    other = of_months(LINE_AND_SEASON)
    again = Rows().pool(other, first)
    assert again.terms.total == pytest.approx(first.terms.total, abs=0.1)
    assert other.steps < evaluator.steps


def test_a_change_of_level_is_a_simple_structure_that_a_pool_hides_and_a_table_has_none():
    found = Rows().simple(of_curve(STEP))
    assert any(formulas(part.kernel for part in one.parts) == ["Step"] for one in found)
    assert Rows().simple(of_table(TABLE[:, 0])) == []
