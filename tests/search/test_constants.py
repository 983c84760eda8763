"""Every number that decides something stands once, at the top of a module, and says what it is and where it is from."""

import ast
from pathlib import Path

import pytest

import farrier
from farrier.search import evidence

SOURCE = Path(farrier.__file__).parent
MODULES = sorted(path for folder in ("search", "model") for path in (SOURCE / folder).glob("*.py"))
MATHEMATICS = {"LEVELS", "MIDDLE", "PARAMETERS", "STEPS", "TABLE", "VOCABULARY", "TRANSFORMS", "Z95"}
"""What has no origin: quantile levels, names, and the normal quantile."""


def constants(path):
    """The upper-case names at the top of a module whose value holds a number, with the docstring below."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for node, below in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Constant) and isinstance(one.value, int | float) for one in ast.walk(node.value)
        ):
            names = [one.id for one in ast.walk(node.targets[0]) if isinstance(one, ast.Name) and one.id.isupper()]
            said = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and below.value.value
            yield from ((name, said or "") for name in names if name not in MATHEMATICS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_constant_says_what_it_is_and_where_its_value_is_from(path):
    assert [name for name, said in constants(path) if "[" not in said or not said.endswith("]")] == []


def test_no_two_modules_have_a_constant_of_one_name():
    names = [name for path in MODULES for name, _ in constants(path)]
    assert sorted(names) == sorted(set(names))


def test_the_steps_of_evidence_are_in_order():
    steps = evidence.WEAK, evidence.STRONG, evidence.VERY_STRONG, evidence.HOPELESS, evidence.CHANCE
    assert list(steps) == sorted(set(steps))
