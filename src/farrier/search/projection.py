"""The projection: from the model that predicts to the few components that explain.

The model that predicts has a component for everything that such rows can be made of, each at the weight that the
horseshoe leaves it. What explains is a smaller model that predicts nearly the same, at the rows and at the steps of a
forecast. p is the predictive distribution of a replicate of y at both, and a smaller model N(0, C) is fitted to

    L = E_p log N(y; 0, C) + log p(u) = -( tr(C^-1 M) + log|C| + N log 2 pi ) / 2 + log p(u),    M = E_p[y y']

which is least far from p in Kullback-Leibler divergence. From the whole pool a backward path drops one component, or
one factor, at a time, or puts a simpler one in its place: always the one that costs least. The models of the path are
then fitted to y, and their evidence judges which of them explains (Piironen and Vehtari; Hahn and Carvalho 2015).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, final

import numpy as np

from farrier.evaluation.covariance import Covariance, covariance_of
from farrier.evaluation.products import Products
from farrier.inference.exact import ProjectedObjective, expected_log_density
from farrier.inference.noise import ALIKE, Noise
from farrier.kernels.algebra import Base, Kernel, product_of
from farrier.kernels.normal import simplify
from farrier.kernels.registry import DampedTrend, Linear, Matern12, SquaredExponential
from farrier.search import candidates
from farrier.search.beliefs import Beliefs
from farrier.search.evidence import PRICE, STRONG, WEAK
from farrier.search.polishing import TRIES, plainest, polished, worth
from farrier.search.scoring import Evaluator
from farrier.search.structure import LEVEL, Decision, Move, Part, Structure, climbed_to

JUDGED = 20.0
"""How far a model of the path may be from what predicts, and a simple structure below the best one, to be fitted and
polished. [nats; by judgement]"""


class Kind(Protocol):
    """What rows can be made of (rows.py)."""

    def moves(self, evaluator: Evaluator, structure: Structure) -> list[Move]:
        """The kernels that may come into an explanation."""
        ...

    def simple(self, evaluator: Evaluator) -> list[Structure]:
        """Structures that a rich pool hides."""
        ...


class Change(NamedTuple):
    """A step of a path: one component goes, or another one takes its place."""

    place: int
    kernel: Kernel | None
    """What takes its place; None for nothing."""
    fewer: float
    """How many factors that saves; a half for another factor that is simpler."""


@final
@dataclass(frozen=True, eq=False)
class Projection:
    """What is projected, and onto which rows: those of the fit, and those of a forecast behind them."""

    X: np.ndarray
    mean: np.ndarray
    """E y of a replicate at these rows."""
    moments: np.ndarray
    """E y y' of it."""
    beliefs: Beliefs
    noise: Noise = ALIKE
    """The noise of these rows."""

    @classmethod
    def of(cls, evaluator: Evaluator, structure: Structure) -> "Projection":
        """A structure that is projected onto the rows to which it was fitted."""
        K, noise = evaluator.covariance_at(structure), evaluator.spread(structure)
        solved = np.linalg.solve(K + np.diag(noise), np.column_stack([evaluator.y, K]))
        mean, covariance = K @ solved[:, 0], K - K @ solved[:, 1:]
        moments = np.outer(mean, mean) + 0.5 * (covariance + covariance.T) + np.diag(noise)
        return cls(evaluator.X, mean, moments, evaluator.beliefs, evaluator.noise)

    @cached_property
    def covariance(self) -> Covariance:
        """That of the rows."""
        return covariance_of(self.X, timed=self.beliefs.clock is not None)

    def fit(self, parts: Sequence[Part], noise: float) -> Structure:
        """The components with the parameters that predict most nearly the same; the score is the bound."""
        model = self.beliefs.model([*parts, LEVEL], noise, self.X.shape[1], self.noise)
        moments = _scattered(self.moments, self.covariance)
        objective = ProjectedObjective(
            model,
            self.covariance,
            np.zeros(len(self.covariance.X)),
            np.zeros((1, 0)),
            moments=moments,
        )
        found, climb = climbed_to(objective, parts)
        return replace(found, score=climb.terms[-1].evidence)

    def value(self, C: np.ndarray, noise: float) -> float:
        """E log N(y; 0, C + noise)."""
        C = C.copy()
        C[np.diag_indices(len(C))] += self.noise.variances(noise, len(C))
        return expected_log_density(C, self.moments)[0]

    def grams(self, parts: Sequence[Part]) -> np.ndarray:
        """The covariance of each component, with its weight, (m, N, N)."""
        if not parts:
            return np.zeros((0, len(self.X), len(self.X)))
        pool = Products.of([part.kernel for part in parts], self.X.shape[1])
        return self.covariance.grams(pool) * np.array([part.weight**2 for part in parts])[:, None, None]

    def path(self, start: Structure) -> Iterator[Structure]:
        """Ever simpler structures, from that which predicts down to one component; scores are bounds."""
        structure = self.fit(self._needed(start), start.noise)
        yield structure
        while structure.parts:
            structure = self._step(structure)
            yield structure

    def _needed(self, start: Structure) -> list[Part]:
        """The components without those that are dropped together before any fit.

        The levels of the steps of a season go: its smooth shape, which takes their place, can become as rough.
        """
        each, level = self.grams(start.parts), self._level(start)
        C = level + each.sum(axis=0)
        base = self.value(C, start.noise)
        kept = [i for i, part in enumerate(start.parts) if not self.beliefs.has_levels(part.kernel)]
        losses = [base - self.value(C - one, start.noise) for one in each]
        for i in np.argsort(losses):
            if base - self.value(C - each[i], start.noise) > WEAK:
                break
            C = C - each[i]
            kept = [one for one in kept if one != i]
        return [start.parts[i] for i in kept]

    def _step(self, structure: Structure) -> Structure:
        """The structure after the change that costs least."""
        each = self.grams(structure.parts)
        C, base = self._level(structure) + each.sum(axis=0), structure.score
        ranked = []
        for change in changes(structure.parts, self.X[:, 0]):
            own = each[change.place]
            size = float(np.mean(np.diagonal(own)))
            rest = C - own
            if change.kernel is not None:
                (other,) = self.grams([replace(structure.parts[change.place], kernel=change.kernel)])
                rest = rest + other * (size / max(float(np.mean(np.diagonal(other))), 1e-12))
            # a part of what goes may be taken for noise
            value = max(self.value(rest, structure.noise), self.value(rest, structure.noise + 0.3 * size))
            ranked.append((base - value - PRICE * change.fewer, change))
        ranked.sort(key=lambda one: one[0])
        best: tuple[float, Structure] | None = None
        for _, change in ranked[:TRIES]:
            found = self.fit(changed(structure.parts, change, self), structure.noise)
            cost = base - found.score - PRICE * change.fewer
            if best is None or cost < best[0]:
                best = cost, found
            if cost < -0.5 * PRICE * change.fewer:
                break
        assert best is not None
        return best[1]

    def _level(self, structure: Structure) -> np.ndarray:
        weight = LEVEL.weight if structure.model is None else float(structure.model.prior.quantile(0.5)[-1])
        return np.full((len(self.X), len(self.X)), weight**2)

    def part(self, kernel: Kernel, weight: float) -> Part:
        """A component with the priors that suit the rows."""
        return self.beliefs.part(kernel, weight, self.X.shape[1])


