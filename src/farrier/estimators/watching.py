"""What an estimator does with `progress`: None or False, True for a bar, or the user's callback."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

import numpy as np

from farrier.data.progress import Progress
from farrier.estimators.course import Course
from farrier.model.tiers import EXACT_ROWS, EXACT_TABLE_ROWS, Tell

Show = Callable[[Progress], None]
"""A callback that gets the state of a fit."""


@contextmanager
def watched(progress: bool | Show | None) -> Iterator[Show | None]:
    """The callback of a fit, if anybody watches it; a bar is removed when the fit ends or fails."""
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield None
    else:
        from farrier.estimators.progress_bar import Bar

        bar = Bar()
        try:
            yield bar
        finally:
            bar.stop()


def kind_of(inputs: np.ndarray, *, coded: bool, timed: bool) -> str:
    """The kind of a fit of standardised inputs, by which `Course` knows its stages."""
    if (inputs.shape[1] > 1 or coded) and not timed:
        return "table" if len(inputs) <= EXACT_TABLE_ROWS else "long table"
    return "series" if len(inputs) <= EXACT_ROWS else "long series"


def told(show: Show | None, kind: str = "series", searches: int = 1) -> Tell:
    """The function that a fit calls with its phase and bound; `kind` and `searches` are those of `Course`."""
    return (lambda what, bound: None) if show is None else Course(show, kind, searches)


class Folds:
    """The progress of several fits, one after the other; their weights are the parts of the time that each takes."""

    def __init__(self, show: Show | None, phase: str, weights: list[float]) -> None:
        self._show, self._phase, self._weights = show, phase, weights
        self._fold, self._begin = 0, perf_counter()

    def start(self, fold: int) -> None:
        """Say that a fit begins; they are counted from 0."""
        self._fold = fold
        self(Progress("", 0, 0, math.nan, 0.0))

    def __call__(self, progress: Progress) -> None:
        """Pass the progress of the current fit on as a part of all."""
        if self._show is None:
            return
        inside = 0.0 if math.isnan(progress.done) else progress.done
        before, own = sum(self._weights[: self._fold]), self._weights[self._fold]
        done = (before + own * inside) / sum(self._weights)
        left = (perf_counter() - self._begin) * (1.0 - done) / done if done else math.nan
        self._show(Progress(self._phase, self._fold + 1, len(self._weights), progress.bound, done, left))
