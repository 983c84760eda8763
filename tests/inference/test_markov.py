"""Laws of Markov processes on blocks of rows, and of the passes along the chain of their states."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.inference.markov import after, backward, bridged, factor, forward
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


RNG = np.random.default_rng(4)
B, D, R, ROWS = 4, 2, 3, 5
F = np.array([[1.0, 0.0], [0.3, 0.0]])
"""A factor of a singular covariance."""
T = 0.7 * RNG.standard_normal((B, D, 2 * D))
Z = RNG.standard_normal((B, ROWS, 2 * D))
DATA = RNG.standard_normal((B, ROWS, R))
M, m = np.swapaxes(Z, 1, 2) @ Z, np.swapaxes(Z, 1, 2) @ DATA


def dense():
    """The prior covariance of all x, and the loadings of all rows on them."""
    # every x is linear in the first state's noise and the noise of all steps
    to_state, maps = np.zeros((D, D + B * D)), []
    to_state[:, :D] = F
    for b in range(B):
        noise = np.zeros((D, D + B * D))
        noise[:, D * (1 + b) : D * (2 + b)] = np.eye(D)
        maps.append(np.concatenate([to_state, noise]))
        to_state = T[b] @ maps[-1]
    G = np.concatenate(maps)
    loads = np.zeros((B * ROWS, B * 2 * D))
    for b in range(B):
        loads[b * ROWS : (b + 1) * ROWS, b * 2 * D : (b + 1) * 2 * D] = Z[b]
    return G @ G.T, loads


def test_the_forward_pass_gives_quadratic_forms_and_determinant():
    P, L = dense()
    V, D_all = L @ P @ L.T + np.eye(B * ROWS), DATA.reshape(-1, R)
    found = forward(F, T, M, m)
    assert_allclose(D_all.T @ D_all + found.quadratic, D_all.T @ np.linalg.solve(V, D_all), atol=1e-10)
    assert_allclose(found.log_determinant, np.linalg.slogdet(V)[1], atol=1e-10)


def test_the_backward_pass_gives_the_posterior_of_every_block():
    P, L = dense()
    V = L @ P @ L.T + np.eye(B * ROWS)
    mean = P @ L.T @ np.linalg.solve(V, DATA.reshape(-1, R))
    covariance = P - P @ L.T @ np.linalg.solve(V, L @ P)
    found = backward(forward(F, T, M, m), T, M, m)
    assert_allclose(found.mean.reshape(-1, R), mean, atol=1e-9)
    for b in range(B):
        own = slice(b * 2 * D, (b + 1) * 2 * D)
        assert_allclose(found.covariance[b], covariance[own, own], atol=1e-9)


def test_a_chain_without_states_says_nothing():
    nothing = np.zeros((0, 0)), np.zeros((1, 0, 0)), np.zeros((3, 0, 0)), np.zeros((3, 0, 2))
    found = forward(*nothing)
    assert_allclose(found.quadratic, np.zeros((2, 2)))
    assert backward(found, *nothing[1:]).mean.shape == (3, 0, 2)
