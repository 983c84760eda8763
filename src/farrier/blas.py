"""One thread of BLAS for as long as matrices are small and many: two are slower, many times so on a busy machine.

Measured on two quiet cores, where nobody had set the number of threads: airline (144 rows) 6.6 s with two, 4.9 s with
one; the monthly CO2 series (521 rows) 71 s and 45 s.
"""

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """One thread inside, as many as before after it."""
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    """What is loaded, looked up once: it takes some milliseconds."""
    return ThreadpoolController()
