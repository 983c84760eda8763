"""The floor is told where it cuts an interval, and nowhere else."""

import numpy as np

from farrier import Forecaster

TIMES = np.arange("2015-01", "2020-01", dtype="M8[M]")
LINE = 0.5 * np.arange(60.0) + np.random.default_rng(0).uniform(0.0, 1.0, 60)


def explained(y, **settings):
    return Forecaster(kernels=["Lin"], scale="identity", **settings).fit(TIMES, y).explain()


def test_a_floor_that_cuts_is_told_in_text_markdown_and_story():
    said = explained(LINE[::-1])
    for text in (str(said), said.to_markdown(), said.to_dict()["notes"][0]):
        assert "Forecasts do not go below 0, because no value does" in " ".join(text.split())


def test_a_floor_far_away_is_not_told():
    assert "do not go below" not in str(explained(LINE + 1000.0))


def test_without_a_floor_nothing_is_told():
    assert "do not go below" not in str(explained(LINE[::-1], floor=None))
