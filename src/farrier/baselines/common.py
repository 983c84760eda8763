"""The base of the compared methods: one interface, an optimiser, and exact Gaussian processes with any covariance.

    log N(y; 0, C),  C = K + s^2 I,     d/dK = (a a' - C^-1) / 2  with  a = C^-1 y

A method is a `Baseline`: settings by keyword, then `fit(X, y)` and `predict(X)`, which gives the mean and the standard
deviation of a new observation in the units of y. A `Covariance` is a module with the parameters of a kernel and the
noise variance; `train` maximises a score of its matrix, `Conditioned` predicts. LAPACK factorises the matrices. The
kernel and its derivative are compiled and evaluated in blocks of rows, to limit memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import Float
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from farrier.data.tables import Scale
from farrier.inference.exact import log_density_and_slope
from farrier.inference.linalg import jitter
from farrier.paper.trees import bound, free

REACH = 10.0
"""Largest change of an unconstrained parameter from its start, by judgement: a factor of e^10 for a scale."""
BLOCK_ROWS = 64
"""Rows of a covariance matrix in one block, by judgement: few enough for the processor's cache."""
HOPELESS = 1e10
"""The loss that replaces a value that is not finite."""
START_NOISE = 0.1
"""The noise variance at the start, for y with variance 1; by judgement."""

Objective: TypeAlias = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""From parameters to a value and its gradient."""
Method = TypeVar("Method", bound="Baseline")


@dataclass(kw_only=True)
class Baseline(ABC):
    """A method to compare with: settings, `fit`, `predict`."""

    name: ClassVar[str]
    seed: int = 0
    seconds: float = field(init=False, default=float("nan"))
    """The duration of the last fit."""

    def fit(self: Method, X: Any, y: Any) -> Method:
        """Learn from rows X (N, D), or (N,), and targets y (N,)."""
        started = perf_counter()
        rows, target = _rows(X), np.asarray(y, np.float64)
        if target.shape != rows.shape[:1]:
            raise ValueError(f"y has shape {target.shape} and X has {len(rows)} rows: give one number for each row.")
        self._scale = _scale_of(rows, self._scaled(target))
        with jax.enable_x64(True):
            self._fit(self._scale.inputs(rows), self._scale.target(target))
        self.seconds = perf_counter() - started
        return self

    def predict(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of a new observation at each row, in the units of y."""
        with jax.enable_x64(True):
            mean, variance = self._predict(self._scale.inputs(_rows(X)))
        sd = np.sqrt(np.maximum(variance, np.finfo(float).tiny))
        return mean * self._scale.y_scale + self._scale.y_mean, sd * self._scale.y_scale

    @property
    def noise_variance_(self) -> float | None:
        """The noise variance in the squared units of y; None if the method does not give it."""
        return None

    def _scaled(self, y: np.ndarray) -> np.ndarray | None:
        """The target if it is to be standardised, else None."""
        return y

    @abstractmethod
    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Learn from standardised rows and targets."""

    @abstractmethod
    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of a new observation, on the standardised scale."""


def _rows(X: Any) -> np.ndarray:
    rows = np.asarray(X, np.float64)
    return rows[:, None] if rows.ndim == 1 else rows


def _scale_of(X: np.ndarray, y: np.ndarray | None) -> Scale:
    """The scale to mean zero and standard deviation one; constant columns are only centred."""
    scale = Scale.of(X, y)
    x_scale = np.where(scale.x_scale > 0.0, scale.x_scale, 1.0)
    return replace(scale, x_scale=x_scale, y_scale=scale.y_scale if scale.y_scale > 0.0 else 1.0)


def some_rows(rows: int, most: int, seed: int) -> np.ndarray:
    """The indices of all rows, or of `most` random ones, in rising order."""
    if rows <= most:
        return np.arange(rows)
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


def maximise(objective: Objective, start: np.ndarray, iterations: int) -> tuple[np.ndarray, float]:
    """The parameters at a local maximum of `objective` by L-BFGS, and the value there."""

    def loss(numbers: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(numbers)
        if not np.isfinite(value) or not np.isfinite(gradient).all():
            return HOPELESS, np.zeros_like(numbers)
        return -value, -gradient

    result = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(start - REACH, start + REACH, strict=True)),
        options={"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 20},
    )
    return np.asarray(result.x), -float(result.fun)


