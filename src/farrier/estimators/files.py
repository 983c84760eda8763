"""Fitted models as files.

    model.save("sales.farrier")
    model = farrier.load("sales.farrier")

A file is a zip of JSON and plain arrays (archive.py). Loading runs no code from it: only known types are built, by
their constructors (encoding.py, known_types.py). A file also holds some of the model's own predictions, which are made
again when it is loaded: numbers that were changed are found out even where all checksums were made again.
"""

import hashlib
import io
import json
import math
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from farrier.estimators import archive, encoding
from farrier.estimators.archive import Refused
from farrier.estimators.encoding import Decoder, Encoder, checked_dtype, checked_shape
from farrier.estimators.self_checks import check, checks_of
from farrier.model.writing import write_whole

TREE = "model.json"
"""The member that holds everything but the larger arrays."""
DAMAGE = (*archive.DAMAGE, *encoding.DAMAGE)
"""What reading a file that nobody saved may raise."""


def save(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a model to `path`, replacing what was there in one step; its callback for progress is left out."""
    return write_whole(path, packed(model))


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file that `save` wrote. Nothing in a file is run, wherever it comes from."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"path: there is no file {str(path)!r}: check the name and the folder")
    try:
        _, members = archive.unpack(path)
        return decoded(members)
    except Refused as error:
        raise ValueError(str(error)) from error
    except ImportError as error:
        raise ValueError(f"path: {path.name!r} holds times of {error.name}: install {error.name}") from error
    except DAMAGE as error:
        raise ValueError(
            f"path: {path.name!r} is no model that Farrier can read, or it is damaged: copy it again from where it was "
            "saved, or fit again and save"
        ) from error


def packed(model: Any) -> bytes:
    """The bytes of a model's file."""
    members = encoded(model)
    # what cannot be read must not be written
    _built(members)
    return archive.pack(type(model).__name__, members)


def encoded(model: Any) -> dict[str, bytes]:
    """The members of a model's file, beside the header."""
    encoder = Encoder()
    tree = {"model": encoder.node(model)}
    checks = Encoder(arrays=encoder.arrays)
    tree |= {"checks": [checks.node(one) for one in checks_of(encoder.objects)]}
    arrays = {f"arrays/{i}.npy": _npy(array) for i, array in enumerate(encoder.arrays)}
    described = zip(encoder.arrays, arrays.values(), strict=True)
    tree |= {"arrays": [_description(array, data) for array, data in described]}
    return {TREE: json.dumps(tree, allow_nan=False, separators=(",", ":")).encode(), **arrays}


def decoded(members: Mapping[str, bytes]) -> Any:
    """The model of such members, with its predictions checked; one of DAMAGE where something does not fit."""
    model, objects, checks = _built(members)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        check(objects, checks)
    return model


def _built(members: Mapping[str, bytes]) -> tuple[Any, list[Any], Any]:
    tree = archive.parse(members[TREE])
    if set(tree) != {"model", "checks", "arrays"} or len(members) != 1 + len(tree["arrays"]):
        raise ValueError("the tree has other parts")
    arrays = [_array(members[f"arrays/{i}.npy"], entry) for i, entry in enumerate(tree["arrays"])]
    decoder = Decoder(arrays)
    model = decoder.value(tree["model"])
    if "estimator" not in tree["model"]:
        raise TypeError("the tree is of no estimator")
    return model, decoder.objects, [Decoder(arrays).value(entry) for entry in tree["checks"]]


def _npy(array: np.ndarray) -> bytes:
    data = io.BytesIO()
    np.lib.format.write_array(data, array, allow_pickle=False)
    return data.getvalue()


def _description(array: np.ndarray, data: bytes) -> dict[str, Any]:
    finite = array.dtype.kind != "f" or bool(np.isfinite(array).all())
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "finite": finite,
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _array(data: bytes, description: dict[str, Any]) -> np.ndarray:
    """An array of the type, the shape and the bytes that its description says."""
    if set(description) != {"dtype", "shape", "finite", "sha256"}:
        raise TypeError("an array is not described")
    if hashlib.sha256(data).hexdigest() != description["sha256"]:
        raise ValueError("an array does not have its checksum")
    dtype, shape = checked_dtype(description["dtype"]), checked_shape(description["shape"])
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("an array is of another version")
    found, fortran, of = np.lib.format.read_array_header_1_0(file)
    if (of.str, found) != (dtype.str, shape) or len(data) - file.tell() != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array is not what its description says")
    array = np.frombuffer(data, dtype, offset=file.tell()).reshape(shape, order="F" if fortran else "C")
    if description["finite"] and dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("an array holds numbers that are not finite")
    return array.copy(order="K")
