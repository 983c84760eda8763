"""Empty cells of a number: is there an effect of being empty, or only the effect of the number, averaged?

An empty cell counts as the mean of the others, and a code, the flag, says where (data/input_columns.py). If cells are
empty by chance, rows with them lie on average at the mean of f(x) over all x, and not at f(mean of x). The flag then
has an effect, though being empty says nothing of y. So what counts is

    l = (effect of the flag) - (average of f over rows that are not empty, minus f where cells are empty)

a linear function of two components, with a normal posterior in closed form. Its average over a few rows at unknown x
varies by the variance of f over their number.
"""

from collections.abc import Sequence

import numpy as np

from farrier.kernels.algebra import Kernel


def flags_of(X: np.ndarray, coded: Sequence[int]) -> dict[int, int]:
    """The codes that say where a number is empty, each with its number, for standardised rows.

    The levels of a flag are 0 and 1, and where it is 1 the number is at its mean.
    """
    found, rounding = {}, float(np.sqrt(np.finfo(float).eps))
    for flag in coded:
        empty = X[:, flag] == 1.0
        if not empty.any() or not np.isin(X[:, flag], (0.0, 1.0)).all():
            continue
        numbers = [d for d in range(X.shape[1]) if d not in coded and np.abs(X[empty, d]).max() < rounding]
        if numbers and np.ptp(X[:, numbers[0]]) > rounding:
            found[flag] = numbers[0]
    return found


def acts_on(kernel: Kernel, inputs: int) -> set[int]:
    """The inputs of a product."""
    return {int(d) for factor in kernel.products()[0] for d in factor.positions(inputs)}


def beyond_average(flag: np.ndarray, effect: np.ndarray, C: np.ndarray, y: np.ndarray, empty: np.ndarray) -> float:
    """How much speaks for an effect of being empty: half of the squared mean of l over its variance. [nats]

    `flag` and `effect` are the covariances of the rows that belong to the flag and to the number alone, C is that of y.
    """
    known, at = np.flatnonzero(~empty), int(np.flatnonzero(empty)[0])
    # row weights of l, for the flag and for the effect of the number
    apart, average = np.zeros((2, len(y)))
    apart[at], apart[known[0]] = 1.0, -1.0
    average[at], average[known] = 1.0, -1.0 / len(known)
    with_y = flag @ apart + effect @ average
    solved = np.linalg.solve(C, np.column_stack([y, with_y]))
    mean = float(with_y @ solved[:, 0])
    variance = float(apart @ flag @ apart + average @ effect @ average - with_y @ solved[:, 1])
    curve = effect @ solved[:, 0]
    return 0.5 * mean**2 / (max(variance, 0.0) + float(curve[known].var()) / int(empty.sum()))
