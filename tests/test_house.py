"""The one direction of imports: a folder imports only from those that stand before it; and every module has a test."""

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
    "data",
    "model",
    "series",
    "explain",
    "estimators",
    "paper",
    "baselines",
    "datasets",
    "out_of_core",
    "fleet",
    "cli",
)
"""From the ground up, as in CONTRIBUTING.md."""
BY_NAME = {"paper", "baselines"}
"""Loaded by name when somebody asks for them, by folders that stand before them too."""
UP_TO_MODEL = ORDER[: ORDER.index("model") + 1]
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path.parent != SOURCE)

TESTS = Path(__file__).parent
COVERED_BY = {
    "series/stamp_forms.py": "tests/series/test_stamps.py",
    "estimators/series_reports.py": "tests/estimators/test_series_methods.py",
    "estimators/predicting.py": "tests/estimators/test_estimators.py",
    "kernels/constant.py": "tests/kernels/test_families.py",
    "kernels/linear.py": "tests/kernels/test_families.py",
    "kernels/matern.py": "tests/kernels/test_families.py",
    "kernels/periodic.py": "tests/kernels/test_families.py",
    "kernels/rational_quadratic.py": "tests/kernels/test_families.py",
    "kernels/squared_exponential.py": "tests/kernels/test_families.py",
    "kernels/step.py": "tests/kernels/test_families.py",
    "kernels/saturating.py": "tests/kernels/test_changes.py",
    "kernels/bend.py": "tests/kernels/test_changes.py",
    "kernels/shock.py": "tests/kernels/test_changes.py",
    "explain/courses.py": "tests/explain/test_course_words.py",
    "kernels/white.py": "tests/kernels/test_families.py",
    "evaluation/factors.py": "tests/evaluation/test_products.py",
    "search/starting_values.py": "tests/search/test_signatures.py",
    "search/evidence.py": "tests/search/test_constants.py",
    "explain/variance.py": "tests/explain/test_variance_shares.py",
    "search/table_candidates.py": "tests/search/test_table_moves.py",
    "data/extras.py": "tests/test_without_jax.py",
    "model/finishing.py": "tests/model/test_given.py",
    "model/fitted.py": "tests/model/test_members.py",
    "data/progress.py": "tests/estimators/test_estimators.py",
    "data/tables.py": "tests/estimators/test_estimators.py",
    "series/observed.py": "tests/estimators/test_forecaster.py",
    "explain/components.py": "tests/explain/test_story.py",
    "explain/context.py": "tests/explain/test_story.py",
    "explain/centring.py": "tests/explain/test_story.py",
    "explain/levels.py": "tests/estimators/test_real_tables.py",
    "explain/curves.py": "tests/explain/test_story.py",
    "explain/facts.py": "tests/explain/test_sentences.py",
    "explain/report_figures.py": "tests/explain/test_report.py",
    "explain/report_repeat.py": "tests/explain/test_report.py",
    "explain/frames.py": "tests/estimators/test_series_methods.py",
    "model/paths.py": "tests/estimators/test_series_methods.py",
    "explain/findings.py": "tests/explain/test_story.py",
    "explain/interactions.py": "tests/explain/test_sentences_of_tables.py",
    "explain/residual_checks.py": "tests/explain/test_story.py",
    "explain/extrapolation.py": "tests/explain/test_sentences.py",
    "explain/parts.py": "tests/explain/test_sentences.py",
    "explain/phrases.py": "tests/explain/test_sentences.py",
    "explain/windows.py": "tests/explain/test_sentences.py",
    "estimators/archive.py": "tests/estimators/test_files.py",
    "paper/state.py": "tests/estimators/test_files.py",
    "estimators/array_members.py": "tests/estimators/test_encoding.py",
    "estimators/counting.py": "tests/estimators/test_counts.py",
    "estimators/classifier.py": "tests/estimators/test_estimators.py",
    "estimators/encoded_times.py": "tests/estimators/test_encoding.py",
    "estimators/estimator.py": "tests/estimators/test_estimators.py",
    "estimators/explaining.py": "tests/explain/test_explanation.py",
    "estimators/fitted_series.py": "tests/estimators/test_forecaster.py",
    "estimators/states.py": "tests/estimators/test_files.py",
    "estimators/regressor.py": "tests/estimators/test_estimators.py",
    "estimators/self_checks.py": "tests/estimators/test_files.py",
    "paper/batches.py": "tests/paper/test_training.py",
    "paper/cache.py": "tests/estimators/test_estimators.py",
    "paper/diagnosis.py": "tests/paper/test_training.py",
    "paper/objective.py": "tests/paper/test_multisvgp.py",
    "paper/posterior.py": "tests/paper/test_multisvgp.py",
    "paper/prediction.py": "tests/estimators/test_estimators.py",
    "paper/sparse.py": "tests/estimators/test_estimators.py",
    "paper/steps.py": "tests/paper/test_training.py",
    "paper/weight_moments.py": "tests/paper/test_natural_gradients.py",
    "baselines/common.py": "tests/baselines/test_full_and_network.py",
    "baselines/expressions.py": "tests/baselines/test_search.py",
    "baselines/full.py": "tests/baselines/test_full_and_network.py",
    "baselines/grammar.py": "tests/baselines/test_search.py",
    "baselines/network.py": "tests/baselines/test_full_and_network.py",
    "baselines/scalable.py": "tests/baselines/test_search.py",
    "baselines/terms.py": "tests/baselines/test_search.py",
    "datasets/dataset.py": "tests/datasets/test_datasets.py",
    "datasets/date_parts.py": "tests/datasets/test_real_files.py",
    "datasets/date_parsing.py": "tests/datasets/test_date_format.py",
    "datasets/decoding.py": "tests/datasets/test_real_files.py",
    "datasets/excel.py": "tests/datasets/test_real_files.py",
    "datasets/sheets.py": "tests/datasets/test_real_files.py",
    "datasets/tables.py": "tests/datasets/test_real_files.py",
    "fleet/csv_text.py": "tests/cli/test_app.py",
    "fleet/framing.py": "tests/fleet/test_messages.py",
    "cli/explain.py": "tests/cli/test_app.py",
    "cli/forecast.py": "tests/cli/test_app.py",
    "cli/options.py": "tests/cli/test_app.py",
    "cli/screen.py": "tests/cli/test_app.py",
    "cli/source.py": "tests/cli/test_app.py",
    "cli/interrupts.py": "tests/cli/test_refusals.py",
    "cli/threads.py": "tests/cli/test_app.py",
    "cli/trial.py": "tests/cli/test_compare.py",
    "cli/writing.py": "tests/cli/test_app.py",
}
"""Modules without a test file of their own, and the file that tests them."""


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
        allowed = {*UP_TO_MODEL, *BY_NAME}
    assert imported(path) <= allowed