def maximise_module(objective: Callable[..., Array], module: Any, *data: Any, iterations: int) -> tuple[Any, float]:
    """The module at a local maximum of the jax function objective(module, *data), and the value there."""
    start, unravel = ravel_pytree(free(module))

    def at(numbers: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = _value_and_gradient(jnp.asarray(numbers), module, objective, data)
        return float(value), np.asarray(gradient)

    numbers, value = maximise(at, np.array(start), iterations)
    return jax.tree.map(np.asarray, bound(unravel(jnp.asarray(numbers)), module)), value


@eqx.filter_jit
def _value_and_gradient(numbers: Array, template: Any, objective: Any, data: Any) -> Any:
    return jax.value_and_grad(lambda u: objective(_at(u, template), *data))(numbers)


def _at(numbers: Array, template: Any) -> Any:
    """The module with these unconstrained parameters."""
    return bound(ravel_pytree(free(template))[1](numbers), template)


class Covariance(eqx.Module):
    """A covariance function with its parameters, and the noise variance."""

    if TYPE_CHECKING:

        @property
        def noise(self) -> Any: ...

    else:
        noise: eqx.AbstractVar[Float[Array, ""]]

    @abstractmethod
    def gram(self, X: Float[Array, "N D"], Z: Float[Array, "M D"]) -> Float[Array, "N M"]:
        """k(x, z) for every pair of rows."""

    @abstractmethod
    def diag(self, X: Float[Array, "N D"]) -> Float[Array, "N"]:
        """k(x, x) for every row."""


Score: TypeAlias = Callable[[np.ndarray, float], tuple[float, np.ndarray, float] | None]
"""From K and the noise variance to a value and its derivatives by both; None if K is not positive definite."""
Trained = TypeVar("Trained", bound=Covariance)


def gaussian_score(y: np.ndarray) -> Score:
    """log N(y; 0, K + noise I)."""

    def score(K: np.ndarray, noise: float) -> tuple[float, np.ndarray, float] | None:
        found = evidence(K + noise * np.eye(len(K)), y)
        return None if found is None else (*found, float(np.trace(found[1])))

    return score


def evidence(C: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray] | None:
    """log N(y; 0, C) and its derivative by C; None if C is not positive definite. C is overwritten."""
    found = log_density_and_slope(C, np.zeros(len(y)), np.ones(len(y)), y)
    # the derivative is in the lower triangle, whose entries off the diagonal count twice
    return None if found is None or not np.isfinite(found) else (found, 0.5 * (C + C.T))


def train(model: Trained, X: np.ndarray, score: Score, iterations: int) -> tuple[Trained, float]:
    """The model at a local maximum of the score of its matrix at the rows X, and that score."""
    start, _ = ravel_pytree(free(model))

    def objective(numbers: np.ndarray) -> tuple[float, np.ndarray]:
        u = jnp.asarray(numbers)
        here = _model(u, model)
        found = score(gram(here, X, X), float(here.noise))
        if found is None:
            return -np.inf, numbers
        value, dK, dnoise = found
        gradient = np.zeros_like(numbers)
        for i, (rows, part) in enumerate(_blocks(X, dK)):
            share = jnp.asarray(dnoise if i == 0 else 0.0)
            gradient += np.asarray(_gradient_of_block(u, model, rows, jnp.asarray(X), part, share))
        return value, gradient

    numbers, value = maximise(objective, np.array(start), iterations)
    return jax.tree.map(np.asarray, _model(jnp.asarray(numbers), model)), value


_model = eqx.filter_jit(_at)
_gram = eqx.filter_jit(lambda model, X, Z: model.gram(X, Z))
_diag = eqx.filter_jit(lambda model, X: model.diag(X))


@eqx.filter_jit
def _gradient_of_block(numbers: Array, template: Any, rows: Array, X: Array, dK: Array, dnoise: Array) -> Array:
    def inner_product(u: Array) -> Array:
        model = _at(u, template)
        return jnp.sum(model.gram(rows, X) * dK) + dnoise * model.noise

    return jax.grad(inner_product)(numbers)


def _blocks(X: np.ndarray, *others: np.ndarray) -> Iterator[tuple[Array, ...]]:
    """Blocks of equal size. The last is padded with copies of the first row, and zeros in the other arrays."""
    size = len(X) if len(X) <= BLOCK_ROWS else BLOCK_ROWS
    for start in range(0, len(X), size):
        fill = max(0, start + size - len(X))
        rows = np.concatenate([X[start : start + size], np.repeat(X[:1], fill, axis=0)])
        parts = [np.concatenate([a[start : start + size], np.zeros((fill, *a.shape[1:]))]) for a in others]
        yield tuple(jnp.asarray(a) for a in (rows, *parts))


def gram(model: Covariance, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """k(x, z) for every pair of rows, in blocks of rows of X."""
    return np.concatenate([np.asarray(_gram(model, rows, jnp.asarray(Z))) for (rows,) in _blocks(X)])[: len(X)]


class Conditioned:
    """The Gaussian process of a covariance given rows X and targets y."""

    def __init__(self, model: Covariance, X: np.ndarray, y: np.ndarray) -> None:
        C = gram(model, X, X)
        C[np.diag_indices(len(C))] += float(model.noise) + jitter(C)
        self.model, self.X = model, X
        self._L = np.linalg.cholesky(C)
        self._e = solve_triangular(self._L, y, lower=True)

    def predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of a new observation at each row."""
        A = solve_triangular(self._L, gram(self.model, X, self.X).T, lower=True)
        prior = np.concatenate([np.asarray(_diag(self.model, rows)) for (rows,) in _blocks(X)])[: len(X)]
        return A.T @ self._e, prior - np.sum(A**2, axis=0) + float(self.model.noise)
