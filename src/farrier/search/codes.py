"""Candidates of a table in which some inputs are codes of categories.

Only `Category` acts on a code: each category alone, a category times a line or a smooth kernel of a number (an effect
that differs between the levels), and pairs of categories that are both found. The candidates of the numbers are those
of any table (candidates.py): they are made as if there were no codes, and then moved to the columns of the numbers.

Empty cells of a number: is there an effect of being empty, or only the effect of the number, averaged?

An empty cell counts as the mean of the others, and a code, the flag, says where (data/input_columns.py). If cells are
empty by chance, rows with them lie on average at the mean of f(x) over all x, and not at f(mean of x). The flag then
has an effect, though being empty says nothing of y. So what counts is

    l = (effect of the flag) - (average of f over rows that are not empty, minus f where cells are empty)

a linear function of two components, with a normal posterior in closed form. Its average over a few rows at unknown x
varies by the variance of f over their number.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import final

import numpy as np

from farrier.kernels.algebra import Kernel, product_of
from farrier.kernels.registry import Category, Linear, SquaredExponential
from farrier.search import candidates
from farrier.search.candidates import PAIRED_INPUTS
from farrier.search.starting_values import INPUT_LENGTHSCALES, distinct


@final
@dataclass(frozen=True)
class Codes:
    """Which of the inputs of a table are codes."""

    coded: tuple[int, ...]
    inputs: int

    @property
    def numbers(self) -> tuple[int, ...]:
        """The inputs that are not codes."""
        return tuple(d for d in range(self.inputs) if d not in self.coded)

    def of_numbers(self, kernels: Sequence[Kernel]) -> list[Kernel]:
        """The products that act on numbers alone, as products of a table without codes."""
        places = {d: k for k, d in enumerate(self.numbers)}
        products = [kernel.products()[0] for kernel in kernels]
        alone = [factors for factors in products if all(set(f.positions(self.inputs)) <= set(places) for f in factors)]
        return [
            product_of([f.replace(dims=tuple(places[d] for d in f.positions(self.inputs))) for f in factors])
            for factors in alone
        ]

    def on_numbers(self, kernel: Kernel) -> Kernel:
        """The kernel with its factors of all inputs restricted to the numbers."""
        if not self.coded:
            return kernel
        terms = [
            product_of([f.replace(dims=self.numbers) if f.dims is None else f for f in factors])
            for factors in kernel.products()
        ]
        return reduce(add, terms)

    def in_table(self, kernels: Sequence[Kernel]) -> list[Kernel]:
        """Products of a table without codes, moved to the columns of the numbers."""
        if not self.coded:
            return list(kernels)
        numbers = self.numbers
        return [
            product_of([f.replace(dims=tuple(numbers[d] for d in f.positions(len(numbers)))) for f in factors])
            for factors in (kernel.products()[0] for kernel in kernels)
        ]


def table(
    inputs: int,
    coded: tuple[int, ...],
    found: Sequence[Kernel],
    useful: Sequence[int],
    numbers_of: Callable[[Sequence[Kernel]], list[Kernel]] | None = None,
    flags: Collection[int] = (),
) -> list[Kernel]:
    """Candidates for an additional component; `useful` are the inputs by importance, most important first.

    `flags` are codes that say where the cells of a number are empty. In such rows y varies more, since an effect is
    not known there; a product of a flag and any other kernel would take that for an interaction.

    `numbers_of` gives the candidates of a table of the numbers alone, from those of its components that are found.
    """
    if not coded:
        return candidates.table(inputs, found, useful) if numbers_of is None else numbers_of(found)
    codes = Codes(coded, inputs)
    numbers = codes.numbers
    useful = [d for d in useful if d in numbers]
    fresh: list[Kernel] = [Category(dims=(c,)) for c in coded]
    if numbers:
        places = [numbers.index(d) for d in useful]
        others = codes.of_numbers(found)
        made = candidates.table(len(numbers), others, places) if numbers_of is None else numbers_of(others)
        fresh += codes.in_table(made)
    there = {d for kernel in found for factor in kernel.products()[0] for d in factor.positions(inputs)}
    levels = [c for c in coded if c not in flags]
    # products of inputs that are found come first
    fresh += [*_crossed(levels, there), *_differing(levels, there, useful)][:40]
    return distinct(fresh, found)


def ordinary_table(
    inputs: int,
    coded: tuple[int, ...],
    found: Sequence[Kernel],
    numbers_of: Callable[[Sequence[Kernel]], list[Kernel]] | None = None,
) -> list[Kernel]:
    """The ordinary candidates: those of the numbers, for which see `table`, and each category alone."""
    if not coded:
        return candidates.ordinary_table(inputs, found) if numbers_of is None else numbers_of(found)
    codes = Codes(coded, inputs)
    kernels: list[Kernel] = [Category(dims=(c,)) for c in coded]
    if codes.numbers:
        others, count = codes.of_numbers(found), len(codes.numbers)
        made = candidates.ordinary_table(count, others) if numbers_of is None else numbers_of(others)
        kernels = [*codes.in_table(made), *kernels]
    return distinct(kernels, found)


def _crossed(coded: Sequence[int], there: set[int]) -> list[Kernel]:
    """Pairs of categories that are both found."""
    both = [c for c in coded if c in there]
    return [Category(dims=(c,)) * Category(dims=(e,)) for c in both for e in both if c < e]


def _differing(coded: Sequence[int], there: set[int], useful: Sequence[int]) -> list[Kernel]:
    """Effects of a number that differ between the levels of a category; those of inputs that are found come first."""
    pairs = [(c, d) for d in useful[:PAIRED_INPUTS] for c in coded]
    pairs.sort(key=lambda pair: -len(there & set(pair)))
    kernels: list[Kernel] = []
    for c, d in pairs:
        lengths = INPUT_LENGTHSCALES[: len(there & {c, d})]
        smooth = (SquaredExponential(length, dims=(d,)) for length in lengths)
        kernels += [Category(dims=(c,)) * kernel for kernel in (Linear(0.0, dims=(d,)), *smooth)]
    return kernels


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
