"""The one direction of imports: a folder imports only from those that stand before it."""

import ast
from pathlib import Path

import pytest

import farrier

SOURCE = Path(farrier.__file__).parent
ORDER = (
    "kernels",
    "evaluation",
    "inference",
    "search",
    "model",
    "series",
    "explain",
    "estimators",
    "paper",
    "baselines",
    "datasets",
    "cli",
)
"""From the ground up, as in CONTRIBUTING.md."""
BY_NAME = {"paper", "baselines"}
"""Loaded by name when somebody asks for them, by folders that stand before them too."""
UP_TO_MODEL = ORDER[: ORDER.index("model") + 1]
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


def imported(path: Path) -> set[str]:
    """The folders of farrier that a file imports from, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse((SOURCE / path).read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError(f"{path} imports relatively")
        names = [node.module] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom) and node.module == "farrier":
            names = [f"farrier.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name and name.startswith("farrier.")}
    return found


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_folder_imports_only_from_those_before_it(path):
    folder = path.parts[0]
    allowed = set(ORDER[: ORDER.index(folder) + 1])
    if folder in BY_NAME:
        allowed = {*UP_TO_MODEL, "paper", folder}
    assert imported(path) <= allowed


def test_nothing_lies_flat():
    assert [path.name for path in SOURCE.glob("*.py")] == ["__init__.py"]


CONVENTIONS = {"_parameter_constraints"}
"""Private names by which other libraries ask for a class attribute: scikit-learn's."""
OWN_CLASS = {
    ("inference/blockwise.py", "empty", "_cuts"),
    ("inference/blockwise.py", "empty", "_blocks"),
}
"""An object of the class in whose classmethod it is made: file, name, field."""


def foreign_private_fields(path: Path) -> list[str]:
    """Where a file reads or writes `x._y` and x is not the object or the class itself, nor its parent."""
    found = []
    for node in ast.walk(ast.parse((SOURCE / path).read_text())):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_") or node.attr.endswith("__"):
            continue
        owner = ast.unparse(node.value)
        if owner in ("self", "cls", "super()") or node.attr in CONVENTIONS:
            continue
        if (path.as_posix(), owner, node.attr) not in OWN_CLASS:
            found.append(f"line {node.lineno}: {owner}.{node.attr}")
    return found


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_nobody_reads_or_writes_a_private_field_of_another_object(path):
    assert foreign_private_fields(path) == []


@pytest.mark.parametrize("folder", ["explain", "estimators"])
def test_the_paper_is_loaded_by_name_alone(folder):
    assert all("paper" not in imported(path) for path in MODULES if path.parts[0] == folder)
