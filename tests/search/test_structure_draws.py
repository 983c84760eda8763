"""Draws of a structure keep the changepoints of its mode, where the likelihood of a step has no slope."""

import numpy as np
import pandas as pd

from farrier import Forecaster
from farrier.kernels.registry import Step


def test_the_size_of_a_step_is_that_of_the_truth_and_its_interval_holds_it():
    generator, t = np.random.default_rng(103), np.arange(500)
    y = 200.0 + 10.0 * (t % 7 >= 5) + 40.0 * (t >= 300) + 5.0 * generator.standard_normal(500)
    forecaster = Forecaster().fit(pd.date_range("2023-01-02", periods=500), y)
    posterior = forecaster.result_.fitted.explaining.posterior
    places = [
        {float(factor.location) for kernel in one.pool for factor in kernel.products()[0] if isinstance(factor, Step)}
        for one in posterior.posteriors
    ]
    assert len(places) > 1
    assert all(one == places[0] and one for one in places)
    (change,) = forecaster.changepoints_["change"]
    assert abs(change - 40.0) < 4.0
