"""One thread while small matrices are worked on, and as many as before afterwards."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from farrier.inference.blas import one_thread
from farrier.model.learning import learn


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_one_thread_inside_and_as_many_as_before_after_it():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with one_thread():
            assert threads() == {1}
        assert threads() == before
        with one_thread(small=False):
            assert threads() == before


def test_structures_are_looked_for_with_one_thread():
    seen: list[set[int]] = []
    x = np.linspace(-1.0, 1.0, 30)
    with threadpool_limits(2, user_api="blas"):
        learn(x[:, None], np.sin(9.0 * x), transform="identity", tell=lambda what, bound: seen.append(threads()))
        assert threads() != {1}
    assert seen
    assert all(one == {1} for one in seen)
