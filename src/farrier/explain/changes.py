"""When a change happened: the posterior of the location of a changepoint over all rows, and its 95 % interval.

The intervals of the search come from the curvature at the mode, which says little about a step: its likelihood is flat
between two rows and jumps at each row. Here every gap between two rows is a candidate tau, and the evidence

    log N(z; 0, C_tau),    C_tau = sum_j w_j^2 K_j + level + noise,    the changing kernels with their step at tau

is computed at the fitted weights and hyperparameters, under a uniform prior over the gaps. A step of the level, a break
of the slope and a shock have rank one, C_tau = A + w^2 s s', and all candidates share one factorisation of A. Kernels
that change at the same place move together. A change is quoted as the first row after it. Where there are several, the
candidates of each are nearer to it than to any other: else all would be dated where one of them is off.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import expit, softmax

from farrier.explain.facts import Estimate
from farrier.kernels.algebra import Base
from farrier.kernels.registry import Bend, Shock, Step, StepUntil
from farrier.model.result import Result

MOST_ROWS = 1200
"""Most rows, the nearest to the change, from which a step of the level is dated. [by judgement: a second]"""
FEWER_ROWS = 400
"""The same for a change of any other component, where each candidate needs a factorisation. [by judgement]"""
CANDIDATES = 60
"""Candidates of a change that is not a step of the level, around its place. [by judgement]"""
LEVEL = 4.0
"""Prior variance of the level, on the scale of the model, on which y has variance one. [by judgement]"""
TOGETHER = 1e-6
"""Distance of two locations, over the range of the rows, below which they are one changepoint. [by judgement]"""
DATED = Step | StepUntil | Bend | Shock
"""The factors that have a date."""
SHARP = 1.0
"""A width below this many steps of the rows counts as zero. [median steps; by judgement]"""
ENDS = (0.025, 0.5, 0.975)
"""The quantiles that are quoted."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows near a change, on the scale of the model."""

    X: np.ndarray
    z: np.ndarray
    column: int
    gaps: np.ndarray
    """Candidates: places between two neighbouring values of the column."""
    after: np.ndarray
    """The first value after each gap."""


def locations(result: Result) -> dict[tuple[int, int], Estimate]:
    """The interval of each changepoint in the user's units, by the index of the kernel and of its factor."""
    kernels = result.explained.explaining.kernels
    found: dict[tuple[int, int], Estimate] = {}
    steps = [
        (i, k, factor)
        for i, kernel in enumerate(kernels)
        for k, factor in enumerate(kernel.products()[0])
        if isinstance(factor, DATED)
    ]
    for i, k, factor in steps:
        if (i, k) in found or result.explained.tier == "stochastic":
            continue
        same = [(j, m) for j, m, other in steps if _together(factor, other, result.inputs)]
        estimate = _date(result, factor, same, [other for _, _, other in steps])
        found |= dict.fromkeys(same, estimate)
    return found


def _together(one: Base, other: Base, inputs: np.ndarray) -> bool:
    d = one.positions(inputs.shape[1])[0]
    near = TOGETHER * np.ptp(inputs[:, d])
    return other.positions(inputs.shape[1])[0] == d and abs(_place(one) - _place(other)) <= near


def _place(factor: Base) -> float:
    return float(np.ravel(factor.entries("location", 1))[0])


def _date(result: Result, factor: Base, same: Sequence[tuple[int, int]], every: Sequence[Base]) -> Estimate:
    """The first row after the change, with its interval, in the user's units."""
    fitted = result.explained
    kernels, weights = fitted.explaining.kernels, np.asarray(fitted.explaining.prior.quantile(0.5))
    moving = {i: k for i, k in same}
    simple = len(same) == 1 and all(isinstance(f, DATED) for f in kernels[same[0][0]].products()[0])
    others = [other for other in every if not _together(factor, other, result.inputs)]
    rows = _near(result, factor, others, MOST_ROWS if simple else FEWER_ROWS, None if simple else CANDIDATES)
    A = LEVEL * np.ones((len(rows.z), len(rows.z))) + fitted.noise_variance * np.eye(len(rows.z))
    for i, kernel in enumerate(kernels):
        if i not in moving:
            A += weights[i] ** 2 * kernel.gram(rows.X, rows.X)
    if simple:
        (i, k) = same[0]
        scores = _of_level(A, float(weights[i]), kernels[i].products()[0], k, rows)
    else:
        parts = [(float(weights[i]), kernels[i].products()[0], k) for i, k in moving.items()]
        scores = np.array([_evidence(A + _moved(parts, tau, rows), rows.z) for tau in rows.gaps])
    chance = np.cumsum(softmax(scores))
    low, middle, high = (rows.after[min(int(np.searchsorted(chance, end)), len(chance) - 1)] for end in ENDS)
    scale, mean = float(result.scale.x_scale[rows.column]), float(result.scale.x_mean[rows.column])
    return Estimate(middle * scale + mean, low * scale + mean, high * scale + mean)


