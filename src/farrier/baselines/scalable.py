"""Scalable kernel composition (Kim and Teh, AISTATS 2018): the search of ABCD, guided by two bounds.

Instead of the exact log marginal likelihood, which is cubic in the rows, hyperparameters of candidates maximise
Titsias' (2009) lower bound with M inducing points, and an upper bound is computed there. With Q = K_fu K_uu^-1 K_uf,
which lies below K, and any vector a

    lower  =  log N(y; 0, Q + s^2 I) - tr(K - Q) / 2 s^2
    upper  =  -log|Q + s^2 I| / 2 + a'(K + s^2 I) a / 2 - a'y - N log(2 pi) / 2

The upper bound is tight in its second part where a = (K + s^2 I)^-1 y, so a comes from conjugate gradients
preconditioned by Q + s^2 I; a few steps are enough. A round continues with the kernel of the best BIC by the lower
bound and with others, up to `buffer` in all, whose BIC by the upper bound could still be better.

Deviations: the inducing points cover the rows (quantiles of one input, cluster centres of several) and are the same
for all candidates, where the authors take random ones. Above `most_rows` the search uses random rows, because the upper
bound multiplies by all of K. As in the paper there are no changepoints by default. Predictions are those of the sparse
model.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float
from scipy.linalg import solve_triangular

from farrier.baselines.common import maximise
from farrier.baselines.expressions import Expression
from farrier.baselines.grammar import signal_and_noise
from farrier.baselines.search import Candidate, KernelSearch
from farrier.baselines.terms import Level, levelled, sum_of
from farrier.kernels.algebra import Kernel, Product
from farrier.kernels.registry import White
from farrier.paper.inducing import spread_points
from farrier.paper.linalg import cholesky, log_determinant, solve_lower

BLOCK_ROWS = 1000
"""Rows of K in one block, by judgement."""
GRADIENT_STEPS = 20
"""Conjugate gradient steps in the upper bound, by judgement."""


def lower_bound(
    K_uu: Float[Array, "M M"],
    K_uf: Float[Array, "M N"],
    k_ff: Float[Array, "N"],
    noise: Float[Array, ""],
    y: Float[Array, "N"],
) -> Float[Array, ""]:
    """Titsias' collapsed bound on log N(y; 0, K_ff + noise I)."""
    A, L_B = _factors(K_uu, K_uf, noise)
    c = solve_lower(L_B, (A @ y)[:, None])[:, 0] / jnp.sqrt(noise)
    N = y.shape[0]
    # |Q + s^2 I| = s^2N |B|,  y'(Q + s^2 I)^-1 y = (y'y - c'c) / s^2,  tr Q = s^2 tr A A'
    log_normal = -0.5 * (N * jnp.log(2.0 * jnp.pi * noise) + log_determinant(L_B) + y @ y / noise - c @ c)
    return log_normal - 0.5 * (jnp.sum(k_ff) / noise - jnp.sum(A**2))


def _factors(K_uu: Array, K_uf: Array, noise: Array) -> tuple[Array, Array]:
    """A = L_uu^-1 K_uf / s, and the Cholesky factor of B = I + A A'."""
    A = solve_lower(cholesky(K_uu), K_uf) / jnp.sqrt(noise)
    return A, jnp.linalg.cholesky(jnp.eye(A.shape[0], dtype=A.dtype) + A @ A.T)


@jax.jit
def upper_bound(
    K_uu: Float[Array, "M M"],
    K_uf: Float[Array, "M N"],
    K_ff: Float[Array, "N N"],
    noise: Float[Array, ""],
    y: Float[Array, "N"],
) -> Float[Array, ""]:
    """Kim and Teh's upper bound, valid wherever the conjugate gradients stop."""
    A, L_B = _factors(K_uu, K_uf, noise)
    N = y.shape[0]

    def times_C(v: Array) -> Array:
        return K_ff @ v + noise * v

    def preconditioned(v: Array) -> Array:
        # (Q + s^2 I)^-1 v = (v - A' B^-1 A v) / s^2
        w = solve_lower(L_B, (A @ v)[:, None])
        return (v - A.T @ jax.scipy.linalg.solve_triangular(L_B, w, lower=True, trans=1)[:, 0]) / noise

    def step(_: int, state: Any) -> Any:
        a, r, p, rz = state
        Cp = times_C(p)
        size = rz / jnp.maximum(p @ Cp, jnp.finfo(p.dtype).tiny)
        a, r = a + size * p, r - size * Cp
        z = preconditioned(r)
        return a, r, z + (r @ z) / jnp.maximum(rz, jnp.finfo(p.dtype).tiny) * p, r @ z

    z = preconditioned(y)
    a = jax.lax.fori_loop(0, GRADIENT_STEPS, step, (jnp.zeros_like(y), y, z, y @ z))[0]
    quadratic = 0.5 * a @ times_C(a) - a @ y
    return quadratic - 0.5 * (log_determinant(L_B) + N * jnp.log(2.0 * jnp.pi * noise))


