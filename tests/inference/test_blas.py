"""One thread while small matrices are worked on, and as many as before afterwards."""

import threading
from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from farrier.inference.blas import one_thread
from farrier.model.problem import Problem
from farrier.model.series import fit_series


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


class Block:
    """A block of code under `one_thread` in a Python thread of its own, which ends when it is told to."""

    def __init__(self):
        self.inside, self.leave = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        with one_thread():
            self.inside.set()
            self.leave.wait(10.0)

    def begin(self):
        self.thread.start()
        assert self.inside.wait(10.0)

    def end(self):
        self.leave.set()
        self.thread.join(10.0)
        assert not self.thread.is_alive()


@pytest.fixture
def two_threads() -> Iterator[set[int]]:
    """Two threads, and no Python thread that controls their number."""
    limits = threadpool_limits(2, user_api="blas")
    with threadpool_limits(None):
        pass
    yield threads()
    with limits:
        pass


def test_overlapping_blocks_leave_the_number_to_a_user_who_controls_it():
    block = Block()
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        block.begin()
        block.end()
        assert threads() == before


def test_one_thread_inside_and_as_many_as_before_after_it(two_threads):
    with one_thread():
        assert threads() == {1}
    assert threads() == two_threads
    with one_thread(small=False):
        assert threads() == two_threads


def test_blocks_inside_each_other_restore_at_the_outer_end(two_threads):
    with one_thread():
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == two_threads


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_overlapping_blocks_restore_when_the_last_ends_whichever_it_is(order, two_threads):
    blocks = [Block() for _ in order]
    for block in blocks:
        block.begin()
    for i in order:
        assert threads() == {1}
        blocks[i].end()
    assert threads() == two_threads


def test_an_error_inside_restores_as_well(two_threads):
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert threads() == two_threads


def test_pools_are_fitted_with_one_thread(two_threads):
    seen: list[set[int]] = []
    x = np.linspace(-1.0, 1.0, 30)

    def tell(what, bound):
        seen.append(threads())

    fit_series(Problem(x[:, None], np.sin(9.0 * x), scale="identity", tell=tell))
    assert threads() == two_threads
    assert seen
    assert all(one == {1} for one in seen)
