"""Arrays as members of a model file, in numpy's own format (.npy, version 1.0), each with a description in the tree.

The header of a member is compared with the one that its description asks for, and never parsed.
"""

import hashlib
import math
import struct
from typing import Any, Literal

import numpy as np

from farrier.estimators.encoding import checked_dtype, checked_shape

MAGIC = b"\x93NUMPY\x01\x00"
"""How a .npy file of version 1.0 begins."""
ALIGNMENT = 64
"""The header is filled up to a multiple of so many bytes, as the format asks."""


def member(array: np.ndarray) -> bytes:
    """The bytes of the member; an array in Fortran's order stays so, which keeps the bits of products with it."""
    order = _order(array)
    return _header(array.dtype, array.shape, order) + array.tobytes(order)


def description(array: np.ndarray, data: bytes) -> dict[str, Any]:
    """What the tree says about an array."""
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "order": _order(array),
        "finite": _is_finite(array),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def array_of(data: bytes, described: dict[str, Any]) -> np.ndarray:
    """The array of a member; TypeError or ValueError where it is not what its description says."""
    if set(described) != {"dtype", "shape", "order", "finite", "sha256"} or described["order"] not in ("C", "F"):
        raise TypeError("an array is not described")
    if hashlib.sha256(data).hexdigest() != described["sha256"]:
        raise ValueError("an array does not have its checksum")
    dtype, shape, order = checked_dtype(described["dtype"]), checked_shape(described["shape"]), described["order"]
    header = _header(dtype, shape, order)
    if not data.startswith(header) or len(data) - len(header) != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array is not what its description says")
    array = np.frombuffer(data, dtype, offset=len(header)).reshape(shape, order=order)
    if described["finite"] is not _is_finite(array):
        raise ValueError("an array holds numbers that are not finite")
    return array.copy(order="K")


def _header(dtype: np.dtype, shape: tuple[int, ...], order: str) -> bytes:
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': {order == 'F'}, 'shape': {shape!r}, }}"
    size = len(MAGIC) + 2 + len(text) + 1
    text += " " * (-size % ALIGNMENT) + "\n"
    return MAGIC + struct.pack("<H", len(text)) + text.encode("ascii")


def _order(array: np.ndarray) -> Literal["C", "F"]:
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _is_finite(array: np.ndarray) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())
