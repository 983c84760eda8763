"""What a callback is told while a fit runs."""

from typing import NamedTuple


class Progress(NamedTuple):
    """One message."""

    phase: str
    """What is being done, such as "looking for components", "fitting", "compiling"."""
    step: int
    steps: int
    """0 where nobody knows how many there will be."""
    bound: float
