"""Tables that need not fit in memory: read in blocks, by this process, by several, or by the workers of a Dask cluster.

    model = farrier.out_of_core.fit("huge.parquet", "price", client=dask.distributed.Client("tcp://scheduler:8786"))
    for block in farrier.out_of_core.predict(model, "new.parquet"):
        block["mean"], block["std"]

sources.py opens Parquet and Arrow files, folders of them, numpy memory maps and Dask arrays as blocks (blocks.py),
runners.py works on the blocks, fitting.py and prediction.py fit and predict. The mathematics is in
inference/collapsed.py and model/block_fits.py.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farrier.out_of_core.fitting import fit as fit
    from farrier.out_of_core.prediction import predict as predict

__all__ = ["fit", "predict"]

HOMES = {"fit": "farrier.out_of_core.fitting", "predict": "farrier.out_of_core.prediction"}
"""The module of each name, which is loaded when the name is first used."""


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"module 'farrier.out_of_core' has no attribute {name!r}")
