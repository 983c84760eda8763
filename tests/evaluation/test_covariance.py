"""Laws of the covariance of the rows: the fast way on a grid is the dense way, forward and backward; rows that only
fill up change nothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.covariance import DenseCovariance, SeriesCovariance, Workspace, covariance_of
from farrier.evaluation.grid import on_grid
from farrier.evaluation.products import Products
from farrier.kernels.registry import (
    CentredPeriodic,
    Constant,
    DampedTrend,
    DayOfWeek,
    Linear,
    Matern32,
    RandomWalk,
    RationalQuadratic,
    SquaredExponential,
    Step,
    Weekend,
    White,
)
from tests.evaluation.own_families import Cosine, Gibbs, Power
from tests.kernels.plain_kernels import plain_gram

RNG = np.random.default_rng(0)
KNOWN = [
    SquaredExponential(0.6),
    Linear(0.3) * CentredPeriodic(0.7, 0.9),
    Step(0.1, 0.2) * Matern32(0.5),
    RationalQuadratic(0.4, 1.5) * CentredPeriodic(0.9, 1.2),
    (1 - Step(-0.3, 0.4)) * Linear(-0.8),
    Constant(),
    Linear(0.7) * White(),
    RandomWalk(-1.1, 0.8),
    DampedTrend(0.9, -1.2, 0.7),
    DampedTrend(2.1, 0.1) * SquaredExponential(0.8),
]
# factors that are neither of rank one nor stationary, alone and beside both; and numbers that are never trained
OWN = [
    DayOfWeek(0.05, 0.02),
    Weekend(0.05, 0.02) * CentredPeriodic(0.3, 0.8),
    Gibbs(0.4),
    Gibbs(-0.2) * Matern32(0.8),
    Linear(0.2) * Gibbs(0.6),
    Step(0.3, 0.5) * Gibbs(0.3) * Gibbs(0.7) * SquaredExponential(0.9),
    Power(0.2, 2.0) * Cosine(0.9, 2.0),
]
POOL = Products.of([*KNOWN, *OWN], inputs=1)
DRIVERS = np.random.default_rng(1).normal(size=(15, 2)).round(1)
"""Two regressors at the rows."""
DRIVEN = Products.of(
    [
        *(SquaredExponential(0.6, dims=0), RandomWalk(-1.6, 0.8, dims=0), Linear(0.1, dims=0)),
        *(Linear(0.3, dims=0) * CentredPeriodic(0.7, 0.9, dims=0), DayOfWeek(0.05, 0.02, dims=0)),
        *(Linear(0.0, dims=1), SquaredExponential(1.1, dims=2), Linear(0.2, dims=1) * Linear(0.4, dims=2)),
        *(Linear(0.0, dims=2) * Matern32(0.5, dims=0), SquaredExponential(np.array([0.8, 1.2, 2.0]))),
    ],
    inputs=3,
)
"""Components over time, of regressors, and of both."""
LINE = 1
"""The place of a product with a line in the pool."""
W2 = RNG.uniform(0.2, 1.5, (2, len(POOL)))
# 15 of 19 places of a regular grid
PLACES = np.array([0, 1, 2, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 17, 18])
X = -1.5 + 0.17 * PLACES[:, None].astype(float)
G = RNG.standard_normal((2, 15, 15))
G = G + G.transpose(0, 2, 1)
OWNERS = np.array([number.product for number in POOL.layout])

ORDERS = pytest.mark.parametrize("order", [np.arange(15), RNG.permutation(15)], ids=["sorted", "shuffled"])


def all_ways(X):
    grid = on_grid(X[:, 0])
    assert grid is not None
    return SeriesCovariance.on_grid(X, *grid), SeriesCovariance.anywhere(X), DenseCovariance(X)


def lower(covariance, C):
    """G among all rows as a lower triangle, an entry of which stands for two."""
    whole = np.zeros_like(C)
    whole[:, covariance.places[:, None], covariance.places[None, :]] = G
    return np.tril(whole) + np.tril(whole, -1)


def slopes(covariance):
    """The derivative of tr G' C, G being given for the real rows."""
    C, saved = covariance.forward(POOL, POOL.numbers, W2)
    return covariance.backward(saved, lower(covariance, C))


