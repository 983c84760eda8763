"""Laws of the representation: few features for what is smooth, Markov processes for what is rough."""

import numpy as np
from numpy.testing import assert_allclose

from farrier.evaluation.products import Products
from farrier.inference.inducing_points import Group
from farrier.inference.linear_model import FeatureLimits, plan, sizes
from farrier.kernels.registry import CentredPeriodic, DayOfWeek, Linear, Matern12, SquaredExponential

GRID = np.linspace(-1.7, 1.7, 2880)
KERNELS = [
    Linear(0.1),
    CentredPeriodic(GRID[144] - GRID[0], 1.0),
    SquaredExponential(0.5),
    Matern12(0.1),
    CentredPeriodic(0.3, 1.0) * Matern12(2.0),
]


def test_each_product_is_what_suits_it():
    pool = Products.of(KERNELS, 1)
    pieces = plan(pool, GRID[:, None])
    assert [piece.order for piece in pieces] == [0, 0, 0, 1, 1]
    line, cycle, curve, rough, copies = (len(piece.Z) for piece in pieces)
    assert (line, rough) == (1, 1)
    assert 8 <= cycle <= 16
    assert 8 <= copies <= 16
    assert 10 <= curve <= 20
    assert sizes(pieces) == (line + cycle + curve, 1 + copies)


def test_features_explain_all_but_the_tolerance_also_where_a_cycle_is_in_step_with_the_rows():
    pool = Products.of([*KERNELS[:3], DayOfWeek(day=0.31)], 1)
    for piece, k in zip(plan(pool, GRID[:, None]), pool.gram(GRID[:, None], GRID[:, None]), strict=True):
        group = Group(piece.term, piece.Z, pool.numbers)
        phi = group.phi(GRID[:, None])
        assert group.left(GRID[:, None], phi).mean() < 1e-5 * np.diagonal(k).mean()
        assert_allclose(phi.T @ phi, k, atol=1e-3)


def test_where_features_are_too_many_the_largest_smooth_product_becomes_a_chain():
    pool = Products.of([SquaredExponential(0.05), SquaredExponential(0.5), CentredPeriodic(0.3, 0.4)], 1)
    pieces = plan(pool, GRID[:, None], FeatureLimits(features=60))
    assert [piece.order for piece in pieces] == [6, 0, 0]
    cut = plan(pool, GRID[:, None], FeatureLimits(features=10))
    assert [piece.order for piece in cut] == [6, 6, 0]
    assert len(cut[2].Z) == 10


def test_more_rows_have_fewer_features():
    limits = FeatureLimits(features=400, products=400.0 * 2880)
    pool = Products.of([CentredPeriodic(0.3, 0.2)], 1)
    assert len(plan(pool, GRID[:, None], limits)[0].Z) == 20
