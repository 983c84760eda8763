"""The message that a progress callback gets during a fit."""

from typing import NamedTuple


class Progress(NamedTuple):
    """The state of a fit."""

    phase: str
    """The current phase, such as "looking for components", "fitting", "compiling"."""
    step: int
    """Steps done so far."""
    steps: int
    """Steps in total; 0 if unknown."""
    bound: float
    """The current evidence lower bound; NaN if there is none yet."""
