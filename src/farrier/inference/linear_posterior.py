"""The posterior of a series by the linear tier: features, Markov chains, and bridges between the borders of blocks.

In a block (linear_model.py) let u = (beta, x) have the posterior mean m and covariance S, let C = L L' and
e = L^-1 (y - Y m) with Y = (Phi, Z), and let c be the covariance of the bridge at a new row with the rows of the block.
At the new row

    E f = y*'m + A'e,     Var f = v - A'A + g'S g,     A = L^-1 c,     g = y* - (L^-1 Y)'A

y* are the features and loadings of the new row, v is the variance of its own bridge. Left of the first row and right of
the last one there are no rows in the block. For some of the components y*, c and v have only these. States of
different blocks are correlated through the chain, which `joint` follows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from farrier.evaluation.products import Products
from farrier.inference.linear import covariance_of_unknowns, smoothed, solve, sorted_blocks
from farrier.inference.linear_model import CHUNK_ROWS, Blocks, Chunk, FeatureLimits, LinearModel, Piece, loaded, plan
from farrier.inference.markov import after, from_origin, loadings
from farrier.inference.mixtures import joint_moments, moments
from farrier.inference.posteriors import Moments, WithoutCaches, chosen_of
from farrier.kernels.markov import MarkovForm

BEYOND_ROWS = 512
"""Rows right of the last row or left of the first that are predicted at once. [rows; by judgement]"""
RELATIVE = 1e-12
"""Eigenvalues of a covariance of states, as a part of the largest, that count as zero. By judgement."""


class Draw(NamedTuple):
    """The posterior for one draw of the weights; states are those at borders 0 ... B, and x of the blocks between."""

    model: LinearModel
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

    def unknowns(self, blocks: np.ndarray) -> np.ndarray:
        """The mean of u = (beta, x) in some blocks, (K, G + 2d)."""
        return np.concatenate([np.broadcast_to(self.beta, (len(blocks), self.model.G)), self.mean[blocks]], axis=1)


class Process(NamedTuple):
    """One product that is a chain, at new rows."""

    loads: np.ndarray
    """Its loadings on x, (K, P, 2 R d), in the order of its states."""
    cross: np.ndarray
    """The covariance of its bridge with the rows of the block, (K, M, P)."""
    own: np.ndarray
    """The covariance of its bridge between the new rows, (K, P, P)."""


@final
@dataclass(frozen=True, eq=False)
class Site:
    """P new rows in each of K blocks."""

    draw: Draw
    blocks: np.ndarray
    """The number of each block."""
    X: np.ndarray
    """The new rows, (K, P, D)."""
    rows: np.ndarray
    """Their indices, (K, P)."""
    filled: np.ndarray
    """Which of these exist, (K, P)."""
    inverse: np.ndarray
    """L^-1 of the blocks, (K or 1, M, M)."""
    W: np.ndarray
    """L^-1 Y, (K, M, G + 2d)."""
    e: np.ndarray
    """L^-1 (y - Y m), (K, M)."""
    Phi: np.ndarray
    """Weighted features of the new rows, (K, P, G)."""
    left: np.ndarray
    """The variance that the features of each product do not explain, weighted, (m, K, P)."""
    processes: dict[int, Process]

    @classmethod
    def of(
        cls,
        draw: Draw,
        blocks: np.ndarray,
        X: np.ndarray,
        rows: np.ndarray,
        filled: np.ndarray,
        block: tuple[np.ndarray, np.ndarray, np.ndarray],
        process: Callable[[int, np.ndarray], Process],
    ) -> "Site":
        """Rows of X in blocks with L^-1, W and e; `process` makes the product i from the features of its copies."""
        model, (K, P) = draw.model, rows.shape
        plain, copies, left = model.feature_rows(X[rows.ravel()])
        processes = {i: process(i, phi.reshape(K, P, -1)) for i, phi in zip(model.states, copies, strict=True)}
        Phi = plain.reshape(K, P, -1) * model.feature_weights
        left = (model.w2[:, None] * left).reshape(-1, K, P)
        return cls(draw, blocks, X[rows], rows, filled, *block, Phi, left, processes)

    @property
    def model(self) -> LinearModel:
        """The model with its hyperparameters."""
        return self.draw.model

    @cached_property
    def covariance(self) -> np.ndarray:
        """The posterior covariance of u, (K, G + 2d, G + 2d)."""
        J, beta = self.draw.J[self.blocks], self.draw.covariance
        JS = J @ beta
        return covariance_of_unknowns(beta, JS, self.draw.within[self.blocks] + JS @ np.swapaxes(J, 1, 2))

    def view(self, chosen: np.ndarray) -> "View":
        """The sum of some components, given by a row of 0 and 1."""
        model, G, d = self.model, self.model.G, self.model.d
        Y = np.zeros((*self.rows.shape, G + 2 * d))
        for i, own in model.features.items():
            if chosen[i]:
                Y[..., own] = self.Phi[..., own]
        left = np.tensordot(chosen, self.left, axes=1)
        some = [i for i in self.processes if chosen[i]]
        for i in some:
            own = model.states[i]
            count = own.stop - own.start
            Y[..., G + own.start : G + own.stop] = self.processes[i].loads[..., :count]
            Y[..., G + d + own.start : G + d + own.stop] = self.processes[i].loads[..., count:]
        if not some:
            return View(self, chosen, Y, left, None, None)
        cross = sum((self.processes[i].cross for i in some[1:]), start=self.processes[some[0]].cross)
        own = sum((self.processes[i].own for i in some[1:]), start=self.processes[some[0]].own)
        return View(self, chosen, Y, left, self.inverse @ cross, own)


@final
@dataclass(frozen=True, eq=False)
class View:
    """Some components at new rows."""

    site: Site
    chosen: np.ndarray
    Y: np.ndarray
    left: np.ndarray
    A: np.ndarray | None
    """L^-1 c, (K, M, P); None if no component is a chain."""
    bridge: np.ndarray | None

    @cached_property
    def mean(self) -> np.ndarray:
        """(K, P)."""
        mean = (self.Y @ self.site.draw.unknowns(self.site.blocks)[..., None])[..., 0]
        return mean if self.A is None else mean + (np.swapaxes(self.A, 1, 2) @ self.site.e[..., None])[..., 0]

    @cached_property
    def g(self) -> np.ndarray:
        """(K, P, G + 2d)."""
        return self.Y if self.A is None else self.Y - np.swapaxes(self.A, 1, 2) @ self.site.W

    @cached_property
    def variance(self) -> np.ndarray:
        """(K, P)."""
        if self.A is None:
            used = np.flatnonzero(np.any(self.Y[..., : self.site.model.G], axis=(0, 1)))
            F = self.Y[..., used]
            return self.left + np.sum(F * (F @ self.site.draw.covariance[np.ix_(used, used)]), axis=2)
        assert self.bridge is not None
        known = np.sum(self.g * (self.g @ self.site.covariance), axis=2) - np.sum(self.A**2, axis=1)
        return self.left + np.diagonal(self.bridge, axis1=1, axis2=2) + known

    def own(self, k: int) -> np.ndarray:
        """The covariance between the new rows of block k that does not pass through u, (P, P)."""
        own = np.diag(self.left[k])
        if self.site.W.shape[1] == 0:
            # far from all rows, features explain little of a smooth curve, and what they leave is smooth too
            model, X = self.site.model, self.site.X[k]
            some = [i for i in model.features if self.chosen[i]]
            own = sum((model.w2[i] * model.groups[i].residual(X) for i in some), start=np.zeros((len(X), len(X))))
        if self.A is None:
            return own
        assert self.bridge is not None
        return own + self.bridge[k] - self.A[k].T @ self.A[k]


def inside_the_rows(draw: Draw, X: np.ndarray, rows: np.ndarray, filled: np.ndarray, chunk: Chunk) -> Site:
    """New rows between the first and the last row, at `rows` (K, P) of X, in the blocks of a chunk."""
    model, made = draw.model, draw.model.assemble(chunk)
    W = made.inverse @ np.concatenate([made.Phi, made.Z], axis=2)
    e = (made.inverse @ chunk.y[..., None])[..., 0] - (W @ draw.unknowns(chunk.which)[..., None])[..., 0]
    away = X[rows, 0] - (chunk.X[:, 0].reshape(len(rows), -1)[:, :1] - chunk.h[:, :1])
    h, there, gap = (np.broadcast_to(one, (len(rows), one.shape[1])) for one in (chunk.h, away, chunk.gap[:, None]))
    chains = {chain.piece: chain for chain in made.chains}

    def process(i: int, phi: np.ndarray) -> Process:
        form, w2, known = model.forms[i], model.w2[i], chains[i].process
        a, b, _, _ = loadings(form, there, gap[:, 0])
        loads = np.sqrt(w2) * np.concatenate([loaded(phi, a), loaded(phi, b)], axis=2)
        turned, copies = np.swapaxes(b, 1, 2), np.swapaxes(phi, 1, 2)
        cross = after(form, h, there, known.a, a) - known.b @ turned
        own = after(form, there, there, a, a) - b @ turned
        cross = w2 * cross * (chains[i].phi @ copies) * chunk.filled[..., None]
        return Process(loads, cross, w2 * own * (phi @ copies))

    return Site.of(draw, chunk.which, X, rows, filled, (made.inverse, W, e), process)


def beyond_the_rows(draw: Draw, X: np.ndarray, rows: np.ndarray, border: int, at: float) -> Site:
    """New rows left of the first border or right of the last one, which is at `at`: no rows are in their block."""
    model, there, P = draw.model, X[rows, 0], len(rows)

    def process(i: int, phi: np.ndarray) -> Process:
        form, own, w2 = model.forms[i], model.states[i], model.w2[i]
        a, covariance = _forward(form, there - at) if border else _before(form, there, at)
        loads = np.zeros((1, P, 2 * (own.stop - own.start)))
        loads[..., : own.stop - own.start] = np.sqrt(w2) * loaded(phi, a[None])
        return Process(loads, np.zeros((1, 0, P)), (w2 * covariance * (phi[0] @ phi[0].T))[None])

    nothing = np.zeros((1, 0, 0)), np.zeros((1, 0, model.G + 2 * model.d)), np.zeros((1, 0))
    return Site.of(draw, np.array([border]), X, rows[None], np.ones((1, P), bool), nothing, process)


def _forward(form: MarkovForm, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Right of a border: loadings on the state there (P, d), and the covariance of what is left, (P, P)."""
    A, _ = form.steps(h)
    a = form.observation @ A
    return a, after(form, h[None], h[None], a[None], a[None])[0]


