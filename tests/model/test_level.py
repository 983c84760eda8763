"""Given kernels with a step have a level: y need not be at its mean where the step is off."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier import Constant, Forecaster, Linear, Regressor, Step

X = np.arange(60.0)[:, None]
TRUTH = np.where(X[:, 0] < 20.0, 100.0, 130.0)
Y = TRUTH + np.random.default_rng(0).standard_normal(60)


@pytest.mark.parametrize("likelihood", ["gaussian", "student-t"])
def test_a_step_alone_fits_the_level_before_it(likelihood):
    model = Regressor(kernels=[Step(20.0, 0.1)], scale="identity", likelihood=likelihood).fit(X, Y)
    assert np.abs(model.predict(X) - TRUTH).max() < 1.5
    # the level is no component of its own
    assert len(model.components_) == 1
    assert model.pool_[0].formula() == "Step"


def test_a_refit_keeps_the_level():
    forecaster = Forecaster(kernels=[Step(20.0, 0.1)], scale="identity").fit(X[:50, 0], Y[:50])
    forecaster.update(X[50:, 0], Y[50:])
    assert len(forecaster.components_) == 1
    assert_allclose(forecaster.predict([5.0, 55.0]), [100.0, 130.0], atol=1.5)


def test_no_level_is_added_where_there_is_one_or_no_step():
    for kernels in ([Step(20.0, 0.1), Constant()], [Linear(0.0)]):
        assert Regressor(kernels=kernels, scale="identity").fit(X, Y).result_.fitted.level is None
