"""A temperature has no lowest value at zero: the automatic floor is for amounts."""

import numpy as np
import pandas as pd
import pytest

from farrier import Forecaster

DAYS = pd.date_range("2024-01-01", periods=90)
Y = 6.0 + 5.0 * np.sin(np.arange(90) / 9.0) + np.random.default_rng(0).standard_normal(90)


@pytest.mark.parametrize(("name", "floor"), [("temperature", None), ("max_temp_celsius", None), ("sales", 0.0)])
def test_only_amounts_have_an_automatic_floor(name, floor):
    frame = pd.DataFrame({"day": DAYS, name: np.maximum(Y, 0.1)})
    model = Forecaster().fit(frame)
    assert model.result_.fitted.floor == floor
    model.update(pd.DataFrame({"day": [DAYS[-1] + pd.Timedelta(1, "D")], name: [4.0]}))
    assert model.result_.fitted.floor == floor
