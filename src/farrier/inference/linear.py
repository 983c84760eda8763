"""The log evidence of a series in time linear in its rows, with its derivative.

    y ~ N(0, Phi Phi' + V),     V the covariance of all Markov chains plus noise

Blocks of rows (linear_model.py) are joined by the states at their borders (markov.py), which gives
A = Phi'V^-1 Phi, b = Phi'V^-1 y, c = y'V^-1 y and log|V|. With B = I + A,

    log N(y) = -(c - b'B^-1 b + log|V| + log|B| + n log 2 pi) / 2

The derivative is the posterior expectation of the derivative of the log joint density of rows and unknowns: with
u = (beta, x) of a block and e = y - Phi beta - Z x,

    dL/d(Phi, Z) = C^-1 E[e u'],   dL/dC = (C^-1 E[e e'] C^-1 - C^-1) / 2,   dL/dT = E[(h - H T x) x']

where h - H s is the derivative of the log likelihood of all later rows with respect to the state s. Features have
backward passes of their own (inducing_points.Group). The one hyperparameter of a Markov process, such as its
lengthscale, enters through a, b, its bridge and its steps, whose derivatives are taken by central differences. All is
exact up to the features that are left out and the squared exponentials that are chains (linear_model.py).
"""

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from farrier.inference.exact import log_normal
from farrier.inference.linear_model import (
    Assembled,
    Blocks,
    Chain,
    Chunk,
    FeatureLimits,
    LinearModel,
    Piece,
    plan,
    sizes,
)
from farrier.inference.markov import Filtered, Smoothed, backward, bridged, forward, from_origin
from farrier.inference.parameter_vector import ExactModel, Parametrised, Terms
from farrier.inference.weight_priors import quasi_normal

SMALLEST_BLOCK = 64
"""Fewest rows of a block. [rows; by judgement]"""
ROWS_FOR_A_STATE = 4
"""Rows of a block for each state, at least: rows and states then take about the same time. By judgement."""
DIFFERENCE = 1e-4
"""Step of the differences in the logarithm of a hyperparameter: errors of its square and of rounding are both small."""


def sorted_blocks(X: np.ndarray, y: np.ndarray, noise: np.ndarray, pieces: tuple[Piece, ...]) -> Blocks:
    """Rows in any order as blocks, whose size is that for which the time is about the least."""
    order = np.argsort(X[:, 0], kind="stable")
    return Blocks(X[order], y[order], noise[order], max(SMALLEST_BLOCK, ROWS_FOR_A_STATE * sizes(pieces)[1]))


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


def covariance_of_unknowns(beta: np.ndarray, JS: np.ndarray, states: np.ndarray) -> np.ndarray:
    """The posterior covariance of u = (beta, x) in each block; -JS is that of x with beta."""
    count, d, G = JS.shape
    S = np.empty((count, G + d, G + d))
    S[:, :G, :G], S[:, G:, G:] = beta, states
    S[:, G:, :G], S[:, :G, G:] = -JS, -np.swapaxes(JS, 1, 2)
    return S


def smoothed(solution: Solution) -> Smoothed:
    """The posterior of the states for each column of data."""
    return backward(solution.filtered, solution.T, solution.M, solution.m)


