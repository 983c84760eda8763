"""The full process interpolates, and the network of kernels extrapolates a product that one smooth kernel cannot."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.baselines.common import evidence
from farrier.baselines.full import FullGP
from farrier.baselines.network import KernelNetwork, Layer, Network, Slopes, initial

fixed = np.random.default_rng(2)
x = np.linspace(0.0, 6.0, 60)
y = 100.0 + 10.0 * (x * np.sin(2.0 * np.pi * x / 0.8) + 0.1 * fixed.normal(size=60))
TRAIN, TEST = slice(0, 45), slice(45, 60)


@pytest.fixture
def generator():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def full():
    return FullGP(iterations=60).fit(x[TRAIN], y[TRAIN])


@pytest.fixture(scope="module")
def network():
    return KernelNetwork(iterations=600).fit(x[TRAIN], y[TRAIN])


def rmse(model, rows):
    return np.sqrt(np.mean((model.predict(x[rows])[0] - y[rows]) ** 2))


def test_the_full_process_interpolates_in_the_units_of_y(full):
    assert rmse(full, TRAIN) < 0.1 * y.std()
    assert full.seconds > 0.0


def test_the_full_process_knows_that_it_cannot_extrapolate(full):
    _, sd = full.predict(np.array([50.0]))
    assert sd[0] > 0.8 * y[TRAIN].std()


def test_the_full_process_ignores_an_input_that_does_nothing(generator):
    X = generator.normal(size=(60, 2))
    model = FullGP(iterations=60).fit(X, np.sin(2.0 * X[:, 0]) + 0.05 * generator.normal(size=60))
    lengthscales = model.model_.kernel.lengthscale
    assert lengthscales[1] > 5.0 * lengthscales[0]


def test_units_of_the_inputs_and_of_y_do_not_matter(full):
    other = FullGP(iterations=60).fit(1e3 * x[TRAIN] - 5.0, 7.0 * y[TRAIN] + 1.0)
    for found, expected in zip(other.predict(1e3 * x[TEST] - 5.0), full.predict(x[TEST]), strict=True):
        assert_allclose(found, 7.0 * expected + (1.0 if expected[0] > 20.0 else 0.0), rtol=0.02, atol=1.0)


def test_the_network_extrapolates_a_product_that_a_smooth_kernel_cannot(network, full):
    assert rmse(network, TEST) < 0.3 * rmse(full, TEST)
    mean, sd = network.predict(x[TEST])
    assert np.mean(np.abs(mean - y[TEST]) < 3.0 * sd) > 0.8


def test_every_unit_of_a_network_is_a_kernel(generator):
    X = generator.normal(size=(12, 3))
    model = initial(X, X[:, 0], generator)
    K, k = eqx.filter_jit(lambda model, X: (model.gram(X, X), model.diag(X)))(model, jnp.asarray(X))
    assert_allclose(np.diag(K), k, rtol=1e-10)
    assert np.linalg.eigvalsh(K).min() > -1e-10 * np.trace(K)


def plain_network(inputs, layers):
    """The kernel of a network (Sun et al. 2018, section 3) at one pair of rows, from the values of its primitives.

    A linear layer is a sum with non-negative weights plus a non-negative constant; a product layer multiplies units
    two by two. Both are written out unit by unit.
    """
    units = list(inputs)
    for place, layer in enumerate(layers):
        weights, constants = (np.log1p(np.exp(np.asarray(one))) for one in (layer.weights, layer.constants))
        rows = zip(weights, constants, strict=True)
        units = [b + sum(w * k for w, k in zip(row, units, strict=True)) for row, b in rows]
        if place < len(layers) - 1:
            units = [units[2 * i] * units[2 * i + 1] for i in range(len(units) // 2)]
    (output,) = units
    return output


@pytest.mark.parametrize("columns", [1, 3])
def test_the_kernel_of_a_network_is_that_of_its_layers_written_out(columns, generator):
    X, Z = generator.normal(size=(5, columns)), generator.normal(size=(4, columns))
    model = initial(X, X[:, 0], generator)
    primitive = np.stack([kernel.gram(X, Z) for kernel in model.primitives])
    expected = [[plain_network(primitive[:, i, j], model.layers) for j in range(4)] for i in range(5)]
    assert_allclose(model.gram(jnp.asarray(X), jnp.asarray(Z)), expected, rtol=1e-12)


def test_a_product_layer_multiplies_its_units_two_by_two():
    # softplus of a large number is that number, of a very negative one nothing: units 30 Lin and 40 Lin, no constants
    line = Slopes(np.zeros(1), np.ones(1))
    nothing = -800.0
    two = Layer(jnp.array([[30.0], [40.0]]), jnp.full(2, nothing))
    one = Layer(jnp.array([[50.0]]), jnp.full(1, nothing))
    x, z = np.array([[0.5], [2.0]]), np.array([[3.0], [-1.0]])
    K = Network((line,), (two, one), jnp.asarray(0.1)).gram(jnp.asarray(x), jnp.asarray(z))
    assert_allclose(K, 50.0 * (30.0 * x @ z.T) * (40.0 * x @ z.T), rtol=1e-12)


def test_primitives_are_as_in_the_paper(generator):
    X = generator.normal(size=(30, 1))
    one = [kernel.symbol for kernel in initial(X, np.sin(X[:, 0]), generator).primitives]
    assert sorted(one) == ["Lin", "Lin", "Per", "Per", "RQ", "RQ", "SE", "SE"]
    X = generator.normal(size=(30, 2))
    assert {kernel.symbol for kernel in initial(X, X[:, 0], generator).primitives} == {"Lin", "RQ", "SE"}


def test_derivative_of_the_evidence_agrees_with_finite_differences(generator):
    root = generator.normal(size=(5, 5))
    C, target = root @ root.T + np.eye(5), generator.normal(size=5)
    direction = generator.normal(size=(5, 5))
    direction = direction + direction.T
    up, down = (evidence(C + sign * 1e-5 * direction, target)[0] for sign in (1.0, -1.0))
    assert_allclose(np.sum(evidence(C.copy(), target)[1] * direction), (up - down) / 2e-5, rtol=1e-5)


def test_large_tables_are_trained_and_predicted_in_blocks(generator):
    X = generator.uniform(-2.0, 2.0, (300, 2))
    target = np.sin(2.0 * X[:, 0]) + X[:, 1]
    model = FullGP(iterations=15).fit(X, target)
    assert np.abs(model.predict(X)[0] - target).max() < 0.1
