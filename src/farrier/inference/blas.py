"""One thread of BLAS for as long as matrices are small and many: two are slower, many times so on a busy machine."""

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_thread(small: bool = True) -> AbstractContextManager[object]:
    """One thread inside and as many as before after it; as many as there are where matrices are not small."""
    return _libraries().limit(limits=1 if small else None, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    """What is loaded, looked up once: it takes some milliseconds."""
    return ThreadpoolController()
