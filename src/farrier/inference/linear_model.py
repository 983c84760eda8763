"""A model of a series for the linear tier: how each product is represented, and the model on blocks of rows.

A product whose functions are few features over the range (lines, cycles, slow curves, their products) is these
features. A product with a Markov factor is a sum of independent Markov processes, one for each feature of its other
factors. So is a product with a squared exponential that would take too many features; its Markov process approximates
the kernel (kernels/markov.smooth_form). Features come from inducing points, as in collapsed.py. The first input is
time, along which chains go; effects of other inputs, the regressors of the series, are features.

    y = Phi beta + Z x + e,     beta ~ N(0, I),     e ~ N(0, C)

Phi are the features of all rows, x are states at the border of the block with the noise of the step across it
(markov.py), and C is the covariance of all bridges plus noise: a small dense matrix. Blocks have equally many rows. On
a regular grid all blocks have the same C.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from scipy.linalg.lapack import dtrtri  # pyright: ignore[reportAttributeAccessIssue]

from farrier.evaluation.factors import Factor, Term
from farrier.evaluation.products import Products
from farrier.inference.inducing_points import Group, pivots
from farrier.inference.markov import Bridged, bridged, factor, from_origin
from farrier.kernels.markov import MarkovForm, markov_form, smooth_form
from farrier.kernels.registry import DampedTrend, Matern12, Matern32, Matern52, RandomWalk, SquaredExponential

MARKOV = (Matern12, Matern32, Matern52, RandomWalk, DampedTrend)
"""The families that are Markov, roughest first."""
FEWEST = 8
"""Features above which a smooth product may become a chain. By judgement: a chain has six states at least."""
GOLDEN = 0.5 * (5**0.5 - 1.0)
"""The golden ratio: its multiples, modulo one, are spread evenly and in step with no cycle."""
CHUNK_ROWS = 8192
"""Rows that are processed at once. [rows; by judgement]"""
SAME = 1e-7
"""Differences of times below this part of a block's length do not count. By judgement."""


@final
@dataclass(frozen=True)
class FeatureLimits:
    """Limits for the features of the linear tier."""

    tolerance: float = 1e-6
    """Part of a kernel's trace that its features may leave unexplained; it counts as noise.
    [part of the trace; by judgement]"""
    copies_tolerance: float = 1e-5
    """The same for the factors beside a Markov factor. [part of the trace; by judgement]"""
    copies: int = 40
    """Most Markov processes of one product. [processes; by judgement]"""
    features: int = 400
    """Most features of all products that are not chains. [features; by judgement]"""
    products: float = 2e10
    """Largest product of the rows and the square of these features, the cost of one evaluation: some seconds.
    [multiplications; by judgement]"""
    rows: int = 800
    """Rows among which inducing points are chosen. [rows; by judgement]"""


@final
@dataclass(frozen=True, eq=False)
class Piece:
    """The representation of one product."""

    term: Term
    """The factors that are features; a term without factors is one."""
    Z: np.ndarray
    """Inducing points of these factors, (R, D)."""
    chain: Factor | None = None
    """The Markov factor."""

    def form(self, numbers: np.ndarray) -> MarkovForm:
        """The state-space form of the Markov factor."""
        assert self.chain is not None
        kernel = self.chain.kernel
        kernel = kernel.replace(**{name: numbers[place].reshape(()) for name, place in self.chain.places.items()})
        return smooth_form(kernel) if isinstance(kernel, SquaredExponential) else markov_form(kernel)

    @property
    def order(self) -> int:
        """States of one Markov process; 0 if the product is features alone."""
        if self.chain is None:
            return 0
        return len(self.form(np.ones(1 + max((p.stop for p in self.chain.places.values()), default=0))).observation)


def plan(pool: Products, X: np.ndarray, limits: FeatureLimits = FeatureLimits()) -> tuple[Piece, ...]:
    """The representation of each product for rows X (N, D)."""
    most = min(limits.features, int(np.sqrt(limits.products / len(X))))
    places = np.unique((len(X) * ((GOLDEN * np.arange(min(limits.rows, 4 * len(X)))) % 1.0)).astype(int))
    rows, numbers = X[np.argsort(X[:, 0], kind="stable")[places]], pool.numbers
    pieces: list[Piece] = []
    for term in pool.terms:
        chain = _markov_factor(term)
        if chain is None:
            pieces.append(Piece(term, _points(term, numbers, rows, limits.tolerance, most + 1)))
        else:
            pieces.append(_chained(term, chain, numbers, rows, limits))
    while (total := sum(_features(piece) for piece in pieces)) > most:
        # the largest smooth product becomes a chain; without one, groups are cut: a greedy choice begins with the best
        smooth = [(_features(piece), i, factor) for i, piece in enumerate(pieces) if (factor := _smooth_factor(piece))]
        if not smooth:
            kept = next((c for c in range(most, 1, -1) if sum(min(_features(p), c) for p in pieces) <= most), 1)
            pieces = [piece if piece.chain else Piece(piece.term, piece.Z[:kept]) for piece in pieces]
            break
        _, i, chain = max(smooth, key=lambda one: one[:2])
        pieces[i] = _chained(pieces[i].term, chain, numbers, rows, limits)
        assert sum(_features(piece) for piece in pieces) < total
    return tuple(pieces)


