"""Linear algebra: the array library, jitter for Cholesky factors, inverses of triangles, and the threads of BLAS.

A formula that numpy and jax both need is written once and takes a `World`: `world.xp` is numpy or jax.numpy,
`world.special` is scipy.special or jax.scipy.special. `NUMPY` is defined here, the one of jax in paper/.

The Gram matrix of a smooth kernel is singular to working precision, so a small multiple of the identity is added before
it is factorised. Jitter is proportional to the diagonal and depends on the dtype. For inducing variables the bound
stays valid: u is then the function plus a tiny independent noise.

While matrices are small, more BLAS threads than one are slower, by a large factor on a busy machine. Their number is a
setting of the whole process, and fits may overlap in several Python threads. So fits are counted: the first to begin
sets one thread, and the last to end restores the original number. threadpoolctl (from 3.8) lets one Python thread
control the number, and ignores all others until that thread leaves its outermost `with`. The first and the last fit may
run in different threads, so each releases the control at once. If the user controls the number in another thread, by
`with threadpool_limits(...)`, it stays as the user set it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
from scipy import special
from scipy.linalg.blas import dtrmm  # pyright: ignore[reportAttributeAccessIssue]
from scipy.linalg.lapack import dtrtri  # pyright: ignore[reportAttributeAccessIssue]
from threadpoolctl import ThreadpoolController

LEAF = 80
"""Most rows of a triangle that LAPACK inverts as a whole. [rows; measured with OpenBLAS on one core: from 48 to 160 the
times differ by less than a third, and 300 rows take 0.4 ms where LAPACK alone takes 0.65]"""


@final
@dataclass(frozen=True)
class World:
    """An array library: its functions, its special functions, and its way to stop derivatives."""

    xp: Any
    special: Any
    constant: Callable[[Any], Any]
    """Treats a value as a constant when derivatives are taken."""


NUMPY = World(np, special, lambda value: value)
"""numpy and scipy."""


@cache
def relative_jitter(dtype: np.dtype) -> float:
    """Jitter relative to the mean of the diagonal: the square root of the machine epsilon."""
    return float(np.sqrt(np.finfo(dtype).eps))


def least_jitter(dtype: np.dtype) -> float:
    """Jitter for a matrix of zeros, large enough that its factor can be inverted without overflow."""
    return float(np.sqrt(np.finfo(dtype).tiny))


def jitter(C: np.ndarray) -> float:
    """The jitter to add to the diagonal of a matrix (N, N) before it is factorised."""
    return relative_jitter(C.dtype) * float(np.trace(C)) / len(C)


def add_slope_of_jitter(G: np.ndarray) -> None:
    """Turn derivatives by C + jitter(C) I, matrices (S, N, N), into those by C: each entry of its diagonal is in the
    jitter of all. Only diagonals change."""
    diagonals = np.einsum("snn->sn", G)
    diagonals += relative_jitter(G.dtype) * diagonals.mean(axis=1, keepdims=True)


def cholesky(K: np.ndarray) -> np.ndarray:
    """L with L L' = K + jitter I."""
    return np.linalg.cholesky(K + max(jitter(K), least_jitter(K.dtype)) * np.eye(len(K)))


def inverse_of_upper(U: np.ndarray) -> np.ndarray:
    """The inverse of an upper triangular matrix, column-major. What is below the diagonal of U is not read, and what is
    below that of the inverse means nothing.

    LAPACK's own routine takes twice the time of a Cholesky factor, which has as many operations. By halves,

        [A  B]^-1   [A^-1  -A^-1 B D^-1]
        [0  D]    = [0            D^-1 ]

    most of the work is products of matrices.
    """
    half = len(U) // 2
    if len(U) <= LEAF:
        return dtrtri(U, lower=0)[0]
    A, D = inverse_of_upper(U[:half, :half]), inverse_of_upper(U[half:, half:])
    out = np.zeros(U.shape, order="F")
    out[:half, :half], out[half:, half:] = A, D
    out[:half, half:] = dtrmm(1.0, D, dtrmm(-1.0, A, U[:half, half:]), side=1, overwrite_b=1)
    return out


@contextmanager
def one_thread(small: bool = True) -> Iterator[None]:
    """Use one BLAS thread inside the block, and restore the number afterwards; does nothing if not `small`."""
    if not small:
        yield
        return
    _LIMIT.begin()
    try:
        yield
    finally:
        _LIMIT.end()


@final
class _Limit:
    """Counts the active blocks that need one thread, and restores the original number after the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._restore: Callable[[], None] = lambda: None

    def begin(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._restore = _libraries().limit(limits=1, user_api="blas").restore_original_limits
                _release_control()
            self._inside += 1

    def end(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()
                _release_control()


_LIMIT = _Limit()
"""The limit of this process."""


def _release_control() -> None:
    """Let other Python threads set the number: leaving a `with` releases it, here one that changes nothing."""
    with _libraries().limit(limits=None):
        pass


@cache
def _libraries() -> ThreadpoolController:
    """The loaded BLAS libraries. The lookup takes some milliseconds and is done once."""
    return ThreadpoolController()
