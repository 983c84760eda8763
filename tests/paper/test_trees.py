"""Laws of trees: what is free is any real number, what is bound is what the mark says; plain kernels, priors and
likelihoods are trees of their marked fields."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from numpy.testing import assert_allclose, assert_array_equal

from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Gaussian
from farrier.inference.student_t import StudentT
from farrier.kernels.parameters import REAL, marks, trained
from farrier.kernels.registry import Linear
from farrier.paper.trees import bound, fixed, free, frozen, lower_triangular, positive, real
from tests.kernels.plain_kernels import BASES, equal


class Leaf(eqx.Module):
    height: Array = real()
    length: Array = positive()
    root: Array = lower_triangular()
    constant: Array = fixed()
    data: Array
    label: str = eqx.field(static=True, default="leaf")


class Bare(eqx.Module):
    value: Array


class Tree(eqx.Module):
    leaves: tuple[Leaf, ...]
    table: dict[str, Leaf]
    shut: Leaf = frozen()
    bare: Bare = eqx.field(metadata={"constraint": REAL})


ROOT = np.array([[0.5, 0.0, 0.0], [-1.5, 2.0, 0.0], [0.3, -0.7, 1e-3]])


def leaf(shift=0.0):
    return Leaf(np.array([-1.0, 0.0, 7.0]) + shift, np.array([1e-3, 1.0, 40.0]), ROOT, 5.0, jnp.arange(3.0))


class Shallow(eqx.Module):
    """A mark outside a module, which may have marks of its own."""

    inner: Bare | Leaf = eqx.field(metadata={"constraint": REAL})


MARKS = {
    "height": lambda u: u,
    "length": np.exp,
    "root": lambda u: np.tril(u, -1) + np.diag(np.exp(np.diag(u))),
}


@pytest.mark.parametrize("name", MARKS)
def test_free_numbers_come_back_as_they_were(name):
    start = leaf()
    assert_allclose(getattr(bound(free(start), start), name), getattr(start, name), rtol=1e-14)


@pytest.mark.parametrize("name", MARKS)
def test_any_real_numbers_are_bound_by_the_formula_of_the_mark(name):
    start = leaf()
    u = 3.0 * np.random.default_rng(0).standard_normal(np.shape(getattr(start, name)))
    moved = eqx.tree_at(lambda tree: getattr(tree, name), free(start), jnp.asarray(u))
    assert_allclose(getattr(bound(moved, start), name), MARKS[name](u), rtol=1e-14)


def test_roots_are_stacked_over_leading_axes():
    start = eqx.tree_at(lambda tree: tree.root, leaf(), np.stack([ROOT, 2.0 * ROOT]))
    assert_allclose(free(start).root[1] - free(start).root[0], np.tril(ROOT, -1) + np.log(2.0) * np.eye(3), atol=1e-14)
    assert_allclose(bound(free(start), start).root, start.root, rtol=1e-14)


def test_what_is_fixed_frozen_or_without_a_mark_is_not_trained():
    tree = Tree((leaf(),), {"a": leaf()}, leaf(), Bare(jnp.ones(2)))
    unbounded = free(tree)
    for part in (unbounded.leaves[0], unbounded.table["a"]):
        assert part.constant is None
        assert part.data is None
    assert jax.tree.leaves(unbounded.shut) == []
    # three leaves in each of two open modules, and the bare one, whose mark stands outside
    assert len(jax.tree.leaves(unbounded)) == 7
    moved = jax.tree.map(lambda u: u + 1.0, unbounded)
    after = bound(moved, tree)
    assert_array_equal(after.leaves[0].constant, 5.0)
    assert_array_equal(after.leaves[0].data, np.arange(3.0))
    assert eqx.tree_equal(after.shut, tree.shut)
    assert_array_equal(after.bare.value, [2.0, 2.0])


def test_innermost_mark_wins():
    tree = Shallow(leaf())
    unbounded = free(tree)
    assert_allclose(unbounded.inner.length, np.log(tree.inner.length))
    assert unbounded.inner.constant is None
    # a leaf without a mark of its own has that of the field around it
    assert_array_equal(unbounded.inner.data, tree.inner.data)


def test_structure_is_kept_under_jit():
    tree = Tree((leaf(), leaf(1.0)), {"a": leaf()}, leaf(), Bare(jnp.ones(2)))
    twice = eqx.filter_jit(lambda tree: bound(free(tree), tree))(tree)
    assert jax.tree.structure(twice) == jax.tree.structure(tree)
    for before, after in zip(jax.tree.leaves(tree), jax.tree.leaves(twice), strict=True):
        assert_allclose(after, before, rtol=1e-14)


def test_gradients_flow_only_to_what_is_trained():
    start = leaf()

    @eqx.filter_jit
    def slope(unbounded, template):
        def total(unbounded):
            here = bound(unbounded, template)
            return jnp.sum(here.length) + jnp.sum(here.root) * here.constant + jnp.sum(here.data)

        return jax.grad(total)(unbounded)

    gradient = slope(free(start), start)
    assert_allclose(gradient.length, start.length, rtol=1e-14)
    # d/du exp(u) on the diagonal, 1 below it, nothing above
    assert_allclose(gradient.root, 5.0 * (np.tril(np.ones((3, 3)), -1) + np.diag(np.diag(ROOT))), rtol=1e-14)
    assert_array_equal(gradient.height, np.zeros(3))
    assert gradient.constant is None
    assert gradient.data is None


def test_numbers_keep_all_their_digits():
    assert leaf().constant.dtype == np.float64
    assert Leaf(1, 0.1, np.eye(1), 2, jnp.ones(1)).length == 0.1


@pytest.mark.parametrize("kernel", BASES, ids=str)
def test_a_kernel_is_a_tree_of_its_marked_fields(kernel):
    leaves, structure = jax.tree.flatten(kernel)
    assert len(leaves) == len(marks(type(kernel)))
    assert equal(jax.tree.unflatten(structure, leaves), kernel)
    unbounded = free(kernel)
    assert [getattr(unbounded, name) is not None for name in marks(type(kernel))] == [
        name in trained(type(kernel)) for name in marks(type(kernel))
    ]
    back = bound(unbounded, kernel)
    for name, value in kernel.parameters().items():
        assert_allclose(getattr(back, name), value, rtol=1e-14)


def test_columns_are_structure_and_no_leaves():
    one, other = (jax.tree.structure(Linear(0.3, dims=dims)) for dims in (0, 1))
    assert one != other


@pytest.mark.parametrize("module", [Gaussian(0.1), StudentT.with_degrees(0.5, 4.0)], ids=lambda one: type(one).__name__)
def test_likelihoods_are_trees(module):
    twice = bound(jax.tree.map(lambda u: u + np.log(2.0), free(module)), module)
    for name in trained(type(module)):
        assert_allclose(getattr(twice, name), 2.0 * getattr(module, name), rtol=1e-14)


def test_priors_are_trees_whose_scales_are_not_trained():
    prior = Horseshoe.initial(3, A=0.5)
    unbounded = free(prior)
    assert (unbounded.A, unbounded.B) == (None, None)
    assert_allclose(unbounded.v, np.log(prior.v))
    assert_array_equal(bound(unbounded, prior).A, 0.5)
