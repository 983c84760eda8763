"""The two numerical worlds in which formulas of priors and likelihoods are worked out: numpy here, jax in paper/.

A formula that both need is written once, with the world as an argument: `world.xp` is numpy or jax.numpy,
`world.special` scipy.special or jax.scipy.special.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import special


@final
@dataclass(frozen=True)
class World:
    """Where arrays live."""

    xp: Any
    special: Any
    constant: Callable[[Any], Any]
    """Marks a value through which no derivative is taken."""


NUMPY = World(np, special, lambda value: value)
