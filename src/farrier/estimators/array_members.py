"""Arrays as members of a model file, in numpy's format .npy (version 1.0), each with a description in the tree.

The header of a member is never parsed. It is compared with the header that the description gives.
"""

import hashlib
import math
import struct
from typing import Any, Literal

import numpy as np

from farrier.estimators.encoding import checked_dtype, checked_shape

MAGIC = b"\x93NUMPY\x01\x00"
"""The first bytes of a .npy file of version 1.0."""
ALIGNMENT = 64
"""The length of the header is a multiple of so many bytes, as the format requires."""


def member(array: np.ndarray) -> bytes:
    """The bytes of the member. Arrays in Fortran order stay so, because the order changes the rounding of products."""
    order = _order(array)
    return _header(array.dtype, array.shape, order) + array.tobytes(order)


def description(array: np.ndarray, data: bytes) -> dict[str, Any]:
    """The description of an array in the tree."""
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "order": _order(array),
        "finite": _is_finite(array),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def array_of(data: bytes, described: dict[str, Any]) -> np.ndarray:
    """The array of a member; TypeError or ValueError if it does not match its description."""
    if set(described) != {"dtype", "shape", "order", "finite", "sha256"} or described["order"] not in ("C", "F"):
        raise TypeError("the description of an array is wrong")
    if hashlib.sha256(data).hexdigest() != described["sha256"]:
        raise ValueError("the checksum of an array is wrong")
    dtype, shape, order = checked_dtype(described["dtype"]), checked_shape(described["shape"]), described["order"]
    header = _header(dtype, shape, order)
    if not data.startswith(header) or len(data) - len(header) != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array does not match its description")
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
