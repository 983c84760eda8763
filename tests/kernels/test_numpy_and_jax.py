"""The law that holds the two ways to work out a kernel together: numpy's formulas (kernels/) and jax's
(paper/kernels.py) give the same values and the same derivatives, for every family, alone and in products."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.evaluation.products import Products
from farrier.kernels.algebra import Base
from farrier.kernels.parameters import trained
from farrier.kernels.registry import FAMILIES, Constant, Linear, White
from farrier.paper import kernels as in_jax
from tests.kernels.plain_kernels import BASES, KERNELS, TWO_INPUTS

RNG = np.random.default_rng(0)
X1, Z1, X2, Z2 = (RNG.uniform(-2.0, 2.0, (6, d)) for d in (1, 1, 2, 2))
# in two columns distances come from inner products: good to 1e-12 unless points coincide
Z1[:2] = X1[:2]
G = RNG.standard_normal((6, 6))

ONE = [*KERNELS, *(one * other for i, one in enumerate(BASES) for other in BASES[i:])]
# a line that is counted in its root mean square is for fitting in numpy alone
TWO = [kernel for kernel in TWO_INPUTS if "scale=None" not in repr(kernel)]
FACTORS = [(kernel, X1, Z1) for kernel in BASES] + [(k, X2, Z2) for k in TWO if isinstance(k, Base)]


def test_both_have_every_family():
    assert {type(kernel) for kernel, X, _ in FACTORS if X is X1} >= set(FAMILIES)
    assert {type(kernel) for kernel, X, _ in FACTORS if X is X2} >= set(FAMILIES)
    assert {*in_jax.FEATURES, *in_jax.EXPONENTS, *in_jax.VALUES} >= set(FAMILIES)


@pytest.mark.parametrize(("kernels", "X", "Z"), [(ONE, X1, Z1), (TWO, X2, Z2)], ids=["one column", "two columns"])
def test_grams_agree(kernels, X, Z):
    found = jax.jit(lambda X, Z: [in_jax.gram(kernel, X, Z) for kernel in kernels])(X, Z)
    for kernel, K in zip(kernels, found, strict=True):
        assert_allclose(kernel.gram(X, Z), K, rtol=1e-12, atol=1e-12, err_msg=repr(kernel))


def test_diagonals_agree():
    found = jax.jit(lambda: [in_jax.diag(kernel, jnp.asarray(X)) for kernel, X, _ in FACTORS])()
    for (kernel, X, _), k in zip(FACTORS, found, strict=True):
        assert_allclose(kernel.diag(X), k, rtol=1e-12, atol=1e-12, err_msg=repr(kernel))


def test_noise_agrees_where_some_columns_coincide():
    Z = np.concatenate([X2[:2], np.stack([X2[2:, 0], Z2[2:, 1]], axis=1)])
    for noise in (White(), White(dims=0), White(dims=(1, 0))):
        assert_allclose(noise.gram(X2, Z), in_jax.gram(noise, jnp.asarray(X2), jnp.asarray(Z)))


def total(kernel, X, Z):
    return jnp.sum(jnp.asarray(G) * in_jax.gram(kernel, jnp.asarray(X), jnp.asarray(Z)))


def test_derivatives_by_every_trained_number_agree():
    grads = jax.jit(lambda kernels: [jax.grad(total)(k, X, Z) for k, (_, X, Z) in zip(kernels, FACTORS, strict=True)])
    for (kernel, X, Z), found in zip(FACTORS, grads([kernel for kernel, _, _ in FACTORS]), strict=True):
        columns = list(range(X.shape[1]) if kernel.dims is None else kernel.dims)
        values = {name: kernel.entries(name, len(columns)) for name in kernel.parameters()}
        _, back = type(kernel).between(values, X[:, columns], Z[:, columns])
        slopes = back(G)
        for name in trained(type(kernel)):
            expected = np.asarray(getattr(found, name))
            # one number for all columns has the slopes of all
            slope = np.reshape(slopes[name], expected.shape) if expected.ndim else np.sum(slopes[name])
            assert_allclose(slope, expected, rtol=1e-8, atol=1e-10, err_msg=f"{kernel!r}: {name}")


FITTED = [kernel for kernel in BASES if not isinstance(kernel, Constant | Linear | White)]


def test_derivatives_of_products_agree():
    # every family beside its next two: a slope of a product is that of a factor times the other factor, whichever it is
    pairs = [(one, FITTED[(i + k) % len(FITTED)]) for i, one in enumerate(FITTED) for k in (1, 2)]
    products = Products(tuple(pairs), 1)

    def both(pair):
        return jnp.sum(jnp.asarray(G) * in_jax.gram(pair[0] * pair[1], jnp.asarray(X1), jnp.asarray(Z1)))

    found = jax.jit(lambda pairs: [jax.grad(both)(pair) for pair in pairs])(pairs)
    expected = [np.ravel(getattr(factor, name)) for pair in found for factor in pair for name in trained(type(factor))]
    slopes = products.no_slopes()
    for term in products.terms:
        _, pull = term.gram(products.numbers, X1, Z1)
        pull(G, slopes)
    assert_allclose(slopes, np.concatenate(expected), rtol=1e-8, atol=1e-10)
