"""Bundled series, airline passengers and carbon dioxide at Mauna Loa, and your own series from files.

    air = farrier.datasets.load("airline")
    model.fit(air.X, air.y)

The bundled series are CSV files in this folder, read by the same `read_csv` that reads yours. README.md here and
`Dataset.origin` give their sources.
"""

import difflib
from dataclasses import replace
from pathlib import Path

from farrier.datasets.dataset import Dataset
from farrier.datasets.files import Chosen, choose_columns, read_csv, read_table
from farrier.datasets.mixed_tables import choose_table
from farrier.series.columns import Table

__all__ = [
    "Chosen",
    "Dataset",
    "Table",
    "choose_columns",
    "choose_table",
    "load",
    "locate",
    "names",
    "read_csv",
    "read_table",
]

_ABOUT = {
    "airline": {
        "title": "International airline passengers, monthly totals, 1949 to 1960",
        "unit": "thousand passengers",
        "origin": "Box, Jenkins and Reinsel, Time Series Analysis, Series G; as carried by sktime 1.2.0",
    },
    "co2": {
        "title": "Carbon dioxide in the air at Mauna Loa, monthly means, 1958 to 2001",
        "unit": "ppm",
        "origin": "Keeling and Whorf, Scripps Institution of Oceanography, 2004; "
        "monthly means of the weekly series carried by statsmodels 0.15.0",
    },
}


def names() -> tuple[str, ...]:
    """The names that `load` knows."""
    return tuple(_ABOUT)


def locate(name: str) -> Path:
    """The file of the bundled series called `name`."""
    if name not in _ABOUT:
        nearest = difflib.get_close_matches(str(name).lower(), names(), n=1, cutoff=0.5)
        hint = f": did you mean {nearest[0]!r}?" if nearest else ""
        raise ValueError(f"name: no bundled dataset is called {name!r}, only {', '.join(names())}{hint}")
    return Path(__file__).with_name(f"{name}.csv")


def load(name: str) -> Dataset:
    """The bundled series called `name`."""
    return replace(read_csv(locate(name)), **_ABOUT[name])
