"""How far a fit is, and how long it will still take.

A search has stages, each with a typical cost (`STAGES`, in parts of one search of a series). What the stages so far
have cost in seconds, over what they typically cost, is the speed of this fit on this machine. The cost of the stages
that are still to come, times that speed, is the time left. How many scales of the target are searched is known once
their pools are pruned: each search is announced (`PLANNED`).

A stage that is left out, or that takes longer than usual, changes the estimate at once; the part that is done never
falls. `python -m benchmarks run progress` measures how good the estimates are.
"""

import math
from collections.abc import Callable
from time import perf_counter

from farrier.data.progress import Progress

PLANNED = "planning a search"
"""The phase that announces a search on one scale of the target."""
OUTLIERS = "looking for outliers"
"""The phase after which all begins again without the rows that are suspicious."""
POOL, PRUNE = "shrinking a pool of candidates", "pruning the pool"
CYCLE = (
    "growing the structure",
    "growing from nothing",
    "looking for a changepoint",
    "trying single components",
    "simplifying the structure",
)
"""The stages of one search, in their order."""
TAIL = (
    "fitting the predictive model",
    "fitting the long series",
    "fitting all rows",
    "computing the posterior of all rows",
    "appraising the components",
)
"""The stages after the last search, in their order."""
STAGES = {
    "series": {POOL: 3.0, PRUNE: 3.0, **dict(zip(CYCLE, (11.0, 17.0, 12.0, 8.0, 9.0), strict=True))},
    "table": {POOL: 10.0, PRUNE: 23.0, CYCLE[0]: 30.0, CYCLE[4]: 21.0},
    "sites": {POOL: 10.0, PRUNE: 10.0, CYCLE[0]: 10.0, CYCLE[4]: 6.0},
}
"""The typical cost of the stages: of a series, a table, and classes or counts. [arbitrary unit; by watching fits of
seven series, a table and classes]"""
TAILS = {
    "series": {TAIL[0]: 4.0, TAIL[4]: 4.0},
    "long series": {TAIL[1]: 30.0, TAIL[3]: 10.0, TAIL[4]: 4.0},
    "table": {TAIL[0]: 3.0, TAIL[4]: 5.0},
    "long table": {TAIL[0]: 5.0, TAIL[2]: 60.0, TAIL[4]: 5.0},
    "sites": {TAIL[0]: 26.0, TAIL[4]: 1.0},
    OUTLIERS: {TAIL[0]: 30.0, TAIL[4]: 2.0},
}
"""The typical cost of the stages after the search. [the same unit; by the same fits]"""
LEAST = 0.2
"""Least part of a stage that is thought to be left while it lasts, by judgement."""
FIRST = 0.04
"""The part of a fit before which no time is estimated, by judgement: the first fits are no measure of the others."""


class Course:
    """Turns the phases that a fit reports into `Progress`, for a callback."""

    def __init__(
        self,
        show: Callable[[Progress], None],
        kind: str = "series",
        searches: int = 1,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """`kind` is one of `TAILS`; all stages but the tail come `searches` times."""
        self._show, self._rounds = show, searches
        self._clock = perf_counter if clock is None else clock
        self._costs, self._tail = STAGES[kind.split()[-1]], TAILS[kind]
        self._count = 0
        self._stage, self._since = "", self._clock()
        self._spent = self._paid = 0.0
        self._planned = self._searched = 0
        self._best = 0.0

    def __call__(self, what: str, bound: float) -> None:
        """Take note of a phase, or of the end of a fit within it, and pass it on."""
        self._count += 1
        if what == PLANNED:
            self._planned += 1
            return
        if what != "fitting" and (what != self._stage or what in (POOL, PRUNE)):
            self._enter(what)
        done, left = self._estimate()
        self._best = self._best if math.isnan(done) else max(self._best, done)
        shown = math.nan if math.isnan(done) else self._best
        self._show(Progress(self._stage or what, self._count, 0, bound, shown, left))

    def _enter(self, stage: str) -> None:
        now = self._clock()
        if self._cost(self._stage):
            self._spent, self._paid = self._spent + now - self._since, self._paid + self._cost(self._stage)
        if stage == OUTLIERS:
            self._tail = TAILS[OUTLIERS]
        if stage == POOL and self._searched:
            # all begins again
            self._planned = self._searched = 0
            self._rounds = max(self._rounds - 1, 1)
        if stage == CYCLE[0] and self._stage != CYCLE[3]:
            self._searched += 1
        self._stage, self._since = stage, now

    def _cost(self, stage: str) -> float:
        return self._costs.get(stage, 0.0) or self._tail.get(stage, 0.0)

    def _search(self) -> float:
        """The cost of one search."""
        return sum(self._costs.get(stage, 0.0) for stage in CYCLE)

    def _after(self) -> float:
        """The cost of all stages after this one."""
        tail, stage = sum(self._tail.values()), self._stage
        again = (self._rounds - 1) * (self._costs[POOL] + self._costs[PRUNE] + self._search())
        if stage in (OUTLIERS, POOL):
            first = self._costs[POOL] if stage == OUTLIERS else 0.0
            return first + self._costs[PRUNE] + self._search() + tail + again
        if stage == PRUNE:
            return max(self._planned, 1) * self._search() + tail + again
        if stage in CYCLE:
            rest = sum(self._costs.get(one, 0.0) for one in CYCLE[CYCLE.index(stage) + 1 :])
            extra = self._searched > max(self._planned, 1)
            return (0.0 if extra else rest) + max(self._planned - self._searched, 0) * self._search() + tail + again
        if stage in TAIL:
            return sum(self._tail.get(one, 0.0) for one in TAIL[TAIL.index(stage) + 1 :])
        return math.nan

    def _estimate(self) -> tuple[float, float]:
        """The part that is done, and the seconds left; NaN where there is no estimate."""
        cost, after = self._cost(self._stage), self._after()
        if not self._paid or math.isnan(after):
            return math.nan, math.nan
        speed = self._spent / self._paid
        inside = (self._clock() - self._since) / max(speed, 1e-9)
        rest = after + max(cost - inside, LEAST * cost)
        done = (self._paid + inside) / (self._paid + inside + rest)
        return done, math.nan if done < FIRST else rest * speed
