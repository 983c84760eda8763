"""A cycle in a series whose calendar has no season, such as one of years: lynx, sunspots, an economy.

Without a cycle its ups and downs are taken as growth that wanders, whose future has no limits.
"""

from collections.abc import Callable, Sequence

import numpy as np

from farrier.kernels.registry import CentredPeriodic
from farrier.search.periods import find_periods
from farrier.search.scoring import Evaluator
from farrier.search.structure import Part, Structure


def fit_ordinary(
    evaluator: Evaluator,
    parts: Callable[[Sequence[float]], list[Part]],
    seasons: Sequence[float],
    near: Structure | None = None,
    least: float = -np.inf,
) -> Structure:
    """The fit of ordinary candidates, made from their periods: the seasons, or a cycle where the calendar has none.

    A cycle is looked for among all periods, and so has chance on its side: it needs strong evidence. Where a similar
    structure is given, it has decided. `near` and `least` as in `Evaluator.fit_pool`.
    """
    clock = evaluator.beliefs.clock
    if seasons or clock is None or not (clock.complete and clock.of_time):
        return evaluator.fit_pool(parts(seasons), near, least)
    if near is not None:
        return evaluator.fit_pool(parts(_periods(near)), near, least)
    settings, plain = evaluator.settings, evaluator.fit_pool(parts(()), None, least)
    periods = find_periods(evaluator.X[:, 0], evaluator.y, 1, settings=settings.periods)
    if not periods:
        return plain
    cyclic = evaluator.fit_pool(parts(periods), plain, least)
    return cyclic if cyclic.score > plain.score + settings.growing.strong_evidence else plain


def _periods(structure: Structure) -> list[float]:
    """The periods of a structure, as they were before it was fitted."""
    factors = [factor for part in structure.parts for factor in part.centre.products()[0]]
    return [float(factor.period) for factor in factors if isinstance(factor, CentredPeriodic)]
