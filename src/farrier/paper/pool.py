"""A pool: m kernels, each a product of base kernels, evaluated together.

With a Python loop over kernels the compiled program would grow with their number. Instead, all factors of one family
are in one stack: their parameters have a leading axis, and one vmapped call evaluates them. A static table says which
kernel each row belongs to. `gram` and `diag` evaluate the pool, `pool[i]` returns kernel i.

A stack holds at most one factor of each kernel: SE * SE puts its second SE in a second stack. If factors are inner
products of features, the features (N + M small vectors) are assigned to the m kernels instead of the N M values.
Exponents get zero features where a kernel has no such factor, so that each kernel needs one matrix product and one
exponential. Inner products get one more feature that makes a missing factor one.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from farrier.baselines.starting_kernels import Initialisation, paper_kernels
from farrier.kernels.algebra import Base, Kernel, product_of
from farrier.paper.kernels import EXPONENTS, FEATURES, VALUES, known, value_diag

MOST_FEATURES = 16
"""Most features of a product of inner products that are multiplied before rows are paired; by judgement."""


@final
class Stack(eqx.Module):
    """Factors of one family, on equally many columns, of different kernels."""

    factors: Base
    """One kernel whose parameters have shape (F, d)."""
    owners: tuple[int, ...] = eqx.field(static=True)
    """The index of the kernel of each factor, in rising order."""
    columns: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    """The d columns that each factor acts on."""

    def rows_of(self, X: Float[Array, "*x N D"]) -> Float[Array, "F N d"]:
        """The columns of X that each factor acts on; X is shared by all kernels or has one block for each."""
        owned = X[np.asarray(self.owners)] if X.ndim == 3 else jnp.broadcast_to(X, (len(self.owners), *X.shape))
        if self.columns == ((*range(X.shape[-1]),),) * len(self.owners):
            return owned
        return jnp.take_along_axis(owned, np.asarray(self.columns)[:, None, :], axis=-1)

    def placed(self, values: Float[Array, "F ..."], size: int, neutral: float) -> Float[Array, "m ..."]:
        """The values for all kernels of the pool, with `neutral` where a kernel has no such factor."""
        if self.owners == (*range(size),):
            return values
        row = np.full(size, len(self.owners))
        row[np.asarray(self.owners)] = np.arange(len(self.owners))
        nothing = jnp.full((1, *values.shape[1:]), neutral, values.dtype)
        return jnp.concatenate([values, nothing])[row]

    def placed_features(self, features: Float[Array, "F N f"], size: int) -> Float[Array, "m N g"]:
        """Features for all kernels, with one more that is 1 where a kernel has no such factor and 0 elsewhere."""
        if self.owners == (*range(size),):
            return features
        missing = self.placed(jnp.zeros_like(features[..., :1]), size, 1.0)
        return jnp.concatenate([self.placed(features, size, 0.0), missing], axis=-1)


@final
class Pool(eqx.Module):
    """m kernels, each a product. Build one with `stack` or `Pool.paper`."""

    stacks: tuple[Stack, ...]
    size: int = eqx.field(static=True)
    inputs: int = eqx.field(static=True)

    def gram(self, X: Float[Array, "*x N D"], Z: Float[Array, "*z M D"]) -> Float[Array, "m N M"]:
        """k_i(x, z) for every kernel i; X and Z are shared by the kernels or have one block for each."""
        factors, lefts, rights = [], [], []
        inner: list[tuple[Array, Array]] = []
        for stack in self.stacks:
            rows = stack.rows_of(X), stack.rows_of(Z)
            kind = type(stack.factors)
            if kind in EXPONENTS:
                left, right = jax.vmap(EXPONENTS[kind])(stack.factors, *rows)
                lefts.append(stack.placed(left, self.size, 0.0))
                rights.append(stack.placed(right, self.size, 0.0))
            elif kind in FEATURES:
                features = (jax.vmap(FEATURES[kind])(stack.factors, points) for points in rows)
                left, right = (stack.placed_features(a, self.size) for a in features)
                if inner and inner[-1][0].shape[-1] * left.shape[-1] <= MOST_FEATURES:
                    before = inner.pop()
                    left, right = _products(before[0], left), _products(before[1], right)
                inner.append((left, right))
            else:
                values = jax.vmap(VALUES[known(kind)])(stack.factors, *rows)
                factors.append(stack.placed(values, self.size, 1.0))
        factors += [_inner(*pair) for pair in inner]
        if lefts:
            factors.append(jnp.exp(_inner(jnp.concatenate(lefts, axis=-1), jnp.concatenate(rights, axis=-1))))
        return reduce(jnp.multiply, factors)

    def diag(self, X: Float[Array, "*x N D"]) -> Float[Array, "m N"]:
        """k_i(x, x) for every kernel i."""
        product = jnp.ones((self.size, X.shape[-2]), X.dtype)
        for stack in self.stacks:
            if not stack.factors.stationary:
                values = jax.vmap(value_diag)(stack.factors, stack.rows_of(X))
                product = product * stack.placed(values, self.size, 1.0)
        return product

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, i: int) -> Kernel:
        if not -self.size <= i < self.size:
            raise IndexError(f"The pool has {self.size} kernels, got index {i}.")
        found: list[Base] = [
            _unstacked(stack, stack.owners.index(i % self.size), self.inputs)
            for stack in self.stacks
            if i % self.size in stack.owners
        ]
        found.sort(key=lambda factor: factor.rank)
        return product_of(found)

    def __iter__(self):
        return (self[i] for i in range(self.size))

    def __str__(self) -> str:
        return "\n".join(f"{i:3d}  {kernel}" for i, kernel in enumerate(self))

    @classmethod
    def paper(
        cls,
        X: Any,
        y: Any = None,
        *,
        initialisation: Initialisation = "both",
        seed: int = 0,
    ) -> "Pool":
        """The paper's pool: SE, Lin, Per and their nine ordered products, twice: 24 kernels.

        The weak initialisation draws hyperparameters around the scale of X. The strong one starts with short
        lengthscales and, for one input with y, at the strongest periods of the data. "both" makes one copy of each.
        """
        rows = np.asarray(X, np.float64)
        target = None if y is None else np.asarray(y, np.float64)
        return stack(paper_kernels(rows, target, initialisation, seed), inputs=rows.shape[1])


def stack(kernels: Sequence[Kernel], inputs: int) -> Pool:
    """A pool of the given kernels over `inputs` columns; a sum becomes one kernel for each of its products."""
    products = [factors for kernel in kernels for factors in kernel.products()]
    if not products:
        raise ValueError("kernels must hold at least one kernel, got none.")
    members: dict[tuple[Any, ...], list[tuple[int, tuple[int, ...], Base]]] = {}
    for owner, factors in enumerate(products):
        for factor in factors:
            columns = factor.positions(inputs)
            known(type(factor))
            slot = 0
            while (key := (factor.rank, type(factor), len(columns), slot)) in members and members[key][-1][0] == owner:
                slot += 1
            members.setdefault(key, []).append((owner, columns, factor))
    stacks = tuple(_stacked(members[key]) for key in sorted(members, key=lambda key: (key[0], key[2], key[3])))
    return Pool(stacks, len(products), inputs)


def _stacked(members: list[tuple[int, tuple[int, ...], Base]]) -> Stack:
    owners, columns, factors = zip(*members, strict=True)
    width = len(columns[0])
    parameters = {
        name: np.stack([np.broadcast_to(np.asarray(f.parameters()[name]), (width,)) for f in factors])
        for name in factors[0].parameters()
    }
    return Stack(factors[0].replace(**parameters, dims=None), owners, columns)


def _unstacked(stack: Stack, row: int, inputs: int) -> Base:
    columns = stack.columns[row]
    values = {name: np.asarray(value)[row] for name, value in stack.factors.parameters().items()}
    scalars = {name: value[0] if len(columns) == 1 else value for name, value in values.items()}
    return stack.factors.replace(**scalars, dims=None if columns == (*range(inputs),) else columns)


def _products(A: Float[Array, "m N f"], B: Float[Array, "m N g"]) -> Float[Array, "m N h"]:
    """The features of the product of two inner products: all products of one feature of A and one of B."""
    return (A[..., :, None] * B[..., None, :]).reshape(*A.shape[:-1], -1)


def _inner(A: Float[Array, "m N f"], B: Float[Array, "m M f"]) -> Float[Array, "m N M"]:
    return jnp.einsum("inf,imf->inm", A, B)
