"""Kernels as an algebra: they add, they multiply, and they print as their formula.

    growing_season = Linear(1949.0) * SquaredExponential(8.0) * Periodic(period=1.0, lengthscale=0.9)
    str(growing_season + SquaredExponential(30.0))      # 'Lin * SE * Per + SE'

Kernels are frozen data with formulas in numpy. A `Base` kernel is one factor and acts on all inputs or on those in
`dims`; forms.py says what a family must implement, and each family has its own file. `Product` and `Sum` are n-ary.
normal.py writes any kernel as a sum of products: one product is one component of the data.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, final

import numpy as np

from farrier.kernels.parameters import check_fields, marks

Dims: TypeAlias = tuple[int | str, ...] | None
PerInput: TypeAlias = "float | np.ndarray"
PerColumn: TypeAlias = Any
"""A hyperparameter: one number for all columns that a kernel acts on, or an array with one for each."""
Values: TypeAlias = Mapping[str, Any]
"""Hyperparameters by name."""
Slopes: TypeAlias = dict[str, Any]
"""Derivatives of the objective with respect to hyperparameters, by name."""
Back: TypeAlias = Callable[[np.ndarray], Slopes]
"""A backward pass: maps the derivative with respect to a kernel's values to those with respect to its hyperparameters
(a vector-Jacobian product)."""


class Kernel(ABC):
    """A covariance function of two rows of inputs."""

    @abstractmethod
    def gram(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """The matrix (N, M) of k(x, z) for every row x of X (N, D) and z of Z (M, D)."""

    @abstractmethod
    def diag(self, X: np.ndarray) -> np.ndarray:
        """k(x, x) for every row of X (N, D)."""

    @abstractmethod
    def rescale(self, scale: PerInput, shift: PerInput = 0.0) -> "Kernel":
        """The same covariance in other units: rescaled(scale x + shift, scale z + shift) = k(x, z)."""

    @abstractmethod
    def bind(self, columns: Sequence[str]) -> "Kernel":
        """The kernel with names in `dims` replaced by their positions in `columns`."""

    @abstractmethod
    def reorder(self, order: Sequence[int]) -> "Kernel":
        """The same covariance of rows in another order of columns: reordered(X, Z) = k(X[:, order], Z[:, order])."""

    @abstractmethod
    def formula(self, columns: Sequence[str] | None = None) -> str:
        """The formula; inputs are named by `columns` where a factor acts on only some of them."""

    @abstractmethod
    def products(self) -> tuple[tuple["Base", ...], ...]:
        """The factors of each term after products are distributed over sums; not simplified."""

    def __add__(self, other: "Kernel") -> "Kernel":
        return Sum(_terms(self) + _terms(other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: "Kernel") -> "Kernel":
        return Product(_factors(self) + _factors(other)) if isinstance(other, Kernel) else NotImplemented

    def __str__(self) -> str:
        return self.formula()


def as_dims(dims: int | str | Iterable[int | str] | None) -> Dims:
    """Columns as a tuple of numbers or names; None means all."""
    return dims if dims is None else (dims,) if isinstance(dims, int | str) else tuple(dims)


@dataclass(frozen=True, eq=False, repr=False)
class Base(Kernel):
    """One factor, with unit variance (a line has unit slope, a step unit height).

    The amplitude of a component is its weight, which is not part of the kernel.
    """

    symbol: ClassVar[str]
    """Its name in a formula."""
    rank: ClassVar[int]
    """Its position in a printed product."""
    kind: ClassVar[str] = "other"
    """The kind of pattern, by which explain/facts.py chooses the wording; "other" is named by its formula."""
    stationary: ClassVar[bool] = False
    """Whether k(x, z) depends on x - z alone."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "dims", as_dims(self.dims))
        check_fields(self)

    if TYPE_CHECKING:  # the last field of every family

        @property
        def dims(self) -> Dims:
            """The columns it acts on, by position or by name; None for all."""
            ...

    @classmethod
    @abstractmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        """k(x, z) of the columns that the kernel acts on, (N, M), and its backward pass."""

    @classmethod
    def at(cls, values: Values, X: np.ndarray) -> tuple[np.ndarray, Back]:
        """k(x, x) and its backward pass; one unless a family overrides it."""
        return np.ones(len(X)), lambda dk: {}

    @classmethod
    def check_one_column(cls, X: np.ndarray) -> None:
        """Refuse several columns, for a family that acts on one."""
        if X.shape[1] != 1:
            raise ValueError(f"{cls.symbol} acts on one input, got {X.shape[1]}: name it with dims=.")

    @abstractmethod
    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> "Base":
        """`rescale` with one scale and shift for each column that the kernel acts on."""

    def for_fitting(self) -> "Base":
        """The kernel as it is fitted on standardised inputs; a family may derive a fixed parameter from the others."""
        return self

    def after_fitting(self) -> "Base":
        """The kernel that `for_fitting` returned, with all parameters as explicit values."""
        return self

    def gram(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        X, Z = self._columns(X), self._columns(Z)
        return self.between(self._per_column(X.shape[1]), X, Z)[0]

    def diag(self, X: np.ndarray) -> np.ndarray:
        X = self._columns(X)
        return self.at(self._per_column(X.shape[1]), X)[0]

    def rescale(self, scale: PerInput, shift: PerInput = 0.0) -> "Base":
        return self.rescale_columns(self._entries(scale), self._entries(shift))

    def bind(self, columns: Sequence[str]) -> "Base":
        if self.dims is None:
            return self
        unknown = [name for name in self.dims if isinstance(name, str) and name not in columns]
        if unknown:
            raise ValueError(f"dims of {self}: no input is named {unknown[0]!r}; the inputs are {list(columns)}.")
        positions = tuple(columns.index(d) if isinstance(d, str) else d for d in self.dims)
        return self.replace(dims=positions)

    def reorder(self, order: Sequence[int]) -> "Base":
        if self.dims is None and all(np.size(value) == 1 for value in self.parameters().values()):
            return self
        return self.replace(dims=tuple(order[d] for d in self.positions(len(order))))

    def formula(self, columns: Sequence[str] | None = None) -> str:
        if self.dims is None:
            return self.symbol
        names = [columns[d] if columns is not None and isinstance(d, int) else d for d in self.dims]
        return f"{self.symbol}[{', '.join(str(name) for name in names)}]"

    def products(self) -> tuple[tuple["Base", ...], ...]:
        return ((self,),)

    def parameters(self) -> dict[str, Any]:
        """The hyperparameters by name, fixed ones included."""
        return {name: getattr(self, name) for name in marks(type(self))}

    def entries(self, name: str, count: int) -> np.ndarray:
        """A hyperparameter with one entry for each of `count` columns, or a single entry if columns share it."""
        value, mark = getattr(self, name), marks(type(self))[name]
        if mark.whole:
            return np.ravel(value)
        if mark.shared:
            return np.ravel(value)[:1]
        if np.size(value) not in (1, count):
            raise ValueError(
                f"{self}: {name} has {np.size(value)} entries for {count} columns: give one, or one for each."
            )
        return np.broadcast_to(np.ravel(value), (count,))

    def replace(self, **changes: Any) -> "Base":
        """The kernel with some of its fields changed."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        shown = [f"{one.name}={_plain(getattr(self, one.name))}" for one in fields(self) if one.name != "dims"]
        return f"{type(self).__name__}({', '.join(shown + ([] if self.dims is None else [f'dims={self.dims}']))})"

    def positions(self, inputs: int) -> tuple[int, ...]:
        """The columns that it acts on, out of so many inputs."""
        if self.dims is None:
            return (*range(inputs),)
        if any(isinstance(d, str) for d in self.dims):
            raise ValueError(f"{self} acts on named inputs: call bind(columns) first.")
        columns = tuple(int(d) for d in self.dims)
        if not all(0 <= d < inputs for d in columns):
            raise ValueError(f"dims of {self} must be from 0 to {inputs - 1} for {inputs} inputs, got {columns}.")
        return columns

    def _columns(self, X: np.ndarray) -> np.ndarray:
        if self.dims is None:
            return X
        if any(isinstance(d, str) for d in self.dims):
            raise ValueError(f"{self} acts on named inputs: call bind(columns) first, with all names of the inputs.")
        return X[:, np.asarray(self.dims)]

    def _per_column(self, count: int) -> dict[str, Any]:
        """The hyperparameters with one entry for each of `count` columns, or one for all."""
        return {name: None if getattr(self, name) is None else self.entries(name, count) for name in marks(type(self))}

    def _entries(self, per_input: PerInput) -> Any:
        """The entries of a per-input quantity that belong to this kernel's columns."""
        array = np.asarray(per_input, np.float64)
        entries = array if array.ndim == 0 or self.dims is None else array[np.asarray(self.dims)]
        return entries.reshape(()) if entries.size == 1 else entries


@final
@dataclass(frozen=True, eq=False, repr=False)
class Product(Kernel):
    """k(x, z) = prod_j k_j(x, z)."""

    factors: tuple[Kernel, ...]

    def gram(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return reduce(mul, (factor.gram(X, Z) for factor in self.factors))

    def diag(self, X: np.ndarray) -> np.ndarray:
        return reduce(mul, (factor.diag(X) for factor in self.factors))

    def rescale(self, scale: PerInput, shift: PerInput = 0.0) -> "Product":
        return Product(tuple(factor.rescale(scale, shift) for factor in self.factors))

    def bind(self, columns: Sequence[str]) -> "Product":
        return Product(tuple(factor.bind(columns) for factor in self.factors))

    def reorder(self, order: Sequence[int]) -> "Product":
        return Product(tuple(factor.reorder(order) for factor in self.factors))

    def formula(self, columns: Sequence[str] | None = None) -> str:
        return " * ".join(
            f"({factor.formula(columns)})" if isinstance(factor, Sum) else factor.formula(columns)
            for factor in self.factors
        )

    def products(self) -> tuple[tuple[Base, ...], ...]:
        # (a + b) * c = a * c + b * c
        terms: tuple[tuple[Base, ...], ...] = ((),)
        for factor in self.factors:
            terms = tuple(left + right for left in terms for right in factor.products())
        return terms

    def __repr__(self) -> str:
        return " * ".join(f"({factor!r})" if isinstance(factor, Sum) else repr(factor) for factor in self.factors)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Sum(Kernel):
    """k(x, z) = sum_j k_j(x, z)."""

    terms: tuple[Kernel, ...]

    def gram(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return sum((term.gram(X, Z) for term in self.terms[1:]), start=self.terms[0].gram(X, Z))

    def diag(self, X: np.ndarray) -> np.ndarray:
        return sum((term.diag(X) for term in self.terms[1:]), start=self.terms[0].diag(X))

    def rescale(self, scale: PerInput, shift: PerInput = 0.0) -> "Sum":
        return Sum(tuple(term.rescale(scale, shift) for term in self.terms))

    def bind(self, columns: Sequence[str]) -> "Sum":
        return Sum(tuple(term.bind(columns) for term in self.terms))

    def reorder(self, order: Sequence[int]) -> "Sum":
        return Sum(tuple(term.reorder(order) for term in self.terms))

    def formula(self, columns: Sequence[str] | None = None) -> str:
        return " + ".join(term.formula(columns) for term in self.terms)

    def products(self) -> tuple[tuple[Base, ...], ...]:
        return tuple(product for term in self.terms for product in term.products())

    def __repr__(self) -> str:
        return " + ".join(repr(term) for term in self.terms)


def product_of(factors: Sequence[Kernel]) -> Kernel:
    """The product of one or more kernels."""
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _terms(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.terms if isinstance(kernel, Sum) else (kernel,)


def _factors(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.factors if isinstance(kernel, Product) else (kernel,)


def _plain(value: Any) -> str:
    return repr(value.tolist()) if isinstance(value, np.ndarray) else repr(value)
