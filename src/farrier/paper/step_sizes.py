"""How far one step of Adam moves each parameter, relative to the step size.

Adam moves every parameter by about the step size, however much or little the bound depends on it. That suits logarithms
of weights, lengthscales and variances. It does not suit a period: over a range of R a change of its logarithm by d
shifts the last cycle by d R / p cycles, so with 30 cycles a step of 0.1 moves it by three whole cycles. Periods that
were read from the data were lost in the first steps, before the trend was fitted and the season could be seen. A period
is therefore moved in cycles: by the step size times p / R.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from farrier.kernels.registry import CentredPeriodic, Periodic
from farrier.paper.multisvgp import MultiSVGP

POINTS = 1.0
"""The step of an inducing point, in parts of the distance between neighbours; by judgement."""


def relative_steps(unbounded: Any, X: Float[Array, "N D"]) -> Any:
    """The part of the step size that each trained parameter takes: p / R for periods, at most one; one for the rest."""
    sizes = jax.tree.map(jnp.ones_like, unbounded)
    ranges = jnp.max(X, axis=0) - jnp.min(X, axis=0)
    for place, stack in enumerate(unbounded.posterior.pool.stacks):
        if isinstance(stack.factors, Periodic | CentredPeriodic):
            # the trained number is log p
            cycles = ranges[np.asarray(stack.columns)] * jnp.exp(-jnp.asarray(stack.factors.period))
            size = 1.0 / jnp.maximum(cycles, 1.0)
            sizes = eqx.tree_at(lambda model, i=place: model.posterior.pool.stacks[i].factors.period, sizes, size)
    Z = _points(unbounded)
    apart = ranges * Z.shape[-2] ** (-1.0 / Z.shape[-1])
    size = jnp.broadcast_to(jnp.minimum(POINTS * apart, 1.0), Z.shape)
    return eqx.tree_at(_points, sizes, size)


def _points(model: Any) -> Any:
    """The inducing points of a model."""
    return model.posterior.Z if isinstance(model.posterior, MultiSVGP) else model.posterior.inducing.Z
