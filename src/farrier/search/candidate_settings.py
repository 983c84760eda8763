"""Settings of the candidates: periods of a series, kernels to try, starting values. Part of `SearchSettings`."""

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
    """Highest frequency for irregular rows, and for those on a grid with gaps: where rows are dense, short cycles can
    be found.
    [cycles for each row on average; by judgement]"""
    harmonics: int = 3
    """Harmonics, the first included, that are fitted and removed with a period. [harmonics; by judgement]"""
    smallest_power: float = 0.01
    """Lowest power of a peak. [part of the residual variance; by judgement]"""
    prominence: float = 6.0
    """Lowest ratio of the power of a peak to the median power of its neighbourhood. [ratio; by judgement]"""
    strong_power: float = 0.15
    """Power from which the strongest peak needs no prominence. [part of the variance; by judgement]"""
    apart: float = 2.5
    """Smallest difference between two frequencies: a cycle whose amplitude grows has sidebands.
    [cycles in the range; by judgement]"""
    same: float = 0.04
    """Relative difference below which a period is replaced by a known one. [part of the period; by judgement]"""
    rounding: float = 1e-10
    """Relative size below which squares in the least-squares fit of waves count as rounding errors.
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
    least_correlation: float = 0.3
    """Correlation of neighbouring rows below which a component is noise. [correlation; by judgement]"""
    ordinary_lengthscales: tuple[float, ...] = (1.0, 0.3, 0.1, 0.03)
    """Lengthscales of the ordinary candidates of one input that is not time. [part of the range; by judgement]"""
    ordinary_growth: float = 0.6
    """Lengthscale of the ordinary candidate whose amplitude grows. [part of the range; by judgement]"""
    growing_from: float = 0.3
    """Distance before the first row at which the linear factor of a growing component is zero.
    [part of the range; by judgement]"""
    grown_lengthscales: tuple[float, ...] = (0.5, 2.0)
    """Lengthscales of the smooth kernel by which a component is multiplied. [part of the range; by judgement]"""
    rough_replacements: tuple[float, ...] = (1.0, 0.3)
    """Lengthscales of the smooth kernel that is tried in place of a rough one.
    [part of the rough kernel's lengthscale; by judgement]"""
    most_factors: int = 3
    """Most factors of a product, changepoints not counted. [factors; by judgement]"""

    most_periods: int = 3
    """Most periods found in the data that are tried. [periods; by judgement]"""
    shortest_period: float = 2.5
    """Shortest known period that is tried. [steps between neighbours; by judgement]"""
    longest_period: float = 0.5
    """Longest known period that is tried. [part of the range; by judgement]"""
    shapes: tuple[float, ...] = (1.0, 0.5)
    """Starting lengthscales of a periodic kernel; cycles that drift or grow start at the first.
    [radians; by judgement]"""
    drifts: tuple[float, ...] = (1.0, 0.3, 0.1)
    """Lengthscales over which the shape of a cycle changes. [part of the range; by judgement]"""
    shortest_drift: float = 1.5
    """Shortest lengthscale over which the shape of a cycle changes. [periods; by judgement]"""

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
    """Starting lengthscales of all inputs of a table together, times the square root of their number, where the noise
    is not Gaussian. [standard deviations of an input; by judgement]"""
    joint_lengthscale: float = 1.0
    """Starting lengthscale of the smooth kernel of all inputs of a table, times the square root of their number.
    [standard deviations of an input; measured on inner splits of seven shared tables]"""
    rough_joint_lengthscale: float = 3.0
    """The same for the rough kernel.
    [standard deviations of an input; measured on inner splits of seven shared tables]"""
    ordinary_input_lengthscale: float = 2.0
    """Starting lengthscale of each input in the ordinary candidates of a table and in interactions.
    [standard deviations of the input; measured on inner splits of seven shared tables]"""
    paired_inputs: int = 6
    """Most inputs that are tried in pairs where the noise is not Gaussian, and most numbers that are tried times a
    category: those with the highest correlation with the residual. [inputs; by judgement]"""
    interactions: int = 4
    """Pairs and triples of inputs that are tried in a round: those with the highest score. [sets; by judgement]"""
    interaction_lengthscale: float = 1.5
    """Lengthscale of each input in the score for an interaction.
    [standard deviations of the input; by judgement]"""
    most_triples: int = 300
    """Most triples of inputs; if there are more, only pairs get a score. [triples; by judgement]"""
    powers: tuple[float, float, int] = (-2.0, 4.0, 61)
    """Lowest and highest power of the transform of an input, and how many are tried. [powers; by judgement]"""
    straight_power: float = 0.35
    """Difference to 1 below which an input is not transformed. [power; by judgement]"""

    thresholds: int = 2
    """Jumps, and bends, that are tried in a round: those with the highest gain. [candidates; by judgement]"""
    fewest_values: int = 8
    """Fewest distinct values of an input that is transformed, and that has jumps and bends. [values; by judgement]"""
    threshold_rows: float = 0.05
    """Fewest rows on either side of a jump or bend. [part of the rows; by judgement]"""
    threshold_places: int = 120
    """Most places of an input at which a jump and a bend are tried. [places; by judgement]"""

    category_products: int = 40
    """Most products with a category that are tried in one round; those of inputs that are found come first.
    [products; by judgement]"""

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
class ColumnSettings:
    """How the columns of a table become inputs: which identify rows, and which empty cells get an effect."""

    fewest_identified: int = 12
    """Fewest rows of which a column can be said to identify each. [rows; by judgement]"""
    free_text: float = 0.5
    """Number of different texts above which a column is left out: fewer than two rows a level tell next to nothing.
    [part of the rows; by judgement]"""
    fewest_empty: int = 3
    """Fewest empty cells of a number for which an effect of being empty is tried. [cells; by judgement]"""
    least_days: float = 300.0
    """Range of dates from which the month is an input. [days; by judgement]"""


@final
@dataclass(frozen=True)
class PriorSettings:
    """Priors of weights that were not learned."""

    scale: float = 0.5
    """Prior scale of the weight of a component for which none was learned, and weight at which an added one starts.
    [standard deviations of y; by judgement]"""
    bend_places: float = 10.0
    """Places of a bend in the effect of a number that data tell apart; a jump has one in every gap between rows.
    [places; by judgement]"""
    smallest_weight: float = 1e-3
    """Smallest weight at the start of a fit. [standard deviations of y; by judgement]"""
    rounding: float = 1e-6
    """Relative difference up to which two periods are the same. [part of the period; by judgement]"""


@final
@dataclass(frozen=True)
class StartSettings:
    """Starting values of kernels that the user names, weak and strong as in Kim and Teh (2018)."""

    spread: float = 0.5
    """Standard deviation of the log of a starting value about its centre. [log of the value; by judgement]"""
    most_periods: int = 4
    """Most periods found in the data, at which strong cycles start in turn. [periods; by judgement]"""
    short_rows: int = 10
    """Lengthscales and shortest typical periods of the starting values of the paper's authors. [rows; by judgement]"""


@final
@dataclass(frozen=True)
class ShareSettings:
    """Shares of the variance of a table's function."""

    draws: int = 200
    """Draws of the function from which intervals come. [draws; by judgement]"""
    parameters: int = 5
    """Most draws of the parameters among them. [draws; by judgement]"""
    rows: int = 2000
    """Rows of independent inputs over which the variance of the mean of the function is computed.
    [rows; by judgement]"""
    drawn_rows: int = 200
    """Rows of independent inputs over which the function is drawn jointly. [rows; by judgement]"""
    points: int = 24
    """Values of an input at which its effect is computed. [values; by judgement]"""
    discrete: int = 8
    """Number of distinct values below which those of an input are taken as they are. [values; by judgement]"""
    levels: int = 5
    """Levels of the orthogonal array of the other inputs over which an effect is an average; its rows are their square.
    [levels, a prime number; by judgement]"""
    side: int = 6
    """Values of each of two inputs at which their interaction is computed. [values; by judgement]"""
    pair_levels: int = 3
    """The same as `levels` for two inputs. [levels, a prime number; by judgement]"""
    paired: int = 4
    """Inputs whose pairs are looked at, those that move the function most. [inputs; by judgement]"""
