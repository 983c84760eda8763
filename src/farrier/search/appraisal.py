"""How sure the components are: intervals of their numbers, what each is worth, what each does for the error.

Intervals come from the curvature of the bound (Laplace's approximation) at the structure that explains, q(w) staying
as it is. The error is that of leaving one row out, in closed form: with a = C^-1 y the residual of row n, had it not
been seen, is a_n / (C^-1)_nn.
"""

from dataclasses import dataclass

import numpy as np

from farrier.inference.exact import ExactObjective
from farrier.inference.gaussian import leave_one_out
from farrier.inference.hyperparameter_priors import spreads
from farrier.inference.parameter_vector import ExactModel
from farrier.kernels.algebra import Kernel
from farrier.search.scoring import two_draws
from farrier.search.search import Search
from farrier.search.settings import AppraisalSettings
from farrier.search.structure import Structure

Z95 = 1.96
"""The 97.5 % quantile of a standard normal."""


@dataclass(frozen=True)
class Appraisal:
    """One entry a survivor, in the order of the structure; `low` and `high` hold the ends of 95 % intervals."""

    low: tuple[Kernel, ...]
    high: tuple[Kernel, ...]
    losses: tuple[float, ...]
    errors: tuple[float, ...]
    """The error left out with the first 0, 1, 2 ... components, in the order of `order`, on the scale of the model."""
    order: tuple[int, ...]
    """The survivors by the size of what they add, largest first."""
    sizes: tuple[float, ...]
    """The standard deviation over the rows of what each survivor adds, on the scale of the model."""


def appraise(search: Search, structure: Structure) -> Appraisal:
    """All of it, for the rows of the search."""
    if structure.model is None or not structure.parts:
        return Appraisal((), (), (), (float(search.y.std()),), (), ())
    low, high = intervals(search, structure.model, len(structure.parts))
    C = search.covariance_at(structure) + structure.noise * np.eye(len(search.y))
    a = np.linalg.solve(C, search.y)
    grams = search.covariance.grams(structure.model.pool)[: len(structure.parts)]
    adds = [part.weight**2 * K @ a for part, K in zip(structure.parts, grams, strict=True)]
    sizes = tuple(float(one.std()) for one in adds)
    order = tuple(int(i) for i in np.argsort(sizes)[::-1])
    weighted = [structure.parts[i].weight ** 2 * grams[i] for i in order]
    errors = [float(search.y.std())]
    total = np.zeros_like(C)
    for K in weighted:
        total = total + K
        errors.append(left_out_error(total, structure.noise, search.y, search.settings.appraisal))
    losses = tuple(float(loss) for loss in search.refitted_losses(structure))
    return Appraisal(low, high, losses, tuple(errors), order, sizes)


def appraise_sites(search: Search, structure: Structure) -> Appraisal:
    """The same where sites stand for the rows: they have no error of their own."""
    if structure.model is None or not structure.parts:
        return Appraisal((), (), (), (), (), ())
    sizes = search.sizes(structure)
    return Appraisal(
        *intervals(search, structure.model, len(structure.parts)),
        losses=tuple(float(loss) for loss in search.refitted_losses(structure)),
        errors=(),
        order=tuple(int(i) for i in np.argsort(sizes)[::-1]),
        sizes=tuple(float(size) for size in sizes),
    )


def left_out_error(K: np.ndarray, noise: float, y: np.ndarray, settings: AppraisalSettings) -> float:
    """The root mean square of the residuals of rows left out one at a time, at the noise that suits K best."""
    best, error = -np.inf, float(y.std())
    for multiple in settings.noise_factors:
        C = K + multiple * noise * np.eye(len(y))
        found = leave_one_out(C, y)
        if found is not None and found[0] > best:
            best, error = found[0], float(np.sqrt(np.mean(found[1] ** 2)))
    return error


def intervals(search: Search, model: ExactModel, count: int) -> tuple[tuple[Kernel, ...], tuple[Kernel, ...]]:
    """Kernels with the lower and the upper ends of all numbers."""
    covariance, settings = search.covariance, search.settings.appraisal
    objective = ExactObjective(model, covariance, covariance.scatter(search.y), two_draws(model))
    numbers = objective.start()
    # hyperparameters stand last in the vector
    spread = spreads(model.pool)
    which = len(numbers) - len(spread) + np.arange(len(spread))
    rows = np.zeros((len(which), len(which)))
    for row, place in enumerate(which):
        step = np.zeros_like(numbers)
        step[place] = settings.difference
        ahead, behind = (objective.terms(numbers + sign * step)[1] for sign in (1.0, -1.0))
        rows[row] = -(ahead - behind)[which] / (2.0 * settings.difference)
    # where the curvature is not that of a top, what is believed beforehand stands in
    curvature = 0.5 * (rows + rows.T)
    values, vectors = np.linalg.eigh(curvature) if len(which) else (np.zeros(0), np.zeros((0, 0)))
    values = np.maximum(values, 1.0 / np.max(spread, initial=1.0) ** 2)
    sd = np.sqrt(np.einsum("ij,j,ij->i", vectors, 1.0 / values, vectors)) if len(which) else np.zeros(0)
    ends = []
    for sign in (-1.0, 1.0):
        moved = numbers.copy()
        moved[which] += sign * Z95 * np.minimum(sd, settings.widest * spread)
        pool = objective.model(moved).pool
        ends.append(tuple(pool[i] for i in range(count)))
    return ends[0], ends[1]
