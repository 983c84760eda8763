"""What is believed of a product's lengths, periods and places before the data are seen.

    log p(u) = -sum over filled slots of ((u - u_0) / sd)^2 / 2

in unbounded numbers u (logarithms of lengths and periods, places as they are), about the start u_0 of each candidate.
The densities are weak and the same for all data: they keep numbers identified that the data say nothing about. What
a number costs that the data do determine is `price`: the logarithm of how much narrower it is known after n rows than
before, half of log n for most numbers, log n for a period or the time of a change, which rows determine faster.
"""

import numpy as np

from farrier.evaluation.slots import NUMBERS, SMOOTH, SlotPool
from farrier.kernels.algebra import Base, Kernel
from farrier.kernels.base import CentredPeriodic, Linear, Periodic, Step, StepUntil

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
DETERMINED = {
    "lengthscale": 1.0,
    "mixture": 1.0,
    "period": 0.014,
    "shape": 0.5,
    "line": 1.0,
    "start": 0.03,
    "start_width": 0.5,
    "end": 0.03,
    "end_width": 0.5,
}
"""How far a number may move, roughly, before the rows object. That of a period is for one of length one, inputs having
variance one: a longer one comes round less often, and is known less well."""

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


def filled(pool: SlotPool) -> dict[str, np.ndarray]:
    """For each trained field which of its entries belong to a filled slot, 1 or 0."""
    on = pool.arrays()
    smooth, repeat = on["smooth"] > 0, on["repeat"] > 0
    begins, ends = (on[name].any(axis=-1) for name in ("from_on", "until_on"))
    masks = {
        "lengthscale": smooth[:, None] & (on["smooth_on"] > 0),
        "mixture": on["smooth"] == len(SMOOTH),
        "period": repeat,
        "shape": repeat,
        "line": on["line_on"] > 0,
        "start": begins,
        "start_width": begins,
        "end": ends,
        "end_width": ends,
    }
    return {name: mask.astype(float) for name, mask in masks.items()}


def spreads(pool: SlotPool) -> dict[str, np.ndarray]:
    """The standard deviation of each unbounded number beforehand; 0 in empty slots."""
    return {name: mask * SPREAD[name] for name, mask in filled(pool).items()}


def log_prior(u: np.ndarray, centre: np.ndarray, spread: np.ndarray) -> tuple[float, np.ndarray]:
    """log p(u) and its derivative, all as vectors; a spread of 0 says that nothing is believed."""
    precision = np.divide(1.0, spread**2, out=np.zeros_like(spread), where=spread > 0)
    slope = -(u - centre) * precision
    return 0.5 * float(slope @ (u - centre)), slope


def raveled(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Arrays by the name of a pool's field, in the order in which its numbers stand in a vector."""
    return np.concatenate([np.ravel(arrays[name]) for name in NUMBERS])


def reach(pool: SlotPool) -> dict[str, np.ndarray]:
    """How far each unbounded number may move from where it started; 0 in empty slots."""
    return {name: mask * REACH[name] for name, mask in filled(pool).items()}


def determined(pool: SlotPool) -> dict[str, np.ndarray]:
    """How far each unbounded number may move, roughly, before the rows object."""
    sizes = {name: np.full(np.shape(getattr(pool, name)), DETERMINED[name]) for name in NUMBERS}
    return {**sizes, "period": sizes["period"] * np.asarray(pool.period)}


def price(kernel: Kernel, rows: int) -> float:
    """Nats that evidence must gain for the numbers of a product to be worth knowing."""
    total = 0.0
    for factor in kernel.products()[0]:
        for name, value in factor.parameters().items():
            total += PRICES.get((type(factor), name), 0.5) * np.log(rows) * np.size(value)
    return total
