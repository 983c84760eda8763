"""`python -m benchmarks learn-priors`: the priors of the structural model, learned from many series.

    python -m benchmarks learn-priors --data-dir DIR

For each frequency the structural model (farrier/model/series.py) is fitted to the series of the part "learn", on each
scale of the target; a series counts on a scale as much as its evidence says that it belongs there. The mean and the
spread of each log parameter over the series, and its posterior variance within each, are the next prior; for sizes it
is the half-Cauchy of highest likelihood. After a few rounds the priors move on to where forecasts of these series are
likeliest (score_priors.py): how growth ends is seen in what came, not in the rows before. The table is written to
farrier/search/learned_priors.csv; other frequencies than those that are asked for stay as they are. Series of the part
"report" are never read.

A component that a series does not need drives its size to zero, and would pull the scale down without end. Its size
counts no lower than `LOWEST`, which is nothing beside the noise.
"""

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.competition_data import SETS, Series, chosen, read_set
from benchmarks.record import commit, tell
from benchmarks.score_priors import SIZES, SMALLEST_SHARE, improved, shares_of
from farrier.model.members import Contender
from farrier.model.problem import Problem
from farrier.model.series import pool_fit
from farrier.search.beliefs import Beliefs
from farrier.search.learned_priors import (
    GROWTHS,
    PARAMETERS,
    SCALES,
    TABLE,
    Clock,
    LogNormal,
    Priors,
    priors_for,
)

