"""Made tables of known structure: each effect with its inputs, its shape, and its share of the variance.

The inputs are independent. Each table has `ROWS` rows, some inputs without effect, and noise whose standard deviation
is `NOISE` times that of the signal. The share of an effect is its Sobol index: effects of different inputs are
uncorrelated if each is centred, so the index is the variance of the effect over that of the sum, over independent
draws of the inputs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

ROWS = 250
"""Rows of a table. [by judgement: a small study]"""
NOISE = 0.35
"""Standard deviation of the noise over that of the signal. [by judgement]"""
LEVEL = 200.0
"""Level of y: so far from zero that all scales of y are alike, and shares of the variance are those of the identity."""
LEVELS = ("Aachen", "Bonn", "Celle", "Dresden", "Emden")
"""Names of the levels of a category."""


@dataclass(frozen=True, eq=False)
class Effect:
    """A part of the function: its inputs, what its shape may be called, and its values."""

    inputs: tuple[str, ...]
    shape: str
    """A regular expression for the title or the sentence of the component."""
    values: Callable[[pd.DataFrame], np.ndarray]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, the target and what is true of them."""

    X: pd.DataFrame
    y: np.ndarray
    effects: tuple[Effect, ...]
    shares: dict[tuple[str, ...], float]
    """The Sobol index of each effect, in the rows as if inputs were independent."""


def inputs(generator: np.random.Generator, count: int, *, symmetric: bool = False) -> pd.DataFrame:
    """Numbers a, b, c ...: normal about zero, or uniform between 0 and 10."""
    names = [chr(ord("a") + d) if d < 26 else f"z{d}" for d in range(count)]
    drawn = generator.standard_normal((ROWS, count)) if symmetric else generator.uniform(0.0, 10.0, (ROWS, count))
    return pd.DataFrame(drawn, columns=names)


def straight(generator: np.random.Generator) -> tuple[pd.DataFrame, list[Effect]]:
    """Two straight effects."""
    slopes = generator.choice([-1.0, 1.0], 2) * generator.uniform(1.0, 2.0, 2)
    return inputs(generator, 4), [
        Effect(("a",), r"linear", lambda X: slopes[0] * X["a"].to_numpy()),
        Effect(("b",), r"linear", lambda X: slopes[1] * X["b"].to_numpy()),
    ]


def u_shaped(generator: np.random.Generator) -> tuple[pd.DataFrame, list[Effect]]:
    """A U and a straight effect."""
    middle = generator.uniform(4.0, 6.0)
    return inputs(generator, 4), [
        Effect(("a",), r"curve|lowest|turns|U-shaped|quadratic", lambda X: (X["a"].to_numpy() - middle) ** 2),
        Effect(("b",), r"linear", lambda X: 2.0 * X["b"].to_numpy()),
    ]


def step(generator: np.random.Generator) -> tuple[pd.DataFrame, list[Effect]]:
    """A jump at a place, and a straight effect."""
    place, size = generator.uniform(3.0, 7.0), generator.choice([-1.0, 1.0]) * generator.uniform(8.0, 12.0)
    return inputs(generator, 4), [
        Effect(("a",), r"step|jump|higher|lower", lambda X: size * (X["a"].to_numpy() > place)),
        Effect(("b",), r"linear", lambda X: 1.5 * X["b"].to_numpy()),
    ]


def threshold(generator: np.random.Generator) -> tuple[pd.DataFrame, list[Effect]]:
    """No effect up to a place and a straight one from there, and a straight effect of another input."""
    place = generator.uniform(3.5, 6.5)
    return inputs(generator, 4), [
        Effect(("a",), r"from|until|above|below", lambda X: 4.0 * np.maximum(X["a"].to_numpy() - place, 0.0)),
        Effect(("b",), r"linear", lambda X: 1.5 * X["b"].to_numpy()),
    ]


def categories(generator: np.random.Generator) -> tuple[pd.DataFrame, list[Effect]]:
    """Levels of a category, and a straight effect."""
    sizes = dict(zip(LEVELS, generator.permutation([-6.0, -3.0, 0.0, 3.0, 6.0]), strict=True))
    X = inputs(generator, 3)
    X["city"] = generator.choice(LEVELS, ROWS)
    return X, [
        Effect(("city",), r"city", lambda X: np.array([sizes[name] for name in X["city"]])),
        Effect(("a",), r"linear", lambda X: 1.5 * X["a"].to_numpy()),
    ]


def product(generator: np.random.Generator) -> tuple[pd.DataFrame, list[Effect]]:
    """The product of two symmetric inputs, neither of which has an effect alone."""
    return inputs(generator, 5, symmetric=True), [
        Effect(("a", "b"), r"interaction", lambda X: 3.0 * X["a"].to_numpy() * X["b"].to_numpy())
    ]


def three_way(generator: np.random.Generator) -> tuple[pd.DataFrame, list[Effect]]:
    """The product of three symmetric inputs, and a straight effect."""
    return inputs(generator, 5, symmetric=True), [
        Effect(("a", "b", "c"), r"interaction", lambda X: 3.0 * X[["a", "b", "c"]].to_numpy().prod(axis=1)),
        Effect(("d",), r"linear", lambda X: 2.0 * X["d"].to_numpy()),
    ]


def distractors(generator: np.random.Generator) -> tuple[pd.DataFrame, list[Effect]]:
    """A straight effect and a curve among twenty inputs without effect."""
    return inputs(generator, 22), [
        Effect(("a",), r"linear", lambda X: 1.5 * X["a"].to_numpy()),
        Effect(("b",), r"curve", lambda X: 5.0 * np.sin(0.7 * X["b"].to_numpy())),
    ]


KINDS: dict[str, Callable[[np.random.Generator], tuple[pd.DataFrame, list[Effect]]]] = {
    "straight": straight,
    "U-shaped": u_shaped,
    "step": step,
    "threshold": threshold,
    "categories": categories,
    "product": product,
    "three-way": three_way,
    "distractors": distractors,
}
"""How a table is made, by its name."""


def made(kind: str, seed: int) -> Table:
    """A table of one kind."""
    generator = np.random.default_rng([seed, *kind.encode()])
    X, effects = KINDS[kind](generator)
    signal = np.sum([effect.values(X) for effect in effects], axis=0)
    y = LEVEL + signal + NOISE * signal.std() * generator.standard_normal(ROWS)
    shuffled = pd.DataFrame({name: generator.choice(X[name].to_numpy(), 1000 * ROWS) for name in X.columns})
    whole = sum(float(np.var(effect.values(shuffled))) for effect in effects)
    return Table(X, y, tuple(effects), {effect.inputs: own_variance(effect, X, shuffled) / whole for effect in effects})


def own_variance(effect: Effect, X: pd.DataFrame, shuffled: pd.DataFrame) -> float:
    """The variance of what an effect has beyond effects of fewer of its inputs, over rows of independent inputs.

    The product of two inputs has an effect of one alone where the mean of the other over the rows is not zero. The part
    of all inputs S is the sum over their subsets T of (-1)^|S - T| E[f | x_T], here with each input of X averaged over.
    """
    if len(effect.inputs) == 1:
        return float(np.var(effect.values(shuffled)))
    part = np.zeros(len(shuffled))
    for size in range(len(effect.inputs) + 1):
        for given in combinations(effect.inputs, size):
            others = [name for name in effect.inputs if name not in given]
            # effects of several inputs here are linear in each, so that E[f | x_T] is f at the means of the others
            at = shuffled.assign(**{name: float(X[name].mean()) for name in others})
            part += (-1.0) ** len(others) * effect.values(at)
    return float(np.var(part))
