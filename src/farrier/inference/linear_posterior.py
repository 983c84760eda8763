"""The posterior of a series by the linear tier: features, Markov chains, and bridges between the borders of blocks.

In a block (linear_blocks.py) let u = (beta, x) have the posterior mean m and covariance S, let C = L L' and
e = L^-1 (y - Y m) with Y = (Phi, Z), and let c be the covariance of the bridge at a new row with the rows of the block.
At the new row

    E f = y*'m + A'e,     Var f = v - A'A + g'S g,     A = L^-1 c,     g = y* - (L^-1 Y)'A

y* are the features and loadings of the new row, v is the variance of its own bridge. Left of the first row and right of
the last one there are no rows in the block. For some of the components y*, c and v have only these. States of
different blocks are correlated through the chain, which `joint` follows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from farrier.evaluation.products import Products
from farrier.inference.linear import block_size, smoothed, solve
from farrier.inference.linear_blocks import CHUNK_ROWS, Blocks, LinearModel
from farrier.inference.linear_plan import FeatureLimits, Piece, plan
from farrier.inference.linear_sites import Site, beyond_the_rows, inside_the_rows
from farrier.inference.mixtures import joint_moments, moments
from farrier.inference.without_caches import WithoutCaches

BEYOND_ROWS = 512
"""Rows right of the last row or left of the first that are predicted at once. [rows; by judgement]"""
RELATIVE = 1e-12
"""Eigenvalues of a covariance of states, as a part of the largest, that count as zero. By judgement."""


class Draw(NamedTuple):
    """The posterior for one draw of the weights; states are those at borders 0 ... B, and x of the blocks between."""

    model: LinearModel
    evidence: float
    beta: np.ndarray
    """The mean of beta, (G,)."""
    covariance: np.ndarray
    """The covariance of beta, (G, G)."""
    T: np.ndarray
    """The step across each block, (B, d, 2d)."""
    mean: np.ndarray
    """Of x, (B + 1, 2d); the last has only the state at the last row."""
    within: np.ndarray
    """The covariance of x given beta, (B + 1, 2d, 2d)."""
    J: np.ndarray
    """Minus the derivative of the mean of x with respect to beta, (B + 1, 2d, G)."""


@final
@dataclass(frozen=True)
class LinearPosterior(WithoutCaches):
    """The posterior of f and of its components for S draws of the weights, given rows in any order."""

    pool: Products
    weights: np.ndarray
    noise: np.ndarray
    """The noise variance of each row."""
    X: np.ndarray
    y: np.ndarray
    limits: FeatureLimits = FeatureLimits()

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The representation of each product."""
        return plan(self.pool, self.X, self.limits)

    @cached_property
    def _blocks(self) -> Blocks:
        order = np.argsort(self.X[:, 0], kind="stable")
        return Blocks(self.X[order], self.y[order], self.noise[order], block_size(self.pieces))

    @cached_property
    def _solved(self) -> list[Draw]:
        return [self._draw(w) for w in self.weights]

    def _draw(self, w: np.ndarray) -> Draw:
        model = LinearModel(self.pieces, self.pool.numbers, w**2, 1.0)
        solution = solve(model, self._blocks)
        states, d = smoothed(solution), model.d
        # the last border is added: its state is one more step
        T, x, P = solution.T[-1], states.mean, states.covariance
        last, spread = np.zeros((1, 2 * d, x.shape[2])), np.zeros((1, 2 * d, 2 * d))
        last[0, :d], spread[0, :d, :d] = T @ x[-1], T @ P[-1] @ T.T
        # the first step leads from the start of the chains to the first row, and has no rows
        x, P = np.concatenate([x[1:], last]), np.concatenate([P[1:], spread])
        J = x[..., :-1]
        beta, S = solution.mean, solution.covariance
        return Draw(model, solution.evidence, beta, S, solution.T[1:], x[..., -1] - J @ beta, P, J)

    @property
    def evidence(self) -> float:
        """The log marginal likelihood of y, averaged over the draws."""
        return float(np.mean([draw.evidence for draw in self._solved]))

    def draws(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of f(x) given each draw of the weights, (S, N) each."""
        mean, variance = self._moments(X, np.ones((1, len(self.pool))))
        return mean[:, 0], variance[:, 0]

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each component, (m, N) each; or of sums of them, rows of 0 and 1 in `sums` (J, m)."""
        return moments(*self._moments(X, np.eye(len(self.pool)) if sums is None else sums))

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean (N,) and covariance (N, N) of f, or of the sum of some components, at all rows together."""
        chosen = np.ones(len(self.pool)) if parts is None else np.isin(np.arange(len(self.pool)), parts).astype(float)
        means, covariances = [], []
        for draw in self._solved:
            mean, covariance = np.zeros(len(X)), np.zeros((len(X), len(X)))
            g, owner = np.zeros((len(X), draw.model.G + 2 * draw.model.d)), np.zeros(len(X), int)
            for site in self._sites(X, draw, max(len(X), 1)):
                view = site.of(chosen)
                for k, block in enumerate(site.blocks):
                    rows, there = site.rows[k][site.filled[k]], site.filled[k]
                    mean[rows] = view.mean[k, there]
                    covariance[np.ix_(rows, rows)] += view.own(k)[np.ix_(there, there)]
                    g[rows], owner[rows] = view.g[k, there], block
            covariance += self._through_states(draw, g, owner)
            means.append(mean)
            covariances.append(covariance)
        return joint_moments(means, covariances)

    def _through_states(self, draw: Draw, g: np.ndarray, owner: np.ndarray) -> np.ndarray:
        """g'Cov(u, u')g of all pairs of rows, whose blocks are `owner`.

        Given beta the chain is Markov: x - next state - all later x. So one sweep from the last block to the first
        carries the covariance of the state with all rows that came before in the sweep.
        """
        G, d = draw.model.G, draw.model.d
        by_beta = g[:, :G] - np.einsum("nx,nxg->ng", g[:, G:], draw.J[owner]) if d else g
        found = by_beta @ draw.covariance @ by_beta.T
        if not g[:, G:].any():
            return found
        T, order = draw.T, np.argsort(-owner, kind="stable")
        blocks, starts = np.unique(-owner[order], return_index=True)
        members = {int(-b): rows for b, rows in zip(blocks, np.split(order, starts[1:]), strict=True)}
        known, carried = np.zeros(0, int), np.zeros((d, 0))
        for block in range(int(owner.max()), int(owner.min()) - 1, -1):
            within = draw.within[block]
            if len(known):
                state = draw.within[block + 1][:d, :d]
                ahead = within @ T[block].T
                later = ahead @ np.linalg.pinv(state, rcond=RELATIVE, hermitian=True) @ carried
            else:
                later = np.zeros((2 * d, 0))
            if block in members:
                rows = members[block]
                x = g[rows, G:]
                part = x @ later
                found[np.ix_(rows, known)] += part
                found[np.ix_(known, rows)] += part.T
                found[np.ix_(rows, rows)] += x @ within @ x.T
                known, later = np.append(known, rows), np.concatenate([later, within @ x.T], axis=1)
            carried = later[:d]
        return found

    def _moments(self, X: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of sums of components for each draw, (S, J, N) each; a sum is a row of 0 and 1."""
        mean, variance = np.empty((2, len(self.weights), len(sums), len(X)))
        for s, draw in enumerate(self._solved):
            for site in self._sites(X, draw):
                rows = site.rows[site.filled]
                for j, chosen in enumerate(sums):
                    view = site.of(chosen)
                    mean[s, j, rows] = view.mean[site.filled]
                    variance[s, j, rows] = view.variance[site.filled]
        return mean, np.maximum(variance, 0.0)

    def _sites(self, X: np.ndarray, draw: Draw, together: int = BEYOND_ROWS) -> Iterator[Site]:
        """New rows with the blocks they fall into, many blocks at a time; `together` rows outside of all blocks."""
        x, blocks = X[:, 0], self._blocks
        borders = blocks.borders
        inside = np.flatnonzero((x >= borders[0]) & (x <= borders[-1]))
        for side, rows in ((0, np.flatnonzero(x < borders[0])), (len(borders) - 1, np.flatnonzero(x > borders[-1]))):
            for first in range(0, len(rows), together):
                yield beyond_the_rows(draw, X, rows[first : first + together], side, float(borders[side]))
        which = np.clip(np.searchsorted(borders, x[inside], side="right") - 1, 0, blocks.count - 1)
        order = np.argsort(which, kind="stable")
        inside, which = inside[order], which[order]
        found, starts, counts = np.unique(which, return_index=True, return_counts=True)
        at_once = max(1, CHUNK_ROWS // max(blocks.size, int(counts.max(initial=1))))
        for first in range(0, len(found), at_once):
            some = slice(first, first + at_once)
            places = starts[some, None] + np.arange(counts[some].max())
            filled = np.arange(counts[some].max()) < counts[some, None]
            rows = inside[np.minimum(places, len(inside) - 1)]
            # rows that fill up are copies of the first
            rows = np.where(filled, rows, rows[:, :1])
            yield inside_the_rows(draw, X, rows, filled, blocks.chunk(found[some]))
