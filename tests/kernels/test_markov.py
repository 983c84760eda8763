"""Laws of state-space forms: their recursion gives the covariance of the kernel on any rows, and two steps are one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.kernels.markov import markov_form, smooth_form
from farrier.kernels.registry import DampedTrend, Matern12, Matern32, Matern52, RandomWalk, SquaredExponential

TIMES = np.array([0.4, 0.401, 0.7, 1.9, 1.9, 2.0, 6.5])
"""Irregular, with a very short step and a repeated row."""
FORMS = [
    RandomWalk(0.4, 1.6),
    RandomWalk(-1.0),
    DampedTrend(0.7, 0.4, 1.4),
    DampedTrend(2.5, -0.6),
    DampedTrend(0.01, 0.4),
    Matern12(1.3),
    Matern32(0.8),
    Matern52(1.7),
]
forms = pytest.mark.parametrize("kernel", FORMS, ids=repr)


def covariance(form, times):
    """The covariance of the function at rising times, by the recursion."""
    start = times[0] if form.origin is None else form.origin
    A, Q = form.steps(np.diff(times, prepend=start))
    P, states = form.initial, []
    for transition, noise in zip(A, Q, strict=True):
        P = transition @ P @ transition.T + noise
        states.append(P)
    K = np.zeros((len(times), len(times)))
    for i, state in enumerate(states):
        across = state
        for j in range(i, len(times)):
            across = across if j == i else A[j] @ across
            K[i, j] = K[j, i] = form.observation @ across @ form.observation
    return K


@forms
def test_the_recursion_gives_the_covariance_of_the_kernel(kernel):
    K = kernel.gram(TIMES[:, None], TIMES[:, None])
    assert_allclose(covariance(markov_form(kernel), TIMES), K, rtol=1e-9, atol=1e-12)


@forms
def test_two_steps_are_one_step_of_their_sum(kernel):
    form = markov_form(kernel)
    # on both sides of where the series of a damped trend begins
    for h in (np.array([1e-4, 3e-4]), np.array([0.002, 0.02]), np.array([0.3, 1.1])):
        (A1, A2), (Q1, Q2) = form.steps(h)
        (A,), (Q,) = form.steps(h.sum(keepdims=True))
        assert_allclose(A2 @ A1, A, rtol=1e-12, atol=1e-15)
        assert_allclose(A2 @ Q1 @ A2.T + Q2, Q, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("kernel", [Matern12(1.3), Matern32(0.8), Matern52(1.7)], ids=str)
def test_a_stationary_state_stays_as_it_is(kernel):
    form = markov_form(kernel)
    (A,), (Q,) = form.steps(np.array([0.9]))
    assert_allclose(A @ form.initial @ A.T + Q, form.initial, rtol=1e-12, atol=1e-12)
    (A,), _ = form.steps(np.array([200.0]))
    assert_allclose(A, np.zeros_like(A), atol=1e-12)


@forms
def test_the_noise_of_a_step_is_a_covariance(kernel):
    _, Q = markov_form(kernel).steps(np.array([0.0, 0.05, 0.5, 5.0]))
    assert_allclose(Q[0], 0.0, atol=1e-15)
    assert_allclose(Q, Q.transpose(0, 2, 1), atol=1e-15)
    assert np.all(np.linalg.eigvalsh(Q) > -1e-12)


def test_a_kernel_without_a_form_is_refused_with_those_that_have_one():
    with pytest.raises(
        ValueError, match=r"SquaredExponential has no state-space form here; .* RandomWalk, DampedTrend"
    ):
        markov_form(SquaredExponential(1.0))


def test_a_kernel_of_several_inputs_is_refused():
    with pytest.raises(ValueError, match="one input, got numbers for 2"):
        markov_form(Matern12(np.array([1.0, 2.0])))


def test_the_smooth_process_is_close_to_the_squared_exponential():
    form, lags = smooth_form(SquaredExponential(0.7)), np.linspace(0.0, 4.0, 200)
    A, _ = form.steps(lags)
    found = A[:, 0] @ form.initial[:, 0]
    expected = SquaredExponential(0.7).gram(np.zeros((1, 1)), lags[:, None])[0]
    assert np.abs(found - expected).max() < 0.0044


@pytest.mark.parametrize("form", [markov_form(Matern52(1.7)), smooth_form(SquaredExponential(0.9))], ids=["52", "SE"])
def test_two_steps_are_one_on_both_sides_of_the_quadrature(form):
    for h in (np.array([0.02, 0.03]), np.array([0.4, 0.9]), np.array([1.1, 1.2])):
        (A1, A2), (Q1, Q2) = form.steps(h)
        (A,), (Q,) = form.steps(h.sum(keepdims=True))
        assert_allclose(A2 @ A1, A, rtol=1e-9, atol=1e-10)
        assert_allclose(A2 @ Q1 @ A2.T + Q2, Q, rtol=1e-8, atol=1e-11)
        assert np.linalg.eigvalsh(Q1 / np.sqrt(np.outer(np.diagonal(Q1), np.diagonal(Q1)))).min() > 0


@pytest.mark.parametrize("kernel", [one for one in FORMS if isinstance(one, RandomWalk | DampedTrend)], ids=repr)
def test_values_after_a_state_have_the_covariance_of_its_noise(kernel):
    # given the state, the values h and h + d later have the covariance of the noise of the first step, carried on
    form = markov_form(kernel)
    first, apart = np.array([0.002, 0.3, 1.7]), np.array([0.4, 0.0, 2.2])
    _, Q = form.steps(first)
    A, _ = form.steps(apart)
    expected = [form.observation @ a @ q @ form.observation for a, q in zip(A, Q, strict=True)]
    assert_allclose(form.since(first, apart), expected, rtol=1e-8)


@pytest.mark.parametrize("kernel", [Matern12(1.3), Matern32(0.8), Matern52(1.7), SquaredExponential(0.6)], ids=str)
def test_the_covariance_over_a_distance_is_that_of_the_steps(kernel):
    form = smooth_form(kernel) if isinstance(kernel, SquaredExponential) else markov_form(kernel)
    distances = np.array([0.0, 0.01, 0.4, 1.9, 6.0])
    A, _ = form.steps(distances)
    expected = [form.observation @ a @ form.initial @ form.observation for a in A]
    assert_allclose(form.correlation(distances), expected, atol=1e-8)
