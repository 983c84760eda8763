"""The second stage of `learn-priors`: priors under which forecasts of the learn series have a higher log density.

Empirical Bayes (learn_priors.py) asks which priors explain rows. Forecasts ask which of two explanations goes on: a
trend that fades or one that stays look alike in most rows. So the priors are moved on, within a penalty, to where the
next rows are likeliest. The next rows are those after three origins of each learn series; the last is the start of the
test rows of the competition. Series of the part "report" are never read.

Nothing is fitted again within a round. Draws of the parameters, and the log density of the next rows given each, are
made once under the present priors. Under other priors a draw counts by the ratio of its prior densities.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from farrier.inference.posteriors import LaplacePosterior
from farrier.model.members import Contender
from farrier.model.problem import Problem
from farrier.model.series import pool_fit
from farrier.model.tiers import exact_posterior
from farrier.search.beliefs import Beliefs
from farrier.search.learned_priors import Clock, LogNormal, Priors

SIZES = ("line", "trend", "walk", "season", "levels", "ar", "noise")
"""Sizes of components, any of which a series may not need: half-Cauchy."""
TIMES = ("damping", "shape", "drift", "levels_drift", "ar_length")
"""Hyperparameters: log-normal."""
ORIGINS = 3
"""Origins of each series, a horizon apart; by judgement: more of them share most of their rows."""
FEWEST = 12, 3
"""Fewest rows, and seasons, before an origin; by judgement."""
MOST = 520
"""Most rows before an origin, as in the competitions."""
SMALLEST_SHARE = 0.05
"""Share of the evidence from which a scale of the target counts; by judgement."""
DRAWS = 32
"""Draws of the parameters of each fit; by judgement."""
SPREAD = 0.7
"""Moves of means and log spreads are believed to be normal with this standard deviation, and a window counts as one
observation. Of 0.2, 0.5 and 1.0, the two larger gained most on the half of yearly series not learned from."""
FLOOR = -7.0
"""A window's mean log density in units of the mean step counts no lower: a break nobody could foresee teaches nothing.
By judgement."""
STEP = 0.5
"""The longest move of a mean or a log spread in a round, within which reweighted draws serve; by judgement."""
WIDEST = 0.0
"""The highest logarithm of a prior spread, as in the first stage."""
ITERATIONS = 12
"""Of the optimiser in a round; by judgement."""


@final
@dataclass(frozen=True)
class Drawn:
    """Draws of the parameters of one fit, with the density of the next rows given each."""

    names: tuple[str, ...]
    """The prior of each parameter."""
    values: np.ndarray
    """The parameters, (S, P), logarithms in the units of the priors."""
    densities: np.ndarray
    """The log density of each next row, (S, H)."""
    height: float
    """The log evidence."""
    scale: str
    """The name of the scale of the target."""

    def log_prior(self, priors: Priors) -> np.ndarray:
        """The log prior density of each draw, up to a constant, (S,)."""
        total = np.zeros(len(self.values))
        for name, value in zip(self.names, self.values.T, strict=True):
            away = value - priors[name].mean
            if name in SIZES:
                total -= np.logaddexp(away, -away)
            elif name in TIMES:
                total -= 0.5 * (away / priors[name].sd) ** 2 + np.log(priors[name].sd)
        return total


@final
@dataclass(frozen=True)
class Window:
    """The draws for the rows after one origin, on one scale of the target."""

    fit: Drawn
    before: np.ndarray
    """The log prior of all draws when they were made."""
    unit: float
    """The log of the mean step between rows."""
    share: float
    """The share of this scale in the evidence of all."""

    def score(self, priors: Priors) -> float:
        """The mean log density of the next rows in units of the mean step."""
        share = self.fit.log_prior(priors) - self.before
        mixed = np.asarray(logsumexp((share - logsumexp(share))[:, None] + self.fit.densities, axis=0))
        return self.share * float(np.logaddexp(mixed.mean() + self.unit, FLOOR))


def shares_of(heights: Sequence[float]) -> np.ndarray:
    """The share of each fit in the evidence of all."""
    found = np.exp(np.array(heights) - max(heights))
    return found / found.sum()


def improved(
    series: Sequence[tuple[np.ndarray, int]],
    season: int,
    both: dict[str, Priors],
    first: dict[str, Priors],
    growth: str = "line",
) -> dict[str, Priors]:
    """The priors after one round; `series` are all rows with the horizon, `first` the priors of the first stage."""
    parts = [part for rows, horizon in series for part in windows(rows, horizon, season)]
    kept = [one for past, ahead in parts for one in drawn(past, ahead, season, both, growth)]
    return {
        scale: _improved([one for one in kept if one.fit.scale == scale], priors, first[scale])
        for scale, priors in both.items()
    }


def _improved(kept: Sequence[Window], priors: Priors, first: Priors) -> Priors:
    """The priors on one scale after one round."""
    names = [name for name in (*SIZES, *TIMES) if any(name in one.fit.names for one in kept)]
    anchor, start = _vector(first, names), _vector(priors, names)

    def loss(vector: np.ndarray) -> float:
        moved = _priors(vector, names, priors)
        return 0.5 * float(np.sum(((vector - anchor) / SPREAD) ** 2)) - sum(one.score(moved) for one in kept)

    bounds = [(value - STEP, value + STEP) for value in start[: len(names)]]
    bounds += [(value - STEP, min(value + STEP, max(value, WIDEST))) for value in start[len(names) :]]
    found = minimize(loss, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": ITERATIONS})
    return _priors(found.x, names, priors)


def windows(rows: np.ndarray, horizon: int, season: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rows before and after each origin, the last origin first."""
    origins = [len(rows) - horizon * (i + 1) for i in range(ORIGINS)]
    enough = [one for one in origins if one == origins[0] or one >= max(FEWEST[0], FEWEST[1] * season)]
    return [(rows[max(0, one - MOST) : one], rows[one : one + horizon]) for one in enough]


