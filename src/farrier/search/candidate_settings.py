"""Settings of what is tried: periods of a series, candidates, starts of named kernels. Part of `SearchSettings`."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class PeriodSettings:
    """Periods from the peaks of the periodogram."""

    fewest: int = 8
    """Fewest rows, and fewest steps between neighbours in the range, for which periods are looked for.
    [rows; by judgement]"""
    repeats: float = 3.0
    """Times that a cycle must repeat in the range. [cycles; by judgement]"""
    frequencies_per_peak: int = 8
    """Frequencies tried over the width of one spectral peak. [frequencies; by judgement]"""
    highest: float = 5.0
    """Highest frequency of rows off a grid: where rows are dense, shorter cycles can be seen.
    [cycles for each row on average; by judgement]"""
    harmonics: int = 3
    """Harmonics, the first included, that are fitted and removed with a period. [harmonics; by judgement]"""
    smallest_power: float = 0.01
    """Power of the smallest peak. [part of the variance that is left; by judgement]"""
    prominence: float = 6.0
    """Power of a peak over the median power of its neighbourhood. [ratio; by judgement]"""
    strong_power: float = 0.15
    """Power from which the strongest peak needs no prominence. [part of the variance; by judgement]"""
    apart: float = 2.5
    """Smallest difference of two frequencies: a cycle that grows has sidebands.
    [cycles in the range; by judgement]"""
    same: float = 0.04
    """Relative difference below which a period is taken to be a known one. [part of the period; by judgement]"""
    rounding: float = 1e-10
    """Squares below which what two waves do not share, or a fit leaves, is rounding.
    [part of the largest square; by judgement]"""


@final
@dataclass(frozen=True)
class CandidateSettings:
    """The kernels that are tried, and when two of them count as the same."""

    lengthscales: tuple[float, ...] = (1.0, 0.5, 0.25, 0.12, 0.06, 0.03, 0.015)
    """Starting lengthscales of smooth kernels. [part of the range; by judgement]"""
    rough_lengthscales: tuple[float, ...] = (0.3, 0.05)
    """Starting lengthscales of rough kernels (Matern 1/2). [part of the range; by judgement]"""
    shortest_lengthscale: float = 1.2
    """Shortest starting lengthscale. [steps between neighbours; by judgement]"""
    ordinary_lengthscales: tuple[float, ...] = (1.0, 0.3, 0.1, 0.03)
    """Lengthscales of the ordinary candidates, which start the search and predict beside the survivors.
    [part of the range; by judgement]"""
    ordinary_growth: float = 0.6
    """Lengthscale of the growing one among the ordinary candidates. [part of the range; by judgement]"""
    growing_from: float = 0.3
    """Distance before the first row at which a line that others grow along is zero.
    [part of the range; by judgement]"""
    grown_lengthscales: tuple[float, ...] = (0.5, 2.0)
    """Lengthscales of the drift by which a component is multiplied. [part of the range; by judgement]"""
    rough_replacements: tuple[float, ...] = (1.0, 0.3)
    """Lengthscales of the smooth kernel tried in the place of a rough one.
    [part of the rough kernel's lengthscale; by judgement]"""
    most_factors: int = 3
    """Most factors of a product, changepoints not counted. [factors; by judgement]"""

    most_periods: int = 3
    """Most periods of the data that are tried. [periods; by judgement]"""
    shortest_period: float = 2.5
    """Shortest known period that is tried. [steps between neighbours; by judgement]"""
    longest_period: float = 0.5
    """Longest known period that is tried. [part of the range; by judgement]"""
    shapes: tuple[float, ...] = (1.0, 0.5)
    """Starting lengthscales of a periodic kernel; cycles that drift or grow start at the first.
    [lengthscale on the circle; by judgement]"""
    drifts: tuple[float, ...] = (1.0, 0.3, 0.1)
    """Lengthscales over which a cycle changes. [part of the range; by judgement]"""
    shortest_drift: float = 1.5
    """Shortest lengthscale over which a cycle changes. [periods; by judgement]"""

    changepoint_width: float = 0.25
    """Starting width of a changepoint. [steps between neighbours; by judgement]"""
    changepoint_lengthscales: tuple[float, ...] = (0.5, 0.12)
    """Lengthscales of smooth kernels on one side of a changepoint. [part of the range; by judgement]"""
    side_lengthscales: tuple[float, ...] = (0.3, 0.1, 0.03)
    """Lengthscales of the simple kernels that are compared on the two sides of a split.
    [part of the range; by judgement]"""
    side_repeats: float = 2.0
    """Times that a cycle must repeat on its side of a changepoint. [cycles; by judgement]"""

    input_lengthscales: tuple[float, ...] = (3.0, 1.0)
    """Starting lengthscales of one input of a table. [standard deviations of the input; by judgement]"""
    joint_lengthscales: tuple[float, ...] = (2.0, 0.7)
    """Starting lengthscales of all inputs of a table together, to be multiplied by the root of their number.
    [standard deviations of an input; by judgement]"""
    pair_lengthscale: float = 2.0
    """Starting lengthscale of two inputs of a table together. [standard deviations of an input; by judgement]"""
    paired_inputs: int = 6
    """Inputs that are tried in pairs, those with the highest correlation first. [inputs; by judgement]"""

    same_lengthscale: float = 0.35
    """Difference up to which two candidates have the same lengthscale. [log of the lengthscale; by judgement]"""
    same_ordinary_lengthscale: float = 1.0
    """Difference up to which two ordinary candidates have the same lengthscale.
    [log of the lengthscale; by judgement]"""
    same_candidate_period: float = 0.03
    """Difference up to which two candidates have the same period. [log of the period; by judgement]"""
    same_period: float = 0.05
    """Difference below which two components have the same period. [log of the period; by judgement]"""
    same_candidate_changepoint: float = 0.05
    """Distance up to which two candidates have the same changepoint.
    [standard deviations of the input; by judgement]"""
    same_changepoint: float = 0.3
    """Distance below which two components have the same changepoint.
    [standard deviations of the input; by judgement]"""


@final
@dataclass(frozen=True)
class StartSettings:
    """Starts of kernels that the user names, weak and strong as in Kim and Teh (2018)."""

    spread: float = 0.5
    """Standard deviation of the log of a starting value about its centre. [log of the value; by judgement]"""
    most_periods: int = 4
    """Most periods of the data from which strong cycles start in turn. [periods; by judgement]"""
