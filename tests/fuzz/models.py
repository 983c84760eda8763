"""Damaged model files: tests/estimators/damaged_files.py in the table of all hostile input."""

from pathlib import Path

from tests.estimators import damaged_files
from tests.fuzz.outcomes import Tally


def run(count: int, seed: int, folder: Path) -> Tally:
    """Load `count` damaged files: each gives an error of one line, or a model with the same predictions."""
    found = damaged_files.run(count, seed, folder, damaged_files.tiny_models())
    tally = Tally("models", failures=[f"models: seed {seed}, {wrong}" for wrong in found.wrong])
    names = {"error": "refused", "same bits": "result", "within the tolerance": "result"}
    for (_, outcome), number in found.counts.items():
        tally.counts[names.get(outcome, "wrong")] += number
    return tally