_lower = jax.jit(jax.value_and_grad(lower_bound, argnums=(0, 1, 2, 3)))


@dataclass(kw_only=True)
class ScalableSearch(KernelSearch):
    """Search by bounds with `points` inducing points; `buffer` kernels continue to the next round."""

    name: ClassVar[str] = "skc"
    _noise_varies: ClassVar[bool] = False
    changes: bool = False
    points: int = 80
    buffer: int = 2
    most_rows: int = 4000

    def _prepare(self, X: np.ndarray, y: np.ndarray) -> None:
        super()._prepare(X, y)
        self._Z = spread_points(X, self.points, self.seed)
        self._target = jnp.asarray(y)

    def _kept(self, found: list[Candidate], leader: Candidate) -> list[Candidate]:
        rivals = [one for one in found if one is not leader and one.lowest_bic < leader.bic]
        return [leader, *sorted(rivals, key=lambda one: one.lowest_bic)[: self.buffer - 1]]

    def _fitted(self, kernel: Kernel, iterations: int) -> Candidate:
        expression, log_noise = _apart(kernel)

        def objective(numbers: np.ndarray) -> tuple[float, np.ndarray]:
            return self._lower_bound(expression, numbers[:-1], np.exp(numbers[-1]))

        numbers, value = maximise(objective, np.append(expression.numbers, log_noise), iterations)
        penalty = len(numbers) * np.log(len(self._y))
        upper = self.upper(expression, numbers[:-1], np.exp(numbers[-1]))
        noise = Product((Level(np.exp(numbers[-1])), White()))
        signal = signal_and_noise(kernel)[0]
        fitted = levelled(sum_of([expression.at(numbers[:-1]), noise])) if signal else noise
        return Candidate(fitted, penalty - 2.0 * value, penalty - 2.0 * upper)

    def _lower_bound(self, expression: Expression, numbers: np.ndarray, noise: float) -> tuple[float, np.ndarray]:
        K_uu, pull_uu = expression.gram(numbers, self._Z, self._Z)
        K_uf, pull_uf = expression.gram(numbers, self._Z, self._X)
        k_ff, pull_ff = expression.diag(numbers, self._X)
        value, slopes = _lower(K_uu, K_uf, k_ff, jnp.asarray(noise), self._target)
        uu, uf, ff, by_noise = (np.asarray(slope) for slope in slopes)
        return float(value), np.append(pull_uu(uu) + pull_uf(uf) + pull_ff(ff), noise * float(by_noise))

    def upper(self, expression: Expression, numbers: np.ndarray, noise: float) -> float:
        """The upper bound on the log marginal likelihood of the data that were fitted."""
        grams = [expression.gram(numbers, *pair)[0] for pair in ((self._Z, self._Z), (self._Z, self._X))]
        blocks = [self._X[start : start + BLOCK_ROWS] for start in range(0, len(self._y), BLOCK_ROWS)]
        K_ff = np.concatenate([expression.gram(numbers, block, self._X)[0] for block in blocks])
        return float(upper_bound(*grams, K_ff, jnp.asarray(noise), self._target))

    def _condition(self, kernel: Kernel) -> None:
        self._expression, log_noise = _apart(kernel)
        self._noise = float(np.exp(log_noise))
        at = self._expression.numbers
        K_uu = self._expression.gram(at, self._Z, self._Z)[0]
        K_uf = self._expression.gram(at, self._Z, self._X)[0]
        A, L_B = _factors(jnp.asarray(K_uu), jnp.asarray(K_uf), jnp.asarray(self._noise))
        self._L, self._L_B = np.asarray(cholesky(jnp.asarray(K_uu))), np.asarray(L_B)
        self._c = solve_triangular(self._L_B, np.asarray(A) @ self._y, lower=True) / np.sqrt(self._noise)

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at, rows = self._expression.numbers, X
        V = solve_triangular(self._L, self._expression.gram(at, self._Z, rows)[0], lower=True)
        W = solve_triangular(self._L_B, V, lower=True)
        prior = self._expression.diag(at, rows)[0]
        return W.T @ self._c, prior - np.sum(V**2, axis=0) + np.sum(W**2, axis=0) + self._noise


def _apart(kernel: Kernel) -> tuple[Expression, float]:
    """The signal of a kernel (a tiny constant if it has none), and the logarithm of its noise variance."""
    signal, noise = signal_and_noise(kernel)
    levels = [f for factors in sum_of(noise).products() for f in factors if isinstance(f, Level)]
    return Expression(sum_of(signal) if signal else Level(1e-6)), float(np.log(levels[0].variance))
