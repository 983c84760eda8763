"""A pool of products that all have the same slots, so that one compiled program serves every structure.

Kernel i is a product of what stands in its slots, and an empty slot is one:

    k_i(x, z) = from_i(x, z) until_i(x, z) prod_s line_is(x, z) smooth_i(x, z) prod_s repeat_is(x, z)

Which slot is filled, and with what, is data and not structure: growing a product, or trying another series of
similar length, compiles nothing. The kernels are visited one after the other, so the memory is that of a few Gram
matrices however many kernels there are, and only the filled slots are worked out.

Lines are counted in units of their root mean square over standardised inputs, (x - c) / sqrt(1 + c^2): then the
weight of a product is the size of what it adds, wherever its line is zero, and no product escapes shrinkage by moving
that place away.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Float, Int

from farrier.kernels.algebra import Base, Kernel, product_of
from farrier.kernels.base import (
    CentredPeriodic,
    Constant,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    Step,
    StepUntil,
    half_squared_distances,
)
from farrier.kernels.normal import simplify
from farrier.parameters import fixed, positive, real

LINES = 3
REPEATS = 2
SMOOTH: tuple[type[Any], ...] = (SquaredExponential, Matern12, Matern32, Matern52, RationalQuadratic)
REPEATING: tuple[type[Any], ...] = (Periodic, CentredPeriodic)


def _as_codes(value: Any) -> Any:
    return np.asarray(value)


@final
class SlotPool(eqx.Module):
    """m products of at most one step from and one until a place, three lines, one smooth factor and two periodic ones.

    `*_on` says on which columns a slot acts (all zero: it is empty), `smooth` and `repeat` which family fills it,
    counted from 1 in SMOOTH and REPEATING.
    """

    smooth: Int[Array, " m"] = eqx.field(converter=_as_codes)
    repeat: Int[Array, "m R"] = eqx.field(converter=_as_codes)
    smooth_on: Float[Array, "m D"] = fixed()
    repeat_on: Float[Array, "m R D"] = fixed()
    line_on: Float[Array, "m P D"] = fixed()
    from_on: Float[Array, "m D"] = fixed()
    until_on: Float[Array, "m D"] = fixed()
    lengthscale: Float[Array, "m D"] = positive()
    mixture: Float[Array, " m"] = positive()
    period: Float[Array, "m R"] = positive()
    shape: Float[Array, "m R"] = positive()
    """The lengthscale within a period."""
    line: Float[Array, "m P D"] = real()
    """Where the lines are zero."""
    start: Float[Array, " m"] = real()
    """From where on the kernel holds, and over which width it sets in."""
    start_width: Float[Array, " m"] = positive()
    end: Float[Array, " m"] = real()
    """Until where the kernel holds, and over which width it fades."""
    end_width: Float[Array, " m"] = positive()

    @classmethod
    def of(cls, kernels: Sequence[Kernel], inputs: int, size: int | None = None) -> "SlotPool":
        """The pool of the given kernels, each a product in standardised inputs; `size` adds empty ones at the end.

        A line's own scale is not kept: it is counted in the unit that the top of this file names.
        """
        products = [simplify(factors) for kernel in kernels for factors in kernel.products()]
        size = size or len(products)
        table = _empty(size, inputs)
        for i, factors in enumerate(products):
            for factor in factors:
                _fill(table, i, factor, inputs)
        return cls(**table)

    def __len__(self) -> int:
        return self.smooth.shape[0]

    @property
    def inputs(self) -> int:
        """How many columns there are."""
        return self.lengthscale.shape[1]

    def __getitem__(self, i: int) -> Kernel:
        if not -len(self) <= i < len(self):
            raise IndexError(f"The pool has {len(self)} kernels, got index {i}.")
        return product_of(_factors(jax.tree.map(lambda leaf: np.asarray(leaf)[i], self)))

    def __iter__(self) -> Iterator[Kernel]:
        return (self[i] for i in range(len(self)))

    def __str__(self) -> str:
        return "\n".join(f"{i:3d}  {kernel}" for i, kernel in enumerate(self))

    def gram(self, X: Float[Array, "N D"], Z: Float[Array, "M D"]) -> Float[Array, "m N M"]:
        """k_i(x, z) for every kernel i."""
        if self.inputs > 1:
            return lax.map(lambda kernel: _gram(kernel, X, Z), self)
        lag = (X - Z.T).reshape(-1)
        rho = self.correlation(lag).reshape(len(self), X.shape[0], Z.shape[0])
        return self.profile(X)[:, :, None] * self.profile(Z)[:, None, :] * rho

    def rows(self, owner: Int[Array, " R"]) -> "SlotPool":
        """A pool of some of the kernels, each as often as it is named."""
        return jax.tree.map(lambda leaf: jnp.asarray(leaf)[owner], self)

    def families(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The smooth and the periodic families that some kernel has."""
        smooth, repeat = (np.unique(np.asarray(codes)) for codes in (self.smooth, self.repeat))
        return tuple(int(c) for c in smooth if c), tuple(int(c) for c in repeat if c)

    def at(
        self, Z: Float[Array, "m D"], X: Float[Array, "N D"], families: tuple[tuple[int, ...], tuple[int, ...]]
    ) -> Float[Array, "m N"]:
        """k_i(z_i, x) for every kernel i, each at a point of its own, without branches; `families` is `families()`."""
        # (m, 1) and (m, N)
        K = jax.vmap(_window)(self, Z[:, None, :]) * jax.vmap(_window, in_axes=(0, None))(self, X)
        for s in range(LINES):
            # sum_d a_d (z_d - c_d) (x_d - c_d) with a = 1 / (1 + c^2), as a matrix product
            on, c = jnp.asarray(self.line_on)[:, s], jnp.asarray(self.line)[:, s]
            p = on * (Z - c) / (1.0 + c**2)
            line = p @ X.T - jnp.sum(p * c, axis=-1)[:, None]
            K = K * jnp.where(jnp.any(on > 0, axis=-1)[:, None], line, 1.0)
        # |x - z|^2 in lengthscales, as matrix products: x^2 p - 2 x (p z) + z^2 p with p = l^-2
        p = self.smooth_on / self.lengthscale**2
        square = p @ (X**2).T - 2.0 * (p * Z) @ X.T + jnp.sum(p * Z**2, axis=-1)[:, None]
        lag = jnp.einsum("ird,id->ir", self.repeat_on, Z)[..., None] - jnp.einsum("ird,nd->irn", self.repeat_on, X)
        return (
            K * _smooth_of_square(self, jnp.maximum(square, 0.0), families[0]) * _repeat_of_lag(self, lag, families[1])
        )

    def diag(self, X: Float[Array, "N D"]) -> Float[Array, "m N"]:
        """k_i(x, x) for every kernel i."""
        return jax.vmap(_diag, in_axes=(0, None))(self, X)

    def profile(self, X: Float[Array, "N D"]) -> Float[Array, "m N"]:
        """v_i(x) with k_i(x, z) = v_i(x) v_i(z) rho_i(x - z): the steps and the lines, each line of one column."""
        return jax.vmap(_profile, in_axes=(0, None))(self, X)

    def correlation(self, lag: Float[Array, " N"]) -> Float[Array, "m N"]:
        """rho_i(lag): the smooth and the periodic factors, of one input."""
        square = (lag[None, :] * self.smooth_on / self.lengthscale) ** 2
        lags = jnp.broadcast_to(lag, (len(self), REPEATS, *lag.shape))
        return _smooth_of_square(self, square, (1, 2, 3, 4, 5)) * _repeat_of_lag(self, lags, (1, 2))

    def weighted(
        self, X: Float[Array, "N D"], Z: Float[Array, "M D"], w2: Float[Array, "S m"]
    ) -> Float[Array, "S N M"]:
        """sum_i w2_si k_i(x, z) for every row s of squared weights; X and Z are data and have no derivative."""
        return _weighted(self, X, Z, w2)


