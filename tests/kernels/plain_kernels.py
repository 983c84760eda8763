"""The kernels once more, slowly: one pair of points at a time, in plain Python from the formulas; and the lists of
kernels that all kernel tests go through."""

import math

import numpy as np
from scipy.special import i0

from farrier.kernels.algebra import Base, Product, Sum
from farrier.kernels.registry import (
    CentredPeriodic,
    Constant,
    DampedTrend,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RandomWalk,
    RationalQuadratic,
    SquaredExponential,
    Step,
    StepUntil,
    White,
)

BASES = [
    Constant(),
    Step(0.3, 0.4),
    1 - Step(-0.2, 0.7),
    Linear(0.6, 1.7),
    SquaredExponential(0.8),
    RationalQuadratic(0.7, 1.3),
    Matern12(1.1),
    Matern32(0.9),
    Matern52(1.2),
    Periodic(1.4, 0.9),
    CentredPeriodic(0.9, 1.6),
    White(),
    RandomWalk(-0.4, 1.6),
    DampedTrend(0.7, 0.3, 1.4),
]

KERNELS = [
    *BASES,
    SquaredExponential(2.0) * Periodic(1.0, 0.8),
    Linear(-0.5) * Linear(0.4),
    SquaredExponential(2.0) * Linear(0.1) * CentredPeriodic(1.3),
    Step(0.0, 0.2) * Matern32(0.5),
    (1 - Step(0.0, 0.2)) * RationalQuadratic(0.5, 3.0) * White(),
    Matern12(1.3) * Periodic(1.1, 0.8) * RandomWalk(-2.5),
    Linear(0.2) * DampedTrend(2.1, -2.5, 3.0),
]

TWO_INPUTS = [
    Constant(),
    Step(0.3, 0.4, dims=1),
    1 - Step(-0.3, 0.4, dims=0),
    Linear(np.array([0.6, -0.3]), np.array([1.7, 0.4])),
    Linear(0.6, None),
    SquaredExponential(np.array([0.8, 2.5])),
    RationalQuadratic(np.array([0.7, 1.9]), 1.3, dims=(1, 0)),
    Matern12(np.array([1.1, 0.4])),
    Matern32(0.9),
    Matern52(np.array([1.2, 3.0]), dims=(1, 0)),
    Periodic(np.array([1.4, 0.6]), np.array([0.9, 2.0])),
    CentredPeriodic(np.array([0.9, 1.8]), np.array([1.6, 0.8])),
    CentredPeriodic(0.9, 1.6, dims=1),
    White(),
    White(dims=0),
    RandomWalk(-0.4, 1.6, dims=1),
    DampedTrend(0.7, 0.3, 1.4, dims=0),
    RandomWalk(-2.0, dims=0) * SquaredExponential(0.7, dims=1),
    SquaredExponential(0.7, dims=0) * Periodic(1.3, 0.5, dims=1) * Linear(0.2),
    SquaredExponential(0.7, dims=0) * Periodic(1.3, 0.5, dims=1) + Linear(0.2) * Matern12(0.4, dims=1),
]


