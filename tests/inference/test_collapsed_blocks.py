"""Rows in blocks have the bound, the derivative and the posterior of the same rows in memory."""

from dataclasses import dataclass
from functools import reduce

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.baselines.weight_priors import NoPrior
from farrier.evaluation.products import Products
from farrier.inference.collapsed import BlockObjective, CollapsedObjective, CollapsedPosterior, Statistics, added
from farrier.inference.parameter_vector import ExactModel
from farrier.kernels.registry import Linear, SquaredExponential

RNG = np.random.default_rng(3)
X = RNG.normal(size=(61, 2))
Y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * RNG.normal(size=61)
KERNELS = [SquaredExponential(0.8, dims=(0,)), Linear(0.2, dims=(1,)), SquaredExponential(np.array([1.0, 2.0]))]


@dataclass
class Pieces:
    """Rows in blocks of some size; counts how often they are mapped."""

    size: int
    maps: int = 0

    @property
    def count(self):
        return len(Y)

    def map(self, function, *arguments):
        self.maps += 1
        for start in range(0, len(Y), self.size):
            rows = slice(start, start + self.size)
            yield function(X[rows], Y[rows], *arguments)


def model():
    pool = Products.of(KERNELS, 2)
    return ExactModel(NoPrior(np.array([0.7, 0.5, 0.4])), 0.05, pool, pool.unbounded)


def objectives(size):
    whole = CollapsedObjective.of(model(), X, Y, 1, 1e-6, 30)
    return whole, BlockObjective(whole.template, whole.groups, Pieces(size), whole.draws)


@pytest.mark.parametrize("size", [7, 30, 100])
def test_bound_and_derivative_are_those_of_the_rows_in_memory(size):
    whole, blocks = objectives(size)
    u = whole.start() + 0.1
    (terms, derivative), (expected, slopes) = blocks.terms(u), whole.terms(u)
    assert_allclose(terms, expected, rtol=1e-10)
    assert_allclose(derivative, slopes, rtol=1e-8, atol=1e-8)
    assert_allclose(blocks.value(u), whole.value(u), rtol=1e-10)


def test_a_value_takes_one_map_and_its_derivative_one_more():
    _, blocks = objectives(20)
    u = blocks.start()
    blocks.value(u)
    assert blocks.rows.maps == 1
    blocks.value(u)
    assert blocks.rows.maps == 1
    blocks.terms(u)
    assert blocks.rows.maps == 2
    blocks.terms(u + 0.1)
    assert blocks.rows.maps == 4


def test_the_posterior_is_that_of_the_rows_in_memory():
    whole, blocks = objectives(9)
    new = RNG.normal(size=(5, 2))
    found, expected = (CollapsedPosterior.of(one, model(), model().prior.w[None]) for one in (blocks, whole))
    assert_allclose(found.draws(new), expected.draws(new), rtol=1e-8)


def test_statistics_are_added_in_the_order_of_the_blocks():
    each = [np.float64(0.1), np.float64(1e16), np.float64(-1e16)]
    made = iter([Statistics(np.array([[one]]), np.array([one]), np.array([one]), one, one) for one in each])
    assert reduce(added, made).yy == (each[0] + each[1]) + each[2]
