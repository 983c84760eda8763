"""Farrier keeps the contract of sktime's forecasters, by sktime's own checks."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("sktime", reason="sktime is not installed: pip install 'farrier[sktime]'")
# sktime warns of its own plans
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def y():
    generator = np.random.default_rng(0)
    index = pd.period_range("2019-01", periods=36, freq="M")
    return pd.Series(0.3 * np.arange(36) + generator.normal(size=36), index=index, name="sales")


def forecaster():
    from farrier.estimators.sktime import FarrierForecaster

    return FarrierForecaster(kernels=["Lin", "SE"], iterations=15)


def test_predictions_are_those_of_the_forecaster(y):
    from farrier import Forecaster

    ours = forecaster().fit(y, fh=[1, 3])
    theirs = Forecaster(["Lin", "SE"], iterations=15).fit(y).forecast(3, levels=(80,))
    assert_allclose(ours.predict(), theirs["mean"].iloc[[0, 2]], rtol=1e-10)
    assert_array_equal(ours.predict().index, theirs.index[[0, 2]])
    interval = ours.predict_interval(coverage=0.8)
    assert_allclose(interval[("sales", 0.8, "lower")], theirs["low_80"].iloc[[0, 2]], rtol=1e-10)


def test_update_moves_the_cutoff_and_keeps_the_structure(y):
    ours = forecaster().fit(y[:30], fh=[1])
    before = [row.formula for row in ours.forecaster_.components_]
    ours.update(y[30:])
    assert ours.predict().index[0] == pd.Period("2022-01", "M")
    assert sorted(row.formula for row in ours.forecaster_.components_) == sorted(before)


@pytest.mark.timeout(1800)
def test_sktime_finds_nothing_wrong():
    from sktime.utils.estimator_checks import check_estimator

    from farrier.estimators.sktime import FarrierForecaster

    found = check_estimator(FarrierForecaster, raise_exceptions=False, verbose=False)
    assert {name: result for name, result in found.items() if result != "PASSED"} == {}
