"""The array library as an argument, so that formulas of priors and likelihoods work with numpy and with jax.

A formula that both need is written once and takes a `World`: `world.xp` is numpy or jax.numpy, `world.special` is
scipy.special or jax.scipy.special. `NUMPY` is defined here, the one of jax in paper/.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import special


@final
@dataclass(frozen=True)
class World:
    """An array library: its functions, its special functions, and its way to stop derivatives."""

    xp: Any
    special: Any
    constant: Callable[[Any], Any]
    """Treats a value as a constant when derivatives are taken."""


NUMPY = World(np, special, lambda value: value)
"""numpy and scipy."""
