"""The five kept fits come out as they were: the same structure in the same words, and the same predictions.

Another processor rounds differently, and a search multiplies what rounding does: numbers may differ in the third digit
there. So this test masks numbers in sentences and compares predictions with their own uncertainty. On one machine
`python -m tests.goldens.cases` compares everything to nine digits.
"""

import json
import re

import numpy as np
import pytest

from tests.goldens.cases import CASES, golden

PART_OF_SD = 0.2
"""How far a prediction may move, in its own standard deviations."""


def words(text: str) -> str:
    """A text without its numbers and line breaks."""
    return re.sub(r"\s+", " ", re.sub(r"\d[\d,.]*", "#", text))


@pytest.fixture(scope="module", params=list(CASES))
def pair(request):
    return json.loads(json.dumps(CASES[request.param]())), golden(request.param)


def test_the_structure_is_the_same(pair):
    found, expected = pair
    assert [row["formula"] for row in found["components"]] == [row["formula"] for row in expected["components"]]
    assert (found["scale"], found["tier"]) == (expected["scale"], expected["tier"])


def test_the_words_are_the_same(pair):
    found, expected = pair
    assert words(found["sentences"]) == words(expected["sentences"])


def test_the_predictions_are_the_same(pair):
    found, expected = pair
    if "probability" in expected:
        np.testing.assert_allclose(found["probability"], expected["probability"], atol=0.02)
        return
    sd = np.array(expected["sd"])
    assert np.all(np.abs(np.array(found["mean"]) - expected["mean"]) < PART_OF_SD * sd)
    assert np.all(np.abs(np.log(np.array(found["sd"]) / sd)) < PART_OF_SD)


def test_the_bound_is_the_same(pair):
    found, expected = pair
    assert abs(found["elbo"] - expected["elbo"]) < 0.5
