"""What changes in a series: growth that ends, slopes that break, shocks that heal, levels that shift.

Growth that wanders imitates all of these inside the rows and forecasts something else, so that none of them has much
more evidence than a pool that has both. So a pool without what wanders is asked instead:

    plain = line, seasons, AR(1), noise       changed = the same with one to three changes

A change is believed if it has far more evidence than `plain`, whichever row is left out, and if the series with its
changes has no less evidence than the pool in which growth wanders: nothing needs to wander then. What wanders stays in
the pool at small weights; growth that ends takes the place of all other growth.

A screen comes first. With C the covariance of the pool without what wanders, times the s that is best, a curve v of the
best size gains

    max over w of log N(y; 0, s C + w^2 v v') - log N(y; 0, s C) = (z - 1 - log z) / 2,    z = (v'C^-1 y)^2 / (s v'C^-1 v)
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from farrier.inference.exact import LOG_2PI, log_density
from farrier.kernels.algebra import Base, Kernel
from farrier.kernels.registry import Bend, DampedTrend, Linear, RandomWalk, Saturating, Shock, Step
from farrier.search.beliefs import PRIOR_SCALE
from farrier.search.candidates import Extent, step_at
from farrier.search.evidence import VERY_STRONG
from farrier.search.scoring import Evaluator
from farrier.search.starting_values import CHANGEPOINT_WIDTH
from farrier.search.structure import Part, Structure

NEEDED = VERY_STRONG
"""Evidence that a change needs against a line and AR(1). [nats; by the suite `growth`]"""
MOST = 3
"""Most changes of a series. [changes; by judgement]"""
ENDS = 5
"""Rows before the first change and after the last one, at least. [rows; by judgement]"""
PLACES = 60
"""Most places of a bend that are tried. [places; by judgement]"""
WIDTHS = (0.05, 0.08, 0.13, 0.2, 0.3, 0.45)
"""Widths of growth that ends. [parts of the range; by judgement]"""
MIDDLES = (0.7, 0.5, 0.35, 0.2, 0.1, 0.0, -0.1)
"""Its middles before the last row. [parts of the range; by judgement]"""
SHAPES = (0.1, 0.5, 1.5)
"""Its shapes, from Gompertz's to the logistic and beyond. [by judgement]"""
USUAL = {"progress": 1.3, "width": 0.28, "shape": 0.5}
"""Where the priors of growth that ends are centred; the width is a part of the range. [by judgement]"""
HEALING = (2.0, 5.0, 12.0, 30.0, 75.0)
"""Lengthscales of shocks. [steps between neighbours; by judgement]"""
LONGEST = 0.3
"""Longest of them: what heals more slowly is a change of the level. [part of the range; by judgement]"""
DIFFUSE = 3.0
"""Standard deviation of level and line beside which curves are screened. [standard deviations of y; by judgement]"""
LITTLE = 0.03
"""Weight at which what wanders starts beside changes. [standard deviations of y; by judgement]"""
RISE = 2.0
"""Prior scale of the rise of growth that ends: it is most of what the rows do. [standard deviations of y; by judgement]"""


class Found(NamedTuple):
    """A change that the rows show."""

    gain: float
    """What it gains with all else fixed, without the row that speaks most for it. [nats]"""
    likely: float
    """The log likelihood with it."""
    kernel: Base


def with_changes(evaluator: Evaluator, usual: Structure, least: float) -> Structure:
    """The pool, or where changes explain the rows at least as well, these with what wanders at small weights."""
    if len(evaluator.y) < 4 * ENDS:
        return usual
    shown, base = _shown(evaluator, usual)
    shown = [one for one in shown if one.likely > base - VERY_STRONG]
    if not shown:
        return usual
    steady = [part for part in usual.parts if not _wanders(part.kernel)]
    found, near = evaluator.fit(steady, usual.noise), replace(usual, parts=tuple(steady))
    plain = found
    for _ in range(MOST):
        tried = [_changed(evaluator, near, one.kernel) for one in shown]
        best = max(tried, key=lambda one: _evidence(evaluator, one), default=found)
        if _evidence(evaluator, best) < _evidence(evaluator, found) + NEEDED:
            break
        found = near = best
        shown, _ = _shown(evaluator, found)
    if found is plain or _evidence(evaluator, found) < _evidence(evaluator, usual):
        return usual
    ended = _ends(found)
    wandering = [
        replace(part, weight=LITTLE)
        for part in usual.parts
        if _wanders(part.kernel) and not (ended and isinstance(part.kernel, DampedTrend))
    ]
    whole = evaluator.fit([*found.parts, *wandering], found.noise, least=least)
    return whole if np.isfinite(whole.score) else usual


def is_change(kernel: Kernel) -> bool:
    """Whether a product is a change of a series by itself."""
    factors = kernel.products()[0]
    return len(factors) == 1 and isinstance(factors[0], Saturating | Bend | Shock | Step)


def _evidence(evaluator: Evaluator, structure: Structure) -> float:
    """The log evidence without the price of what is ordinary, which nobody has chosen."""
    ordinary = [part for part in structure.parts if not is_change(part.kernel)]
    return structure.score - evaluator.beliefs.log_structure(ordinary, *evaluator.X.shape[::-1])


