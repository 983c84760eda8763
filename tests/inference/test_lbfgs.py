"""Laws of the climb: it finds the top, stays within its limits, stops when it gains too little, and comes back."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.inference.lbfgs import GUIDED_WINDOW, WINDOW, climb, moving_of

RNG = np.random.default_rng(0)
A = RNG.standard_normal((5, 5))
CURVATURE = A @ A.T + np.eye(5)
TOP = np.array([0.5, -1.0, 2.0, 0.0, 1.5])


class Terms(NamedTuple):
    total: float


@dataclass
class Quadratic:
    """7 - (u - top)' B (u - top) / 2, minus infinity beyond a wall."""

    limit: float = 10.0
    size: float = 1.0
    wall: float = np.inf
    seen: list = field(default_factory=list)

    def start(self):
        return np.zeros(5)

    def limits(self):
        return np.tile([-self.limit, self.limit], (5, 1))

    def typical(self):
        return np.full(5, self.size)

    def terms(self, numbers):
        self.seen.append(numbers.copy())
        if numbers[2] > self.wall:
            return Terms(-np.inf), np.zeros(5)
        slope = -CURVATURE @ (numbers - TOP)
        return Terms(float(7.0 + 0.5 * slope @ (numbers - TOP))), slope


def test_the_top_of_a_quadratic_is_found():
    numbers, terms, _ = climb(Quadratic(), iterations=100, tolerance=1e-12)
    assert_allclose(numbers, TOP, atol=1e-4)
    assert terms[-1].total == pytest.approx(7.0, abs=1e-8)


def test_with_its_curvature_a_quadratic_takes_one_step():
    bound = Quadratic(size=100.0)
    found = climb(bound, iterations=100, tolerance=1e-12, curvature=CURVATURE)
    assert_allclose(found.numbers, TOP, atol=1e-6)
    assert len(bound.seen) <= 5


def test_limits_are_kept_with_a_curvature_too():
    bound = Quadratic(limit=0.8)
    found = climb(bound, iterations=100, tolerance=1e-12, curvature=CURVATURE)
    assert np.all(np.abs(bound.seen) <= 0.8)
    assert found.terms[-1].total == pytest.approx(climb(Quadratic(limit=0.8), 100, 1e-12).terms[-1].total, abs=0.02)


def test_the_slope_is_that_of_the_end():
    found = climb(Quadratic(), iterations=3, tolerance=0.0)
    assert_allclose(found.slope, Quadratic().terms(found.numbers)[1])


def test_the_bound_never_falls_from_step_to_step():
    _, terms, _ = climb(Quadratic(), iterations=100, tolerance=1e-12)
    totals = [one.total for one in terms]
    assert len(totals) > 3
    assert np.all(np.diff(totals) >= -1e-12)


def test_limits_are_kept():
    bound = Quadratic(limit=0.8)
    numbers, _, _ = climb(bound, iterations=100, tolerance=1e-12)
    assert np.all(np.abs(bound.seen) <= 0.8 + 1e-12)
    # the top lies outside: there is a wall where the bound still rises outwards
    slope = bound.terms(numbers)[1]
    inside = np.abs(numbers) < 0.8 - 1e-9
    assert not inside.all()
    assert_allclose(slope[inside], 0.0, atol=1e-3)
    assert np.all(slope[~inside] * numbers[~inside] > 0)


@dataclass
class Held(Quadratic):
    """The second number cannot move."""

    def limits(self):
        limits = super().limits()
        limits[1] = 0.0
        return limits


def test_a_number_with_equal_limits_stays_and_the_others_find_their_top():
    bound = Held()
    assert_array_equal(moving_of(bound.limits()), [0, 2, 3, 4])
    numbers, _, _ = climb(bound, iterations=100, tolerance=1e-12)
    assert not np.any(np.stack(bound.seen)[:, 1])
    assert_allclose(np.delete(bound.terms(numbers)[1], 1), 0.0, atol=1e-3)


def test_iterations_are_limited():
    bound = Quadratic()
    _, terms, _ = climb(bound, iterations=2, tolerance=0.0)
    assert len(terms) <= 3
    assert len(bound.seen) <= 6