@jax.custom_vjp
def _weighted(pool: SlotPool, X: Array, Z: Array, w2: Array) -> Array:
    def add(total: Array, one: tuple[SlotPool, Array]) -> tuple[Array, None]:
        kernel, w2_i = one
        return total + w2_i[:, None, None] * _gram(kernel, X, Z)[None], None

    return lax.scan(add, jnp.zeros((w2.shape[0], X.shape[0], Z.shape[0]), X.dtype), (pool, w2.T))[0]


def _weighted_forward(pool: SlotPool, X: Array, Z: Array, w2: Array) -> tuple[Array, Any]:
    return _weighted(pool, X, Z, w2), (pool, X, Z, w2)


def _weighted_backward(saved: Any, G: Array) -> tuple[Any, None, None, Array]:
    """Each Gram matrix is worked out again instead of being kept: they would not fit into the processor's cache."""
    pool, X, Z, w2 = saved
    trained, rest = eqx.partition(pool, eqx.is_inexact_array)

    def one(both: tuple[Any, Any, Array]) -> tuple[Any, Array]:
        numbers, others, w2_i = both
        K, pull = jax.vjp(lambda numbers: _gram(eqx.combine(numbers, others), X, Z), numbers)
        # sum_s w2_si G_s, and <G_s, K_i>
        (slope,) = pull(jnp.einsum("s,snm->nm", w2_i, G))
        return slope, jnp.einsum("snm,nm->s", G, K)

    slopes, dw2 = lax.map(one, (trained, rest, w2.T))
    none = jax.tree.map(lambda leaf: np.zeros(leaf.shape, jax.dtypes.float0), rest)
    return eqx.combine(slopes, none), None, None, dw2.T


