"""Priors on the hyperparameters of products, on their unbounded scale, and what a product costs.

    log p(u) = -sum ((u - u_0) / sd)^2 / 2

u are logarithms of lengths and periods, and places as they are; u_0 is the start of each candidate. Each family's file
says how wide the priors are (kernels/parameters.ParameterPrior). They are weak and the same for all data: they keep numbers
identified that the data say nothing about. `price` is what a number costs that the data do determine: the logarithm of
how much narrower it is known after n rows than before, half of log n for most numbers, log n for a period or the time
of a change, which rows determine faster.
"""

from collections.abc import Callable

import numpy as np

from farrier.evaluation.products import Products
from farrier.kernels.algebra import Kernel
from farrier.kernels.parameters import ParameterPrior, marks


def spreads(pool: Products) -> np.ndarray:
    """The prior standard deviation of each unbounded hyperparameter."""
    return _each(pool, lambda prior: prior.spread)


def reaches(pool: Products) -> np.ndarray:
    """How far each unbounded hyperparameter may move from where it started."""
    return _each(pool, lambda prior: prior.reach)


def typical_deviations(pool: Products) -> np.ndarray:
    """The typical posterior standard deviation of each unbounded hyperparameter."""
    of_value = np.array([number.mark.prior.typical_of_value for number in pool.layout], bool)
    return _each(pool, lambda prior: prior.typical) * np.where(of_value, pool.numbers, 1.0)


def log_prior(u: np.ndarray, centre: np.ndarray, spread: np.ndarray) -> tuple[float, np.ndarray]:
    """log p(u) up to a constant, and its derivative."""
    slope = -(u - centre) / spread**2
    return 0.5 * float(slope @ (u - centre)), slope


def price(kernel: Kernel, rows: int) -> float:
    """Nats that evidence must gain for the hyperparameters of a product to be worth knowing."""
    total = 0.0
    for factor in kernel.products()[0]:
        for name, mark in marks(type(factor)).items():
            total += mark.prior.price * np.log(rows) * np.size(getattr(factor, name))
    return total


def _each(pool: Products, of: Callable[[ParameterPrior], float]) -> np.ndarray:
    return np.array([of(number.mark.prior) for number in pool.layout], float)
