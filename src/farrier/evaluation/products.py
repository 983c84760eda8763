"""Products on the host: the kernels of a pool as numpy functions that bring their own derivatives.

Searching for a structure takes thousands of short evaluations of ever different products. Compiling a program for
them costs more than they do, and calling one costs as much as a small Gram matrix, so here, in correlations.py and in
lagged.py derivatives are written by hand. Every product is

    k(x, z) = v(x) v(z) r(x, z),     v: steps and lines of one column,   r: smooth and periodic factors, wide lines

and each of its factors returns its values with a function `pull`, which takes a derivative by the values and adds
those by its own numbers to `slopes`. Numbers and slopes are arrays by the name of the pool's field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import mul
from typing import Any

import numpy as np
from scipy.special import expit

from farrier.evaluation.correlations import FAMILIES, Numbers, Pull, Slopes, by_mixture, repeating
from farrier.evaluation.lagged import Lagged
from farrier.evaluation.slots import NUMBERS, REPEATING, SMOOTH, SlotPool


@dataclass(frozen=True)
class Line:
    """v(x) = (x - c) / sqrt(1 + c^2) of one column."""

    kernel: int
    slot: int
    column: int

    def __call__(self, numbers: Numbers, X: np.ndarray) -> tuple[np.ndarray, Pull]:
        c = numbers["line"][self.kernel, self.slot, self.column]
        size = 1.0 + c**2
        away = X[:, self.column] - c

        def pull(dv: np.ndarray, slopes: Slopes) -> None:
            slope = -(dv.sum() + (dv @ away) * c / size) / np.sqrt(size)
            slopes["line"][self.kernel, self.slot, self.column] += slope

        return away / np.sqrt(size), pull


@dataclass(frozen=True)
class Side:
    """v(x) = s((x - place) / width), s being the logistic function: 1 after the place (sign 1) or before it (-1)."""

    kernel: int
    column: int
    place: str
    width: str
    sign: float

    def __call__(self, numbers: Numbers, X: np.ndarray) -> tuple[np.ndarray, Pull]:
        width = numbers[self.width][self.kernel]
        away = self.sign * (X[:, self.column] - numbers[self.place][self.kernel]) / width
        v = expit(away)

        def pull(dv: np.ndarray, slopes: Slopes) -> None:
            by_away = dv * v * (1.0 - v)
            slopes[self.place][self.kernel] -= self.sign * by_away.sum() / width
            slopes[self.width][self.kernel] -= by_away @ away / width

        return v, pull


@dataclass(frozen=True)
class WideLine:
    """r(x, z) = sum_d (x_d - c_d) (z_d - c_d) / (1 + c_d^2) of several columns."""

    kernel: int
    slot: int
    columns: np.ndarray

    def __call__(self, numbers: Numbers, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Pull]:
        c = numbers["line"][self.kernel, self.slot, self.columns]
        a = 1.0 / (1.0 + c**2)
        x, z = X[:, self.columns] - c, Z[:, self.columns] - c

        def pull(dR: np.ndarray, slopes: Slopes) -> None:
            by_place = -a * (dR.sum(axis=0) @ z + dR.sum(axis=1) @ x)
            by_size = -2.0 * c * a**2 * np.sum(x * (dR @ z), axis=0)
            slopes["line"][self.kernel, self.slot, self.columns] += by_place + by_size

        return (x * a) @ z.T, pull

    def diag(self, numbers: Numbers, X: np.ndarray) -> tuple[np.ndarray, Pull]:
        """r(x, x)."""
        c = numbers["line"][self.kernel, self.slot, self.columns]
        a = 1.0 / (1.0 + c**2)
        x = X[:, self.columns] - c

        def pull(dr: np.ndarray, slopes: Slopes) -> None:
            slope = -2.0 * a * (dr @ x) - 2.0 * c * a**2 * (dr @ x**2)
            slopes["line"][self.kernel, self.slot, self.columns] += slope

        return x**2 @ a, pull


@dataclass(frozen=True)
class Smooth:
    """r(x, z) of the squared distance q = sum_d (x_d - z_d)^2 / l_d^2."""

    kernel: int
    family: str
    columns: np.ndarray

    def __call__(self, numbers: Numbers, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Pull]:
        lengths = numbers["lengthscale"][self.kernel, self.columns]
        x, z = X[:, self.columns] / lengths, Z[:, self.columns] / lengths
        q = squared_distances(x, z)
        mixture = numbers["mixture"][self.kernel]
        R, by_q = FAMILIES[self.family](q, mixture)

        def pull(dR: np.ndarray, slopes: Slopes) -> None:
            # dr/dl_d = -2 dr/dq (x_d - z_d)^2 / l_d^3
            along = weighted_squares(dR * by_q, q, x, z)
            slopes["lengthscale"][self.kernel, self.columns] += -2.0 * along / lengths
            if self.family == "RQ":
                slopes["mixture"][self.kernel] += np.vdot(dR, by_mixture(q, mixture, R))

        return R, pull


@dataclass(frozen=True)
class Repeat:
    """r(x, z) of the angle 2 pi (x - z) / p."""

    kernel: int
    slot: int
    centred: bool
    column: int

    def __call__(self, numbers: Numbers, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Pull]:
        period, shape = numbers["period"][self.kernel, self.slot], numbers["shape"][self.kernel, self.slot]
        angle = (2.0 * np.pi / period) * (X[:, self.column][:, None] - Z[:, self.column][None, :])
        R, back = repeating(angle, shape, self.centred)

        def pull(dR: np.ndarray, slopes: Slopes) -> None:
            by_angle, by_shape = back(dR)
            slopes["period"][self.kernel, self.slot] -= np.vdot(by_angle, angle) / period
            slopes["shape"][self.kernel, self.slot] += by_shape.sum()

        return R, pull


def squared_distances(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """|x - z|^2 of all pairs."""
    if x.shape[1] == 1:
        return (x - z.T) ** 2
    squares = np.sum(x**2, axis=1)[:, None] + np.sum(z**2, axis=1)[None, :]
    squares -= 2.0 * (x @ z.T)
    return np.maximum(squares, 0.0, out=squares)


def weighted_squares(W: np.ndarray, q: np.ndarray, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """sum_ab W_ab (x_ad - z_bd)^2 for each column d, q being the sum of the squares over the columns."""
    if x.shape[1] == 1:
        return np.array([np.vdot(W, q)])
    return W.sum(axis=1) @ x**2 + W.sum(axis=0) @ z**2 - 2.0 * np.sum(x * (W @ z), axis=0)


@dataclass(frozen=True)
class HostProduct:
    """One kernel of a pool."""

    profiles: tuple[Line | Side, ...]
    factors: tuple[WideLine | Smooth | Repeat, ...]

    @property
    def flat(self) -> bool:
        """Whether v is one: for one input, whether the kernel is stationary."""
        return not self.profiles

    def profile(self, numbers: Numbers, X: np.ndarray) -> tuple[np.ndarray, Pull]:
        """v(x)."""
        return _times([factor(numbers, X) for factor in self.profiles], (len(X),))

    def correlation(self, numbers: Numbers, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Pull]:
        """r(x, z)."""
        return _times([factor(numbers, X, Z) for factor in self.factors], (len(X), len(Z)))

    def gram(self, numbers: Numbers, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Pull]:
        """k(x, z)."""
        R, pull_R = self.correlation(numbers, X, Z)
        if self.flat:
            return R, pull_R
        (v_x, pull_x), (v_z, pull_z) = self.profile(numbers, X), self.profile(numbers, Z)
        V = np.outer(v_x, v_z)

        def pull(dK: np.ndarray, slopes: Slopes) -> None:
            pull_R(dK * V, slopes)
            dV = dK * R
            pull_x(dV @ v_z, slopes)
            pull_z(v_x @ dV, slopes)

        return R * V, pull

    def diag(self, numbers: Numbers, X: np.ndarray) -> tuple[np.ndarray, Pull]:
        """k(x, x)."""
        v, pull_v = self.profile(numbers, X)
        wide = [factor.diag(numbers, X) for factor in self.factors if isinstance(factor, WideLine)]
        return _times([(v**2, lambda dk, slopes: pull_v(2.0 * dk * v, slopes)), *wide], (len(X),))


def _times(found: Sequence[tuple[np.ndarray, Pull]], shape: tuple[int, ...]) -> tuple[np.ndarray, Pull]:
    """The product of some values, and how its derivative goes to each."""
    if not found:
        return np.ones(shape), lambda dv, slopes: None
    if len(found) == 1:
        return found[0]
    values = [value for value, _ in found]

    def pull(dv: np.ndarray, slopes: Slopes) -> None:
        for place, (_, pull_one) in enumerate(found):
            others = [value for k, value in enumerate(values) if k != place]
            pull_one(reduce(mul, others, dv), slopes)

    return reduce(mul, values), pull


@dataclass(frozen=True)
class HostPool:
    """All kernels of a pool, as functions of its numbers."""

    kernels: tuple[HostProduct, ...]
    numbers: dict[str, np.ndarray]
    """The numbers of the pool that it was made from."""
    lagged: Lagged
    """For one input, r of all kernels as a function of the distance."""

    @classmethod
    def of(cls, pool: SlotPool) -> "HostPool":
        """Which slots are filled is looked up once."""
        arrays = pool.arrays()
        numbers = {name: arrays[name] for name in NUMBERS}
        return cls(tuple(_product(arrays, i) for i in range(len(pool))), numbers, Lagged.of(arrays))

    def __len__(self) -> int:
        return len(self.kernels)

    @cached_property
    def flat(self) -> np.ndarray:
        """Which kernels have v = 1."""
        return np.array([kernel.flat for kernel in self.kernels])

    def no_slopes(self) -> Slopes:
        """Derivatives of nothing, to be added to."""
        return {name: np.zeros_like(values) for name, values in self.numbers.items()}

    def gram(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """k_i(x, z) of all kernels at the pool's own numbers, (m, N, M)."""
        return np.stack([kernel.gram(self.numbers, X, Z)[0] for kernel in self.kernels])

    def diag(self, X: np.ndarray) -> np.ndarray:
        """k_i(x, x) of all kernels at the pool's own numbers, (m, N)."""
        return np.stack([kernel.diag(self.numbers, X)[0] for kernel in self.kernels])


def _product(arrays: Mapping[str, Any], i: int) -> HostProduct:
    profiles: list[Line | Side] = []
    factors: list[WideLine | Smooth | Repeat] = []
    for name, place, width, sign in (("from_on", "start", "start_width", 1.0), ("until_on", "end", "end_width", -1.0)):
        profiles += [Side(i, int(column), place, width, sign) for column in np.flatnonzero(arrays[name][i])]
    for slot, on in enumerate(arrays["line_on"][i]):
        columns = np.flatnonzero(on)
        if len(columns) == 1:
            profiles.append(Line(i, slot, int(columns[0])))
        elif len(columns):
            factors.append(WideLine(i, slot, columns))
    if code := int(arrays["smooth"][i]):
        factors.append(Smooth(i, SMOOTH[code - 1].symbol, np.flatnonzero(arrays["smooth_on"][i])))
    for slot, code in enumerate(arrays["repeat"][i]):
        if code:
            column = int(np.flatnonzero(arrays["repeat_on"][i, slot])[0])
            factors.append(Repeat(i, slot, REPEATING[int(code) - 1].symbol == "Per0", column))
    return HostProduct(tuple(profiles), tuple(factors))
