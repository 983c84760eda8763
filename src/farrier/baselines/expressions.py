"""Kernels as functions of a vector of numbers, evaluated without compiling anything for a new expression.

A search meets hundreds of expressions (terms.py), and compiling each would take longer than fitting it. So only the
base kernels and their derivatives are compiled, once for each family; sums and products of their matrices, forwards
and backwards, are numpy's. White noise belongs to an observation here, not to its place: it stands on the diagonal of
K(X, X) and nowhere else.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from farrier.baselines.terms import MIRRORS, Level, Switch
from farrier.kernels.algebra import Base, Dims, Kernel, Product, Sum
from farrier.kernels.base import White
from farrier.kernels.parameters import Constraint


@dataclass(frozen=True)
class _Leaf:
    kind: type[Base]
    dims: Dims
    at: slice
    """Where its numbers stand among all."""


class Expression:
    """A kernel as a function of a vector of unbounded numbers, with its derivative."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._leaves: list[_Leaf] = []
        numbers: list[np.ndarray] = []
        self._plan = self._planned(kernel, numbers)
        self.numbers = np.concatenate([np.zeros(0), *numbers])

    def gram(self, numbers: np.ndarray, X: Array, Z: Array | None = None) -> tuple[np.ndarray, Callable]:
        """K(X, Z), or K(X, X) with noise on its diagonal, and the function from dL/dK to dL/dnumbers."""
        noise = np.eye(X.shape[0]) if Z is None else 0.0
        right = X if Z is None else Z
        return self._evaluate(numbers, noise, _leaf_gram, _leaf_gram_pull, (X, right), (X.shape[0], right.shape[0]))

    def diag(self, numbers: np.ndarray, X: Array) -> tuple[np.ndarray, Callable]:
        """k(x, x) for every row, noise included, and the function from dL/dk to dL/dnumbers."""
        return self._evaluate(numbers, 1.0, _leaf_diag, _leaf_diag_pull, (X,), (X.shape[0],))

    def at(self, numbers: np.ndarray) -> Kernel:
        """The kernel with these numbers."""
        return self._rebuilt(self.kernel, iter(self._leaves), numbers)

    def _evaluate(self, numbers: np.ndarray, noise: Any, value: Any, pull: Any, rows: Any, shape: Any) -> Any:
        values: list[Any] = []
        for leaf in self._leaves:
            u = numbers[leaf.at]
            if leaf.kind is Level:
                values.append(float(np.exp(u[0])))
            else:
                values.append(noise if leaf.kind is White else np.asarray(value(leaf.kind, leaf.dims, u, *rows)))
        K, back = _combined(self._plan, values)

        def pulled(dK: np.ndarray) -> np.ndarray:
            gradient = np.zeros_like(numbers)
            for i, slope in back(dK):
                leaf = self._leaves[i]
                if leaf.kind is Level:
                    gradient[leaf.at] += values[i] * np.sum(slope)
                elif leaf.kind is not White:
                    dense = np.ascontiguousarray(np.broadcast_to(slope, shape))
                    gradient[leaf.at] += np.asarray(pull(leaf.kind, leaf.dims, numbers[leaf.at], *rows, dense))
            return gradient

        return np.broadcast_to(K, shape), pulled

    def _planned(self, kernel: Kernel, numbers: list[np.ndarray]) -> Any:
        if isinstance(kernel, Base):
            marks = _marks(type(kernel))
            start = sum(map(len, numbers))
            free = [np.ravel(np.asarray(c.free(getattr(kernel, name))))[:1] for name, c in marks.items()]
            numbers.append(np.concatenate([np.zeros(0), *free]))
            self._leaves.append(_Leaf(type(kernel), kernel.dims, slice(start, start + len(free))))
            return len(self._leaves) - 1
        if isinstance(kernel, Switch):
            inside = self._planned(kernel.gate, numbers)
            gate = self._leaves[inside]
            self._leaves.append(_Leaf(MIRRORS[gate.kind], gate.dims, gate.at))
            parts = [self._planned(part, numbers) for part in (kernel.before, kernel.after)]
            return "+", [("*", [inside + 1, parts[0]]), ("*", [inside, parts[1]])]
        parts = kernel.terms if isinstance(kernel, Sum) else kernel.factors if isinstance(kernel, Product) else ()
        return ("+" if isinstance(kernel, Sum) else "*"), [self._planned(part, numbers) for part in parts]

    def _rebuilt(self, kernel: Kernel, leaves: Iterator[_Leaf], numbers: np.ndarray) -> Kernel:
        if isinstance(kernel, Base):
            u = numbers[next(leaves).at]
            return kernel.replace(**_values(type(kernel), u))
        if isinstance(kernel, Switch):
            gate = self._rebuilt(kernel.gate, leaves, numbers)
            next(leaves)
            assert isinstance(gate, Base)
            return Switch(gate, *(self._rebuilt(part, leaves, numbers) for part in (kernel.before, kernel.after)))
        if isinstance(kernel, Sum):
            return Sum(tuple(self._rebuilt(term, leaves, numbers) for term in kernel.terms))
        assert isinstance(kernel, Product)
        return Product(tuple(self._rebuilt(factor, leaves, numbers) for factor in kernel.factors))


def _combined(plan: Any, values: list[Any]) -> tuple[Any, Callable]:
    """The value of a plan, and the function from its derivative to those of the leaves."""
    if isinstance(plan, int):
        return values[plan], lambda slope: [(plan, slope)]
    operation, parts = plan
    children = [_combined(part, values) for part in parts]
    if operation == "+":
        total = sum((value for value, _ in children[1:]), start=children[0][0])
        return total, lambda slope: [pair for _, back in children for pair in back(slope)]

    def without(j: int) -> Any:
        product = 1.0
        for i, (value, _) in enumerate(children):
            product = product if i == j else product * value
        return product

    return without(-1), lambda slope: [p for j, (_, back) in enumerate(children) for p in back(slope * without(j))]


@lru_cache
def _marks(kind: type[Base]) -> dict[str, Constraint]:
    """The trained numbers of a family and their constraints."""
    found = {field.name: field.metadata.get("constraint") for field in fields(kind)}
    return {name: mark for name, mark in found.items() if mark is not None and mark.trained}


def _values(kind: type[Base], u: Any) -> dict[str, Any]:
    return {name: mark.bound(u[i]) for i, (name, mark) in enumerate(_marks(kind).items())}


def _leaf(kind: type[Base], dims: Dims, u: Array) -> Base:
    make: Any = kind
    return make(**_values(kind, u), dims=dims)


@partial(jax.jit, static_argnums=(0, 1))
def _leaf_gram(kind: type[Base], dims: Dims, u: Array, X: Array, Z: Array) -> Array:
    return _leaf(kind, dims, u).gram(X, Z)


@partial(jax.jit, static_argnums=(0, 1))
def _leaf_diag(kind: type[Base], dims: Dims, u: Array, X: Array) -> Array:
    return _leaf(kind, dims, u).diag(X)


@partial(jax.jit, static_argnums=(0, 1))
def _leaf_gram_pull(kind: type[Base], dims: Dims, u: Array, X: Array, Z: Array, dK: Array) -> Array:
    return jax.grad(lambda u: jnp.sum(_leaf(kind, dims, u).gram(X, Z) * dK))(u)


@partial(jax.jit, static_argnums=(0, 1))
def _leaf_diag_pull(kind: type[Base], dims: Dims, u: Array, X: Array, dk: Array) -> Array:
    return jax.grad(lambda u: jnp.sum(_leaf(kind, dims, u).diag(X) * dk))(u)
