"""Laws of mixed predictions: quantiles are those of a sample, densities integrate to one, on any scales."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from farrier.model.predictions import Prediction, StudentPrediction, mixed_quantiles
from farrier.model.target_scale import TargetScale, named

IDENTITY, LOG = TargetScale(named("identity"), 3.0, 2.0), TargetScale(named("log"), 1.0, 0.4)
ROOT = TargetScale(named("square root"), 1.2, 0.9)
MEAN = np.array([[0.0, 0.3], [0.5, -0.4], [0.2, 0.1]])
SD = np.array([[1.0, 0.5], [0.7, 0.9], [1.2, 0.6]])
LEVELS = np.array([0.01, 0.1, 0.25, 0.5, 0.8, 0.975])
SETS = {
    "one": [Prediction(1.0, LOG, MEAN, SD)],
    "two scales": [Prediction(0.7, IDENTITY, MEAN, SD), Prediction(0.3, LOG, MEAN[:1], SD[:1])],
    "three": [
        Prediction(0.5, LOG, MEAN, SD),
        Prediction(0.2, LOG, MEAN - 1.0, SD),
        Prediction(0.3, ROOT, MEAN[:2], SD[:2]),
    ],
}
each_set = pytest.mark.parametrize("predictions", SETS.values(), ids=SETS.keys())


def sample(predictions, size=200_000):
    """Observations of the first row."""
    rng = np.random.default_rng(0)
    shares = np.array([one.share for one in predictions])
    which = rng.choice(len(predictions), size, p=shares)
    found = np.empty(size)
    for i, one in enumerate(predictions):
        mine = which == i
        draw = rng.integers(len(one.mean), size=mine.sum())
        z = one.mean[draw, 0] + one.sd[draw, 0] * rng.standard_normal(mine.sum())
        found[mine] = one.scale.inverse(z)
    return found


@each_set
def test_quantiles_are_those_of_a_large_sample(predictions):
    found = mixed_quantiles(predictions, LEVELS)[:, 0]
    below = np.mean(sample(predictions)[:, None] <= found, axis=0)
    assert_allclose(below, LEVELS, atol=0.005)


@each_set
def test_quantiles_rise_and_the_distribution_function_there_is_the_level(predictions):
    levels = np.linspace(0.005, 0.995, 40)
    found = mixed_quantiles(predictions, levels)
    assert found.shape == (40, 2)
    assert np.all(np.diff(found, axis=0) > 0.0)
    below = np.sum([one.cumulative(found) for one in predictions], axis=0)
    assert_allclose(below, np.broadcast_to(levels[:, None], below.shape), atol=1e-9)


def test_a_single_structure_has_its_own_quantiles():
    (one,) = SETS["one"]
    assert_array_equal(mixed_quantiles([one], LEVELS), one.quantiles(LEVELS))
    same = [Prediction(share, LOG, MEAN, SD) for share in (0.25, 0.75)]
    assert_allclose(mixed_quantiles(same, LEVELS), one.quantiles(LEVELS), rtol=1e-9)


@pytest.mark.parametrize("share", [1e-9, 0.02])
def test_a_member_with_endless_tails_on_logarithms_does_not_move_the_quantiles_of_the_others(share):
    shares, zero = np.array([1.0 - share]), np.zeros(1)
    endless = StudentPrediction(1.0 - shares, LOG, zero, np.full(1, 40.0), np.full(1, 1.01))
    mixed = [StudentPrediction(shares, IDENTITY, zero, np.ones(1), np.full(1, 5.0)), endless]
    found = mixed_quantiles(mixed, LEVELS)
    assert np.all((found > -20.0) & (found < 20.0))
    assert_allclose(sum(one.cumulative(found) for one in mixed)[:, 0], LEVELS, atol=1e-9)


def test_mixed_quantiles_lie_between_those_of_the_structures():
    predictions = SETS["two scales"]
    each = np.stack([one.quantiles(LEVELS) for one in predictions])
    found = mixed_quantiles(predictions, LEVELS)
    assert np.all((each.min(axis=0) <= found) & (found <= each.max(axis=0)))


@each_set
def test_densities_integrate_to_one_and_have_the_distribution_function_as_integral(predictions):
    # negative values are possible on the identity and impossible on the other scales
    grid = np.concatenate([np.linspace(-15.0, -1e-9, 3000), np.geomspace(1e-9, 300.0, 12000)])
    each = [
        Prediction(
            one.share, one.scale, np.repeat(one.mean[:, :1], len(grid), 1), np.repeat(one.sd[:, :1], len(grid), 1)
        )
        for one in predictions
    ]
    density = np.exp([one.log_density(grid) for one in each]).sum(axis=0)
    assert_allclose(np.trapezoid(density, grid), 1.0, atol=2e-3)
    middle = mixed_quantiles(predictions, np.array([0.5]))[0, 0]
    assert_allclose(np.trapezoid(np.where(grid < middle, density, 0.0), grid), 0.5, atol=5e-3)


def test_values_that_a_scale_cannot_reach_have_no_density_and_nothing_below_them():
    one = Prediction(0.4, LOG, MEAN, SD)
    assert_array_equal(one.log_density(np.array([-1.0, 0.0])), [-np.inf, -np.inf])
    assert_array_equal(one.cumulative(np.array([[-1.0, 0.0]])), [[0.0, 0.0]])


def test_the_density_on_a_scale_is_that_of_z_times_the_slope():
    one, y = Prediction(0.4, LOG, MEAN, SD), np.array([2.0, 5.0])
    density = norm.pdf((np.log(y) - 1.0) / 0.4, MEAN, SD).mean(axis=0) / (0.4 * y)
    assert_allclose(one.log_density(y), np.log(0.4 * density), rtol=1e-12)
