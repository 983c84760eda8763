"""GP-NKN, the differentiable network of kernels (Sun, Zhang, Wang, Zeng, Li and Grosse, ICML 2018).

Sums with non-negative weights and products of kernels are kernels, so a network whose units are kernels can hold any
composition of a few primitive ones and be trained by gradients:

    primitive kernels  ->  linear 8  ->  product 4  ->  linear 4  ->  product 2  ->  linear 1

A linear layer is K_out = W K_in + b with W, b >= 0 (the softplus of free numbers), a product layer multiplies its
units two by two. Primitives as in the authors' programs: two each of SE, RQ and Lin with a lengthscale, or slope, for
each input, and for one input two of Per as well.

Training is that of the authors: Adam on the exact log marginal likelihood from one start, whose weights lie between
half and one and a half times 1 / inputs of the layer. Where it ends matters as much as how high: L-BFGS from three
starts extrapolated worse (energy: errors of 0.7 to 1.9, where the authors have 0.41).

Deviations: 2,000 steps of 0.01 instead of 20,000 of 0.001. Above `train_rows` parameters are learned on random rows by
the exact marginal likelihood (the authors: 1000 inducing points), and above `most_rows` predictions are conditioned on
random rows only.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.nn import softplus
from jaxtyping import Float

from farrier.baselines.climbing import climb
from farrier.baselines.common import Baseline, Conditioned, Covariance, some_rows
from farrier.baselines.terms import Slopes
from farrier.kernels.algebra import Base
from farrier.kernels.registry import Periodic, RationalQuadratic, SquaredExponential
from farrier.paper import kernels as compiled
from farrier.paper.trees import as_array, positive, real
from farrier.search.periods import find_periods

LAYERS = (8, 4, 1)
"""Units of each linear layer; a product layer between two of them halves the number."""
START_CONSTANT = 0.01
"""The constants of the layers at the start, from the authors' code."""
START_NOISE = 1.0
"""The noise variance at the start for y with variance 1, from the authors' code."""


@final
class Layer(eqx.Module):
    """K_out = W K_in + b, where W and b are the softplus of these parameters."""

    weights: Float[Array, "out in"] = real()
    constants: Float[Array, "out"] = real()

    def __call__(self, K: Float[Array, "in *s"]) -> Float[Array, "out *s"]:
        b = softplus(jnp.asarray(self.constants)).reshape((-1,) + (1,) * (K.ndim - 1))
        return jnp.tensordot(softplus(jnp.asarray(self.weights)), K, axes=1) + b


@final
class Network(Covariance):
    """Primitive kernels, linear layers with products between them, and noise."""

    primitives: tuple[Base, ...]
    layers: tuple[Layer, ...]
    noise: Float[Array, ""] = positive()

    def gram(self, X: Float[Array, "N D"], Z: Float[Array, "M D"]) -> Float[Array, "N M"]:
        return self._through(jnp.stack([compiled.gram(kernel, X, Z) for kernel in self.primitives]))

    def diag(self, X: Float[Array, "N D"]) -> Float[Array, "N"]:
        return self._through(jnp.stack([compiled.diag(kernel, X) for kernel in self.primitives]))

    def _through(self, K: Float[Array, "k *s"]) -> Float[Array, "*s"]:
        for layer in self.layers[:-1]:
            K = layer(K)
            K = K[0::2] * K[1::2]
        return self.layers[-1](K)[0]


def primitives(X: np.ndarray, y: np.ndarray, generator: np.random.Generator) -> tuple[Base, ...]:
    """Two of each kind; lengthscales are the authors' parts of the median distance of two rows in each input."""
    D = X.shape[1]
    pairs = generator.integers(len(X), size=(2, 2000))
    median = np.median(np.abs(X[pairs[0]] - X[pairs[1]]), axis=0)
    typical = np.where(median < 1e-6, 1.0, median * np.sqrt(D))

    def about(centre: np.ndarray) -> np.ndarray:
        return centre * np.exp(0.3 * generator.standard_normal(centre.shape))

    kernels: list[Base] = [Slopes(generator.normal(size=D), about(np.full(D, 1.0 / D))) for _ in range(2)]
    kernels += [SquaredExponential(typical * part) for part in (1.0 / 6.0, 2.0 / 3.0)]
    kernels += [RationalQuadratic(typical / 3.0, np.full(D, mixture)) for mixture in (0.1, 1.0)]
    if D == 1:
        seen = find_periods(X[:, 0], y, 2) or [float(typical[0])]
        both = [*seen, 2.0 * generator.random() * float(typical[0]) + 0.05][:2]
        kernels += [Periodic(about(np.array([period])) if i else np.array([period])) for i, period in enumerate(both)]
    return tuple(kernels)


def initial(X: np.ndarray, y: np.ndarray, generator: np.random.Generator) -> Network:
    """A network with random weights, such that the variance of its function is about one."""
    kernels = primitives(X, y, generator)
    layers, inputs = [], len(kernels)
    for outputs in LAYERS:
        weights = (0.5 + generator.random((outputs, inputs))) / inputs
        constants = np.full(outputs, START_CONSTANT)
        layers.append(Layer(*(as_array(np.log(np.expm1(values))) for values in (weights, constants))))
        inputs = outputs // 2
    return Network(kernels, tuple(layers), as_array(START_NOISE))


@dataclass(kw_only=True)
class KernelNetwork(Baseline):
    """GP-NKN, trained by Adam on the exact marginal likelihood."""

    name: ClassVar[str] = "gp-nkn"
    iterations: int = 2000
    learning_rate: float = 0.01
    train_rows: int = 1000
    most_rows: int = 4000

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        some = some_rows(len(X), self.train_rows, self.seed)
        start = initial(X[some], y[some], np.random.default_rng(self.seed))
        self.model_, self.evidence_ = climb(start, X[some], y[some], self.iterations, self.learning_rate)
        rows = some_rows(len(X), self.most_rows, self.seed)
        self._posterior = Conditioned(self.model_, X[rows], y[rows])

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._posterior.predict(X)
