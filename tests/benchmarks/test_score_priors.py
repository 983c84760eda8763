"""Priors by forecasts: windows follow each other, draws count by the ratio of priors, a round raises the score."""

import numpy as np
import pytest
from benchmarks.learn_priors import START
from benchmarks.score_priors import MOST, STEP, drawn, improved, windows
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from farrier.search.learned_priors import LogNormal

HORIZON = 4
BOTH = {"identity": dict(START), "log": dict(START)}


def growing(seed, rows=24):
    rng = np.random.default_rng(seed)
    return 20.0 + 0.8 * np.arange(rows) + 0.4 * rng.standard_normal(rows)


@pytest.fixture(scope="module")
def window():
    rows = growing(0)
    return drawn(rows[:-HORIZON], rows[-HORIZON:], 1, BOTH)[0]


def test_windows_follow_each_other_and_start_with_enough_rows():
    rows = np.arange(30.0)
    found = windows(rows, HORIZON, 1)
    assert [len(past) for past, _ in found] == [26, 22, 18]
    assert_array_equal(np.concatenate([ahead for _, ahead in found[::-1]]), rows[18:])
    assert len(windows(np.arange(15.0), HORIZON, 1)) == 1
    assert len(windows(rows, HORIZON, 8)) == 1
    assert len(windows(np.arange(2.0 * MOST), HORIZON, 1)[0][0]) == MOST


def test_under_the_priors_of_the_draws_all_draws_of_a_fit_count_the_same(window):
    mixed = np.mean(logsumexp(window.fit.densities, axis=0)) - np.log(len(window.fit.densities)) + window.unit
    assert_allclose(window.score(dict(START)), window.share * mixed, atol=0.02)


def test_a_prior_that_holds_better_draws_scores_higher(window):
    one = window.fit
    value, worth = one.values[:, one.names.index("damping")], one.densities.mean(axis=1)
    better = float(np.average(value, weights=np.exp(4.0 * (worth - worth.max()))))
    near, far = (START | {"damping": LogNormal(mean, 0.2)} for mean in (better, 2.0 * value.mean() - better))
    assert window.score(near) > window.score(far)


def test_rows_that_are_all_alike_teach_nothing():
    assert drawn(np.ones(20), np.ones(HORIZON), 1, BOTH) == []


def test_a_round_moves_the_priors_a_bounded_way_to_a_higher_score():
    series, first = [(growing(seed), HORIZON) for seed in range(3)], BOTH
    after = improved(series, 1, first, first)
    kept = [one for rows, ahead in series for part in windows(rows, ahead, 1) for one in drawn(*part, 1, first)]
    for scale in BOTH:
        own = [one for one in kept if one.fit.scale == scale]
        assert sum(one.score(after[scale]) for one in own) > sum(one.score(first[scale]) for one in own)
        assert max(abs(after[scale][name].mean - first[scale][name].mean) for name in START) <= STEP + 1e-9
        assert after[scale]["season"] == first[scale]["season"]
        assert after[scale]["level"] == first[scale]["level"]


def test_the_shares_of_both_scales_add_up_to_one():
    found = drawn(growing(1)[:-HORIZON], growing(1)[-HORIZON:], 1, BOTH)
    assert 0.9 < sum(one.share for one in found) <= 1.0 + 1e-12
