"""The full Gaussian process: one smooth kernel with a lengthscale for each input, and no approximation.

    y = w g(x) + noise,  g ~ GP(0, exp(-sum_d (x_d - z_d)^2 / 2 l_d^2))

Textbook Gaussian process regression (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapters 2
and 5): all hyperparameters maximise the exact log marginal likelihood, by L-BFGS from several lengthscales.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jax import Array
from jaxtyping import Float

from farrier.baselines.common import START_NOISE, Baseline, Conditioned, Covariance, gaussian_score, some_rows, train
from farrier.kernels.registry import SquaredExponential
from farrier.paper import kernels
from farrier.paper.trees import as_array, positive

STARTS = (0.3, 1.0, 3.0)
"""Lengthscales at the start, times the square root of the number of inputs, as distances grow; by judgement."""


@final
class Smooth(Covariance):
    """w^2 SE plus noise."""

    kernel: SquaredExponential
    variance: Float[Array, ""] = positive()
    noise: Float[Array, ""] = positive()

    def gram(self, X: Float[Array, "N D"], Z: Float[Array, "M D"]) -> Float[Array, "N M"]:
        return self.variance * kernels.gram(self.kernel, X, Z)

    def diag(self, X: Float[Array, "N D"]) -> Float[Array, "N"]:
        return self.variance * kernels.diag(self.kernel, X)


@dataclass(kw_only=True)
class FullGP(Baseline):
    """Exact regression with a squared exponential kernel; above `most_rows` it uses random rows."""

    name: ClassVar[str] = "full-gp"
    iterations: int = 200
    most_rows: int = 3000

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        rows = some_rows(len(X), self.most_rows, self.seed)
        X, y = X[rows], y[rows]
        width = np.sqrt(X.shape[1])
        starts = [
            Smooth(SquaredExponential(np.full(X.shape[1], length * width)), as_array(1.0), as_array(START_NOISE))
            for length in STARTS
        ]
        found = [train(start, X, gaussian_score(y), self.iterations) for start in starts]
        self.model_, self.evidence_ = max(found, key=lambda one: one[1])
        self._posterior = Conditioned(self.model_, X, y)

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._posterior.predict(X)
