"""Laws of the scales for the target: there and back, the Jacobian by finite differences, and when they are tried."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.model.target_scale import TRANSFORMS, TargetScale, named, towards, worth_trying

Y = np.array([0.05, 0.3, 1.0, 2.5, 40.0, 900.0])
EACH = pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.name)


@EACH
def test_inverse_undoes_forward(transform):
    assert_allclose(transform.inverse(transform.forward(Y)), Y, rtol=1e-12)


@EACH
def test_log_slope_is_that_of_finite_differences(transform):
    step = 1e-6 * Y
    slope = (transform.forward(Y + step) - transform.forward(Y - step)) / (2.0 * step)
    assert_allclose(transform.log_slope(Y), np.log(slope), atol=1e-7)


@EACH
def test_all_are_increasing_with_slope_one_at_one(transform):
    assert np.all(np.diff(transform.forward(Y)) > 0)
    assert transform.log_slope(np.ones(1)) == pytest.approx(0.0)


@EACH
def test_density_of_y_integrates_to_one(transform):
    # of a standard normal z, by the trapezoidal rule in z
    z = np.linspace(-1.5, 1.5, 4001)
    y = transform.inverse(z)
    density = np.exp(-0.5 * z**2 + transform.log_slope(y))
    expected = np.trapezoid(np.exp(-0.5 * z**2), z)
    assert_allclose(np.trapezoid(density, y), expected, rtol=1e-5)


@EACH
def test_extreme_values_of_z_have_finite_y(transform):
    y = transform.inverse(np.array([-1e4, 1e4]))
    assert np.all(np.isfinite(y))
    assert y[0] >= transform.lowest


@EACH
def test_pickle_brings_back_the_same_one(transform):
    assert pickle.loads(pickle.dumps(transform)) is transform


@pytest.mark.parametrize(
    ("y", "tried"),
    [
        (Y, 3),
        (np.append(Y, 0.0), 1),
        (Y - 1.0, 1),
        (100.0 + Y[:4], 1),
        (np.array([1.0, 1.4]), 1),
        (np.array([1.0, 1.6]), 3),
    ],
    ids=["wide", "a zero", "negative", "narrow", "below the ratio", "above it"],
)
def test_other_scales_are_tried_where_y_is_positive_and_wide(y, tried):
    transforms = worth_trying(y)
    assert len(transforms) == tried
    assert transforms[0].name == "identity"
    assert all(np.all(np.isfinite(transform.forward(y))) for transform in transforms)


@EACH
def test_what_a_scale_reaches_is_its_forward_and_minus_infinity_below(transform):
    scale = TargetScale(transform, 0.3, 2.0)
    assert_allclose(scale.reached(Y), scale.forward(Y))
    below = scale.reached(np.array([-1e300, -1.0, 0.0, scale.least]))
    if transform.name == "identity":
        assert scale.least == -np.inf
        assert_allclose(below[1:3], scale.forward(np.array([-1.0, 0.0])))
    else:
        assert_allclose(below[:3], -np.inf)
        assert np.isfinite(below[3])
        assert 0.0 < scale.least < 1e-300


@EACH
def test_the_jacobian_of_rows_is_the_sum_of_their_slopes(transform):
    scale = TargetScale.of(transform, Y)
    assert_allclose(scale.log_jacobian(Y), scale.log_slopes(Y).sum())
    step = 1e-6 * Y
    slopes = (scale.forward(Y + step) - scale.forward(Y - step)) / (2.0 * step)
    assert_allclose(scale.log_slopes(Y), np.log(slopes), atol=1e-6)


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="transform='cube': there are auto, identity, log, square root"):
        named("cube")


CAPPED = [*towards(1000.0, 0.0, Y[1:] + 5.0), *towards(1000.0, None, Y - 30.0)]
capped = pytest.mark.parametrize("transform", CAPPED, ids=lambda transform: transform.name)
BELOW = np.array([6.0, 40.0, 300.0, 900.0, 990.0])


@capped
def test_below_a_cap_the_inverse_undoes_forward_and_the_slope_is_that_of_finite_differences(transform):
    assert_allclose(transform.inverse(transform.forward(BELOW)), BELOW, rtol=1e-9)
    slope = (transform.forward(BELOW + 1e-4) - transform.forward(BELOW - 1e-4)) / 2e-4
    assert_allclose(transform.log_slope(BELOW), np.log(slope), atol=1e-6)


@capped
def test_what_grows_steadily_on_a_scale_below_a_cap_slows_towards_it(transform):
    t = transform.forward(np.array([500.0, 600.0]))
    y = transform.inverse(t[1] + (t[1] - t[0]) * np.arange(400))
    steps = np.diff(y)
    assert np.all(steps[1:] <= steps[:-1] + 1e-9)
    assert y.max() <= 1000.0
    assert y.max() == pytest.approx(1000.0)


@capped
def test_a_scale_below_a_cap_comes_back_by_its_name(transform):
    again = pickle.loads(pickle.dumps(transform))
    assert again.name == transform.name
    assert_allclose(again.forward(BELOW), transform.forward(BELOW))
    assert again.lowest == transform.lowest


def test_a_series_at_its_cap_has_no_such_scale():
    assert towards(900.0, 0.0, Y) == ()
    assert towards(900.5, None, Y) == ()


def test_growth_from_its_floor_begins_below_the_rows():
    names = [one.name for one in towards(100.0, 0.0, np.array([0.0, 50.0]))]
    assert names == ["logit from -10 to 100", "logarithm of the distance to 100"]
