"""How large a change of a series is: the level at which growth ends, the slopes around a break, the size of a shock.

The level is where the model that predicts goes far beyond the data, without seasons and without what wanders, over all
draws of its parameters: those of one structure alone know it far too well.
"""

from typing import Any

import numpy as np
from scipy.stats import norm

from farrier.explain.course_words import OPEN
from farrier.explain.facts import Estimate
from farrier.explain.measures import Say, along, difference_of, estimate
from farrier.inference.posteriors import LaplacePosterior
from farrier.kernels.algebra import Base, Kernel
from farrier.kernels.registry import Bend, Constant, DampedTrend, Linear, Saturating, Shock, Step
from farrier.model.fitted import Fitted
from farrier.model.result import Result
from farrier.search.candidates import acts_on

FAR = 1e6
"""How far beyond the data the level is read off. [ranges of the data]"""
QUANTILES = (np.arange(50) + 0.5) / 50
"""The quantiles that stand for the distribution of the level for each draw of the parameters."""
SLOWED = 0.8
"""The last slope of growth over its largest, below which it has slowed. [ratio; by judgement]"""
NEAR = 1e-6
"""Distance of two places that are the same, and from a place to what is before it. [standard deviations of time]"""


def course_facts(result: Result, i: int, say: Say) -> dict[str, Any]:
    """What component i is, if it is a change of a series, as fields of `Facts`."""
    factors = result.explained.explaining.kernels[i].products()[0]
    if len(factors) != 1:
        return {}
    (factor,) = factors
    if isinstance(factor, Saturating):
        return _ending(result, factor)
    if isinstance(factor, Bend):
        return {"slopes_around": _slopes(result, factor, say)}
    if isinstance(factor, Shock):
        place = float(np.ravel(factor.location)[0])
        x = result.inputs[:, 0]
        first = float(np.min(x[x > place], initial=x.max()))
        ends = along(result, 0, _units(result, [place - NEAR, first]))
        return {
            "jump": estimate(
                *difference_of(result.explained.explaining.posterior, [i], ends), result.explained.scale.sd, say
            )
        }
    return {}


def _ending(result: Result, factor: Saturating) -> dict[str, Any]:
    """Whether growth has slowed, and where it ends."""
    x = np.sort(result.inputs[:, 0])
    v = np.sqrt(factor.replace(dims=None).diag(np.linspace(x[0], x[-1], 200)[:, None]))
    slopes = np.diff(v)
    level = level_of(result.explained, result.inputs.shape[1])
    found: dict[str, Any] = {"slows": bool(slopes[-1] < SLOWED * slopes.max())}
    if level is None:
        return found
    first = float(result.target[np.argmin(result.inputs[:, 0])])
    wide = level.high - level.low > OPEN * abs(level.value - first)
    return found | {"level": level, "open_level": bool(wide)}


def level_of(fitted: Fitted, inputs: int) -> Estimate | None:
    """The level at which growth ends, with its 95 % interval, in units of y; None if no model has one."""
    values, shares = list[np.ndarray](), list[np.ndarray]()
    far = np.zeros((1, inputs))
    far[0, 0] = FAR
    for one in (fitted, *fitted.others):
        drawn = one.posterior.posteriors if isinstance(one.posterior, LaplacePosterior) else (one.posterior,)
        parts = [k for k, kernel in enumerate(one.kernels) if _lasting(kernel)]
        if not any(isinstance(one.kernels[k].products()[0][0], Saturating) for k in parts):
            continue
        for posterior in drawn:
            mean, covariance = posterior.joint(far, np.array(parts))
            values.append(one.scale.inverse(norm.ppf(QUANTILES, mean[0], np.sqrt(max(covariance[0, 0], 0.0)))))
            shares.append(np.full(len(QUANTILES), one.share / len(drawn)))
    if not values:
        return None
    level, share = np.concatenate(values), np.concatenate(shares)
    order = np.argsort(level)
    reached = np.cumsum(share[order]) / share.sum()
    value, low, high = (float(level[order][np.searchsorted(reached, part)]) for part in (0.5, 0.025, 0.975))
    return Estimate(value, low, high)


def _lasting(kernel: Kernel) -> bool:
    """Whether a component of time has a level far beyond the data."""
    factors = kernel.products()[0]
    return all(isinstance(one, Saturating | Step | Constant) for one in factors) and not acts_on(kernel)


def _slopes(result: Result, factor: Bend, say: Say) -> tuple[Estimate, Estimate]:
    """The mean slopes of all growth together before and after a bend, as far as the next ones."""
    kernels, posterior = result.explained.explaining.kernels, result.explained.explaining.posterior
    straight = [k for k, kernel in enumerate(kernels) if _straight(kernel)]
    place, x = float(np.ravel(factor.location)[0]), np.sort(result.inputs[:, 0])
    factors = [kernels[k].products()[0][0] for k in straight]
    bends = [float(np.ravel(one.location)[0]) for one in factors if isinstance(one, Bend)]
    before = max([x[0], *(at for at in bends if at < place - NEAR)])
    after = min([x[-1], *(at for at in bends if at > place + NEAR)])
    unit = result.explained.scale.sd / float(result.scale.x_scale[0])
    found = []
    for low, high in ((before, place), (place, after)):
        value, sd = difference_of(posterior, straight, along(result, 0, _units(result, [low, high])))
        found.append(estimate(value, sd, unit / max(high - low, NEAR), say))
    return found[0], found[1]


def _straight(kernel: Kernel) -> bool:
    return any(_is(kernel, one) for one in (Bend, Linear, DampedTrend)) and not acts_on(kernel)


def _is(kernel: Kernel, family: type[Base]) -> bool:
    factors = kernel.products()[0]
    return len(factors) == 1 and isinstance(factors[0], family)


def _units(result: Result, places: list[float]) -> list[float]:
    """Times on the scale of the model in the user's units."""
    return [place * float(result.scale.x_scale[0]) + float(result.scale.x_mean[0]) for place in places]
