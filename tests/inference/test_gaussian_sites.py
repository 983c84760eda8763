"""Laws of leave-one-out predictions from sites: without its site a row has what all others say of it."""

import numpy as np
from numpy.testing import assert_allclose

from farrier.inference.gaussian_sites import Sites

TARGET, VARIANCE = np.array([1.0, -2.0, 0.5]), np.array([0.2, 0.1, 0.3])


def posterior(mean, variance):
    """The normal of f at each row after its site, from the one before."""
    after = 1.0 / (1.0 / variance + 1.0 / VARIANCE)
    return after * (mean / variance + TARGET / VARIANCE), after


def test_a_site_that_is_taken_away_leaves_what_was_before_it():
    mean, variance = np.array([0.3, -1.0, 2.0]), np.array([0.5, 0.7, 0.9])
    found = Sites(TARGET, VARIANCE).left_out(*posterior(mean, variance), prior=1.0)
    assert_allclose(found, (mean, variance))


def test_a_variance_above_that_of_the_prior_says_that_nothing_was_learned_from_the_row():
    # an error of 0.03 % in the variance would make a prediction 83 standard deviations away
    mean, variance = np.array([0.3, -1.0, 2.0]), np.array([0.5, 0.7, 0.9])
    moved, after = posterior(mean, variance)
    moved[0], after[0] = 0.7, 0.99971 * VARIANCE[0]
    found = Sites(TARGET, VARIANCE).left_out(moved, after, prior=np.full(3, 1.0))
    assert_allclose(found[0], [0.7, -1.0, 2.0])
    assert_allclose(found[1], [after[0], 0.7, 0.9])
