"""The forms that a family of kernels can have. A family should use the most special form that fits.

    Profile      k(x, z) = v(x) v(z)               rank one in one column: lines, steps
    Stationary   k(x, z) = r(|x - z|)              one column: evaluated once per distance, for many kernels at once
    Distance     k(x, z) = r(q),  q = sum_d ((x_d - z_d) / l_d)^2          stationary, any number of columns
    Wandering    k(x, z) = g(|x - o|) + g(|z - o|) - g(|x - z|)            stationary increments, zero at o

A family with another form implements `between` and `at`. Each formula comes with its backward pass: from a derivative
with respect to its values to those with respect to its hyperparameters. The form saves time in evaluation/: v is
evaluated once per row, r and g once per distinct distance, and only other kernels for all pairs of rows.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from farrier.kernels.algebra import Back, Base, PerColumn, Slopes, Values


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Base):
    """k(x, z) = v(x) v(z) for a function v of one column."""

    @classmethod
    @abstractmethod
    def profile(cls, values: Values, x: np.ndarray) -> tuple[np.ndarray, Back]:
        """v of one column x (N,), and its backward pass."""

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        one = cls._of_one_column(values, X)
        (v_x, back_x), (v_z, back_z) = cls.profile(one, X[:, 0]), cls.profile(one, Z[:, 0])

        def back(dK: np.ndarray) -> Slopes:
            left, right = back_x(dK @ v_z), back_z(v_x @ dK)
            return {name: np.atleast_1d(left[name] + right[name]) for name in left}

        return np.outer(v_x, v_z), back

    @classmethod
    def at(cls, values: Values, X: np.ndarray) -> tuple[np.ndarray, Back]:
        v, back_v = cls.profile(cls._of_one_column(values, X), X[:, 0])
        return v**2, lambda dk: {name: np.atleast_1d(slope) for name, slope in back_v(2.0 * dk * v).items()}

    @classmethod
    def _of_one_column(cls, values: Values, X: np.ndarray) -> dict[str, Any]:
        cls.check_one_column(X)
        return {name: value if value is None else value[0] for name, value in values.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Stationary(Base):
    """k(x, z) = r(|x - z|) for a function r of the distance in one column."""

    stationary: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def of_lags(cls, values: Values, lags: np.ndarray) -> tuple[np.ndarray, Back]:
        """r of distances (L,) for F kernels with hyperparameters (F, 1): values (F, L), and their backward pass."""

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        cls.check_one_column(X)
        lags = np.abs(X[:, 0][:, None] - Z[:, 0][None, :])
        stacked = {name: value if value is None else value[:, None] for name, value in values.items()}
        R, back = cls.of_lags(stacked, lags.ravel())
        return R.reshape(lags.shape), lambda dK: back(dK.reshape(1, -1))


@dataclass(frozen=True, eq=False, repr=False)
class Distance(Stationary):
    """k(x, z) = r(q), q the squared distance in lengthscales; each column has its own lengthscale."""

    if TYPE_CHECKING:  # the first field of every family of this form

        @property
        def lengthscale(self) -> PerColumn:
            """One number for all columns, or one for each."""
            ...

    @classmethod
    @abstractmethod
    def correlation(cls, q: np.ndarray, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """r(q) and dr/dq, elementwise; `values` have shapes that broadcast with q."""

    @classmethod
    def by_others(cls, q: np.ndarray, values: Values, R: np.ndarray) -> dict[str, np.ndarray]:
        """The derivatives of r(q) with respect to hyperparameters other than the lengthscale, elementwise."""
        return {}

    @classmethod
    def of_lags(cls, values: Values, lags: np.ndarray) -> tuple[np.ndarray, Back]:
        lengths = values["lengthscale"]
        q = (lags / lengths) ** 2
        R, by_q = cls.correlation(q, values)

        def back(dR: np.ndarray) -> Slopes:
            others = {name: np.sum(dR * by, axis=1) for name, by in cls.by_others(q, values, R).items()}
            return {"lengthscale": -2.0 * np.sum(dR * by_q * q, axis=1) / lengths[:, 0], **others}

        return R, back

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        lengths = values["lengthscale"]
        x, z = X / lengths, Z / lengths
        q = squared_distances(x, z)
        R, by_q = cls.correlation(q, values)

        def back(dR: np.ndarray) -> Slopes:
            # dr/dl_d = -2 dr/dq (x_d - z_d)^2 / l_d^3
            along = weighted_squares(dR * by_q, q, x, z)
            others = {name: np.atleast_1d(np.vdot(dR, by)) for name, by in cls.by_others(q, values, R).items()}
            return {"lengthscale": -2.0 * along / lengths, **others}

        return R, back

    def gram(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        # inputs may have any units here: distances in several columns use inner products, which are inaccurate
        # far from the origin, so the origin is moved to the first row of Z
        start = Z[:1].sum(axis=0) if X.shape[1] > 1 else 0.0
        return super().gram(X - start, Z - start)

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self.replace(lengthscale=self.lengthscale * scale)


@dataclass(frozen=True, eq=False, repr=False)
class Wandering(Base):
    """A function of one column with stationary increments that is zero at its origin.

    k(x, z) = g(|x - o|) + g(|z - o|) - g(|x - z|), where g of a distance is half the variance of an increment over it.
    """

    if TYPE_CHECKING:  # a field of every family of this form

        @property
        def origin(self) -> PerColumn:
            """Where it is zero."""
            ...

    @classmethod
    @abstractmethod
    def half_variogram(cls, values: Values, distances: np.ndarray) -> tuple[np.ndarray, Back]:
        """g of distances of any shape, and its backward pass."""

    @classmethod
    def from_origin(cls, values: Values, X: np.ndarray) -> np.ndarray:
        """The distances |x - o| of rows X (N, 1)."""
        cls.check_one_column(X)
        return np.abs(X[:, 0] - values["origin"][0])

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        g_x, back_x = cls.half_variogram(values, cls.from_origin(values, X))
        g_z, back_z = cls.half_variogram(values, cls.from_origin(values, Z))
        g, back_g = cls.half_variogram(values, np.abs(X[:, 0][:, None] - Z[:, 0][None, :]))

        def back(dK: np.ndarray) -> Slopes:
            left, right, apart = back_x(dK.sum(axis=1)), back_z(dK.sum(axis=0)), back_g(dK)
            return {name: left[name] + right[name] - apart[name] for name in apart}

        return g_x[:, None] + g_z[None, :] - g, back

    @classmethod
    def at(cls, values: Values, X: np.ndarray) -> tuple[np.ndarray, Back]:
        g, back = cls.half_variogram(values, cls.from_origin(values, X))
        return 2.0 * g, lambda dk: {name: 2.0 * slope for name, slope in back(dk).items()}


def squared_distances(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """|x - z|^2 of all pairs."""
    if x.shape[1] == 1:
        return (x - z.T) ** 2
    squares = np.sum(x**2, axis=1)[:, None] + np.sum(z**2, axis=1)[None, :]
    squares -= 2.0 * (x @ z.T)
    return np.maximum(squares, 0.0, out=squares)


def weighted_squares(W: np.ndarray, q: np.ndarray, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """sum_ab W_ab (x_ad - z_bd)^2 for each column d, given q, the sum of these squares over the columns."""
    if x.shape[1] == 1:
        return np.array([np.vdot(W, q)])
    return W.sum(axis=1) @ x**2 + W.sum(axis=0) @ z**2 - 2.0 * np.sum(x * (W @ z), axis=0)
