"""Effects on a chance as changes of odds: from the probit scale, on which components add up, to factors.

An effect e turns an even chance into Phi(e), and hence even odds into Phi(e) / (1 - Phi(e)) to one.
"""

import math

from farrier.explain.facts import Axis, Estimate
from farrier.explain.numbers import number, significant

LARGEST = 4.0
"""Largest effect that is told, on the probit scale; by judgement: beyond it odds are over 30,000 to one."""
LEAST = 0.1
"""Effect of a step along a line that is told, at least, on the probit scale; by judgement: odds change by 17 %."""


def odds(effect: float) -> float:
    """The odds to one that an effect makes of even odds."""
    chance = 0.5 * math.erfc(-min(max(effect, -LARGEST), LARGEST) / math.sqrt(2.0))
    return chance / (1.0 - chance)


def times(effect: Estimate, *, interval: bool = True) -> str:
    """The factor of the odds: 'odds times 2.10 (1.60 to 2.80)'."""
    found = Estimate(odds(effect.value), odds(effect.low), odds(effect.high))
    return f"odds times {number(found, '') if interval else significant(found.value, 2)}"


def along(slope: Estimate, axis: Axis) -> str:
    """A line: 'every 10 units of age: odds times 1.32 (1.20 to 1.45)'."""
    step = 10.0 ** max(math.ceil(math.log10(LEAST / max(abs(slope.value), 1e-12))), 0)
    step = min(step, 10.0 ** math.ceil(math.log10(max(axis.high - axis.low, 1e-12))))
    unit = axis.unit or f"unit{'' if step == 1.0 else 's'} of {axis.name}"
    effect = Estimate(step * slope.value, step * slope.low, step * slope.high)
    return f"every {'' if step == 1.0 else f'{step:g} '}{unit}: {times(effect)}"
