"""What the fit of the ordinary candidates decides: whether there is a cycle, and which regressors have curves.

A series whose calendar has no season, such as one of years, may have a cycle: lynx, sunspots, an economy. Without it
its ups and downs are taken as growth that wanders, whose future has no limits. The effect of a regressor is a line,
unless the evidence for a curve is strong.
"""

from collections.abc import Callable, Sequence

import numpy as np

from farrier.kernels.registry import CentredPeriodic
from farrier.search.evidence import VERY_STRONG
from farrier.search.periods import find_periods
from farrier.search.regressors import acts_on, curves_for
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
    known = bool(seasons) or clock is None or not (clock.complete and clock.of_time)
    if near is not None:
        chosen = _bent_like(near, parts(seasons if known else _periods(near)))
        return evaluator.fit_pool(chosen, near, least)
    if known:
        return _with_curves(evaluator, evaluator.fit_pool(parts(seasons), None, least), least)
    plain = evaluator.fit_pool(parts(()), None, least)
    periods = find_periods(evaluator.X[:, 0], evaluator.y, 1)
    if periods:
        cyclic = evaluator.fit_pool(parts(periods), plain, least)
        plain = cyclic if cyclic.score > plain.score + VERY_STRONG else plain
    return _with_curves(evaluator, plain, least)


def _with_curves(evaluator: Evaluator, structure: Structure, least: float) -> Structure:
    """The structure with a curve in place of the line of each regressor for which the evidence is strong."""
    for place, part in enumerate(structure.parts):
        best = structure
        for curve in curves_for(part.kernel, evaluator.X):
            new = evaluator.part(curve, part.weight)
            parts = [new if i == place else one for i, one in enumerate(structure.parts)]
            bent = evaluator.fit(parts, structure.noise, least=least)
            if bent.score > max(best.score, structure.score + VERY_STRONG):
                best = bent
        structure = best
    return structure


def _bent_like(near: Structure, parts: Sequence[Part]) -> list[Part]:
    """Components with the effects that the regressors have in a similar structure."""
    there = {on: part for part in near.parts if (on := acts_on(part.kernel))}
    return [there.get(acts_on(part.kernel), part) for part in parts]


def _periods(structure: Structure) -> list[float]:
    """The periods of a structure, as they were before it was fitted."""
    factors = [factor for part in structure.parts for factor in part.centre.products()[0]]
    return [float(factor.period) for factor in factors if isinstance(factor, CentredPeriodic)]
