"""Laws of cycles: a series of years has one where its rows show it clearly, and then its future has limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier import Forecaster
from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import CentredPeriodic
from farrier.search.beliefs import Beliefs
from farrier.search.candidates import ordinary_series
from farrier.search.enriching import fit_ordinary
from farrier.search.learned_priors import Clock
from farrier.search.scoring import Evaluator

YEARS = np.datetime64("1900", "Y") + np.arange(80)
RNG = np.random.default_rng(3)
X = np.linspace(-1.7, 1.7, 80)[:, None]
STEP = float(X[1, 0] - X[0, 0])
CYCLE = np.sin(2.0 * np.pi * np.arange(80) / 9.5) * (1.0 + 0.4 * np.sin(0.13 * np.arange(80)))
CYCLE += 0.15 * RNG.standard_normal(80)
WALK = np.cumsum(RNG.standard_normal(80))


def evaluator(y, seasons):
    y = (y - y.mean()) / y.std()
    return Evaluator(X, y, covariance_of(X), beliefs=Beliefs(Clock.of(X[:, 0], seasons)))


def fitted(y, seasons=(), near=None):
    rows = evaluator(y, list(seasons))

    def parts(periods):
        kernels = ordinary_series(rows.beliefs, periods, [])
        return [rows.part(kernel, rows.beliefs.scale(kernel)) for kernel in kernels]

    return fit_ordinary(rows, parts, seasons, near)


def periods_of(structure):
    factors = [factor for part in structure.parts for factor in part.kernel.products()[0]]
    return [float(factor.period) / STEP for factor in factors if isinstance(factor, CentredPeriodic)]


@pytest.fixture(scope="module")
def cyclic():
    return fitted(CYCLE)


def test_a_cycle_that_the_rows_show_is_found(cyclic):
    assert_allclose(periods_of(cyclic), [9.5], rtol=0.03)


def test_a_walk_has_no_cycle():
    assert periods_of(fitted(WALK)) == []


def test_a_similar_structure_has_decided(cyclic):
    assert len(periods_of(fitted(WALK, near=cyclic))) == 1
    assert periods_of(fitted(CYCLE, near=fitted(WALK))) == []


def test_beside_seasons_a_cycle_is_found_if_it_gains_far_more_than_chance():
    assert_allclose(periods_of(fitted(CYCLE, [4.0 * STEP])), [4.0, 9.5], rtol=0.03)
    assert_allclose(periods_of(fitted(WALK, [4.0 * STEP])), [4.0], rtol=0.03)


def test_the_future_of_a_cycle_is_as_wide_as_its_past():
    ahead = Forecaster().fit(YEARS, 100.0 + 20.0 * CYCLE).forecast(40, levels=(95,))
    width = np.asarray(ahead["high_95"]) - np.asarray(ahead["low_95"])
    assert width.max() < 2.5 * 20.0 * np.ptp(CYCLE)
