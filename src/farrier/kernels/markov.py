"""The state-space form of kernels of one input whose processes are Markov: all work on n rows in O(n).

    f(t) = observation' x(t),     x(t + h) = A(h) x(t) + e,     e ~ N(0, Q(h)),     x(start) ~ N(0, initial)

`markov_form(kernel)` gives A, Q, the initial covariance and the observation vector. A random walk and a damped trend
start at their origin and go on to the right; a stationary kernel starts anywhere. `smooth_form` is an approximation of
the squared exponential, which is not Markov.

    A, Q = markov_form(Matern32(0.8)).steps(np.diff(times))     # (N - 1, 2, 2) each
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import comb, factorial
from typing import Any, final

import numpy as np
from scipy.linalg import solve_continuous_lyapunov

from farrier.kernels.algebra import Base
from farrier.kernels.registry import DampedTrend, Matern12, Matern32, Matern52, RandomWalk, SquaredExponential

Steps = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From distances (N,) to transition matrices and covariances of the noise, (N, d, d) each."""
SHORT = 0.01
"""Steps below this part of the time in which a slope is forgotten take a series: the formula would lose 10 digits."""
SHORT_STEP = 1.0
"""Steps below this, in units of a stationary process's own time, take the covariance of their noise by quadrature.
By judgement: the difference of covariances has lost two digits there."""
NODES = 12
"""Nodes of that quadrature, exact to rounding for the processes of this file. By judgement."""
SMOOTH_ORDER = 6
"""Order of the process that stands for a squared exponential: its covariance is then within 0.0043 of the kernel's, by
the test of `smooth_form`."""


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
    correlation: Callable[[np.ndarray], np.ndarray] | None = None
    """The covariance of values at distances of any shape, where the process is stationary."""
    since: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    """Where it is not: the covariance, given the state, of the values `first` and `first + apart` to its right."""


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

    return MarkovForm(
        np.ones(1), np.zeros((1, 1)), _one(kernel.origin), steps, since=lambda first, apart: first / scale
    )


