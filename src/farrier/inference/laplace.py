"""Laplace's approximation: the parameters are normal about the top of the log posterior, with its curvature.

    u ~ N(u*, H^-1),   H = -d^2 L / du^2     evidence = L(u*) + (P log 2 pi - log|H|) / 2

Predictions are averages over draws of u, in antithetic pairs. `LaplacePosterior` is the mixture of their posteriors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from farrier.evaluation.between import between
from farrier.evaluation.covariance import covariance_of
from farrier.evaluation.products import Products
from farrier.inference.blas import one_thread
from farrier.inference.exact_posterior import GaussianPosterior, in_blocks
from farrier.inference.gaussian import LOG_2PI
from farrier.inference.mixtures import joint_moments
from farrier.inference.parameter_vector import Terms
from farrier.inference.without_caches import WithoutCaches


class Differentiable(Protocol):
    """A log density with its gradient."""

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The terms of the log density, and its gradient."""
        ...


def curvature(
    objective: Differentiable, u: np.ndarray, which: np.ndarray, steps: np.ndarray, slope: np.ndarray | None = None
) -> np.ndarray:
    """H at u for some parameters, by differences of the gradient, with `steps` of all of them.

    `slope` is the gradient at u, if it is known.
    """
    here = (objective.terms(u)[1] if slope is None else slope)[which]
    rows = np.zeros((len(which), len(which)))
    for i, place in enumerate(which):
        ahead = u.copy()
        ahead[place] += steps[place]
        rows[i] = (here - objective.terms(ahead)[1][which]) / steps[place]
    return 0.5 * (rows + rows.T)


@final
@dataclass(frozen=True, eq=False)
class Laplace:
    """The normal approximation; where the curvature is flatter than the prior's, the prior stands in."""

    mode: np.ndarray
    values: np.ndarray
    """Eigenvalues of H."""
    vectors: np.ndarray

    @classmethod
    def of(cls, mode: np.ndarray, H: np.ndarray, least: float) -> "Laplace":
        """From the curvature at the mode; no eigenvalue is below `least`, the precision of the widest prior."""
        values, vectors = np.linalg.eigh(H)
        return cls(mode, np.maximum(values, least), vectors)

    @property
    def H(self) -> np.ndarray:
        """The curvature."""
        return (self.vectors * self.values) @ self.vectors.T

    def newton(self, slope: np.ndarray) -> np.ndarray:
        """The step of Newton's method from the mode to where the gradient is expected to vanish."""
        return self.vectors @ ((self.vectors.T @ slope) / self.values)

    def expected_gain(self, slope: np.ndarray) -> float:
        """The gain of such a step if the log posterior were quadratic."""
        return 0.5 * float(slope @ self.newton(slope))

    @property
    def log_volume(self) -> float:
        """What the evidence has beyond the log posterior at its top: (P log 2 pi - log|H|) / 2."""
        return 0.5 * float(len(self.values) * LOG_2PI - np.log(self.values).sum())

    def draws(self, count: int, seed: int = 0) -> np.ndarray:
        """An even number of draws of u in antithetic pairs, (count, P), the same every time.

        They are made with the symmetric root of the inverse of H, a smooth function of H: eigenvectors can change their
        signs and order with the last digit of a number.
        """
        noise = np.random.default_rng(seed).standard_normal((count // 2, len(self.mode)))
        steps = noise @ (self.vectors / np.sqrt(self.values)) @ self.vectors.T
        return self.mode + np.concatenate([steps, -steps])

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of each parameter."""
        return np.sqrt(np.einsum("ij,j,ij->i", self.vectors, 1.0 / self.values, self.vectors))


@final
@dataclass(frozen=True, eq=False)
class LaplacePosterior(WithoutCaches):
    """The mixture of exact posteriors over draws of all parameters."""

    posteriors: tuple[GaussianPosterior, ...]

    @property
    def pool(self) -> Products:
        """The kernels of the first posterior, which stands for the mode."""
        return self.posteriors[0].pool

    @property
    def weights(self) -> np.ndarray:
        """The weights of the first posterior, (1, m)."""
        return self.posteriors[0].weights

    def draws(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of f(x) given each draw, (S, N) each."""
        with one_thread(small=self.posteriors[0].small):
            self._factorise()
            return in_blocks(self._draws_at, X)

    def _draws_at(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # all posteriors have the same rows
        covariances = between(self.posteriors[0].X, X)
        found = [posterior.draws_at(X, covariances) for posterior in self.posteriors]
        return np.concatenate([mean for mean, _ in found]), np.concatenate([variance for _, variance in found])

    def means(self, X: np.ndarray) -> np.ndarray:
        """The means of `draws`, (S, N)."""
        self._factorise()
        return np.concatenate([posterior.means(X) for posterior in self.posteriors])

    def some_left_out(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Leave-one-out means and variances of f at some rows given each draw, (S, rows) each."""
        self._factorise()
        found = [posterior.some_left_out(rows) for posterior in self.posteriors]
        return np.concatenate([mean for mean, _ in found]), np.concatenate([variance for _, variance in found])

    def left_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Leave-one-out means and variances of f at the rows, of the first posterior alone, (1, N) each."""
        return self.posteriors[0].left_out()

    def all_left_out(self, blocks: Sequence[np.ndarray] = ()) -> tuple[np.ndarray, np.ndarray]:
        """Leave-one-out means and variances of f at the rows given each draw, (S, N) each, and at those of blocks."""
        self._factorise()
        found = [posterior.left_out(blocks) for posterior in self.posteriors]
        return np.concatenate([mean for mean, _ in found]), np.concatenate([variance for _, variance in found])

    def components(self, X: np.ndarray, sums: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of each component, (m, N) each; or of sums of them, rows of 0 and 1 in `sums` (J, m).

        Means are those of the mixture, so that they add up. The variance within a draw, which costs much more, is that
        of the first posterior; the variance between draws is that of all.
        """
        self._factorise()
        means = np.concatenate([posterior.component_means(X, sums) for posterior in self.posteriors])
        _, within = self.posteriors[0].components(X, sums)
        return means.mean(axis=0), within + means.var(axis=0)

    def joint(self, X: np.ndarray, parts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean (N,) and covariance (N, N) of f, or of the sum of some components, at all rows together."""
        self._factorise()
        found = [posterior.joint(X, parts) for posterior in self.posteriors]
        return joint_moments([mean for mean, _ in found], [covariance for _, covariance in found])

    def _factorise(self) -> None:
        """Prepare all posteriors with one covariance of their rows, so that what they share is computed once."""
        waiting = [posterior for posterior in self.posteriors if not posterior.factorised]
        if waiting:
            covariance = covariance_of(waiting[0].X)
            for posterior in waiting:
                posterior.factorise(covariance)