_weighted.defvjp(_weighted_forward, _weighted_backward)


def _gram(k: SlotPool, X: Array, Z: Array) -> Float[Array, "N M"]:
    """The Gram matrix of one kernel, the leaves of `k` having lost their first axis."""
    K = _window(k, X)[:, None] * _window(k, Z)[None, :]
    for s in range(LINES):
        K = _where_filled(k.line_on[s], K, lambda K, s=s: K * (_line(k, s, X) @ _line(k, s, Z).T))
    return _stationary(k, K, X, Z)


def _stationary(k: SlotPool, K: Array, X: Array, Z: Array) -> Float[Array, "N M"]:
    K = lax.switch(k.smooth, _smooth_branches(k, X, Z), K)
    for s in range(REPEATS):
        K = lax.switch(k.repeat[s], _repeat_branches(k, s, X, Z), K)
    return K


def _profile(k: SlotPool, X: Array) -> Float[Array, "N"]:
    """The square root of the diagonal, with its sign."""
    profile = _window(k, X)
    for s in range(LINES):
        line = jnp.sum(_line(k, s, X), axis=-1)
        profile = profile * jnp.where(jnp.any(k.line_on[s] > 0), line, 1.0)
    return profile


def _diag(k: SlotPool, X: Array) -> Float[Array, "N"]:
    diagonal = _window(k, X) ** 2
    for s in range(LINES):
        line = jnp.sum(_line(k, s, X) ** 2, axis=-1)
        diagonal = diagonal * jnp.where(jnp.any(k.line_on[s] > 0), line, 1.0)
    return diagonal


def _where_filled(on: Array, K: Array, multiply: Callable[[Array], Array]) -> Array:
    return lax.cond(jnp.any(on > 0), multiply, lambda K: K, K)


def _window(k: SlotPool, X: Array) -> Float[Array, "N"]:
    """What the steps leave of each row: s(x) (1 - s'(x))."""
    begun = jax.nn.sigmoid((X @ k.from_on - k.start) / k.start_width)
    not_ended = jax.nn.sigmoid((k.end - X @ k.until_on) / k.end_width)
    return jnp.where(jnp.any(k.from_on > 0), begun, 1.0) * jnp.where(jnp.any(k.until_on > 0), not_ended, 1.0)


def _line(k: SlotPool, s: int, X: Array) -> Float[Array, "N D"]:
    location = k.line[s][None, :]
    return k.line_on[s][None, :] * (X - location) / jnp.sqrt(1.0 + location**2)


