"""The settings of long series of one input: the rows that are looked at, and the fit by the linear tier.

Each setting says in brackets its unit and the origin of its value, as in settings.py.
"""

from dataclasses import dataclass
from typing import final

from farrier.inference.linear_plan import FeatureLimits


@final
@dataclass(frozen=True)
class LongSettings:
    """Series of one input with more rows than exact inference takes."""

    search: int = 300
    """Rows of the search, in windows of ever longer steps.
    [rows; measured on GEFCom: 15 s and an RMSE of 0.067, with 400 rows 21 s and 0.066]"""
    ratio: int = 4
    """The step of each of these windows over that of the window before. [ratio; by judgement]"""
    pieces: int = 6
    """Contiguous pieces among the rows to which hyperparameters are fitted, the last at the end.
    [pieces; by judgement]"""
    length: int = 800
    """Rows of each of these pieces. [rows; by judgement]"""
    spread: int = 1200
    """Rows over the whole series among these rows. [rows; by judgement]"""
    tolerance: float = 0.5
    """Gain of five iterations below which a fit ends. [nats; by judgement]"""
    start_noise: float = 0.005
    """Lowest noise variance at the start of a fit: few rows can leave next to none. [variance of y; by judgement]"""
    memory: float = 10.0
    """Lengthscale at the start of a rough component that is tried beside the structure.
    [distances of neighbouring rows; by judgement]"""
    copies: int = 2
    """Most Markov processes of an ordinary candidate that is tried beside the structure: more take long.
    [processes; by judgement]"""
    draws: int = 4
    """Draws of the weights over which predictions with given kernels integrate.
    [draws, a power of two; by judgement]"""
    limits: FeatureLimits = FeatureLimits()
    """Limits for features and Markov processes."""
