"""Additive Gaussian processes (Duvenaud, Nickisch and Rasmussen, NIPS 2011): all orders of interaction at once.

With one kernel k_d for each input, the kernel of order q is the sum over all sets of q inputs of the product of their
kernels, the elementary symmetric polynomial e_q(k_1, ..., k_D). There are 2^D sets, but Newton and Girard's formula

    e_q = (1 / q) sum_{j=1..q} (-1)^(j-1) e_{q-j} s_j,     s_j = sum_d k_d^j

gives every e_q in D^2 steps. Each order has one variance v_q, which says how much of the function is of this order. k_d
is smooth (SE) with a lengthscale of its own. Here e_q is divided by its value at distance zero, the number of sets, so
that v_q is the variance of all functions of order q together.

`AdditiveGP` is exact regression. `AdditiveClassifier` takes y in {0, 1} and Laplace's approximation with the logistic
link (Rasmussen and Williams 2006, chapters 3 and 5). `SubsetClassifier` is the extension of the AAAI 2021 paper: the
order d with the largest variance is taken, each set of d inputs gets a kernel and a weight of its own, and a horseshoe
prior shrinks the weights of the sets that do not matter.

Deviations: the base kernels have no variances besides those of the orders; the authors use expectation propagation for
classes; L-BFGS from one start. The sets are fitted by natural gradients and L-BFGS on all rows, with the probit link,
not by the paper's stochastic steps; where there are more than MOST_SETS sets of d inputs, only those of the inputs with
the shortest lengthscales are enumerated.
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar, final

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float
from scipy.linalg import solve_triangular
from scipy.special import expit

from farrier.baselines.common import (
    START_NOISE,
    Baseline,
    Conditioned,
    Covariance,
    Score,
    gaussian_score,
    gram,
    some_rows,
    train,
)
from farrier.inference.likelihoods import Bernoulli
from farrier.kernels.registry import SquaredExponential
from farrier.model.fit import fit
from farrier.model.problem import Given, Problem
from farrier.paper.trees import as_array, positive

NEWTON_STEPS = 50
"""Most Newton steps to the mode of Laplace's approximation, by judgement."""
MOST_SETS = 120
"""Most sets of inputs with a kernel of their own, by judgement."""
START_LENGTH = 1.5
"""Lengthscale at the start, in standard deviations of the input; by judgement."""


def symmetric_polynomials(Z: Float[Array, "D *s"], highest: int) -> Float[Array, "q *s"]:
    """e_1 ... e_highest of the D numbers along the first axis."""
    powers, sums = Z, []
    for _ in range(highest):
        sums.append(jnp.sum(powers, axis=0))
        powers = powers * Z
    e = [jnp.ones_like(sums[0])]
    for q in range(1, highest + 1):
        terms = [(-1.0) ** (j - 1) * e[q - j] * sums[j - 1] for j in range(1, q + 1)]
        e.append(sum(terms[1:], start=terms[0]) / q)
    return jnp.stack(e[1:])


@jax.custom_vjp
def weighted_orders(Z: Float[Array, "D *s"], v: Float[Array, "q"]) -> Float[Array, "*s"]:
    """sum_q v_q e_q, with a custom derivative that is several times faster than differentiating the recursion."""
    return _weighted_orders(Z, v)[0]


def _weighted_orders(Z: Array, v: Array) -> tuple[Array, Any]:
    # the barriers keep the compiler from computing the same powers several times
    Z = jax.lax.optimization_barrier(Z)
    e = jax.lax.optimization_barrier(symmetric_polynomials(Z, v.shape[0]))
    return jnp.tensordot(v, e, axes=1), (Z, v, e)


def _weighted_orders_derivative(saved: Any, slope: Array) -> tuple[Array, Array]:
    Z, v, e = saved

    def by(z: Array) -> Array:
        # de_q / dz = e_{q-1} of the others = r_{q-1},  r_0 = 1,  r_q = e_q - z r_{q-1}
        r = jnp.ones_like(z)
        total = v[0] * r
        for q in range(1, v.shape[0]):
            r = e[q - 1] - z * r
            total = total + v[q] * r
        return total * slope

    return jax.vmap(by)(Z), jnp.sum(e * slope[None], axis=tuple(range(1, e.ndim)))


