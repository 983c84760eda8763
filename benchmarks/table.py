"""JSON lines as a Markdown table.

Rows are the settings that differ between lines, columns the single numbers among the figures (`a.b` for b within a).
Over several seeds a number is its median, with the lowest and highest in brackets; a yes-or-no says
how often yes, a word how often it came.
"""

from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.record import read


def markdown(path: Path, *, each_seed: bool = False) -> str:
    """The table of a file of lines."""
    if not path.exists():
        return f"No results at {path.name}: first python -m benchmarks run {path.stem}"
    lines = read(path)
    settings = [flat(line["settings"]) | ({"seed": line["seed"]} if each_seed else {}) for line in lines]
    names = list(dict.fromkeys(name for row in settings for name in row))
    varying = [name for name in names if len({row.get(name) for row in settings}) > 1]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row, line in zip(settings, lines, strict=True):
        groups.setdefault(tuple(row.get(name) for name in varying), []).append(flat(line["figures"]))
    figures = list(dict.fromkeys(name for rows in groups.values() for row in rows for name in row))
    table = [[*varying, "runs", *figures], ["---"] * (len(varying) + 1 + len(figures))]
    for key, rows in groups.items():
        cells = [_summary([row[name] for row in rows if name in row]) for name in figures]
        table.append([*(_shown(value) for value in key), str(len(rows)), *cells])
    constant = ", ".join(f"{name} {_shown(settings[0][name])}" for name in settings[0] if name not in varying)
    rows = "\n".join(f"| {' | '.join(row)} |" for row in table)
    return f"{rows}\n\nThe same for all rows: {constant}." if constant else rows


def flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Single values by dotted name; lists are left out."""
    found: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        elif not isinstance(value, list):
            found[prefix + name] = value
    return found


def _summary(values: list[Any]) -> str:
    if not values:
        return ""
    if isinstance(values[0], bool):
        return f"{sum(values)} of {len(values)}"
    if len(values) == 1:
        return _shown(values[0])
    if not isinstance(values[0], int | float):
        return ", ".join(f"{value} ({count})" for value, count in Counter(values).most_common())
    return f"{_shown(median(values))} ({_shown(min(values))} to {_shown(max(values))})"


def _shown(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
