"""The curvature of the log posterior density at the start of a fit, from the fit that its components come from.

A fit in the search mostly differs from an earlier one by one component. The curvature that the earlier fit had at its
mode (structure.py) is then a good guess of the new one: L-BFGS needs half as many steps with it as with typical
scales of the parameters. Parameters that the earlier fit did not have keep their typical scales.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from farrier.inference.parameter_vector import ExactModel
from farrier.search.structure import Mode, Part


def curvature_at_start(
    parts: Sequence[Part], model: ExactModel, moving: np.ndarray, typical: np.ndarray
) -> np.ndarray | None:
    """H for the parameters `moving` of a model of these components; None if none of them was fitted before.

    `typical` are the typical scales of all parameters.
    """
    modes = {id(part.origin.mode): part.origin.mode for part in parts if part.origin is not None}
    if not modes:
        return None
    often = Counter(id(part.origin.mode) for part in parts if part.origin is not None)
    mode = modes[often.most_common(1)[0][0]]
    old = places_before(parts, model, mode)
    rank = np.full(len(mode.u), -1)
    rank[mode.moving] = np.arange(len(mode.moving))
    # the index of each parameter among those that the earlier fit moved, -1 if it is not there
    before = np.where(old[moving] >= 0, rank[old[moving]], -1)
    H = np.diag(typical[moving] ** -2.0)
    known = np.flatnonzero(before >= 0)
    H[np.ix_(known, known)] = mode.laplace.H[np.ix_(before[known], before[known])]
    return H


def places_before(parts: Sequence[Part], model: ExactModel, mode: Mode) -> np.ndarray:
    """The index of each parameter of a model in the vector of an earlier mode; -1 if it is not there.

    Of two components that come from the same one, the second counts as new.
    """
    count, earlier = len(model.pool), len(mode.model.pool)
    old = np.full(count + 1 + len(model.pool.numbers), -1)
    # the level is the last component, and the noise follows
    old[count - 1 : count + 1] = [earlier - 1, earlier]
    now, then = _numbers_of(model), _numbers_of(mode.model)
    for i, part in enumerate(parts):
        if part.origin is None or part.origin.mode is not mode:
            continue
        place = part.origin.place
        if place in old[:i]:
            continue
        old[i] = place
        if [name for name, _ in now[i]] == [name for name, _ in then[place]]:
            old[[at for _, at in now[i]]] = [at for _, at in then[place]]
    return old


def _numbers_of(model: ExactModel) -> list[list[tuple[tuple[int, str], int]]]:
    """For each component its hyperparameters, by factor and name, and their places in the vector of all parameters."""
    found: list[list[tuple[tuple[int, str], int]]] = [[] for _ in range(len(model.pool))]
    for place, number in enumerate(model.pool.layout):
        found[number.product].append(((number.factor, number.name), len(model.pool) + 1 + place))
    return found
