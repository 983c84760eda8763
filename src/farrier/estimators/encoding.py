"""Plain values, arrays, times and kernels as a tree of JSON, and back.

A node of the tree is null, a truth value, a number, a text, a list of nodes, a dictionary of nodes by text, or one of

    {"kind": "tuple", "items": [...]}                       and other plain kinds, see `KINDS`
    {"kind": "array", "index": 3}                           an array in its own member
    {"kind": "array", "dtype": "<f8", "shape": [2], "values": [0.5, "nan"]}     a small array
    {"kind": "kernel", "family": "Linear", "parameters": {"location": 1949.0, "dims": [0]}}

The set is closed: decoding builds these and nothing else, and raises one of `DAMAGE` if something does not fit. Kernels
are those of kernels/registry.py, built by their constructors.
"""

import builtins
import hashlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from farrier.data.records import Records
from farrier.estimators import encoded_times
from farrier.kernels.algebra import Base, Kernel, Product, Sum
from farrier.kernels.parameters import marks
from farrier.kernels.registry import known_families

DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""The exceptions that decoding a damaged tree may raise."""
WITHIN = 16
"""Most numbers of an array that is written into the tree; by judgement, so that hyperparameters can be read."""
DEEPEST = 60
"""Most levels of nodes within nodes. By judgement: a model has about 20."""
DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|U\d{1,6}|[mM]8\[\d{0,4}(Y|M|W|D|h|m|s|ms|us|ns)\])")
"""The types of arrays that a file may hold."""
ERRORS = ("ValueError", "TypeError", "RuntimeError", "ArithmeticError", "LookupError", "MemoryError", "OSError")
"""The errors of series that files may hold; others are saved as their first base class among these, or Exception."""
KIND = "kind"
"""The key that tells a node from a dictionary."""
RECORDS = Records()
"""Writes and builds kernels."""


@dataclass
class Encoder:
    """Turns values into nodes, and collects the arrays that get their own members."""

    arrays: list[np.ndarray] = field(default_factory=list)
    _places: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def node(self, value: Any) -> Any:
        """The node of a value; TypeError if files cannot hold it."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"kind": "float", "text": repr(value)}
        if type(value) is list:
            return self._list(value)
        if type(value) is tuple:
            return {"kind": "tuple", "items": [self.node(entry) for entry in value]}
        if isinstance(value, np.ndarray):
            if np.ma.is_masked(value):
                raise TypeError("an array with masked cells cannot be written to a file: leave them out")
            return self._array(np.asarray(value))  # a parameter is kept as it was given: a mask may be empty
        if isinstance(value, np.generic):
            return {"kind": "scalar", "value": self._array(np.asarray(value))}
        if isinstance(value, dict) and KIND not in value and all(type(key) is str for key in value):
            return {key: self.node(entry) for key, entry in value.items()}
        if isinstance(value, dict):
            return {"kind": "dict", "items": [[self.node(key), self.node(entry)] for key, entry in value.items()]}
        return self._kernel(value) if isinstance(value, Kernel) else self._other(value)

    def _other(self, value: Any) -> Any:
        if (found := encoded_times.encode(value, self.node)) is not None:
            return found
        if type(value).__module__.partition(".")[0] in ("jax", "jaxlib"):
            return self._array(np.asarray(value))
        if isinstance(value, np.dtype):
            return {"kind": "dtype", "text": value.str}
        if isinstance(value, Exception):
            names = [name for name in ERRORS if isinstance(value, getattr(builtins, name))]
            text = str(value.args[0]) if len(value.args) == 1 else str(value)
            return {"kind": "error", "name": [*names, "Exception"][0], "text": text}
        if isinstance(value, np.random.RandomState):
            return {"kind": "random state", "state": self.node(tuple(value.get_state(legacy=True)))}
        what = f"{type(value).__module__}.{type(value).__qualname__}"
        raise TypeError(f"{what} cannot be written to a file: leave it out of the model")

    def _kernel(self, kernel: Kernel) -> Any:
        if isinstance(kernel, Product | Sum):
            parts = kernel.factors if isinstance(kernel, Product) else kernel.terms
            return {"kind": type(kernel).__name__.lower(), "kernels": [self.node(part) for part in parts]}
        family = type(kernel)
        if known_families().get(family.__name__) is not family or not isinstance(kernel, Base):
            raise TypeError(
                f"{family.__module__}.{family.__qualname__} is not a kernel that files can hold: call "
                "farrier.kernels.registry.register on it, before save and before load"
            )
        values = {
            name: one.item() if np.ndim(one) == 0 and type(one) is np.ndarray else one
            for name, one in RECORDS.fields(kernel).items()
        }
        return {"kind": "kernel", "family": family.__name__, "parameters": self.node(values)}

    def _list(self, value: list[Any]) -> Any:
        if len(value) > WITHIN and all(type(entry) is str and not entry.endswith("\0") for entry in value):
            return {"kind": "texts", "values": self._array(np.array(value))}
        return [self.node(entry) for entry in value]

    def _array(self, array: np.ndarray) -> Any:
        if array.dtype.kind == "O":
            return {"kind": "objects", "shape": list(array.shape), "items": [self.node(one) for one in array.flat]}
        if not DTYPE.fullmatch(array.dtype.str):
            raise TypeError(f"an array of {array.dtype} cannot be written to a file: leave it out of the model")
        fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        if array.size <= WITHIN and not fortran:
            counts = array.view(f"{array.dtype.str[0]}i8") if array.dtype.kind in "mM" else array
            values = [repr(x) if type(x) is float and not math.isfinite(x) else x for x in counts.ravel().tolist()]
            return {"kind": "array", "dtype": array.dtype.str, "shape": list(array.shape), "values": values}
        place = (array.dtype.str, array.shape, fortran, hashlib.sha256(array.tobytes()).digest())
        if place not in self._places:
            self._places[place] = len(self.arrays)
            self.arrays.append(array)
        return {"kind": "array", "index": self._places[place]}