def _smooth_of_square(pool: SlotPool, square: Float[Array, "m N"], families: tuple[int, ...]) -> Float[Array, "m N"]:
    """The smooth factors of a squared distance: the given families are all worked out, each kernel taking its own.

    Where points are few this is faster than a branch for each kernel, and compiles much faster.
    """
    family = jnp.asarray(pool.smooth)[:, None]
    exponent, polynomial = jnp.where(family == 1, -0.5 * square, 0.0), 1.0
    if {2, 3, 4} & set(families):
        away = square > 0.0
        c = jnp.asarray([0.0, 0.0, 1.0, 3.0**0.5, 5.0**0.5, 0.0])[pool.smooth][:, None]
        r = c * jnp.where(away, jnp.sqrt(jnp.where(away, square, 1.0)), 0.0)
        rising = jnp.where((family == 3) | (family == 4), r, 0.0)
        polynomial = 1.0 + rising + jnp.where(family == 4, r**2 / 3.0, 0.0)
        exponent = exponent - r
    if 5 in families:
        a = pool.mixture[:, None]
        exponent = jnp.where(family == 5, -a * jnp.log1p(0.5 * square / a), exponent)
    return polynomial * jnp.exp(exponent)


def _repeat_of_lag(pool: SlotPool, lag: Float[Array, "m R N"], families: tuple[int, ...]) -> Float[Array, "m N"]:
    """The periodic factors of the lags along the columns that they act on."""
    if not families:
        return jnp.ones((len(pool), lag.shape[-1]), lag.dtype)
    # (cos(2 pi lag / p) - 1) / l^2, and the mean of its exponential over a period
    inverse = jnp.asarray(pool.shape)[..., None] ** -2
    wave = jnp.expm1((jnp.cos(2.0 * jnp.pi * lag / pool.period[..., None]) - 1.0) * inverse)
    family = jnp.asarray(pool.repeat)[..., None]
    values = jnp.where(family == 1, 1.0 + wave, 1.0 - wave / jnp.expm1(CentredPeriodic.log_mean(inverse)))
    return jnp.prod(jnp.where(family == 0, 1.0, values), axis=1)


def _smooth_branches(k: SlotPool, X: Array, Z: Array) -> list[Callable[[Array], Array]]:
    """What multiplies K for each family of SMOOTH, after nothing at all."""

    def half_square() -> Array:
        # |x - z|^2 / 2, counted in lengthscales
        inverse = (k.smooth_on / k.lengthscale)[None, :]
        left, right = half_squared_distances(X * inverse, Z * inverse)
        return -(left @ right.T)

    def radius(scale: float) -> Array:
        square = 2.0 * scale * half_square()
        away = square > 0.0
        return jnp.where(away, jnp.sqrt(jnp.where(away, square, 1.0)), 0.0)

    def rational(K: Array) -> Array:
        return K * jnp.exp(-k.mixture * jnp.log1p(jnp.maximum(half_square(), 0.0) / k.mixture))

    def matern32(K: Array) -> Array:
        r = radius(3.0)
        return K * (1.0 + r) * jnp.exp(-r)

    def matern52(K: Array) -> Array:
        r = radius(5.0)
        return K * (1.0 + r + r**2 / 3.0) * jnp.exp(-r)

    return [
        lambda K: K,
        lambda K: K * jnp.exp(-half_square()),
        lambda K: K * jnp.exp(-radius(1.0)),
        matern32,
        matern52,
        rational,
    ]


def _repeat_branches(k: SlotPool, s: int, X: Array, Z: Array) -> list[Callable[[Array], Array]]:
    """What multiplies K for each family of REPEATING, after nothing at all."""
    on = k.repeat_on[s]

    def periodic(family: type[Any]) -> Array:
        kernel = family(period=k.period[s][None], lengthscale=k.shape[s][None])
        return kernel.value((X @ on)[:, None], (Z @ on)[:, None])

    return [lambda K: K, *(lambda K, family=family: K * periodic(family) for family in REPEATING)]


