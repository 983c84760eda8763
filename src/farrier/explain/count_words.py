"""What is said of counts: how they vary, and how often they are zero."""

import numpy as np

from farrier.explain.context import Setting, step_of
from farrier.explain.numbers import capital, count, fixed, per_cent, significant
from farrier.inference.counts import NegativeBinomial, Poisson
from farrier.inference.hurdle import Hurdle
from farrier.model.result import Result

SELDOM = 0.45
"""Share of values above zero up to which they are reported as one of so many. [of the rows; by judgement]"""
MANY_ZEROS = 0.3
"""Share of zeros from which it is reported. [of the rows; by judgement]"""
LAST, FEWEST_LAST = 8, 10
"""The average of the last rows is reported if it differs: an eighth of all rows, at least so many. [by judgement]"""
MOST = 0.1, 0.9
"""The ends of the interval that holds 80 % of the values above zero."""


def about_counts(result: Result, setting: Setting) -> list[str]:
    """How counts vary about their expected value, and how often they are zero."""
    likelihood, y = result.explained.likelihood, result.target
    if isinstance(likelihood, Hurdle):
        return _above_zero(y, setting, changing=result.explained.survivors > 0)
    if not isinstance(likelihood, Poisson | NegativeBinomial):
        return []
    name, word = capital(_name(setting)), _step(setting)
    zeros, mean = float(np.mean(y == 0.0)), significant(float(y.mean()), 2)
    often = f", and zero in {per_cent(zeros)} of the {word}s" if zeros >= MANY_ZEROS else ""
    article = "an" if word == "hour" else "a"
    said = [f"{name} is {mean} {article} {word} on average{_lately(y, setting)}{often}."]
    if isinstance(likelihood, Poisson):
        return [*said, "Counts vary about their expected value as a Poisson does: the variance is the expected value."]
    return [
        *said,
        "Counts vary about their expected value m with the variance m + m^2 / "
        f"{significant(likelihood.size, 2)}: a negative binomial. A Poisson has the variance m.",
    ]


def _above_zero(y: np.ndarray, setting: Setting, *, changing: bool) -> list[str]:
    """'sold is above zero in about one week of five (18 %), and then about 4.7; 80 % of these lie between 2 and 9.'"""
    above, word = y[y > 0.0], _step(setting)
    share = len(above) / len(y)
    often = f"{per_cent(share)} of the {word}s"
    if share <= SELDOM:
        often = f"about one {word} of {count(round(1.0 / share))} ({per_cent(share)})"
    low, high = (fixed(float(end), 0) for end in np.quantile(above, MOST, method="inverted_cdf"))
    much = f"and then always {low}"
    if above.min() < above.max():
        much = f"and then about {significant(float(above.mean()), 2)}; 80 % of these lie between {low} and {high}"
    said = [f"{capital(_name(setting))} is above zero in {often}, {much}."]
    return [*said, "The components change how often that is, not by how much."] if changing else said


def _lately(y: np.ndarray, setting: Setting) -> str:
    """The average of the last rows of a series, where it differs from that of all by a factor of two."""
    few = max(len(y) // LAST, 1)
    if setting.kind != "series" or few < FEWEST_LAST:
        return ""
    last, mean = float(y[setting.order[-few:]].mean()), float(y.mean())
    return "" if 0.5 * mean < last < 2.0 * mean else f" ({significant(last, 2)} over the last {few})"


def _name(setting: Setting) -> str:
    return "the target" if setting.target.name == "y" else setting.target.name


def _step(setting: Setting) -> str:
    """The step of the rows: 'week', or 'row' where it has no name."""
    word, units = ("", 1) if setting.time is None else step_of(setting.time)
    return word if word and units == 1 else "row"
