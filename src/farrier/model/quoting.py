"""Names and cells as errors show them: in quotes, and cut if they are long."""

from typing import Any

SHOWN = 60
"""Most characters of a name or a cell in an error; by judgement."""


def quoted(value: Any) -> str:
    """A name or a cell in quotes: all of it, or the first `SHOWN` characters and how many there are."""
    if isinstance(value, str):
        return repr(value) if len(value) <= SHOWN else f"{value[:SHOWN]!r}... ({len(value):,} characters)"
    shown = repr(value)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}... ({len(shown):,} characters)"
