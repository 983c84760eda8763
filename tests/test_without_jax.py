"""The default path of every estimator needs no jax, equinox or optax: they belong to the paper's algorithm, which says
in one line how to install them.

The packages are hidden from a process and from all that it starts: whoever looks for them finds neither them nor their
versions, and the file `looked_for` holds the names that were looked for.
"""

import os
import subprocess
import sys

import pytest

import farrier
from tests import without_jax

HIDING = f"""
import sys
from importlib.machinery import PathFinder

class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in {without_jax.EXTRA}:
            return super().find_spec(name, path, target)
        with open(__file__.replace("sitecustomize.py", "looked_for"), "a") as seen:
            print(name, file=seen)

    @classmethod
    def find_distributions(cls, *context):
        return (one for one in super().find_distributions(*context) if one.name not in {without_jax.EXTRA})

sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
"""
"""What the processes run before anything else: a sitecustomize.py."""


@pytest.fixture
def run(tmp_path):
    """Run without_jax.py where the packages are hidden."""
    (tmp_path / "sitecustomize.py").write_text(HIDING)
    before = os.environ.get("PYTHONPATH")
    hidden = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *([before] if before else [])])}

    def program(*arguments):
        words = [sys.executable, without_jax.__file__, *map(str, arguments)]
        done = subprocess.run(words, env=os.environ | hidden, capture_output=True, text=True, timeout=240, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout, (tmp_path / "looked_for").exists()

    return program


def test_all_but_the_papers_algorithm_works_and_never_looks_for_jax(run):
    assert run("works") == ("", False)


def test_the_papers_algorithm_says_in_one_line_how_to_install_it(run, tmp_path):
    path, rows = tmp_path / "model.farrier", (without_jax.X, without_jax.Y)
    farrier.Regressor(["SE"], method="stochastic", iterations=1, inducing=2).fit(*rows).save(path)
    said, looked = run("refuses", path)
    needed = f"the paper's algorithm needs packages that are not installed ({', '.join(without_jax.PAPER)})"
    assert looked
    (plot,), others = ([line for line in said.splitlines() if line.startswith("plot:") == own] for own in (True, False))
    assert plot == 'plot: a plot needs packages that are not installed (matplotlib): pip install "farrier[plot]"'
    assert len(others) == 11
    for line in others:
        assert line.endswith(f'{needed}: pip install "farrier[paper]"')