def _changed(evaluator: Evaluator, structure: Structure, kernel: Base) -> Structure:
    """The components with a change; growth that ends takes the place of a line."""
    parts, extent = list(structure.parts), Extent.of(evaluator.X[:, 0])
    ends = isinstance(kernel, Saturating)
    new = evaluator.part(evaluator.on_time(kernel), PRIOR_SCALE, RISE if ends else None)
    if ends:
        centre = _growth(USUAL["progress"], USUAL["width"], USUAL["shape"], extent)
        new = replace(new, centre=evaluator.on_time(centre))
        parts = [part for part in parts if not _of_time(part.kernel, Linear)]
    return evaluator.fit([*parts, new], structure.noise)


def _shown(evaluator: Evaluator, structure: Structure) -> tuple[list[Found], float]:
    """The best change of each family, if it gains enough; and the log likelihood of the structure."""
    order = np.argsort(evaluator.X[:, 0], kind="stable")
    x, y = evaluator.X[order, 0], evaluator.y[order]
    C = evaluator.covariance_at(structure)
    base = log_density(evaluator.noisy(C, structure), evaluator.y)
    moving = [part for part in structure.parts if _wanders(part.kernel) or _of_time(part.kernel, Linear)]
    for part, K in zip(moving, evaluator.grams([part.kernel for part in moving]) if moving else (), strict=True):
        C = C - part.weight**2 * K
    K = C[np.ix_(order, order)] + DIFFUSE**2 * (1.0 + np.outer(x, x)) + np.diag(evaluator.spread(structure)[order])
    found, n = list[Found](), len(x)
    factor, inverse = float(np.linalg.slogdet(K)[1]), np.linalg.inv(K)
    solved, own = inverse @ y, np.diagonal(inverse)[:, None]
    for kernels, V in _grids(x, ends=_ends(structure)):
        W = inverse @ V
        q, h = V.T @ solved, np.einsum("nk,nk->k", V, W)
        scale = np.maximum(y @ solved - q**2 / np.maximum(h, 1e-12), 1e-12) / n
        gains = _gain((q**2 / np.maximum(h, 1e-12)) / scale)
        # without row i, C^-1 loses C^-1 e_i e_i' C^-1 / (C^-1)_ii
        left_q, left_h = q - W * (solved[:, None] / own), np.maximum(h - W**2 / own, 1e-12)
        gains = np.minimum(gains, _gain((left_q**2 / left_h).min(axis=0) / scale))
        top = int(np.argmax(gains))
        likely = -0.5 * (n * np.log(scale[top]) + factor + n * (1.0 + LOG_2PI)) - 0.5 * np.log(1.0 + gains[top])
        if gains[top] > NEEDED:
            found.append(Found(float(gains[top]), float(likely), kernels[top]))
    return found, base


def _gain(z: np.ndarray) -> np.ndarray:
    """The gain of a curve of the best size."""
    z = np.maximum(z, 1.0)
    return 0.5 * (z - 1.0 - np.log(z))


def _grids(x: np.ndarray, *, ends: bool) -> list[tuple[Sequence[Base], np.ndarray]]:
    """The kernels of each family, and their curves at sorted rows x as columns; no second end of growth."""
    extent = Extent.of(x)
    middles = (0.5 * (x[1:] + x[:-1]))[ENDS - 1 : 1 - ENDS]
    places = middles[(x[1:] > x[:-1])[ENDS - 1 : 1 - ENDS]]
    some, away = places[:: max(1, len(places) // PLACES)], x[:, None] - places
    lengths = [steps * extent.spacing for steps in HEALING if steps * extent.spacing < LONGEST * extent.range]
    found: list[tuple[Sequence[Base], np.ndarray]] = [
        ([Bend(place) for place in some], np.maximum(x[:, None] - some, 0.0)),
        ([step_at(place, extent) for place in places], expit(away / (CHANGEPOINT_WIDTH * extent.spacing))),
    ]
    if lengths:
        healing = [np.where(away > 0.0, np.exp(-np.maximum(away, 0.0) / length), 0.0) for length in lengths]
        found.append(([Shock(place, length) for length in lengths for place in places], np.hstack(healing)))
    if not ends:
        growths = [_growth(at / width, width, shape, extent) for width in WIDTHS for at in MIDDLES for shape in SHAPES]
        found.append((growths, np.stack([Saturating.profile(one.parameters(), x)[0] for one in growths], axis=1)))
    return found


def _growth(progress: float, width: float, shape: float, extent: Extent) -> Saturating:
    return Saturating(progress, width * extent.range, shape, extent.low, extent.high)


def _ends(structure: Structure) -> bool:
    return any(isinstance(part.kernel, Saturating) for part in structure.parts)


def _wanders(kernel: Kernel) -> bool:
    """Whether a component is growth that wanders."""
    return _of_time(kernel, DampedTrend, RandomWalk)


def _of_time(kernel: Kernel, *families: type[Base]) -> bool:
    """Whether a component is one factor of these families over time."""
    factors: Sequence[Base] = kernel.products()[0]
    return len(factors) == 1 and isinstance(factors[0], families) and factors[0].dims in (None, (0,))
