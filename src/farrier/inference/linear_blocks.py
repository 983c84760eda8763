"""The rows of a series in blocks, and the model on each block given the features' weights and the states of the chains.

    y = Phi beta + Z x + e,     beta ~ N(0, I),     e ~ N(0, C)

Phi are the features of all rows, x are states at the border of the block with the noise of the step across it
(markov_blocks.py), and C is the covariance of all bridges plus noise: a small dense matrix. Blocks have equally many
rows. On a regular grid all blocks have the same C.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from scipy.linalg.lapack import dtrtri  # pyright: ignore[reportAttributeAccessIssue]

from farrier.inference.linear_plan import Group, Piece
from farrier.inference.markov_blocks import Bridged, bridged, factor

CHUNK_ROWS = 8192
"""Rows that are processed at once. [rows; by judgement]"""
SAME = 1e-7
"""Differences of times below this part of a block's length do not count. By judgement."""


class Chunk(NamedTuple):
    """Some blocks of M rows: inputs (K M, D), y and noise variances (K, M), distances to the left borders.

    `h` (K, M) and `gap` (K,) have K = 1 if all blocks have the same distances. `filled` marks the rows that exist.
    """

    which: np.ndarray
    X: np.ndarray
    y: np.ndarray
    noise: np.ndarray
    h: np.ndarray
    gap: np.ndarray
    filled: np.ndarray


@final
@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows in rising order of time, the first input, cut into blocks of `size` rows."""

    X: np.ndarray
    y: np.ndarray
    noise: np.ndarray
    """The noise variance of each row, up to a common factor."""
    size: int

    @property
    def x(self) -> np.ndarray:
        """The times of the rows, (N,)."""
        return self.X[:, 0]

    @property
    def count(self) -> int:
        """The number of blocks."""
        return -(-len(self.X) // self.size)

    @cached_property
    def borders(self) -> np.ndarray:
        """The left border of each block, which is its first row, and the last row."""
        return np.append(self.x[:: self.size], self.x[-1])

    def chunks(self) -> Iterator[Chunk]:
        """All blocks, many at a time; the last block, which may be shorter, alone."""
        at_once, whole = max(1, CHUNK_ROWS // self.size), self.count - 1
        for first in range(0, whole, at_once):
            yield self.chunk(np.arange(first, min(first + at_once, whole)))
        yield self.chunk(np.array([whole]))

    def chunk(self, which: np.ndarray) -> Chunk:
        """Some blocks."""
        rows = which[:, None] * self.size + np.arange(self.size)
        filled = rows < len(self.X)
        rows = np.minimum(rows, len(self.X) - 1)
        x, left = self.x[rows], self.borders[which]
        h, gap = x - left[:, None], self.borders[which + 1] - left
        if len(h) > 1 and np.ptp(h, axis=0).max() < SAME * gap.max() and np.ptp(gap) < SAME * gap.max():
            h, gap = h[:1], gap[:1]
        return Chunk(which, self.X[rows.ravel()], np.where(filled, self.y[rows], 0.0), self.noise[rows], h, gap, filled)


class Chain(NamedTuple):
    """A product that is a chain, on some blocks."""

    piece: int
    phi: np.ndarray
    """The features of its other factors, (K, M, R)."""
    process: Bridged
    """The process without its weight."""


class Assembled(NamedTuple):
    """The model on some blocks: Phi (K, M, G), Z (K, M, 2d), L^-1 with L L' = C (K or 1, M, M), log|C| of all."""

    Phi: np.ndarray
    Z: np.ndarray
    inverse: np.ndarray
    log_determinant: float
    T: np.ndarray
    """Steps to the next state, (K or 1, d, 2d)."""
    plain: np.ndarray
    """Phi without the weights of the products."""
    left: np.ndarray
    """The variance that the features of each product do not explain, (m, K, M); without its weight."""
    chains: tuple[Chain, ...]


