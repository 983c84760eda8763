"""Kernels as an algebra: they add, they multiply, and they print as their formula.

    growing_season = Linear(1949.0) * SquaredExponential(8.0) * Periodic(period=1.0, lengthscale=0.9)
    str(growing_season + SquaredExponential(30.0))      # 'Lin * SE * Per + SE'

A `Base` kernel (base.py) is one factor and acts on all inputs or on those in `dims`; `Product` and `Sum` are
n-ary. `normal_form` writes any of them as a sum of products, simplified by rules that leave the function as it
is: one product is one component of the data. Pools (pool.py) evaluate many products at once.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from farrier.kernels.parameters import POSITIVE, Module, is_concrete, mark, marks

Dims: TypeAlias = tuple[int | str, ...] | None
PerInput: TypeAlias = "float | np.ndarray | Array"


class Kernel(Module):
    """A covariance function of two rows of inputs."""

    @abstractmethod
    def gram(self, X: Float[Array, "N D"], Z: Float[Array, "M D"]) -> Float[Array, "N M"]:
        """The matrix of k(x, z) for every row x of X and z of Z."""

    @abstractmethod
    def diag(self, X: Float[Array, "N D"]) -> Float[Array, "N"]:
        """k(x, x) for every row of X."""

    @abstractmethod
    def rescale(self, scale: PerInput, shift: PerInput = 0.0) -> "Kernel":
        """The same covariance in other units: rescaled(scale x + shift, scale z + shift) = k(x, z)."""

    @abstractmethod
    def bind(self, columns: Sequence[str]) -> "Kernel":
        """The kernel with names in `dims` replaced by their positions in `columns`."""

    @abstractmethod
    def formula(self, columns: Sequence[str] | None = None) -> str:
        """The formula, with inputs named by `columns` where a factor acts on some of them only."""

    @abstractmethod
    def products(self) -> tuple[tuple["Base", ...], ...]:
        """The factors of each term once products are distributed over sums; not yet simplified."""

    def __add__(self, other: "Kernel") -> "Kernel":
        return Sum(_terms(self) + _terms(other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: "Kernel") -> "Kernel":
        return Product(_factors(self) + _factors(other)) if isinstance(other, Kernel) else NotImplemented

    def __str__(self) -> str:
        return self.formula()


class Base(Kernel):
    """One factor. Subclasses say what `value` is on the columns they act on; their `rank` orders a formula."""

    symbol: ClassVar[str]
    rank: ClassVar[int]
    stationary: ClassVar[bool] = True
    if TYPE_CHECKING:

        @property
        def dims(self) -> Dims: ...

    else:
        dims: eqx.AbstractVar[Dims]

    def __check_init__(self) -> None:
        for name, value in self.parameters().items():
            if mark(self, name) is POSITIVE and is_concrete(value) and not np.all(np.asarray(value) > 0):
                raise ValueError(f"{type(self).__name__}: {name} must be positive, got {value}.")

    @abstractmethod
    def value(self, X: Float[Array, "N d"], Z: Float[Array, "M d"]) -> Float[Array, "N M"]:
        """`gram` on the columns that the kernel acts on."""

    def value_diag(self, X: Float[Array, "N d"]) -> Float[Array, "N"]:
        """`diag` on the columns that the kernel acts on: one, unless the kernel says otherwise."""
        return jnp.ones(X.shape[0], X.dtype)

    @abstractmethod
    def rescale_columns(self, scale: np.ndarray | Array, shift: np.ndarray | Array) -> "Base":
        """`rescale` with one scale and shift for each column that the kernel acts on."""

    def gram(self, X: Float[Array, "N D"], Z: Float[Array, "M D"]) -> Float[Array, "N M"]:
        return self.value(self._columns(X), self._columns(Z))

    def diag(self, X: Float[Array, "N D"]) -> Float[Array, "N"]:
        return self.value_diag(self._columns(X))

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

    def formula(self, columns: Sequence[str] | None = None) -> str:
        if self.dims is None:
            return self.symbol
        names = [columns[d] if columns is not None and isinstance(d, int) else d for d in self.dims]
        return f"{self.symbol}[{', '.join(str(name) for name in names)}]"

    def products(self) -> tuple[tuple["Base", ...], ...]:
        return ((self,),)

    def parameters(self) -> dict[str, Any]:
        """The numbers of this kernel by name."""
        return {name: getattr(self, name) for name, constraint in marks(type(self)).items() if constraint is not None}

    def replace(self, **changes: Any) -> "Base":
        """The kernel with some of its fields changed."""
        current = {field.name: getattr(self, field.name) for field in fields(self)}
        return type(self)(**(current | changes))

    def __repr__(self) -> str:
        shown = [f"{field.name}={_plain(getattr(self, field.name))}" for field in fields(self) if field.name != "dims"]
        return f"{type(self).__name__}({', '.join(shown + ([] if self.dims is None else [f'dims={self.dims}']))})"

    def _columns(self, X: Array) -> Array:
        if self.dims is None:
            return X
        if any(isinstance(d, str) for d in self.dims):
            raise ValueError(f"{self} acts on named inputs: call bind(columns) first, with all names of the inputs.")
        return X[:, np.asarray(self.dims)]

    def _entries(self, per_input: PerInput) -> Any:
        """The entries of a per-input quantity that belong to this kernel's columns."""
        array = per_input if isinstance(per_input, Array) else np.asarray(per_input, np.float64)
        entries = array if array.ndim == 0 or self.dims is None else array[np.asarray(self.dims)]
        return entries.reshape(()) if entries.size == 1 else entries


@final
class Product(Kernel):
    """k(x, z) = prod_j k_j(x, z)."""

    factors: tuple[Kernel, ...]

    def gram(self, X: Float[Array, "N D"], Z: Float[Array, "M D"]) -> Float[Array, "N M"]:
        return reduce(mul, (factor.gram(X, Z) for factor in self.factors))

    def diag(self, X: Float[Array, "N D"]) -> Float[Array, "N"]:
        return reduce(mul, (factor.diag(X) for factor in self.factors))

    def rescale(self, scale: PerInput, shift: PerInput = 0.0) -> "Product":
        return Product(tuple(factor.rescale(scale, shift) for factor in self.factors))

    def bind(self, columns: Sequence[str]) -> "Product":
        return Product(tuple(factor.bind(columns) for factor in self.factors))

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
class Sum(Kernel):
    """k(x, z) = sum_j k_j(x, z)."""

    terms: tuple[Kernel, ...]

    def gram(self, X: Float[Array, "N D"], Z: Float[Array, "M D"]) -> Float[Array, "N M"]:
        return sum((term.gram(X, Z) for term in self.terms[1:]), start=self.terms[0].gram(X, Z))

    def diag(self, X: Float[Array, "N D"]) -> Float[Array, "N"]:
        return sum((term.diag(X) for term in self.terms[1:]), start=self.terms[0].diag(X))

    def rescale(self, scale: PerInput, shift: PerInput = 0.0) -> "Sum":
        return Sum(tuple(term.rescale(scale, shift) for term in self.terms))

    def bind(self, columns: Sequence[str]) -> "Sum":
        return Sum(tuple(term.bind(columns) for term in self.terms))

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
    if not isinstance(value, np.ndarray | Array):
        return repr(value)
    return repr(np.asarray(value).tolist()) if is_concrete(value) else f"<traced {value.shape}>"