@dataclass
class Decoder:
    """Turns nodes back into values; `arrays` are those with their own members."""

    arrays: list[np.ndarray]
    _depth: int = 0

    def value(self, node: Any) -> Any:
        """The value of a node."""
        if node is None or type(node) in (bool, int, float, str):
            return node
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError(f"nodes are more than {DEEPEST} levels deep")
        found = [self.value(entry) for entry in node] if type(node) is list else self._object(node)
        self._depth -= 1
        return found

    def _object(self, node: Any) -> Any:
        match node:
            case {"kind": "array"}:
                return self._array(node)
            case {"kind": str(kind), **entries} if kind in KINDS:
                return KINDS[kind](**{str(name): self.value(entry) for name, entry in entries.items()})
            case dict() if KIND not in node:
                return {name: self.value(entry) for name, entry in node.items()}
        raise TypeError("the kind of a node is unknown")

    def _array(self, node: dict[str, Any]) -> np.ndarray:
        match node:
            case {"index": int(index), **others} if not set(others) - {"kind"} and 0 <= index < len(self.arrays):
                return self.arrays[index]
            case {"dtype": str(dtype), "shape": list(shape), "values": list(values), **others}:
                if set(others) - {"kind"} or len(values) > WITHIN or math.prod(checked_shape(shape)) != len(values):
                    raise ValueError("the number of values of a small array does not match its shape")
                return _small(checked_dtype(dtype), values).reshape(shape)
        raise TypeError("a node is not an array")


def checked_dtype(text: Any) -> np.dtype:
    """The dtype of this name; ValueError if files may not hold it."""
    if type(text) is not str or not DTYPE.fullmatch(text):
        raise ValueError("an array has a type that files may not hold")
    return np.dtype(text)


def checked_shape(shape: Any) -> tuple[int, ...]:
    """The shape in a list of numbers; ValueError if it is not a shape."""
    if type(shape) is not list or len(shape) > 8 or not all(type(n) is int and 0 <= n < 2**40 for n in shape):
        raise ValueError("the shape of an array is wrong")
    return tuple(shape)


def _small(dtype: np.dtype, values: list[Any]) -> np.ndarray:
    expected = {"f": (float, str), "U": (str,), "b": (bool,)}.get(dtype.kind, (int,))
    if not all(type(value) in expected for value in values):
        raise TypeError(f"values of another type in an array of {dtype}")
    if dtype.kind in "mM":
        return np.array(values, f"{dtype.str[0]}i8").view(dtype)
    if dtype.kind == "f":
        values = [_float(value) if type(value) is str else value for value in values]
    return np.array(values, dtype)


def _float(text: Any) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise ValueError("a number is neither finite nor nan nor infinite")
    return float(text)


def _tuple(items: Any) -> tuple[Any, ...]:
    if type(items) is not list:
        raise TypeError("a tuple has no list of items")
    return tuple(items)


def _pairs(items: list[Any]) -> dict[Any, Any]:
    found = {key: value for key, value in items}
    if len(found) != len(items):
        raise ValueError("a dictionary has a key twice")
    return found


def _objects(shape: list[int], items: list[Any]) -> np.ndarray:
    found = np.empty(len(items), object)
    found[:] = items
    return found.reshape(checked_shape(shape))


def _error(name: str, text: str) -> Exception:
    if name not in (*ERRORS, "Exception"):
        raise ValueError("an error of a kind that files may not hold")
    return getattr(builtins, name)(text)


def _random_state(state: Any) -> np.random.RandomState:
    made = np.random.RandomState(0)
    made.set_state(state)
    return made


def _kernel(family: str, parameters: dict[str, Any]) -> Kernel:
    cls = known_families().get(family)
    if cls is None or type(parameters) is not dict:
        raise TypeError(f"{family!r} is not a known family of kernels")
    odd = [name for name in marks(cls) if type(parameters.get(name)) not in (type(None), float, np.ndarray)]
    if odd:
        raise TypeError(f"the parameter {odd[0]!r} of {family} is not a number")
    return RECORDS.made(cls, parameters)


def _kernels(kernels: Any) -> tuple[Kernel, ...]:
    if type(kernels) is not list or not kernels or not all(isinstance(one, Kernel) for one in kernels):
        raise TypeError("a product or a sum holds no kernels")
    return tuple(kernels)


KINDS: dict[str, Callable[..., Any]] = {
    "float": _float,
    "tuple": _tuple,
    "dict": _pairs,
    "scalar": lambda value: value[()],
    "texts": lambda values: values.tolist(),
    "objects": _objects,
    "dtype": checked_dtype,
    "error": _error,
    "random state": _random_state,
    "kernel": _kernel,
    "product": lambda kernels: Product(_kernels(kernels)),
    "sum": lambda kernels: Sum(_kernels(kernels)),
    **encoded_times.DECODERS,
}
"""The function that builds each plain kind, from the entries of its node by name."""
