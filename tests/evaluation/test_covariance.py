"""Laws of the covariance of the rows: the fast way on a grid is the dense way, forward and backward; rows that only
fill up change nothing."""

import numpy as np
import pytest
from farrier.evaluation.slots import NUMBERS, SlotPool
from numpy.testing import assert_allclose, assert_array_equal

from farrier.evaluation.covariance import DenseCovariance, SeriesCovariance, covariance_of
from farrier.evaluation.grid import on_grid
from farrier.evaluation.lags import ListedLags, RegularLags
from farrier.evaluation.products import HostPool
from farrier.kernels.registry import CentredPeriodic, Linear, Matern32, RationalQuadratic, SquaredExponential, Step
from tests.kernels.plain_kernels import plain_gram

RNG = np.random.default_rng(0)
POOL = SlotPool.of(
    [
        SquaredExponential(0.6),
        Linear(0.3) * CentredPeriodic(0.7, 0.9),
        Step(0.1, 0.2) * Matern32(0.5),
        RationalQuadratic(0.4, 1.5) * CentredPeriodic(0.9, 1.2),
        (1 - Step(-0.3, 0.4)) * Linear(-0.8),
    ],
    inputs=1,
)
HOST = HostPool.of(POOL)
W2 = RNG.uniform(0.2, 1.5, (2, 5))
# 15 of 19 places of a regular grid
PLACES = np.array([0, 1, 2, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 17, 18])
X = -1.5 + 0.17 * PLACES[:, None].astype(float)
G = RNG.standard_normal((2, 15, 15))
G = G + G.transpose(0, 2, 1)

ORDERS = pytest.mark.parametrize("order", [np.arange(15), RNG.permutation(15)], ids=["sorted", "shuffled"])


def all_ways(X):
    grid = on_grid(X[:, 0])
    assert grid is not None
    return SeriesCovariance.on_grid(X, *grid), SeriesCovariance.anywhere(X), DenseCovariance(X)


def slow_grams(X):
    """The kernels one by one, as they are taken out of the pool."""
    return np.stack([plain_gram(kernel, X, X) for kernel in POOL])


def lower(covariance, C):
    """G among all rows as a lower triangle, an entry of which stands for two."""
    whole = np.zeros_like(C)
    whole[:, covariance.places[:, None], covariance.places[None, :]] = G
    return np.tril(whole) + np.tril(whole, -1)


def slopes(covariance):
    """The derivative of tr G' C, G being given for the real rows."""
    C, saved = covariance.forward(HOST, HOST.numbers, W2)
    return covariance.backward(saved, lower(covariance, C))


@ORDERS
def test_all_ways_give_the_covariance_of_the_rows_in_their_order(order):
    grams = slow_grams(X[order])
    for covariance in all_ways(X[order]):
        C, _ = covariance.forward(HOST, HOST.numbers, W2)
        assert_allclose(covariance.gather(C), np.einsum("si,inm->snm", W2, grams), rtol=1e-9, atol=1e-11)
        assert_allclose(covariance.grams(HOST), grams, rtol=1e-9, atol=1e-11)


@ORDERS
def test_all_ways_have_the_same_derivative(order):
    *series, (dense, dense_w2) = (slopes(covariance) for covariance in all_ways(X[order]))
    for found, found_w2 in series:
        assert_allclose(found_w2, dense_w2, rtol=1e-9)
        for name in NUMBERS:
            assert np.any(dense[name] != 0.0), name
            assert_allclose(found[name], dense[name], rtol=1e-7, atol=1e-9, err_msg=name)


def test_derivative_is_that_of_finite_differences():
    covariance = covariance_of(X)
    slope, slope_w2 = slopes(covariance)
    along_w2 = RNG.standard_normal(W2.shape)
    for name in NUMBERS:
        along = RNG.standard_normal(HOST.numbers[name].shape)
        values = []
        for step in (1e-5, -1e-5):
            moved = {**HOST.numbers, name: HOST.numbers[name] + step * along}
            C, _ = covariance.forward(HOST, moved, W2 + step * along_w2)
            values.append(np.sum(G * covariance.gather(C)))
        tied = np.sum(slope[name] * along) + np.sum(slope_w2 * along_w2)
        assert_allclose(tied, (values[0] - values[1]) / 2e-5, rtol=1e-5, err_msg=name)


def test_rows_that_are_not_real_are_zero_and_change_nothing():
    for covariance in all_ways(X):
        assert_array_equal(np.sort(np.flatnonzero(covariance.filled)), np.sort(covariance.places))
        C, _ = covariance.forward(HOST, HOST.numbers, W2)
        empty = covariance.filled == 0
        assert not C[:, empty, :].any()
        assert not C[:, :, empty].any()


