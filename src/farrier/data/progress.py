"""The message that a progress callback gets during a fit."""

import math
from typing import NamedTuple


class Progress(NamedTuple):
    """The state of a fit."""

    phase: str
    """The current phase, such as "growing the structure", "fitting", "compiling"."""
    step: int
    """Steps done so far."""
    steps: int
    """Steps in total; 0 if unknown."""
    bound: float
    """The current evidence lower bound; NaN if there is none yet."""
    done: float = math.nan
    """The part of the fit that is done, from 0 to 1; NaN if unknown."""
    left: float = math.nan
    """Seconds that the fit will still take, by estimate; NaN if unknown."""