weighted_orders.defvjp(_weighted_orders, _weighted_orders_derivative)


@final
class Additive(Covariance):
    """sum_q v_q e_q / (number of sets), and noise."""

    lengthscales: Float[Array, "D"] = positive()
    variances: Float[Array, "q"] = positive()
    noise: Float[Array, ""] = positive()

    def gram(self, X: Float[Array, "N D"], Z: Float[Array, "M D"]) -> Float[Array, "N M"]:
        lengthscales, variances = jnp.asarray(self.lengthscales), jnp.asarray(self.variances)
        apart = (X.T[:, :, None] - Z.T[:, None, :]) / lengthscales[:, None, None]
        D, highest = len(lengthscales), len(variances)
        sets = np.array([comb(D, q) for q in range(1, highest + 1)], float)
        return weighted_orders(jnp.exp(-0.5 * apart**2), variances / sets)

    def diag(self, X: Float[Array, "N D"]) -> Float[Array, "N"]:
        return jnp.broadcast_to(jnp.sum(jnp.asarray(self.variances)), X.shape[:1])


@dataclass(kw_only=True)
class _AllOrders(Baseline):
    """The kernel of regression and classification, and the shares of its orders."""

    iterations: int = 100
    highest: int | None = None
    """The highest order; None means all orders."""
    most_rows: int = 2000

    def _train(self, X: np.ndarray, score: Score) -> None:
        D = X.shape[1]
        highest = min(self.highest or D, D)
        lengthscales, variances = as_array(np.full(D, START_LENGTH)), as_array(np.full(highest, 1.0 / highest))
        start = Additive(lengthscales, variances, as_array(START_NOISE))
        self.model_, self.evidence_ = train(start, X, score, self.iterations)
        variances = np.asarray(self.model_.variances)
        self.shares_ = variances / variances.sum()
        """The share of each order in the variance of the function, order 1 first."""
        self.order_ = 1 + int(np.argmax(variances))
        """The order with the largest share."""


@dataclass(kw_only=True)
class AdditiveGP(_AllOrders):
    """Exact additive regression; above `most_rows` it uses random rows."""

    name: ClassVar[str] = "additive-gp"

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        rows = some_rows(len(X), self.most_rows, self.seed)
        self._train(X[rows], gaussian_score(y[rows]))
        self._posterior = Conditioned(self.model_, X[rows], y[rows])

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._posterior.predict(X)


@dataclass(kw_only=True)
class AdditiveClassifier(_AllOrders):
    """Additive classification of y in {0, 1}: `predict` gives P(y = 1) and the standard deviation of y."""

    name: ClassVar[str] = "additive-classifier"

    def _scaled(self, y: np.ndarray) -> None:
        if not np.isin(y, (0.0, 1.0)).all():
            raise ValueError(f"y must hold 0 and 1 only, got {np.unique(y)[:5]}: encode the two classes so.")

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        rows = some_rows(len(X), self.most_rows, self.seed)
        self._X, labels = X[rows], y[rows]
        self._train(self._X, lambda K, noise: laplace_score(K, labels))
        f = laplace_mode(K := gram(self.model_, self._X, self._X), labels)
        self._slope = labels - expit(f)
        self._root = np.sqrt(expit(f) * expit(-f))
        self._L = np.linalg.cholesky(np.eye(len(K)) + self._root[:, None] * K * self._root[None, :])

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        K = gram(self.model_, self._X, X)
        A = solve_triangular(self._L, self._root[:, None] * K, lower=True)
        mean = K.T @ self._slope
        variance = np.maximum(np.sum(np.asarray(self.model_.variances)) - np.sum(A**2, axis=0), 0.0)
        # E expit(f): the logistic is a probit of slope sqrt(pi / 8) to within 0.02
        p = expit(mean / np.sqrt(1.0 + np.pi * variance / 8.0))
        return p, p * (1.0 - p)