def test_kernels_that_are_not_kept_give_the_same(monkeypatch):
    dense = DenseCovariance(X)
    kept, kept_w2 = slopes(dense)
    monkeypatch.setattr("farrier.evaluation.covariance.KEPT", 0)
    again, again_w2 = slopes(dense)
    assert_array_equal(again_w2, kept_w2)
    for name in NUMBERS:
        assert_array_equal(again[name], kept[name])


def test_a_kernel_without_weight_is_left_out():
    for covariance in all_ways(X):
        w2 = W2.copy()
        w2[:, 1] = 0.0
        C, saved = covariance.forward(HOST, HOST.numbers, w2)
        slope, _ = covariance.backward(saved, lower(covariance, C))
        assert not slope["line"][1].any()
        assert slope["line"][4].any()


def test_scatter_and_gather_undo_each_other():
    for covariance in all_ways(X[RNG.permutation(15)]):
        y = RNG.standard_normal(15)
        spread = covariance.scatter(y)
        assert_array_equal(spread[covariance.filled == 0], 0.0)
        assert_array_equal(np.diagonal(covariance.gather(np.diag(spread))), y)


# grids


def months(count):
    """The first days of consecutive months, standardised."""
    days = (np.datetime64("1990-01", "M") + np.arange(count)).astype("datetime64[D]").astype(float)
    return (days - days.mean()) / days.std()


def test_calendar_months_stand_on_a_grid():
    places, spacing = on_grid(months(60)) or ([], 0.0)
    assert_array_equal(places, np.arange(60))
    assert_allclose(spacing, np.ptp(months(60)) / 59, rtol=1e-12)
    assert len(covariance_of(months(60)[:, None])._lags.values) == 60


def test_a_grid_may_have_gaps_but_not_many():
    x = np.arange(30.0)
    places, spacing = on_grid(np.delete(x, [3, 4, 17, 20])) or ([], 0.0)
    assert_array_equal(places, np.delete(np.arange(30), [3, 4, 17, 20]))
    assert spacing == pytest.approx(1.0)
    assert on_grid(np.concatenate([x[:15], x[:15] + 40.0])) is None


def test_places_follow_the_order_of_the_rows():
    order = RNG.permutation(12)
    places, _ = on_grid(0.25 * order.astype(float)) or ([], 0.0)
    assert_array_equal(places, order)


@pytest.mark.parametrize(
    "x",
    [
        RNG.uniform(0.0, 1.0, 20),
        np.append(np.arange(10.0), 4.0),
        np.arange(10.0) + np.where(np.arange(10) == 5, 0.3, 0.0),
        np.array([0.0, 1.0]),
        np.zeros(5),
    ],
    ids=["irregular", "twice", "one beside its place", "too short", "constant"],
)
def test_other_rows_stand_on_none(x):
    assert on_grid(x) is None
    covariance = covariance_of(x[:, None])
    assert_array_equal(covariance.X, x[:, None])


def test_rows_of_a_long_series_share_their_lags():
    pieces = np.concatenate([np.arange(20.0), np.arange(500.0, 520.0)])
    assert len(covariance_of(pieces[:, None])._lags.values) == 20 + 39


def test_many_rows_off_any_grid_are_worked_out_pair_by_pair(monkeypatch):
    monkeypatch.setattr("farrier.evaluation.covariance.LISTED_ROWS", 19)
    assert isinstance(covariance_of(RNG.uniform(0.0, 1.0, (20, 1))), DenseCovariance)


def test_several_inputs_are_never_a_grid():
    assert isinstance(covariance_of(np.arange(10.0).reshape(5, 2)), DenseCovariance)


# the small parts


LAGS = pytest.mark.parametrize("lags", [RegularLags(0.5, 7), ListedLags(0.5 * np.arange(7))], ids=["regular", "listed"])


@LAGS
def test_each_pair_of_rows_has_the_value_of_its_lag(lags):
    assert_allclose(lags.values, 0.5 * np.arange(7))
    row = RNG.standard_normal(7)
    spread = lags.spread(row)
    assert spread.shape == (7, 7)
    for a in range(7):
        for b in range(7):
            assert spread[a, b] == row[abs(a - b)]


@LAGS
def test_sums_are_over_the_pairs_of_equal_lag(lags):
    M = np.tril(RNG.standard_normal((7, 7)))
    expected = [sum(M[a, a - lag] for a in range(lag, 7)) for lag in range(7)]
    assert_allclose(lags.sums(M), expected, rtol=1e-12)
