"""Where a series changes: the gain of a step at each place, of moving a changepoint, and of two regimes.

All other parameters stay as they are, so that each takes linear algebra instead of a fit.
"""

import numpy as np

from farrier.evaluation.products import Products
from farrier.inference.exact import log_density
from farrier.kernels.algebra import Kernel
from farrier.search import candidates
from farrier.search.periods import find_periods, multiples_of
from farrier.search.scoring import Evaluator
from farrier.search.starting_values import SAME_CHANGE
from farrier.search.structure import LEVEL, Structure


def best_change(evaluator: Evaluator, structure: Structure) -> tuple[float, float]:
    """The location where a change of level gains most, and the gain in log evidence; exact, for all at once."""
    order = np.argsort(evaluator.X[:, 0])
    C = evaluator.noisy(evaluator.covariance_at(structure), structure)
    C, y, x = C[np.ix_(order, order)], evaluator.y[order], evaluator.X[order, 0]
    inverse = np.linalg.inv(C)
    # with s the step: q = s' C^-1 y, h = s' C^-1 s, and the best weight gains (z - 1 - log z) / 2, z = q^2 / h
    q = np.cumsum((inverse @ y)[::-1])[::-1]
    h = np.diagonal(np.cumsum(np.cumsum(inverse[::-1, ::-1], axis=0), axis=1))[::-1]
    z = np.maximum(q**2 / np.maximum(h, 1e-12), 1.0)
    gain = 0.5 * (z - 1.0 - np.log(z))
    gain[:4] = gain[-3:] = 0.0
    gain[1:][x[1:] == x[:-1]] = 0.0  # no change between rows with equal x
    t = int(np.argmax(gain))
    return 0.5 * (x[t] + x[t - 1]), float(gain[t])


def shifted(evaluator: Evaluator, structure: Structure) -> Structure:
    """The structure with its changepoints at the locations of highest evidence.

    Locations are tried one by one, because a gradient step does not move a sharp changepoint across rows.
    """
    for change in candidates.changes_of([part.kernel for part in structure.parts]):
        between = candidates.places_between(np.sort(evaluator.X[:, 0]), 3)
        # some sixty places
        places = between[:: max(1, len(between) // 60)]
        if not len(places):
            continue
        values = log_densities_at(evaluator, structure, change, places)
        best = int(np.argmax(values[1:]))
        if values[1 + best] <= values[0]:
            continue
        kernels = [candidates.moved(part.kernel, change, places[best]) for part in structure.parts]
        parts = [evaluator.part(k, part.weight) for k, part in zip(kernels, structure.parts, strict=True)]
        moved = evaluator.fit(parts, structure.noise)
        if moved.score > structure.score:
            structure = moved
    return structure


def log_densities_at(evaluator: Evaluator, structure: Structure, change: float, places: np.ndarray) -> list[float]:
    """The log evidence as it is, and with one changepoint moved to each place; other parameters stay fixed."""
    pool = Products.of([part.kernel for part in structure.parts], evaluator.X.shape[1])
    R = [term.correlation(pool.numbers, evaluator.X, evaluator.X)[0] for term in pool.terms]
    near = np.abs(pool.numbers - change) < SAME_CHANGE
    near &= [pool.kernels[n.product][n.factor].kind in ("from", "until") and n.name == "location" for n in pool.layout]
    values = []
    for place in (None, *places):
        moved = pool.numbers if place is None else np.where(near, place, pool.numbers)
        C = np.diag(evaluator.spread(structure)) + LEVEL.weight**2
        for part, term, R_i in zip(structure.parts, pool.terms, R, strict=True):
            v, _ = term.profile(moved, evaluator.X)
            C += (part.weight * v)[:, None] * R_i * (part.weight * v)[None, :]
        values.append(log_density(C, evaluator.y))
    return values


def best_simple_kernels(evaluator: Evaluator, x: np.ndarray, y: np.ndarray) -> list[tuple[float, Kernel]]:
    """For each noise variance, the best simple kernel of some rows, with its log evidence."""
    periods = find_periods(x, y, 1, evaluator.known)
    periods += multiples_of(x, y, periods)
    kernels = candidates.simple(evaluator.X[:, 0], periods)
    y = y - y.mean()
    grams = Products.of(kernels, 1).gram(x[:, None], x[:, None])
    best = []
    # a side with little noise, and one with much
    for noise in (0.05, 0.3):
        values = [log_density(float(np.var(y)) * K + noise * np.eye(len(x)), y) for K in grams]
        best.append((max(values), kernels[int(np.argmax(values))]))
    return best