FREQUENCIES = {
    "yearly": ("m1_yearly", "m3_yearly", "tourism_yearly", "m3_other"),
    "quarterly": ("m1_quarterly", "m3_quarterly", "tourism_quarterly"),
    "monthly": ("m1_monthly", "m3_monthly", "tourism_monthly"),
    "weekly": ("m4_weekly",),
    "hourly": ("m4_hourly",),
}
"""The sets from which each frequency learns; one without a season has the priors of years."""
Both = dict[str, Priors]
"""The priors on each scale of the target."""
START = {
    "line": LogNormal(-0.75, 0.75),
    "trend": LogNormal(-0.75, 0.75),
    "damping": LogNormal(float(np.log(0.6)), 0.8),
    "walk": LogNormal(-0.75, 0.75),
    "season": LogNormal(-0.75, 0.5),
    "shape": LogNormal(float(np.log(0.7)), 0.5),
    "drift": LogNormal(float(np.log(8.0)), 0.8),
    "levels": LogNormal(-2.0, 0.5),
    "levels_drift": LogNormal(float(np.log(8.0)), 0.8),
    "ar": LogNormal(-1.25, 0.5),
    "ar_length": LogNormal(float(np.log(0.25)), 0.7),
    "level": LogNormal(float(np.log(2.0)), 0.5),
    "noise": LogNormal(-1.25, 0.5),
}
"""Priors of the first round, by judgement: those of a trial on M1."""
KINDS = [(growth, scale, name) for growth in GROWTHS for scale in SCALES for name in FREQUENCIES]
"""Growth, scale and frequency of each row of the table."""
KEPT = ("level",)
"""What is not learned: the level of a standardised series says nothing."""
LOWEST = -4.5
"""The logarithm of the smallest size that counts: a hundredth of the standard deviation of y."""
NARROWEST, WIDEST = 0.15, 1.0
"""Least and largest prior standard deviation of a logarithm; a learned one outside is cut. By judgement."""
HALF_CAUCHY_SD = float(np.pi / 2)
"""The standard deviation of the logarithm of a half-Cauchy."""
HALVINGS = 50
"""Bisections for the scale of a half-Cauchy."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder that holds forecast/")
    parser.add_argument("--frequencies", nargs="+", choices=FREQUENCIES, default=list(FREQUENCIES), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3, help="of fitting all series by empirical Bayes")
    parser.add_argument("--score-rounds", type=int, default=3, help="of improving forecasts")
    parser.add_argument("--series", type=int, default=None, help="at most so many of each set")
    parser.add_argument("--out", type=Path, default=TABLE, help="where the table is written")


def run(arguments: argparse.Namespace) -> Path:
    """Learn some frequencies and write the table."""
    found = {(growth, scale, name): priors_for(name, growth, scale) for growth, scale, name in KINDS}
    counts = {}
    for frequency in arguments.frequencies:
        series, season = [], 1
        for name in FREQUENCIES[frequency]:
            some = chosen(read_set(arguments.data_dir, name), "learn", arguments.series)
            counts[name], season = len(some), SETS[name].season
            series += some
        for growth in GROWTHS:
            tell(f"{frequency}, growth that fades to {growth}")
            for scale, priors in learned_in_two_stages(series, season, growth, arguments).items():
                found[growth, scale, frequency] = priors
    for growth in GROWTHS:
        for scale in SCALES:
            found[growth, scale, "other"] = pooled([found[growth, scale, name] for name in FREQUENCIES])
    rounds = f"{arguments.rounds} rounds and {arguments.score_rounds} of forecasts"
    arguments.out.write_text(table(found, counts, rounds), encoding="utf-8")
    return arguments.out


def learned_in_two_stages(series: list[Series], season: int, growth: str, arguments: argparse.Namespace) -> Both:
    """The priors of one kind of growth on both scales: by empirical Bayes, then by forecasts."""
    priors = {scale: dict(START) for scale in SCALES}
    for number in range(arguments.rounds):
        priors = learned([one.past for one in series], season, priors, growth)
        tell(f"round {number + 1}: {said(priors)}")
    first, rows = priors, [(np.concatenate([one.past, one.ahead]), len(one.ahead)) for one in series]
    for number in range(arguments.score_rounds):
        priors = improved(rows, season, priors, first, growth)
        tell(f"forecasts, round {number + 1}: {said(priors)}")
    return priors


def said(both: Both) -> str:
    """The priors in one line for each scale."""
    return "".join(
        f"\n  {scale}: " + ", ".join(f"{key} {one.mean:.2f} ± {one.sd:.2f}" for key, one in priors.items())
        for scale, priors in both.items()
    )


def learned(series: list[np.ndarray], season: int, both: Both, growth: str = "line") -> Both:
    """The priors after one round over all series."""
    values: dict[str, dict[str, list[tuple[float, float, float]]]]
    values = {scale: {name: [] for name in PARAMETERS} for scale in both}
    for y in series:
        for share, fit in fits(y, season, both, growth):
            for name, value, sd in parameters(fit):
                size = max(value, LOWEST) if name in SIZES else value
                values[fit.scale.transform.name][name].append((size, sd, share))
    return {scale: _next(priors, values[scale]) for scale, priors in both.items()}


def _next(priors: Priors, values: dict[str, list[tuple[float, float, float]]]) -> Priors:
    """The priors on one scale, from values with their posterior standard deviations and the shares of their series."""
    new = dict(priors)
    for name, triples in values.items():
        if not triples or name in KEPT:
            continue
        value, sd, share = np.array(triples).T
        if name in SIZES:
            new[name] = LogNormal(half_cauchy_scale(value, share), HALF_CAUCHY_SD)
            continue
        mean = float(np.average(value, weights=share))
        # what a series does not show is no wider than the prior
        within = np.minimum(sd, priors[name].sd) ** 2
        spread = float(np.sqrt(np.average((value - mean) ** 2 + within, weights=share)))
        new[name] = LogNormal(mean, float(np.clip(spread, NARROWEST, WIDEST)))
    return new


def half_cauchy_scale(value: np.ndarray, share: np.ndarray) -> float:
    """The log of the scale of a half-Cauchy of highest likelihood, given logarithms of sizes and their shares."""
    low, high = float(value.min()), float(value.max())
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        # the density of a logarithm is 1 / cosh
        low, high = (middle, high) if float(share @ np.tanh(value - middle)) > 0 else (low, middle)
    return 0.5 * (low + high)


def fits(y: np.ndarray, season: int, both: Both, growth: str = "line") -> Iterator[tuple[float, Contender]]:
    """The fits of one series on each scale of the target, with their shares of the evidence."""
    times = np.arange(len(y), dtype=float)
    x = (times - times.mean()) / times.std()
    clock, rows = Clock.of(x, [season / times.std()] if season > 1 else []), Problem(x[:, None], y, timed=True)
    found = [
        pool_fit(rows, Beliefs(clock, both[one.name], growth=growth), one)
        for one in (rows.scales if np.ptp(y) > 0 else ())
        if one.name in both
    ]
    if not found:
        return
    for share, fit in zip(shares_of([fit.height for fit in found]), found, strict=True):
        if share > SMALLEST_SHARE:
            yield float(share), fit


def parameters(fit: Contender) -> Iterator[tuple[str, float, float]]:
    """Name, logarithm and its posterior standard deviation of each parameter; times in seasons, sizes of y."""
    mode = fit.structure.mode
    assert mode is not None
    for named, u, sd in zip(fit.evaluator.beliefs.names(mode.model), mode.u, mode.deviations, strict=True):
        if named is not None and sd > 0.0:
            name, offset, factor = named
            yield name, (float(u) + offset) * factor, float(sd) * factor


def pooled(tables: list[Priors]) -> Priors:
    """One prior for all frequencies: their mean, and as wide as they are and differ."""
    found = {}
    for name in PARAMETERS:
        means, sds = (np.array([getattr(one[name], what) for one in tables]) for what in ("mean", "sd"))
        spread = float(np.sqrt(np.mean(sds**2) + means.var()))
        found[name] = LogNormal(float(means.mean()), min(spread, WIDEST))
    return found


def table(found: dict[tuple[str, str, str], Priors], counts: dict[str, int], rounds: str) -> str:
    """The table as text."""
    said = ", ".join(f"{count} of {name}" for name, count in counts.items())
    lines = [
        "# Priors of what ordinary series are made of: mean and standard deviation of the logarithm of each parameter.",
        "# There are four models: growth fades to a line, or to nothing; components add up to y, or to its logarithm.",
        "# Sizes (trend, walk, season, ar, level, noise) are half-Cauchy: the mean is the logarithm of the scale.",
        "# Made by: python -m benchmarks learn-priors --data-dir DIR",
        f"# on {datetime.now(UTC):%Y-%m-%d} at commit {commit()}, {rounds}; series of the part learn: {said}.",
        "growth,scale,frequency,parameter,mean,sd",
    ]
    for kind, priors in found.items():
        start = ",".join(kind)
        lines += [f"{start},{name},{priors[name].mean:.3f},{priors[name].sd:.3f}" for name in PARAMETERS]
    return "\n".join(lines) + "\n"