def _features(piece: Piece) -> int:
    return len(piece.Z) if piece.chain is None else 0


def _markov_factor(term: Term) -> Factor | None:
    """The roughest Markov factor of a product."""
    found = [factor for factor in term.factors if factor.family in MARKOV and factor.of_first]
    return min(found, key=lambda factor: MARKOV.index(factor.family), default=None)


def _smooth_factor(piece: Piece) -> Factor | None:
    """The squared exponential of a product that is features so far, unless it is one of several features."""
    found = [factor for factor in piece.term.factors if factor.family is SquaredExponential and factor.of_first]
    return found[0] if len(found) == 1 and piece.chain is None and len(piece.Z) > FEWEST else None


def _chained(term: Term, chain: Factor, numbers: np.ndarray, rows: np.ndarray, limits: FeatureLimits) -> Piece:
    others = Term(term.profiles, tuple(factor for factor in term.factors if factor is not chain))
    return Piece(others, _points(others, numbers, rows, limits.copies_tolerance, limits.copies), chain)


def _points(term: Term, numbers: np.ndarray, rows: np.ndarray, tolerance: float, most: int) -> np.ndarray:
    return rows[pivots(term.gram(numbers, rows, rows)[0], tolerance, most)]


def sizes(pieces: Sequence[Piece]) -> tuple[int, int]:
    """The number of features, and of states of all chains."""
    features = sum(len(piece.Z) for piece in pieces if piece.chain is None)
    return features, sum(len(piece.Z) * piece.order for piece in pieces if piece.chain is not None)


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
        self.groups = [Group(piece.term, piece.Z, numbers) for piece in pieces]
        self.forms = {i: piece.form(numbers) for i, piece in enumerate(pieces) if piece.chain is not None}
        self.features, self.states = {}, {}
        G = d = 0
        for i, piece in enumerate(pieces):
            if i not in self.forms:
                self.features[i] = slice(G, G + len(piece.Z))
                G += len(piece.Z)
            else:
                size = len(piece.Z) * len(self.forms[i].observation)
                self.states[i] = slice(d, d + size)
                d += size
        self.G, self.d = G, d

    def feature_rows(self, X: np.ndarray) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """Features without weights (N, G), those of the chains' other factors, and what features leave, (m, N)."""
        plain, copies, left = np.empty((len(X), self.G)), [], np.zeros((len(self.pieces), len(X)))
        for i, group in enumerate(self.groups):
            phi = group.phi(X)
            if i in self.features:
                plain[:, self.features[i]] = phi.T
            else:
                copies.append(phi.T)
            # a process that starts at an origin has next to no variance there: what its copies leave is not counted
            if i in self.features or self.forms[i].origin is None:
                left[i] = group.left(X, phi)
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
        for own, process in zip(self.states.values(), processes, strict=True):
            size = len(process.A[0])
            for start in range(own.start, own.stop, size):
                at = slice(start, start + size)
                T[:, at, at] = process.A
                T[:, at, self.d + start : self.d + start + size] = process.E
        return T

    def start(self, x: float) -> tuple[np.ndarray, list[Bridged]]:
        """A factor of the covariance of the chains where they start, and the steps from there to the first row."""
        F, processes = np.zeros((self.d, self.d)), []
        for i, own in self.states.items():
            form = self.forms[i]
            processes.append(bridged(form, np.zeros((1, 1)), from_origin(form, x)))
            F[own, own] = np.kron(np.eye(len(self.pieces[i].Z)), factor(form.initial[None])[0][0])
        return F, processes


def loaded(phi: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Loadings on the states of all copies: phi (K, M, R) times a (K or 1, M, d), as (K, M, R d)."""
    return (phi[..., :, None] * a[..., None, :]).reshape(*phi.shape[:2], -1)
