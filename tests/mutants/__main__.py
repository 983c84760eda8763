"""Mutation tests of one folder of the mathematical core: `make mutants FOLDER=kernels`, or

    python -m tests.mutants kernels --per-file 10 --seed 0

Each mutant is one small change of a file (mutator.py). The tests that run the changed line, as seen by a trace
(coverage.py), run against it until one fails (runner.py). A mutant that fails none has survived. Tests that take
longer than LONGEST_TEST are left out, so the score is a lower bound. Prints the survivors and a table; the exit code
is 1 if less than TARGET of the mutants were killed.
"""

import argparse
import importlib
import os
import sys
import time
from pathlib import Path

import numpy as np

from tests.mutants import coverage
from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.mutator import Mutant, mutants
from tests.mutants.runner import LIBRARIES, SURVIVED, Changed, in_fork, killed
from tests.test_house import COVERED_BY

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "farrier"
KEPT = ROOT / ".mutants"
"""What the trace found, kept until the files change."""
FOLDERS = {
    "kernels": None,
    "evaluation": None,
    "inference": None,
    "search": ("appraisal", "beliefs", "polishing", "projection", "scoring", "starting_values", "structure"),
}
"""The mathematical core: whole folders, and of the search what scores structures."""
TOO_SLOW = {"tests/kernels/test_numpy_and_jax.py"}
"""Test files that are left out because they compile for a minute."""
LONGEST_TEST = 4.0
"""Most processor seconds of a test under the trace. By judgement: slower tests would take most of the time."""
MOST_TESTS = 400
"""Most tests that are run against one mutant, the quick ones first. By judgement."""
TARGET = 0.85
"""Smallest share of killed mutants."""


def main() -> int:
    """Run the mutants of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", choices=FOLDERS)
    parser.add_argument("--files", nargs="+", metavar="NAME", help="only these modules, such as matern")
    parser.add_argument("--per-file", type=int, default=10, metavar="N", help="random mutants of each file (0: all)")
    parser.add_argument("--seed", type=int, default=0, help="which of them")
    options = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in LIBRARIES:
        importlib.import_module(name)
    folder = SOURCE / options.folder
    names = options.files or FOLDERS[options.folder] or sorted(path.stem for path in folder.glob("[!_]*.py"))
    tests = traced(folder, test_files(options.folder))
    print("| file | mutants | tried | killed | survived | equivalent |\n|---|---|---|---|---|---|", flush=True)
    totals = np.zeros(5, dtype=int)
    for name in names:
        totals += of_file(folder / f"{name}.py", tests, options.per_file, options.seed)
    print(row("all", totals))
    score = totals[2] / max(totals[1] - totals[4], 1)
    print(f"\n{options.folder}: {100 * score:.1f} % killed")
    return 0 if score >= TARGET else 1


def test_files(folder: str) -> list[Path]:
    """The tests that concern a folder: those that stand where it stands, and those that the house's list names."""
    own = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / folder).glob("test_*.py")}
    named = {test for module, test in COVERED_BY.items() if module.startswith(f"{folder}/")}
    return [ROOT / path for path in sorted((own | named) - TOO_SLOW)]


def traced(folder: Path, files: list[Path]) -> coverage.Covered:
    """Which tests run which lines of the folder; what was found before is used where no file has changed."""
    records = []
    for path in files:
        place = KEPT / folder.name / f"{path.parent.name}_{path.stem}.json"
        mark = coverage.fingerprint(folder, path)
        if coverage.load(place, mark) is None:

            def trace() -> int:
                coverage.keep(place, mark, coverage.measure(folder, path.relative_to(ROOT)))
                return 0

            in_fork(trace, 600)
        record = coverage.load(place, mark)
        if record is None:
            sys.exit(f"{path.name}: the tests did not run to their end; run them with pytest first.")
        records.append({test: found for test, found in record.items() if found[0] <= LONGEST_TEST})
    return coverage.covered(records)


def of_file(path: Path, tests: coverage.Covered, count: int, seed: int) -> np.ndarray:
    """How many mutants the file has, were tried, killed, survived, and are equivalent; survivors are printed."""
    found = mutants(path.read_text())
    chosen = np.random.default_rng(seed).permutation(len(found))[: count or None]
    counts = np.array([len(found), len(chosen), 0, 0, 0])
    for i in sorted(chosen):
        outcome, after = judged(path, found[i], tests)
        if outcome == "survived" and (path.name, found[i].text, found[i].before, after) in EQUIVALENT:
            outcome = "equivalent"
        counts[2 + ("killed", "survived", "equivalent").index(outcome)] += 1
        if outcome == "survived":
            print(f"    {path.name}:{found[i].line}: {found[i].before}  ->  {after}", file=sys.stderr, flush=True)
    print(row(path.name, counts), flush=True)
    return counts


def judged(path: Path, mutant: Mutant, tests: coverage.Covered) -> tuple[str, str]:
    """Whether one mutant was killed or has survived, and its new text."""
    tree, after = mutant.made()
    chosen = tests.tests(path.name, mutant.first, mutant.last, whole=mutant.top)[:MOST_TESTS]
    if not chosen:
        return "survived", after
    module = f"farrier.{path.parent.name}.{path.stem}"
    limit = 10.0 + 4.0 * sum(tests.seconds[test] for test in chosen)
    return ("survived" if killed(Changed(module, path, tree), chosen, limit) == SURVIVED else "killed"), after


def row(name: str, counts: np.ndarray) -> str:
    """One row of the table."""
    return f"| {name} | " + " | ".join(f"{count:,}" for count in counts) + " |"


if __name__ == "__main__":
    begin = time.perf_counter()
    code = main()
    print(f"{time.perf_counter() - begin:.0f} s")
    sys.exit(code)
