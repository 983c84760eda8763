"""One BLAS thread while matrices are small: more threads are slower, by a large factor on a busy machine.

The number of BLAS threads is a setting of the whole process, and fits may overlap in several Python threads. So fits
are counted: the first to begin sets one thread, and the last to end restores the original number.

threadpoolctl (from 3.8) lets one Python thread control the number, and ignores all others until that thread leaves its
outermost `with`. The first and the last fit may run in different threads, so each releases the control at once. If the
user controls the number in another thread, by `with threadpool_limits(...)`, it stays as the user set it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import final

from threadpoolctl import ThreadpoolController


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
