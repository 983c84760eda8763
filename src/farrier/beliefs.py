"""What is believed of a product's lengths, periods and places before the data are seen.

    log p(u) = -sum over filled slots of ((u - u_0) / sd)^2 / 2

in unbounded numbers u (logarithms of lengths and periods, places as they are), about the start u_0 of each candidate.
The densities are weak and the same for all data: they keep numbers identified that the data say nothing about. What
a number costs that the data do determine is `price`: the logarithm of how much narrower it is known after n rows than
before, half of log n for most numbers, log n for a period or the time of a change, which rows determine faster.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from farrier.kernels.algebra import Base, Kernel
from farrier.kernels.base import CentredPeriodic, Linear, Periodic, Step, StepUntil
from farrier.kernels.slots import SlotPool
from farrier.parameters import free

SPREAD = {
    "lengthscale": 1.0,
    "mixture": 1.0,
    "period": 1.0,
    "shape": 0.7,
    "line": 1.0,
    "start": 1.0,
    "start_width": 0.7,
    "end": 1.0,
    "end_width": 0.7,
}
"""Standard deviations, of logarithms for what is positive, of standardised inputs for places."""
REACH = {
    "lengthscale": 3.0,
    "mixture": 3.0,
    "period": 0.08,
    "shape": 1.6,
    "line": 4.0,
    "start": 0.5,
    "start_width": 1.5,
    "end": 0.5,
    "end_width": 1.5,
}
"""How far a number may move from its start: further, it would be another candidate."""

PRICES: dict[tuple[type[Base], str], float] = {
    (Periodic, "period"): 1.0,
    (CentredPeriodic, "period"): 1.0,
    (Step, "location"): 1.0,
    (StepUntil, "location"): 1.0,
    (Linear, "scale"): 0.0,
    (Step, "width"): 0.0,
    (StepUntil, "width"): 0.0,
    (Periodic, "lengthscale"): 0.25,
    (CentredPeriodic, "lengthscale"): 0.25,
}
"""How many times log n each number costs, one half unless it stands here. Widths and shapes are hardly determined."""


def filled(pool: SlotPool) -> dict[str, np.ndarray | Array]:
    """For each trained field which of its entries belong to a filled slot, 1 or 0."""
    smooth, repeat = jnp.asarray(pool.smooth), jnp.asarray(pool.repeat)
    begins, ends = (jnp.any(jnp.asarray(on) > 0, axis=-1) for on in (pool.from_on, pool.until_on))
    masks = {
        "lengthscale": (smooth > 0)[:, None] & (jnp.asarray(pool.smooth_on) > 0),
        "mixture": smooth == 5,
        "period": repeat > 0,
        "shape": repeat > 0,
        "line": jnp.asarray(pool.line_on) > 0,
        "start": begins,
        "start_width": begins,
        "end": ends,
        "end_width": ends,
    }
    return {name: jnp.where(mask, 1.0, 0.0) for name, mask in masks.items()}


def log_prior(pool: SlotPool, centre: SlotPool) -> Float[Array, ""]:
    """log p(u) of the pool's numbers."""
    u, u_0, total = free(pool), free(centre), jnp.zeros(())
    for name, mask in filled(pool).items():
        sd = SPREAD[name]
        z = (getattr(u, name) - getattr(u_0, name)) / sd
        total = total - jnp.sum(mask * 0.5 * z**2)
    return total


def reach(pool: SlotPool) -> SlotPool:
    """How far each unbounded number may move from where it is, in the shape of `free(pool)`; empty slots stay."""
    masks = filled(pool)
    return eqx.tree_at(
        lambda tree: [getattr(tree, name) for name in masks],
        free(pool),
        [np.asarray(mask) * REACH[name] for name, mask in masks.items()],
    )


def price(kernel: Kernel, rows: int) -> float:
    """Nats that evidence must gain for the numbers of a product to be worth knowing."""
    total = 0.0
    for factor in kernel.products()[0]:
        for name, value in factor.parameters().items():
            total += PRICES.get((type(factor), name), 0.5) * np.log(rows) * np.size(value)
    return total
