"""What changes in a series: growth that ends, slopes that break, shocks that heal, levels that shift.

Growth that wanders imitates all of these inside the rows and forecasts something else, so that none of them has much
more evidence than a pool that has both. So a pool without what wanders is asked instead:

    plain = line, seasons, AR(1), noise       changed = the same with one to three changes

A change is believed if it has far more evidence than `plain`, whichever row is left out, and if the series with its
changes has no less evidence than the pool in which growth wanders: nothing needs to wander then. What jumps, a shock or
a level, may also gain that much over a pool that wanders. What wanders stays in the pool at small weights, but for a
damped trend where growth ends or a line breaks: it would take its place again.

A screen comes first. With C the covariance of the pool without what wanders, times the best s, a curve v of the best
size gains

    max over w of log N(y; 0, s C + w^2 v v') - log N(y; 0, s C) = (z - 1 - log z) / 2,
    z = (v'C^-1 y)^2 / (s v'C^-1 v)
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logsumexp

from farrier.inference.exact import LOG_2PI, log_density
from farrier.kernels.algebra import Base, Kernel
from farrier.kernels.registry import Bend, DampedTrend, Linear, Matern12, RandomWalk, Saturating, Shock, Step
from farrier.search.beliefs import PRIOR_SCALE
from farrier.search.candidates import Extent, step_at
from farrier.search.evidence import PRICE
from farrier.search.scoring import Evaluator
from farrier.search.starting_values import CHANGEPOINT_WIDTH
from farrier.search.structure import Structure


class Bar(NamedTuple):
    """What a change must gain before it predicts. [nats; by the suite `growth`, and trials on series of M3, M4 and
    Tourism: changes of the level that gained 5 to 10 made forecasts worse]"""

    screened: float
    """Over the pool, in the screen."""
    needed: float
    """Over the components that do not wander."""
    over: float
    """Over the pool. The rows alone can hardly favour growth that ends over growth that wanders."""


JUMPS = Bar(screened=5.0, needed=15.0, over=5.0)
"""That of what jumps. [nats; as above]"""
BARS: dict[type[Base], Bar] = {
    Saturating: Bar(screened=-3.0, needed=5.0, over=-3.0),
    Bend: Bar(screened=0.0, needed=5.0, over=0.0),
    Shock: JUMPS,
    Step: JUMPS,
}
"""The bar of each family. [nats; as above]"""
MOST = 3
"""Most changes of a series: one with more is one whose level jumps. [changes; by judgement]"""
FEWEST = 30
"""Fewest rows in which changes are looked for. [rows; by judgement]"""
ENDS = 5
"""Rows before the first change and after the last one, at least. [rows; by judgement]"""
PLACES = 60
"""Most places of a bend that are tried. [places; by judgement]"""
WIDTHS = (0.05, 0.08, 0.13, 0.2, 0.3, 0.45)
"""Widths of growth that ends. [parts of the range; by judgement]"""
MIDDLES = (0.7, 0.5, 0.35, 0.2, 0.1, 0.0, -0.1)
"""Its middles before the last row. [parts of the range; by judgement]"""
BENDINGS = (0.1, 0.5, 1.5)
"""Its shapes, from Gompertz's to the logistic and beyond. [by judgement]"""
USUAL = {"progress": 1.3, "width": 0.28, "shape": 0.5}
"""Where the priors of growth that ends are centred; the width is a part of the range. [by judgement]"""
HEALING = (2.5, 7.0, 20.0, 60.0)
"""Lengthscales of shocks. [steps between neighbours; by judgement]"""
LONGEST = 0.3
"""Longest of them: what heals more slowly is a change of the level. [part of the range; by judgement]"""
DIFFUSE = 3.0
"""Standard deviation of level and line beside which curves are screened. [standard deviations of y; by judgement]"""
WANDERING = (DampedTrend, RandomWalk)
"""Growth that wanders."""
TRACKS: tuple[tuple[tuple[type[Base], ...], ...], ...] = ((WANDERING, (*WANDERING, Matern12)), ((),))
"""What goes where changes are looked for, together in one screen: AR(1) may stand beside a change, or wander too. Jumps
are also looked for where all of it stays."""
SURPRISING = 3.0
"""Largest leave-one-out residual below which nothing jumps beside what wanders. [standard deviations; by judgement]"""
LITTLE = 0.03
"""Weight at which what wanders starts beside changes. [standard deviations of y; by judgement]"""
RISE = 2.0
"""Prior scale of the rise of growth that ends. [standard deviations of y; by judgement]"""


