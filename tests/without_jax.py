"""What has to work, and what says how to install it, without jax and matplotlib: `python tests/without_jax.py works`.

It needs Farrier alone, so that it runs in an environment without the packages of the tests, too; test_without_jax.py
runs it where the packages of the extras `paper` and `plot` are hidden. `works` uses all that does without them;
`refuses` prints one line for everything that does not, with a model of the paper's algorithm in a file if one is given.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import farrier
from farrier import out_of_core
from farrier.baselines import BASELINES

PAPER = ("jax", "jaxlib", "equinox", "optax", "jaxtyping")
"""The packages of the extra `paper`."""
EXTRA = (*PAPER, "matplotlib")
"""These, and that of the extra `plot`."""
FOLDER = Path(tempfile.mkdtemp())
X = np.arange(24.0)[:, None]
NOISE = 0.1 * np.random.default_rng(0).standard_normal(24)
Y = 0.1 * X[:, 0] + np.sin(X[:, 0]) + NOISE
LABELS = np.where(Y.mean() < Y, "high", "low")
TABLE = [["north" if i % 3 else "south", float(i * i % 17)] for i in range(24)]
COSTS = np.array([2.0 * (place == "south") + 0.3 * size for place, size in TABLE]) + NOISE
DATES = np.datetime64("2022-01", "M") + np.arange(24)
SALES = FOLDER / "sales.csv"
FAST = ("--kernels", "paper", "--method", "exact", "--scale", "identity", "--quiet")
"""Options that keep the fit of the command line short."""


def works():
    """Fit, predict, explain, report, save and load every kind of model, and explain a file by the command."""
    models = {
        "found": farrier.Regressor().fit(X, Y),
        "given": farrier.Regressor(kernels=["Lin", "SE * Per"], prior="softmax").fit(X, Y),
        "paper": farrier.Regressor(kernels="paper", iterations=5).fit(X, Y),
        "t": farrier.Regressor(likelihood="student-t").fit(X, Y),
        "counts": farrier.Regressor(likelihood="poisson").fit(X, np.rint(np.exp(Y))),
        "table": farrier.Regressor().fit(TABLE, COSTS),
        "classes": farrier.Classifier().fit(X, LABELS),
        "chosen": farrier.Classifier(kernels=["SE"]).fit(X, LABELS),
    }
    for name, model in models.items():
        rows = TABLE if name == "table" else X
        predicted = model.predict(rows)
        str(model.explain())
        model.report(FOLDER / f"{name}.html")
        model.save(FOLDER / f"{name}.farrier")
        assert np.array_equal(farrier.load(FOLDER / f"{name}.farrier").predict(rows), predicted)
    forecaster = farrier.Forecaster().fit(DATES[:22], Y[:22])
    forecaster.update(DATES[22:], Y[22:])
    forecaster.forecast(3)
    str(forecaster.explain())
    forecaster.report(FOLDER / "series.html")
    forecaster.save(FOLDER / "series.farrier")
    farrier.load(FOLDER / "series.farrier").forecast(3)
    farrier.Forecaster().fit(DATES, Y).forecast(3)
    said = command("explain", SALES, "--horizon", "3", "--out", FOLDER / "sales.html", *FAST)
    assert said.returncode == 0, said.stderr
    assert "of the variance" in said.stdout
    assert "2024-01" in said.stdout
    assert "<html" in (FOLDER / "sales.html").read_text()
    # star imports load all public names
    exec("from farrier import *", {})


def refuses(saved=None):
    """Ask for everything that needs the extra: one line for each, its name and what is said."""
    rows = np.memmap(FOLDER / "rows", mode="w+", shape=X.shape)
    asked = {
        "regressor": lambda: farrier.Regressor(method="stochastic").fit(X, Y),
        "classifier": lambda: farrier.Classifier(method="stochastic").fit(X, LABELS),
        "forecaster": lambda: farrier.Forecaster(method="stochastic").fit(DATES, Y),
        "another prior": lambda: farrier.Regressor(["SE"], prior="none", likelihood="student-t").fit(X, Y),
        "minibatches": lambda: out_of_core.fit(rows, y=Y, method="stochastic", kernels=["SE"]),
        "pool": lambda: farrier.Pool,
        "farrier.paper": lambda: __import__("farrier.paper.anatomy"),
        "farrier.baselines": lambda: BASELINES["full-gp"](),
        "plot": lambda: farrier.Regressor(["SE"]).fit(X, Y).plot(),
        **({} if saved is None else {"file": lambda: farrier.load(saved)}),
    }
    for name, ask in asked.items():
        try:
            ask()
        except ImportError as error:
            print(f"{name}: {error}")
    for name, *arguments in (
        ("explain", "--method", "stochastic", "--quiet"),
        ("compare", "--quiet", "--methods", "farrier", "paper"),
    ):
        said = command(name, SALES, *arguments)
        assert (said.returncode, said.stdout) == (2, ""), said
        print(f"{' '.join([name, *arguments])}: {said.stderr.removesuffix(chr(10))}")


def command(*arguments):
    """The command line in a process of its own."""
    SALES.write_text("\n".join(["month,sales", *(f"{day},{y:.3f}" for day, y in zip(DATES, Y, strict=True))]))
    words = [sys.executable, "-m", "farrier.cli.app", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


if __name__ == "__main__":
    {"works": works, "refuses": refuses}[sys.argv[1]](*sys.argv[2:])
    assert not [name for name in EXTRA if name in sys.modules]
