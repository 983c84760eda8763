"""The data types of the search: components, structures, moves, lines of the record; and the mode of a fit.

A fit in the search mostly differs from an earlier one by one component. The curvature that the earlier fit had at its
mode is then a good guess of the new one (`curvature_at_start`): L-BFGS needs half as many steps with it as with typical
scales of the parameters. Parameters that the earlier fit did not have keep their typical scales.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np

from farrier.evaluation.products import Products
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.laplace import Laplace
from farrier.inference.lbfgs import ITERATIONS, ROUGH_TOLERANCE, Climb, climb
from farrier.inference.noise import ALIKE, Noise
from farrier.inference.parameter_vector import ExactModel, ParameterVector, Terms
from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import Constant, Step, StepUntil
from farrier.search.evidence import VERY_STRONG


@dataclass(frozen=True)
class Part:
    """One component of a structure."""

    kernel: Kernel
    """The kernel, for standardised inputs."""
    centre: Kernel
    """The kernel with the centres of the priors of its hyperparameters."""
    weight: float
    """The weight, or the median of its distribution."""
    scale: float = 0.5
    """The prior scale of the weight."""
    origin: "Origin | None" = field(default=None, compare=False, repr=False)
    """The fit that gave it its values; None for a component that was not fitted."""


MOST_HALVINGS = 5
"""Times that a draw of the parameters is moved towards the mode: then it is next to it. [halvings; by judgement]"""
LEVEL = Part(Constant(), Constant(), 0.3, 1.0)
"""A constant, the last component of every structure's model: the mean of y over the rows is not that of the function.
[weights: standard deviations of y; by judgement]"""


@dataclass(frozen=True)
class Move:
    """A candidate for a structure."""

    kernel: Kernel
    place: int | None = None
    """The index of the component that it would replace; None for an additional component."""


@dataclass(frozen=True)
class Decision:
    """One line of the record of a search."""

    round: int
    action: str
    """Such as "kept", "tried", "dropped"."""
    formula: str
    gain: float
    """Gain of log evidence, in nats."""
    reason: str


@final
@dataclass(frozen=True, eq=False)
class Mode:
    """The highest point of a log posterior density, with Laplace's approximation there."""

    model: ExactModel
    u: np.ndarray
    """All parameters, unbounded."""
    moving: np.ndarray
    """The indices of those that are fitted."""
    laplace: Laplace

    def models(self, draws: int, density: Callable[[np.ndarray], float]) -> list[ExactModel]:
        """The model at the mode, and at an even number of draws of its parameters.

        Laplace's approximation is symmetric, and the posterior of a logarithm is not: the weight of an effect that the
        rows show cannot be a tenth of it. A draw whose log posterior `density` is much lower than the approximation
        says is moved towards the mode, half of the way at a time.
        All draws have the changepoints of the mode: the likelihood of a sharp step is flat between two rows and jumps
        at each, so that the curvature there says nothing of where else the change may be.
        """
        vector = ParameterVector(self.model, np.zeros((1, 0)))
        found = [self.model]
        top, H = density(self.u) if draws else 0.0, self.laplace.H
        for values in self.laplace.draws(draws) if draws else ():
            away = values - self.laplace.mode
            u = self.u
            for _ in range(MOST_HALVINGS):
                u = self.u.copy()
                u[self.moving] = self.laplace.mode + away
                u[self.changes] = self.u[self.changes]
                if density(u) > top - 0.5 * float(away @ H @ away) - 2.0 * VERY_STRONG:
                    break
                away = 0.5 * away
            found.append(vector.model(u))
        return found

    @property
    def changes(self) -> list[int]:
        """The indices of the locations of steps."""
        pool = self.model.pool
        return [
            len(pool) + 1 + place
            for place, number in enumerate(pool.layout)
            if number.name == "location" and isinstance(pool.kernels[number.product][number.factor], Step | StepUntil)
        ]

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of each parameter; 0 for those that are not fitted."""
        found = np.zeros(len(self.u))
        found[self.moving] = self.laplace.deviations
        return found


class Origin(NamedTuple):
    """The mode of a fit, and the place of a component in it."""

    mode: Mode
    place: int


@dataclass(frozen=True)
class Structure:
    """Components with their fitted model."""

    parts: tuple[Part, ...]
    noise: float
    """The noise variance."""
    score: float
    """The log evidence, in nats."""
    model: ExactModel | None = None
    terms: Terms | None = None
    mode: Mode | None = None
    finished: bool = True
    """Whether its fit ended by itself, before it had made as many iterations as it might."""

    def at_mode(self) -> Mode:
        """The mode of the fit; ValueError if the likelihood is finite nowhere."""
        if self.mode is None:
            raise ValueError(
                "y: no fit has a finite likelihood: leave out extreme values, or give another likelihood or scale."
            )
        return self.mode


def parts_in(model: ExactModel, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Components with the values that they have in a fitted model, of whose pool they are the first."""
    weights = np.asarray(model.prior.quantile(0.5))
    return tuple(
        replace(part, kernel=model.pool[i], weight=float(weights[i]), origin=None) for i, part in enumerate(parts)
    )


