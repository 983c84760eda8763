"""Scales for the target: as it is, its logarithm, its square root. Components add up on the chosen scale.

    z = y,   z = log y,   z = 2 (sqrt(y) - 1)   (Box-Cox with 1, 0 and 1/2)

Evidence decides, with the Jacobian: the density of y is that of z times dz/dy. Quantiles are carried back exactly,
since all three are monotone.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Transform:
    """A monotone scale for the target."""

    name: str
    forward: Callable[[np.ndarray], np.ndarray]
    inverse: Callable[[np.ndarray], np.ndarray]
    log_slope: Callable[[np.ndarray], np.ndarray]
    """log dz/dy at y."""
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


def named(name: str) -> Transform:
    """The transform of that name."""
    found = next((transform for transform in TRANSFORMS if transform.name == name), None)
    if found is None:
        names = ", ".join(transform.name for transform in TRANSFORMS)
        raise ValueError(f"transform={name!r}: there are auto, {names}.")
    return found


def worth_trying(y: np.ndarray, smallest_ratio: float) -> tuple[Transform, ...]:
    """The transforms that y allows and that could make a difference: where it varies little, all are alike."""
    positive = y.min() > 0 and y.max() > smallest_ratio * y.min()
    return TRANSFORMS if positive else TRANSFORMS[:1]
