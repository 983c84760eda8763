"""The suite of counts: its series are counts that it can make again, and its loss is the pinball loss."""

import numpy as np
import pytest
from benchmarks.intermittent import LEVELS, _around, loss
from benchmarks.intermittent_data import KINDS, made


@pytest.mark.parametrize("kind", KINDS)
def test_series_are_counts_and_come_again(kind):
    one, again = made(kind, 4), made(kind, 4)
    assert np.array_equal(one.y, again.y)
    assert np.array_equal(one.y, np.rint(one.y))
    assert one.y.min() == 0.0
    assert len(one.past) + len(one.ahead) == len(one.index)


def test_the_loss_of_points_is_the_absolute_error():
    y = np.array([0.0, 3.0, 1.0])
    assert loss(y, np.full((9, 3), 2.0)) == pytest.approx(np.abs(y - 2.0).sum())


def test_the_true_quantiles_have_the_lowest_loss():
    y = np.random.default_rng(0).poisson(3.0, 4000).astype(float)
    true = np.quantile(y, LEVELS)[:, None] * np.ones(4000)
    assert loss(y, true) < min(loss(y, true + 1.0), loss(y, true - 1.0))


def test_counts_around_a_point_have_its_mean():
    past = np.random.default_rng(1).negative_binomial(1.0, 0.25, 500).astype(float)
    found = _around(np.array([3.0]), past)[:, 0]
    assert np.all(np.diff(found) >= 0.0)
    assert 1.0 <= found[4] <= 3.0
