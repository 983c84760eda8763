"""The evidence of structures, and the gain of each component that a structure has or might have.

A fit finds the highest point of the log posterior density of all parameters, under the priors of beliefs.py. The score
of a structure is its log evidence by Laplace's approximation there:

    log p(y) = log p(y | u*) + log p(u*) + (P log 2 pi - log|H|) / 2

A component that is not needed lowers it: its parameters are then free within their prior, and the likelihood gains
nothing. The gain of a candidate, or the loss without a component, is first computed with all other parameters fixed:
that takes a few Cholesky factors instead of a fit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import mul
from typing import Any, final

import numpy as np

from farrier.evaluation.covariance import Covariance, covariance_of
from farrier.evaluation.products import Products
from farrier.inference.exact import ExactObjective, log_density, log_normal
from farrier.inference.horseshoe import PointHorseshoe
from farrier.inference.laplace import Laplace, curvature
from farrier.inference.lbfgs import ITERATIONS, TOLERANCE, Climb, climb, moving_of
from farrier.inference.noise import ALIKE, Noise
from farrier.inference.parameter_vector import ExactModel, Terms
from farrier.kernels.algebra import Kernel
from farrier.search.beliefs import Beliefs
from farrier.search.evidence import HOPELESS, VERY_STRONG
from farrier.search.starting_values import INPUT_LENGTHSCALE, SAME_CHANGE
from farrier.search.structure import (
    LEVEL,
    Mode,
    Move,
    Origin,
    Part,
    Structure,
    curvature_at_start,
    saved_by_sharing,
    starting_at,
)

RANKED = 12
"""Additional components that are evaluated after a score test has ranked all. [components; by judgement]"""

START_NOISE = 0.1
"""Noise variance at the start of a fit. [variance of y; by judgement]"""
SHORT_ITERATIONS = 10
"""Most L-BFGS iterations after a component is removed or simplified. [iterations; by judgement]"""
CURVATURE_ROWS = 200
"""Rows of a table at which the curvature of the log posterior is computed; that of more rows is in proportion. [rows;
measured on boston: with all rows it took 60 % of the time of a search]"""
PROBES = 16
"""Vectors of random signs that estimate the information of a score test. [vectors; by judgement]"""
LEAST_CURVATURE = 0.3
"""Lowest curvature of the log posterior density in any direction: where it is flatter, draws go no further. [nats for
each squared unit of a logarithm; by judgement]"""
CURVATURE_STEP = 1e-3
"""Step of the differences that give the curvature of the log posterior density. [parts of the typical posterior
deviation of a parameter; by judgement]"""
UNFINISHED = 1.0
"""Gain that Newton's method expects after a fit above which the fit goes on. [nats; by judgement]"""
HIGHER_NOISES = tuple(4.0**k for k in range(8))
"""Noise variances that are tried for the leave-one-out error without some of the components. [parts of the noise
variance; by judgement]"""


