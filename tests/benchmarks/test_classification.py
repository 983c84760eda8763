"""The test rows of two classes: one split as in the authors' program, or one for each seed as in the paper's text."""

import numpy as np
import pytest
from benchmarks.beside import method_of
from benchmarks.classification import printed_split, random_split

ROWS = 77


@pytest.mark.parametrize("split", [printed_split(ROWS), random_split(ROWS, 0), random_split(ROWS, 1)])
def test_every_row_is_trained_on_or_tested_and_a_tenth_is_tested(split):
    train, test = split
    assert sorted([*train, *test]) == list(range(ROWS))
    assert len(test) == pytest.approx(ROWS / 10, abs=1)


def test_the_printed_split_is_one_and_random_splits_differ():
    assert np.array_equal(printed_split(ROWS)[1], printed_split(ROWS)[1])
    assert set(random_split(ROWS, 0)[1]) != set(random_split(ROWS, 1)[1])


def test_runs_of_one_method_on_two_kinds_of_splits_are_not_mixed():
    printed = {"table": "pima", "method": "sets-classifier", "order": 6}
    assert method_of(printed) == "sets-classifier"
    assert method_of(printed | {"split": "random"}) == "sets-classifier, random splits"