def with_changes(evaluator: Evaluator, usual: Structure, least: float, *, whole: bool = True) -> Structure:
    """The pool, or where changes explain the rows at least as well, these with what wanders at small weights.

    Where the rows are not the `whole` series, only jumps are looked for: earlier rows know nothing of how growth ends.
    """
    if len(evaluator.y) < FEWEST:
        return usual
    tried = list[Structure | None]()
    for tracks in TRACKS:
        shown = _shown(evaluator, usual, tracks[0], whole=whole)
        tried += [_changed_pool(evaluator, usual, shown, track, whole=whole) for track in tracks if shown]
    enough = [
        one for one in tried if one is not None and _evidence(evaluator, one) > _evidence(evaluator, usual) + _over(one)
    ]
    if not enough:
        return usual
    found = max(enough, key=lambda one: _evidence(evaluator, one))
    there = {part.kernel.formula() for part in found.parts}
    grows = any(_of_time(part.kernel, Saturating, Bend) for part in found.parts)
    wandering = [
        replace(part, weight=LITTLE)
        for part in usual.parts
        if _of_time(part.kernel, *WANDERING, Matern12)
        and part.kernel.formula() not in there
        and not (grows and _of_time(part.kernel, DampedTrend))
    ]
    fitted = evaluator.fit([*found.parts, *wandering], found.noise, least=least)
    return fitted if np.isfinite(fitted.score) else usual


def _changed_pool(
    evaluator: Evaluator, usual: Structure, shown: Sequence[Base], track: tuple[type[Base], ...], *, whole: bool
) -> Structure | None:
    """The components without those of some families, with changes; None where there are none, or too many."""
    parts = [part for part in usual.parts if not _of_time(part.kernel, *track)]
    near, found = replace(usual, parts=tuple(parts)), evaluator.fit(parts, usual.noise) if track else usual
    for turn in range(MOST + 1):
        tried = [(BARS[type(one)].needed, _changed(evaluator, near, one)) for one in shown]
        gains = [_evidence(evaluator, one) - _evidence(evaluator, found) - needed for needed, one in tried]
        gains = _by_slopes(evaluator, shown, gains)
        best = int(np.argmax(gains)) if gains else -1
        if best < 0 or gains[best] < 0.0:
            return found if turn else None
        found = near = tried[best][1]
        shown = _shown(evaluator, found, track, whole=whole, again=True)
    return None


def _by_slopes(evaluator: Evaluator, kernels: Sequence[Base], gains: list[float]) -> list[float]:
    """The gains, where a break of the slope and growth that ends do about as well: a slope that falls off ends, and one
    that becomes steeper is broken."""
    each = {type(kernel): i for i, kernel in enumerate(kernels)}
    if Bend not in each or Saturating not in each or abs(gains[each[Bend]] - gains[each[Saturating]]) > PRICE:
        return gains
    x, bend = evaluator.X[:, 0], kernels[each[Bend]]
    after = np.maximum(x - float(bend.entries("location", 1)[0]), 0.0)
    before, change = np.linalg.lstsq(np.column_stack([x, after, np.ones(len(x))]), evaluator.y, rcond=None)[0][:2]
    lesser = Bend if abs(before + change) < abs(before) else Saturating
    return [gain - PRICE if i == each[lesser] else gain for i, gain in enumerate(gains)]


