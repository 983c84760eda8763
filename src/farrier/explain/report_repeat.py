"""The section of the report on how to repeat it: the command or the call, the settings, the versions."""

import json
from collections.abc import Mapping
from typing import Any

from farrier.explain.markup import DASH, foldout, join, number, text

Story = Mapping[str, Any]


def section(repeat: Story) -> str:
    """The section as HTML; empty if nothing is known."""
    if not repeat:
        return ""
    pairs = [
        ("seed", repeat.get("seed")),
        ("time taken", None if repeat.get("seconds") is None else f"{number(repeat['seconds'])} seconds"),
        *(repeat.get("settings") or {}).items(),
        *((f"version of {name}", version) for name, version in (repeat.get("versions") or {}).items()),
    ]
    rows = join(
        f"<dt>{text(name)}</dt><dd>{text(value if isinstance(value, str) else json.dumps(value))}</dd>"
        for name, value in pairs
        if value is not None
    )
    command, code = (
        f"<p>{said}</p><pre><code>{text(repeat[key])}</code></pre>" if repeat.get(key) else ""
        for key, said in (("command", "The command that made this report:"), ("code", "The same fit in Python:"))
    )
    return f'{command}{code}<dl class="settings">{rows}</dl>{_search(repeat.get("search") or {})}'


def _search(search: Story) -> str:
    """The settings of the search: those that were changed, then a table of all."""
    settings = search.get("all") or []
    if not settings:
        return ""
    changed = search.get("changed") or []
    lead = "All settings of the search have their default values."
    if changed:
        who = (
            "One setting of the search differs"
            if len(changed) == 1
            else f"{len(changed)} settings of the search differ"
        )
        lead = f"{who} from the default:"
    rows = join(
        f"<dt>{text(row.get('name'))}</dt><dd>{_value(row.get('value'))} "
        f'<span class="quiet">(default {_value(row.get("default"))})</span></dd>'
        for row in changed
    )
    cells = [
        (
            # a long name may break after its group
            f"<code>{text(row.get('name')).replace('.', '.<wbr>')}</code>",
            _value(row.get("value")),
            *(text(row.get(key)) for key in ("unit", "meaning", "origin")),
        )
        for row in settings
    ]
    heads = ("Setting", "Value", "Unit", "Meaning", "Origin of the default")
    table = foldout(f"All {len(settings)} settings of the search", heads, cells, words=5, look="search")
    return f"<p>{lead}</p>" + (f'<dl class="settings">{rows}</dl>' if changed else "") + table


def _value(value: Any) -> str:
    """The value of a setting with all its digits; the entries of a list separated by commas."""
    if value is None:
        return DASH
    entries = value if isinstance(value, list) else [value]
    return text(", ".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in entries))
