"""The suite `calibration` as Markdown.

Coverage is the share of all values inside their interval, over a class, over all classes and by step. Its standard
error takes series as independent, not their steps. A posterior is tested for uniform probabilities below the truth
(Kolmogorov-Smirnov), probabilities of classes by Spiegelhalter's z, each at 1 %; the number of tests is said.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from benchmarks.calibration_posteriors import uniformity
from benchmarks.record import read

LEVELS = (50, 80, 95)
SIZE = 0.01
"""Level of each test."""
BINS = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])
"""Ends of the groups of a reliability curve."""

Line = dict[str, Any]


def tables(path: Path) -> str:
    """All tables of a file of lines."""
    lines = [line for line in read(path) if not line["figures"].get("failure")]
    failed = len(read(path)) - len(lines)
    said = []
    series = [line for line in lines if line["settings"]["part"] in ("made", "real")]
    for model in sorted({_model(line) for line in series}):
        own = [line for line in series if _model(line) == model]
        for part in ("made", "real"):
            if some := _part(own, part):
                said += [f"**{part} series{model}**", coverage(some), by_step(some)]
        if {line["settings"]["part"] for line in own} == {"made", "real"}:
            said += [f"**made and real series{model}**", coverage(own)]
    some = _part(lines, "tables")
    if some:
        said += ["**tables**", coverage(some)]
    some = _part(lines, "classes")
    if some:
        said += ["**classes**", reliability(some)]
    some = _part(lines, "posteriors")
    if some:
        said += ["**posteriors, the model known**", posteriors(some)]
    return "\n\n".join([*said, f"{failed} lines are failures."])


def _model(line: Line) -> str:
    """Which of the models of version 0.2.0 forecast a line, in words; nothing for the one model since."""
    search = line["settings"].get("search")
    return f", search {search}" if search else ""


def _part(lines: Sequence[Line], name: str) -> list[Line]:
    return [line for line in lines if line["settings"]["part"] == name]


def _classes(lines: Sequence[Line]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line["settings"]["class"], []).append(line)
    return found


def coverage(lines: Sequence[Line]) -> str:
    """One row for each class, and one for all."""
    rows = [_header("class", "number", *(f"{level} % hold" for level in LEVELS))]
    for name, some in [*_classes(lines).items(), ("all", list(lines))]:
        rows.append(_row(name, str(len(some)), *(_share(some, level) for level in LEVELS)))
    return "\n".join(rows)


def _share(lines: Sequence[Line], level: int) -> str:
    """The share inside in per cent, with its standard error over lines."""
    inside = [line["figures"][f"inside_{level}"] for line in lines]
    share = np.concatenate(inside).mean()
    sizes = np.array([len(one) for one in inside])
    away = np.array([np.sum(np.asarray(one) - share) for one in inside])
    return f"{100.0 * share:.1f} ± {100.0 * np.sqrt(np.sum(away**2)) / sizes.sum():.1f}"


def by_step(lines: Sequence[Line]) -> str:
    """Coverage of single steps ahead, over all series that have them."""
    longest = max(len(line["figures"]["inside_50"]) for line in lines)
    steps = [step for step in (1, 2, 3, 4, 6, 8, 12, 18, 24, 48) if step <= longest]
    rows = [_header("steps ahead", *map(str, steps))]
    for level in LEVELS:
        every = [line["figures"][f"inside_{level}"] for line in lines]
        shares = [np.mean([one[step - 1] for one in every if len(one) >= step]) for step in steps]
        rows.append(_row(f"{level} % hold", *(f"{100.0 * share:.0f}" for share in shares)))
    return "\n".join(rows)


def reliability(lines: Sequence[Line]) -> str:
    """Predicted against observed shares in groups of probabilities, and the test, for made and real classes."""
    groups = [f"{low:g} to {high:g}" for low, high in pairwise(BINS)]
    rows = [_header("class", "rows", *groups, "p-value")]
    for name, some in [*_classes(lines).items(), ("all", list(lines))]:
        chance = np.concatenate([line["figures"]["chance"] for line in some])
        one = np.concatenate([line["figures"]["is_one"] for line in some])
        place = np.clip(np.digitize(chance, BINS) - 1, 0, len(groups) - 1)
        cells = [
            f"{chance[place == i].mean():.2f}: {one[place == i].mean():.2f} ({np.sum(place == i)})"
            if np.any(place == i)
            else ""
            for i in range(len(groups))
        ]
        rows.append(_row(name, str(len(one)), *cells, f"{spiegelhalter(chance, one):.3f}"))
    return "\n".join(rows) + "\n\nA cell is predicted: observed (rows)." + _tests(len(rows) - 1)


def spiegelhalter(chance: np.ndarray, one: np.ndarray) -> float:
    """The p-value of Spiegelhalter's test (1986) that classes were drawn with these probabilities."""
    spread = np.sum((1.0 - 2.0 * chance) ** 2 * chance * (1.0 - chance))
    z = np.sum((one - chance) * (1.0 - 2.0 * chance)) / np.sqrt(max(float(spread), 1e-300))
    return float(2.0 * norm.sf(abs(z)))


def posteriors(lines: Sequence[Line]) -> str:
    """p-values of uniformity, and the coverage of the central 50, 80 and 95 %, for each model and quantity."""
    rows, tests, passed = [_header("model", "quantity", "number", *(f"{level} % hold" for level in LEVELS), "p")], 0, 0
    for name, some in _classes(lines).items():
        for quantity in some[0]["figures"]:
            below = np.array([line["figures"][quantity] for line in some])
            held = [f"{100.0 * np.mean(np.abs(below - 0.5) <= level / 200.0):.0f}" for level in LEVELS]
            p = uniformity(below)
            tests, passed = tests + 1, passed + (p >= SIZE)
            rows.append(_row(name, quantity, str(len(below)), *held, f"{p:.3f}"))
    return "\n".join(rows) + _tests(tests) + f" {passed} pass."


def _tests(count: int) -> str:
    return f"\n\n{count} tests at {100 * SIZE:g} % each."


def _header(*cells: str) -> str:
    return _row(*cells) + "\n" + _row(*("---" for _ in cells))


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
