"""Functions of the distance, evaluated for all kernels of one family in one call.

In a product v(x) v(z) r(x - z) of one input, only r needs exponentials and cosines. For a few hundred distances the
overhead of a numpy call exceeds its arithmetic, so a dozen kernels of one family share one call.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from farrier.evaluation.factors import Factor, Pull
from farrier.kernels.forms import Stationary


@final
@dataclass(frozen=True, eq=False)
class Group:
    """Factors of one family, at most one of each product."""

    family: type[Stationary]
    products: np.ndarray
    places: dict[str, np.ndarray]
    """The positions of each factor's hyperparameters in the vector of all, by name."""
    constants: dict[str, Any]
    """The hyperparameters that are not trained, (F, 1)."""

    def __call__(self, numbers: np.ndarray, lags: np.ndarray) -> tuple[np.ndarray, Pull]:
        """r of each distance, (F, L)."""
        trained = {name: numbers[at][:, None] for name, at in self.places.items()}
        R, back = self.family.of_lags(trained | self.constants, lags)
        # a family without hyperparameters returns a single row
        if len(R) < len(self.products):
            R = np.broadcast_to(R, (len(self.products), len(lags)))

        def pull(dR: np.ndarray, slopes: np.ndarray) -> None:
            by_name = back(dR)
            for name, at in self.places.items():
                slopes[at] += by_name[name]

        return R, pull


@final
@dataclass(frozen=True, eq=False)
class Lagged:
    """r of m products: groups of factors; a product may have factors in any number of groups."""

    size: int
    groups: tuple[Group, ...]

    @classmethod
    def of(cls, products: Sequence[Sequence[Factor]]) -> "Lagged":
        """From the stationary factors of each product."""
        members: dict[tuple[int, str, int], list[tuple[int, Factor]]] = {}
        for i, factors in enumerate(products):
            for factor in factors:
                repeat = 0
                while (key := (factor.family.rank, factor.family.__name__, repeat)) in members and (
                    members[key][-1][0] == i
                ):
                    repeat += 1
                members.setdefault(key, []).append((i, factor))
        groups = []
        for key in sorted(members, key=lambda key: (key[2], key[0], key[1])):
            owners, factors = zip(*members[key], strict=True)
            places = {name: np.array([f.places[name].start for f in factors]) for name in factors[0].places}
            constants = {name: _stacked([f.constants[name] for f in factors]) for name in factors[0].constants}
            family = factors[0].family
            assert issubclass(family, Stationary)
            groups.append(Group(family, np.array(owners), places, constants))
        return cls(len(products), tuple(groups))

    @cached_property
    def _shared(self) -> list[list[tuple[int, np.ndarray, np.ndarray]]]:
        """For each group, the other groups with factors of the same products, and the indices of these in both."""
        found = []
        for group in self.groups:
            both = [np.intersect1d(group.products, other.products, return_indices=True)[1:] for other in self.groups]
            found.append([(i, *rows) for i, rows in enumerate(both) if self.groups[i] is not group and len(rows[0])])
        return found

    def __call__(self, numbers: np.ndarray, lags: np.ndarray) -> tuple[np.ndarray, Pull]:
        """r_i of each distance, (m, L)."""
        R = np.ones((self.size, len(lags)))
        made = [group(numbers, lags) for group in self.groups]
        for group, (values, _) in zip(self.groups, made, strict=True):
            R[group.products] *= values

        def pull(dR: np.ndarray, slopes: np.ndarray) -> None:
            for group, (_, pull_one), shared in zip(self.groups, made, self._shared, strict=True):
                given = dR[group.products]
                for other, here, there in shared:
                    given[here] *= made[other][0][there]
                pull_one(given, slopes)

        return R, pull


def _stacked(constants: Sequence[Any]) -> Any:
    """One hyperparameter of several factors, (F, 1); None if it is not set."""
    return None if any(one is None for one in constants) else np.stack([one[:1] for one in constants])
