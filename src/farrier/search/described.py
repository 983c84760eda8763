"""The documentation of each field of a settings class, read from the source so that it can be printed.

The docstring below a field ends with the unit and the origin of the default value in brackets:

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
    """One setting with its documentation."""

    name: str
    value: Any
    unit: str
    meaning: str
    origin: str


def described(settings: Any) -> list[Setting]:
    """The settings of a dataclass, and those of nested dataclasses with a prefix, such as "growing.rounds"."""
    texts, found = _texts(type(settings)), []
    for field in fields(settings):
        value = getattr(settings, field.name)
        if is_dataclass(value):
            found += [replace(inner, name=f"{field.name}.{inner.name}") for inner in described(value)]
        else:
            found.append(Setting(field.name, value, **texts.get(field.name, _UNKNOWN)))
    return found


_UNKNOWN = {"unit": "", "meaning": "", "origin": ""}
"""The documentation of a field without a docstring, or if the source is not available."""


@cache
def _texts(settings: type) -> dict[str, dict[str, str]]:
    """Unit, meaning and origin for each field name."""
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
