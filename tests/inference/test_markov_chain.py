"""Laws of the chain: filtering and smoothing are Gaussian conditioning on all blocks at once."""

import numpy as np
from numpy.testing import assert_allclose

from farrier.inference.markov_chain import backward, forward

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