def drawn(
    past: np.ndarray, ahead: np.ndarray, season: int, both: dict[str, Priors], growth: str = "line"
) -> list[Window]:
    """The draws of the structural model of `past` on each scale, with the densities of `ahead`; none if all rows are
    alike."""
    if np.ptp(past) == 0.0:
        return []
    times = np.arange(len(past) + len(ahead), dtype=float)
    known = times[: len(past)]
    x = ((times - known.mean()) / known.std())[:, None]
    clock = Clock.of(x[: len(past), 0], [season / known.std()] if season > 1 else [])
    series = Problem(x[: len(past)], past, timed=True)
    fits = [
        _drawn(pool_fit(series, Beliefs(clock, both[scale.name], growth=growth), scale), past, x, ahead)
        for scale in series.scales
        if scale.name in both
    ]
    unit = float(np.log(np.mean(np.abs(np.diff(past)))))
    shares = shares_of([one.height for one in fits])
    return [
        Window(one, one.log_prior(both[one.scale]), unit, float(share))
        for one, share in zip(fits, shares, strict=True)
        if share > SMALLEST_SHARE
    ]


def _drawn(contender: Contender, past: np.ndarray, x: np.ndarray, ahead: np.ndarray) -> Drawn:
    mode, count = contender.structure.mode, len(past)
    assert mode is not None
    # a density that is the same everywhere moves no draw: `values` are the draws of Laplace's approximation itself
    models, z = mode.models(DRAWS, lambda u: 0.0)[1:], contender.scale.forward(past)
    posterior = LaplacePosterior(tuple(exact_posterior(one, x[:count], z) for one in models))
    mean, variance = posterior.draws(x[count:])
    variance = np.maximum(variance, 0.0) + np.array([one.noise for one in models])[:, None]
    reached = contender.scale.reached(ahead)
    possible = np.isfinite(reached)
    each = -0.5 * ((reached - mean) ** 2 / variance + np.log(2.0 * np.pi * variance))
    slopes = contender.scale.log_slopes(np.where(possible, ahead, 1.0))
    values = np.tile(mode.u, (DRAWS, 1))
    values[:, mode.moving] = mode.laplace.draws(DRAWS)
    named = contender.evaluator.beliefs.names(mode.model)
    kept = [(place, one) for place, one in enumerate(named) if one is not None and place in mode.moving]
    return Drawn(
        names=tuple(name for _, (name, _, _) in kept),
        values=np.stack([(values[:, place] + offset) * factor for place, (_, offset, factor) in kept], axis=1),
        densities=np.where(possible, each + slopes, -np.inf),
        height=contender.height,
        scale=contender.scale.transform.name,
    )


def _vector(priors: Priors, names: Sequence[str]) -> np.ndarray:
    """All means, then the log spreads of those that are log-normal."""
    spreads = [np.log(priors[name].sd) for name in names if name in TIMES]
    return np.array([*(priors[name].mean for name in names), *spreads])


def _priors(vector: np.ndarray, names: Sequence[str], others: Priors) -> Priors:
    """The inverse of `_vector`; what it does not hold is that of `others`."""
    spreads = dict(zip([name for name in names if name in TIMES], np.exp(vector[len(names) :]), strict=True))
    moved = {
        name: LogNormal(float(mean), float(spreads.get(name, others[name].sd)))
        for name, mean in zip(names, vector, strict=False)
    }
    return {**others, **moved}