def _before(form: MarkovForm, x: np.ndarray, at: float) -> tuple[np.ndarray, np.ndarray]:
    """Left of a border: the same, by conditioning on the state at the border.

    Left of its origin a process that starts there is its mirror image, with the same slope at the origin.
    """
    o = form.observation
    if form.origin is None:
        A, _ = form.steps(at - x)
        to_state = o @ form.initial @ np.swapaxes(A, 1, 2)
        assert form.correlation is not None
        state, prior = form.initial, form.correlation(np.abs(x[:, None] - x))
    else:
        h, right = np.abs(x - form.origin), x >= form.origin
        A, Q = form.steps(h)
        ((A_s,), (Q_s,)), (A_on, _) = form.steps(from_origin(form, at)), form.steps(at - x)
        state = A_s @ form.initial @ A_s.T + Q_s
        loads = (o @ A) * np.where(right[:, None], 1.0, np.where(np.arange(len(o)) == 0, 1.0, -1.0))
        # between the origin and the border, the noise since the origin goes on to the border
        since = np.where(right[:, None], (A_on @ (Q @ o)[..., None])[..., 0], 0.0)
        to_state = loads @ form.initial @ A_s.T + since
        own = after(form, h[None], h[None], (o @ A)[None], (o @ A)[None])[0]
        prior = np.where(right[:, None] == right, own, 0.0) + loads @ form.initial @ loads.T
    a = to_state @ np.linalg.pinv(state, rcond=1e-12, hermitian=True)
    return a, prior - a @ state @ a.T


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
        return sorted_blocks(self.X, self.y, self.noise, self.pieces)

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
        return Draw(model, beta, S, solution.T[1:], x[..., -1] - J @ beta, P, J)

    def draws(self, X: np.ndarray) -> Moments:
        """Mean and variance of f(x) given each draw of the weights, (S, N) each."""
        mean, variance = self._moments(X, np.ones((1, len(self.pool))))
        return mean[:, 0], variance[:, 0]

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> Moments:
        """Mean and variance of each component, or of sums of them."""
        return moments(*self._moments(X, np.eye(len(self.pool)) if sums is None else sums))

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> Moments:
        """Mean (N,) and covariance (N, N) of f, or of the sum of some components, at all rows together."""
        chosen, means, covariances = chosen_of(self.pool, parts), [], []
        for draw in self._solved:
            mean, covariance = np.zeros(len(X)), np.zeros((len(X), len(X)))
            g, owner = np.zeros((len(X), draw.model.G + 2 * draw.model.d)), np.zeros(len(X), int)
            for site in self._sites(X, draw, max(len(X), 1)):
                view = site.view(chosen)
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

    def _moments(self, X: np.ndarray, sums: np.ndarray) -> Moments:
        """Mean and variance of sums of components for each draw, (S, J, N) each; a sum is a row of 0 and 1."""
        mean, variance = np.empty((2, len(self.weights), len(sums), len(X)))
        for s, draw in enumerate(self._solved):
            for site in self._sites(X, draw):
                rows = site.rows[site.filled]
                for j, chosen in enumerate(sums):
                    view = site.view(chosen)
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
