"""The series of the competitions: files, made dates, the two parts, samples.

A file is forecast/SET.csv.gz with the columns unique_id, split (train or test), t (1, 2, ...) and y. Times are counted,
so every set has a made start in the calendar. A series belongs to the part "learn" or "report" by a hash of its name:
priors are learned on the one and figures are reported on the other.
"""

import csv
import gzip
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

PARTS = ("learn", "report")
SAMPLE_SEED = 0
"""Of the order in which samples are taken; by judgement."""


class CompetitionSet(NamedTuple):
    """Rows of a season, the first date and its unit, units from row to row, and how many of the last
    training rows are kept (0: all)."""

    season: int
    start: str
    unit: str
    step: int = 1
    longest: int = 0

    def stamps(self, rows: int) -> np.ndarray:
        """The made dates of so many rows, datetime64."""
        return np.datetime64(self.start, self.unit) + self.step * np.arange(rows)


SETS = {
    "m1_yearly": CompetitionSet(1, "1900", "Y"),
    "m1_quarterly": CompetitionSet(4, "1900-01", "M", 3),
    "m1_monthly": CompetitionSet(12, "1900-01", "M"),
    "m3_yearly": CompetitionSet(1, "1900", "Y"),
    "m3_quarterly": CompetitionSet(4, "1900-01", "M", 3),
    "m3_monthly": CompetitionSet(12, "1900-01", "M"),
    "m3_other": CompetitionSet(1, "1900", "Y"),
    "m4_weekly": CompetitionSet(52, "1900-01-01", "D", 7, 520),
    "m4_hourly": CompetitionSet(24, "1900-01-01T00", "h"),
    "tourism_yearly": CompetitionSet(1, "1900", "Y"),
    "tourism_quarterly": CompetitionSet(4, "1900-01", "M", 3),
    "tourism_monthly": CompetitionSet(12, "1900-01", "M"),
}
"""Seasons and the 520 rows are those of the README beside the data; 1 January 1900 is a Monday."""


class Series(NamedTuple):
    """One series: what is known, and what is to be forecast."""

    name: str
    past: np.ndarray
    ahead: np.ndarray


def part_of(name: str) -> str:
    """ "learn" where the sha256 of the name is even, "report" where it is odd."""
    return PARTS[sha256(name.encode()).digest()[-1] % 2]


def chosen(series: list[Series], part: str, count: int | None) -> list[Series]:
    """The series of a part ("all": of both), or a sample of them; a larger sample holds the smaller ones."""
    names = sorted(one.name for one in series if part in ("all", part_of(one.name)))
    order = np.random.default_rng(SAMPLE_SEED).permutation(len(names))
    kept = {names[i] for i in order[:count]}
    return [one for one in series if one.name in kept]


def read_set(folder: Path, name: str) -> list[Series]:
    """All series of a set, in the order of the file."""
    path = folder / "forecast" / f"{name}.csv.gz"
    if not path.exists():
        raise SystemExit(f"--data-dir: there is no forecast/{path.name} in {folder}: give the folder that holds it.")
    found: dict[str, dict[str, list[float]]] = {}
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["unique_id"], {"train": [], "test": []})[row["split"]].append(float(row["y"]))
    longest = SETS[name].longest
    return [Series(key, np.array(rows["train"][-longest:]), np.array(rows["test"])) for key, rows in found.items()]