@dataclass
class Evaluator:
    """Fits structures to rows on the scale of the model, and compares them."""

    X: np.ndarray
    y: np.ndarray
    covariance: Covariance
    known: Sequence[float] = ()
    """Known periods, such as those of the calendar."""
    tell: Callable[[str, float], None] = lambda what, bound: None
    """Called with a description of the current phase and the current bound."""
    noise: Noise = ALIKE
    """The noise of the rows."""
    steps: int = 0
    """L-BFGS steps of all fits so far."""
    beliefs: Beliefs = Beliefs()
    _fitted: dict[tuple[Any, ...], tuple[Sequence[Part], Structure]] = field(default_factory=dict, init=False)
    """Cache of fits by their starting point: different moves can lead to the same fit."""

    @property
    def of_series(self) -> bool:
        """Whether the rows are a series or a curve: one input, or time and its regressors."""
        return self.beliefs.clock is not None

    def part(self, kernel: Kernel, weight: float, scale: float | None = None) -> Part:
        """A component with the priors that suit the rows."""
        return self.beliefs.part(kernel, weight, self.X.shape[1], scale)

    def on_time(self, kernel: Kernel) -> Kernel:
        """A product of one input as one of the rows: of a series with regressors it acts on time."""
        return self.beliefs.on_time(kernel, self.X.shape[1])

    def spread(self, structure: Structure) -> np.ndarray:
        """The noise variance of each row."""
        return self.noise.variances(structure.noise, len(self.y))

    def noisy(self, C: np.ndarray, structure: Structure) -> np.ndarray:
        """C plus the noise of a structure."""
        return C + np.diag(self.spread(structure))

    def empty(self) -> Structure:
        """The structure without components: a level and noise."""
        return self._empty

    @cached_property
    def _empty(self) -> Structure:
        return self.fit([], 1.0 if self.noise.known else float(np.mean(self.y**2)))

    def fit(
        self,
        parts: Sequence[Part],
        noise: float,
        iterations: int = ITERATIONS,
        least: float = -np.inf,
    ) -> Structure:
        """A structure with all parameters fitted together, from their current values.

        If the log likelihood does not reach `least`, the structure is not good enough to be compared, and its score
        is minus infinity.
        """
        start = (*map(id, parts), noise, iterations, least)
        if start not in self._fitted:
            # the parts are stored too, whatever happens to their list, so that their ids stay unique
            self._fitted[start] = tuple(parts), self._climbed(parts, noise, iterations, least)
        return self._fitted[start][1]

    def fit_briefly(self, parts: Sequence[Part], structure: Structure, least: float) -> Structure:
        """A fit of a few iterations from components of a structure, and of more only where that may be worth it.

        That is where the fit did not end by itself, and its score is a little lower than that of the structure.
        """
        found = self.fit(parts, structure.noise, SHORT_ITERATIONS, least=least)
        hopeless = found.score <= structure.score - HOPELESS
        if found.finished or hopeless or found.score >= structure.score:
            return found
        return self.fit(found.parts, found.noise)

    def fit_pool(self, parts: Sequence[Part], near: Structure | None = None, least: float = -np.inf) -> Structure:
        """A fit of all ordinary candidates, from the values of a similar structure, if there is one, or with the usual
        noise.

        From a noise that is far too small, the first steps of a fit can lead to the far end of the limits. If rows are
        clearly less likely at the end than as white noise, or a fit of a series ends with weights that should be
        others, it starts again with a larger noise. A fit that gets no score is only a start for the next one.
        """
        driven = self.of_series and self.X.shape[1] > 1
        usual = self.beliefs.noise if self.beliefs.of_time else START_NOISE
        starts = [] if near is None else [(starting_at(near, parts), near.noise)]
        starts += [(parts, max(usual, noise_beside(self.X, self.y)))] if driven else []
        starts += [(parts, factor * usual) for factor in HIGHER_NOISES if factor * usual <= 1.0]
        white, ends = log_normal(float(self.y @ self.y), 0.0, len(self.y)), []
        lowest = white - VERY_STRONG
        for start in starts or [(parts, usual)]:
            end = self.fit(*start, least=least)
            assert end.terms is not None
            likely = end.terms.evidence > lowest or self.noise.known
            if likely and (not self.of_series or self._settled(end)):
                return end
            ends.append(end)
        return max(ends, key=lambda one: one.terms.total)

    def _settled(self, structure: Structure) -> bool:
        """Whether the weights of a fit are where it cannot gain by moving them: the log posterior density has no slope
        there, while that of a weight far beyond all sense is one at least, by its prior alone."""
        mode = structure.mode
        if mode is None:
            return True
        _, slope = self.objective_at(mode).terms(mode.u)
        return bool(np.abs(slope[: len(mode.model.pool)]).max() < 0.5)

    def models(self, structure: Structure, draws: int) -> list[ExactModel]:
        """The model of a structure at its mode, and at an even number of draws of its parameters."""
        mode = structure.at_mode()
        objective = self.objective_at(mode)
        return mode.models(draws, lambda u: objective.terms(u)[0].total)

    def objective_at(self, mode: Mode) -> ExactObjective:
        """The log posterior density of the model of a mode, for the rows."""
        return ExactObjective(mode.model, self.covariance, self.covariance.scatter(self.y), np.zeros((1, 0)))

    def _objective(self, parts: Sequence[Part], noise: float) -> ExactObjective:
        model = self.beliefs.model([*parts, LEVEL], noise, self.X.shape[1], self.noise)
        return ExactObjective(model, self.covariance, self.covariance.scatter(self.y), np.zeros((1, 0)))

    def _climbed(self, parts: Sequence[Part], noise: float, iterations: int, least: float) -> Structure:
        objective = self._objective(parts, noise)
        H = curvature_at_start(parts, objective.template, moving_of(objective.limits()), objective.typical())
        found = climb(objective, iterations, TOLERANCE, curvature=H)
        self.steps += len(found.terms)
        top, mode, score = found.terms[-1], None, -np.inf
        self.tell("fitting", top.total)
        if top.evidence >= least:
            mode, top, left = self._mode(objective, found, 0.1 * TOLERANCE)
            if left > UNFINISHED and len(found.terms) < iterations:
                objective = self.objective_at(mode)
                found = climb(objective, iterations, TOLERANCE)
                self.steps += len(found.terms)
                mode, top, _ = self._mode(objective, found, 0.1 * TOLERANCE)
            score = self._evidence(top, mode) + self.beliefs.log_structure(parts, *self.X.shape[::-1])
        fitted = objective.model(found.numbers) if mode is None else mode.model
        weights = fitted.prior.quantile(0.5)
        values = tuple(
            Part(fitted.pool[i], part.centre, float(weights[i]), part.scale, Origin(mode, i) if mode else part.origin)
            for i, part in enumerate(parts)
        )
        return Structure(values, float(fitted.noise), score, fitted, top, mode, len(found.terms) < iterations)

    def _curved(self, objective: ExactObjective) -> Any:
        """What the curvature is computed from: for a table with many rows a part of them, weighted by their number."""
        rows = CURVATURE_ROWS
        if self.of_series or len(self.y) <= rows or self.noise.known:
            return objective
        some = np.random.default_rng(0).choice(len(self.y), rows, replace=False)
        template = replace(objective.template, row_noise=self.noise.at(some))
        part = ExactObjective(template, covariance_of(self.X[some]), self.y[some], objective.draws)
        return PartOfRows(objective, part)

    def _mode(self, objective: ExactObjective, climbed: Climb, enough: float) -> tuple[Mode, Terms, float]:
        """The mode near the end of a climb, the terms there, and what one more step of Newton's method should gain.

        Steps of Newton's method lead to it, until one gains less than `enough`, or is expected to.
        """
        u, top, slope, limits = climbed.numbers, climbed.terms[-1], climbed.slope, objective.limits()
        free = limits[:, 1] > limits[:, 0]
        # where each row has its own noise, the common one has no part in the density
        free[len(objective.template.prior.vector())] &= not self.noise.known
        moving = np.flatnonzero(free)
        curved, steps = self._curved(objective), CURVATURE_STEP * objective.typical()
        whole = curved is objective
        H = curvature(curved, u, moving, steps, slope if whole else None)
        laplace = Laplace.of(u[moving], H, LEAST_CURVATURE)
        gain = np.inf if whole else 0.0
        # at a limit a step can be expected to gain more than it does
        while gain > enough and laplace.expected_gain(slope[moving]) > enough:
            better = u.copy()
            better[moving] = np.clip(u[moving] + laplace.newton(slope[moving]), *limits[moving].T)
            there, gradient = objective.terms(better)
            gain = there.total - top.total
            if gain > 0.0:
                u, top, slope = better, there, gradient
        left = laplace.expected_gain(slope[moving]) if whole else 0.0
        return Mode(objective.model(u), u, moving, replace(laplace, mode=u[moving])), top, left

    def _evidence(self, top: Terms, mode: Mode) -> float:
        """Laplace's approximation of the log evidence; changes at one time of a series may be one."""
        densities, apart = self._log_densities(mode), SAME_CHANGE
        saved = saved_by_sharing(mode, densities, apart) if self.of_series else 0.0
        count = len(mode.model.pool)
        assert isinstance(mode.model.prior, PointHorseshoe)
        weights = mode.model.prior.log_density
        return top.evidence + weights + float(densities[count:].sum()) + mode.laplace.log_volume + saved

    def _log_densities(self, mode: Mode) -> np.ndarray:
        x = np.unique(self.X[:, 0])
        return self.beliefs.log_densities(mode.model, float(x[-1] - x[0]), float(np.median(np.diff(x))))

    def prices(self, structure: Structure) -> np.ndarray:
        """What each component costs: minus the log of the part of its prior that the posterior fills, in nats.

        This is the component's own share of the evidence, without its correlation with others.
        """
        mode = structure.mode
        if mode is None:
            return np.zeros(len(structure.parts))
        count = len(mode.model.pool)
        densities, owner = self._log_densities(mode), np.full(len(mode.u), -1)
        owner[:count] = np.arange(count)
        owner[count + 1 :] = [number.product for number in mode.model.pool.layout]
        filled = densities + np.log(np.sqrt(2.0 * np.pi) * np.maximum(mode.deviations, 1e-300))
        own = [(owner == i) & (mode.deviations > 0) for i in range(len(structure.parts))]
        odds = [self.beliefs.log_structure([part], *self.X.shape[::-1]) for part in structure.parts]
        return np.array([-float(filled[one].sum()) - prior for one, prior in zip(own, odds, strict=True)])

    def covariance_at(self, structure: Structure) -> np.ndarray:
        """C of the rows at the median weights, without noise."""
        if not structure.parts or structure.model is None:
            return np.zeros((len(self.y), len(self.y)))
        w2 = np.asarray(structure.model.prior.quantile(0.5)) ** 2
        pool = structure.model.pool
        C, _ = self.covariance.forward(pool, pool.numbers, w2[None])
        return np.array(self.covariance.gather(C[0]))

    def grams(self, kernels: Sequence[Kernel]) -> list[np.ndarray]:
        """The Gram matrix of each kernel at the rows."""
        return list(self.covariance.grams(Products.of(kernels, self.X.shape[1])))

    def screen(self, structure: Structure, moves: Sequence[Move]) -> np.ndarray:
        """The gain of each move in log evidence, with all other parameters fixed.

        Additional components are first ranked by a score test; minus infinity marks those that it leaves out.
        """
        C = self.covariance_at(structure)
        # rows of known noise have a latent function of variance one
        left = 0.3 if self.noise.known else structure.noise
        levels = [part * self.spread(structure) for part in ((1.0,) if self.noise.known else (1.0, 0.4))]
        base = log_density(self.noisy(C, structure), self.y)
        there = self.grams([part.kernel for part in structure.parts]) if structure.parts else []
        grams = self.grams([move.kernel for move in moves])
        gains = np.full(len(moves), -np.inf)
        for i in self._ranked(C, structure, moves, grams):
            move, K = moves[i], grams[i]
            if move.place is None:
                # parts of three times the noise variance
                others, sizes = C, [left * weight * 3.0 for weight in (0.03, 0.3, 2.0)]
            else:
                own = structure.parts[move.place].weight ** 2 * there[move.place]
                others, sizes = C - own, [_mean_variance(own)]
            for size in sizes:
                for noise in levels:
                    total = others + (size / _mean_variance(K)) * K
                    total[np.diag_indices(len(total))] += noise
                    gains[i] = max(gains[i], log_density(total, self.y) - base)
        return gains

    def _ranked(
        self, C: np.ndarray, structure: Structure, moves: Sequence[Move], grams: Sequence[np.ndarray]
    ) -> list[int]:
        """The moves in place of a component, and the additional components with the highest score statistics."""
        test = self._score_test(C, structure)
        found = [test(K) if move.place is None else (0.0, 1.0) for move, K in zip(moves, grams, strict=True)]
        heights = np.array([np.sign(slope) * slope**2 / information for slope, information in found])
        heights[[move.place is not None for move in moves]] = -np.inf
        best = np.argsort(heights)[::-1][:RANKED]
        return [i for i, move in enumerate(moves) if move.place is not None or i in best]

    def _score_test(self, C: np.ndarray, structure: Structure) -> Callable[[np.ndarray], tuple[float, float]]:
        """The slope of the log evidence in the squared weight of another component at zero, and its information.

        With a = C^-1 y and the Gram matrix K of the component, they are (a'Ka - tr C^-1 K) / 2 and
        tr(C^-1 K C^-1 K) / 2, the latter as the mean of v'C^-1 K C^-1 K v / 2 over vectors v of random signs.
        """
        inverse = np.linalg.inv(self.noisy(C, structure))
        a = inverse @ self.y
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(a), PROBES))
        solved = inverse @ signs

        def test(K: np.ndarray) -> tuple[float, float]:
            trace = float(np.vdot(inverse, K))
            estimate = float(np.vdot(K @ solved, inverse @ (K @ signs))) / PROBES
            # the trace of a square is at least the squared trace over the rows
            return 0.5 * (float(a @ K @ a) - trace), 0.5 * max(estimate, trace**2 / len(a), 1e-300)

        return test

    def interaction_scores(self, structure: Structure, sets: Sequence[tuple[int, ...]]) -> np.ndarray:
        """About the log evidence that a smooth interaction of each set of inputs would gain, by a score test.

        The kernel of an interaction is the product of the centred kernels of its inputs, which leaves out their main
        effects, so that x1 * x2 has a score where neither input has one.
        """
        length, test = INPUT_LENGTHSCALE, self._score_test(self.covariance_at(structure), structure)
        grams = [_centred(np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / length**2)) for x in self.X.T]
        each = [test(reduce(mul, (grams[d] for d in inputs))) for inputs in sets]
        return np.array([0.5 * max(slope, 0.0) ** 2 / information for slope, information in each])

    def residual(self, structure: Structure) -> np.ndarray:
        """y minus the posterior mean of all components."""
        C = self.covariance_at(structure)
        return self.spread(structure) * np.linalg.solve(self.noisy(C, structure), self.y)

    def losses(self, structure: Structure) -> np.ndarray:
        """The log evidence that is lost without each component, with all other parameters fixed."""
        if structure.model is None:
            return np.zeros(0)
        C = self.covariance_at(structure)
        noise = np.diag(self.spread(structure))
        base = log_density(C + noise, self.y)
        grams = self.covariance.grams(structure.model.pool)
        without = [C - part.weight**2 * K + noise for part, K in zip(structure.parts, grams, strict=False)]
        return np.array([base - log_density(each, self.y) for each in without])

    def refitted_losses(self, structure: Structure) -> np.ndarray:
        """The loss of log evidence without each component, after a fit of the others."""
        fewer = [[part for part in structure.parts if part is not gone] for gone in structure.parts]
        return np.array([structure.score - self.fit(parts, structure.noise).score for parts in fewer])

    def sizes(self, structure: Structure) -> np.ndarray:
        """The standard deviation over the rows of each component's posterior mean."""
        if structure.model is None:
            return np.zeros(0)
        C = self.noisy(self.covariance_at(structure), structure)
        a = np.linalg.solve(C, self.y)
        grams = self.covariance.grams(structure.model.pool)
        return np.array([(p.weight**2 * K @ a).std() for p, K in zip(structure.parts, grams, strict=False)])


