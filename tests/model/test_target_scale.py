"""Laws of the scales for the target: there and back, the Jacobian by finite differences, and when they are tried."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.model.target_scale import TRANSFORMS, named, worth_trying

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
    transforms = worth_trying(y, 1.5)
    assert len(transforms) == tried
    assert transforms[0].name == "identity"
    assert all(np.all(np.isfinite(transform.forward(y))) for transform in transforms)


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="transform='cube': there are auto, identity, log, square root"):
        named("cube")
