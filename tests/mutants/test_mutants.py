"""The mutation tests themselves: what is changed, which tests are chosen, and that a wrong module is noticed."""

import ast
import time

import pytest

from tests.mutants import coverage
from tests.mutants.__main__ import FOLDERS, SOURCE, test_files
from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.mutator import mutants
from tests.mutants.runner import KILLED, OUT_OF_TIME, SURVIVED, in_fork

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::RuntimeWarning")
"""Other tests of the same process may have loaded jax, which warns at a fork; these children do not use it."""

test_files.__test__ = False  # a function of the command, no test


def changes(source):
    """What each mutant makes of a file."""
    return {ast.unparse(one.made()[0]) for one in mutants(source)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a + b", {"a - b"}),
        ("a ** b", {"a * b"}),
        ("a <= b", {"a < b"}),
        ("a and b", {"a or b"}),
        ("not a", {"a"}),
        ("a = -b", {"a = b"}),
        ("return_(0.5)", {"return_(1.5)", "pass"}),
        ("a = 2.0 * b", {"a = 3.0 * b", "a = 2.0 / b"}),
        ("a = True", {"a = False"}),
        ("np.maximum(a, b)", {"np.minimum(a, b)", "pass"}),
        ("if a:\n    b", {"if not a:\n    b"}),
        ("a += b", {"a -= b"}),
        ("while a:\n    break", {"while not a:\n    break", "while a:\n    continue"}),
    ],
)
def test_a_mutant_is_one_change(before, after):
    assert changes(before) == after


@pytest.mark.parametrize(
    "source",
    [
        '"""Text."""',
        "raise ValueError(1 + 1)",
        "import a",
        "x: tuple[1, 2]",
        "@f(1)\ndef g(): ...",
        "a = f'{1 + 1}'",
        "TOLERANCE = 1e-6",
    ],
)
def test_text_annotations_decorators_errors_and_named_numbers_are_left(source):
    assert changes(source) == set()


def test_a_name_in_brackets_does_not_hide_the_formula():
    assert changes('a["x"] - b') == {"a['x'] + b"}


def test_statements_outside_functions_run_on_import():
    assert [one.top for one in mutants("a = True\ndef f():\n    return 2\n")] == [True, False]


def test_tests_are_those_that_run_the_line_and_quick_ones_come_first():
    record = {"slow": (2.0, [("m.py", 3)]), "quick": (0.1, [("m.py", 3), ("m.py", 9)]), "other": (0.1, [("n.py", 3)])}
    found = coverage.covered([record])
    assert found.tests("m.py", 2, 4, whole=False) == ["quick", "slow"]
    assert found.tests("m.py", 9, 9, whole=False) == ["quick"]
    assert found.tests("m.py", 50, 50, whole=True) == ["quick", "slow"]
    assert found.tests("m.py", 50, 50, whole=False) == []


def loop():
    while True:
        pass


@pytest.mark.parametrize(
    ("call", "outcome"), [(lambda: SURVIVED, SURVIVED), (lambda: KILLED, KILLED), (lambda: 1 / 0, KILLED)]
)
def test_a_child_tells_its_outcome(call, outcome):
    assert in_fork(call, 5.0) == outcome


def test_a_child_that_does_not_end_is_ended():
    begin = time.monotonic()
    assert in_fork(loop, 0.1) == OUT_OF_TIME
    assert time.monotonic() - begin < 60


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_of_the_core_has_tests_that_concern_it(folder):
    assert test_files(folder)
    assert all(path.is_file() for path in test_files(folder))
    assert all((SOURCE / folder / f"{name}.py").is_file() for name in FOLDERS[folder] or ())


def test_equivalent_mutants_exist_and_have_a_reason():
    names = {path.name: path for folder in FOLDERS for path in (SOURCE / folder).glob("*.py")}
    for (name, line, before, after), reason in EQUIVALENT.items():
        some = [one for one in mutants(names[name].read_text()) if (one.text, one.before) == (line, before)]
        assert after in {one.made()[1] for one in some}, f"{name}: {line}: {before}"
        assert len(reason) > 20
