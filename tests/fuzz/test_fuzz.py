"""A short run of the fuzzing; `make fuzz` is the long one. Its own rules are tested as well."""

import sys
import time

import numpy as np
import pytest

from farrier.datasets import choose_columns, read_table
from tests.fuzz import arrays, files, methods, models, signals
from tests.fuzz.outcomes import FailureError, HangError, Tally, check_finite, judged, limited

SEED = 21
"""Another seed than that of the long run."""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize(("kind", "count"), [(files, 30), (arrays, 30), (methods, 30), (models, 20), (signals, 1)])
def test_hostile_input_gives_a_result_or_one_clear_line(kind, count, tmp_path):
    tally = kind.run(count, SEED, tmp_path)
    assert tally.failures == []
    assert tally.counts.total() == count


def test_a_text_without_lines_becomes_a_file_too(tmp_path):
    made = files.made(np.random.default_rng([20, 3596]), tmp_path)
    assert made.suffix == ".parquet"
    assert read_outcome(made) == "refused"


def read_outcome(path):
    return judged(lambda: read_table(path))[0]


def test_the_corpus_itself_is_read():
    for path in set(files.CORPUS.iterdir()) - {files.CORPUS / "panel.csv"}:  # two series, which `--id` tells apart
        assert len(choose_columns(read_table(path)).y) >= 12, path.name


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("farrier: no forecast of 'a': y: too few\nfarrier: 1 of 3 series is missing: correct their rows\n", False),
        ("farrier: 1 of 3 series is missing: correct their rows\n", True),
        ("Traceback\nfarrier: 1 of 3 series is missing: correct their rows\n", True),
        ("farrier: something went wrong\n", True),
    ],
)
def test_a_series_without_a_forecast_must_be_said(said, wrong):
    assert (judged(lambda: files.check_missing(said))[0] != "result") == wrong


def raising(error):
    def call():
        raise error

    return call


@pytest.mark.parametrize(
    ("call", "outcome"),
    [
        (lambda: None, "result"),
        (raising(ValueError("y: 3: give 4")), "refused"),
        (raising(ValueError("two\nlines")), "long error"),
        (raising(ValueError("x" * 1000)), "long error"),
        (raising(TypeError("float")), "traceback"),
        (raising(FailureError("lost output", "none")), "lost output"),
        (lambda: check_finite([1.0, np.nan], "mean"), "not finite"),
    ],
)
def test_outcomes_are_named(call, outcome):
    assert judged(call)[0] == outcome


def test_a_call_that_hangs_is_ended():
    with pytest.raises(HangError), limited(0.05):
        time.sleep(5)


def test_failures_are_counted_apart():
    tally = Tally("files")
    for outcome in ("result", "refused", "refused", "hang"):
        tally.add(outcome, "about")
    assert tally.row() == "| files | 4 | 1 | 2 | 1 |"
    assert tally.failures == ["files: hang: about"]


def test_a_part_of_the_arrays_is_that_of_the_whole(tmp_path):
    whole, part = arrays.run(4, SEED, tmp_path), arrays.run(2, SEED, tmp_path, 2)
    before = arrays.run(2, SEED, tmp_path)
    assert whole.counts == before.counts + part.counts
