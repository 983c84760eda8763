"""Products of kernels on standardised inputs: their values, derivatives, and hyperparameters as one vector.

The search evaluates thousands of different products, each a few times, so that compiling them would not pay. Values and
derivatives are numpy functions written by hand (kernels/). `numbers` is the vector of the hyperparameters of all
products, product by product.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from farrier.evaluation.factors import Factor, Term
from farrier.evaluation.lagged import Lagged
from farrier.kernels.algebra import Base, Kernel, product_of
from farrier.kernels.normal import simplify
from farrier.kernels.parameters import POSITIVE, Mark, marks, trained


class Number(NamedTuple):
    """One entry of the vector of hyperparameters: which product, factor and parameter it belongs to."""

    product: int
    factor: int
    name: str
    mark: Mark


@final
@dataclass(frozen=True, eq=False)
class Products:
    """m products of `inputs` columns, in normal form and in the form that is fitted. Build it with `of`."""

    kernels: tuple[tuple[Base, ...], ...]
    """The factors of each product; a constant has none."""
    inputs: int

    @classmethod
    def of(cls, kernels: Sequence[Kernel], inputs: int) -> "Products":
        """The products of some kernels of standardised inputs; a sum gives one product for each term."""
        products = [simplify(factors) for kernel in kernels for factors in kernel.products()]
        return cls(tuple(_for_fitting(factors, inputs) for factors in products), inputs)

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, i: int) -> Kernel:
        if not -len(self) <= i < len(self):
            raise IndexError(f"There are {len(self)} products, got index {i}.")
        factors = [factor.after_fitting() for factor in self.kernels[i]]
        return product_of(factors or simplify(()))

    def __iter__(self) -> Iterator[Kernel]:
        return (self[i] for i in range(len(self)))

    def __str__(self) -> str:
        return "\n".join(f"{i:3d}  {kernel}" for i, kernel in enumerate(self))

    @cached_property
    def layout(self) -> tuple[Number, ...]:
        """The meaning of each entry of the vector of hyperparameters."""
        return tuple(
            Number(i, j, name, mark)
            for i, factors in enumerate(self.kernels)
            for j, factor in enumerate(factors)
            for name, mark in trained(type(factor)).items()
            for _ in range(1 if mark.shared else _width(factor, self.inputs))
        )

    @cached_property
    def numbers(self) -> np.ndarray:
        """The vector of hyperparameters."""
        return np.concatenate(
            [np.zeros(0)]
            + [
                np.ravel(getattr(factor, name))
                for factors in self.kernels
                for factor in factors
                for name in trained(type(factor))
            ]
        )

    @cached_property
    def positive(self) -> np.ndarray:
        """Which hyperparameters are positive, and hence trained as logarithms."""
        return np.array([number.mark.constraint is POSITIVE for number in self.layout], bool)

    @cached_property
    def unbounded(self) -> np.ndarray:
        """The hyperparameters on the unbounded scale, on which they are trained."""
        return np.where(self.positive, np.log(np.where(self.positive, self.numbers, 1.0)), self.numbers)

    def with_unbounded(self, u: np.ndarray) -> "Products":
        """The same products with other hyperparameters, given on the unbounded scale."""
        return self.with_numbers(np.where(self.positive, np.exp(np.where(self.positive, u, 0.0)), u))

    def with_numbers(self, numbers: np.ndarray) -> "Products":
        """The same products with other hyperparameters."""
        if numbers.shape != self.numbers.shape:
            raise ValueError(f"{numbers.shape} hyperparameters for products that have {self.numbers.shape}.")
        return Products(
            tuple(
                tuple(_with_numbers(factor.kernel, numbers, factor.places) for factor in factors)
                for factors in self.factors
            ),
            self.inputs,
        )

    @cached_property
    def factors(self) -> tuple[tuple[Factor, ...], ...]:
        """All factors, with the positions of their hyperparameters in the vector."""
        found, first = [], 0
        for factors in self.kernels:
            made = []
            for factor in factors:
                places = {}
                for name in trained(type(factor)):
                    size = np.size(getattr(factor, name))
                    places[name] = slice(first, first + size)
                    first += size
                columns = np.arange(self.inputs) if factor.dims is None else np.asarray(factor.dims, int)
                constants = {
                    name: None if getattr(factor, name) is None else factor.entries(name, len(columns))
                    for name in marks(type(factor))
                    if name not in places
                }
                made.append(Factor(factor, type(factor), columns, places, constants))
            found.append(tuple(made))
        return tuple(found)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Each product, ready for evaluation."""
        return tuple(
            Term(tuple(f for f in factors if f.is_profile), tuple(f for f in factors if not f.is_profile))
            for factors in self.factors
        )

    @cached_property
    def lagged(self) -> Lagged:
        """All factors that are functions of the distance in the first input."""
        return Lagged.of([[f for f in term.factors if f.is_lagged] for term in self.terms])

    @cached_property
    def on_lags(self) -> np.ndarray:
        """Which products are functions of the distance in the first input alone."""
        return np.array([term.flat and not term.unlagged for term in self.terms], bool)

    @cached_property
    def wandering(self) -> np.ndarray:
        """Which products have stationary increments: one factor of that form, of the first input."""
        return np.array([term.wandering is not None for term in self.terms], bool)

    @cached_property
    def rank_one(self) -> np.ndarray:
        """Which products have no factor but profiles: v(x) v(z)."""
        return np.array([not term.flat and not term.factors for term in self.terms], bool)

    @cached_property
    def patterned(self) -> np.ndarray:
        """Which products are functions of the distance times factors without trained hyperparameters."""
        fixed = [all(factor.identity is not None for factor in term.unlagged) for term in self.terms]
        return np.array([term.flat and bool(term.unlagged) for term in self.terms], bool) & np.array(fixed, bool)

    def no_slopes(self) -> np.ndarray:
        """Zeros for the derivatives with respect to the hyperparameters, for backward passes to add to."""
        return np.zeros(len(self.numbers))

    def gram(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """k_i(x, z) of all products, (m, N, M)."""
        return np.stack([term.gram(self.numbers, X, Z)[0] for term in self.terms])

    def diag(self, X: np.ndarray) -> np.ndarray:
        """k_i(x, x) of all products, (m, N)."""
        return np.stack([term.diag(self.numbers, X)[0] for term in self.terms])


def _for_fitting(factors: Sequence[Base], inputs: int) -> tuple[Base, ...]:
    """The factors in the form that is fitted: one value for each column, and `dims=None` for all columns."""
    made = []
    for factor in factors:
        if factor.symbol == "1":
            continue
        columns = factor.positions(inputs)
        values = {name: _shaped(factor, name, len(columns)) for name in marks(type(factor))}
        made.append(factor.replace(**values, dims=None if columns == (*range(inputs),) else columns).for_fitting())
    return tuple(made)


def _shaped(factor: Base, name: str, count: int) -> Any:
    """A scalar array for one entry, a vector for several."""
    if getattr(factor, name) is None:
        return None
    entries = np.array(factor.entries(name, count))
    single = len(entries) == 1 and not marks(type(factor))[name].whole
    return entries.reshape(()) if single else entries


def _width(factor: Base, inputs: int) -> int:
    return inputs if factor.dims is None else len(factor.dims)


def _with_numbers(kernel: Base, numbers: np.ndarray, places: dict[str, slice]) -> Base:
    shapes = {name: np.shape(getattr(kernel, name)) for name in places}
    assert all(math.prod(shapes[name]) == place.stop - place.start for name, place in places.items())
    return kernel.replace(**{name: numbers[place].reshape(shapes[name]) for name, place in places.items()})
