"""What one input led to. The rule: a right result, or one clear line; never anything else.

`judged` runs a call and names its outcome. "result" and "refused" are good; every other name is a failure: an exception
that is not meant for the user, an error of several lines or of more than `LONGEST` characters, a number that is not
finite, an output that is lost, a call that takes more than `SECONDS`.
"""

import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SECONDS = 60
"""Longest duration of one call."""
LONGEST = 700
"""Most characters of an error."""
GOOD = ("result", "refused")
"""Outcomes that are not failures."""
REFUSALS = (ValueError, FileNotFoundError)
"""Exceptions that tell the user what to correct."""


class FailureError(Exception):
    """A result that is wrong; its first argument is the name of the outcome."""


class HangError(BaseException):
    """A call took too long. Not an Exception, so that nothing catches it."""


@dataclass
class Tally:
    """Counts of outcomes for one kind of input, and the inputs that failed."""

    kind: str
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, outcome: str, about: str) -> None:
        """Count one outcome; `about` describes the input."""
        self.counts[outcome] += 1
        if outcome not in GOOD:
            self.failures.append(f"{self.kind}: {outcome}: {about}")

    def row(self) -> str:
        """One row of the table in docs/trust.md."""
        total, good = self.counts.total(), [self.counts[name] for name in GOOD]
        return f"| {self.kind} | {total:,} | {good[0]:,} | {good[1]:,} | {total - sum(good)} |"


def judged(call: Callable[[], Any]) -> tuple[str, str]:
    """The name of the outcome, and a line about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with limited(SECONDS):
                call()
        except HangError:
            return "hang", f"more than {SECONDS} s"
        except FailureError as failure:
            return str(failure.args[0]), " ".join(map(str, failure.args[1:]))
        except REFUSALS as error:
            text = str(error)
            if "\n" in text.strip() or len(text) > LONGEST:
                return "long error", f"{len(text)} characters: {text[:200]!r}"
            return "refused", text
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return "traceback", f"{type(error).__name__}: {str(error)[:300]}"
    return "result", ""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise HangError after so many seconds."""

    def ring(number: int, frame: Any) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check_finite(values: Any, what: str) -> None:
    """Fail if a number is not finite."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise FailureError("not finite", what)
