"""One BLAS thread while matrices are small and many: more threads are slower, many times so on a busy machine.

The number of threads is a setting of the whole process. Fits may overlap in several Python threads, so they are
counted: the first to begin sets one thread, the last to end restores the number that was there before the first.

threadpoolctl (from 3.8) lets one Python thread control the number and ignores all others until the end of that thread's
outermost `with`. The thread that begins and the one that ends may differ, so each gives the control up at once. Where
the user holds it, in a `with threadpool_limits(...)` of another thread, the number stays the user's.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import final

from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread(small: bool = True) -> Iterator[None]:
    """One thread inside; the number before it afterwards. Nothing changes where matrices are not small."""
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
    """How many blocks of code ask for one thread at present, and what restores the number before them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._restore: Callable[[], None] = lambda: None

    def begin(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._restore = _libraries().limit(limits=1, user_api="blas").restore_original_limits
                _give_up_control()
            self._inside += 1

    def end(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()
                _give_up_control()


_LIMIT = _Limit()
"""Of this process."""


def _give_up_control() -> None:
    """The end of a `with` that changes no number."""
    with _libraries().limit(limits=None):
        pass


@cache
def _libraries() -> ThreadpoolController:
    """The BLAS libraries that are loaded. They are looked up once, which takes some milliseconds."""
    return ThreadpoolController()
