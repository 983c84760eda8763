"""The scale of the target: a transform (identity, logarithm, square root), then mean zero and standard deviation one.

    z = (t(y) - mean) / sd,     t(y) = y,  log y,  2 (sqrt(y) - 1)      (Box-Cox with 1, 0 and 1/2)

Below a cap c that the user gives, and above a floor f if there is one, growth slows towards the cap:

    t(y) = log (y - f) - log (c - y),     - log (c - y)

Components add up on the scale of t. Evidence decides between transforms. It includes the Jacobian: the density of y is
that of z times dz/dy. All transforms are monotone, so quantiles of z map to quantiles of y.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import expit

from farrier.data.quoting import quoted

LOG_ODDS = {"identity": 0.0, "log": 1.0, "square root": 0.0}
"""Prior log odds against the identity: positive values with a wide range mostly vary in per cent. [nats; by judgement;
with -2 for the square root the errors of 180 yearly learn series differ by less than 1 %]"""
HARD_TO_READ = "square root"
"""The scale that predicts and does not explain: what components add is neither an amount nor a percentage."""
SMALLEST_RATIO = 1.5
"""Largest over smallest value of y below which only the identity is tried. [ratio; by judgement]"""


@final
@dataclass(frozen=True)
class Transform:
    """A monotone function of the target."""

    name: str
    forward: Callable[[np.ndarray], np.ndarray]
    inverse: Callable[[np.ndarray], np.ndarray]
    log_slope: Callable[[np.ndarray], np.ndarray]
    """log dt/dy at y."""
    lowest: float = -np.inf
    """y must lie above this."""

    def __reduce__(self) -> tuple[Callable[[str], "Transform"], tuple[str]]:
        return named, (self.name,)


def _square(z: np.ndarray) -> np.ndarray:
    return np.maximum(0.5 * z + 1.0, 0.0) ** 2


TRANSFORMS = (
    Transform("identity", lambda y: y, lambda z: z, np.zeros_like),
    Transform("log", np.log, lambda z: np.exp(np.minimum(z, 700.0)), lambda y: -np.log(y), 0.0),
    Transform("square root", lambda y: 2.0 * (np.sqrt(y) - 1.0), _square, lambda y: -0.5 * np.log(y), 0.0),
)


NEAREST = 1e-3
"""How near to its cap, or its floor, a value may lie: nearer ones count as that near. [part of the cap's distance from
the floor, or of its size; by judgement]"""
BEGINS = 0.1
"""How far below the rows growth begins where they have reached their floor, or have none. [part of the distance from
the lowest value to the cap; by judgement]"""
_BETWEEN, _BELOW = re.compile(r"logit from (\S+) to (\S+)"), re.compile(r"logarithm of the distance to (\S+)")


def towards(cap: float, floor: float | None, y: np.ndarray) -> tuple[Transform, ...]:
    """The transforms on which what grows slows towards a cap; none if y has reached it."""
    low, high = float(y.min()), float(y.max())
    if cap - high <= NEAREST * (abs(cap) if floor is None else cap - floor):
        return ()
    if floor is None or low - floor <= NEAREST * (cap - floor):
        # growth begins somewhere below the rows
        floor = low - BEGINS * (cap - low)
    return _between(floor, cap), _below(cap)


def _below(cap: float) -> Transform:
    least = NEAREST * max(abs(cap), np.finfo(float).tiny)

    def left(y: np.ndarray) -> np.ndarray:
        return np.log(np.maximum(cap - y, least))

    return Transform(
        f"logarithm of the distance to {cap:.17g}",
        lambda y: -left(y),
        lambda z: cap - np.exp(np.minimum(-z, 700.0)),
        lambda y: -left(y),
    )


def _between(floor: float, cap: float) -> Transform:
    wide = cap - floor

    def ends(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.log(np.maximum(y - floor, NEAREST * wide)), np.log(np.maximum(cap - y, NEAREST * wide))

    def forward(y: np.ndarray) -> np.ndarray:
        above, below = ends(y)
        return above - below

    def log_slope(y: np.ndarray) -> np.ndarray:
        above, below = ends(y)
        return np.log(wide) - above - below

    name = f"logit from {floor:.17g} to {cap:.17g}"
    return Transform(name, forward, lambda z: floor + wide * expit(z), log_slope, floor)


def named(name: str) -> Transform:
    """The transform of that name."""
    if found := _BETWEEN.fullmatch(name):
        return _between(float(found[1]), float(found[2]))
    if found := _BELOW.fullmatch(name):
        return _below(float(found[1]))
    found = next((transform for transform in TRANSFORMS if transform.name == name), None)
    if found is None:
        names = ", ".join(transform.name for transform in TRANSFORMS)
        raise ValueError(f"transform={quoted(name)}: there are auto, {names}.")
    return found


def worth_trying(y: np.ndarray) -> tuple[Transform, ...]:
    """The transforms that are possible for y: only the identity if y is not positive or its range is small.

    Over a small range all transforms are nearly linear.
    """
    positive = y.min() > 0 and y.max() > SMALLEST_RATIO * y.min()
    return TRANSFORMS if positive else TRANSFORMS[:1]


@final
@dataclass(frozen=True)
class TargetScale:
    """From y in the user's units to z on the scale of the model, and back."""

    transform: Transform = TRANSFORMS[0]
    mean: float = 0.0
    """Mean of t(y)."""
    sd: float = 1.0
    """Standard deviation of t(y)."""

    @classmethod
    def of(cls, transform: Transform, y: np.ndarray) -> "TargetScale":
        """The scale on which t(y) has mean zero and standard deviation one."""
        t = transform.forward(y)
        return cls(transform, float(t.mean()), float(t.std()))

    def forward(self, y: np.ndarray) -> np.ndarray:
        """z of y."""
        return (self.transform.forward(y) - self.mean) / self.sd

    @property
    def least(self) -> float:
        """The smallest y that has a z, for a logarithm or a root the smallest positive number."""
        return self.transform.lowest if self.transform.lowest == -np.inf else np.finfo(float).tiny

    def reached(self, y: np.ndarray) -> np.ndarray:
        """z of y; minus infinity where y is below what the scale can reach."""
        possible = y >= self.least
        return np.where(possible, self.forward(np.where(possible, y, 1.0)), -np.inf)

    def inverse(self, z: np.ndarray) -> np.ndarray:
        """y of z."""
        return self.transform.inverse(z * self.sd + self.mean)

    def log_slopes(self, y: np.ndarray) -> np.ndarray:
        """log dz/dy at each y: the log density of y is that of z plus this."""
        return self.transform.log_slope(y) - np.log(self.sd)

    def log_jacobian(self, y: np.ndarray) -> float:
        """The sum of `log_slopes`."""
        return float(self.transform.log_slope(y).sum()) - len(y) * float(np.log(self.sd))