def _over(structure: Structure) -> float:
    """What a structure must have over the pool."""
    return max(BARS[type(part.kernel.products()[0][0])].over for part in structure.parts if is_change(part.kernel))


def is_change(kernel: Kernel) -> bool:
    """Whether a product is a change of a series by itself."""
    factors = kernel.products()[0]
    return len(factors) == 1 and type(factors[0]) in BARS


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


def _shown(
    evaluator: Evaluator, structure: Structure, track: tuple[type[Base], ...], *, whole: bool, again: bool = False
) -> list[Base]:
    """The best change of each family that is worth a fit: all kinds where the components of some families go, jumps
    alone beside what wanders. Against the pool itself it must be likely, unless it is looked for `again`."""
    order = np.argsort(evaluator.X[:, 0], kind="stable")
    x, y = evaluator.X[order, 0], evaluator.y[order]
    C = evaluator.covariance_at(structure)
    base = -np.inf if again else log_density(evaluator.noisy(C, structure), evaluator.y)
    moving = [part for part in structure.parts if track and _of_time(part.kernel, *track, Linear)]
    for part, K in zip(moving, evaluator.grams([part.kernel for part in moving]) if moving else (), strict=True):
        C = C - part.weight**2 * K
    C = C + np.diag(evaluator.spread(structure))
    K = C[np.ix_(order, order)] + DIFFUSE**2 * (1.0 + (np.outer(x, x) if track else 0.0))
    screen, extent, found = _Screen.of(K, y), Extent.of(x), list[Base]()
    if not track and screen.surprise < SURPRISING:
        return []
    for grid in _grids(x, extent, growth=whole and bool(track), ends=_ends(structure)):
        bar = BARS[grid.family]
        top, gain, likely = screen.best(grid.curves, bar.needed)
        if grid.family is Saturating and gain > bar.needed and likely < base + bar.screened:
            # long series know the curve better than the grid does
            grid, cells = _growths(x, extent, *_finer(grid.numbers[top])), grid.curves.shape[1]
            top, gain, likely = screen.best(grid.curves, bar.needed)
            likely -= float(np.log(cells))
        if gain > bar.needed and likely > base + bar.screened:
            found.append(grid.kernel(top, extent))
    return found


@dataclass(frozen=True, eq=False)
class _Screen:
    """What curves gain, with C up to a factor; for rows y."""

    inverse: np.ndarray
    y: np.ndarray
    height: float
    """The terms of the log likelihood without the residual."""

    @classmethod
    def of(cls, C: np.ndarray, y: np.ndarray) -> "_Screen":
        """The screen for a covariance."""
        log_determinant = float(np.linalg.slogdet(C)[1])
        return cls(np.linalg.inv(C), y, -0.5 * (log_determinant + len(y) * (1.0 + LOG_2PI)))

    @property
    def surprise(self) -> float:
        """The largest leave-one-out residual, in its standard deviations."""
        return float(np.max(np.abs(self.inverse @ self.y) / np.sqrt(np.diagonal(self.inverse))))

    def best(self, V: np.ndarray, needed: float) -> tuple[int, float, float]:
        """The best of the curves in the columns of V, what it gains whichever row is left out, and the log likelihood
        with a curve, on average over all."""
        n, solved, own = len(self.y), self.inverse @ self.y, np.diagonal(self.inverse)[:, None]
        W = self.inverse @ V
        q, h = V.T @ solved, np.maximum(np.einsum("nk,nk->k", V, W), 1e-12)
        scale = np.maximum(self.y @ solved - q**2 / h, 1e-12) / n
        z = np.maximum(q**2 / h / scale, 1.0)
        # only what gains with all rows can gain without one of them
        some = np.flatnonzero(z > 2.0 * needed)
        if len(some):
            # without row i, C^-1 loses C^-1 e_i e_i' C^-1 / (C^-1)_ii
            Ws = W[:, some]
            left_q, left_h = q[some] - Ws * (solved[:, None] / own), np.maximum(h[some] - Ws**2 / own, 1e-12)
            z[some] = np.clip((left_q**2 / left_h).min(axis=0) / scale[some], 1.0, z[some])
        heights = self.height - 0.5 * n * np.log(scale) - 0.5 * np.log(z)
        top = int(np.argmax(z))
        return top, 0.5 * float(z[top] - 1.0 - np.log(z[top])), float(logsumexp(heights) - np.log(len(heights)))


