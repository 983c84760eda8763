"""Made series over one input, with what evaluates structures for them."""

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.search.beliefs import Beliefs
from farrier.search.scoring import Evaluator

N = 64
X = np.linspace(-1.7, 1.7, N)[:, None]
SIZE = 3.4 / (N - 1)


def noise(size, seed=0):
    return size * np.random.default_rng(seed).standard_normal(N)


LINE_AND_SEASON = X[:, 0] + np.sin(2.0 * np.pi * X[:, 0] / 0.31) + noise(0.4)
WHITE = noise(1.0, 3)
STEP = np.where(X[:, 0] > 0.4, 1.0, 0.0) + noise(0.15, 1)


def of_curve(y, **fields):
    """What evaluates structures of a curve over the input."""
    return Evaluator(X, (y - y.mean()) / y.std(), covariance_of(X), beliefs=Beliefs.of(X), **fields)


def of_months(y, **fields):
    """What evaluates structures of a series of months: the input is time, and the year is its season."""
    beliefs = Beliefs.of(X, [12 * SIZE], timed=True)
    y = (y - y.mean()) / y.std()
    return Evaluator(X, y, covariance_of(X, timed=True), known=[12 * SIZE], beliefs=beliefs, **fields)


def fitted(evaluator, *kernels, noise=0.2):
    return evaluator.fit([evaluator.part(kernel, 0.5) for kernel in kernels], noise)


def formulas(structure):
    return sorted(part.kernel.formula() for part in structure.parts)
