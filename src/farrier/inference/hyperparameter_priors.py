"""Priors of the hyperparameters of products.

    log p(u) = -sum ((u - u_0) / sd)^2 / 2 + constant

u are the hyperparameters on their unbounded scale: logarithms of lengthscales and periods, locations as they are. u_0
is the starting value of each candidate, or a learned mean (search/beliefs.py). The standard deviations are in the file
of each family (kernels/parameters.ParameterPrior), or learned. An infinite one stands for a uniform prior.
"""

from collections.abc import Callable

import numpy as np

from farrier.evaluation.products import Products
from farrier.kernels.parameters import ParameterPrior


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


def log_prior(u: np.ndarray, centre: np.ndarray, precision: np.ndarray) -> tuple[float, np.ndarray]:
    """log p(u) up to an additive constant, and its derivative."""
    away = u - centre
    slope = -away * precision
    return 0.5 * float(slope @ away), slope


def precisions(spread: np.ndarray) -> np.ndarray:
    """The inverse of each prior variance; 0 for a number that is not fitted."""
    return np.divide(1.0, spread**2, out=np.zeros_like(spread), where=spread > 0)


def _each(pool: Products, of: Callable[[ParameterPrior], float]) -> np.ndarray:
    return np.array([of(number.mark.prior) for number in pool.layout], float)
