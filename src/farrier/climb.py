"""L-BFGS on a bound: few numbers, smooth, no noise of its own.

The objective is anything with `terms(numbers) -> (terms, derivative)`, `start()` and `limits()`: the exact bound
(exact.py) or the collapsed one (collapsed.py).
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy.optimize import OptimizeResult, minimize

MEMORY = 20
"""Pairs of steps and gradients from which L-BFGS knows the curvature."""


class Objective(Protocol):
    """A bound of a vector of unbounded numbers."""

    def start(self) -> np.ndarray:
        """Where to begin."""
        ...

    def limits(self) -> np.ndarray:
        """The least and the largest value of each number."""
        ...

    def terms(self, numbers: np.ndarray) -> tuple[Any, np.ndarray]:
        """What the bound is made of, `total` being its value, and its derivative."""
        ...


def climb(
    objective: Objective,
    iterations: int,
    tolerance: float,
    window: int = 10,
    callback: Callable[[int, Any], None] | None = None,
) -> tuple[np.ndarray, list[Any]]:
    """The numbers at a local maximum, and the terms of the bound at each step.

    It ends when the last `window` steps gained less than `tolerance` nats together, or after so many iterations.
    """
    told: list[Any] = []
    latest: list[Any] = []
    whole, limits = objective.start(), objective.limits()
    # numbers that cannot move (those of empty slots) are none of the optimiser's business
    moving = np.flatnonzero(limits[:, 1] > limits[:, 0])

    def full(some: np.ndarray) -> np.ndarray:
        numbers = whole.copy()
        numbers[moving] = some
        return numbers

    def loss(some: np.ndarray) -> tuple[float, np.ndarray]:
        terms, derivative = objective.terms(full(some))
        latest[:] = [terms]
        if not np.isfinite(terms.total):
            return 1e10, np.zeros_like(some)
        return -terms.total, -derivative[moving]

    def after(intermediate_result: OptimizeResult) -> None:
        told.append(latest[0])
        if callback is not None:
            callback(len(told), latest[0])
        if len(told) > window and told[-1].total - told[-1 - window].total < tolerance:
            raise StopIteration

    result = minimize(
        loss,
        whole[moving],
        jac=True,
        method="L-BFGS-B",
        bounds=limits[moving],
        callback=after,
        options={"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": MEMORY, "ftol": 1e-12},
    )
    numbers = full(result.x)
    return numbers, [*told, objective.terms(numbers)[0]]
