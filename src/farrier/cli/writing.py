"""Files that are there whole or not at all."""

import os
import secrets
from pathlib import Path


def check_out(path: Path | None) -> None:
    """Refuse a place that cannot be written to, before the work begins."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"--out: {str(path)!r} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise ValueError(f"--out: there is no folder {str(path.parent)!r}: make it first")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"--out: the folder {str(path.parent)!r} cannot be written to: choose another")


def write_whole(path: Path, text: str) -> None:
    """Write to a draft beside `path`, then put it in its place in one step."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        draft.write_text(text, encoding="utf-8", newline="")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
