"""The Python line of a report repeats the fit: run as it stands, it gives the same forecast."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import farrier

DAYS = pd.date_range("2024-01-01", periods=60)
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"day": DAYS, "price": RNG.uniform(1.0, 2.0, 60)})
FRAME["sales"] = 20.0 - 4.0 * FRAME.price + 6.0 * (DAYS.day == 9) + 0.3 * RNG.normal(size=60)
AHEAD = pd.DataFrame({"day": pd.date_range("2024-03-01", periods=14), "price": 1.5})
FAIRS = {date(2024, 1, 9): "fair", date(2024, 2, 9): "fair", date(2024, 3, 9): "fair"}


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"holidays": FAIRS}, "holidays={'2024-01-09': 'fair', '2024-02-09': 'fair', '2024-03-09': 'fair'}"),
        ({"holidays": list(FAIRS)}, "'2024-03-09': 'holiday'"),
        ({"country": "DE"}, "country='DE'"),
        ({"floor": 3.0, "cap": 30.0}, "cap=30.0, floor=3.0"),
    ],
    ids=["named days", "days", "country", "bounds"],
)
def test_the_line_repeats_what_was_given(given, written):
    if "country" in given:
        pytest.importorskip("holidays")
    first = farrier.Forecaster(**given).fit(DAYS, FRAME.sales)
    line = first.explain().to_dict()["repeat"]["code"]
    assert written in line
    again = eval(line, {"farrier": farrier, "times": DAYS, "y": FRAME.sales})
    assert_array_equal(again.forecast(14)["mean"], first.forecast(14)["mean"])


def test_the_line_names_the_regressors_and_the_weights(tmp_path):
    weights = np.where(DAYS.day_of_week >= 5, 0.25, 1.0)
    names = {"time": "day", "target": "sales", "regressors": ["price"]}
    first = farrier.Forecaster(kernels=["Lin"], iterations=20).fit(FRAME, sample_weight=weights, **names)
    first = farrier.load(first.save(tmp_path / "sales.farrier"))
    line = first.result_.recipe.code
    assert line.endswith("fit(frame, time='day', target='sales', regressors=['price'], sample_weight=sample_weight)")
    again = eval(line, {"farrier": farrier, "frame": FRAME, "sample_weight": weights})
    assert_array_equal(again.forecast(future=AHEAD)["mean"], first.forecast(future=AHEAD)["mean"])
