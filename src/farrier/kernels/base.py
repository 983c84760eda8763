"""The base kernels, each of unit variance (a line and a step have unit slope and height instead).

A kernel acts on the columns in `dims`, or on all of them; over several columns a parameter is one number for all
or one for each. Formulas are written for one column. Over several, a stationary kernel takes the scaled distance
r^2 = sum_d ((x_d - z_d) / l_d)^2, a periodic kernel is the product of one for each column, a line is the sum.

Whatever can be is an inner product of a few functions of single points: derivatives are then matrix products
instead of sums over all pairs (several times faster, measured), sines and cosines are taken N + M times and not N M,
and pool.py adds up the exponents of a product before it takes one exponential.
"""

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.nn import sigmoid
from jax.typing import ArrayLike
from jaxtyping import Float

from farrier.kernels.algebra import Base, Dims
from farrier.kernels.parameters import fixed, positive, real

PerColumn: TypeAlias = Any
"""A parameter: one number for all columns, or an array with one for each."""


def _as_dims(dims: int | str | Iterable[int | str] | None) -> Dims:
    return dims if dims is None else (dims,) if isinstance(dims, int | str) else tuple(dims)


def _dims_field() -> Any:
    return eqx.field(static=True, default=None, converter=_as_dims)


def _row(parameter: ArrayLike, X: Array) -> Float[Array, "1 d"]:
    """A parameter as one row, to stand beside the rows of X."""
    return jnp.broadcast_to(jnp.asarray(parameter), X.shape[-1:])[None, :]


def _centre(Z: Float[Array, "M d"]) -> Float[Array, "1 d"]:
    """Where to count from, so that inner products of far-away points lose no digits."""
    return lax.stop_gradient(jnp.mean(Z, axis=0, keepdims=True))


