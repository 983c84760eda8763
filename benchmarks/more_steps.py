"""Do more steps end lower? A part of docs/reproducing-the-paper.md.

Runs of the paper's method on a series that differ in nothing but the number of steps are compared seed by seed: the
bound after more steps less the bound after fewer, in nats a row. It must not be below minus `ALLOWED`.
"""

from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from benchmarks.published import AUTHORS_RUN
from benchmarks.record import version_of

ALLOWED = 0.05
"""Nats a row by which more steps may end lower; from the aims of the reproduction."""


class MoreSteps(NamedTuple):
    """Runs with fewer and with more steps, one gain in nats a row for each seed that has both."""

    name: str
    points: int
    values: str
    fewer: int
    more: int
    gains: list[float]
    version: str = ""

    def row(self) -> str:
        """A row of the table on the page."""
        verdict = "yes" if min(self.gains) >= -ALLOWED else "no"
        return (
            f"| {self.name} | {self.points} | {self.values} | {self.fewer:,} to {self.more:,} | {len(self.gains)} | "
            f"{median(self.gains):+.3f} | {min(self.gains):+.3f} | {self.version} | {verdict} |"
        )


def section(lines: list[dict[str, Any]]) -> str:
    """The section of the page; empty if no run was repeated with more steps."""
    found = compared(lines)
    if not found:
        return ""
    return "\n".join(
        [
            "## More steps\n",
            f"The bound after more steps less that after fewer, in nats a row; it may fall by {ALLOWED}:\n",
            "| set | points | starting values | steps | seeds | median gain | smallest gain | version | holds |",
            "|---|---|---|---|---|---|---|---|---|",
            *(one.row() for one in found),
            "",
        ]
    )


def compared(lines: list[dict[str, Any]]) -> list[MoreSteps]:
    """Every two neighbouring numbers of steps of runs that have all other settings in common."""
    groups: dict[tuple[Any, ...], dict[int, dict[int, dict[str, Any]]]] = {}
    for line in lines:
        s = line["settings"]
        if s["set"] in AUTHORS_RUN and s["method"] == "paper" and "steps" in s:
            others = tuple(sorted((word, value) for word, value in s.items() if word != "steps"))
            groups.setdefault(others, {}).setdefault(s["steps"], {})[line["seed"]] = line
    found = []
    for others, by_steps in sorted(groups.items()):
        s = dict(others)
        for fewer, more in pairwise(sorted(by_steps)):
            seeds = sorted(by_steps[fewer].keys() & by_steps[more].keys())
            pairs = [(by_steps[more][seed], by_steps[fewer][seed]) for seed in seeds]
            if pairs:
                gains = [_bound(after) - _bound(before) for after, before in pairs]
                version = version_of(line for pair in pairs for line in pair)
                values = s.get("initialisation", "both")
                found.append(MoreSteps(s["set"], s["points"], values, fewer, more, gains, version))
    return found


def _bound(line: dict[str, Any]) -> float:
    """The bound of a run, in nats a row."""
    return line["figures"]["bound"] / line["figures"]["rows"]
