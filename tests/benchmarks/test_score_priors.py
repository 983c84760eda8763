"""Priors by forecasts: windows follow each other, draws count by the ratio of priors, a round raises the score."""

import numpy as np
import pytest
from benchmarks.learn_priors import START
from benchmarks.score_priors import MOST, STEP, drawn, improved, windows
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from farrier.search.learned_priors import LogNormal

HORIZON = 4


def growing(seed, rows=24):
    rng = np.random.default_rng(seed)
    return 20.0 + 0.8 * np.arange(rows) + 0.4 * rng.standard_normal(rows)


@pytest.fixture(scope="module")
def window():
    rows = growing(0)
    return drawn(rows[:-HORIZON], rows[-HORIZON:], 1, dict(START))


def test_windows_follow_each_other_and_start_with_enough_rows():
    rows = np.arange(30.0)
    found = windows(rows, HORIZON, 1)
    assert [len(past) for past, _ in found] == [26, 22, 18]
    assert_array_equal(np.concatenate([ahead for _, ahead in found[::-1]]), rows[18:])
    assert len(windows(np.arange(15.0), HORIZON, 1)) == 1
    assert len(windows(rows, HORIZON, 8)) == 1
    assert len(windows(np.arange(2.0 * MOST), HORIZON, 1)[0][0]) == MOST


def test_under_the_priors_of_the_draws_all_draws_of_a_fit_count_the_same(window):
    heights = np.array([one.height for one in window.fits])
    each = [logsumexp(one.densities, axis=0) - np.log(len(one.densities)) for one in window.fits]
    shares = heights - logsumexp(heights)
    mixed = np.mean(logsumexp(shares[:, None] + np.array(each), axis=0)) + window.unit
    assert_allclose(window.score(dict(START)), mixed, atol=0.02)


def test_a_prior_that_holds_better_draws_scores_higher(window):
    one = window.fits[0]
    value, worth = one.values[:, one.names.index("damping")], one.densities.mean(axis=1)
    better = float(np.average(value, weights=np.exp(4.0 * (worth - worth.max()))))
    near, far = (START | {"damping": LogNormal(mean, 0.2)} for mean in (better, 2.0 * value.mean() - better))
    assert window.score(near) > window.score(far)


def test_rows_that_are_all_alike_teach_nothing():
    assert drawn(np.ones(20), np.ones(HORIZON), 1, dict(START)) is None


def test_a_round_moves_the_priors_a_bounded_way_to_a_higher_score():
    series, first = [(growing(seed), HORIZON) for seed in range(3)], dict(START)
    after = improved(series, 1, first, first)
    kept = [drawn(past, ahead, 1, first) for rows, horizon in series for past, ahead in windows(rows, horizon, 1)]
    assert sum(one.score(after) for one in kept) > sum(one.score(first) for one in kept)
    assert max(abs(after[name].mean - first[name].mean) for name in first) <= STEP + 1e-9
    assert after["season"] == first["season"]
    assert after["level"] == first["level"]
