"""Kernels, priors and likelihoods as pytrees of jax: which parameters are trained, and under which constraint.

They are plain frozen data (kernels/parameters.py). This file registers them as pytrees whose leaves are their marked
fields. Modules of this folder mark their own fields in the same way,

    q_root: Array = lower_triangular()

and `free` / `bound` map a whole tree to unconstrained numbers and back. A leaf without a mark is data and is never
trained. `fixed()` marks a field as data; `frozen()` marks everything inside a module as data.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import DictKey, GetAttrKey, SequenceKey

from farrier.baselines.weight_priors import NoPrior, Softmax, SpikeAndSlab
from farrier.inference.counts import Poisson
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Bernoulli, Gaussian
from farrier.inference.linalg import World
from farrier.inference.student_t import StudentT
from farrier.kernels.parameters import FIXED, POSITIVE, REAL, Constraint, marks
from farrier.kernels.registry import FAMILIES

T = TypeVar("T")
JAX = World(jnp, jax.scipy.special, jax.lax.stop_gradient)
"""The array library in which this folder evaluates the formulas of priors and likelihoods."""
LOWER_TRIANGULAR = Constraint("lower triangular")
"""Lower triangular matrices with a positive diagonal."""


@dataclass(frozen=True)
class Bijection:
    """The maps from real numbers to the values that a constraint allows, and back."""

    bound: Callable[[Any], Any]
    free: Callable[[Any], Any]


def _on_diagonal(function: Callable[[Array], Array], A: Array) -> Array:
    """The lower triangle of A with `function` applied to its diagonal."""
    diagonal = function(jnp.diagonal(A, axis1=-2, axis2=-1))
    return jnp.tril(A, -1) + diagonal[..., None] * jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)


BIJECTIONS: dict[Constraint, Bijection] = {
    REAL: Bijection(lambda a: a, lambda a: a),
    POSITIVE: Bijection(jnp.exp, jnp.log),
    LOWER_TRIANGULAR: Bijection(lambda A: _on_diagonal(jnp.exp, A), lambda L: _on_diagonal(jnp.log, L)),
}


def as_array(value: Any) -> Any:
    """Numbers as float64 numpy arrays, so that jax gets their full precision; jax arrays stay as they are."""
    return value if value is None or isinstance(value, jax.Array) else np.asarray(value, dtype=np.float64)


def _marked(constraint: Constraint, **kwargs: Any) -> Any:
    return eqx.field(metadata={"constraint": constraint}, **kwargs)


def real(**kwargs: Any) -> Any:
    """A field of real numbers, trained as they are."""
    return _marked(REAL, converter=as_array, **kwargs)


def positive(**kwargs: Any) -> Any:
    """A field of positive numbers, trained by their logarithms."""
    return _marked(POSITIVE, converter=as_array, **kwargs)


def lower_triangular(**kwargs: Any) -> Any:
    """A field of lower triangular matrices with a positive diagonal, trained by the logarithm of the diagonal."""
    return _marked(LOWER_TRIANGULAR, converter=as_array, **kwargs)


def fixed(**kwargs: Any) -> Any:
    """A field of numbers that are never trained."""
    return _marked(FIXED, converter=as_array, **kwargs)


def part(**kwargs: Any) -> Any:
    """A field that holds a module, which has its own marks."""
    return eqx.field(**kwargs)


def frozen(**kwargs: Any) -> Any:
    """A field that holds a module that is not trained."""
    return _marked(FIXED, **kwargs)


def register(kind: type[Any]) -> type[Any]:
    """Register a frozen dataclass as a pytree whose leaves are its marked fields; also a decorator."""
    leaves = tuple(marks(kind))
    others = tuple(one.name for one in fields(kind) if one.name not in leaves)

    def flatten_with_keys(module: Any) -> Any:
        return [(GetAttrKey(name), getattr(module, name)) for name in leaves], tuple(
            getattr(module, name) for name in others
        )

    def unflatten(kept: tuple[Any, ...], values: Any) -> Any:
        # not by the constructor: it checks numbers, and while jax traces the values are not numbers
        module = object.__new__(kind)
        for name, value in (*zip(leaves, values, strict=True), *zip(others, kept, strict=True)):
            object.__setattr__(module, name, value)
        return module

    jax.tree_util.register_pytree_with_keys(kind, flatten_with_keys, unflatten)
    return kind


for _kind in (*FAMILIES, Horseshoe, NoPrior, Softmax, SpikeAndSlab, Gaussian, Bernoulli, StudentT, Poisson):
    register(_kind)


def constraint_of(module: Any, name: str) -> Constraint | None:
    """The constraint on the field `name` of `module`; None without a mark."""
    return _constraints(type(module))[name]


@lru_cache
def _constraints(kind: type[Any]) -> dict[str, Constraint | None]:
    plain = {name: mark.constraint for name, mark in marks(kind).items()}
    return {one.name: plain.get(one.name, one.metadata.get("constraint")) for one in fields(kind)}


def _constraint_along(tree: Any, path: tuple[Any, ...]) -> Constraint:
    """The constraint of the leaf at the end of `path`: the innermost mark, or FIXED if any mark on the path is."""
    node, found = tree, None
    for key in path:
        if isinstance(key, GetAttrKey):
            found = constraint_of(node, key.name) or found
            node = getattr(node, key.name)
        elif isinstance(key, SequenceKey):
            node = node[key.idx]
        elif isinstance(key, DictKey):
            node = node[key.key]
        if found is FIXED:
            return FIXED
    return found or FIXED


def _map_with_constraints(function: Callable[[Constraint, Any], Any], tree: Any) -> Any:
    leaves, structure = jax.tree_util.tree_flatten_with_path(tree)
    mapped = [function(_constraint_along(tree, path), leaf) for path, leaf in leaves]
    return jax.tree.unflatten(structure, mapped)


def free(module: T) -> T:
    """The trained leaves of `module` as unconstrained numbers; None for leaves that are not trained."""
    return _map_with_constraints(lambda c, leaf: BIJECTIONS[c].free(jnp.asarray(leaf)) if c.trained else None, module)


def bound(unbounded: T, template: T) -> T:
    """The module with the leaves of `unbounded` (made by `free`), and those of `template` where they are None."""
    constraints = _map_with_constraints(lambda c, leaf: c, template)
    return jax.tree.map(
        lambda c, u, leaf: leaf if u is None else BIJECTIONS[c].bound(u),
        constraints,
        unbounded,
        template,
        is_leaf=lambda node: isinstance(node, Constraint),
    )
