"""Kernels, priors and likelihoods as trees of jax: which of their numbers are trained, and on which scale.

They are plain frozen data (kernels/parameters.py). Here they are registered as trees whose leaves are their marked
fields. Modules of this folder mark their own fields in the same words,

    q_root: Array = lower_triangular()

and `free` / `bound` map a whole tree to unbounded numbers and back. A leaf without a mark is data: it is never trained;
`fixed()` says so aloud, and `frozen()` does so for everything inside a module.
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

from farrier.inference.arrays import World
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Bernoulli, Gaussian, Poisson, StudentT
from farrier.inference.weight_priors import NoPrior, Softmax, SpikeAndSlab
from farrier.kernels.parameters import FIXED, POSITIVE, REAL, Constraint, marks
from farrier.kernels.registry import FAMILIES

T = TypeVar("T")
JAX = World(jnp, jax.scipy.special, jax.lax.stop_gradient)
"""Where formulas of priors and likelihoods are worked out in this folder."""
LOWER_TRIANGULAR = Constraint("lower triangular")


@dataclass(frozen=True)
class Bijection:
    """Between the values that a constraint allows and all real numbers."""

    bound: Callable[[Any], Any]
    free: Callable[[Any], Any]


def _on_diagonal(function: Callable[[Array], Array], A: Array) -> Array:
    """The lower triangle of A, with `function` of what is on its diagonal."""
    diagonal = function(jnp.diagonal(A, axis1=-2, axis2=-1))
    return jnp.tril(A, -1) + diagonal[..., None] * jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)


BIJECTIONS: dict[Constraint, Bijection] = {
    REAL: Bijection(lambda a: a, lambda a: a),
    POSITIVE: Bijection(jnp.exp, jnp.log),
    LOWER_TRIANGULAR: Bijection(lambda A: _on_diagonal(jnp.exp, A), lambda L: _on_diagonal(jnp.log, L)),
}


def as_array(value: Any) -> Any:
    """Numbers become float64 numpy arrays, so that no precision is lost before jax sees them; arrays stay."""
    return value if value is None or isinstance(value, jax.Array) else np.asarray(value, dtype=np.float64)


def _marked(constraint: Constraint, **kwargs: Any) -> Any:
    return eqx.field(metadata={"constraint": constraint}, **kwargs)


def real(**kwargs: Any) -> Any:
    """A field of unbounded numbers, trained as they are."""
    return _marked(REAL, converter=as_array, **kwargs)


def positive(**kwargs: Any) -> Any:
    """A field of positive numbers, trained as logarithms."""
    return _marked(POSITIVE, converter=as_array, **kwargs)


def lower_triangular(**kwargs: Any) -> Any:
    """A field of lower triangular matrices with a positive diagonal, trained with the diagonal's logarithm."""
    return _marked(LOWER_TRIANGULAR, converter=as_array, **kwargs)


def fixed(**kwargs: Any) -> Any:
    """A field of numbers that are never trained."""
    return _marked(FIXED, converter=as_array, **kwargs)


def part(**kwargs: Any) -> Any:
    """A field that holds a module, trained as its own marks say."""
    return eqx.field(**kwargs)


def frozen(**kwargs: Any) -> Any:
    """A field that holds a module of which nothing is trained."""
    return _marked(FIXED, **kwargs)


def register(kind: type[Any]) -> type[Any]:
    """Make a frozen dataclass a tree whose leaves are its marked fields; also as a decorator."""
    leaves = tuple(marks(kind))
    others = tuple(one.name for one in fields(kind) if one.name not in leaves)

    def flatten_with_keys(module: Any) -> Any:
        return [(GetAttrKey(name), getattr(module, name)) for name in leaves], tuple(
            getattr(module, name) for name in others
        )

    def unflatten(kept: tuple[Any, ...], values: Any) -> Any:
        # not through the constructor: while jax traces, values are no numbers that could be checked
        module = object.__new__(kind)
        for name, value in (*zip(leaves, values, strict=True), *zip(others, kept, strict=True)):
            object.__setattr__(module, name, value)
        return module

    jax.tree_util.register_pytree_with_keys(kind, flatten_with_keys, unflatten)
    return kind


for _kind in (*FAMILIES, Horseshoe, NoPrior, Softmax, SpikeAndSlab, Gaussian, Bernoulli, StudentT, Poisson):
    register(_kind)


def constraint_of(module: Any, name: str) -> Constraint | None:
    """The constraint on the field `name` of `module`, None where there is no mark."""
    return _constraints(type(module))[name]


@lru_cache
def _constraints(kind: type[Any]) -> dict[str, Constraint | None]:
    plain = {name: mark.constraint for name, mark in marks(kind).items()}
    return {one.name: plain.get(one.name, one.metadata.get("constraint")) for one in fields(kind)}


def _constraint_along(tree: Any, path: tuple[Any, ...]) -> Constraint:
    """The mark that governs the leaf at the end of `path`: the innermost one, unless something outside is fixed."""
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
    """The trained leaves of `module` as unbounded numbers; None stands where a leaf is not trained."""
    return _map_with_constraints(lambda c, leaf: BIJECTIONS[c].free(jnp.asarray(leaf)) if c.trained else None, module)


def bound(unbounded: T, template: T) -> T:
    """The module whose trained leaves are `unbounded` (as `free` made them) and whose others are `template`'s."""
    constraints = _map_with_constraints(lambda c, leaf: c, template)
    return jax.tree.map(
        lambda c, u, leaf: BIJECTIONS[c].bound(u) if c.trained else leaf,
        constraints,
        unbounded,
        template,
        is_leaf=lambda node: isinstance(node, Constraint),
    )