class _Grid(NamedTuple):
    """The curves of a family."""

    family: type[Base]
    numbers: np.ndarray
    """Hyperparameters, (k, numbers)."""
    curves: np.ndarray
    """At sorted rows, (N, k)."""

    def kernel(self, place: int, extent: Extent) -> Base:
        """One of them."""
        numbers = [float(one) for one in self.numbers[place]]
        if self.family is Saturating:
            return _growth(numbers[0], numbers[1], numbers[2], extent)
        if self.family is Shock:
            return Shock(numbers[0], numbers[1])
        return step_at(numbers[0], extent) if self.family is Step else Bend(numbers[0])


def _grids(x: np.ndarray, extent: Extent, *, growth: bool, ends: bool) -> Iterator[_Grid]:
    """All families at sorted rows x, or those that jump; no second end of growth."""
    middles = (0.5 * (x[1:] + x[:-1]))[ENDS - 1 : 1 - ENDS]
    places = middles[(x[1:] > x[:-1])[ENDS - 1 : 1 - ENDS]]
    some, away = places[:: max(1, len(places) // PLACES)], x[:, None] - places
    if growth:
        yield _Grid(Bend, some[:, None], np.maximum(x[:, None] - some, 0.0))
    yield _Grid(Step, places[:, None], expit(away / (CHANGEPOINT_WIDTH * extent.spacing)))
    lengths = [steps * extent.spacing for steps in HEALING if steps * extent.spacing < LONGEST * extent.range]
    if lengths:
        healing = [np.where(away > 0.0, np.exp(-np.maximum(away, 0.0) / length), 0.0) for length in lengths]
        numbers = [np.column_stack([places, np.full(len(places), length)]) for length in lengths]
        yield _Grid(Shock, np.vstack(numbers), np.hstack(healing))
    if growth and not ends:
        yield _growths(x, extent, WIDTHS, MIDDLES, BENDINGS)


def _growths(
    x: np.ndarray, extent: Extent, widths: Iterable[float], middles: Iterable[float], shapes: Iterable[float]
) -> _Grid:
    numbers = np.array([(at / width, width, shape) for width in widths for at in middles for shape in shapes])
    progress, width, shape = numbers.T[..., None]
    ends = {"start": extent.low, "end": extent.high}
    values = {"progress": progress, "width": width * extent.range, "shape": shape} | ends
    return _Grid(Saturating, numbers, Saturating.profile(values, x)[0].T)


def _finer(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Widths, middles and shapes around one of the grid, as far as half of the way to its neighbours."""
    progress, width, shape = numbers
    return (
        width * np.linspace(0.8, 1.25, 5),
        progress * width + np.linspace(-0.075, 0.075, 7),
        shape * np.array([0.5, 1.0, 2.0]),
    )


def _growth(progress: float, width: float, shape: float, extent: Extent) -> Saturating:
    return Saturating(progress, width * extent.range, shape, extent.low, extent.high)


def _ends(structure: Structure) -> bool:
    return any(_of_time(part.kernel, Saturating) for part in structure.parts)


def _of_time(kernel: Kernel, *families: type[Base]) -> bool:
    """Whether a component is one factor of these families over time."""
    factors: Sequence[Base] = kernel.products()[0]
    return len(factors) == 1 and isinstance(factors[0], families) and factors[0].dims in (None, (0,))
