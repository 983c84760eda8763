"""Given kernels of a table some of whose inputs are codes of categories: they act on the numbers."""

from collections.abc import Sequence
from functools import reduce
from operator import add

from farrier.kernels.algebra import Kernel, product_of


def on_numbers(kernel: Kernel, numbers: Sequence[int]) -> Kernel:
    """The kernel with its factors of all inputs restricted to the numbers."""
    terms = [
        product_of([f.replace(dims=tuple(numbers)) if f.dims is None else f for f in factors])
        for factors in kernel.products()
    ]
    return reduce(add, terms)


def moved(kernel: Kernel, numbers: Sequence[int]) -> Kernel:
    """A product of a table of the numbers alone, moved to their columns."""
    (factors,) = kernel.products()
    return product_of([f.replace(dims=tuple(numbers[d] for d in f.positions(len(numbers)))) for f in factors])
