"""The effects of regressors: the further inputs of a series, whose first input is time.

Each regressor has one effect, so that its size can be told: a line, or a smooth curve in its place where a number of
more than two values needs one.
"""

from collections.abc import Sequence

import numpy as np

from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import Linear, SquaredExponential
from farrier.search.starting_values import INPUT_LENGTHSCALES


def acts_on(kernel: Kernel) -> tuple[int, ...]:
    """The regressors that a product acts on; none for a component over time."""
    columns = {int(d) for factor in kernel.products()[0] for d in factor.dims or ()}
    return tuple(sorted(columns - {0}))


def lines(inputs: int, found: Sequence[Kernel]) -> list[Kernel]:
    """A line for each regressor without an effect of its own among `found`."""
    there = {acts_on(kernel) for kernel in found}
    return [Linear(0.0, dims=(d,)) for d in range(1, inputs) if (d,) not in there]


def curves_for(kernel: Kernel, X: np.ndarray) -> list[Kernel]:
    """Curves in place of the line of a regressor of more than two values; nothing for another kernel."""
    (first, *more), on = kernel.products()[0], acts_on(kernel)
    if more or not isinstance(first, Linear) or len(on) != 1 or len(np.unique(X[:, on[0]])) <= 2:
        return []
    return [SquaredExponential(length, dims=on) for length in INPUT_LENGTHSCALES]


def noise_beside(X: np.ndarray, y: np.ndarray) -> float:
    """About the noise variance of a series with regressors, or more: half the mean square of what lines of the
    regressors leave of the differences of neighbours, at most the variance of y.

    A fit that starts with far less noise takes the effects of regressors for larger than they are.
    """
    order = np.argsort(X[:, 0], kind="stable")
    changes, steps = np.diff(y[order]), np.diff(X[order, 1:], axis=0)
    left = changes - steps @ np.linalg.lstsq(steps, changes, rcond=None)[0]
    return float(min(0.5 * np.mean(left**2), np.var(y)))


def simpler(kernel: Kernel) -> list[Kernel]:
    """A line in place of the curve of a regressor; nothing for another kernel."""
    (first, *more), on = kernel.products()[0], acts_on(kernel)
    return [Linear(0.0, dims=on)] if isinstance(first, SquaredExponential) and not more and len(on) == 1 else []