@ORDERS
def test_all_ways_give_the_covariance_of_the_rows_in_their_order(order):
    # kernels one by one, as they are taken out of the pool; those of the test have no slow oracle
    rows = X[order]
    grams = np.stack([plain_gram(k, rows, rows) if i < len(KNOWN) else k.gram(rows, rows) for i, k in enumerate(POOL)])
    for covariance in all_ways(rows):
        C, _ = covariance.forward(POOL, POOL.numbers, W2)
        assert_allclose(covariance.gather(C), np.einsum("si,inm->snm", W2, grams), rtol=1e-9, atol=1e-11)
        assert_allclose(covariance.grams(POOL), grams, rtol=1e-9, atol=1e-11)


@ORDERS
def test_all_ways_have_the_same_derivative(order):
    *series, (dense, dense_w2) = (slopes(covariance) for covariance in all_ways(X[order]))
    assert np.all(dense != 0.0)
    for found, found_w2 in series:
        assert_allclose(found_w2, dense_w2, rtol=1e-9)
        assert_allclose(found, dense, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("way", [0, 1, 2], ids=["grid with gaps", "anywhere", "dense"])
def test_derivative_is_that_of_finite_differences(way):
    covariance = all_ways(X)[way]
    slope, slope_w2 = slopes(covariance)

    def value(numbers, w2):
        C, _ = covariance.forward(POOL, numbers, w2)
        return np.sum(G * covariance.gather(C))

    for i, number in enumerate(POOL.layout):
        step = 1e-5 * np.eye(len(POOL.numbers))[i]
        difference = value(POOL.numbers + step, W2) - value(POOL.numbers - step, W2)
        assert_allclose(slope[i], difference / 2e-5, rtol=1e-5, atol=1e-6, err_msg=str(number))
    along = RNG.standard_normal(W2.shape)
    difference = value(POOL.numbers, W2 + 1e-5 * along) - value(POOL.numbers, W2 - 1e-5 * along)
    assert_allclose(np.sum(slope_w2 * along), difference / 2e-5, rtol=1e-6)


def test_empty_grid_places_are_zero_and_change_nothing():
    for covariance in all_ways(X):
        assert_array_equal(np.sort(np.flatnonzero(covariance.filled)), np.sort(covariance.places))
        C, _ = covariance.forward(POOL, POOL.numbers, W2)
        empty = covariance.filled == 0
        assert not C[:, empty, :].any()
        assert not C[:, :, empty].any()


def test_kernels_that_are_not_kept_give_the_same(monkeypatch):
    dense = DenseCovariance(X)
    kept, kept_w2 = slopes(dense)
    monkeypatch.setattr("farrier.evaluation.covariance.KEPT", 0)
    again, again_w2 = slopes(dense)
    assert_array_equal(again_w2, kept_w2)
    assert_array_equal(again, kept)


def test_a_kernel_without_weight_is_left_out():
    for covariance in all_ways(X):
        w2 = W2.copy()
        w2[:, LINE] = 0.0
        C, saved = covariance.forward(POOL, POOL.numbers, w2)
        slope, _ = covariance.backward(saved, lower(covariance, C))
        assert not slope[OWNERS == LINE].any()
        assert slope[OWNERS != LINE].all()


def test_a_second_call_gives_what_the_first_gave():
    # arrays are used again between calls
    for covariance in all_ways(X):
        first, first_w2 = slopes(covariance)
        covariance.forward(POOL, 1.1 * POOL.numbers, 2.0 * W2[:1])
        again, again_w2 = slopes(covariance)
        assert_array_equal(again, first)
        assert_array_equal(again_w2, first_w2)


def test_scatter_and_gather_undo_each_other():
    for covariance in all_ways(X[RNG.permutation(15)]):
        y = RNG.standard_normal(15)
        spread = covariance.scatter(y)
        assert_array_equal(spread[covariance.filled == 0], 0.0)
        assert_array_equal(np.diagonal(covariance.gather(np.diag(spread))), y)


def test_several_inputs_have_the_derivative_of_finite_differences():
    rows = RNG.uniform(-1.0, 1.0, (15, 2))
    pool = Products.of([SquaredExponential([0.6, 1.2]), Linear(0.3, dims=1) * Matern32(0.5, dims=0), Gibbs(0.3)], 2)
    covariance, w2 = covariance_of(rows), W2[:, :3]
    assert isinstance(covariance, DenseCovariance)
    C, saved = covariance.forward(pool, pool.numbers, w2)
    assert_allclose(C, np.einsum("si,inm->snm", w2, pool.gram(rows, rows)), rtol=1e-12)
    slope, _ = covariance.backward(saved, lower(covariance, C))
    for i in range(len(slope)):
        step = 1e-6 * np.eye(len(slope))[i]
        ends = [np.sum(G * covariance.forward(pool, pool.numbers + s, w2)[0]) for s in (step, -step)]
        assert_allclose(slope[i], (ends[0] - ends[1]) / 2e-6, rtol=1e-5)


# which way is taken


def test_rows_on_a_grid_take_its_lags():
    days = (np.datetime64("1990-01", "M") + np.arange(60)).astype("datetime64[D]").astype(float)
    covariance = covariance_of(days[:, None])
    assert isinstance(covariance, SeriesCovariance)
    assert_allclose(np.diff(covariance.X[:, 0]), np.ptp(days) / 59, rtol=1e-9)
    assert len(covariance_of(X).X) == 19


def test_rows_off_any_grid_stay_where_they_are():
    x = RNG.uniform(0.0, 1.0, (20, 1))
    covariance = covariance_of(x)
    assert isinstance(covariance, SeriesCovariance)
    assert_array_equal(covariance.X, x)
    assert_array_equal(covariance.filled, np.ones(20))


def test_many_rows_off_any_grid_are_worked_out_pair_by_pair(monkeypatch):
    monkeypatch.setattr("farrier.evaluation.covariance.LISTED_ROWS", 19)
    assert isinstance(covariance_of(RNG.uniform(0.0, 1.0, (20, 1))), DenseCovariance)


def test_several_inputs_are_a_series_where_the_first_is_on_a_grid_or_known_to_be_time():
    rows = RNG.uniform(-1.0, 1.0, (15, 2))
    assert isinstance(covariance_of(rows), DenseCovariance)
    assert isinstance(covariance_of(rows, timed=True), SeriesCovariance)
    assert len(covariance_of(np.column_stack([X, rows])).X) == 19


@ORDERS
def test_all_ways_agree_on_a_series_with_regressors(order):
    rows = np.column_stack([X, DRIVERS])[order]
    w2, found = W2[:, : len(DRIVEN)], []
    for covariance in all_ways(rows):
        C, saved = covariance.forward(DRIVEN, DRIVEN.numbers, w2)
        gathered = covariance.gather(C).copy()
        assert_allclose(covariance.grams(DRIVEN), DRIVEN.gram(rows, rows), rtol=1e-9, atol=1e-11)
        found.append((gathered, *covariance.backward(saved, lower(covariance, C))))
    *series, dense = found
    for one in series:
        for values, expected in zip(one, dense, strict=True):
            assert_allclose(values, expected, rtol=1e-7, atol=1e-9)


def test_room_is_used_again_and_grows():
    workspace = Workspace()
    small = workspace.of("a", 2, 3)
    small[...] = 1.0
    assert np.shares_memory(workspace.of("a", 3, 2), small)
    assert not np.shares_memory(workspace.of("b", 2, 3), small)
    assert workspace.of("a", 4, 4).shape == (4, 4)


@pytest.mark.parametrize(
    "way", [DenseCovariance, SeriesCovariance.anywhere, covariance_of], ids=["dense", "any", "best"]
)
@pytest.mark.parametrize("wandering", [True, False])
def test_every_draw_has_its_own_covariance_also_where_a_weight_is_zero(way, wandering):
    pool = Products.of([*KNOWN[:4], *(KNOWN[7:9] if wandering else [])], 1)
    w2 = RNG.uniform(0.2, 1.5, (3, len(pool)))
    w2[1, 0] = w2[2, 1] = 0.0
    covariance, grams = way(X), pool.gram(X, X)
    for draw, C in zip(w2, covariance.forward(pool, pool.numbers, w2)[0], strict=True):
        assert_allclose(covariance.gather(C), np.tensordot(draw, grams, 1), rtol=1e-10, atol=1e-12)
