"""Dataclasses as plain dictionaries, and back by their annotations.

    records = Records({})
    records.plain(Steps, steps)        # {"frequency": "monthly", "size": 1, "gaps": 0, "day": "end"}
    records.built(Steps, values)       # the Steps again; TypeError if a value does not fit its annotation

A field that has its default value is left out. Where an annotation allows several classes, "type" names the class.
The annotations of the code decide which classes are built, never the dictionary. Other values stay as they are.
"""

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import lru_cache
from inspect import isabstract
from typing import Any, NamedTuple

import numpy as np

TYPE = "type"
"""The key that names a class where an annotation allows several."""
MAPPINGS, SEQUENCES = (dict, Mapping), (list, tuple, Sequence)
"""Containers whose entries have annotations."""


class Hook(NamedTuple):
    """How values of a type are written that is not simply a dataclass of plain values."""

    plain: Callable[[Any], Any]
    built: Callable[[Any], Any]


LEAF = Hook(lambda value: value, lambda value: value)
"""For types that stay as they are."""


@dataclass(frozen=True)
class Records:
    """Writes and builds records; `hooks` are for a type and its subclasses."""

    hooks: Mapping[Any, Hook] = field(default_factory=dict)

    def plain(self, hint: Any, value: Any) -> Any:
        """The plain form of a value that fits an annotation."""
        if value is None or hint is Any:
            return value
        for one in _alternatives(hint):
            hook = self._hook(one)
            if hook is not None and _fits(value, one):
                return hook.plain(value)
        if is_dataclass(value):
            return ({TYPE: type(value).__name__} if len(_classes(hint)) > 1 else {}) | self.fields(value)
        for one in _alternatives(hint):
            if typing.get_origin(one) in MAPPINGS and isinstance(value, Mapping):
                return {key: self.plain(typing.get_args(one)[-1], entry) for key, entry in value.items()}
            if typing.get_origin(one) in SEQUENCES and isinstance(value, list | tuple):
                return [self.plain(*entry) for entry in zip(_entries(one, len(value)), value, strict=True)]
        return value

    def fields(self, value: Any) -> dict[str, Any]:
        """The fields of a dataclass that differ from their defaults."""
        hints, defaults = _hints(type(value)), _defaults(type(value))
        kept = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        return {
            name: self.plain(hints[name], one)
            for name, one in kept.items()
            if name not in defaults or not _same(one, defaults[name])
        }

    def made(self, cls: type, values: Mapping[str, Any]) -> Any:
        """A dataclass from its fields, by its constructor; TypeError if one is missing, unknown or does not fit."""
        names, hints = {one.name for one in fields(cls) if one.init}, _hints(cls)
        if not names >= set(values) or not set(values) >= names - set(_defaults(cls)):
            raise TypeError(f"{cls.__name__} has the fields {sorted(names)}, got {sorted(values)}")
        return cls(**{name: self.built(hints[name], one) for name, one in values.items()})

    def built(self, hint: Any, plain: Any) -> Any:
        """The value that fits an annotation; TypeError if there is none."""
        if isinstance(plain, dict) and _classes(hint) and not any(map(self._hook, _alternatives(hint))):
            classes = _classes(hint)
            if len(classes) > 1:
                return self.made(classes[plain[TYPE]], {name: one for name, one in plain.items() if name != TYPE})
            return self.made(next(iter(classes.values())), plain)
        error = TypeError(f"{type(plain).__name__} where {hint} is expected")
        for one in _alternatives(hint):
            try:
                return self._built(one, plain)
            except TypeError as refused:
                error = refused
        raise error

    def _built(self, hint: Any, plain: Any) -> Any:
        if hint is Any:
            return plain
        hook = self._hook(hint)
        if hook is not None:
            return _checked(hint, hook.built(plain))
        origin = typing.get_origin(hint)
        if origin in MAPPINGS and isinstance(plain, dict):
            keys, values = typing.get_args(hint)
            return {self.built(keys, key): self.built(values, one) for key, one in plain.items()}
        if origin in SEQUENCES and isinstance(plain, list):
            hints = _entries(hint, len(plain))
            if len(hints) == len(plain):
                each = [self.built(*entry) for entry in zip(hints, plain, strict=True)]
                return tuple(each) if origin is tuple else each
        return _checked(type(hint) if origin is not None else hint, plain)

    def _hook(self, hint: Any) -> Hook | None:
        return next((self.hooks[cls] for cls in getattr(hint, "__mro__", ()) if cls in self.hooks), None)


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _entries(hint: Any, count: int) -> Sequence[Any]:
    """The annotations of the entries of a list or a tuple."""
    inner = typing.get_args(hint)
    return inner if typing.get_origin(hint) is tuple and ... not in inner else inner[:1] * count


@lru_cache
def _classes(hint: Any) -> dict[str, type]:
    """The dataclasses that an annotation allows, by name: itself, or those that implement it."""
    found, waiting = {}, [one for one in _alternatives(hint) if isinstance(one, type)]
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__() if cls is not object else []
        if is_dataclass(cls) and not isabstract(cls) and cls.__module__.startswith("farrier."):
            found[cls.__name__] = cls
    return found


@lru_cache
def _hints(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls)
    except NameError:  # a class outside of Farrier, with names that only type checkers see
        return dict.fromkeys((one.name for one in fields(cls)), Any)


@lru_cache
def _defaults(cls: type) -> dict[str, Any]:
    """The default values of a dataclass."""
    every = [f for f in fields(cls) if f.default is not MISSING or f.default_factory is not MISSING]
    return {f.name: f.default if f.default_factory is MISSING else f.default_factory() for f in every}


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and not isinstance(value, np.ndarray) and value == default)


def _checked(kind: Any, value: Any) -> Any:
    if not _fits(value, kind):
        raise TypeError(f"{type(value).__name__} is not {kind}")
    return value


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type; numbers may be those of numpy."""
    if kind is None or kind is type(None):
        return value is None
    if kind is float:
        return isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    return not isinstance(kind, type) or getattr(kind, "_is_protocol", False) or isinstance(value, kind)