@dataclass(kw_only=True)
class SubsetClassifier(AdditiveClassifier):
    """The paper's additive classification: all sets of inputs of the strongest order, under a horseshoe prior."""

    name: ClassVar[str] = "subset-classifier"

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        super()._fit(X, y)
        rows = some_rows(len(X), self.most_rows, self.seed)
        self.sets_ = likely_sets(np.asarray(self.model_.lengthscales), self.order_)
        """The sets of inputs, in the order of `weights_`."""
        kernels = [SquaredExponential(np.full(len(inputs), START_LENGTH), inputs) for inputs in self.sets_]
        self._subsets = fit(Problem(X[rows], y[rows]), Given(kernels), likelihood=Bernoulli())
        self.weights_ = self._subsets.prior.quantile(0.5)[: len(kernels)]

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = self._subsets.observed(X)[0].mean(axis=0)
        return p, p * (1.0 - p)


def likely_sets(lengthscales: np.ndarray, order: int) -> list[tuple[int, ...]]:
    """All sets of `order` inputs, or those of the inputs with the shortest lengthscales."""
    most = max(k for k in range(order, len(lengthscales) + 1) if k == order or comb(k, order) <= MOST_SETS)
    return list(combinations(sorted(int(d) for d in np.argsort(lengthscales)[:most]), order))


def laplace_mode(K: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The f that maximises log p(y | f) - f' K^-1 f / 2, by Newton's method with step halving."""
    sign = 2.0 * y - 1.0
    a, f = np.zeros_like(y), np.zeros_like(y)
    height = -len(y) * np.log(2.0)
    for _ in range(NEWTON_STEPS):
        p = expit(f)
        W = p * (1.0 - p)
        root = np.sqrt(W)
        b = W * f + y - p
        L = np.linalg.cholesky(np.eye(len(y)) + root[:, None] * K * root[None, :])
        step = b - root * _solve(L, root * (K @ b)) - a
        size = 1.0
        while (reached := _height(a + size * step, K, sign)) < height and size > 1e-6:
            size /= 2.0
        a = a + size * step
        f = K @ a
        if reached - height < 1e-9 * len(y):
            break
        height = reached
    return f


def laplace_score(K: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray, float]:
    """log q(y) = log p(y | f) - f'K^-1 f / 2 - log|B| / 2,  B = I + W^1/2 K W^1/2, and its derivative by K.

    The mode f moves with K, which the last two terms of the derivative account for.
    """
    f = laplace_mode(K, y)
    p = expit(f)
    W, a = p * (1.0 - p), y - p
    root = np.sqrt(W)
    L = np.linalg.cholesky(np.eye(len(y)) + root[:, None] * K * root[None, :])
    value = -np.sum(np.logaddexp(0.0, -(2.0 * y - 1.0) * f)) - 0.5 * a @ f - np.log(np.diagonal(L)).sum()
    R = root[:, None] * _solve(L, np.diag(root))
    # d log|B| / df, through W, times df/dK: s = -diag((K^-1 + W)^-1) d^3 log p / 2 and df = (I + K W)^-1 dK a
    A = solve_triangular(L, root[:, None] * K, lower=True)
    s = 0.5 * (np.diag(K) - np.sum(A**2, axis=0)) * W * (2.0 * p - 1.0)
    u = s - R @ (K @ s)
    return float(value), 0.5 * (np.outer(a, a) - R + np.outer(u, a) + np.outer(a, u)), 0.0


def _height(a: np.ndarray, K: np.ndarray, sign: np.ndarray) -> float:
    f = K @ a
    return float(-np.sum(np.logaddexp(0.0, -sign * f)) - 0.5 * a @ f)


def _solve(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    """(L L')^-1 B."""
    return solve_triangular(L, solve_triangular(L, B, lower=True), lower=True, trans=1)