@final
@dataclass
class Slopes:
    """Derivatives of the log evidence with respect to hyperparameters, squared weights and the noise variance."""

    model: LinearModel
    numbers: np.ndarray
    w2: np.ndarray
    noise: float = 0.0

    @classmethod
    def of(cls, model: LinearModel, solution: Solution, kept: Kept, start: float) -> "Slopes":
        """From a pass over the rows, with all that it computed; `start` is the time of the first row."""
        found = cls(model, np.zeros(len(model.numbers)), np.zeros(len(model.w2)))
        states, T, beta, S = smoothed(solution), solution.T, solution.mean, solution.covariance
        # data columns are features and y: E[x | beta] = m_y - m_Phi beta
        J = states.mean[..., :-1]
        mean = states.mean[..., -1] - J @ beta
        JS = J @ S
        covariance = states.covariance + JS @ np.swapaxes(J, 1, 2)
        # dL/dT of every block: E[(h_y - h_Phi beta - H T x) x']
        h, H = states.towards, states.later
        left = h[..., -1] - h[..., :-1] @ beta - (H @ T @ mean[..., None])[..., 0]
        dT = left[:, :, None] * mean[:, None, :] + h[..., :-1] @ np.swapaxes(JS, 1, 2) - H @ T @ covariance
        for chunk, made, W in kept:
            where = 1 + chunk.which
            u = np.concatenate([np.broadcast_to(beta, (len(where), model.G)), mean[where]], axis=1)
            Sigma = covariance_of_unknowns(S, JS[where], covariance[where])
            found.add_rows(chunk, made, W, u, Sigma, dT[where])
        if model.d:
            _, begin = model.start(start)
            for i, process in zip(model.states, begin, strict=True):
                nothing = tuple(np.zeros_like(one) for one in process[:3])
                found.add_process(i, np.zeros((1, 1)), from_origin(model.forms[i], start), nothing, dT[:1])
        for group in model.groups:
            group.pull_factor(found.numbers)
        return found

    def add_rows(
        self, chunk: Chunk, made: Assembled, W: np.ndarray, u: np.ndarray, Sigma: np.ndarray, dT: np.ndarray
    ) -> None:
        """Add the derivatives from the rows of a chunk, given the posterior mean and covariance of u = (beta, x)."""
        G, M = self.model.G, chunk.y.shape[1]
        W_u = np.concatenate([W[..., :G], W[..., G + 1 :]], axis=2)
        e = W[..., G] - (W_u @ u[..., None])[..., 0]
        WS = W_u @ Sigma
        back = np.swapaxes(made.inverse, 1, 2)
        dY = back @ (e[..., None] * u[:, None, :] - WS)
        inner = e[..., None] * e[:, None, :] + WS @ np.swapaxes(W_u, 1, 2)
        place = np.arange(M)
        inner[:, place, place] -= 1.0
        dC = 0.5 * (back @ inner @ made.inverse)
        filled = chunk.filled
        dC *= filled[:, :, None] & filled[:, None, :]
        dspread = dC[:, place, place]
        self.noise += float(np.sum(dspread * chunk.noise))
        self.w2 += np.sum(dspread * made.left, axis=(1, 2))
        self._features(chunk, made, dY[..., :G] * filled[..., None], dspread)
        for chain in made.chains:
            self._chain(chain, chunk, dY[..., G:], dC, dT)

    def _features(self, chunk: Chunk, made: Assembled, dPhi: np.ndarray, dspread: np.ndarray) -> None:
        """Add the derivatives through features of products that are no chains."""
        model = self.model
        for i, own in model.features.items():
            w = np.sqrt(model.w2[i])
            phi = made.plain[..., own]
            by_w = float(np.sum(dPhi[..., own] * phi))
            self.w2[i] += 0.5 * by_w / w if w > 0 else 0.0
            self._pull(i, chunk, phi, w * dPhi[..., own], model.w2[i] * dspread)

    def _pull(self, i: int, chunk: Chunk, phi: np.ndarray, dphi: np.ndarray, dleft: np.ndarray) -> None:
        """The backward pass from the features of a product and what they leave, k(x, x) - |phi|^2."""
        flat = (-1, phi.shape[-1])
        phi, dphi, dleft = phi.reshape(flat), dphi.reshape(flat), dleft.ravel()
        dphi = dphi - 2.0 * dleft[:, None] * phi
        self.model.groups[i].pull(chunk.X, phi.T, dphi.T, dleft, self.numbers)

    def _chain(self, chain: Chain, chunk: Chunk, dZ: np.ndarray, dC: np.ndarray, dT: np.ndarray) -> None:
        """Add the derivatives through one product that is a chain."""
        model, i, phi, process = self.model, chain.piece, chain.phi, chain.process
        own, w2, d = model.states[i], model.w2[i], model.d
        w, shape = np.sqrt(w2), (*phi.shape, process.a.shape[-1])
        filled = chunk.filled[..., None]
        by_a = dZ[:, :, own].reshape(shape) * filled[..., None]
        by_b = dZ[:, :, d + own.start : d + own.stop].reshape(shape) * filled[..., None]
        both = phi @ np.swapaxes(phi, 1, 2)
        by_both = dC * process.bridge
        dphi = w * (np.sum(by_a * process.a[..., None, :], axis=-1) + np.sum(by_b * process.b[..., None, :], axis=-1))
        self.w2[i] += 0.5 * float(np.sum(dphi * phi)) / max(w2, 1e-300) + float(np.sum(by_both * both))
        dphi = dphi + 2.0 * w2 * (by_both @ phi)
        place, whole = np.arange(dC.shape[1]), model.forms[i].origin is None
        self._pull(i, chunk, phi, dphi, w2 * dC[:, place, place] if whole else np.zeros(phi.shape[:2]))
        da, db = (w * np.einsum("knr,knrd->knd", phi, by) for by in (by_a, by_b))
        derivative = (da, db, w2 * both * dC)
        if len(chunk.h) == 1:
            *derivative, dT = (one.sum(axis=0, keepdims=True) for one in (*derivative, dT))
        self.add_process(i, chunk.h, chunk.gap, tuple(derivative), dT)

    def add_process(self, i: int, h: np.ndarray, gap: np.ndarray, rows: tuple[np.ndarray, ...], dT: np.ndarray) -> None:
        """Add the derivative with respect to the hyperparameters of a process, by central differences.

        `rows` are the derivatives with respect to a, b and the bridge.
        """
        piece, numbers, own, d = self.model.pieces[i], self.model.numbers, self.model.states[i], self.model.d
        assert piece.chain is not None
        size = len(self.model.forms[i].observation)
        A, E = np.zeros((2, len(dT), size, size))
        for start in range(own.start, own.stop, size):
            at = slice(start, start + size)
            A += dT[:, at, at]
            E += dT[:, at, d + start : d + start + size]
        for place in piece.chain.places.values():
            ends = []
            for sign in (1.0, -1.0):
                moved = numbers.copy()
                moved[place] *= np.exp(sign * DIFFERENCE)
                ends.append(bridged(piece.form(moved), h, gap))
            by_log = sum(np.vdot(by, up - down) for by, up, down in zip((*rows, A, E), *ends, strict=True))
            self.numbers[place] += float(by_log) / (2.0 * DIFFERENCE * numbers[place])


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
        blocks = sorted_blocks(X, y, template.relative_noise(len(y)), pieces)
        return cls(template, pieces, blocks, quasi_normal(draws, template.prior.noise_size))

    def value(self, numbers: np.ndarray) -> Terms:
        """The terms of the bound without derivatives."""
        made = self.make(numbers)
        noise = made.noise if self.common_noise else 1.0
        models = [LinearModel(self.pieces, made.numbers, w2, noise) for w2 in made.weighed.w2]
        values = [solve(model, self.blocks).evidence for model in models]
        return Terms.of(float(np.mean(values)), made)

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The terms of the bound, and its derivative."""
        made = self.make(numbers)
        noise = made.noise if self.common_noise else 1.0
        values, slopes, dnoise = [], self.pool.no_slopes(), 0.0
        dw2 = np.zeros_like(made.weighed.w2)
        for s, w2 in enumerate(made.weighed.w2):
            try:
                model = LinearModel(self.pieces, made.numbers, w2, noise)
                kept: Kept = []
                solution = solve(model, self.blocks, kept)
            except (ArithmeticError, np.linalg.LinAlgError):
                return Terms.of(-np.inf, made), np.zeros_like(numbers)
            values.append(solution.evidence)
            found = Slopes.of(model, solution, kept, float(self.blocks.x[0]))
            slopes += found.numbers / len(dw2)
            dw2[s] = found.w2 / len(dw2)
            dnoise += found.noise / len(dw2) if self.common_noise else 0.0
        if not np.isfinite(values).all():
            return Terms.of(-np.inf, made), np.zeros_like(numbers)
        return Terms.of(float(np.mean(values)), made), self.gradient(made, slopes, dw2, dnoise)
