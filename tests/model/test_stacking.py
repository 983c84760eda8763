"""Laws of stacking: the gradient is that of the value, members rule where they are good, sizes and tails are found."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad
from scipy.special import logsumexp, softmax
from scipy.stats import t as student

from farrier.inference.student_t import LEAST_DEGREES
from farrier.model.stacking import SPREADS, LeftOut, Stacking, _Problem, spread_of, stacked
from farrier.model.target_scale import TargetScale, named

ROWS = 400
RNG = np.random.default_rng(0)
LEVEL = RNG.standard_normal(ROWS)


def left_out(errors, sd, mean=LEVEL, level=None):
    level = mean if level is None else level
    return LeftOut(mean, np.broadcast_to(sd, mean.shape), mean + errors, np.zeros(len(mean)), TargetScale(), level)


def test_the_gradient_is_that_of_the_value():
    members = [left_out(RNG.standard_normal(ROWS), np.exp(0.3 * RNG.standard_normal(ROWS))) for _ in range(3)]
    problem = _Problem(members, LEVEL)
    u = problem.centre + 0.3 * RNG.standard_normal(len(problem.centre))
    assert check_grad(lambda u: problem.value(u)[0], lambda u: problem.value(u)[1], u) < 1e-3


def test_a_member_has_its_share_where_it_predicts_well():
    z = LEVEL + 0.1 * RNG.standard_normal(ROWS)
    wrong = RNG.standard_normal(ROWS)
    low = LeftOut(
        np.where(LEVEL < 0, LEVEL, LEVEL + wrong), np.full(ROWS, 0.1), z, np.zeros(ROWS), TargetScale(), LEVEL
    )
    high = LeftOut(
        np.where(LEVEL > 0, LEVEL, LEVEL + wrong), np.full(ROWS, 0.1), z, np.zeros(ROWS), TargetScale(), LEVEL
    )
    found, _ = stacked([low, high])
    shares = found.shares(np.array([-1.5, 1.5]))
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    assert shares[0, 0] > 0.8
    assert shares[1, 1] > 0.8


def test_errors_that_grow_with_the_level_get_intervals_that_do():
    errors = 0.5 * np.exp(0.4 * LEVEL) * RNG.standard_normal(ROWS)
    found, _ = stacked([left_out(errors, 1.0)])
    assert found.scales[0, 0, 1] == pytest.approx(0.4, abs=0.12)
    assert found.scales[0, 0, 0] == pytest.approx(np.log(0.5), abs=0.15)


def test_heavy_tails_have_few_degrees_of_freedom_and_light_ones_many():
    heavy, _ = stacked([left_out(student.rvs(3, size=ROWS, random_state=1), 1.0)])
    light, _ = stacked([left_out(RNG.standard_normal(ROWS), 1.0)])
    assert heavy.degrees[0, 0] < 5.0 < light.degrees[0, 0]


def test_predictions_hold_as_many_rows_as_they_say():
    errors = 0.5 * np.exp(0.4 * LEVEL) * RNG.standard_normal(ROWS)
    one = left_out(errors, 1.0)
    found, _ = stacked([one])
    (prediction,) = found.predictions([TargetScale()], [one.mean], [one.sd])
    low, high = prediction.quantiles(np.array([0.025, 0.975]))
    assert np.mean((one.z > low) & (one.z < high)) == pytest.approx(0.95, abs=0.025)


def test_the_returned_log_densities_are_those_of_the_predictions():
    one, other = left_out(RNG.standard_normal(ROWS), 1.0), left_out(2.0 * RNG.standard_normal(ROWS), 1.0)
    members = [one, replace(other, z=one.z)]
    found, densities = stacked(members)
    predictions = found.predictions([TargetScale()] * 2, [m.mean for m in members], [m.sd for m in members])
    assert_allclose(densities, logsumexp([p.log_density(one.z) for p in predictions], axis=0))


def test_the_curvature_is_that_of_the_value():
    rng = np.random.default_rng(1)
    members = [left_out(rng.standard_normal(ROWS), np.exp(0.3 * rng.standard_normal(ROWS))) for _ in range(2)]
    problem = _Problem(members, LEVEL)
    u, step = problem.centre + 0.2, 1e-3
    way = rng.standard_normal(len(u))
    ahead, here, back = (problem.value(u + k * step * way)[0] for k in (1, 0, -1))
    assert way @ problem.curvature(u) @ way == pytest.approx((ahead - 2.0 * here + back) / step**2, rel=1e-3)


def test_of_many_rows_draws_predict_as_the_highest_point_does():
    def spread(rows):
        level = np.linspace(-2.0, 2.0, rows)
        one = left_out(np.random.default_rng(rows).standard_normal(rows), 1.0, level)
        found, _ = stacked([one, replace(one, mean=level + 0.5)])
        sizes = found.sizes(np.zeros(1), [np.ones(1)] * 2)[:, 0, 0]
        return np.std(np.log(sizes[1:] / sizes[0]))

    few, many = spread(50), spread(20_000)
    assert many < 0.02 < 0.05 < few


def test_predictions_are_calibrated_if_the_numbers_come_from_their_prior():
    # from the highest point alone 95 % intervals would hold 93.8 % of new rows
    inside = {"top": [], "all": []}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        level, new = rng.standard_normal(100), rng.standard_normal(300)
        level = (level - level.mean()) / level.std()
        offsets = np.array([0.0, *(2.0 * rng.standard_normal(2))])
        gates = SPREADS[0] * rng.standard_normal((3, 3)) * np.array([[0.0], [1.0], [1.0]])
        scales = SPREADS[1] * rng.standard_normal((3, 2))
        degrees = LEAST_DEGREES + np.exp(2.3 + SPREADS[2] * rng.standard_normal(3))

        def observed(v):
            shares = softmax(gates @ np.stack([np.ones_like(v), v, v**2 - 1.0]), axis=0)
            k = np.sum(np.cumsum(shares, axis=0) < rng.uniform(size=len(v)), axis=0)
            return v + offsets[k] + np.exp(scales[k, 0] + scales[k, 1] * v) * rng.standard_t(degrees[k])

        z = observed(level)
        found, _ = stacked([left_out(z - level - o, 1.0, level + o, level) for o in offsets])
        top = replace(found, gates=found.gates[:1], scales=found.scales[:1], degrees=found.degrees[:1])
        z = observed(new)
        for name, one in (("top", top), ("all", found)):
            each = one.predictions([TargetScale()] * 3, [new + o for o in offsets], [np.ones(300)] * 3)
            below = np.sum([p.cumulative(z[None])[0] for p in each], axis=0)
            inside[name].append([np.mean(np.abs(below - 0.5) < half) for half in (0.25, 0.4, 0.475)])
    assert np.mean(inside["all"], axis=0) == pytest.approx([0.5, 0.8, 0.95], abs=0.01)
    assert np.mean(inside["top"], axis=0)[2] < 0.945


def test_variance_beyond_that_of_left_out_rows_is_kept_as_it_is():
    found, _ = stacked([left_out(0.3 * RNG.standard_normal(ROWS), 1.0)])
    near, far = found.predictions([TargetScale()], [np.zeros(2)], [np.array([1.0, 100.0])])[0].sd
    assert near == pytest.approx(0.3, rel=0.15)
    assert far == pytest.approx(100.0, rel=1e-3)


def test_the_mean_of_all_lies_between_those_of_the_members():
    y = np.exp(np.linspace(0.0, 2.0, 20))
    scales = [TargetScale.of(named(name), y) for name in ("identity", "log")]
    one = Stacking(4.0, np.zeros((1, 2, 3)), np.zeros((1, 2, 2)), np.full((1, 2), 5.0), np.ones(2))
    low, high = one.between(scales, [np.zeros(3)] * 2, [np.full(3, 0.1)] * 2)
    middle = scales[1].sd
    expected = np.exp(np.log(y).mean()) * np.cosh(0.1 * middle)
    assert_allclose((low[0], high[0]), (expected, y.mean()))


@pytest.mark.parametrize("root", [0.4, 1.0, 1.8])
def test_the_part_of_the_further_variance_is_that_of_errors_at_the_ends(root):
    sd = np.full(ROWS, 6.0)
    ends = left_out(root * sd * RNG.standard_normal(ROWS), sd)
    found, _ = stacked([replace(left_out(RNG.standard_normal(ROWS), 1.0), ends=ends)])
    assert np.sqrt(found.further) == pytest.approx(root, rel=0.15)
    assert found.sizes(LEVEL, [np.ones(ROWS)])[0, 0] == pytest.approx(np.ones(ROWS), rel=0.2)


def test_without_ends_all_of_the_further_variance_counts():
    found, _ = stacked([left_out(RNG.standard_normal(ROWS), 1.0)])
    assert found.further == 1.0


@pytest.mark.parametrize("size", [0.5, 1.0, 2.0])
def test_the_spread_is_the_size_of_errors_over_that_of_the_predictions(size):
    members = [left_out(RNG.standard_normal(ROWS), 1.0)]
    found, _ = stacked(members)
    errors = [replace(members[0], z=LEVEL + size * (members[0].z - LEVEL))]
    assert spread_of(found, errors) == pytest.approx(size * spread_of(found, members), rel=0.02)
    assert spread_of(found, members) == pytest.approx(1.0, abs=0.1)