def explaining(
    evaluator: Evaluator,
    projection: Projection,
    start: Structure,
    kind: Kind,
    record: list[Decision],
    rivals: list[Structure] | None = None,
) -> Structure:
    """The structure that explains the model that predicts, `start`; the path and what came after it go to the record.

    The models of the path are fitted to the rows of the evaluator, whose evidence judges them. The best of them are
    polished, and with them simple structures that a rich pool hides: a step is imitated by a smooth curve. Others of
    the path whose evidence is nearly as high go to `rivals`.
    """
    ends, top, path = list[Structure](), -np.inf, list[Decision]()
    for one in projection.path(start):
        top = max(top, one.score)
        if ends and top - one.score > JUDGED:
            break
        evaluator.tell("projecting the model", one.score)
        found = evaluator.fit(one.parts, one.noise) if one.parts else evaluator.empty()
        path.append(
            Decision(
                0, "projected", formula_of(one.parts), found.score, f"{top - one.score:.1f} nats from what predicts"
            )
        )
        ends.append(found)
    ends.sort(key=lambda one: -one.score)
    record += [replace(one, gain=one.gain - ends[0].score) for one in path]
    # the best two of the path
    starts = [*ends[:2], *kind.simple(evaluator)]
    close = [one for one in starts if one.score > ends[0].score - JUDGED]
    best, how = ends[0], list[Decision]()
    for one in close:
        changes = list[Decision]()
        found = polished(evaluator, one, kind.moves, changes)
        if worth(evaluator, found) > worth(evaluator, best):
            best, how = found, changes
    record += how
    best = plainest(evaluator, best)
    if rivals is not None:
        rivals += [one for one in ends if one.score > best.score - STRONG and _formulas(one) != _formulas(best)]
    return best


def formula_of(parts: Sequence[Part]) -> str:
    """The components as one sum."""
    return " + ".join(part.kernel.formula() for part in parts) or "noise"


def _formulas(structure: Structure) -> list[str]:
    return sorted(part.kernel.formula() for part in structure.parts)


def changes(parts: Sequence[Part], x: np.ndarray) -> list[Change]:
    """What may become simpler: a component goes, or one of its factors, or a factor is another one that is simpler."""
    found = []
    for i, part in enumerate(parts):
        factors = list(part.kernel.products()[0])
        found.append(Change(i, None, float(len(factors))))
        if len(factors) > 1:
            found += [Change(i, product_of(simplify([f for f in factors if f is not gone])), 1.0) for gone in factors]
        found += [Change(i, kernel, 0.5) for kernel in _limits(factors, x)]
    return found


def changed(parts: Sequence[Part], change: Change, projection: Projection) -> list[Part]:
    """The components after a change, not yet fitted."""
    if change.kernel is None:
        return [part for i, part in enumerate(parts) if i != change.place]
    new = projection.part(change.kernel, parts[change.place].weight)
    return [new if i == change.place else part for i, part in enumerate(parts)]


def _limits(factors: Sequence[Base], x: np.ndarray) -> list[Kernel]:
    """A product with a simpler factor: a line for growth that fades or a long curve; growth, or a smooth drift, for a
    rough drift."""
    extent = candidates.Extent.of(x)
    found: list[Kernel] = []
    for place, factor in enumerate(factors):
        others: list[Base] = []
        if isinstance(factor, DampedTrend):
            others = [Linear(0.0)]
        if isinstance(factor, SquaredExponential) and float(np.max(factor.lengthscale)) > extent.range:
            others = [Linear(0.0)]
        if isinstance(factor, Matern12) and len(factors) > 1:
            others = [candidates.line_before(extent), SquaredExponential(0.5 * extent.range)]
        for other in others:
            new = other if factor.dims is None else other.replace(dims=factor.dims)
            found.append(product_of([new if i == place else f for i, f in enumerate(factors)]))
    return found


def _scattered(moments: np.ndarray, covariance: Covariance) -> np.ndarray:
    """Moments of the rows as a matrix over all places of the covariance."""
    out = np.zeros((len(covariance.X), len(covariance.X)))
    out[np.ix_(covariance.places, covariance.places)] = moments
    return out