@final
class LinearModel:
    """Products with given hyperparameters, squared weights and noise variance, ready for blocks of rows."""

    def __init__(self, pieces: Sequence[Piece], numbers: np.ndarray, w2: np.ndarray, noise: float) -> None:
        self.pieces, self.numbers, self.w2, self.noise = tuple(pieces), numbers, w2, noise
        self.groups = [Group(piece, numbers) for piece in pieces]
        self.forms = [None if piece.chain is None else piece.form(numbers) for piece in pieces]
        self.features, self.states = {}, {}
        G = d = 0
        for i, (piece, form) in enumerate(zip(pieces, self.forms, strict=True)):
            if form is None:
                self.features[i] = slice(G, G + len(piece.Z))
                G += len(piece.Z)
            else:
                size = len(piece.Z) * len(form.observation)
                self.states[i] = slice(d, d + size)
                d += size
        self.G, self.d = G, d

    def feature_rows(self, X: np.ndarray) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """Features without weights (N, G), those of the chains' other factors, and what features leave, (m, N)."""
        plain, copies, left = np.empty((len(X), self.G)), [], np.zeros((len(self.pieces), len(X)))
        for i, group in enumerate(self.groups):
            phi, rest = group.at(X)
            form = self.forms[i]
            if form is None:
                plain[:, self.features[i]] = phi
            else:
                copies.append(phi)
            # a process that starts at an origin has next to no variance there: what its copies leave is not counted
            left[i] = rest if form is None or form.origin is None else 0.0
        return plain, copies, left

    @cached_property
    def feature_weights(self) -> np.ndarray:
        """The weight of each feature, (G,)."""
        w = np.zeros(self.G)
        for i, own in self.features.items():
            w[own] = np.sqrt(self.w2[i])
        return w

    def assemble(self, chunk: Chunk) -> Assembled:
        """The model on some blocks."""
        K, M = chunk.y.shape
        plain, copies, left = self.feature_rows(chunk.X)
        plain, left = plain.reshape(K, M, self.G), left.reshape(-1, K, M)
        filled = chunk.filled[..., None]
        same = len(chunk.h) == 1
        C = np.zeros((1 if same else K, M, M))
        Z = np.zeros((K, M, 2 * self.d))
        chains = []
        for (i, own), phi in zip(self.states.items(), copies, strict=True):
            form, w = self.forms[i], np.sqrt(self.w2[i])
            assert form is not None
            phi = phi.reshape(K, M, -1)
            process = bridged(form, chunk.h, chunk.gap)
            Z[:, :, own] = w * loaded(phi, process.a)
            Z[:, :, self.d + own.start : self.d + own.stop] = w * loaded(phi, process.b)
            alone = not self.pieces[i].term.factors and not self.pieces[i].term.profiles
            C = C + self.w2[i] * (process.bridge if alone else process.bridge * (phi @ np.swapaxes(phi, 1, 2)))
            chains.append(Chain(i, phi, process))
        spread = self.noise * chunk.noise + np.tensordot(self.w2, left, axes=1)
        if len(C) == 1 and K > 1 and (np.ptp(spread, axis=0).max() > SAME * self.noise or not chunk.filled.all()):
            C = np.repeat(C, K, axis=0)
        place = np.arange(M)
        C[:, place, place] += spread[: len(C)]
        if not chunk.filled.all():
            # rows that do not exist are independent, with variance one and value zero
            C = np.where(filled & chunk.filled[:, None, :], C, np.eye(M))
        L = np.linalg.cholesky(C)
        log_determinant = 2.0 * float(np.log(np.diagonal(L, axis1=1, axis2=2)).sum()) * (K / len(C))
        inverse = np.stack([dtrtri(one, lower=1)[0] for one in L])
        plain = plain * filled
        return Assembled(
            plain * self.feature_weights,
            Z * filled,
            np.tril(inverse),
            log_determinant,
            self.steps([chain.process for chain in chains], len(chunk.gap)),
            plain,
            left,
            tuple(chains),
        )

    def steps(self, processes: Sequence[Bridged], count: int) -> np.ndarray:
        """T of all chains together, (count, d, 2d)."""
        T = np.zeros((count, self.d, 2 * self.d))
        for own, process, piece in zip(self.states.values(), processes, self._chained, strict=True):
            size = len(process.A[0])
            for copy in range(len(piece.Z)):
                at = slice(own.start + copy * size, own.start + (copy + 1) * size)
                T[:, at, at] = process.A
                T[:, at, self.d + at.start : self.d + at.stop] = process.E
        return T

    @property
    def _chained(self) -> list[Piece]:
        return [self.pieces[i] for i in self.states]

    def start(self, x: float) -> tuple[np.ndarray, list[Bridged]]:
        """A factor of the covariance of the chains where they start, and the steps from there to the first row."""
        F, processes = np.zeros((self.d, self.d)), []
        for i, own in self.states.items():
            form = self.forms[i]
            assert form is not None
            away = 0.0 if form.origin is None else max(x - form.origin, 0.0)
            processes.append(bridged(form, np.zeros((1, 1)), np.array([away])))
            F[own, own] = np.kron(np.eye(len(self.pieces[i].Z)), factor(form.initial[None])[0][0])
        return F, processes


def loaded(phi: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Loadings on the states of all copies: phi (K, M, R) times a (K or 1, M, d), as (K, M, R d)."""
    return (phi[..., :, None] * a[..., None, :]).reshape(*phi.shape[:2], -1)
