"""On data of known structure the text names the parts that are there.

The structures, and the data drawn from them, are those of the recovery benchmark at a signal-to-noise ratio of 10. A
word may miss where the data do not tell parts apart, so the law is on the average over all structures and seeds.
"""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2]))

from benchmarks.structures import PERIOD, STRUCTURES, draw

from farrier import Regressor

SEEDS = range(5)
RATIO = 10.0
SMOOTH = r"(smooth|slow|fast).*(variation|trend|rise|fall|drift)"
CYCLE = rf"pattern that repeats every {PERIOD:.1f}\d?"
WORDS = {
    "SE": [SMOOTH],
    "Per": [CYCLE],
    "Lin + Per": [r"linear (rise|fall)", CYCLE],
    "SE + Per": [SMOOTH, CYCLE],
    "SE * Per": [r"pattern.*repeats roughly|pattern.*drifts"],
    "Lin * Per + SE": [r"pattern.*(growing|shrinking|grows|shrinks)", SMOOTH],
    "Lin + SE * Per + short SE": [r"linear (rise|fall)", "pattern", r"(smooth|fast).*variation"],
    "change of level": [r"(rise|fall|change) of the level where x0 is above 6\.[12]"],
    "change of regime": [rf"{SMOOTH}.*where x0 is below", rf"{CYCLE}.*where x0 is above"],
    "two of four inputs": [r"x0 alone", r"x2 alone"],
    "interaction": [r"x0 and x1"],
}
"""For each part of a structure a pattern that the title of one component has, in any order."""


def named(structure, seed):
    """The part of the expected words that some title has, each title standing for one, and the part of titles used."""
    problem = draw(structure, RATIO, seed)
    model = Regressor(scale="identity").fit(problem.X, problem.y)
    titles = [part["title"] for part in model.explain().to_dict()["components"][: len(model.pool_)]]
    left = list(titles)
    for pattern in WORDS[structure]:
        match = next((title for title in left if re.search(pattern, title, re.IGNORECASE)), None)
        if match is not None:
            left.remove(match)
    hits = len(titles) - len(left)
    return hits / len(WORDS[structure]), hits / max(len(titles), 1)


@pytest.mark.timeout(1200)
def test_the_text_names_what_is_there():
    assert set(WORDS) == set(STRUCTURES)
    scores = np.array([[named(structure, seed) for seed in SEEDS] for structure in STRUCTURES])
    recall, precision = scores.mean(axis=(0, 1))
    assert recall >= 0.9, dict(zip(STRUCTURES, scores.mean(axis=1), strict=True))
    assert precision >= 0.9, dict(zip(STRUCTURES, scores.mean(axis=1), strict=True))
