"""The log evidence of a series in time linear in its rows, with its derivative.

    y ~ N(0, Phi Phi' + V),     V the covariance of all Markov chains plus noise

Blocks of rows (linear_blocks.py) are joined by the states at their borders (markov_chain.py), which gives
A = Phi'V^-1 Phi, b = Phi'V^-1 y, c = y'V^-1 y and log|V|. With B = I + A,

    log N(y) = -(c - b'B^-1 b + log|V| + log|B| + n log 2 pi) / 2

The derivative is the posterior expectation of the derivative of the log joint density of rows and unknowns: with
u = (beta, x) of a block and e = y - Phi beta - Z x,

    dL/d(Phi, Z) = C^-1 E[e u'],   dL/dC = (C^-1 E[e e'] C^-1 - C^-1) / 2,   dL/dT = E[(h - H T x) x']

where h - H s is the derivative of the log likelihood of all later rows with respect to the state s.
It is exact up to the features that are left out and the squared exponentials that are chains (linear_plan.py).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from farrier.inference.gaussian import log_normal
from farrier.inference.linear_blocks import Assembled, Blocks, Chunk, LinearModel
from farrier.inference.linear_plan import FeatureLimits, Piece, plan, sizes
from farrier.inference.linear_slopes import Slopes
from farrier.inference.markov_chain import Filtered, Smoothed, backward, forward
from farrier.inference.parameter_vector import ExactModel, Parametrised, Terms
from farrier.inference.weight_priors import quasi_normal

SMALLEST_BLOCK = 64
"""Fewest rows of a block. [rows; by judgement]"""
ROWS_FOR_A_STATE = 4
"""Rows of a block for each state, at least: rows and states then take about the same time. By judgement."""


def block_size(pieces: tuple[Piece, ...]) -> int:
    """Rows of a block for which the time is about the least."""
    return max(SMALLEST_BLOCK, ROWS_FOR_A_STATE * sizes(pieces)[1])


class Solution(NamedTuple):
    """The posterior of the features' weights, and all that the states need."""

    evidence: float
    mean: np.ndarray
    """Of beta, (G,)."""
    covariance: np.ndarray
    """Of beta, (G, G)."""
    T: np.ndarray
    """Steps; the first is from the start of the chains to the first row. (1 + B, d, 2d)."""
    M: np.ndarray
    m: np.ndarray
    filtered: Filtered


Kept = list[tuple[Chunk, Assembled, np.ndarray]]
"""What a pass has computed for each chunk, with L^-1 (Phi, y, Z)."""


def solve(model: LinearModel, blocks: Blocks, kept: Kept | None = None) -> Solution:
    """One pass over the rows; `kept` collects what was computed, for the derivative."""
    G, d, count = model.G, model.d, blocks.count
    F, begin = model.start(float(blocks.x[0]))
    M, m = np.zeros((count + 1, 2 * d, 2 * d)), np.zeros((count + 1, 2 * d, G + 1))
    T = np.empty((count + 1, d, 2 * d))
    T[:1] = model.steps(begin, 1)
    total, log_determinant = np.zeros((G + 1, G + 1)), 0.0
    for chunk in blocks.chunks():
        found = model.assemble(chunk)
        W = found.inverse @ np.concatenate([found.Phi, chunk.y[..., None], found.Z], axis=2)
        D, Z = W[..., : G + 1], W[..., G + 1 :]
        flat = D.reshape(-1, G + 1)
        total += flat.T @ flat
        where = 1 + chunk.which
        M[where], m[where] = np.swapaxes(Z, 1, 2) @ Z, np.swapaxes(Z, 1, 2) @ D
        T[where] = found.T
        log_determinant += found.log_determinant
        if kept is not None:
            kept.append((chunk, found, W))
    filtered = forward(F, T, M, m)
    total = total + filtered.quadratic
    A, b, c = total[:G, :G], total[:G, G], total[G, G]
    B = cho_factor(np.eye(G) + 0.5 * (A + A.T), lower=True)
    mean, covariance = cho_solve(B, b), cho_solve(B, np.eye(G))
    log_determinant += filtered.log_determinant + 2.0 * float(np.log(np.diagonal(B[0])).sum())
    evidence = log_normal(c - b @ mean, log_determinant, len(blocks.x))
    return Solution(evidence, mean, covariance, T, M, m, filtered)


def smoothed(solution: Solution) -> Smoothed:
    """The posterior of the states for each column of data."""
    return backward(solution.filtered, solution.T, solution.M, solution.m)


@final
@dataclass
class LinearObjective(Parametrised):
    """The log evidence plus log priors of a model, as a function of the vector of unbounded parameters."""

    template: ExactModel
    pieces: tuple[Piece, ...]
    blocks: Blocks
    draws: np.ndarray

    @classmethod
    def of(
        cls, template: ExactModel, X: np.ndarray, y: np.ndarray, draws: int = 1, limits: FeatureLimits = FeatureLimits()
    ) -> "LinearObjective":
        """The bound of a model of a series on rows in any order."""
        pieces = plan(template.pool, X, limits)
        return cls(
            template, pieces, sorted_blocks(template, X, y, pieces), quasi_normal(draws, template.prior.noise_size)
        )

    @cached_property
    def _common(self) -> bool:
        return self.template.rows is None

    def value(self, numbers: np.ndarray) -> Terms:
        """The terms of the bound without derivatives."""
        made = self.parameters.make(numbers)
        noise = made.noise if self._common else 1.0
        values = [
            solve(LinearModel(self.pieces, made.numbers, w2, noise), self.blocks).evidence for w2 in made.weighed.w2
        ]
        return Terms.of(float(np.mean(values)), made)

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The terms of the bound, and its derivative."""
        made = self.parameters.make(numbers)
        noise = made.noise if self._common else 1.0
        values, slopes, dnoise = [], self.parameters.pool.no_slopes(), 0.0
        dw2 = np.zeros_like(made.weighed.w2)
        for s, w2 in enumerate(made.weighed.w2):
            try:
                model = LinearModel(self.pieces, made.numbers, w2, noise)
                kept: Kept = []
                solution = solve(model, self.blocks, kept)
            except (ArithmeticError, np.linalg.LinAlgError):
                return Terms.of(-np.inf, made), np.zeros_like(numbers)
            values.append(solution.evidence)
            found = Slopes.of(model, solution, smoothed(solution), kept, float(self.blocks.x[0]))
            slopes += found.numbers / len(dw2)
            dw2[s] = found.w2 / len(dw2)
            dnoise += found.noise / len(dw2) if self._common else 0.0
        if not np.isfinite(values).all():
            return Terms.of(-np.inf, made), np.zeros_like(numbers)
        return Terms.of(float(np.mean(values)), made), self.parameters.gradient(made, slopes, dw2, dnoise)


def sorted_blocks(template: ExactModel, X: np.ndarray, y: np.ndarray, pieces: tuple[Piece, ...]) -> Blocks:
    """Rows in any order as blocks, with the noise variances of a model."""
    order = np.argsort(X[:, 0], kind="stable")
    given = template.rows if template.rows is not None else template.factors
    noise = np.ones(len(y)) if given is None else np.asarray(given, float)
    return Blocks(X[order], y[order], noise[order], block_size(pieces))
