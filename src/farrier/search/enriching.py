"""What the rows show beyond the ordinary candidates, for a series in time and for a curve over another input.

Growth, seasons of the calendar and noise are in every pool of a series. A cycle that the calendar does not know
(lynx, sunspots, a shop with ten hours a day), a season that grows and what changes enter where they gain far more than
chance gives. The effect of a regressor is a line, unless the evidence for a curve is very strong.

The pool of a curve holds smooth curves, a line and cycles. Where a residual shows more, such as a second cycle or a
short wiggle, and where a component is there only on one side of a change, that enters the pool and is shrunk with all
others.
"""

from collections.abc import Callable, Sequence

import numpy as np

from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import CentredPeriodic, Linear
from farrier.search import candidates
from farrier.search.beliefs import PRIOR_SCALE
from farrier.search.candidates import acts_on, curves_for
from farrier.search.changepoints import best_change, best_simple_kernels
from farrier.search.evidence import VERY_STRONG
from farrier.search.periods import find_periods, waves_gain
from farrier.search.scoring import START_NOISE, Evaluator
from farrier.search.series_changes import is_change, with_changes
from farrier.search.starting_values import SAME_PERIOD
from farrier.search.structure import Move, Part, Structure

FAR = 4.0 * VERY_STRONG
"""Evidence that a cycle beyond the calendar and a season that grows need before they predict. [nats; of 100 series
three have one, and gain 21 to 560]"""
LONG = 3.0
"""Times as much that the waves of a cycle longer than the season must gain before it is fitted: trends that wander look
like long cycles. [by judgement]"""


def fit_ordinary(
    evaluator: Evaluator,
    parts: Callable[[Sequence[float]], list[Part]],
    seasons: Sequence[float],
    near: Structure | None = None,
    least: float = -np.inf,
    *,
    scaled: bool = False,
    whole: bool = True,
) -> Structure:
    """The fit of ordinary candidates, made from their periods: the seasons, and what the rows show beyond these.

    Where a similar structure is given, it has decided; but on another scale of y (`scaled`) growth may break where it
    did not. `whole` as in `with_changes`, `near` and `least` as in `Evaluator.fit_pool`.
    """
    if near is not None:
        found = evaluator.fit_pool(_like(evaluator, near, parts, seasons), near, least)
        fresh = scaled and not any(is_change(part.kernel) for part in near.parts)
        return with_changes(evaluator, found, least, whole=whole) if fresh and np.isfinite(found.score) else found
    usual = evaluator.fit_pool(parts(seasons), None, least)
    clock = evaluator.beliefs.clock
    if clock is not None and clock.complete and clock.of_time and not seasons:
        # a cycle takes the place of growth that wanders; it is looked for among all periods, and so has chance on its
        # side
        for period in find_periods(evaluator.X[:, 0], evaluator.y, 1):
            usual = _better(evaluator, usual, parts([period]), least, VERY_STRONG)
    usual = _with_what_shows(evaluator, usual, parts, seasons, least, whole=whole)
    return _with_curves(evaluator, usual, least)


def _with_what_shows(
    evaluator: Evaluator,
    usual: Structure,
    parts: Callable[[Sequence[float]], list[Part]],
    seasons: Sequence[float],
    least: float,
    *,
    whole: bool,
) -> Structure:
    """The structure with what ordinary candidates do not have, each where it gains far more than chance gives: a cycle
    that the calendar does not know, a season that grows, what changes (series_changes.py)."""
    x, y = evaluator.X[:, 0], evaluator.y
    if not np.isfinite(usual.score):
        return usual
    # a trend with seasons imitates a cycle, so that the residual does not show it: waves of both are compared
    for period in find_periods(x, y, 1, seasons) if seasons else ():
        needed = FAR * (LONG if period > seasons[0] else 1.0)
        if waves_gain(x, y, seasons, period) > needed:
            usual = _better(evaluator, usual, parts([*seasons, period]), least, FAR)
    for kernel in _growth(evaluator, usual, seasons):
        part = evaluator.part(kernel, PRIOR_SCALE)
        usual = _better(evaluator, usual, [*usual.parts, part], least, FAR)
    return with_changes(evaluator, usual, least, whole=whole)


def _growth(evaluator: Evaluator, structure: Structure, seasons: Sequence[float]) -> list[Kernel]:
    """The first season with an amplitude that grows, if it gains enough with all else fixed."""
    clock = evaluator.beliefs.clock
    if clock is None or not seasons:
        return []
    kernel = evaluator.on_time(Linear(clock.origin) * CentredPeriodic(seasons[0]))
    (gain,) = evaluator.screen(structure, [Move(kernel)])
    return [kernel] if gain > VERY_STRONG else []


def _better(evaluator: Evaluator, usual: Structure, parts: Sequence[Part], least: float, needed: float) -> Structure:
    """The components, fitted from the values of a similar structure, if they have so much more evidence; else that."""
    found = evaluator.fit_pool(parts, usual, least)
    return found if found.score > usual.score + needed else usual


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


def _like(
    evaluator: Evaluator, near: Structure, parts: Callable[[Sequence[float]], list[Part]], seasons: Sequence[float]
) -> list[Part]:
    """Components with the periods, the effects of regressors and the changes of a similar structure.

    Where something changes, what grows beside it is what grows there.
    """
    if any(is_change(part.kernel) for part in near.parts):
        return [part if is_change(part.kernel) else evaluator.part(part.kernel, part.weight) for part in near.parts]
    periods = [one for one in _periods(near) if all(abs(one / season - 1.0) > SAME_PERIOD for season in seasons)]
    usual = parts([*seasons, *periods])
    effects = {on: part for part in near.parts if (on := acts_on(part.kernel))}
    there = {part.kernel.formula() for part in usual}
    more = [
        part
        for part in near.parts
        if not evaluator.beliefs.ordinary(part.kernel)
        and not acts_on(part.kernel)
        and part.kernel.formula() not in there
    ]
    return [*(effects.get(acts_on(part.kernel), part) for part in usual), *more]


