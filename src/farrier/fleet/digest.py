"""What a run over many series found: structures by how often they came, errors, the slowest series."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from farrier.data.quoting import quoted
from farrier.fleet.parts import Record

LISTED = 5
"""Structures, errors and slow series that are shown, by judgement."""


@dataclass(frozen=True)
class Digest:
    """Counts and names, the most frequent and the slowest first."""

    series: int
    forecast: int
    structures: Sequence[tuple[str, int]]
    errors: Sequence[tuple[str, int, Any]]
    """The first error of each kind, how many series have such errors, and the series with the first."""
    slowest: Sequence[Record]
    seconds: float
    """Seconds of processing of all series with a forecast."""

    @classmethod
    def of(cls, records: Sequence[Record], errors: Mapping[Any, str]) -> "Digest":
        """The digest of the series with a forecast, and of the errors of the others."""
        kinds = Counter(map(_kind, errors.values()))
        first = {_kind(error): (error, name) for name, error in reversed(list(errors.items()))}
        return cls(
            series=len(records) + len(errors),
            forecast=len(records),
            structures=Counter(record.structure for record in records).most_common(),
            errors=[(first[kind][0], count, first[kind][1]) for kind, count in kinds.most_common()],
            slowest=sorted(records, key=lambda record: -record.seconds)[:LISTED],
            seconds=sum(record.seconds for record in records),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "series": self.series,
            "forecast": self.forecast,
            "seconds": round(self.seconds, 3),
            "structures": [{"structure": name, "series": count} for name, count in self.structures],
            "errors": [{"error": error, "series": count, "such_as": str(name)} for error, count, name in self.errors],
            "slowest": [
                {"id": str(one.id), "seconds": round(one.seconds, 3), "rows": one.rows} for one in self.slowest
            ],
        }

    def lines(self) -> list[str]:
        """What was found, in words."""
        found = [f"{self.forecast:,} of {self.series:,} series have a forecast"]
        if self.forecast:
            found[0] += f", {self.seconds / self.forecast:.2g} s of work each"
            shown = [f"{count:,} x {name}" for name, count in self.structures[:LISTED]]
            more = len(self.structures) - LISTED
            found.append("structures: " + "; ".join(shown) + (f"; and {more:,} others" if more > 0 else ""))
            slow = ", ".join(f"{quoted(str(one.id))} {one.seconds:.1f} s ({one.rows:,} rows)" for one in self.slowest)
            found.append(f"slowest: {slow}")
        return found

    def error_lines(self) -> list[str]:
        """The errors in words, each kind once."""
        found = []
        for error, count, name in self.errors[:LISTED]:
            others = "" if count == 1 else " and 1 other" if count == 2 else f" and {count - 1:,} others"
            found.append(f"no forecast of {quoted(str(name))}{others}: {error}")
        if len(self.errors) > LISTED:
            found.append(f"and {len(self.errors) - LISTED:,} other kinds of errors")
        return found


def _kind(error: str) -> str:
    """An error without the names of its rows, so that equal errors of many series count together."""
    return re.sub(r"\b(line|row) \d+", r"\1 N", error)