def equal(one, other):
    """Whether two kernels are the same expression with the same numbers."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Base):
        pairs = zip(one.parameters().values(), other.parameters().values(), strict=True)
        return one.dims == other.dims and all((a is None) == (b is None) and np.array_equal(a, b) for a, b in pairs)
    parts = [kernel.terms if isinstance(kernel, Sum) else kernel.factors for kernel in (one, other)]
    return len(parts[0]) == len(parts[1]) and all(map(equal, *parts))


def plain(kernel, x, z):
    """k(x, z) for two points, each a sequence of inputs."""
    if isinstance(kernel, Sum):
        return sum(plain(term, x, z) for term in kernel.terms)
    if isinstance(kernel, Product):
        return math.prod(plain(factor, x, z) for factor in kernel.factors)
    columns = range(len(x)) if kernel.dims is None else kernel.dims

    def each(name):
        return np.broadcast_to(np.asarray(getattr(kernel, name)), (len(columns),))

    def distance():
        return math.sqrt(sum(((x[d] - z[d]) / a) ** 2 for d, a in zip(columns, each("lengthscale"), strict=True)))

    def rises(points):
        (d,), location, width = columns, float(kernel.location), float(kernel.width)
        return math.prod(1.0 / (1.0 + math.exp(-(point[d] - location) / width)) for point in points)

    def falls(points):
        (d,), location, width = columns, float(kernel.location), float(kernel.width)
        return math.prod(1.0 - 1.0 / (1.0 + math.exp(-(point[d] - location) / width)) for point in points)

    def repeating():
        period, length = each("period"), each("lengthscale")
        sines = [math.sin(math.pi * (x[d] - z[d]) / p) for d, p in zip(columns, period, strict=True)]
        return math.exp(sum(-2.0 * s**2 / a**2 for s, a in zip(sines, length, strict=True)))

    def level():
        return math.prod(math.exp(-1.0 / a**2) * i0(1.0 / a**2) for a in each("lengthscale"))

    def line():
        places = each("location")
        scales = [math.sqrt(1.0 + c**2) for c in places] if kernel.scale is None else each("scale")
        return sum((x[d] - c) * (z[d] - c) / s**2 for d, c, s in zip(columns, places, scales, strict=True))

    def from_origin():
        (d,) = columns
        return x[d] - float(kernel.origin), z[d] - float(kernel.origin)

    def walk():
        # the walks in the two directions are independent
        s, t = from_origin()
        return min(abs(s), abs(t)) / float(kernel.scale) if s * t > 0 else 0.0

    def damped():
        # the integral of exp(-p |u - v|) over u from 0 to s and v from 0 to t; it changes its form at u = v
        (s, t), p = from_origin(), float(kernel.damping)
        low, high = sorted((abs(s), abs(t)))
        if s * t <= 0:  # v < 0 < u: minus a product of two integrals
            return -(1.0 - math.exp(-p * low)) * (1.0 - math.exp(-p * high)) / (p * float(kernel.scale)) ** 2
        square = 2.0 * (low / p - (1.0 - math.exp(-p * low)) / p**2)
        # v below low < u below high: exp(-p u) exp(p v)
        beyond = (math.exp(-p * low) - math.exp(-p * high)) / p * (math.exp(p * low) - 1.0) / p
        return (square + beyond) / float(kernel.scale) ** 2

    formulas = {
        Constant: lambda: 1.0,
        Step: lambda: rises((x, z)),
        StepUntil: lambda: falls((x, z)),
        Linear: line,
        SquaredExponential: lambda: math.exp(-0.5 * distance() ** 2),
        RationalQuadratic: lambda: (1.0 + distance() ** 2 / (2.0 * each("mixture")[0])) ** -each("mixture")[0],
        Matern12: lambda: math.exp(-distance()),
        Matern32: lambda: (1.0 + 3**0.5 * distance()) * math.exp(-(3**0.5) * distance()),
        Matern52: lambda: (1.0 + 5**0.5 * distance() + 5.0 * distance() ** 2 / 3.0) * math.exp(-(5**0.5) * distance()),
        Periodic: repeating,
        CentredPeriodic: lambda: (repeating() - level()) / (1.0 - level()),
        White: lambda: float(all(x[d] == z[d] for d in columns)),
        RandomWalk: walk,
        DampedTrend: damped,
    }
    return formulas[type(kernel)]()


def plain_gram(kernel, X, Z):
    """The matrix of `plain` for every pair of rows."""
    return np.array([[plain(kernel, x, z) for z in np.asarray(Z)] for x in np.asarray(X)])


FAR = [
    SquaredExponential(0.03),
    RationalQuadratic(0.03, 0.7),
    Matern12(0.03),
    Matern52(0.03),
    Periodic(0.1, 0.5),
    CentredPeriodic(0.1, 0.5),
    Linear(1e4 + 0.3),
    Step(1e4 + 0.3, 0.05),
]
"""Kernels of short lengths for inputs around 1e4, where a careless formula loses its digits."""
