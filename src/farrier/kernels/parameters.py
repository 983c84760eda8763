"""Constraints as marks on fields, and the one place where they are applied.

Modules hold the values that formulas speak of: a lengthscale is positive, a Cholesky factor is lower triangular.
Optimisers want unbounded numbers. A field says which it is,

    lengthscale: Array = positive()

and `free` / `bound` map a whole tree of modules to unbounded numbers and back. A leaf without a mark is data: it
is never trained; `fixed()` says so aloud, and `frozen()` does so for everything inside a module.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import DictKey, GetAttrKey, SequenceKey

T = TypeVar("T")


class Module(eqx.Module):
    """A module whose methods are looked up as those of any class.

    Equinox makes a tree of each method that is looked up, which costs more than most methods of these modules do.
    """

    __getattribute__ = object.__getattribute__


@dataclass(frozen=True)
class Constraint:
    """A bijection between the values a field may take and all real numbers; `trained` is False for constants."""

    name: str
    bound: Callable[[Any], Any]
    free: Callable[[Any], Any]
    trained: bool = True


def _on_diagonal(function: Callable[[Array], Array], A: Array) -> Array:
    """The lower triangle of A, with `function` of what is on its diagonal."""
    diagonal = function(jnp.diagonal(A, axis1=-2, axis2=-1))
    return jnp.tril(A, -1) + diagonal[..., None] * jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)


def _exp_diagonal(A: Array) -> Array:
    return _on_diagonal(jnp.exp, A)


def _log_diagonal(L: Array) -> Array:
    return _on_diagonal(jnp.log, L)


REAL = Constraint("real", bound=lambda a: a, free=lambda a: a)
POSITIVE = Constraint(
    "positive",
    bound=lambda a: np.exp(a) if isinstance(a, np.ndarray) else jnp.exp(a),
    free=lambda a: np.log(a) if isinstance(a, np.ndarray) else jnp.log(a),
)
LOWER_TRIANGULAR = Constraint("lower triangular", bound=_exp_diagonal, free=_log_diagonal)
FIXED = Constraint("fixed", bound=lambda a: a, free=lambda a: a, trained=False)


def as_array(value: Any) -> Any:
    """Numbers become float64 numpy arrays, so that no precision is lost before jax sees them; arrays stay."""
    return value if value is None or isinstance(value, jax.Array) else np.asarray(value, dtype=np.float64)


def is_concrete(value: Any) -> bool:
    """Whether the numbers are known now, which they are not while jax traces a function."""
    return not isinstance(value, jax.core.Tracer)


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


def mark(module: eqx.Module, name: str) -> Constraint | None:
    """The constraint on the field `name` of `module`, None where there is no mark."""
    return marks(type(module))[name]


@lru_cache
def marks(kind: type[eqx.Module]) -> dict[str, Constraint | None]:
    """The constraint on each field of a kind of module, None where there is no mark."""
    return {field.name: field.metadata.get("constraint") for field in fields(kind)}


def _constraint_along(tree: Any, path: tuple[Any, ...]) -> Constraint:
    """The mark that governs the leaf at the end of `path`: the innermost one, unless something outside is fixed."""
    node, found = tree, None
    for key in path:
        if isinstance(key, GetAttrKey):
            found = mark(node, key.name) or found
            node = getattr(node, key.name)
        elif isinstance(key, SequenceKey):
            node = node[key.idx]
        elif isinstance(key, DictKey):
            node = node[key.key]
        if found is FIXED:
            return FIXED
    return found or FIXED


_KNOWN: dict[Any, list[Constraint]] = {}
"""The constraints on the leaves of a tree, by its structure: to follow all paths takes longer than the work on them."""


def _map_with_constraints(function: Callable[[Constraint, Array], Any], tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tree)
    if structure not in _KNOWN:
        paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]]
        _KNOWN[structure] = [_constraint_along(tree, path) for path in paths]
    mapped = [function(constraint, leaf) for constraint, leaf in zip(_KNOWN[structure], leaves, strict=True)]
    return jax.tree.unflatten(structure, mapped)


def free(module: T) -> T:
    """The trained leaves of `module` as unbounded numbers; None stands where a leaf is not trained."""
    return _map_with_constraints(lambda c, leaf: c.free(jnp.asarray(leaf)) if c.trained else None, module)


def packed(module: Any) -> np.ndarray:
    """The trained leaves as one vector of unbounded numbers, on the host."""
    found = _map_with_constraints(lambda c, leaf: c.free(np.asarray(leaf)) if c.trained else None, module)
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(found)])


def unpacked(u: Any, template: T) -> T:
    """What `free` makes, from a vector as `packed` makes it; None stands where a leaf is not trained."""
    first = 0

    def cut(constraint: Constraint, leaf: Any) -> Any:
        nonlocal first
        if not constraint.trained:
            return None
        size = int(np.prod(np.shape(leaf)))
        first += size
        return u[first - size : first].reshape(np.shape(leaf))

    return _map_with_constraints(cut, template)


def rebuilt(u: np.ndarray, template: T) -> T:
    """The module of a vector as `packed` makes it, on the host."""
    return jax.tree.map(np.asarray, bound(unpacked(u, template), template))


def bound(unbounded: T, template: T) -> T:
    """The module whose trained leaves are `unbounded` (as `free` made them) and whose others are `template`'s."""
    constraints = _map_with_constraints(lambda c, leaf: c, template)
    return jax.tree.map(
        lambda c, u, leaf: c.bound(u) if c.trained else leaf,
        constraints,
        unbounded,
        template,
        is_leaf=lambda node: isinstance(node, Constraint),
    )
