"""The normal form of a kernel: a simplified sum of products of base kernels, equal to it as a function.

- Products are distributed over sums.
- SE * SE is one SE with 1 / l^2 = 1 / l1^2 + 1 / l2^2, over the union of their columns.
- A constant factor is dropped.
- White noise times a stationary kernel of the same columns is white noise.
- Factors are sorted, so that equal structures have equal formulas.
"""

from collections.abc import Sequence

import numpy as np

from farrier.kernels.algebra import Base, Kernel, Sum, product_of
from farrier.kernels.registry import Constant, SquaredExponential, White


def normal_form(kernel: Kernel) -> Kernel:
    """The kernel as a simplified sum of products: the same function, one term for each component."""
    terms = tuple(product_of(simplify(factors)) for factors in kernel.products())
    return terms[0] if len(terms) == 1 else Sum(terms)


def simplify(factors: Sequence[Base]) -> tuple[Base, ...]:
    """The factors of one product, simplified by the rules above."""
    kept = [factor for factor in factors if not isinstance(factor, Constant)]
    kept = _absorb_into_noise(kept)
    kept = _merge_smooth(kept)
    kept.sort(key=lambda factor: (factor.rank, [str(d) for d in factor.dims or ()]))
    return tuple(kept) or (Constant(),)


def _absorb_into_noise(factors: list[Base]) -> list[Base]:
    for noise in [factor for factor in factors if isinstance(factor, White)]:
        if not any(factor is noise for factor in factors):
            continue  # white noise on more columns has absorbed it
        # white noise is zero unless all its columns agree, and then a stationary kernel of some of them is one
        others = [factor for factor in factors if factor is not noise]
        factors = [noise] + [other for other in others if not (other.stationary and _within(other, noise))]
    return factors


def _within(inner: Base, outer: Base) -> bool:
    return outer.dims is None or (inner.dims is not None and set(inner.dims) <= set(outer.dims))


def _merge_smooth(factors: list[Base]) -> list[Base]:
    merged: list[Base] = []
    for factor in factors:
        place = next((i for i, other in enumerate(merged) if _mergeable(factor, other)), None)
        if place is None:
            merged.append(factor)
        else:
            merged[place] = _merged(merged[place], factor)
    return merged


def _mergeable(one: Base, other: Base) -> bool:
    smooth = isinstance(one, SquaredExponential) and isinstance(other, SquaredExponential)
    return smooth and (one.dims is None) == (other.dims is None)


def _merged(one: Base, other: Base) -> SquaredExponential:
    """exp(-r1^2 / 2) exp(-r2^2 / 2): the precisions 1 / l^2 add up, column by column."""
    if one.dims is None or other.dims is None:
        precision = sum(np.asarray(kernel.parameters()["lengthscale"]) ** -2.0 for kernel in (one, other))
        return SquaredExponential(precision**-0.5)
    columns = tuple(sorted(set(one.dims + other.dims), key=lambda d: (isinstance(d, str), d)))
    precisions = dict.fromkeys(columns, 0.0)
    for kernel in (one, other):
        lengths = np.broadcast_to(np.asarray(kernel.parameters()["lengthscale"]), (len(kernel.dims or ()),))
        for column, length in zip(kernel.dims or (), lengths, strict=True):
            precisions[column] += length**-2.0
    lengthscale = np.array([precisions[column] for column in columns]) ** -0.5
    return SquaredExponential(lengthscale if len(columns) > 1 else lengthscale[0], columns)
