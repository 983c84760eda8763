"""Tables for people: a frame of pandas or polars, whichever is installed, and a plain HTML table for notebooks."""

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from farrier.data.tables import frame_like

FRAMES = ("pandas", "polars")
"""The frame libraries that are tried, in this order, if none is asked for."""


def to_frame(columns: Mapping[str, Any], like: Any = None) -> Any:
    """Columns in a frame of the same kind as `like`.

    Without `like`: a frame of pandas or polars, whichever is installed, or a dictionary of arrays.
    """
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    if like is not None:
        return frame_like(arrays, like)
    library = next((name for name in FRAMES if importlib.util.find_spec(name)), None)
    return arrays if library is None else importlib.import_module(library).DataFrame(arrays)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as HTML; all cells are escaped."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
