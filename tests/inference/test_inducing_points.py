"""Laws of the inducing points: as many as a kernel needs, exact for finite rank, what is left within the tolerance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.products import Products
from farrier.inference.inducing_points import PointLimits, choose, pivots
from farrier.kernels.registry import Category, CentredPeriodic, Linear, Matern12, SquaredExponential, Step

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-1.7, 1.7, 60))[:, None]
KERNELS = [
    Linear(0.3),
    Step(0.2, 0.1),
    Linear(0.3) * Linear(-0.5),
    CentredPeriodic(0.7, 1.5),
    SquaredExponential(1.5),
    SquaredExponential(0.3),
    SquaredExponential(0.1),
    Matern12(0.3),
]
POOL = Products.of(KERNELS, 1)


GRAMS = POOL.gram(X, X)


def left_over(i, Z):
    """The part of the trace of kernel i that its points Z do not explain, by the formula."""
    K, at = GRAMS[i], np.searchsorted(X[:, 0], Z[:, 0])
    k = K[:, at]
    return np.trace(K - k @ np.linalg.solve(K[np.ix_(at, at)] + 1e-12 * np.eye(len(at)), k.T)) / np.trace(K)


@pytest.fixture(scope="module")
def chosen():
    return {tolerance: choose(POOL, X, tolerance, 60) for tolerance in (1e-1, 1e-3, 1e-6)}


def test_what_is_of_rank_one_takes_one_point_and_is_exact(chosen):
    for found in chosen.values():
        assert found.sizes[:3] == (1, 1, 1)
    for i in range(3):
        assert left_over(i, chosen[1e-1].Z[i, :1]) < 1e-8


def test_a_cycle_takes_few(chosen):
    assert chosen[1e-6].sizes[3] <= 16


def test_what_is_left_is_within_the_tolerance(chosen):
    for tolerance, found in chosen.items():
        for i, kernel in enumerate(KERNELS):
            assert left_over(i, found.Z[i, : found.sizes[i]]) <= 1.01 * tolerance + 1e-9, (tolerance, kernel)


def test_sizes_grow_as_the_tolerance_falls_and_as_lengths_do(chosen):
    sizes = np.array([found.sizes for found in chosen.values()])
    assert np.all(np.diff(sizes, axis=0) >= 0)
    assert np.all(sizes[0, 3:] < sizes[-1, 3:])
    assert np.all(np.diff(sizes[:, 4:7], axis=1) > 0)


def test_points_are_rows_and_groups_are_filled_up_with_their_first(chosen):
    found = chosen[1e-3]
    assert found.Z.shape == (8, max(found.sizes), 1)
    for Z, size in zip(found.Z, found.sizes, strict=True):
        assert np.all(np.isin(Z, X))
        assert len(np.unique(Z[:size])) == size
        assert_array_equal(Z[size:], np.broadcast_to(Z[0], Z[size:].shape))


def test_no_group_is_larger_than_the_most():
    assert max(choose(POOL, X, 1e-9, 7).sizes) == 7


def test_many_rows_are_thinned_out_evenly():
    found = choose(POOL, X, 1e-9, 50, PointLimits(rows=20))
    rows = np.unique(np.concatenate([Z[:size] for Z, size in zip(found.Z, found.sizes, strict=True)]))
    assert len(rows) <= 20
    assert rows[0] == X.min()
    assert rows[-1] == X.max()


def test_pivots_are_those_of_the_greedy_choice():
    A = RNG.standard_normal((8, 8))
    K = A @ A.T
    taken = []
    for _ in range(4):
        # the row that the ones before leave least explained
        k = K[:, taken]
        left = np.diagonal(K - k @ np.linalg.solve(K[np.ix_(taken, taken)], k.T)) if taken else np.diagonal(K)
        taken.append(int(np.argmax(left)))
    assert_array_equal(pivots(K, 0.0, 4), taken)


def test_pivots_of_finite_rank_stop_there():
    A = RNG.standard_normal((10, 3))
    assert len(pivots(A @ A.T, 0.0, 10)) == 3
    assert len(pivots(np.zeros((5, 5)), 1e-3, 5)) == 1


def test_pivots_do_not_depend_on_the_scale():
    A = RNG.standard_normal((9, 9))
    assert_array_equal(pivots(A @ A.T, 1e-2, 9), pivots(1e-6 * A @ A.T, 1e-2, 9))
    assert_allclose(len(pivots(np.eye(10), 0.35, 10)), 7)


@pytest.mark.parametrize("limits", [PointLimits(together=40), PointLimits(products=60 * 40.0**2)])
def test_all_groups_together_stay_within_their_share(limits):
    free = choose(POOL, X, 1e-6, 60)
    found = choose(POOL, X, 1e-6, 60, limits)
    assert sum(found.sizes) <= 40 < sum(free.sizes)
    # small groups keep all they need, large ones the first of their points
    assert found.sizes[:3] == (1, 1, 1)
    for i, size in enumerate(found.sizes):
        assert_array_equal(found.Z[i, :size], free.Z[i, :size])


def test_each_level_of_a_category_has_its_point_though_it_has_one_row():
    codes = np.where(np.arange(3000) < 2950, 0, np.arange(3000) - 2949).astype(float)
    rows = np.column_stack([RNG.standard_normal(3000), codes])
    groups = choose(Products.of([Category(dims=1)], 2), rows, 1e-9, 200)
    assert set(groups.Z[0, : groups.sizes[0], 1]) == set(codes)


def test_groups_that_are_too_large_together_are_cut_to_one_size():
    limits = PointLimits(together=20)
    found = choose(POOL, X, 1e-6, 60, limits)
    assert sum(found.sizes) <= 20
    whole = choose(POOL, X, 1e-6, 60)
    cut = max(found.sizes)
    assert found.sizes == tuple(min(size, cut) for size in whole.sizes)
    # one more point for each group would be too many
    assert sum(min(size, cut + 1) for size in whole.sizes) > 20


def test_points_come_from_the_rows_that_represent_all():
    shuffled = RNG.permutation(X)
    kept = np.sort(X[:, 0])[np.linspace(0, 59, 5).astype(int)]
    found = choose(Products.of([Matern12(0.3)], 1), shuffled, 0.0, 60, PointLimits(rows=5))
    assert_array_equal(np.sort(found.Z[0, :, 0]), kept)
