"""Priors on the weights w of f(x) = sum_i w_i g_i(x), each with its variational posterior q(w).

A `WeightPrior` is the pair p(w), q(w). It holds the parameters of q, draws from q and computes KL(q || p), which is all
that the evidence lower bound needs:

    L = E_q(w)[ F(w) ] - KL(q(w) || p(w))

Draws are a deterministic function of standard normal noise. Random noise gives a stochastic bound; `quasi_normal` gives
a smooth bound that is the same at every call. For L-BFGS, `weigh` computes squared weights and KL at a vector of
unbounded parameters, with hand-written derivatives. The horseshoe is in horseshoe.py, what the paper compares it with
in baselines/weight_priors.py.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from scipy.special import ndtri

from farrier.kernels.parameters import bounded, check_fields, trained, unbounded


@lru_cache(maxsize=64)
def quasi_normal(draws: int, size: int) -> np.ndarray:
    """A fixed quasi-random sample (S, E) of a standard normal: S = `draws` points in E = `size` dimensions.

    Scrambled Sobol points are mapped through the normal quantile function and then adjusted. Every column has mean 0
    and variance 1. With more draws than dimensions the columns are uncorrelated, so averages of quadratic functions of
    the noise are exact. A single draw is the median. The array is cached and read-only.
    """
    from scipy.stats import qmc  # slow to import, and not always needed

    if draws < 1 or draws & (draws - 1):
        raise ValueError(f"draws={draws} must be a power of two: try 1, 2, 4, 8, 16, ...")
    if draws == 1 or size == 0:
        return _read_only(np.zeros((draws, size)))
    points = qmc.Sobol(size, scramble=True, rng=np.random.default_rng(0)).random_base2(draws.bit_length() - 1)
    Z = ndtri(points)
    Z = Z - Z.mean(axis=0)
    Z = Z / np.sqrt((Z**2).mean(axis=0))
    if draws <= size:
        return _read_only(Z)
    # with Z = U D V', the nearest matrix that has Z'Z / S = I is sqrt(S) U V'
    U, _, Vt = np.linalg.svd(Z, full_matrices=False)
    return _read_only(np.sqrt(draws) * (U @ Vt))


def _read_only(Z: np.ndarray) -> np.ndarray:
    Z.flags.writeable = False
    return Z


def starting_weight(m: int) -> float:
    """1 / sqrt(m): with m such weights f has unit variance, like a standardised y."""
    if m < 1:
        raise ValueError(f"m={m}: give at least one kernel")
    return 1.0 / float(np.sqrt(m))


def check_probability(probability: float) -> None:
    """Raise ValueError unless the value is strictly between 0 and 1."""
    if not 0.0 < probability < 1.0:
        raise ValueError(f"probability={probability}: give a number between 0 and 1; 0.5 is the median")


class Weighed(NamedTuple):
    """Squared weights (S, m), the KL divergence, and the backward pass.

    `pull` maps dL/dw2 to the derivative of L - KL with respect to the unbounded parameters of q.
    """

    w2: np.ndarray
    kl: float
    pull: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class WeightPrior(ABC):
    """A prior p(w) together with its variational posterior q(w)."""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    @abstractmethod
    def noise_size(self) -> int:
        """The number of independent standard normal variables that one draw of w needs."""

    @abstractmethod
    def quantile(self, probability: float) -> np.ndarray:
        """A quantile of the marginal distribution of each w_i under q, (m,)."""

    @abstractmethod
    def weigh(self, u: np.ndarray, noise: np.ndarray) -> Weighed:
        """Squared weights and KL for unbounded parameters u of q and rows of standard normal noise."""

    def vector(self) -> np.ndarray:
        """The unbounded parameters of q as one vector, field by field."""
        parts = [np.ravel(unbounded(getattr(self, n), mark.constraint)) for n, mark in trained(type(self)).items()]
        return np.concatenate([np.zeros(0), *parts])

    def with_vector(self, u: np.ndarray) -> Self:
        """The prior with the parameters of a vector as returned by `vector`."""
        changes, first = {}, 0
        for name, mark in trained(type(self)).items():
            shape = np.shape(getattr(self, name))
            size = int(np.prod(shape))
            changes[name] = bounded(u[first : first + size].reshape(shape), mark.constraint)
            first += size
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return type(self)(**(fields | changes))


def prediction_weights(prior: WeightPrior, noise: np.ndarray) -> np.ndarray:
    """Draws of the absolute weights, (S, m); the model does not depend on the signs."""
    return np.sqrt(prior.weigh(prior.vector(), noise).w2)