def _damped_trend(kernel: DampedTrend) -> MarkovForm:
    """The state is the value and the slope; the slope is stationary, and the value is zero at the origin."""
    p, v = _one(kernel.damping), _one(kernel.scale) ** -2.0

    def steps(h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gone = -np.expm1(-p * h)  # the part of the slope that is forgotten
        A = _matrices([[np.ones_like(h), gone / p], [np.zeros_like(h), 1.0 - gone]])
        by_value, both, by_slope = 2.0 * _squared_gone(p * h) / p**2, gone**2 / p, gone * (2.0 - gone)
        return A, v * _matrices([[by_value, both], [both, by_slope]])

    def since(first: np.ndarray, apart: np.ndarray) -> np.ndarray:
        return v * (2.0 * _squared_gone(p * first) - np.expm1(-p * first) ** 2 * np.expm1(-p * apart)) / p**2

    return MarkovForm(np.array([1.0, 0.0]), np.diag([0.0, v]), _one(kernel.origin), steps, since=since)


def _squared_gone(x: np.ndarray) -> np.ndarray:
    """The integral of (1 - exp(-u))^2 over u from 0 to x."""
    gone = -np.expm1(-x)
    series = x**3 * (1 / 3 + x * (-1 / 4 + x * (7 / 60 + x * (-1 / 24 + x * 31 / 2520))))
    return np.where(x < SHORT, series, x - gone - 0.5 * gone**2)


def _matern(kernel: Matern12 | Matern32 | Matern52) -> MarkovForm:
    """The state is the value and its derivatives, in units of 1 / a: (d/dt + a)^order f is white noise."""
    order = {Matern12: 1, Matern32: 2, Matern52: 3}[type(kernel)]
    a = np.sqrt(2 * order - 1) / _one(kernel.lengthscale)
    drift = np.eye(order, k=1)
    drift[-1] = [-comb(order, i) for i in range(order)]
    # drift + 1 is nilpotent, so that its exponential is a polynomial
    powers = [np.linalg.matrix_power(drift + np.eye(order), k) / factorial(k) for k in range(order)]
    initial = {
        1: np.ones((1, 1)),
        2: np.eye(2),
        3: np.array([[1.0, 0.0, -1 / 3], [0.0, 1 / 3, 0.0], [-1 / 3, 0.0, 1.0]]),
    }[order]

    def applied(u: np.ndarray, right: np.ndarray) -> np.ndarray:
        u = u[..., None, None]
        return np.exp(-u) * sum((u**k * (power @ right) for k, power in enumerate(powers)), start=np.zeros_like(u))

    def correlation(u: np.ndarray) -> np.ndarray:
        return np.exp(-u) * (1.0 if order == 1 else 1.0 + u if order == 2 else 1.0 + u + u**2 / 3)

    return _stationary(applied, correlation, initial, a, float(-(drift @ initial + initial @ drift.T)[-1, -1]))


def smooth_form(kernel: SquaredExponential) -> MarkovForm:
    """A Markov process of order six whose covariance is within 0.5 % of the squared exponential's.

    Its spectral density is that of the kernel with exp(w^2 / 2) replaced by the first terms of its Taylor series
    (Hartikainen and Sarkka 2010). The state is the value and its derivatives, each with variance one.
    """
    poles, vectors, inverse, initial, rate = _smooth_process()

    def applied(u: np.ndarray, right: np.ndarray) -> np.ndarray:
        # sum over the poles of exp(u pole) times a matrix of rank one
        each = vectors.T[:, :, None] * (inverse @ right)[:, None, :]
        found = np.exp(u[..., None] * poles) @ each.reshape(len(poles), -1)
        return np.real(found).reshape(*u.shape, *each.shape[1:])

    def correlation(u: np.ndarray) -> np.ndarray:
        return np.interp(u, *_smooth_correlation())

    return _stationary(applied, correlation, initial, 1.0 / _one(kernel.lengthscale), rate)


@lru_cache(maxsize=1)
def _smooth_correlation() -> tuple[np.ndarray, np.ndarray]:
    """Distances and the covariances of `smooth_form` there, dense enough to interpolate to nine digits."""
    poles, vectors, inverse, initial, _ = _smooth_process()
    distances = np.linspace(0.0, 30.0, 600_001)
    return distances, np.real(np.exp(np.outer(distances, poles)) @ (vectors[0] * (inverse @ initial[:, 0])))


@lru_cache(maxsize=1)
def _smooth_process() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """Poles, eigenvectors and their inverse, stationary covariance and rate of the white noise of `smooth_form`."""
    polynomial = np.zeros(2 * SMOOTH_ORDER + 1)
    polynomial[::2] = [(-0.5) ** k / factorial(k) for k in range(SMOOTH_ORDER, -1, -1)]
    roots = np.roots(polynomial)
    coefficients = np.real(np.poly(roots[roots.real < 0]))
    drift = np.eye(SMOOTH_ORDER, k=1)
    drift[-1] = -coefficients[:0:-1]
    noise = np.zeros((SMOOTH_ORDER, SMOOTH_ORDER))
    noise[-1, -1] = 1.0
    P = solve_continuous_lyapunov(drift, -noise)
    sd = np.sqrt(np.diagonal(P))
    poles, vectors = np.linalg.eig(drift * sd[None, :] / sd[:, None])
    return poles, vectors, np.linalg.inv(vectors), P / np.outer(sd, sd), float(1.0 / sd[-1] ** 2)


def _stationary(
    applied: Callable[[np.ndarray, np.ndarray], np.ndarray],
    correlation: Callable[[np.ndarray], np.ndarray],
    initial: np.ndarray,
    rate: float,
    white: float,
) -> MarkovForm:
    """A stationary process in units of time 1 / rate, driven by white noise of intensity `white` in its last state.

    `applied` gives A(u) times a matrix (d, k).
    """
    order = len(initial)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)

    def steps(h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u = rate * h
        A = applied(u, np.eye(order))
        Q = initial - A @ initial @ np.swapaxes(A, -1, -2)
        short = (u < SHORT_STEP) if order > 1 else np.zeros_like(u, bool)
        if short.any():
            # the difference would lose all digits; Q is the integral of v(s) v(s)' with v(s) = A(s) e_last
            s = u[short]
            v = applied(0.5 * s[:, None] * (1.0 + nodes), np.eye(order)[:, -1:])[..., 0]
            Q[short] = white * np.einsum("nk,nki,nkj->nij", 0.5 * s[:, None] * weights, v, v, optimize=True)
        return A, Q

    return MarkovForm(np.eye(order)[0], initial, None, steps, lambda h: correlation(rate * h))


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
