"""Draws of a structure keep the changepoints of its mode, where the likelihood of a step has no slope."""

import numpy as np
import pandas as pd

from farrier import Forecaster
from farrier.kernels.registry import CentredPeriodic, Step
from tests.search.made_series import SIZE, STEP, fitted, of_curve


def test_draws_of_the_parameters_keep_the_place_of_a_step_and_move_what_has_a_slope():
    evaluator = of_curve(STEP)
    structure = fitted(evaluator, Step(0.4, 0.02 * SIZE), CentredPeriodic(0.31))
    models = evaluator.models(structure, 6)
    assert len(models) == 7
    places = {float(model.pool[0].location) for model in models}
    assert places == {float(structure.parts[0].kernel.location)}
    assert len({float(model.prior.w[0]) for model in models}) == 7


def test_the_size_of_a_step_is_that_of_the_truth_and_its_interval_holds_it():
    generator, t = np.random.default_rng(103), np.arange(500)
    y = 200.0 + 10.0 * (t % 7 >= 5) + 40.0 * (t >= 300) + 5.0 * generator.standard_normal(500)
    forecaster = Forecaster().fit(pd.date_range("2023-01-02", periods=500), y)
    (change,) = forecaster.changepoints_["change"]
    assert abs(change - 40.0) < 4.0
