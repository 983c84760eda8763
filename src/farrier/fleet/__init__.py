"""Many series: one partition of a table anywhere, or a whole file by processes that may die.

    farrier.fleet.forecast(partition, id="shop", time="month", target="sales", horizon=12)

`forecast` is a pure function of one pandas, polars or Arrow table (partition.py), for Dask, Spark and Ray. The command
`farrier forecast FILE --id COLUMN --out FOLDER/` is made of the other files: pool.py runs worker processes (worker.py,
messages.py), parts.py writes and resumes the folder, memory.py says beforehand whether a run fits, and digest.py sums
it up. Names are loaded when they are first used, so that a worker process starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farrier.fleet.partition import forecast as forecast

__all__ = ["forecast"]


def __getattr__(name: str) -> Any:
    if name == "forecast":
        return import_module("farrier.fleet.partition").forecast
    raise AttributeError(f"module 'farrier.fleet' has no attribute {name!r}")
