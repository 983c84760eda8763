"""What rows can be made of, by their kind: a series in time, a curve over one input, or a table.

The kind gives the pool that the horseshoe shrinks, and the changes that are tried in an explanation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import CentredPeriodic, Linear, RandomWalk, SquaredExponential
from farrier.search import candidates
from farrier.search.beliefs import PRIOR_SCALE
from farrier.search.changepoints import best_change, shifted
from farrier.search.enriching import enriched, fit_ordinary, split
from farrier.search.periods import find_periods
from farrier.search.scoring import START_NOISE, Evaluator
from farrier.search.series_changes import is_change
from farrier.search.starting_values import LENGTHSCALES
from farrier.search.structure import Move, Part, Structure
from farrier.search.table_candidates import Warps
from farrier.search.table_moves import Columns


def series_moves(evaluator: Evaluator, structure: Structure) -> list[Move]:
    """Other kernels in place of one component, and a step where the rows show a change of level."""
    kernels, clock = [part.kernel for part in structure.parts], evaluator.beliefs.clock
    # a calendar that is complete tells the period
    longer = clock is not None and not clock.complete
    extent = candidates.Extent.of(evaluator.X[:, 0])
    place, gain = best_change(evaluator, structure)
    fresh = [place] if gain > np.log(len(evaluator.y)) else []
    changes = [*candidates.changes_of(kernels), *fresh]
    moves = [Move(evaluator.on_time(candidates.step_at(one, extent))) for one in fresh]
    for i, kernel in enumerate(kernels):
        if candidates.acts_on(kernel):
            effects = [*candidates.curves_for(kernel, evaluator.X), *candidates.straight(kernel)]
            moves += [Move(one, i) for one in effects]
            continue
        if is_change(kernel):
            continue
        (over,) = candidates.over_time([kernel])
        others = [
            *candidates.simpler(over, evaluator.beliefs.walk),
            *candidates.grown(over, extent),
            *candidates.sides(over, changes, extent),
            *candidates.other_periods(over, extent, evaluator.known, longer=longer),
            *([Linear(0.0)] if isinstance(over, RandomWalk) else []),
        ]
        moves += [Move(evaluator.on_time(one), i) for one in others]
    return moves


REST_WEIGHT = 0.05
"""Prior scale, and weight at the start, of ordinary candidates beside the components that were found. [standard
deviations of y; by judgement]"""

MOSTLY_NOISE = 0.8
"""Noise variance of the second start of a fit of curves. [variance of y; by the suite `horseshoe` on 120 sets of white
noise: one takes more than four fifths of it for curves, without the second start 3 do]"""


NO_TABLE = Columns(Warps.none())
"""The columns where there is no table."""


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """What is known of rows beside their numbers; the beliefs of their evaluator say of which kind they are."""

    columns: Columns = NO_TABLE
    """The columns of a table."""
    calendar: Sequence[Kernel] = ()
    """Patterns of the calendar over the time of a series."""
    whole: bool = True
    """Whether these are all rows of a series."""

    def pool(
        self,
        evaluator: Evaluator,
        near: Structure | None = None,
        least: float = -np.inf,
        *,
        scaled: bool = False,
    ) -> Structure:
        """The pool, shrunk; `near` is another fit of the same rows, from whose values this one starts; of y on another
        scale, if it is `scaled`.

        Below a log likelihood of `least` it gets no score.
        """

        def parts(periods: Sequence[float]) -> list[Part]:
            kernels = self.ordinary(evaluator, periods, [])
            return [evaluator.part(kernel, evaluator.beliefs.scale(kernel)) for kernel in kernels]

        if not evaluator.of_series:
            return evaluator.fit_pool(parts(()), near, least)
        if evaluator.beliefs.of_time:
            return fit_ordinary(evaluator, parts, self.seasons(evaluator), near, least, scaled=scaled, whole=self.whole)
        if near is not None:
            return evaluator.fit_pool(near.parts, near, least)
        usual = parts(self.seasons(evaluator))
        ends = [evaluator.fit_pool(usual)]
        # a curve through every row can be as likely as noise: the evidence knows that it has much less room
        ends += [] if evaluator.noise.known else [evaluator.fit(usual, MOSTLY_NOISE)]
        return enriched(evaluator, max(ends, key=lambda one: one.score))

    def ordinary(self, evaluator: Evaluator, periods: Sequence[float], found: Sequence[Kernel]) -> list[Kernel]:
        """The kernels of the pool, without those in `found`."""
        beliefs = evaluator.beliefs
        if not evaluator.of_series:
            return self.columns.ordinary(evaluator, found)
        over = candidates.over_time(found)
        if not beliefs.of_time:
            return candidates.ordinary_curve(evaluator.X[:, 0], periods, over)
        series = candidates.ordinary_series(beliefs, periods, over)
        series += candidates.of_calendar(self.calendar, over)
        return [*map(evaluator.on_time, series), *candidates.lines(evaluator.X.shape[1], found)]

    def seasons(self, evaluator: Evaluator) -> list[float]:
        """The periods of the pool: those of the calendar, or that of y where the calendar does not tell it."""
        clock = evaluator.beliefs.clock
        if clock is None:
            return []
        if clock.seasons or clock.of_time:
            return list(clock.seasons)
        return find_periods(evaluator.X[:, 0], evaluator.y, 1, ())

    def beside(self, evaluator: Evaluator, structure: Structure) -> list[Part]:
        """The components of a structure, and the pool beside them at small weights."""
        found = [part.kernel for part in structure.parts]
        periods = candidates.periods_of(found)
        if evaluator.beliefs.of_time:
            # a season may be too small to be found, and still be there
            periods = candidates.distinct_periods([*periods, *self.seasons(evaluator)])
        weight = REST_WEIGHT
        # the components of a series have learned scales
        scale = None if evaluator.of_series else weight
        others = self.ordinary(evaluator, periods, found)
        return [*structure.parts, *(evaluator.part(kernel, weight, scale) for kernel in others)]

    def simple(self, evaluator: Evaluator) -> list[Structure]:
        """Structures that a pool hides: one change of level, two regimes, and in a curve a cycle whose shape drifts.

        Smooth curves beside an exact cycle imitate the last.
        """
        if not evaluator.of_series:
            return []
        x, extent = evaluator.X[:, 0], candidates.Extent.of(evaluator.X[:, 0])
        place, gain = best_change(evaluator, evaluator.empty())
        each = [[candidates.step_at(place, extent)]] if gain > np.log(len(evaluator.y)) else []
        each += [regimes] if not evaluator.noise.known and (regimes := split(evaluator)) else []
        drift = SquaredExponential(LENGTHSCALES[1] * extent.range)
        periods = () if evaluator.beliefs.of_time else find_periods(x, evaluator.y, 1)
        each += [[drift * CentredPeriodic(period)] for period in periods]
        parts = [[evaluator.part(kernel, PRIOR_SCALE) for kernel in kernels] for kernels in each]
        return [shifted(evaluator, evaluator.fit(one, START_NOISE)) for one in parts]

    def moves(self, evaluator: Evaluator, structure: Structure) -> list[Move]:
        """The kernels that may come into the explanation."""
        return series_moves(evaluator, structure) if evaluator.of_series else self.columns.moves(evaluator, structure)
