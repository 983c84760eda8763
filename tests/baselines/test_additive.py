"""Additive Gaussian processes find the order of interaction, and add up what they say they do."""

from itertools import combinations
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from farrier.baselines.additive import (
    AdditiveClassifier,
    AdditiveGP,
    SubsetClassifier,
    laplace_score,
    likely_sets,
    symmetric_polynomials,
    weighted_orders,
)

fixed = np.random.default_rng(0)
X = fixed.uniform(-2.0, 2.0, (200, 4))
TRUTH = {
    1: np.sin(2.0 * X[:, 0]) + np.cos(3.0 * X[:, 1]) + X[:, 2] ** 2 / 2.0,
    2: np.sin(1.5 * X[:, 0]) * np.sin(1.5 * X[:, 1]) + np.sin(1.5 * X[:, 2]) * np.sin(1.5 * X[:, 3]),
}


@pytest.fixture
def generator():
    return np.random.default_rng(0)


@pytest.fixture(scope="module", params=[1, 2])
def order_and_model(request):
    y = 5.0 + 3.0 * (TRUTH[request.param] + 0.05 * fixed.normal(size=len(X)))
    return request.param, y, AdditiveGP(iterations=60).fit(X[:100], y[:100])


def test_newton_and_girard_agree_with_the_sum_over_all_sets(generator):
    Z = generator.random((5, 3))
    expected = [[sum(prod(z) for z in combinations(Z[:, i], q)) for i in range(3)] for q in range(1, 6)]
    assert_allclose(symmetric_polynomials(jnp.asarray(Z), 5), expected, rtol=1e-10)


def test_derivative_of_the_orders_agrees_with_that_of_their_formula(generator):
    Z, v, slope = generator.random((4, 2, 3)), generator.random(3), generator.normal(size=(2, 3))

    def formula(Z, v):
        return jnp.sum(jnp.tensordot(v, symmetric_polynomials(Z, 3), axes=1) * slope)

    plain = jax.jit(jax.grad(formula, (0, 1)))
    found = jax.jit(jax.grad(lambda Z, v: jnp.sum(weighted_orders(Z, v) * slope), (0, 1)))
    for one, other in zip(found(Z, v), plain(Z, v), strict=True):
        assert_allclose(one, other, rtol=1e-10)


def test_the_order_of_the_data_is_found(order_and_model):
    order, _, model = order_and_model
    assert model.order_ == order
    assert model.shares_[order - 1] > 0.5
    assert_allclose(model.shares_.sum(), 1.0)


def test_new_rows_are_predicted_in_the_units_of_y(order_and_model):
    _, y, model = order_and_model
    mean, sd = model.predict(X[100:])
    assert np.sqrt(np.mean((mean - y[100:]) ** 2)) < 0.5 * y.std()
    assert np.mean(np.abs(mean - y[100:]) < 3.0 * sd) > 0.8


def test_derivative_of_the_laplace_score_agrees_with_finite_differences(generator):
    root = generator.normal(size=(6, 6))
    K, y = root @ root.T + np.eye(6), (generator.random(6) > 0.5).astype(float)
    direction = generator.normal(size=(6, 6))
    direction = direction + direction.T
    step = 1e-5
    slope = (laplace_score(K + step * direction, y)[0] - laplace_score(K - step * direction, y)[0]) / (2.0 * step)
    assert_allclose(np.sum(laplace_score(K, y)[1] * direction), slope, rtol=1e-5)


def test_classes_are_predicted(generator):
    odds = 5.0 * (np.sin(1.5 * X[:, 0]) + np.sin(1.5 * X[:, 1]))
    labels = (generator.random(len(X)) < expit(odds)).astype(float)
    model = AdditiveClassifier(iterations=30).fit(X[:120], labels[:120])
    p, sd = model.predict(X[120:])
    assert np.mean((p > 0.5) == labels[120:]) > 0.75
    assert model.shares_.shape == (4,)
    assert_allclose(sd, np.sqrt(p * (1.0 - p)))


def test_a_classifier_refuses_targets_that_are_no_classes():
    with pytest.raises(ValueError, match="0 and 1 only"):
        AdditiveClassifier().fit(X, X[:, 0])


def test_the_sets_that_matter_keep_their_weight(generator):
    rows = generator.uniform(-2.0, 2.0, (150, 3))
    y = (generator.random(150) < expit(6.0 * np.sin(1.5 * rows[:, 0]) * np.sin(1.5 * rows[:, 2]))).astype(float)
    with jax.enable_x64(True):
        model = SubsetClassifier(highest=2, iterations=30).fit(rows, y)
    assert model.order_ == 2
    assert model.sets_ == [(0, 1), (0, 2), (1, 2)]
    assert np.argmax(model.weights_) == 1
    chance, _ = model.predict(rows)
    assert np.mean((chance > 0.5) == (y == 1.0)) > 0.85


@pytest.mark.parametrize(("order", "sets"), [(1, 16), (2, 120), (8, 1)])
def test_sets_are_those_of_the_inputs_that_vary_most_where_there_are_many(order, sets):
    lengthscales = np.arange(1.0, 17.0)[::-1]
    found = likely_sets(lengthscales, order) if order < 8 else likely_sets(lengthscales[:8], order)
    assert len(found) == sets
    assert all(len(one) == order for one in found)
    assert likely_sets(lengthscales, 5)[-1][-1] == 15
