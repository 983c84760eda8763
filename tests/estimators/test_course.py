"""Laws of the time left: right where stages take what they usually take, within a factor of two where they differ."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.estimators.course import CYCLE, OUTLIERS, PLANNED, POOL, PRUNE, STAGES, TAILS, Course


def stages(kind, searches=1):
    """The stages of a fit in their order, each with its typical cost."""
    costs, tail = STAGES[kind.split()[-1]], TAILS[kind]
    cycle = [(stage, costs[stage]) for stage in CYCLE if stage in costs]
    plan = [(POOL, costs[POOL]), (PRUNE, costs[PRUNE]), *[(PLANNED, 0.0)] * searches, *cycle * searches]
    return [*plan, *tail.items()]


def watched(plan, kind, speed=0.1, fits=4):
    """The messages about a fit and, for each, the time when it came; and the time when the fit ended."""
    now, found = [0.0], []
    course = Course(lambda progress: found.append((now[0], progress)), kind, clock=lambda: now[0])
    for stage, cost in plan:
        course(stage, 0.0)
        for _ in range(fits):
            now[0] += speed * cost / fits
            course("fitting", 0.0)
    return found, now[0]


def ratios(found, end):
    """The estimated over the true time left, for every message that has an estimate, but for the last tenth."""
    return np.array([one.left / (end - at) for at, one in found if not math.isnan(one.left) and at < 0.9 * end])


@pytest.mark.parametrize("kind", ["series", "long series", "table", "sites"])
@pytest.mark.parametrize("speed", [0.01, 3.0])
def test_where_stages_take_their_usual_time_the_estimate_is_right(kind, speed):
    found, end = watched(stages(kind), kind, speed)
    close = ratios(found, end)
    assert len(close) > 10
    # near its end a stage is thought to take a fifth of its time still
    assert np.all((close > 0.8) & (close < 1.7))
    assert_allclose(np.median(close), 1.0, atol=0.1)


def test_two_searches_that_are_announced_count_twice():
    found, end = watched(stages("series", 2), "series")
    grown = [(at, one) for at, one in found if one.phase == CYCLE[0]]
    assert_allclose(ratios(grown, end), 1.0, atol=0.1)


def test_where_stages_differ_by_a_half_the_estimate_is_within_a_factor_of_two():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(50):
        plan = [(stage, cost * np.exp(rng.uniform(-0.4, 0.4))) for stage, cost in stages("series")]
        found = ratios(*watched(plan, "series"))
        inside.append(np.mean((found > 0.5) & (found < 2.0)))
    assert np.mean(inside) > 0.97


def test_what_is_done_never_falls_and_ends_near_one():
    # a search on a third scale that nobody announced, and outliers
    plan = [*stages("series")[:-2], *stages("series")[2:], (OUTLIERS, 0.0), *stages("series")]
    done = [one.done for _, one in watched(plan, "series")[0] if not math.isnan(one.done)]
    assert np.all(np.diff(done) >= 0.0)
    assert 0.9 < done[-1] <= 1.0


def test_before_the_first_stage_ends_and_in_unknown_stages_there_is_no_estimate():
    found, _ = watched([(POOL, 3.0), (PRUNE, 3.0), ("something else", 5.0)], "series")
    assert all(math.isnan(one.left) for _, one in found if one.phase in (POOL, "something else"))
    assert not math.isnan(found[-6][1].left)


def test_messages_name_the_stage_and_count():
    found, _ = watched(stages("table"), "table")
    assert {one.phase for _, one in found} == {stage for stage, _ in stages("table") if stage != PLANNED}
    assert [one.step for _, one in found][:3] == [1, 2, 3]
