"""L-BFGS on a bound: few numbers, smooth, no noise of its own.

The objective is anything with `terms(numbers) -> (terms, derivative)`, `start()`, `limits()` and `typical()`: the exact
bound (exact.py) or the collapsed one (collapsed.py).

L-BFGS begins as if all numbers were alike, and they are not: a period is known to a hundredth where a weight is known
to a factor of two. So it sees each number in parts of its size, and needs not find out by trying.
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

    def typical(self) -> np.ndarray:
        """How far each number may move, roughly, before the bound falls."""
        ...

    def terms(self, numbers: np.ndarray) -> tuple[Any, np.ndarray]:
        """What the bound is made of, `total` being its value, and its derivative."""
        ...


def climb(
    objective: Objective,
    iterations: int,
    tolerance: float,
    window: int = 5,
    callback: Callable[[int, Any], None] | None = None,
) -> tuple[np.ndarray, list[Any]]:
    """The numbers at a local maximum, and the terms of the bound at each step.

    It ends when the last `window` steps gained less than `tolerance` nats together, or after so many iterations.
    """
    whole, limits, sizes = objective.start(), objective.limits(), objective.typical()
    # numbers that cannot move, their limits being equal, are not shown to the optimiser
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
