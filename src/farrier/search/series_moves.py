"""What may come into the explanation of a series: other kernels in place of a component, and a change of level."""

import numpy as np

from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import Linear, RandomWalk
from farrier.search import candidates, regressors
from farrier.search.changepoints import best_change
from farrier.search.scoring import Evaluator
from farrier.search.structure import Move, Structure


def series_moves(evaluator: Evaluator, structure: Structure) -> list[Move]:
    """Other kernels in place of one component, and a step where the rows show a change of level."""
    kernels = [part.kernel for part in structure.parts]
    extent = candidates.Extent.of(evaluator.X[:, 0])
    place, gain = best_change(evaluator, structure)
    fresh = [place] if gain > np.log(len(evaluator.y)) else []
    changes = [*candidates.changes_of(kernels), *fresh]
    moves = [Move(evaluator.on_time(candidates.step_at(one, extent))) for one in fresh]
    for i, kernel in enumerate(kernels):
        if regressors.acts_on(kernel):
            effects = [*regressors.curves_for(kernel, evaluator.X), *regressors.simpler(kernel)]
            moves += [Move(one, i) for one in effects]
            continue
        (over,) = candidates.over_time([kernel])
        others = [
            *candidates.simpler(over, evaluator.beliefs.walk),
            *candidates.grown(over, extent),
            *candidates.sides(over, changes, extent),
            *_other_periods(evaluator, over, extent),
            *([Linear(0.0)] if isinstance(over, RandomWalk) else []),
        ]
        moves += [Move(evaluator.on_time(one), i) for one in others]
    return moves


def _other_periods(evaluator: Evaluator, kernel: Kernel, extent: candidates.Extent) -> list[Kernel]:
    """A product with another period: a season, or a longer one where no calendar tells the period."""
    clock, found = evaluator.beliefs.clock, candidates.in_season(kernel, evaluator.known)
    if clock is None or clock.complete:
        return found
    return [*found, *candidates.longer(kernel, extent)]
