"""What the kernels of one input make of a distance, those of one family together.

Of a product v(x) v(z) r(x - z) only r is exponentials and cosines. There are a few hundred distances, for which a call
of numpy costs more than the work it does, so that a pool of a dozen kernels takes a few calls, not dozens.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from farrier.evaluation.correlations import FAMILIES, Numbers, Pull, Slopes, by_mixture, repeating
from farrier.evaluation.slots import REPEATING, REPEATS, SMOOTH


@dataclass(frozen=True)
class Smooths:
    """The smooth factors of one family in some kernels."""

    family: str
    kernels: np.ndarray

    def __call__(self, numbers: Numbers, lags: np.ndarray) -> tuple[np.ndarray, Pull]:
        lengths, mixture = numbers["lengthscale"][self.kernels, :1], numbers["mixture"][self.kernels, None]
        q = (lags / lengths) ** 2
        R, by_q = FAMILIES[self.family](q, mixture)

        def pull(dR: np.ndarray, slopes: Slopes) -> None:
            slopes["lengthscale"][self.kernels, 0] += -2.0 * np.sum(dR * by_q * q, axis=1) / lengths[:, 0]
            if self.family == "RQ":
                slopes["mixture"][self.kernels] += np.sum(dR * by_mixture(q, mixture, R), axis=1)

        return R, pull


@dataclass(frozen=True)
class Repeats:
    """The periodic factors of one kind in one slot of some kernels."""

    slot: int
    centred: bool
    kernels: np.ndarray

    def __call__(self, numbers: Numbers, lags: np.ndarray) -> tuple[np.ndarray, Pull]:
        period, shape = (numbers[name][self.kernels, self.slot, None] for name in ("period", "shape"))
        angle = (2.0 * np.pi / period) * lags
        R, back = repeating(angle, shape, self.centred)

        def pull(dR: np.ndarray, slopes: Slopes) -> None:
            by_angle, by_shape = back(dR)
            slopes["period"][self.kernels, self.slot] -= np.sum(by_angle * angle, axis=1) / period[:, 0]
            slopes["shape"][self.kernels, self.slot] += by_shape.sum(axis=1)

        return R, pull


@dataclass(frozen=True)
class Lagged:
    """r of all kernels of a pool: some groups of factors, of which a kernel has none, one or several."""

    size: int
    groups: tuple[Smooths | Repeats, ...]

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> "Lagged":
        """Of the fields of a SlotPool."""
        smooth = [Smooths(SMOOTH[code - 1].symbol, kernels) for code, kernels in _by_code(arrays["smooth"])]
        repeats = [
            Repeats(slot, REPEATING[code - 1].symbol == "Per0", kernels)
            for slot in range(REPEATS)
            for code, kernels in _by_code(arrays["repeat"][:, slot])
        ]
        return cls(len(arrays["smooth"]), (*smooth, *repeats))

    @cached_property
    def _shared(self) -> list[list[tuple[int, np.ndarray, np.ndarray]]]:
        """For each group the others that have factors of its kernels, and where these kernels stand in both."""
        found = []
        for group in self.groups:
            both = [np.intersect1d(group.kernels, other.kernels, return_indices=True)[1:] for other in self.groups]
            found.append([(i, *rows) for i, rows in enumerate(both) if self.groups[i] is not group and len(rows[0])])
        return found

    def __call__(self, numbers: Numbers, lags: np.ndarray) -> tuple[np.ndarray, Pull]:
        """r_i of each distance, (m, L)."""
        R = np.ones((self.size, len(lags)))
        made = [group(numbers, lags) for group in self.groups]
        for group, (values, _) in zip(self.groups, made, strict=True):
            R[group.kernels] *= values

        def pull(dR: np.ndarray, slopes: Slopes) -> None:
            for group, (_, pull_one), shared in zip(self.groups, made, self._shared, strict=True):
                given = dR[group.kernels]
                for other, here, there in shared:
                    given[here] *= made[other][0][there]
                pull_one(given, slopes)

        return R, pull


def _by_code(codes: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The kernels of each family."""
    for code in np.unique(codes[codes > 0]):
        yield int(code), np.flatnonzero(codes == code)
