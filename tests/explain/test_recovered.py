"""On data of known structure the text names the parts that are there.

The structures, and the data drawn from them, are those of the recovery benchmark at a signal-to-noise ratio of 10. A
word may miss where the data do not tell parts apart, so the law is on the average over all structures. One draw of each
is enough to see that words are lost; `python -m benchmarks run recovery` and `run truth` measure how many there are.
"""

import re

import numpy as np
from benchmarks.structures import PERIOD, STRUCTURES, draw

from farrier import Regressor
from farrier.explain import sentences

SEED, RATIO, ROWS, LEAST = 0, 10.0, 100, 0.75
"""The draw, its signal-to-noise ratio, its rows (half of the benchmark's), and the least part of words that are there
and of titles that are true: one draw of eleven structures misses up to a quarter where all draws together miss a tenth.
[by judgement]"""
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
    problem = draw(structure, RATIO, seed, ROWS)
    found = Regressor(scale="identity").fit(problem.X, problem.y).explain().findings
    titles = [sentences.title(facts, found.setting.axes, found.setting.target) for facts in found.facts]
    left = list(titles)
    for pattern in WORDS[structure]:
        match = next((title for title in left if re.search(pattern, title, re.IGNORECASE)), None)
        if match is not None:
            left.remove(match)
    hits = len(titles) - len(left)
    return hits / len(WORDS[structure]), hits / max(len(titles), 1)


def test_every_structure_has_its_words():
    assert set(WORDS) == set(STRUCTURES)


def test_the_text_names_what_is_there():
    found = {structure: named(structure, SEED) for structure in STRUCTURES}
    recall, precision = np.mean(list(found.values()), axis=0)
    assert min(recall, precision) >= LEAST, found