def climbed_to(
    objective: Any,
    parts: Sequence[Part],
    iterations: int = ITERATIONS,
    tolerance: float = ROUGH_TOLERANCE,
    tell: Callable[[float], None] = lambda bound: None,
) -> tuple[Structure, Climb]:
    """A structure at a local maximum of a bound, which is its score, and the climb."""
    found = climb(objective, iterations, tolerance, callback=lambda i, terms: tell(terms.total))
    model, top = objective.model(found.numbers), found.terms[-1]
    return Structure(parts_in(model, parts), float(model.noise), top.total, model, top), found


def horseshoe_model(parts: Sequence[Part], noise: float, inputs: int, row_noise: Noise = ALIKE) -> ExactModel:
    """The model of some components under the paper's horseshoe."""
    pool = Products.of([part.kernel for part in parts], inputs)
    centre = Products.of([part.centre for part in parts], inputs).unbounded
    return ExactModel(_horseshoe(np.array([part.weight for part in parts])), noise, pool, centre, row_noise)


def _horseshoe(weights: np.ndarray) -> Horseshoe:
    """q(w) with given medians of the weights; tau has the median 0.3."""
    mu_tau = 2.0 * np.log(0.3)
    return Horseshoe(
        mu_tau=np.asarray(mu_tau),
        v_tau=np.asarray(0.1),
        mu=2.0 * np.log(np.maximum(weights, 1e-3)) - mu_tau,
        v=np.full(len(weights), 0.2),
    )


def starting_at(near: Structure | None, parts: Sequence[Part]) -> list[Part]:
    """Components with the values that the same ones have in a similar structure, if there is one.

    Of several with one formula, such as a daily and a weekly season, the first stands for the first.
    """
    left = [] if near is None else list(near.parts)
    found = []
    for part in parts:
        place = next((i for i, one in enumerate(left) if one.kernel.formula() == part.kernel.formula()), None)
        one = None if place is None else left.pop(place)
        found.append(part if one is None else replace(part, kernel=one.kernel, weight=one.weight, origin=one.origin))
    return found


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


def saved_by_sharing(mode: Mode, log_densities: np.ndarray, apart: float) -> float:
    """The gain of log evidence if changes that are closer than `apart` are one. [nats]

    A change of regime is two products, one until the change and one from it on, and each has a location of its own. If
    both are at one place, that there is one change has an evidence too: with u the location of the second,

        log p(y | one change) = log p(y | two) - log( p(u) sqrt(2 pi) sd(u) )

    because the likelihood is the same and the prior of a second location is not paid. `log_densities` are the log prior
    densities of all parameters.
    """
    fitted = sorted((place for place in mode.changes if mode.deviations[place] > 0.0), key=lambda place: mode.u[place])
    prices = {place: -log_densities[place] - np.log(np.sqrt(2.0 * np.pi) * mode.deviations[place]) for place in fitted}
    total = 0.0
    for before, place in pairwise(fitted):
        if mode.u[place] - mode.u[before] < apart:
            # the time of the change is as sure as the surest of both
            # one change, or several: the price of saying that it is one
            total += max(min(prices[before], prices[place]) - np.log(2.0), 0.0)
    return float(total)
