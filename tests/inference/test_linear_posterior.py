"""Laws of the linear tier's posterior: components, sums and joint covariances are those of exact inference."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.evaluation.products import Products
from farrier.inference import linear
from farrier.inference.linear_posterior import LinearPosterior
from farrier.inference.posteriors import GaussianPosterior
from tests.inference.series import DRIVEN, DRIVERS, EXACT, RNG, TIGHT, X, Y

NAMED = pytest.mark.parametrize("kernels", EXACT.values(), ids=EXACT.keys())
NEW = np.concatenate([np.linspace(-2.2, 2.4, 27)[:, None], X[5:8], X[[0, -1]]])
"""Left of all rows, between them, at some of them, and right of all."""
SPREAD = RNG.uniform(0.05, 0.2, len(X))


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(linear, "SMALLEST_BLOCK", 17)
    monkeypatch.setattr(linear, "ROWS_FOR_A_STATE", 1)


def both(kernels):
    pool, order = Products.of(kernels, 1), RNG.permutation(len(X))
    weights = np.array([[0.8, 0.5, 0.6], [0.5, 0.4, 0.9]])[:, : len(pool)]
    found = LinearPosterior(pool, weights, SPREAD[order], X[order], Y[order], TIGHT)
    return found, GaussianPosterior(pool, weights, SPREAD, X, Y)


def close(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, atol=2e-4)


@NAMED
def test_the_function_is_that_of_exact_inference(kernels):
    found, exact = both(kernels)
    close(found.draws(NEW), exact.draws(NEW))


@NAMED
def test_components_and_their_sums_are_those_of_exact_inference(kernels):
    found, exact = both(kernels)
    close(found.components(NEW), exact.components(NEW))
    sums = np.array([[1, 0, 1], [0, 1, 0]], float)[:, : len(kernels)]
    close(found.components(NEW, sums), exact.components(NEW, sums))


@NAMED
def test_rows_are_jointly_what_they_are_in_exact_inference(kernels):
    found, exact = both(kernels)
    # features explain a smooth curve on either side of all rows, not what both sides share
    right = NEW[NEW[:, 0] >= X.min()]
    close(found.joint(right), exact.joint(right))
    close(found.joint(right, np.array([0])), exact.joint(right, np.array([0])))


def test_regressors_change_nothing_of_that():
    pool, order = Products.of(DRIVERS, 3), RNG.permutation(len(X))
    weights = RNG.uniform(0.3, 1.0, (2, len(pool)))
    found = LinearPosterior(pool, weights, SPREAD[order], DRIVEN[order], Y[order], TIGHT)
    exact = GaussianPosterior(pool, weights, SPREAD, DRIVEN, Y)
    new = np.column_stack([NEW, RNG.standard_normal(len(NEW)), np.arange(len(NEW)) % 3 == 0])
    close(found.draws(new), exact.draws(new))
    close(found.components(new), exact.components(new))
    right = new[new[:, 0] >= X.min()]
    close(found.joint(right), exact.joint(right))


def test_it_travels_without_what_it_has_computed():
    found, _ = both(EXACT["walks"])
    expected = found.draws(NEW)
    kept = pickle.dumps(found)
    assert len(kept) < 20_000
    close(pickle.loads(kept).draws(NEW), expected)
