"""What a structure is worth: its fit to some rows, and what each component, there or proposed, gains.

A fit climbs the exact bound under the horseshoe; its score is that bound less the price of the components
(its `price`). What a component would gain, or costs when it goes, is exact but for the other numbers, which stay as
they are: a few Cholesky factors, not a fit.
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
    """Rows on the scale of the model, to which structures are fitted."""

    X: np.ndarray
    y: np.ndarray
    covariance: Covariance
    known: Sequence[float] = ()
    """Periods worth trying."""
    tell: Callable[[str, float], None] = lambda what, bound: None
    rows: np.ndarray | None = None
    """The variance of the noise of each row, where it is known."""
    steps: int = 0
    """Steps of all fits so far."""
    settings: SearchSettings = SearchSettings()
    _fitted: dict[tuple[Any, ...], tuple[Sequence[Part], Structure]] = field(default_factory=dict, init=False)
    """What was fitted so far, by where it started: some moves ask for the same."""

    def spread(self, structure: Structure) -> np.ndarray:
        """The variance of the noise of each row."""
        return np.full(len(self.y), structure.noise) if self.rows is None else self.rows

    def noisy(self, C: np.ndarray, structure: Structure) -> np.ndarray:
        """C with the noise of a structure."""
        return C + np.diag(self.spread(structure))

    def empty(self) -> Structure:
        """Noise alone, about a level where that of each row is known."""
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
        """All parameters of the parts and of q(w) together, from where they are; as in the search by default."""
        usual = self.settings.fits
        iterations = usual.iterations if iterations is None else iterations
        tolerance = usual.tolerance if tolerance is None else tolerance
        draws = usual.draws if draws is None else draws
        start = (*map(id, parts), noise, iterations, tolerance, draws)
        if start not in self._fitted:
            # the parts are kept as well, so that no other gets their identity
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
        """The bound with many draws of the weights: a fit exploits the few it sees, and its own bound is too high."""
        model = structure.model
        if model is None:
            return structure.score
        noise = quasi_normal(many_draws(model.prior, self.settings.fits), model.prior.noise_size)
        objective = ExactObjective(model, self.covariance, self.covariance.scatter(self.y), noise)
        return objective.value(objective.start()).total

    def covariance_at(self, structure: Structure) -> np.ndarray:
        """C of the real rows at the median weights, without the noise."""
        if not structure.parts or structure.model is None:
            return np.zeros((len(self.y), len(self.y)))
        w2 = np.asarray(structure.model.prior.quantile(0.5)) ** 2
        pool = structure.model.pool
        C, _ = self.covariance.forward(pool, pool.numbers, w2[None])
        return np.array(self.covariance.gather(C[0]))

    def _grams(self, kernels: Sequence[Kernel]) -> list[np.ndarray]:
        return list(self.covariance.grams(Products.of(kernels, self.X.shape[1])))

    def screen(self, structure: Structure, moves: Sequence[Move]) -> np.ndarray:
        """The gain in evidence of each move, all numbers as they stand, less what its numbers cost."""
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
        """What the components leave of y."""
        C = self.covariance_at(structure)
        return self.spread(structure) * np.linalg.solve(self.noisy(C, structure), self.y)

    def losses(self, structure: Structure) -> np.ndarray:
        """The evidence that each component's removal costs, the others staying as they are."""
        if structure.model is None:
            return np.zeros(0)
        C = self.covariance_at(structure)
        noise = np.diag(self.spread(structure))
        base = log_density(C + noise, self.y)
        grams = self.covariance.grams(structure.model.pool)
        without = [C - part.weight**2 * K + noise for part, K in zip(structure.parts, grams, strict=False)]
        return np.array([base - log_density(each, self.y) for each in without])

    def refitted_losses(self, structure: Structure) -> np.ndarray:
        """The bound that each component's removal costs when the others are fitted again, briefly.

        Without a sole component noise alone is left, whose log density is known.
        """
        total = structure.terms.total if structure.terms else structure.score
        if len(structure.parts) < 2:
            return np.array([total - self.empty().score for _ in structure.parts])
        fewer = [[part for part in structure.parts if part is not gone] for gone in structure.parts]
        without = [self.fit(parts, structure.noise, self.settings.fits.short_iterations).terms for parts in fewer]
        return np.array([total - terms.total if terms else np.nan for terms in without])

    def sizes(self, structure: Structure) -> np.ndarray:
        """The standard deviation over the rows of what each component adds."""
        if structure.model is None:
            return np.zeros(0)
        C = self.noisy(self.covariance_at(structure), structure)
        a = np.linalg.solve(C, self.y)
        grams = self.covariance.grams(structure.model.pool)
        return np.array([(p.weight**2 * K @ a).std() for p, K in zip(structure.parts, grams, strict=False)])


def many_draws(prior: WeightPrior, fits: FitSettings) -> int:
    """Draws of the weights with which bounds are compared and reported; one where q(w) is a point."""
    return fits.bound_draws if prior.noise_size else 1


def two_draws(model: ExactModel) -> np.ndarray:
    """The two draws with which structures are compared: all weights a standard deviation up, and all down.

    Of two draws any two numbers go together or against each other. Where tau goes against a lambda, a bound rises as
    both grow vague together, though the weight is none the vaguer; so each weight is drawn by itself here, and
    what a structure is worth does not depend on the order of its components.
    """
    ones = np.ones((1, len(model.pool)))
    return np.concatenate([ones, -ones])


def _mean_variance(K: np.ndarray) -> float:
    return max(float(np.mean(np.diagonal(K))), 1e-12)
