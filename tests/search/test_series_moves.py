"""Laws of the moves of a series: a step where the level changes, sides of changes, growth, and simpler kernels."""

from farrier.kernels.registry import CentredPeriodic, Linear, RandomWalk, SquaredExponential, Step
from farrier.search.rows import series_moves
from tests.search.made_series import LINE_AND_SEASON, SIZE, STEP, WHITE, fitted, of_curve, of_months


def moves_of(evaluator, structure):
    return [(move.place, move.kernel.formula()) for move in series_moves(evaluator, structure)]


def test_a_step_may_come_only_where_the_rows_show_a_change_of_level():
    evaluator = of_curve(STEP)
    ((place, formula),) = moves_of(evaluator, evaluator.empty())
    assert place is None
    assert "Step" in formula
    white = of_curve(WHITE)
    assert moves_of(white, white.empty()) == []


def test_a_component_is_tried_on_one_side_of_a_change_that_another_has():
    evaluator = of_curve(STEP)
    structure = fitted(evaluator, SquaredExponential(0.8), Step(0.2, 0.02 * SIZE) * CentredPeriodic(0.25))
    found = moves_of(evaluator, structure)
    assert {(0, "SE * Step"), (0, "SE * (1 - Step)")} <= set(found)
    assert all(formula.count("Step") <= 1 for place, formula in found if place == 1)


def test_a_season_may_grow_and_a_product_may_lose_a_factor():
    evaluator = of_curve(LINE_AND_SEASON)
    found = moves_of(evaluator, fitted(evaluator, CentredPeriodic(0.31), Linear(0.0) * SquaredExponential(0.5)))
    assert (0, "Lin * Per0") in found
    assert {(1, "SE"), (1, "Lin")} <= set(found)


def test_a_walk_may_be_a_line():
    evaluator = of_months(WHITE)
    walk = evaluator.beliefs.walk
    assert isinstance(walk, RandomWalk)
    assert (0, "Lin") in moves_of(evaluator, fitted(evaluator, walk))


def test_where_the_calendar_tells_all_seasons_no_longer_period_is_tried():
    short = CentredPeriodic(6 * SIZE)
    periods = []
    for evaluator in (of_months(LINE_AND_SEASON), of_curve(LINE_AND_SEASON)):
        moves = series_moves(evaluator, fitted(evaluator, short))
        factors = [factor for move in moves for factor in move.kernel.products()[0]]
        periods.append({round(float(one.period) / SIZE) for one in factors if isinstance(one, CentredPeriodic)})
    assert periods[0] <= {6, 12}
    assert any(one > 6 for one in periods[1])
