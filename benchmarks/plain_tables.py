"""Suite `plain-tables`: tables in which little or nothing is found. Intervals hold as many new rows as they say.

Each table has inputs that do not matter, or one weak effect, and noise of a known standard deviation. The figures are
the root mean square of the predictive standard deviation over that of the noise, and the share of new rows inside the
80 and 95 % intervals. Where much of the noise is one value, or is a count, intervals can hold more rows than they say,
or fewer, whatever their ends.
"""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import farrier.out_of_core
from benchmarks.record import Clock, Recorder, tell

DESCRIPTION = "tables of noise and weak effects, in which little is to be found, and what their intervals hold"
NEW = 2000
"""New rows: the share inside an interval is known to half a point for 95 %."""
LEVELS = (80, 95)

Draw = Callable[[np.random.Generator, int], np.ndarray]
NOISES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda generator, rows: generator.standard_normal(rows), 1.0),
    "heavy tails": (lambda generator, rows: generator.standard_t(5.0, rows), np.sqrt(5.0 / 3.0)),
    "skewed": (lambda generator, rows: generator.exponential(size=rows), 1.0),
    "half equal": (
        lambda generator, rows: 3.0 * generator.exponential(size=rows) * (generator.uniform(size=rows) < 0.5),
        np.sqrt(0.5 * 2.0 * 9.0 - 1.5**2),
    ),
}
"""Each kind of noise, and its standard deviation."""


class Kind(NamedTuple):
    """How a table is made and fitted."""

    rows: int
    inputs: int
    noise: str = "normal"
    effect: str = "none"
    categories: int = 0
    settings: tuple[tuple[str, str], ...] = ()
    blocks: bool = False

    @property
    def name(self) -> str:
        """Such as `200 rows, 3 inputs, skewed noise`."""
        words = [f"{self.rows} rows", f"{self.inputs} inputs", f"{self.noise} noise"]
        words += [f"weak {self.effect}"] * (self.effect != "none") + [f"{self.categories} categories"] * self.categories
        words += [f"{name}={value}" for name, value in self.settings] + ["in blocks"] * self.blocks
        return ", ".join(dict.fromkeys(words))

    def draw(self, generator: np.random.Generator, rows: int) -> tuple[Any, np.ndarray]:
        """Rows of inputs, and y."""
        X = generator.standard_normal((rows, self.inputs))
        draw, sd = NOISES[self.noise]
        effects = {"none": 0.0 * X[:, 0], "line": X[:, 0], "curve": np.sqrt(2.0) * np.sin(2.0 * X[:, 0])}
        y = draw(generator, rows) + WEAK * sd * effects[self.effect]
        if not self.categories:
            return X, y
        columns: dict[str, Any] = {f"x{i}": X[:, i] for i in range(self.inputs)}
        levels = [generator.choice([f"level {k}" for k in range(3 + i)], rows) for i in range(self.categories)]
        return columns | {f"kind {i}": list(level) for i, level in enumerate(levels)}, y


WEAK = 0.3
"""The standard deviation of a weak effect over that of the noise: 8 % of the variance."""
KINDS = (
    Kind(50, 1),
    Kind(50, 10),
    Kind(100, 3),
    Kind(200, 2),
    Kind(400, 2),
    Kind(400, 5),
    Kind(2000, 2),
    Kind(200, 2, "heavy tails"),
    Kind(200, 2, "skewed"),
    Kind(200, 3, "half equal"),
    Kind(300, 1, categories=2),
    Kind(200, 2, effect="line"),
    Kind(100, 2, effect="line"),
    Kind(300, 5, effect="curve"),
    Kind(200, 2, "skewed", effect="line"),
    Kind(300, 1, effect="line", categories=1),
    Kind(200, 2, effect="line", settings=(("likelihood", "student-t"),)),
    Kind(600, 2, effect="line", settings=(("method", "collapsed"),)),
    Kind(4000, 2, effect="curve"),
    Kind(4000, 2, blocks=True),
)
"""From 50 to 4,000 rows, with exact and collapsed inference, in memory and in blocks."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="tables of each kind")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Fit and predict; a table that is in the record is not run again."""
    found = []
    for kind in KINDS:
        for seed in arguments.seeds:
            if record.done({"kind": kind.name}, seed):
                continue
            clock = Clock()
            figures = measure(kind, seed)
            record.add({"kind": kind.name}, seed, figures, clock)
            found.append(figures)
            tell(", ".join([kind.name, str(seed), *(f"{name} {value:.3g}" for name, value in figures.items())]))
    if found:
        held = {level: 100.0 * np.mean([one[f"inside_{level}"] for one in found]) for level in LEVELS}
        print("; ".join(f"{share:.1f} % inside the {level} % intervals" for level, share in held.items()))


def measure(kind: Kind, seed: int) -> dict[str, float]:
    """The figures of one table."""
    generator = np.random.default_rng([5000, KINDS.index(kind) if kind in KINDS else 0, seed])
    rows = kind.draw(generator, kind.rows)
    (X, y), (new, truth) = ((_frame(inputs), target) for inputs, target in (rows, kind.draw(generator, NEW)))
    settings: dict[str, Any] = dict(kind.settings)
    model = farrier.out_of_core.fit(X, y=y) if kind.blocks else farrier.Regressor(**settings).fit(X, y)
    _, std = model.predict(new, return_std=True)
    levels = [0.5 + sign * level / 200.0 for level in LEVELS for sign in (-1.0, 1.0)]
    ends = np.asarray(model.predict_quantiles(new, levels)).reshape(len(new), -1)
    inside = {
        f"inside_{level}": float(np.mean((truth >= ends[:, 2 * i]) & (truth <= ends[:, 2 * i + 1])))
        for i, level in enumerate(LEVELS)
    }
    return {"sd": float(np.sqrt(np.mean(std**2)) / NOISES[kind.noise][1])} | inside | {"found": len(model.components_)}


def _frame(inputs: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(inputs) if isinstance(inputs, dict) else inputs
