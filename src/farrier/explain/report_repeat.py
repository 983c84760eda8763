"""The section of the report on how to repeat it: the command or the call, the settings, the versions."""

import json
from collections.abc import Mapping
from typing import Any

from farrier.explain.markup import join, number, text

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
    return f'{command}{code}<dl class="settings">{rows}</dl>'
