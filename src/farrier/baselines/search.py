"""Compositional kernel search, the core of ABCD (Duvenaud et al., ICML 2013; Lloyd et al., AAAI 2014).

Start from noise. In each round fit every kernel that is one move of the grammar (grammar.py) away from the present one,
by the exact marginal likelihood, from several starts. Continue with the kernel of the lowest

    BIC = -2 log p(y | kernel) + (number of hyperparameters) log N

and stop when no move lowers it. `kernel_` is the formula of the kernel found.

Deviations: candidates start from the hyperparameters of the kernel they grew from; new hyperparameters start at values
from the data, then at random ones. Candidates are optimised for a few dozen steps of L-BFGS; only the winner of a round
is optimised fully. There is no mean function. Above `most_rows` the search uses random rows. The result depends on the
seed alone, unless the time limit stops a round.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from farrier.baselines.common import START_NOISE, Baseline, evidence, maximise, some_rows
from farrier.baselines.expressions import Expression
from farrier.baselines.grammar import Starts, variations
from farrier.baselines.terms import Level, levelled, written
from farrier.inference.linalg import jitter
from farrier.kernels.algebra import Kernel, Product
from farrier.kernels.registry import White

POLISH = 5
"""Steps for the winner of a round, as a multiple of `iterations`; by judgement."""
LEAST_GAIN = 0.5
"""The smallest decrease of the BIC by a move, by judgement."""


@dataclass(frozen=True)
class Candidate:
    """A fitted kernel and its BIC. If only bounds are known, `bic` is that of the lower bound."""

    kernel: Kernel
    bic: float
    lowest_bic: float
    """The lowest possible BIC; by the upper bound if only bounds are known."""


@dataclass(kw_only=True)
class KernelSearch(Baseline):
    """Greedy search for a kernel: at most `depth` rounds, `time_limit` in seconds."""

    name: ClassVar[str] = "abcd"
    depth: int = 6
    restarts: int = 2
    iterations: int = 40
    time_limit: float = 600.0
    changes: bool = True
    """Whether changepoints and change windows are tried; only for one input."""
    most_rows: int = 1000

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        deadline = perf_counter() + self.time_limit
        rows = some_rows(len(X), self.most_rows, self.seed)
        self._prepare(X[rows], y[rows])
        starts = Starts(X[rows], y[rows])
        kept = [self._fitted(levelled(Product((Level(START_NOISE), White()))), self.iterations)]
        best = kept[0]
        self.path_ = [(written(best.kernel), best.bic)]
        """The formula and the BIC after each round."""
        for level in range(self.depth):
            found: dict[str, Candidate] = {}
            for parent in kept:
                self._expand(parent, starts, level, deadline, found)
            if not found:
                break
            leader = self._fitted(min(found.values(), key=lambda one: one.bic).kernel, POLISH * self.iterations)
            found[written(leader.kernel)] = leader
            if leader.bic > best.bic - LEAST_GAIN:
                break
            best, kept = leader, self._kept(list(found.values()), leader)
            self.path_.append((written(best.kernel), best.bic))
        self.best_, self.kernel_, self.bic_ = best, written(best.kernel), best.bic
        self._condition(best.kernel)

    def _expand(self, parent: Candidate, starts: Starts, level: int, deadline: float, found: dict[str, Any]) -> None:
        """Fit every kernel one move away from the parent, from each start, and keep the best of each formula."""
        for attempt in range(self.restarts):
            generator = np.random.default_rng([self.seed, level, attempt])
            changes = self.changes and self._X.shape[1] == 1
            moved = variations(parent.kernel, starts, attempt, generator, changes=changes, noise=self._noise_varies)
            for formula, kernel in moved.items():
                if perf_counter() > deadline:
                    return
                candidate = self._fitted(kernel, self.iterations)
                if formula not in found or candidate.bic < found[formula].bic:
                    found[formula] = candidate

    _noise_varies: ClassVar[bool] = True

    def _prepare(self, X: np.ndarray, y: np.ndarray) -> None:
        self._X, self._y = X, y

    def _kept(self, found: list[Candidate], leader: Candidate) -> list[Candidate]:
        """The kernels from which the next round starts."""
        return [leader]

    def _fitted(self, kernel: Kernel, iterations: int) -> Candidate:
        """The kernel with its hyperparameters at a local maximum of the log marginal likelihood."""
        expression = Expression(kernel)

        def objective(numbers: np.ndarray) -> tuple[float, np.ndarray]:
            K, pull = expression.gram(numbers, self._X)
            found = evidence(np.array(K), self._y)
            return (-np.inf, numbers) if found is None else (found[0], pull(found[1]))

        numbers, value = maximise(objective, expression.numbers, iterations)
        bic = -2.0 * value + len(numbers) * np.log(len(self._y))
        return Candidate(expression.at(numbers), bic, bic)

    def _condition(self, kernel: Kernel) -> None:
        self._expression = Expression(kernel)
        C = np.array(self._expression.gram(self._expression.numbers, self._X)[0])
        C[np.diag_indices(len(C))] += jitter(C)
        self._L = np.linalg.cholesky(C)
        self._e = solve_triangular(self._L, self._y, lower=True)

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at, rows = self._expression.numbers, X
        A = solve_triangular(self._L, self._expression.gram(at, self._X, rows)[0], lower=True)
        return A.T @ self._e, self._expression.diag(at, rows)[0] - np.sum(A**2, axis=0)