def _near(result: Result, factor: Base, others: Sequence[Base], most: int, candidates: int | None) -> _Rows:
    """Rows near a change, and the candidates that are nearer to it than to other changes."""
    d = factor.positions(result.inputs.shape[1])[0]
    chosen = np.sort(np.argsort(np.abs(result.inputs[:, d] - _place(factor)), kind="stable")[:most])
    X = result.inputs[chosen]
    values = np.unique(X[:, d])
    gaps, after = 0.5 * (values[1:] + values[:-1]), values[1:]
    away = np.abs(gaps - _place(factor))
    places = [_place(other) for other in others if other.positions(result.inputs.shape[1])[0] == d]
    own = np.all([away < np.abs(gaps - place) for place in places], axis=0) if places else away >= 0.0
    # two changes between the same two rows leave no candidate
    own |= away == away.min()
    gaps, after = gaps[own], after[own]
    if candidates is not None and len(gaps) > candidates:
        kept = np.sort(np.argsort(np.abs(gaps - _place(factor)), kind="stable")[:candidates])
        gaps, after = gaps[kept], after[kept]
    return _Rows(X, result.scaled_target[chosen], d, gaps, after)


def _profile(factor: Base, tau: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The step with its location at each tau, (rows, candidates)."""
    if isinstance(factor, Bend | Shock):
        profiles = [np.sqrt(factor.replace(location=at, dims=None).diag(x[:, None])) for at in tau]
        return np.stack(profiles, axis=1)
    sign = 1.0 if isinstance(factor, Step) else -1.0
    away, width = sign * (x[:, None] - tau[None, :]), float(np.ravel(factor.entries("width", 1))[0])
    # a change within one step of the rows is sharp: the rows do not tell its width
    sharp = width < SHARP * float(np.median(np.diff(np.unique(x))))
    return (away > 0.0).astype(float) if sharp else expit(away / width)


def _of_level(A: np.ndarray, weight: float, factors: Sequence[Base], k: int, rows: _Rows) -> np.ndarray:
    """The evidence of each candidate, up to a constant, of a step of the level.

    log det(A + w^2 s s') = log det A + log(1 + w^2 s'A^-1 s), and by the Sherman-Morrison formula
    z'(A + w^2 s s')^-1 z = z'A^-1 z - w^2 (s'A^-1 z)^2 / (1 + w^2 s'A^-1 s).
    """
    S = _profile(factors[k], rows.gaps, rows.X[:, rows.column])
    for m, other in enumerate(factors):
        if m != k:
            place = np.array([_place(other)])
            S = S * _profile(other, place, rows.X[:, other.positions(rows.X.shape[1])[0]])
    L = cholesky(A, lower=True, check_finite=False)
    Linv_S = solve_triangular(L, S, lower=True, check_finite=False)
    Linv_z = solve_triangular(L, rows.z, lower=True, check_finite=False)
    size = 1.0 + weight**2 * np.sum(Linv_S**2, axis=0)
    return 0.5 * weight**2 * (Linv_S.T @ Linv_z) ** 2 / size - 0.5 * np.log(size)


def _moved(parts: Sequence[tuple[float, Sequence[Base], int]], tau: float, rows: _Rows) -> np.ndarray:
    """The covariance of the components that change, with their step at tau."""
    total = np.zeros((len(rows.z), len(rows.z)))
    for weight, factors, k in parts:
        step = _profile(factors[k], np.array([tau]), rows.X[:, rows.column])[:, 0]
        K = weight**2 * np.outer(step, step)
        for m, other in enumerate(factors):
            if m != k:
                K = K * other.gram(rows.X, rows.X)
        total += K
    return total


def _evidence(C: np.ndarray, z: np.ndarray) -> float:
    L = cholesky(C, lower=True, check_finite=False)
    return float(-0.5 * z @ cho_solve((L, True), z, check_finite=False) - np.log(np.diagonal(L)).sum())
