"""One factor, and one product of factors, each with its backward pass from values to hyperparameters.

Every product is k(x, z) = v(x) v(z) r(x, z): v is the product of its profiles (lines, steps of one column), r that of
all other factors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import mul
from typing import Any, final

import numpy as np

from farrier.kernels.algebra import Back, Base
from farrier.kernels.forms import Profile, Stationary, Wandering

Pull = Callable[[np.ndarray, np.ndarray], None]
"""A backward pass: takes the derivative with respect to some values, and adds the derivatives with respect to the
hyperparameters to a vector of them."""


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """One factor of a product: its family, its columns, and the positions of its hyperparameters in the vector."""

    kernel: Base
    family: type[Base]
    columns: np.ndarray
    places: dict[str, slice]
    constants: dict[str, Any]
    """The hyperparameters that are not trained."""

    @property
    def is_profile(self) -> bool:
        """Whether it has the form v(x) v(z) in one column."""
        return issubclass(self.family, Profile) and len(self.columns) == 1

    @property
    def is_lagged(self) -> bool:
        """Whether it is a function of the distance in the first input, which may be time."""
        return issubclass(self.family, Stationary) and self.of_first

    @property
    def is_wandering(self) -> bool:
        """Whether it has stationary increments in the first input."""
        return issubclass(self.family, Wandering) and self.of_first

    @property
    def of_first(self) -> bool:
        """Whether it acts on the first input alone."""
        return len(self.columns) == 1 and self.columns[0] == 0

    @cached_property
    def identity(self) -> tuple[Any, ...] | None:
        """What tells its values from those of other factors; None if it has hyperparameters that are trained."""
        if self.places:
            return None
        values = tuple((name, None if v is None else v.tobytes()) for name, v in self.constants.items())
        return (self.family, self.columns.tobytes(), values)

    def values(self, numbers: np.ndarray) -> dict[str, Any]:
        """Its hyperparameters by name, one entry for each column."""
        return {name: numbers[place] for name, place in self.places.items()} | self.constants

    def half_variogram(self, numbers: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, Pull]:
        """g of some distances."""
        assert issubclass(self.family, Wandering)
        return self._pulling(self.family.half_variogram(self.values(numbers), distances))

    def from_origin(self, numbers: np.ndarray, X: np.ndarray) -> np.ndarray:
        """The distances of the rows from its origin."""
        assert issubclass(self.family, Wandering)
        return self.family.from_origin(self.values(numbers), X[:, self.columns])

    def profile(self, numbers: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, Pull]:
        """v(x)."""
        assert issubclass(self.family, Profile)
        scalars = {name: v if v is None else v[0] for name, v in self.values(numbers).items()}
        return self._pulling(self.family.profile(scalars, X[:, self.columns[0]]))

    def between(self, numbers: np.ndarray, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Pull]:
        """k(x, z)."""
        return self._pulling(self.family.between(self.values(numbers), X[:, self.columns], Z[:, self.columns]))

    def at(self, numbers: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, Pull]:
        """k(x, x)."""
        return self._pulling(self.family.at(self.values(numbers), X[:, self.columns]))

    def _pulling(self, found: tuple[np.ndarray, Back]) -> tuple[np.ndarray, Pull]:
        values, back = found

        def pull(derivative: np.ndarray, slopes: np.ndarray) -> None:
            by_name = back(derivative)
            for name, place in self.places.items():
                slopes[place] += by_name[name]

        return values, pull


@final
@dataclass(frozen=True, eq=False)
class Term:
    """One product: its profiles, and all its other factors."""

    profiles: tuple[Factor, ...]
    factors: tuple[Factor, ...]

    @property
    def flat(self) -> bool:
        """Whether v is one."""
        return not self.profiles

    @cached_property
    def unlagged(self) -> tuple[Factor, ...]:
        """The factors that are not functions of the distance in the first input."""
        return tuple(factor for factor in self.factors if not factor.is_lagged)

    @cached_property
    def wandering(self) -> Factor | None:
        """The only factor, if it has stationary increments."""
        alone = self.flat and len(self.factors) == 1 and self.factors[0].is_wandering
        return self.factors[0] if alone else None

    def profile(self, numbers: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, Pull]:
        """v(x)."""
        return multiplied([factor.profile(numbers, X) for factor in self.profiles], (len(X),))

    def correlation(self, numbers: np.ndarray, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Pull]:
        """r(x, z)."""
        return multiplied([factor.between(numbers, X, Z) for factor in self.factors], (len(X), len(Z)))

    def beside_lags(
        self, numbers: np.ndarray, X: np.ndarray, kept: dict[Any, np.ndarray]
    ) -> tuple[np.ndarray | None, Pull | None]:
        """The part of r(x, z) that is not a function of the distance, for all pairs of rows; None if there is none.

        `kept` holds the values of factors without hyperparameters that are trained, and gets those that it lacks. If
        all are such, there is no backward pass.
        """
        if not self.unlagged:
            return None, None
        found: list[tuple[np.ndarray, Pull]] = []
        for factor in self.unlagged:
            if factor.identity is None:
                found.append(factor.between(numbers, X, X))
                continue
            if factor.identity not in kept:
                kept[factor.identity] = factor.between(numbers, X, X)[0]
            found.append((kept[factor.identity], lambda dv, slopes: None))
        values, pull = multiplied(found, (len(X), len(X)))
        return values, None if all(factor.identity is not None for factor in self.unlagged) else pull

    def gram(self, numbers: np.ndarray, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Pull]:
        """k(x, z)."""
        R, pull_R = self.correlation(numbers, X, Z)
        if self.flat:
            return R, pull_R
        (v_x, pull_x), (v_z, pull_z) = self.profile(numbers, X), self.profile(numbers, Z)
        V = np.outer(v_x, v_z)

        def pull(dK: np.ndarray, slopes: np.ndarray) -> None:
            pull_R(dK * V, slopes)
            dV = dK * R
            pull_x(dV @ v_z, slopes)
            pull_z(v_x @ dV, slopes)

        return R * V, pull

    def diag(self, numbers: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, Pull]:
        """k(x, x)."""
        v, pull_v = self.profile(numbers, X)
        others = [factor.at(numbers, X) for factor in self.factors if not factor.family.stationary]
        return multiplied([(v**2, lambda dk, slopes: pull_v(2.0 * dk * v, slopes)), *others], (len(X),))


def multiplied(found: Sequence[tuple[np.ndarray, Pull]], shape: tuple[int, ...]) -> tuple[np.ndarray, Pull]:
    """The product of some values, and its backward pass."""
    if not found:
        return np.ones(shape), lambda dv, slopes: None
    if len(found) == 1:
        return found[0]
    values = [value for value, _ in found]

    def pull(dv: np.ndarray, slopes: np.ndarray) -> None:
        for place, (_, pull_one) in enumerate(found):
            others = [value for k, value in enumerate(values) if k != place]
            pull_one(reduce(mul, others, dv), slopes)

    return reduce(mul, values), pull