def _empty(size: int, inputs: int) -> dict[str, Any]:
    def by_column() -> np.ndarray:
        return np.zeros((size, inputs))

    return {
        "smooth": np.zeros(size, np.int32),
        "repeat": np.zeros((size, REPEATS), np.int32),
        "smooth_on": by_column(),
        "repeat_on": np.zeros((size, REPEATS, inputs)),
        "line_on": np.zeros((size, LINES, inputs)),
        "from_on": by_column(),
        "until_on": by_column(),
        "lengthscale": np.ones((size, inputs)),
        "mixture": np.ones(size),
        "period": np.ones((size, REPEATS)),
        "shape": np.ones((size, REPEATS)),
        "line": np.zeros((size, LINES, inputs)),
        "start": np.zeros(size),
        "start_width": np.ones(size),
        "end": np.zeros(size),
        "end_width": np.ones(size),
    }


def _fill(table: dict[str, Any], i: int, factor: Base, inputs: int) -> None:
    """Put one factor into the first empty slot that takes it."""
    columns = list(range(inputs)) if factor.dims is None else [int(d) for d in factor.dims]
    values = {name: np.broadcast_to(value, (len(columns),)) for name, value in factor.parameters().items()}
    if isinstance(factor, Constant):
        return
    if isinstance(factor, SMOOTH) and not table["smooth"][i]:
        table["smooth"][i] = SMOOTH.index(type(factor)) + 1
        table["smooth_on"][i, columns] = 1.0
        table["lengthscale"][i, columns] = values["lengthscale"]
        table["mixture"][i] = values.get("mixture", np.ones(1))[0]
    elif isinstance(factor, REPEATING) and len(columns) == 1 and (free := _first_empty(table["repeat"][i])) is not None:
        table["repeat"][i, free] = REPEATING.index(type(factor)) + 1
        table["repeat_on"][i, free, columns] = 1.0
        table["period"][i, free], table["shape"][i, free] = values["period"][0], values["lengthscale"][0]
    elif isinstance(factor, Linear) and (free := _first_empty(table["line_on"][i].any(axis=-1))) is not None:
        table["line_on"][i, free, columns] = 1.0
        table["line"][i, free, columns] = values["location"]
    elif isinstance(factor, Step) and not table["from_on"][i].any():
        table["from_on"][i, columns] = 1.0
        table["start"][i], table["start_width"][i] = values["location"][0], values["width"][0]
    elif isinstance(factor, StepUntil) and not table["until_on"][i].any():
        table["until_on"][i, columns] = 1.0
        table["end"][i], table["end_width"][i] = values["location"][0], values["width"][0]
    else:
        raise ValueError(
            f"{factor} has no place in a product of at most one step from and one until a place, {LINES} lines, one "
            f"smooth factor and {REPEATS} periodic ones of one input: try method='stochastic'."
        )


def _first_empty(filled: np.ndarray) -> int | None:
    empty = np.flatnonzero(np.asarray(filled) == 0)
    return int(empty[0]) if len(empty) else None


def _factors(k: Any) -> list[Base]:
    """The factors in the slots of one kernel, in the order of a formula."""
    found: list[Base] = []
    if k.from_on.any():
        found.append(Step(k.start, k.start_width, _dims(k.from_on)))
    if k.until_on.any():
        found.append(StepUntil(k.end, k.end_width, _dims(k.until_on)))
    for s in np.flatnonzero(k.line_on.any(axis=-1)):
        location = _entries(k.line[s], k.line_on[s])
        found.append(Linear(location, np.sqrt(1.0 + location**2), _dims(k.line_on[s])))
    if k.smooth:
        family = SMOOTH[int(k.smooth) - 1]
        others = {"mixture": k.mixture} if family is RationalQuadratic else {}
        lengthscale = _entries(k.lengthscale, k.smooth_on)
        found.append(family(lengthscale=lengthscale, dims=_dims(k.smooth_on), **others))
    for s in np.flatnonzero(k.repeat):
        family = REPEATING[int(k.repeat[s]) - 1]
        found.append(family(period=k.period[s], lengthscale=k.shape[s], dims=_dims(k.repeat_on[s])))
    return sorted(found, key=lambda factor: factor.rank) or [Constant()]


def _dims(on: np.ndarray) -> tuple[int, ...] | None:
    return None if on.all() else tuple(int(d) for d in np.flatnonzero(on))


def _entries(values: np.ndarray, on: np.ndarray) -> np.ndarray:
    chosen = values[on > 0]
    return chosen.reshape(()) if len(chosen) == 1 else chosen
