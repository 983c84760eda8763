"""How each product of a model of a series is represented by the linear tier: features, or a Markov chain.

A product whose functions are few features over the range (lines, cycles, slow curves, their products) is these
features. A product with a Markov factor is a sum of independent Markov processes, one for each feature of its other
factors. So is a product with a squared exponential that would take too many features; its Markov process approximates
the kernel (kernels/markov.smooth_form). Features come from inducing points, as in collapsed.py. The first input is
time, along which chains go; effects of other inputs, the regressors of the series, are features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import solve_triangular

from farrier.evaluation.factors import Factor, Term
from farrier.evaluation.products import Products
from farrier.inference.inducing_points import pivots
from farrier.inference.linalg import cholesky
from farrier.kernels.markov import MarkovForm, markov_form, smooth_form
from farrier.kernels.registry import DampedTrend, Matern12, Matern32, Matern52, RandomWalk, SquaredExponential

MARKOV = (Matern12, Matern32, Matern52, RandomWalk, DampedTrend)
"""The families that are Markov, roughest first."""
FEWEST = 8
"""Features above which a smooth product may become a chain. By judgement: a chain has six states at least."""
GOLDEN = 0.5 * (5**0.5 - 1.0)
"""The golden ratio: its multiples, modulo one, are spread evenly and in step with no cycle."""


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


@final
class Group:
    """The features phi(x) = L^-1 k(Z, x) of one term."""

    def __init__(self, piece: Piece, numbers: np.ndarray) -> None:
        self._term, self._Z, self._numbers = piece.term, piece.Z, numbers
        self._K, self._pull_K = self._term.gram(numbers, self._Z, self._Z)
        self._L = cholesky(self._K)
        self._dL = np.zeros_like(self._L)

    def at(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """phi (N, R), and the variance that the features do not explain, (N,)."""
        k, _ = self._term.gram(self._numbers, self._Z, X)
        phi = solve_triangular(self._L, k, lower=True, check_finite=False)
        return phi.T, np.maximum(self._term.diag(self._numbers, X)[0] - np.sum(phi**2, axis=0), 0.0)

    def residual(self, X: np.ndarray) -> np.ndarray:
        """k - phi'phi between rows, (N, N): the covariance that the features do not explain."""
        phi, _ = self.at(X)
        return self._term.gram(self._numbers, X, X)[0] - phi @ phi.T

    def pull(self, X: np.ndarray, phi: np.ndarray, dphi: np.ndarray, dleft: np.ndarray, slopes: np.ndarray) -> None:
        """The backward pass from phi and what is left; `pull_factor` ends it."""
        # left = k(x, x) - |phi|^2
        dphi = dphi - 2.0 * dleft[:, None] * phi
        dk = solve_triangular(self._L, dphi.T, lower=True, trans=1, check_finite=False)
        self._term.gram(self._numbers, self._Z, X)[1](dk, slopes)
        self._term.diag(self._numbers, X)[1](dleft, slopes)
        self._dL -= dk @ phi

    def pull_factor(self, slopes: np.ndarray) -> None:
        """The backward pass from L, with the derivatives that `pull` has accumulated."""
        L = self._L
        # L L' = K: dK is L^-T half_tril(L' dL) L^-1, symmetrised
        inner = np.tril(L.T @ np.tril(self._dL))
        inner[np.diag_indices(len(L))] *= 0.5
        dK = solve_triangular(L, solve_triangular(L, inner.T, lower=True, trans=1).T, lower=True, trans=1)
        self._pull_K(0.5 * (dK + dK.T), slopes)


def sizes(pieces: Sequence[Piece]) -> tuple[int, int]:
    """The number of features, and of states of all chains."""
    features = sum(len(piece.Z) for piece in pieces if piece.chain is None)
    return features, sum(len(piece.Z) * piece.order for piece in pieces if piece.chain is not None)
