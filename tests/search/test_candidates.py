"""Laws of the candidates: no two alike, all of them fit the pool, and they answer to what was found."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.evaluation.products import Products
from farrier.kernels.normal import normal_form
from farrier.kernels.registry import (
    CentredPeriodic,
    DampedTrend,
    DayOfWeek,
    Linear,
    Matern12,
    RandomWalk,
    SquaredExponential,
    Step,
    StepUntil,
    Weekend,
)
from farrier.search import candidates
from farrier.search.beliefs import Beliefs
from farrier.search.candidates import (
    Extent,
    Signature,
    narrowed,
    ordinary_series,
    other_periods,
    periods_of,
    places_between,
    repeats_inside_window,
    sides,
    simpler,
    split_rows,
)
from farrier.search.learned_priors import Clock
from farrier.search.table_candidates import Warps, additional

X = np.linspace(-1.7, 1.7, 60)
BELIEFS = Beliefs(Clock.of(X))
series = partial(candidates.series, beliefs=BELIEFS)
LEFT = np.sin(2.0 * np.pi * X / 0.5) + 0.1 * np.random.default_rng(0).standard_normal(60)
FOUND = {
    "nothing": [],
    "simple": [SquaredExponential(0.4), Linear(0.2), CentredPeriodic(0.5, 1.0)],
    "products": [
        CentredPeriodic(0.5, 1.0) * Linear(-2.0) * SquaredExponential(1.0),
        Step(0.3, 0.02) * SquaredExponential(0.4),
        (1 - Step(0.3, 0.02)) * CentredPeriodic(0.5, 0.7),
        Linear(0.1) * Linear(-0.2),
        Matern12(0.2),
    ],
}
CASES = pytest.mark.parametrize("found", FOUND.values(), ids=FOUND.keys())
CHANGES = pytest.mark.parametrize("change", [None, 0.31], ids=["no change", "a change"])


def formulas(kernels):
    return [str(kernel) for kernel in kernels]


def factors(kernels):
    return [kernel.products()[0] for kernel in kernels]


@CASES
@CHANGES
def test_every_candidate_of_a_series_fits_the_pool_in_normal_form(found, change):
    kernels = series(X, LEFT, (0.8,), found, change)
    pool = Products.of(kernels, 1)
    assert formulas(pool) == formulas(kernels) == formulas(normal_form(kernel) for kernel in kernels)


def test_every_candidate_of_a_table_fits_the_pool():
    kernels = additional(Warps.none(4), (), [SquaredExponential(1.0, dims=1), Linear(0.0, dims=2)], [(0, 2)])
    assert formulas(Products.of(kernels, 4)) == formulas(kernels)


@CASES
@CHANGES
def test_no_two_candidates_are_alike_and_none_was_found_before(found, change):
    signatures = [Signature.of(kernel) for kernel in [*found, *series(X, LEFT, (0.8,), found, change)]]
    for place, one in enumerate(signatures):
        for other in signatures[max(place + 1, len(found)) :]:
            assert not one.alike(other), one


def test_the_periods_of_what_is_left_and_those_that_are_known_are_tried():
    tried = periods_of(series(X, LEFT, (0.8, 50.0), [], None))
    assert tried[0] == pytest.approx(0.5, rel=0.02)
    assert 0.8 in tried
    # that is longer than the series
    assert 50.0 not in tried
    assert {"Per0", "SE * Per0", "Lin * Per0", "Lin * SE * Per0"} <= set(formulas(series(X, LEFT, (), [], None)))


def test_a_known_period_that_was_found_is_tried_once():
    tried = periods_of(series(X, LEFT, (0.505,), [], None))
    assert [period for period in tried if 0.45 < period < 0.55] == [0.505]


def test_lengths_run_from_the_range_to_the_spacing():
    kernels = [kernel for kernel in series(X, LEFT, (), [], None) if str(kernel) == "SE"]
    lengths = [float(kernel.lengthscale) for kernel in kernels]
    assert lengths[0] == pytest.approx(3.4)
    assert np.all(np.diff(lengths) < 0)
    assert 3.4 / 59 < lengths[-1] < 3.0 * 3.4 / 59


def test_a_change_gives_both_sides_of_everything_found():
    found = FOUND["simple"]
    kernels = series(X, LEFT, (), found, 0.31)
    steps = [f for one in factors(kernels) for f in one if isinstance(f, Step | StepUntil)]
    assert all(float(step.location) == 0.31 for step in steps)
    tried = set(formulas(kernels))
    assert "Step" in tried
    for kernel in found:
        assert f"(1 - Step) * {kernel}" in tried
        # a cycle must come round three times after the change
        assert (f"Step * {kernel}" in tried) == (not isinstance(kernel, CentredPeriodic))
    assert not any("Step" in formula for formula in formulas(series(X, LEFT, (), found, None)))


def test_what_is_windowed_is_not_windowed_again():
    for one in factors(series(X, LEFT, (), FOUND["products"], 0.31)):
        assert sum(isinstance(f, Step | StepUntil) for f in one) <= 1


def test_a_component_has_two_sides_of_each_change_unless_it_has_one_already_or_its_cycle_does_not_come_round():
    extent, smooth = candidates.Extent(0.0, 1.0, 0.01), SquaredExponential(0.2)
    found = sides(smooth, [0.3, 0.6], extent)
    assert [str(one) for one in found] == 2 * [str(smooth * Step(0.3, 0.1)), str(smooth * (1 - Step(0.3, 0.1)))]
    assert sides(smooth * Step(0.5, 0.1), [0.3], extent) == []
    assert [str(one) for one in sides(CentredPeriodic(0.2), [0.3], extent)] == ["Per0 * Step"]


@pytest.mark.parametrize(
    ("period", "seasons", "shapes"),
    [
        (0.7, [0.35], [1.2]),
        (0.35, [0.7], [0.3]),
        (0.7 / 3, [0.7], [0.2]),
        (0.7, [0.7, 0.5], []),
        (0.35 * 1.01, [0.7], []),
    ],
    ids=["twice a season", "half a season", "a third", "neither", "not quite"],
)
def test_a_season_stands_in_for_a_period_that_it_divides_or_is_a_multiple_of(period, seasons, shapes):
    kernel, extent = CentredPeriodic(period, 0.6) * SquaredExponential(1.0), candidates.Extent(0.0, 1.0, 0.01)
    found = other_periods(kernel, extent, seasons, longer=False)
    cycles = [factor for one in found for factor in one.products()[0] if isinstance(factor, CentredPeriodic)]
    assert [float(cycle.period) for cycle in cycles] == seasons[: len(shapes)]
    assert_allclose([float(cycle.lengthscale) for cycle in cycles], shapes)


def test_a_cycle_may_be_the_harmonic_of_one_twice_or_three_times_as_long():
    extent, cycle = candidates.Extent(0.0, 1.0, 0.01), CentredPeriodic(0.12, 0.6)
    found = [factors[0] for one in other_periods(cycle, extent, (), longer=True) for factors in one.products()]
    assert_allclose([one.period for one in found], [0.24])
    assert_allclose([one.lengthscale for one in found], [0.3])
    assert len(other_periods(CentredPeriodic(0.1, 0.6) * SquaredExponential(1.0), extent, (), longer=True)) == 2
    assert other_periods(SquaredExponential(1.0), extent, (), longer=True) == []


@pytest.mark.parametrize("window", [Step(0.3, 0.02), 1 - Step(0.3, 0.02)], ids=["from", "until"])
def test_components_grow_to_three_factors_and_a_step(window):
    two, three = CentredPeriodic(0.5) * Linear(-2.0), CentredPeriodic(0.5) * Linear(-2.0) * SquaredExponential(1.0)
    without = set(formulas(series(X, np.zeros(60), (), [], None)))
    grown = set(formulas(series(X, np.zeros(60), (), [window * two], None))) - without
    assert grown == {str(normal_form(window * two * SquaredExponential(1.0)))}
    assert set(formulas(series(X, np.zeros(60), (), [window * three], None))) == without


def test_a_single_line_grows_to_a_parabola_and_no_further():
    assert "Lin * Lin" in formulas(series(X, LEFT, (), [Linear(0.2)], None))
    assert "Lin * Lin * Lin" not in formulas(series(X, LEFT, (), [Linear(0.2) * Linear(0.1)], None))


def test_ordinary_candidates_do_not_repeat_components():
    kernels = ordinary_series(BELIEFS, [0.5], [])
    line, trend, walk, rough, season = kernels
    assert [type(kernel) for kernel in (line, trend, walk, rough)] == [Linear, DampedTrend, RandomWalk, Matern12]
    assert periods_of([season]) == [0.5]
    # one of a similar lengthscale is the same, one of another is not
    near, far = (Matern12(factor * float(rough.lengthscale)) for factor in (1.5, 5.0))
    assert formulas(ordinary_series(BELIEFS, [0.5], [walk, near])) == formulas([line, trend, season])
    assert formulas(ordinary_series(BELIEFS, [0.5], [far])) == formulas(kernels)
    Products.of(kernels, 1)


def test_what_ordinary_series_are_made_of_is_tried_beside_the_rest():
    tried = set(formulas(series(X, LEFT, (), [], None)))
    assert set(formulas(BELIEFS.structural([0.5]))) <= tried
    assert {"SE", "Lin", "Per0"} <= tried


def test_a_damped_trend_has_a_line_and_a_walk_as_its_limits():
    trend = DampedTrend(0.3, -1.8, 0.4)
    line, walk = simpler(trend)
    assert isinstance(line, Linear)
    assert (walk.origin, walk.scale) == (trend.origin, trend.scale)
    assert [str(one) for one in simpler(Linear(0.0) * SquaredExponential(1.0))] == ["SE", "Lin"]


def test_distinct_periods_of_products_are_listed():
    kernels = [
        CentredPeriodic(1.0),
        CentredPeriodic(1.02) * Linear(0.0),
        SquaredExponential(0.3) * CentredPeriodic(0.5),
    ]
    assert periods_of(kernels) == [1.0, 0.5]


def test_inputs_along_which_a_kernel_is_flat_are_left_out():
    kernel = SquaredExponential(np.array([0.7, 40.0, 1.2, 9.0]))
    narrow = narrowed(kernel, 5.0)
    assert str(narrow) == "SE[0, 2]"
    assert np.array_equal(narrow.lengthscale, [0.7, 1.2])
    assert str(narrowed(SquaredExponential(np.array([8.0, 1.0]), dims=(1, 3)) * Linear(0.0, dims=0), 5.0)) == (
        "Lin[0] * SE[3]"
    )
    assert narrowed(SquaredExponential(np.array([0.7, 1.0])), 5.0) is None
    assert narrowed(SquaredExponential(np.array([70.0, 10.0])), 5.0) is None
    assert narrowed(Linear(0.0), 5.0) is None


def test_extent_is_the_range_and_the_usual_step():
    extent = Extent.of(np.array([3.0, 1.0, 1.0, 2.0, 10.0]))
    assert (extent.low, extent.high, extent.range, extent.spacing) == (1.0, 10.0, 9.0, 1.0)


def test_a_sharp_step_is_narrower_than_the_spacing():
    step = candidates.step_at(0.2, Extent.of(X))
    assert float(step.location) == 0.2
    assert float(step.width) < 3.4 / 59


def test_a_cycle_on_one_side_of_a_changepoint_must_repeat_there():
    extent = Extent(-1.0, 1.0, 0.01)
    early, late = 1 - Step(-0.5, 0.01), Step(0.5, 0.01)
    for side in (early, late):
        assert repeats_inside_window(side * CentredPeriodic(0.16, 1.0), extent)
        assert not repeats_inside_window(side * CentredPeriodic(0.18, 1.0), extent)
        assert repeats_inside_window(side * SquaredExponential(3.0), extent)
    assert repeats_inside_window(CentredPeriodic(1.9, 1.0), extent)


def test_a_second_regime_begins_at_a_part_of_the_rows_and_never_between_equal_values():
    parts = (0.2, 0.5, 0.8)
    assert split_rows(np.arange(10.0), parts) == [2, 5, 8]
    assert split_rows(np.repeat([0.0, 1.0, 2.0], 4), parts) == [4, 8]
    assert split_rows(np.repeat([0.0, 1.0], [9, 1]), parts) == []


def test_places_of_change_lie_between_distinct_values_with_rows_on_either_side():
    assert list(places_between(np.arange(6.0), 1)) == [1.5, 2.5, 3.5]
    assert list(places_between(np.repeat([0.0, 1.0, 5.0], 2), 1)) == [0.5, 3.0]
    assert list(places_between(np.repeat([0.0, 1.0, 5.0], 2), 2)) == []
    assert list(places_between(np.arange(3.0), 3)) == []


def test_patterns_that_were_found_are_not_offered_again():
    patterns = [DayOfWeek(), Weekend(), CentredPeriodic(1.0, 0.7) * Weekend()]
    offered = candidates.of_calendar(patterns, [Weekend(origin=0.3)])
    assert [str(kernel) for kernel in offered] == ["Weekday", "Per0 * Weekend"]
