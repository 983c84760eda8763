"""Laws of the jitter and of inverses of triangles; one BLAS thread for small matrices, and as many as before after."""

import threading
from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_info, threadpool_limits

from farrier.inference.linalg import LEAF, cholesky, inverse_of_upper, jitter, one_thread
from farrier.model.problem import Problem
from farrier.model.series import fit_series

EPS = np.finfo(np.float64).eps


def gram(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n + 2))
    return A @ A.T


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e6])
def test_jitter_is_root_epsilon_of_the_mean_diagonal(scale):
    K = scale * gram(4)
    L = cholesky(K)
    extra = L @ L.T - K
    assert_allclose(np.diagonal(extra), np.sqrt(EPS) * np.trace(K) / 4, rtol=1e-5)
    assert_allclose(extra - np.diag(np.diagonal(extra)), 0.0, atol=1e-14 * np.trace(K))


def test_jitter_follows_the_precision():
    K = np.ones((3, 3), np.float32)
    assert_allclose(jitter(K), np.sqrt(np.finfo(np.float32).eps), rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e8])
def test_singular_gram_factorises(scale):
    x = np.linspace(0.0, 1.0, 40)
    smooth = np.exp(-0.5 * (x[:, None] - x) ** 2 / 3.0**2)
    assert np.linalg.eigvalsh(smooth)[0] < 1e-14
    assert np.all(np.isfinite(cholesky(scale * smooth)))
    assert np.all(np.isfinite(cholesky(scale * np.outer(x, x))))


def test_zero_matrix_has_a_factor_that_can_be_inverted():
    assert np.all(np.isfinite(np.linalg.inv(cholesky(np.zeros((3, 3))))))


@pytest.mark.parametrize("rows", [1, 2, LEAF, LEAF + 1, 3 * LEAF + 2])
def test_the_inverse_of_a_triangle_is_its_inverse_whatever_is_below(rows):
    U = np.asfortranarray(np.linalg.cholesky(gram(rows) + rows * np.eye(rows)).T)
    below = np.tril(np.random.default_rng(1).standard_normal((rows, rows)), -1)
    assert_allclose(np.triu(inverse_of_upper(np.asfortranarray(U + below))) @ U, np.eye(rows), atol=1e-12)


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


class Block:
    """A block of code under `one_thread` in a Python thread of its own, which ends when it is asked to stop."""

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