def _periods(structure: Structure) -> list[float]:
    """The periods of a structure's cycles, as they were before it was fitted."""
    cycles = [part.centre.products()[0] for part in structure.parts]
    return [float(one[-1].period) for one in cycles if isinstance(one[-1], CentredPeriodic) and len(one) == 2]


ROUNDS = 3
"""Most rounds, and most components that a score test adds in one. [rounds; by judgement]"""
SMALLEST = 0.03
"""Size of a component below which it goes when others come, or when the rows of a long series are fitted. [standard
deviations of y; by judgement]"""
LARGE = 0.15
"""Size of a component from which products with it are tried, and whether it is there on one side of a change only.
[standard deviations of y; by judgement]"""


def enriched(evaluator: Evaluator, structure: Structure) -> Structure:
    """The pool with what the rows show beyond it, fitted again."""
    for turn in range(ROUNDS):
        new = _shown(evaluator, structure)
        new += split(evaluator) if turn == 0 else []
        new += one_sided(evaluator, structure) if turn == 0 or not new else []
        sizes = evaluator.sizes(structure)
        kept = [part for part, size in zip(structure.parts, sizes, strict=True) if size > SMALLEST]
        there = {repr(part.kernel) for part in kept}
        new = [kernel for kernel in new if repr(kernel) not in there]
        if not new:
            break
        parts = [*kept, *(evaluator.part(kernel, PRIOR_SCALE) for kernel in new)]
        wider = evaluator.fit(parts, 0.8 * structure.noise)
        assert wider.terms is not None
        assert structure.terms is not None
        gain = wider.terms.total - structure.terms.total
        if gain < 0.0:
            break
        structure = wider
        if gain < 2.0:
            break
    return structure


def _shown(evaluator: Evaluator, structure: Structure) -> list[Kernel]:
    """Candidates that gain at fixed parameters, one of each formula, those with the highest gain first."""
    x = evaluator.X[:, 0]
    place, gain = best_change(evaluator, structure)
    change = place if gain > np.log(len(x)) else None
    sizes = evaluator.sizes(structure)
    large = [part.kernel for part, size in zip(structure.parts, sizes, strict=True) if size > LARGE]
    fresh = candidates.series(x, evaluator.residual(structure), list(evaluator.known), large, change, evaluator.beliefs)
    extent = candidates.Extent.of(x)
    fresh = [kernel for kernel in fresh if not candidates.is_noise(kernel, extent)]
    gains = evaluator.screen(structure, [Move(kernel) for kernel in fresh])
    found: dict[str, Kernel] = {}
    for i in np.argsort(gains)[::-1]:
        if gains[i] > VERY_STRONG and len(found) < ROUNDS:
            found.setdefault(fresh[i].formula(), fresh[i])
    return list(found.values())


def split(evaluator: Evaluator) -> list[Kernel]:
    """One simple kernel before a change and another one after it, where two are far better than one for all rows.

    The two sides share only the noise variance, so they are evaluated separately.
    """
    order = np.argsort(evaluator.X[:, 0], kind="stable")
    x, y = evaluator.X[order, 0], evaluator.y[order]
    best: tuple[float, list[Kernel]] = (-np.inf, [])
    # every tenth of the rows but the outermost
    for count in candidates.split_rows(x, tuple(k / 10 for k in range(2, 9))):
        sides = [best_simple_kernels(evaluator, x[rows], y[rows]) for rows in (slice(None, count), slice(count, None))]
        step = candidates.step_at(0.5 * (x[count - 1] + x[count]), candidates.Extent.of(x))
        for left, right in zip(*sides, strict=True):
            if left[0] + right[0] > best[0]:
                best = left[0] + right[0], [(1 - step) * left[1], step * right[1]]
    one, simple = max(best_simple_kernels(evaluator, x, y), key=lambda found: found[0])
    if best[0] <= one + VERY_STRONG:
        return []
    # two periods chosen among many fit short sides of noise: the evidence of both as a whole has a price for each
    together, alone = (
        evaluator.fit([evaluator.part(kernel, PRIOR_SCALE) for kernel in kernels], START_NOISE)
        for kernels in (best[1], [simple])
    )
    return best[1] if together.score > max(alone.score, evaluator.empty().score) + VERY_STRONG else []


def one_sided(evaluator: Evaluator, structure: Structure) -> list[Kernel]:
    """A large component that is there only before or after a change, where that gains much."""
    x, sizes = evaluator.X[:, 0], evaluator.sizes(structure)
    extent, places = candidates.Extent.of(x), [float(one) for one in np.quantile(x, np.linspace(0.1, 0.9, 15))]
    large = [int(i) for i in np.argsort(sizes)[::-1] if sizes[i] > LARGE][:4]
    found: list[tuple[float, Kernel]] = []
    for i in large:
        moves = [Move(side, i) for side in candidates.sides(structure.parts[i].kernel, places, extent)]
        gains = evaluator.screen(structure, moves) if moves else np.zeros(0)
        found += [(float(gain), move.kernel) for gain, move in zip(gains, moves, strict=True)]
    gain, kernel = max(found, key=lambda one: one[0], default=(0.0, None))
    return [kernel] if kernel is not None and gain > VERY_STRONG else []
