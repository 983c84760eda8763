"""Jumps and bends in the effect of one number of a table, at places that the rows show.

A jump is a step function, v(x) = 1 where x > t and 0 elsewhere. A bend is a line from t on, v(x) = max(x - t, 0). Both
are components of rank one. With C the covariance of the rows under a structure, q = v'C^-1 y and h = v'C^-1 v, such a
component with its best weight gains

    (z - 1 - log z) / 2,    z = q^2 / h

in log evidence. Every gap between neighbouring values of a number is a place; one inverse of C serves them all.
"""

from collections.abc import Sequence

import numpy as np

from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import Linear, Step, StepUntil
from farrier.search.periods import FEWEST_VALUES
from farrier.search.starting_values import CHANGEPOINT_WIDTH


def threshold_kernels(X: np.ndarray, columns: Sequence[int], inverse: np.ndarray, y: np.ndarray) -> list[Kernel]:
    """The best jumps and the best bends of some columns, one place for each column; `inverse` is C^-1."""
    jumps: list[tuple[float, Kernel]] = []
    bends: list[tuple[float, Kernel]] = []
    a = inverse @ y
    for d in columns:
        x = X[:, d]
        values = np.unique(x)
        places = _places(x, values)
        if not len(places):
            continue
        width = CHANGEPOINT_WIDTH * float(np.median(np.diff(values)))
        above = x[:, None] - places[None, :]
        gains = _gains((above > 0.0).astype(float), inverse, a)
        jump = Step(float(places[np.argmax(gains)]), width, dims=(d,))
        jumps.append((float(gains.max()), jump))
        both = [_gains(np.maximum(side * above, 0.0), inverse, a) for side in (1.0, -1.0)]
        after = both[0].max() >= both[1].max()
        place = float(places[np.argmax(both[0] if after else both[1])])
        side = Step(place, width, dims=(d,)) if after else StepUntil(place, width, dims=(d,))
        bends.append((float(max(both[0].max(), both[1].max())), side * Linear(place, dims=(d,))))
    # two of each
    best = [sorted(each, key=lambda one: -one[0])[:2] for each in (jumps, bends)]
    return [kernel for each in best for gain, kernel in each if gain > 0.0]


def jumps_of(kernel: Kernel) -> int:
    """How many steps a product has."""
    return sum(isinstance(factor, Step | StepUntil) for factor in kernel.products()[0])


def _places(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The middles between neighbouring values with enough rows on either side, at most so many of them."""
    if len(values) < FEWEST_VALUES:
        return np.zeros(0)
    middles = 0.5 * (values[1:] + values[:-1])
    below = np.searchsorted(np.sort(x), middles)
    # a twentieth of the rows on either side, at least three
    enough = max(0.05 * len(x), 3.0)
    middles = middles[(below >= enough) & (len(x) - below >= enough)]
    some = np.unique(np.linspace(0, len(middles) - 1, 120).astype(int)) if len(middles) else []
    return middles[some] if len(middles) > 120 else middles


def _gains(V: np.ndarray, inverse: np.ndarray, a: np.ndarray) -> np.ndarray:
    """The gain of each column of V, centred: the level is part of every structure."""
    V = V - V.mean(axis=0)
    h = np.einsum("np,np->p", V, inverse @ V)
    z = np.maximum((V.T @ a) ** 2 / np.maximum(h, 1e-12), 1.0)
    return 0.5 * (z - 1.0 - np.log(z))
