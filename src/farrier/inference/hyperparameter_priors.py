"""Priors of the hyperparameters of products, and the price of a product.

    log p(u) = -sum ((u - u_0) / sd)^2 / 2

u are the hyperparameters on their unbounded scale: logarithms of lengthscales and periods, locations as they are. u_0
is the starting value of each candidate. The standard deviations are in the file of each family
(kernels/parameters.ParameterPrior). These priors are weak and the same for all data; they keep parameters identified
that the data do not determine.

The price of a parameter is its complexity penalty, as in the BIC: the logarithm of how much narrower its posterior is
than its prior after n rows. That is log(n) / 2 for most parameters, and log(n) for a period or a changepoint, whose
standard deviation shrinks as 1 / n.
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
    """The largest distance of each unbounded hyperparameter from its starting value."""
    return _each(pool, lambda prior: prior.reach)


def typical_deviations(pool: Products) -> np.ndarray:
    """The typical posterior standard deviation of each unbounded hyperparameter."""
    of_value = np.array([number.mark.prior.typical_of_value for number in pool.layout], bool)
    return _each(pool, lambda prior: prior.typical) * np.where(of_value, pool.numbers, 1.0)


def log_prior(u: np.ndarray, centre: np.ndarray, spread: np.ndarray) -> tuple[float, np.ndarray]:
    """log p(u) up to an additive constant, and its derivative; a spread of 0 marks a number that is not fitted."""
    slope = np.divide(-(u - centre), spread**2, out=np.zeros_like(u), where=spread > 0)
    return 0.5 * float(slope @ (u - centre)), slope


def price(kernel: Kernel, rows: int) -> float:
    """The price of a product: the log evidence, in nats, that it must gain to justify its hyperparameters."""
    total = 0.0
    for factor in kernel.products()[0]:
        for name, mark in marks(type(factor)).items():
            total += mark.prior.price * np.log(rows) * np.size(getattr(factor, name))
    return total


def _each(pool: Products, of: Callable[[ParameterPrior], float]) -> np.ndarray:
    return np.array([of(number.mark.prior) for number in pool.layout], float)
