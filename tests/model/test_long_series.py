"""Laws of a fit of a long series: it predicts from all rows, its parts add up, and it can be refitted and sent."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from farrier.model.learning import fit_given, learn
from farrier.search.long_settings import LongSettings
from farrier.search.settings import CandidateSettings, GrowingSettings, RowSettings, SearchSettings
from numpy.testing import assert_allclose

from farrier.kernels.registry import Constant, Matern12
from farrier.model.refit import refitted
from farrier.model.result import Result

SETTINGS = SearchSettings(
    candidates=CandidateSettings(most_periods=1),
    growing=GrowingSettings(rounds=2),
    rows=RowSettings(exact=100),
    long=LongSettings(search=60, pieces=2, length=120, spread=60),
)
X = np.linspace(-1.7, 1.7, 500)[:, None]
ROUGH = np.cumsum(np.random.default_rng(3).standard_normal(500))
KNOWN = np.arange(500) % 5 != 2


@pytest.fixture(scope="module")
def learned():
    return learn(X[KNOWN], ROUGH[KNOWN], transform="identity", settings=SETTINGS)


def test_a_long_rough_series_is_predicted_from_the_rows_near_by(learned):
    assert learned.tier == "linear"
    found, sd = learned.moments(X[~KNOWN])
    between = 0.5 * (ROUGH[np.flatnonzero(~KNOWN) - 1] + ROUGH[np.flatnonzero(~KNOWN) + 1])
    error = np.sqrt(np.mean((ROUGH[~KNOWN] - found) ** 2))
    assert error < 1.2 * np.sqrt(np.mean((ROUGH[~KNOWN] - between) ** 2))
    assert 0.85 < np.mean(np.abs(ROUGH[~KNOWN] - found) < 1.96 * sd) <= 1.0


def test_its_parts_add_up_to_its_prediction(learned):
    mean, variance = learned.parts(X[::7], range(learned.survivors))
    assert np.all(variance >= 0)
    assert_allclose(learned.scale.inverse(mean.sum(axis=0)), learned.moments(X[::7])[0], atol=1e-8)
    assert len(learned.appraisal.low) == learned.survivors > 0


def test_it_travels(learned):
    kept = pickle.loads(pickle.dumps(learned.posterior))
    assert_allclose(kept.draws(X[:3])[0], learned.posterior.draws(X[:3])[0])


def test_more_rows_are_added_without_a_search(learned):
    result = Result.__new__(Result)
    for name in Result.__dataclass_fields__:
        object.__setattr__(result, name, None)
    object.__setattr__(result, "fitted", learned)
    again = refitted(result, X, ROUGH).fitted
    assert again.tier == "linear"
    assert again.survivors == learned.survivors
    assert [str(k) for k in again.kernels] == [str(k) for k in learned.kernels]
    error = np.abs(again.moments(X[~KNOWN])[0] - ROUGH[~KNOWN])
    assert error.mean() < np.abs(learned.moments(X[~KNOWN])[0] - ROUGH[~KNOWN]).mean()


def test_given_kernels_of_a_long_series_are_fitted_by_the_same_tier():
    settings = replace(SETTINGS, long=replace(SETTINGS.long, draws=2))
    found = fit_given([Matern12(0.5), Constant()], X, ROUGH, iterations=10, settings=settings)
    assert found.tier == "linear"
    assert np.isfinite(found.bound)
    assert np.abs(found.moments(X)[0] - ROUGH).mean() < 1.0
