"""Laws of Markov processes on blocks: loadings and bridges add up to the kernel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.inference.markov_blocks import after, bridged, factor
from farrier.kernels.markov import markov_form, smooth_form
from farrier.kernels.registry import DampedTrend, Matern12, Matern32, Matern52, RandomWalk, SquaredExponential

H = np.array([[0.0, 0.1, 0.1, 0.45, 0.7], [0.0, 0.2, 0.3, 0.3, 0.31]])
GAP = np.array([0.7, 0.5])
FORMS = [
    markov_form(kernel)
    for kernel in (Matern12(0.8), Matern32(0.6), Matern52(1.1), RandomWalk(-1.0, 1.3), DampedTrend(0.9, -1.0))
] + [smooth_form(SquaredExponential(0.9))]
forms = pytest.mark.parametrize("form", FORMS, ids=range(len(FORMS)))


@forms
def test_noise_across_the_block_and_bridge_are_all_that_the_left_state_leaves(form):
    found = bridged(form, H, GAP)
    given_left = after(form, H, H, found.a, found.a)
    _, Q = form.steps(H.ravel())
    assert_allclose(np.diagonal(given_left, axis1=1, axis2=2).ravel(), Q[:, 0, 0], rtol=1e-6, atol=1e-8)
    assert_allclose(found.bridge + found.b @ np.swapaxes(found.b, 1, 2), given_left, atol=1e-12)


@forms
def test_a_bridge_is_zero_at_both_borders_and_a_covariance_between(form):
    bridge = bridged(form, H, GAP).bridge
    assert_allclose(bridge[:, 0], 0.0, atol=1e-8)
    assert_allclose(bridge[0, -1], 0.0, atol=1e-8)
    assert np.linalg.eigvalsh(bridge).min() > -1e-8


def test_a_factor_of_nothing_is_nothing():
    Q = np.stack([np.zeros((2, 2)), np.array([[2.0, 1.0], [1.0, 3.0]])])
    E, scale = factor(Q)
    assert_allclose(E @ np.swapaxes(E, 1, 2), Q, atol=1e-12)
    assert_allclose(scale**2, np.diagonal(Q, axis1=1, axis2=2))
