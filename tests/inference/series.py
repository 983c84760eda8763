"""A short irregular series with a repeated time, and models of it that the linear tier represents in every way."""

import numpy as np

from farrier.inference.linear_model import FeatureLimits
from farrier.kernels.registry import (
    CentredPeriodic,
    Constant,
    DampedTrend,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    RandomWalk,
    SquaredExponential,
    Step,
)

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-1.7, 1.7, 150))[:, None]
X[10] = X[9]
START = float(X.min())
Y = np.sin(3.0 * X[:, 0]) + 0.3 * RNG.standard_normal(150)
TIGHT = FeatureLimits(tolerance=1e-9, copies_tolerance=1e-9)
"""Limits with which features leave next to nothing."""
EXACT = {
    "features": [Linear(0.3), CentredPeriodic(0.9, 1.0), SquaredExponential(0.8)],
    "a rough process": [Matern12(0.3), Constant()],
    "walks": [RandomWalk(START - 0.4, 1.3), DampedTrend(0.9, START, 1.2), Constant()],
    "smoother processes": [Matern32(0.3), Matern52(0.8)],
    "copies": [CentredPeriodic(0.8, 1.1) * Matern12(2.0), Linear(0.1) * Matern12(0.4), Linear(0.3)],
    "a process that begins": [Step(0.1, 0.05) * Matern12(0.5), SquaredExponential(1.2)],
}
"""Kernels whose representation is exact up to features that are left out."""
DRIVEN = np.column_stack([X, RNG.standard_normal(150).round(1), RNG.random(150) < 0.1])
"""The same times with two regressors."""
DRIVERS = [
    *(RandomWalk(START - 0.4, 1.3, dims=0), Linear(0.0, dims=2), SquaredExponential(1.5, dims=1), Constant()),
    *(Linear(0.2, dims=1) * Matern12(0.4, dims=0), SquaredExponential(0.8, dims=0)),
]
"""Components over time, effects of regressors, and an effect that wanders."""
