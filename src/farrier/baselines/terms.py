"""The kernels that a search over expressions adds to those of kernels/: variances, changepoints and change windows.

An expression is a tree of kernels: sums, products, base kernels on one input each, and `Switch`, which changes from one
kernel to another at a changepoint or within a window (Lloyd et al. 2014). Every term has one `Level`, its variance:
`levelled` brings an expression to this form, so that no variance is redundant. `written` gives the formula without
levels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import jax.numpy as jnp
import numpy as np
from scipy.special import expit

from farrier.kernels.algebra import Back, Base, Dims, Kernel, PerInput, Product, Sum, Values
from farrier.kernels.algebra import Slopes as ByName
from farrier.kernels.forms import Profile
from farrier.kernels.parameters import positive, real
from farrier.kernels.registry import Step, StepUntil
from farrier.paper.kernels import FEATURES, row
from farrier.paper.trees import register


@final
@dataclass(frozen=True, eq=False, repr=False)
class Level(Profile):
    """k(x, z) = v: a constant with variance v; as a factor, the variance of its term."""

    symbol: ClassVar[str] = "1"
    rank: ClassVar[int] = 0
    variance: Any = positive(shared=True)
    dims: Dims = None

    @classmethod
    def profile(cls, values: Mapping[str, float], x: np.ndarray) -> tuple[np.ndarray, Back]:
        sd = np.sqrt(values["variance"])
        return np.full(len(x), sd), lambda dv: {"variance": dv.sum() / (2.0 * sd)}

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        return np.full((len(X), len(Z)), values["variance"][0]), lambda dK: {"variance": np.atleast_1d(dK.sum())}

    @classmethod
    def at(cls, values: Values, X: np.ndarray) -> tuple[np.ndarray, Back]:
        return np.full(len(X), values["variance"][0]), lambda dk: {"variance": np.atleast_1d(dk.sum())}

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self


@dataclass(frozen=True, eq=False, repr=False)
class _Gate(Profile):
    """A function that is near one between two points, or one minus it."""

    inside: ClassVar[bool]

    @classmethod
    def profile(cls, values: Mapping[str, float], x: np.ndarray) -> tuple[np.ndarray, Back]:
        """sigmoid((x - location) / width) sigmoid((location + length - x) / width), or one minus it."""
        location, length, width = values["location"], values["length"], values["width"]
        after, before = (x - location) / width, (location + length - x) / width
        rise, fall = expit(after), expit(before)
        sign = 1.0 if cls.inside else -1.0

        def back(dv: np.ndarray) -> ByName:
            by_after, by_before = sign * dv * rise * fall * (1.0 - rise), sign * dv * rise * fall * (1.0 - fall)
            return {
                "location": (by_before.sum() - by_after.sum()) / width,
                "length": by_before.sum() / width,
                "width": -(by_after @ after + by_before @ before) / width,
            }

        return rise * fall if cls.inside else 1.0 - rise * fall, back

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        now = self.parameters()
        return self.replace(
            location=now["location"] * scale + shift, length=now["length"] * scale, width=now["width"] * scale
        )


@final
@dataclass(frozen=True, eq=False, repr=False)
class Window(_Gate):
    """k(x, z) = s(x) s(z), with s near one from `location` to `location + length`: Step * (1 - Step) with one width."""

    symbol: ClassVar[str] = "Win"
    rank: ClassVar[int] = 1
    inside: ClassVar[bool] = True
    location: Any = real(shared=True)
    length: Any = positive(shared=True)
    width: Any = positive(shared=True)
    dims: Dims = None


@final
@dataclass(frozen=True, eq=False, repr=False)
class Outside(_Gate):
    """One minus a window: near one outside it."""

    symbol: ClassVar[str] = "(1 - Win)"
    rank: ClassVar[int] = 2
    inside: ClassVar[bool] = False
    location: Any = real(shared=True)
    length: Any = positive(shared=True)
    width: Any = positive(shared=True)
    dims: Dims = None


@register
@final
@dataclass(frozen=True, eq=False, repr=False)
class Slopes(Base):
    """k(x, z) = sum_d v_d (x_d - c_d) (z_d - c_d): a line with a slope variance v_d for each input."""

    symbol: ClassVar[str] = "Lin"
    rank: ClassVar[int] = 3
    location: Any = real()
    variance: Any = positive()
    dims: Dims = None

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        v = values["variance"]
        x, z = X - values["location"], Z - values["location"]

        def back(dK: np.ndarray) -> ByName:
            by_place = -v * (dK.sum(axis=0) @ z + dK.sum(axis=1) @ x)
            return {"location": by_place, "variance": np.sum(x * (dK @ z), axis=0)}

        return (x * v) @ z.T, back

    @classmethod
    def at(cls, values: Values, X: np.ndarray) -> tuple[np.ndarray, Back]:
        v, x = values["variance"], X - values["location"]
        return x**2 @ v, lambda dk: {"location": -2.0 * v * (dk @ x), "variance": dk @ x**2}

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self.replace(location=self.location * scale + shift, variance=self.variance / scale**2)


FEATURES[Slopes] = lambda kernel, X: (X - row(kernel.location, X)) * jnp.sqrt(row(kernel.variance, X))


MIRRORS: dict[type[Base], type[Base]] = {Step: StepUntil, Window: Outside}
"""One minus each gate."""


@final
@dataclass(frozen=True, eq=False)
class Switch(Kernel):
    """(1 - gate) before (1 - gate)' + gate after gate': a changepoint for a Step, a change window for a Window."""

    gate: Base
    before: Kernel
    after: Kernel

    def expanded(self) -> Sum:
        """The same as a sum of products."""
        make: Any = MIRRORS[type(self.gate)]
        mirror = make(**self.gate.parameters(), dims=self.gate.dims)
        return Sum((Product((mirror, self.before)), Product((self.gate, self.after))))

    def gram(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return self.expanded().gram(X, Z)

    def diag(self, X: np.ndarray) -> np.ndarray:
        return self.expanded().diag(X)

    def rescale(self, scale: PerInput, shift: PerInput = 0.0) -> "Switch":
        gate = self.gate.rescale(scale, shift)
        return Switch(gate, self.before.rescale(scale, shift), self.after.rescale(scale, shift))

    def bind(self, columns: Sequence[str]) -> "Switch":
        return Switch(self.gate.bind(columns), self.before.bind(columns), self.after.bind(columns))

    def reorder(self, order: Sequence[int]) -> "Switch":
        return Switch(self.gate.reorder(order), self.before.reorder(order), self.after.reorder(order))

    def formula(self, columns: Sequence[str] | None = None) -> str:
        name = "CP" if isinstance(self.gate, Step) else "CW"
        return f"{name}({written(self.before, columns)}, {written(self.after, columns)})"

    def products(self) -> tuple[tuple[Base, ...], ...]:
        return self.expanded().products()


def written(kernel: Kernel, columns: Sequence[str] | None = None) -> str:
    """The formula without levels, with sorted terms, so that equal structures have equal formulas."""
    if isinstance(kernel, Sum):
        return " + ".join(sorted(written(term, columns) for term in kernel.terms))
    if isinstance(kernel, Product):
        factors = [factor for factor in kernel.factors if not isinstance(factor, Level)]
        parts = [f"({written(f, columns)})" if isinstance(f, Sum) else written(f, columns) for f in factors]
        return " * ".join(sorted(parts)) or "1"
    return kernel.formula(columns)


def levelled(kernel: Kernel, level: float = 1.0) -> Kernel:
    """The same kernel with one level in each term; in a product with a sum, the terms of the sum have the levels."""
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
    """The terms of a sum; any other kernel is its own only term."""
    return kernel.terms if isinstance(kernel, Sum) else (kernel,)


def sum_of(terms: Sequence[Kernel]) -> Kernel:
    """The sum of one or more kernels."""
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))
