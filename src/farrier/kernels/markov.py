"""The state-space form of kernels of one input whose processes are Markov: all work on n rows in O(n).

    f(t) = observation' x(t),     x(t + h) = A(h) x(t) + e,     e ~ N(0, Q(h)),     x(start) ~ N(0, initial)

`markov_form(kernel)` gives A, Q, the initial covariance and the observation vector. A random walk and a damped trend
start at their origin and go on to the right; a stationary kernel starts anywhere.

    A, Q = markov_form(Matern32(0.8)).steps(np.diff(times))     # (N - 1, 2, 2) each
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, factorial
from typing import Any, final

import numpy as np

from farrier.kernels.algebra import Base
from farrier.kernels.registry import DampedTrend, Matern12, Matern32, Matern52, RandomWalk

Steps = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From distances (N,) to transition matrices and covariances of the noise, (N, d, d) each."""
SHORT = 0.01
"""Steps below this part of the time in which a slope is forgotten take a series: the formula would lose 10 digits."""


@final
@dataclass(frozen=True, eq=False)
class MarkovForm:
    """A kernel of one input as a linear stochastic differential equation, solved for steps of any length."""

    observation: np.ndarray
    """The value of the function from the state, (d,)."""
    initial: np.ndarray
    """The covariance of the state at the start, (d, d)."""
    origin: float | None
    """The start; None where the process is stationary and may start anywhere."""
    steps: Steps
    """Transition matrices and covariances of the noise of steps to the right by distances (N,), (N, d, d) each."""


def markov_form(kernel: Base) -> MarkovForm:
    """The state-space form of one factor of one input."""
    if type(kernel) not in _FORMS:
        known = ", ".join(family.__name__ for family in _FORMS)
        raise ValueError(f"kernel: {type(kernel).__name__} has no state-space form here; those that have one: {known}.")
    return _FORMS[type(kernel)](kernel)


def _one(parameter: Any) -> float:
    """The number of a kernel of one input."""
    entries = np.ravel(parameter)
    if len(entries) != 1:
        raise ValueError(f"kernel: a state-space form has one input, got numbers for {len(entries)}: name it by dims=.")
    return float(entries[0])


def _random_walk(kernel: RandomWalk) -> MarkovForm:
    """The state is the level."""
    scale = _one(kernel.scale)

    def steps(h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.ones((len(h), 1, 1)), (h / scale)[:, None, None]

    return MarkovForm(np.ones(1), np.zeros((1, 1)), _one(kernel.origin), steps)


def _damped_trend(kernel: DampedTrend) -> MarkovForm:
    """The state is the value and the slope; the slope is stationary, and the value is zero at the origin."""
    p, v = _one(kernel.damping), _one(kernel.scale) ** -2.0

    def steps(h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gone = -np.expm1(-p * h)  # the part of the slope that is forgotten
        A = _matrices([[np.ones_like(h), gone / p], [np.zeros_like(h), 1.0 - gone]])
        by_value, both, by_slope = 2.0 * _squared_gone(p * h) / p**2, gone**2 / p, gone * (2.0 - gone)
        return A, v * _matrices([[by_value, both], [both, by_slope]])

    return MarkovForm(np.array([1.0, 0.0]), np.diag([0.0, v]), _one(kernel.origin), steps)


def _squared_gone(x: np.ndarray) -> np.ndarray:
    """The integral of (1 - exp(-u))^2 over u from 0 to x."""
    gone = -np.expm1(-x)
    series = x**3 * (1 / 3 + x * (-1 / 4 + x * (7 / 60 + x * (-1 / 24 + x * 31 / 2520))))
    return np.where(x < SHORT, series, x - gone - 0.5 * gone**2)


def _matern(kernel: Matern12 | Matern32 | Matern52) -> MarkovForm:
    """The state is the value and its derivatives: (d/dt + a)^order f is white noise."""
    order = {Matern12: 1, Matern32: 2, Matern52: 3}[type(kernel)]
    a = np.sqrt(2 * order - 1) / _one(kernel.lengthscale)
    drift = np.eye(order, k=1)
    drift[-1] = [-comb(order, i) * a ** (order - i) for i in range(order)]
    # drift + a is nilpotent, so that its exponential is a polynomial
    powers = [np.linalg.matrix_power(drift + a * np.eye(order), k) / factorial(k) for k in range(order)]
    initial = {
        1: np.ones((1, 1)),
        2: np.diag([1.0, a**2]),
        3: np.array([[1.0, 0.0, -(a**2) / 3], [0.0, a**2 / 3, 0.0], [-(a**2) / 3, 0.0, a**4]]),
    }[order]

    def steps(h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        h = h[:, None, None]
        A = np.exp(-a * h) * sum((h**k * power for k, power in enumerate(powers)), start=np.zeros_like(h))
        return A, initial - A @ initial @ A.transpose(0, 2, 1)

    return MarkovForm(np.eye(order)[0], initial, None, steps)


def _matrices(rows: list[list[np.ndarray]]) -> np.ndarray:
    """Entries (N,) of matrices as an array (N, d, d)."""
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


_FORMS: dict[type[Base], Callable[[Any], MarkovForm]] = {
    RandomWalk: _random_walk,
    DampedTrend: _damped_trend,
    Matern12: _matern,
    Matern32: _matern,
    Matern52: _matern,
}
