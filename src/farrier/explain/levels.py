"""The levels of a category: the effect of each with its interval, and how an effect differs between them.

An effect is beside the mean over the rows. Of two levels the difference is said. Where a category multiplies a line,
each level has a slope of its own, beside the mean slope over the rows.
"""

from typing import Any

import numpy as np

from farrier.data.input_columns import EMPTY
from farrier.explain.centring import CENTRE_ROWS, centred
from farrier.explain.facts import Estimate, Level
from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import Category, Linear
from farrier.model.result import Result

Z95 = 1.96
"""The 97.5 % quantile of the standard normal distribution."""
PICTURED = 5
"""Most levels that are drawn as lines, those with the most rows. By judgement."""


def category_of(kernel: Kernel) -> int | None:
    """The input of the first category of a product; None if it has none."""
    found = [factor for factor in kernel.products()[0] if isinstance(factor, Category)]
    return int((found[0].dims or (0,))[0]) if found else None


def level_facts(result: Result, kernel: Kernel, i: int, in_words: Any) -> dict[str, Any]:
    """The levels of component i as fields of `Facts`; `in_words` turns a size into the one that is told."""
    factors, column = kernel.products()[0], category_of(kernel)
    if column is None:
        return {}
    names, rows, counts = _levels(result, column)
    if len(factors) == 1:
        mean, variance = centred(result.explained, rows, result.inputs, i)
        levels = _named(names, mean * result.explained.scale.sd, _sd(variance) * result.explained.scale.sd, in_words)
        found: dict[str, Any] = {"profile": levels}
        if result.table is not None and result.given(column) in result.table.flags:
            found["contrast"] = _empty(result, rows[-1:], i, column, in_words)
            return found | {"profile": (Level(EMPTY, found["contrast"]),)}
        if len(names) == 2:
            found["contrast"] = _contrast(result, rows, i, in_words)
        return found
    line = [factor for factor in factors if isinstance(factor, Linear)]
    if len(factors) == 2 and line:
        return {"slopes": _slopes(result, i, int((line[0].dims or (0,))[0]), names, rows, counts, in_words)}
    return {}


def lines_of(result: Result, kernel: Kernel, i: int, column: int, ticks: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Component i along an input for each of the levels with the most rows, on the scale of the model."""
    category = category_of(kernel)
    assert category is not None
    names, levels, counts = _levels(result, category)
    found = []
    for place in sorted(np.argsort(-counts, kind="stable")[:PICTURED]):
        rows = np.tile(levels[place], (len(ticks), 1))
        rows[:, column] = (ticks - result.scale.x_mean[column]) / result.scale.x_scale[column]
        mean, _ = result.explained.explaining.posterior.joint(rows, np.array([i]))
        found.append((names[place], mean))
    return found


def _levels(result: Result, column: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The levels among the rows: names, a row of inputs for each with all others at their mean, numbers of rows."""
    codes, counts = np.unique(result.inputs[:, column], return_counts=True)
    names = result.levels_of(column)
    rows = np.tile(result.inputs.mean(axis=0), (len(codes), 1))
    rows[:, column] = codes
    return [names[int(code)] if int(code) < len(names) else f"{code:g}" for code in codes], rows, counts


def _contrast(result: Result, rows: np.ndarray, i: int, in_words: Any) -> Estimate:
    """The second of two levels minus the first."""
    mean, covariance = result.explained.explaining.posterior.joint(rows, np.array([i]))
    sd = _sd(covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1])
    unit = result.explained.scale.sd
    return _estimate(float(mean[1] - mean[0]) * unit, float(sd) * unit, in_words)


def _empty(result: Result, row: np.ndarray, i: int, flag: int, in_words: Any) -> Estimate:
    """What an empty cell adds, beside the mean of the rows whose cell is not.

    An empty cell counts as the mean of the number, so that it also has the effect of the number there. The numbers that
    are not known differ from row to row, so that their effects add to the uncertainty of a mean of few rows.
    """
    assert result.table is not None
    given, neutral = result.table.flags[result.given(flag)]
    number = given if result.order is None else result.order.index(given)
    alone = [
        k
        for k, kernel in enumerate(result.explained.explaining.kernels)
        if {d for factor in kernel.products()[0] for d in factor.positions(len(result.columns))} == {number}
    ]
    there = result.inputs[result.inputs[:, flag] == 0.0]
    there = there[np.unique(np.linspace(0, len(there) - 1, CENTRE_ROWS).round().astype(int))]
    row = row.copy()
    row[0, number] = (neutral - result.scale.x_mean[number]) / result.scale.x_scale[number]
    mean, covariance = result.explained.explaining.posterior.joint(np.vstack([row, there]), np.array([*alone, i]))
    apart = np.concatenate([[1.0], np.full(len(there), -1.0 / len(there))])
    variance = apart @ covariance @ apart + np.var(mean[1:]) / max(np.sum(result.inputs[:, flag] == 1.0), 1)
    unit = result.explained.scale.sd
    return _estimate(float(apart @ mean) * unit, float(_sd(variance)) * unit, in_words)


def _slopes(
    result: Result, i: int, column: int, names: list[str], rows: np.ndarray, counts: np.ndarray, in_words: Any
) -> tuple[Level, ...]:
    """The slope of each level minus the mean slope, for a unit of an input."""
    further = rows.copy()
    further[:, column] += 1.0
    mean, covariance = result.explained.explaining.posterior.joint(np.vstack([rows, further]), np.array([i]))
    n = len(names)
    step = np.hstack([-np.eye(n), np.eye(n)])
    apart = (np.eye(n) - counts[None, :] / counts.sum()) @ step
    unit = result.explained.scale.sd / float(result.scale.x_scale[column])
    variance = np.einsum("ij,jk,ik->i", apart, covariance, apart)
    return _named(names, apart @ mean * unit, _sd(variance) * unit, in_words)


def _named(names: list[str], mean: np.ndarray, sd: np.ndarray, in_words: Any) -> tuple[Level, ...]:
    """The levels, highest first."""
    order = np.argsort(-mean, kind="stable")
    return tuple(Level(names[k], _estimate(float(mean[k]), float(sd[k]), in_words)) for k in order)


def _estimate(mean: float, sd: float, in_words: Any) -> Estimate:
    return Estimate(*(in_words(mean + side * sd) for side in (0.0, -Z95, Z95)))


def _sd(variance: Any) -> np.ndarray:
    return np.sqrt(np.maximum(variance, 0.0))
