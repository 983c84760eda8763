"""L-BFGS for a smooth, deterministic bound: the exact one (exact.py) or the collapsed one (collapsed.py).

Each parameter is divided by its typical scale. Otherwise L-BFGS would start with the same step in all directions,
although a period is determined to one per cent and a weight only to a factor of two.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy.optimize import OptimizeResult, minimize

MEMORY = 20
"""Pairs of steps and gradient changes from which L-BFGS estimates the curvature. [pairs; by judgement]"""


class Objective(Protocol):
    """A bound as a function of a vector of unbounded parameters."""

    def start(self) -> np.ndarray:
        """The parameters at the start."""
        ...

    def limits(self) -> np.ndarray:
        """The lowest and the highest value of each parameter, (P, 2)."""
        ...

    def typical(self) -> np.ndarray:
        """The typical scale of each parameter: about how far it moves before the bound falls by one."""
        ...

    def terms(self, numbers: np.ndarray) -> tuple[Any, np.ndarray]:
        """The terms of the bound, with its value in `total`, and its derivative."""
        ...


def climb(
    objective: Objective,
    iterations: int,
    tolerance: float,
    window: int = 5,
    callback: Callable[[int, Any], None] | None = None,
) -> tuple[np.ndarray, list[Any]]:
    """The parameters at a local maximum, and the terms of the bound after each step.

    Stops when the last `window` steps together gained less than `tolerance` nats, or after `iterations` steps.
    """
    whole, limits, sizes = objective.start(), objective.limits(), objective.typical()
    # parameters whose limits are equal are fixed, and not part of the optimisation
    moving = np.flatnonzero(limits[:, 1] > limits[:, 0])
    low, high = limits[moving].T
    size = sizes[moving]
    latest: list[Any] = []
    reached, history = whole, []

    def full(scaled: np.ndarray) -> np.ndarray:
        numbers = whole.copy()
        numbers[moving] = np.clip(scaled * size, low, high)
        return numbers

    def loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        terms, derivative = objective.terms(full(scaled))
        latest[:] = [terms]
        if not np.isfinite(terms.total):
            return 1e10, np.zeros_like(scaled)
        return -terms.total, -derivative[moving] * size

    def after(intermediate_result: OptimizeResult) -> None:
        nonlocal reached
        reached = full(intermediate_result.x)
        history.append(latest[0])
        if callback is not None:
            callback(len(history), latest[0])
        if len(history) > window and history[-1].total - history[-1 - window].total < tolerance:
            raise StopIteration

    minimize(
        loss,
        whole[moving] / size,
        jac=True,
        method="L-BFGS-B",
        bounds=np.stack([low / size, high / size], axis=1),
        callback=after,
        options={"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": MEMORY, "ftol": 1e-12},
    )
    return reached, history or [objective.terms(whole)[0]]
