"""A forked process cannot run compiled programs: this says so instead of hanging.

jax starts threads with its first program. A process forked later has a copy of their state but not the threads, and
waits for them without end. Fits and predictions of the stochastic tier call `refuse_after_fork` before they compute.
"""

import os

_process: list[int] = []
"""The id of the process that ran the first compiled program; a forked process inherits it."""


def refuse_after_fork() -> None:
    """Raise RuntimeError in a process that was forked after a compiled program had run."""
    _process.append(os.getpid())
    del _process[1:]
    if _process[0] != os.getpid():
        raise RuntimeError(
            'method="stochastic" cannot run in a process that was forked after such a fit: start processes by "spawn" '
            "or by joblib's loky, or fork before the first fit."
        )
