"""What the source says of each field of a settings class, so that a report can print it.

The docstring below a field ends with its unit and the origin of its default in brackets, as here:

    Most rounds in which a component is added. [rounds; by judgement]
"""

import ast
import inspect
import re
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, final

_DOCSTRING = re.compile(r"(?P<meaning>.+?)\s*\[(?P<unit>[^;\]]+); (?P<origin>[^\]]+)\]")


@final
@dataclass(frozen=True)
class Setting:
    """One setting, as a report prints it."""

    name: str
    value: Any
    unit: str
    meaning: str
    origin: str


def described(settings: Any) -> list[Setting]:
    """The settings of a dataclass and of the dataclasses in it, whose names come first: "growing.rounds"."""
    texts, found = _texts(type(settings)), []
    for field in fields(settings):
        value = getattr(settings, field.name)
        if is_dataclass(value):
            found += [replace(inner, name=f"{field.name}.{inner.name}") for inner in described(value)]
        else:
            found.append(Setting(field.name, value, **texts.get(field.name, _UNKNOWN)))
    return found


_UNKNOWN = {"unit": "", "meaning": "", "origin": ""}
"""Where the source cannot be read, as in a frozen program, or does not say."""


@cache
def _texts(settings: type) -> dict[str, dict[str, str]]:
    """Unit, meaning and origin by the name of a field."""
    try:
        source = inspect.getsource(settings)
    except OSError:
        return {}
    (definition,) = ast.parse(inspect.cleandoc(source)).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for field, text in pairwise(definition.body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(docstring))):
                if parts := _DOCSTRING.fullmatch(" ".join(docstring.split())):
                    found[name] = parts.groupdict()
    return found