def distance(X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
    """|x - z| for every pair of rows, with derivative zero instead of NaN where it is zero."""
    if X.shape[-1] == 1:
        r2 = (X - Z.T) ** 2
    else:
        X, Z = X - _centre(Z), Z - _centre(Z)
        r2 = jnp.sum(X**2, axis=-1)[:, None] + jnp.sum(Z**2, axis=-1)[None, :] - 2.0 * X @ Z.T
    away = r2 > 0.0
    return jnp.where(away, jnp.sqrt(jnp.where(away, r2, 1.0)), 0.0)


class Inner(Base):
    """k(x, z) = a(x)'a(z): a few functions of known shape and unknown height."""

    stationary: ClassVar[bool] = False

    @abstractmethod
    def features(self, X: Float[Array, "N d"]) -> Float[Array, "N f"]:
        """a(x) for every row."""

    def value(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
        return self.features(X) @ self.features(Z).T

    def value_diag(self, X: Float[Array, "N d"]) -> Float[Array, "N"]:
        return jnp.sum(self.features(X) ** 2, axis=-1)


class Exponential(Base):
    """k(x, z) = exp(a(x)'b(z)): a stationary kernel whose logarithm is an inner product."""

    @abstractmethod
    def exponents(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> tuple[Array, Array]:
        """a(x) (N, f) and b(z) (M, f) for the rows of X and of Z."""

    def value(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
        a, b = self.exponents(X, Z)
        return jnp.exp(a @ b.T)


def half_squared_distances(X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> tuple[Array, Array]:
    """a and b with a(x)'b(z) = -|x - z|^2 / 2 = x'z - x'x / 2 - z'z / 2."""
    X, Z = X - _centre(Z), Z - _centre(Z)
    norm_X, norm_Z = (-0.5 * jnp.sum(A**2, axis=-1, keepdims=True) for A in (X, Z))
    a = jnp.concatenate([X, norm_X, jnp.ones_like(norm_X)], axis=-1)
    return a, jnp.concatenate([Z, jnp.ones_like(norm_Z), norm_Z], axis=-1)


@final
class Constant(Inner):
    """k(x, z) = 1: a level."""

    symbol: ClassVar[str] = "1"
    rank: ClassVar[int] = 0
    stationary: ClassVar[bool] = True
    dims: Dims = _dims_field()

    def features(self, X: Float[Array, "N d"]) -> Float[Array, "N 1"]:
        return jnp.ones((X.shape[0], 1), X.dtype)

    def rescale_columns(self, scale: ArrayLike, shift: ArrayLike) -> "Constant":
        return self


class _Sigmoid(Inner):
    """k(x, z) = s(x) s(z) for a sigmoid s of one column."""

    if TYPE_CHECKING:

        @property
        def location(self) -> PerColumn: ...

        @property
        def width(self) -> PerColumn: ...

    else:
        location: eqx.AbstractVar[PerColumn]
        width: eqx.AbstractVar[PerColumn]

    def steepness(self, X: Float[Array, "N d"]) -> Float[Array, "N 1"]:
        """(x - location) / width."""
        if X.shape[-1] != 1:
            raise ValueError(f"{self} acts on one input, got {X.shape[-1]}: name it with dims=.")
        return (X - _row(self.location, X)) / _row(self.width, X)

    def rescale_columns(self, scale: ArrayLike, shift: ArrayLike) -> Base:
        return self.replace(location=self.location * scale + shift, width=self.width * scale)


@final
class Step(_Sigmoid):
    """s(x) = sigmoid((x - location) / width): what holds from a place on. `1 - Step(...)` is its mirror."""

    symbol: ClassVar[str] = "Step"
    rank: ClassVar[int] = 1
    location: PerColumn = real()
    width: PerColumn = positive()
    dims: Dims = _dims_field()

    def features(self, X: Float[Array, "N d"]) -> Float[Array, "N 1"]:
        return sigmoid(self.steepness(X))

    def __rsub__(self, one: int | float) -> "StepUntil":
        return StepUntil(self.location, self.width, self.dims) if one == 1 else NotImplemented


@final
class StepUntil(_Sigmoid):
    """s(x) = 1 - sigmoid((x - location) / width): what holds until a place."""

    symbol: ClassVar[str] = "(1 - Step)"
    rank: ClassVar[int] = 2
    location: PerColumn = real()
    width: PerColumn = positive()
    dims: Dims = _dims_field()

    def features(self, X: Float[Array, "N d"]) -> Float[Array, "N 1"]:
        return sigmoid(-self.steepness(X))


@final
class Linear(Inner):
    """k(x, z) = (x - location) (z - location) / scale^2: a line that is zero at the location.

    `scale` only says in which unit the slope is counted. It is not trained: the component's weight has that job.
    """

    symbol: ClassVar[str] = "Lin"
    rank: ClassVar[int] = 3
    location: PerColumn = real()
    scale: PerColumn = fixed(default=1.0)
    dims: Dims = _dims_field()

    def features(self, X: Float[Array, "N d"]) -> Float[Array, "N d"]:
        return (X - _row(self.location, X)) / _row(self.scale, X)

    def rescale_columns(self, scale: ArrayLike, shift: ArrayLike) -> Base:
        return self.replace(location=self.location * scale + shift, scale=self.scale * scale)


class _Distance(Base):
    """A stationary kernel of the distance between points, counted in lengthscales."""

    if TYPE_CHECKING:

        @property
        def lengthscale(self) -> PerColumn: ...

    else:
        lengthscale: eqx.AbstractVar[PerColumn]

    def scaled(self, X: Float[Array, "N d"]) -> Float[Array, "N d"]:
        """x / l."""
        return X / _row(self.lengthscale, X)

    def rescale_columns(self, scale: ArrayLike, shift: ArrayLike) -> Base:
        return self.replace(lengthscale=self.lengthscale * scale)


@final
class SquaredExponential(_Distance, Exponential):
    """k(x, z) = exp(-r^2 / 2): smooth functions that vary over a length l.

    Deviation: the paper's table of kernels lacks the minus sign.
    """

    symbol: ClassVar[str] = "SE"
    rank: ClassVar[int] = 4
    lengthscale: PerColumn = positive()
    dims: Dims = _dims_field()

    def exponents(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> tuple[Array, Array]:
        return half_squared_distances(self.scaled(X), self.scaled(Z))


@final
class RationalQuadratic(_Distance):
    """k(x, z) = (1 + r^2 / 2a)^-a: smooth functions that vary over many lengths, more widely spread for small a."""

    symbol: ClassVar[str] = "RQ"
    rank: ClassVar[int] = 5
    lengthscale: PerColumn = positive()
    mixture: PerColumn = positive(default=1.0)
    dims: Dims = _dims_field()

    def value(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
        # over several columns each has its lengthscale, and all share the first mixture
        left, right = half_squared_distances(self.scaled(X), self.scaled(Z))
        a = jnp.ravel(jnp.asarray(self.mixture))[0]
        return jnp.exp(-a * jnp.log1p(jnp.maximum(-(left @ right.T), 0.0) / a))


@final
class Matern12(_Distance):
    """k(x, z) = exp(-r): rough functions, continuous and no more."""

    symbol: ClassVar[str] = "Mat12"
    rank: ClassVar[int] = 6
    lengthscale: PerColumn = positive()
    dims: Dims = _dims_field()

    def value(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
        return jnp.exp(-distance(self.scaled(X), self.scaled(Z)))


@final
class Matern32(_Distance):
    """k(x, z) = (1 + sqrt(3) r) exp(-sqrt(3) r): functions with one derivative."""

    symbol: ClassVar[str] = "Mat32"
    rank: ClassVar[int] = 7
    lengthscale: PerColumn = positive()
    dims: Dims = _dims_field()

    def value(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
        r = 3.0**0.5 * distance(self.scaled(X), self.scaled(Z))
        return (1.0 + r) * jnp.exp(-r)


@final
class Matern52(_Distance):
    """k(x, z) = (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r): functions with two derivatives."""

    symbol: ClassVar[str] = "Mat52"
    rank: ClassVar[int] = 8
    lengthscale: PerColumn = positive()
    dims: Dims = _dims_field()

    def value(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
        r = 5.0**0.5 * distance(self.scaled(X), self.scaled(Z))
        return (1.0 + r + r**2 / 3.0) * jnp.exp(-r)


class _Repeating(Base):
    """A stationary kernel that repeats itself every period p; l is the lengthscale within one."""

    if TYPE_CHECKING:

        @property
        def period(self) -> PerColumn: ...

        @property
        def lengthscale(self) -> PerColumn: ...

    else:
        period: eqx.AbstractVar[PerColumn]
        lengthscale: eqx.AbstractVar[PerColumn]

    def waves(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> tuple[Array, Array]:
        """a and b with a(x)'b(z) = sum_d (cos(2 pi (x_d - z_d) / p_d) - 1) / l_d^2."""
        # cos(s - t) = cos s cos t + sin s sin t, and -1 / l^2 = (-1 / l) (1 / l)
        (cos_X, sin_X, l_X), (cos_Z, sin_Z, l_Z) = (self._circle(points) for points in (X, Z))
        return jnp.concatenate([cos_X, sin_X, -l_X], axis=-1), jnp.concatenate([cos_Z, sin_Z, l_Z], axis=-1)

    def _circle(self, X: Float[Array, "N d"]) -> tuple[Array, Array, Array]:
        angle = 2.0 * jnp.pi * X / _row(self.period, X)
        inverse = jnp.broadcast_to(1.0 / _row(self.lengthscale, X), X.shape)
        return jnp.cos(angle) * inverse, jnp.sin(angle) * inverse, inverse

    def rescale_columns(self, scale: ArrayLike, shift: ArrayLike) -> Base:
        return self.replace(period=self.period * scale)


@final
class Periodic(_Repeating, Exponential):
    """k(x, z) = exp(-2 sin^2(pi (x - z) / p) / l^2) = exp((cos(2 pi (x - z) / p) - 1) / l^2): repeats every p.

    Deviation: in several columns the paper takes the sine of |x - z|, which is not positive definite; the product
    over columns is.
    """

    symbol: ClassVar[str] = "Per"
    rank: ClassVar[int] = 9
    period: PerColumn = positive()
    lengthscale: PerColumn = positive(default=1.0)
    dims: Dims = _dims_field()

    def exponents(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> tuple[Array, Array]:
        return self.waves(X, Z)


@final
class CentredPeriodic(_Repeating):
    """The periodic kernel with its constant removed: its functions have mean zero over a period.

    With e the exponent of the periodic kernel and b = prod_d exp(-1 / l_d^2) I_0(1 / l_d^2), its mean over a period,
    k(x, z) = (exp(e) - b) / (1 - b). In one column it tends to cos(2 pi (x - z) / p) as l grows.
    """

    symbol: ClassVar[str] = "Per0"
    rank: ClassVar[int] = 10
    period: PerColumn = positive()
    lengthscale: PerColumn = positive(default=1.0)
    dims: Dims = _dims_field()

    def value(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
        log_b = jnp.sum(self.log_mean(_row(self.lengthscale, X) ** -2))
        left, right = self.waves(X, Z)
        # (exp(e) - b) / (1 - b) = 1 + (exp(e) - 1) / (1 - b)
        return 1.0 - jnp.expm1(left @ right.T) / jnp.expm1(log_b)

    @staticmethod
    def log_mean(a: Array) -> Array:
        """log(exp(-a) I_0(a)), the logarithm of b for a = l^-2: the mean of exp(a (cos t - 1)) over a circle.

        Over 256 points it is exact to rounding for a up to about 1000, and compiles faster than a Bessel function.
        """
        waves = jnp.asarray(np.cos(2.0 * np.pi * np.arange(256) / 256) - 1.0, a.dtype)
        return jnp.log1p(jnp.mean(jnp.expm1(a[..., None] * waves.reshape((1,) * a.ndim + (256,))), axis=-1))


@final
class White(Base):
    """k(x, z) = 1 where x = z and 0 elsewhere: noise that belongs to the place, not to the measurement."""

    symbol: ClassVar[str] = "WN"
    rank: ClassVar[int] = 11
    dims: Dims = _dims_field()

    def value(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
        return jnp.all(X[:, None, :] == Z[None, :, :], axis=-1).astype(X.dtype)

    def rescale_columns(self, scale: ArrayLike, shift: ArrayLike) -> "White":
        return self


FAMILIES: tuple[type[Base], ...] = (
    Constant,
    Step,
    StepUntil,
    Linear,
    SquaredExponential,
    RationalQuadratic,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    CentredPeriodic,
    White,
)
