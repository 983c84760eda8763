"""The pieces that a search over kernels adds to Farrier's own: levels, changes of regime, and one way to write them.

An expression is a tree of kernels: sums, products, base kernels on one input each, and `Switch`, which gives over from
one kernel to another at a place or within a window (Lloyd et al. 2014). Every term carries one `Level`, its variance;
`levelled` puts them where they belong, so that no two numbers do the same job, and `written` leaves them out.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, final

import equinox as eqx
import jax.numpy as jnp
from jax import Array
from jax.nn import sigmoid
from jaxtyping import Float

from farrier.kernels.algebra import Base, Dims, Kernel, PerInput, Product, Sum
from farrier.kernels.base import Inner, Step, StepUntil
from farrier.kernels.parameters import positive, real


@final
class Level(Inner):
    """k(x, z) = v: a constant of variance v; as a factor, the variance of its term."""

    symbol: ClassVar[str] = "1"
    rank: ClassVar[int] = 0
    stationary: ClassVar[bool] = True
    variance: Any = positive()
    dims: Dims = eqx.field(static=True, default=None)

    def features(self, X: Float[Array, "N d"]) -> Float[Array, "N 1"]:
        return jnp.sqrt(jnp.asarray(self.variance)) * jnp.ones((X.shape[0], 1), X.dtype)

    def rescale_columns(self, scale: Any, shift: Any) -> Base:
        return self


class _Gate(Inner):
    """A function that is near one between two places."""

    def inside(self, X: Float[Array, "N 1"]) -> Float[Array, "N 1"]:
        """sigmoid((x - location) / width) sigmoid((location + length - x) / width)."""
        x, (location, length, width) = X, (jnp.asarray(value) for value in self.parameters().values())
        return sigmoid((x - location) / width) * sigmoid((location + length - x) / width)

    def rescale_columns(self, scale: Any, shift: Any) -> Base:
        now = self.parameters()
        return self.replace(
            location=now["location"] * scale + shift, length=now["length"] * scale, width=now["width"] * scale
        )


@final
class Window(_Gate):
    """k(x, z) = s(x) s(z), s near one from `location` on over `length`: Step * (1 - Step) with one width."""

    symbol: ClassVar[str] = "Win"
    rank: ClassVar[int] = 1
    location: Any = real()
    length: Any = positive()
    width: Any = positive()
    dims: Dims = eqx.field(static=True, default=None)

    def features(self, X: Float[Array, "N 1"]) -> Float[Array, "N 1"]:
        return self.inside(X)


@final
class Outside(_Gate):
    """The mirror of a window: near one outside it."""

    symbol: ClassVar[str] = "(1 - Win)"
    rank: ClassVar[int] = 2
    location: Any = real()
    length: Any = positive()
    width: Any = positive()
    dims: Dims = eqx.field(static=True, default=None)

    def features(self, X: Float[Array, "N 1"]) -> Float[Array, "N 1"]:
        return 1.0 - self.inside(X)


MIRRORS: dict[type[Base], type[Base]] = {Step: StepUntil, Window: Outside}


@final
class Switch(Kernel):
    """(1 - gate) before (1 - gate)' + gate after gate': a change point for a Step, a change window for a Window."""

    gate: Base
    before: Kernel
    after: Kernel

    def expanded(self) -> Sum:
        """The same as a sum of products."""
        make: Any = MIRRORS[type(self.gate)]
        mirror = make(**self.gate.parameters(), dims=self.gate.dims)
        return Sum((Product((mirror, self.before)), Product((self.gate, self.after))))

    def gram(self, X: Float[Array, "N D"], Z: Float[Array, "M D"]) -> Float[Array, "N M"]:
        return self.expanded().gram(X, Z)

    def diag(self, X: Float[Array, "N D"]) -> Float[Array, "N"]:
        return self.expanded().diag(X)

    def rescale(self, scale: PerInput, shift: PerInput = 0.0) -> "Switch":
        gate = self.gate.rescale(scale, shift)
        return Switch(gate, self.before.rescale(scale, shift), self.after.rescale(scale, shift))

    def bind(self, columns: Sequence[str]) -> "Switch":
        return Switch(self.gate.bind(columns), self.before.bind(columns), self.after.bind(columns))

    def formula(self, columns: Sequence[str] | None = None) -> str:
        name = "CP" if isinstance(self.gate, Step) else "CW"
        return f"{name}({written(self.before, columns)}, {written(self.after, columns)})"

    def products(self) -> tuple[tuple[Base, ...], ...]:
        return self.expanded().products()


def written(kernel: Kernel, columns: Sequence[str] | None = None) -> str:
    """The formula without levels, in one order, so that equal structures are written alike."""
    if isinstance(kernel, Sum):
        return " + ".join(sorted(written(term, columns) for term in kernel.terms))
    if isinstance(kernel, Product):
        factors = [factor for factor in kernel.factors if not isinstance(factor, Level)]
        parts = [f"({written(f, columns)})" if isinstance(f, Sum) else written(f, columns) for f in factors]
        return " * ".join(sorted(parts)) or "1"
    return kernel.formula(columns)


def levelled(kernel: Kernel, level: float = 1.0) -> Kernel:
    """The same function with one level in each term; those of a product with a sum in it are the sum's."""
    if isinstance(kernel, Level):
        return Level(kernel.variance * level)
    if isinstance(kernel, Base):
        return Product((Level(level), kernel))
    if isinstance(kernel, Switch):
        return Switch(kernel.gate, levelled(kernel.before, level), levelled(kernel.after, level))
    if isinstance(kernel, Sum):
        return Sum(tuple(part for term in kernel.terms for part in terms_of(levelled(term, level))))
    assert isinstance(kernel, Product)
    inner: list[Kernel] = []
    for factor in kernel.factors:
        for part in factor.factors if isinstance(factor, Product) else (factor,):
            if isinstance(part, Level):
                level = level * float(part.variance)
            else:
                inner.append(part)
    if not inner:
        return Level(level)
    if len(inner) == 1:
        return levelled(inner[0], level)
    compound = [i for i, part in enumerate(inner) if not isinstance(part, Base)]
    if not compound:
        return Product((Level(level), *inner))
    return Product(
        tuple(levelled(f, level if i == compound[0] else 1.0) if i in compound else f for i, f in enumerate(inner))
    )


def terms_of(kernel: Kernel) -> tuple[Kernel, ...]:
    """The terms of a sum; a kernel that is none is its only term."""
    return kernel.terms if isinstance(kernel, Sum) else (kernel,)


def sum_of(terms: Sequence[Kernel]) -> Kernel:
    """The sum of one or more kernels."""
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))