def test_it_ends_when_a_window_of_steps_gained_less_than_the_tolerance():
    _, long, _ = climb(Quadratic(), iterations=100, tolerance=0.0)
    _, short, _ = climb(Quadratic(), iterations=100, tolerance=1.0, window=2)
    assert len(short) < len(long)
    steps = [one.total for one in short]
    assert steps[-1] - steps[-3] < 1.0
    assert all(later - earlier >= 1.0 for earlier, later in zip(steps[:-3], steps[2:-1], strict=True))


@pytest.mark.parametrize("window", [1, 2, 4])
@pytest.mark.parametrize("tolerance", [0.05, 0.5, 2.0])
def test_it_ends_with_the_first_window_that_gained_less_than_the_tolerance(window, tolerance):
    totals = [one.total for one in climb(Quadratic(size=0.1), iterations=100, tolerance=0.0).terms]
    ends = [i for i in range(window, len(totals)) if totals[i] - totals[i - window] < tolerance]
    found = climb(Quadratic(size=0.1), iterations=100, tolerance=tolerance, window=window)
    assert [one.total for one in found.terms] == totals[: ends[0] + 1]


def test_the_window_is_shorter_where_the_curvature_is_known():
    for curvature, window in ((None, WINDOW), (9.0 * np.eye(5), GUIDED_WINDOW)):
        assert len(climb(Quadratic(), iterations=100, tolerance=1e9, curvature=curvature).terms) == window + 1


def test_no_point_is_evaluated_twice():
    bound = Quadratic()
    climb(bound, iterations=100, tolerance=1e-3)
    assert len({tuple(numbers) for numbers in bound.seen}) == len(bound.seen)


def test_parameters_at_a_limit_do_not_hold_up_the_others_where_a_curvature_is_given():
    bound = Quadratic(limit=0.8)
    found = climb(bound, iterations=100, tolerance=1e-12, curvature=np.diag(np.diagonal(CURVATURE)))
    assert_allclose(found.numbers, climb(bound, iterations=100, tolerance=1e-12).numbers, atol=1e-3)


def test_minus_infinity_on_the_way_is_survived():
    bound = Quadratic(wall=1.0)
    numbers, terms, _ = climb(bound, iterations=100, tolerance=1e-12)
    assert np.isfinite(terms[-1].total)
    assert numbers[2] <= 1.0
    assert terms[-1].total > Quadratic().terms(np.zeros(5))[0].total
    assert any(seen[2] > 1.0 for seen in bound.seen)


def test_minus_infinity_at_the_start_stays_there():
    numbers, terms, _ = climb(Quadratic(wall=-1.0), iterations=100, tolerance=1e-12)
    assert_array_equal(numbers, np.zeros(5))
    assert terms[-1].total == -np.inf


def test_the_callback_hears_of_every_step():
    heard = []
    _, terms, _ = climb(
        Quadratic(), iterations=100, tolerance=1e-12, callback=lambda i, one: heard.append((i, one.total))
    )
    assert [i for i, _ in heard] == list(range(1, len(heard) + 1))
    assert [total for _, total in heard] == [one.total for one in terms]


@pytest.mark.parametrize("iterations", [1, 3, 100])
def test_the_last_terms_are_those_of_the_numbers(iterations):
    bound = Quadratic()
    numbers, terms, _ = climb(bound, iterations=iterations, tolerance=1e-12)
    assert terms[-1] == bound.terms(numbers)[0]


@dataclass
class Uneven(Quadratic):
    """Numbers of very different sizes."""

    told: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0, 1.0)

    def typical(self):
        return np.array(self.told)

    def terms(self, numbers):
        self.seen.append(numbers.copy())
        away = (numbers - TOP) / SIZES
        return Terms(float(7.0 - 0.5 * away @ CURVATURE @ away)), -(CURVATURE @ away) / SIZES


SIZES = np.array([1.0, 1e-3, 0.1, 1.0, 1e-2])


def test_parameters_divided_by_typical_scales_take_few_evaluations():
    blind, told = Uneven(), Uneven(told=tuple(SIZES))
    for bound in (blind, told):
        numbers, _, _ = climb(bound, iterations=400, tolerance=1e-9)
    assert_allclose(numbers / SIZES, TOP / SIZES, atol=1e-2)
    assert 2 * len(told.seen) < len(blind.seen)