def test_nothing_lies_flat():
    assert [path.name for path in SOURCE.glob("*.py")] == ["__init__.py"]


def own_test(path: Path) -> Path:
    """The test file that stands where the module stands."""
    return TESTS / path.parent / f"test_{path.name}"


@pytest.mark.parametrize("path", [path for path in MODULES if path.name != "__init__.py"], ids=str)
def test_every_module_has_its_test_or_is_covered_by_another(path):
    covering = COVERED_BY.get(path.as_posix())
    # an entry stands only where there is no file of its own
    assert own_test(path).is_file() != (covering is not None)
    assert covering is None or (TESTS.parent / covering).is_file()


def test_what_is_covered_exists():
    assert {Path(path) for path in COVERED_BY} <= set(MODULES)


CONVENTIONS = {"_parameter_constraints", "_exit"}
"""Names with an underscore that are public: scikit-learn's for a class attribute, and Python's `os._exit`."""


def foreign_private_fields(path: Path) -> list[str]:
    """Where a file reads or writes `x._y` and x is not the object or the class itself, nor its parent."""
    found = []
    for node in ast.walk(ast.parse((SOURCE / path).read_text())):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_") or node.attr.endswith("__"):
            continue
        owner = ast.unparse(node.value)
        if owner in ("self", "cls", "super()") or node.attr in CONVENTIONS:
            continue
        found.append(f"line {node.lineno}: {owner}.{node.attr}")
    return found


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_nobody_reads_or_writes_a_private_field_of_another_object(path):
    assert foreign_private_fields(path) == []


@pytest.mark.parametrize("folder", ["explain", "estimators"])
def test_the_paper_is_loaded_by_name_alone(folder):
    assert all("paper" not in imported(path) for path in MODULES if path.parts[0] == folder)
