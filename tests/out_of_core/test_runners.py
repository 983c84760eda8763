"""Results come in the order of the blocks, and once each, also if a process dies."""

import os
from pathlib import Path

import pytest

from farrier.out_of_core.runners import Here, Processes, runner_for
from farrier.out_of_core.sources import open_rows
from tests.out_of_core.rows import X, Y

SOURCE = open_rows(X, y=Y, rows=30)


def total(block, cells, more):
    return block.number, float(cells["x0"].sum()) + more


def dies_once(block, cells, path):
    """End the process at the third block, the first time."""
    if block.number == 2 and not Path(path).exists():
        Path(path).touch()
        os._exit(9)
    return block.number


def test_here_and_processes_give_the_same_in_order():
    here = list(Here().map(total, SOURCE.blocks, 1.0))
    assert [number for number, _ in here] == [0, 1, 2, 3, 4]
    assert list(Processes(2).map(total, SOURCE.blocks, 1.0)) == here


def test_the_blocks_of_a_process_that_died_are_given_to_another(tmp_path):
    found = list(Processes(2).map(dies_once, SOURCE.blocks, str(tmp_path / "died")))
    assert found == [0, 1, 2, 3, 4]
    assert (tmp_path / "died").exists()


@pytest.mark.parametrize(("jobs", "kind"), [(1, Here), (2, Processes)])
def test_the_number_of_jobs_chooses_the_runner(jobs, kind):
    assert isinstance(runner_for(SOURCE, None, jobs), kind)
