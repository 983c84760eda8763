"""Every job gets one outcome, whatever happens to the workers; no worker outlives the pool."""

import os
import signal

import numpy as np
import pytest

from farrier import Forecaster
from farrier.fleet import pool as pools
from farrier.fleet.one_series import Job, Plan
from farrier.fleet.pool import Pool
from tests.fleet.series import months, values

PLAN = Plan.of(time="month", target="sales", horizon=2, levels=(80,), settings={})


def jobs(*names):
    return [Job(name, months(), values(name)) for name in names]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_outcomes_are_those_of_a_forecaster_and_workers_end_with_the_pool():
    with Pool(PLAN, 2) as pool:
        found = {}
        for outcome in pool.run([*jobs("a", "b", "c"), Job("short", months()[:2], values("short")[:2])]):
            found[outcome.name] = outcome
            workers = pool.processes
        assert len(workers) == 2
    assert not any(map(alive, workers))
    assert sorted(found) == ["a", "b", "c", "short"]
    assert "give at least 4" in found["short"].error
    forecaster = Forecaster().fit(months(), values("b"))
    alone = forecaster.forecast(2, levels=(80,))
    assert np.array_equal(found["b"].columns["high_80"], alone["high_80"])
    assert np.array_equal(found["b"].stamps, alone["time"])
    assert found["b"].rows == 16
    assert found["b"].structure == " + ".join(row.formula for row in forecaster.components_)


def test_a_killed_worker_loses_and_doubles_no_series():
    names = [f"s{i}" for i in range(5)]
    found = []
    with Pool(PLAN, 2) as pool:
        for outcome in pool.run(jobs(*names)):
            found.append(outcome.name)
            assert outcome.error is None
            if len(found) in (1, 3):
                os.kill(pool.processes[0], signal.SIGKILL)
    assert sorted(found) == names


def test_a_series_that_kills_every_worker_is_an_error_of_its_own(monkeypatch):
    # a worker that ends at the series "deadly", as the system ends one that takes too much memory
    code = (
        "import os; from farrier.fleet import one_series, worker; real = one_series.forecast_series\n"
        "one_series.forecast_series = lambda job, plan: os.kill(os.getpid(), 9) if job.name == 'deadly' "
        "else real(job, plan)\n"
        "worker.main()"
    )
    monkeypatch.setattr(pools, "COMMAND", (pools.COMMAND[0], "-c", code))
    with Pool(PLAN, 1) as pool:
        found = {outcome.name: outcome.error for outcome in pool.run(jobs("a", "deadly", "b"))}
    assert found.pop("deadly") == (
        "its process ended 3 times, the last time by signal 9: perhaps memory ran out, try fewer jobs."
    )
    assert found == {"a": None, "b": None}


def test_workers_that_cannot_start_end_the_run_with_the_reason(monkeypatch):
    monkeypatch.setattr(pools, "COMMAND", (pools.COMMAND[0], "-c", "raise SystemExit('no such library')"))
    with Pool(PLAN, 2) as pool, pytest.raises(RuntimeError, match=r"ended while they started.*no such library"):
        list(pool.run(jobs("a")))


def test_what_libraries_print_does_not_disturb_the_answers(monkeypatch):
    code = (
        "from farrier.fleet import one_series, worker; real = one_series.forecast_series\n"
        "def loud(job, plan):\n    print('loud', flush=True); return real(job, plan)\n"
        "one_series.forecast_series = loud\nworker.main()"
    )
    monkeypatch.setattr(pools, "COMMAND", (pools.COMMAND[0], "-c", code))
    with Pool(PLAN, 1) as pool:
        assert [outcome.error for outcome in pool.run(jobs("a"))] == [None]
