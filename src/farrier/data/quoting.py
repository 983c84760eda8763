"""Names and cells as errors show them: in quotes, and cut if they are long."""

from typing import Any

SHOWN = 60
"""Most characters of a name or a cell in an error; by judgement."""
LINE = 400
"""Most characters of an error of another library; by judgement."""


def quoted(value: Any) -> str:
    """A name or a cell in quotes: all of it, or the first `SHOWN` characters and how many there are."""
    if isinstance(value, str):
        return repr(value) if len(value) <= SHOWN else f"{value[:SHOWN]!r}... ({len(value):,} characters)"
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}... ({len(shown):,} characters)"


def one_line(text: str) -> str:
    """A text of another library as one line, cut in its middle if it is long: its end often says what to do."""
    line = " ".join(text.split())
    return line if len(line) <= LINE else f"{line[: LINE // 2]} ... {line[-LINE // 2 :]}"
