"""Scores of structures, and the gain of each component that a structure has or might have.

A fit maximises the exact bound under the horseshoe prior. The score of a structure is that bound minus the price of its
components (inference/hyperparameter_priors.py), in nats. The gain of a candidate, or the loss without a component, is
first computed with all other parameters fixed: that takes a few Cholesky factors instead of a fit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from farrier.evaluation.covariance import Covariance
from farrier.evaluation.products import Products
from farrier.inference.exact import ExactObjective
from farrier.inference.gaussian import log_density
from farrier.inference.hyperparameter_priors import price
from farrier.inference.lbfgs import climb
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.weight_priors import WeightPrior, quasi_normal
from farrier.kernels.algebra import Kernel
from farrier.search.settings import FitSettings, SearchSettings
from farrier.search.structure import LEVEL, Move, Part, Structure, model_with


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
    rows: np.ndarray | None = None
    """The known noise variance of each row; None for one common variance."""
    steps: int = 0
    """L-BFGS steps of all fits so far."""
    settings: SearchSettings = SearchSettings()
    _fitted: dict[tuple[Any, ...], tuple[Sequence[Part], Structure]] = field(default_factory=dict, init=False)
    """Cache of fits by their starting point: different moves can lead to the same fit."""

    def spread(self, structure: Structure) -> np.ndarray:
        """The noise variance of each row."""
        return np.full(len(self.y), structure.noise) if self.rows is None else self.rows

    def noisy(self, C: np.ndarray, structure: Structure) -> np.ndarray:
        """C plus the noise of a structure."""
        return C + np.diag(self.spread(structure))

    def empty(self) -> Structure:
        """The structure without components: noise alone, and a level if the noise of each row is known."""
        if self.rows is not None:
            return Structure((), 1.0, log_density(np.diag(self.rows) + 1.0, self.y))
        variance = float(np.mean(self.y**2))
        n = len(self.y)
        return Structure((), variance, -0.5 * n * (1.0 + np.log(2.0 * np.pi * variance)))

    def fit(
        self,
        parts: Sequence[Part],
        noise: float,
        iterations: int | None = None,
        tolerance: float | None = None,
        draws: int | None = None,
    ) -> Structure:
        """A structure with all parameters fitted together, from their current values; defaults as in the search."""
        usual = self.settings.fits
        iterations = usual.iterations if iterations is None else iterations
        tolerance = usual.tolerance if tolerance is None else tolerance
        draws = usual.draws if draws is None else draws
        start = (*map(id, parts), noise, iterations, tolerance, draws)
        if start not in self._fitted:
            # the parts are stored too, so that their ids stay unique
            self._fitted[start] = parts, self._climbed(parts, noise, iterations, tolerance, draws)
        return self._fitted[start][1]

    def _climbed(self, parts: Sequence[Part], noise: float, iterations: int, tolerance: float, draws: int) -> Structure:
        model = model_with([*parts, LEVEL], noise, self.X.shape[1], self.rows)
        noise_of_weights = two_draws(model) if draws == 2 else quasi_normal(draws, model.prior.noise_size)
        objective = ExactObjective(model, self.covariance, self.covariance.scatter(self.y), noise_of_weights)
        numbers, terms = climb(objective, iterations, tolerance)
        self.steps += len(terms)
        fitted = objective.model(numbers)
        medians = np.asarray(fitted.prior.quantile(0.5))
        found = tuple(Part(fitted.pool[i], part.centre, float(medians[i])) for i, part in enumerate(parts))
        cost = sum(price(part.kernel, len(self.y)) for part in found)
        self.tell("fitting", terms[-1].total)
        return Structure(found, float(fitted.noise), terms[-1].total - cost, fitted, terms[-1])

    def bound(self, structure: Structure) -> float:
        """The bound with many draws of the weights. The bound of a fit is too high: it overfits its few draws."""
        model = structure.model
        if model is None:
            return structure.score
        noise = quasi_normal(many_draws(model.prior, self.settings.fits), model.prior.noise_size)
        objective = ExactObjective(model, self.covariance, self.covariance.scatter(self.y), noise)
        return objective.value(objective.start()).total

    def covariance_at(self, structure: Structure) -> np.ndarray:
        """C of the rows at the median weights, without noise."""
        if not structure.parts or structure.model is None:
            return np.zeros((len(self.y), len(self.y)))
        w2 = np.asarray(structure.model.prior.quantile(0.5)) ** 2
        pool = structure.model.pool
        C, _ = self.covariance.forward(pool, pool.numbers, w2[None])
        return np.array(self.covariance.gather(C[0]))

    def _grams(self, kernels: Sequence[Kernel]) -> list[np.ndarray]:
        return list(self.covariance.grams(Products.of(kernels, self.X.shape[1])))

    def screen(self, structure: Structure, moves: Sequence[Move]) -> np.ndarray:
        """The gain of each move in log evidence minus price, with all other parameters fixed."""
        C = self.covariance_at(structure)
        n = len(self.y)
        settings = self.settings.screening
        left = structure.noise if self.rows is None else settings.latent_variance
        levels = [part * self.spread(structure) for part in (settings.noise_factors if self.rows is None else (1.0,))]
        base = log_density(self.noisy(C, structure), self.y)
        there = self._grams([part.kernel for part in structure.parts]) if structure.parts else []
        gains = np.full(len(moves), -np.inf)
        for i, (move, K) in enumerate(zip(moves, self._grams([move.kernel for move in moves]), strict=True)):
            if move.place is None:
                others, sizes = C, [left * weight * 3.0 for weight in settings.squared_weights]
            else:
                own = structure.parts[move.place].weight ** 2 * there[move.place]
                others, sizes = C - own, [_mean_variance(own)]
            for size in sizes:
                for noise in levels:
                    total = others + (size / _mean_variance(K)) * K
                    total[np.diag_indices(n)] += noise
                    gains[i] = max(gains[i], log_density(total, self.y) - base)
            gains[i] -= price(move.kernel, n)
            gains[i] += 0.0 if move.place is None else price(structure.parts[move.place].kernel, n)
        return gains

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
        """The loss in the bound without each component, after a short fit of the others.

        Without the only component, noise is left, whose log density has a closed form.
        """
        total = structure.terms.total if structure.terms else structure.score
        if len(structure.parts) < 2:
            return np.array([total - self.empty().score for _ in structure.parts])
        fewer = [[part for part in structure.parts if part is not gone] for gone in structure.parts]
        without = [self.fit(parts, structure.noise, self.settings.fits.short_iterations).terms for parts in fewer]
        return np.array([total - terms.total if terms else np.nan for terms in without])

    def sizes(self, structure: Structure) -> np.ndarray:
        """The standard deviation over the rows of each component's posterior mean."""
        if structure.model is None:
            return np.zeros(0)
        C = self.noisy(self.covariance_at(structure), structure)
        a = np.linalg.solve(C, self.y)
        grams = self.covariance.grams(structure.model.pool)
        return np.array([(p.weight**2 * K @ a).std() for p, K in zip(structure.parts, grams, strict=False)])


def many_draws(prior: WeightPrior, fits: FitSettings) -> int:
    """The number of draws for bounds that are compared or reported; one if q(w) is a point mass."""
    return fits.bound_draws if prior.noise_size else 1


def two_draws(model: ExactModel) -> np.ndarray:
    """The noise of the two draws with which structures are compared: all weights one standard deviation up, or down.

    With two quasi-random draws any two variables would be perfectly correlated, positively or negatively. If tau and
    a lambda were negatively correlated, raising both variances would raise the bound without changing the variance of
    the weight. So each weight is drawn from its own marginal, and the score does not depend on the order of components.
    """
    ones = np.ones((1, len(model.pool)))
    return np.concatenate([ones, -ones])


def _mean_variance(K: np.ndarray) -> float:
    return max(float(np.mean(np.diagonal(K))), 1e-12)