def noise_beside(X: np.ndarray, y: np.ndarray) -> float:
    """About the noise variance of a series with regressors, or more: half the mean square of what lines of the
    regressors leave of the differences of neighbours, at most the variance of y.

    A fit that starts with far less noise takes the effects of regressors for larger than they are.
    """
    order = np.argsort(X[:, 0], kind="stable")
    changes, steps = np.diff(y[order]), np.diff(X[order, 1:], axis=0)
    left = changes - steps @ np.linalg.lstsq(steps, changes, rcond=None)[0]
    return float(min(0.5 * np.mean(left**2), np.var(y)))


def _mean_variance(K: np.ndarray) -> float:
    return max(float(np.mean(np.diagonal(K))), 1e-12)


def _centred(K: np.ndarray) -> np.ndarray:
    """The kernel of a function minus its mean over the rows, scaled to mean variance one."""
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    return K / _mean_variance(K)


@final
@dataclass(frozen=True, eq=False)
class PartOfRows:
    """The log posterior density of a model, with a likelihood estimated from a part of the rows."""

    whole: ExactObjective
    part: ExactObjective

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The terms for the part of the rows, and the estimated gradient: that of the prior is not scaled."""
        terms, gradient = self.part.terms(numbers)
        made = self.part.make(numbers)
        prior = self.part.gradient(made, self.part.pool.no_slopes(), np.zeros_like(made.weighed.w2), 0.0)
        return terms, prior + (gradient - prior) * len(self.whole.y) / len(self.part.y)
