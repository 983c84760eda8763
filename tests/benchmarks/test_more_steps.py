"""Runs are compared with those of the same seed and settings that took fewer steps."""

import pytest
from benchmarks.more_steps import ALLOWED, compared, section

ROWS = 100


def run(steps, bound, seed=0, **settings):
    settings = {"set": "airline", "method": "paper", "points": 100, "steps": steps} | settings
    return {"settings": settings, "seed": seed, "figures": {"bound": bound, "rows": ROWS}}


def test_a_gain_is_in_nats_a_row_and_of_one_seed():
    lines = [run(300, 50.0), run(300, 40.0, seed=1), run(600, 60.0), run(600, 41.0, seed=1), run(600, 0.0, seed=2)]
    (found,) = compared(lines)
    assert (found.fewer, found.more) == (300, 600)
    assert found.gains == pytest.approx([0.1, 0.01])


def test_runs_of_other_settings_are_not_compared():
    lines = [run(300, 50.0), run(600, 60.0, points=60), run(600, 60.0, method="paper-as-printed")]
    assert compared(lines) == []
    assert section(lines) == ""


@pytest.mark.parametrize(("fall", "verdict"), [(0.9 * ALLOWED, "yes"), (1.1 * ALLOWED, "no")])
def test_the_smallest_gain_decides(fall, verdict):
    lines = [run(300, 50.0), run(600, 50.0 - fall * ROWS), run(300, 50.0, seed=1), run(600, 70.0, seed=1)]
    assert section(lines).rstrip().endswith(f"| {verdict} |")
