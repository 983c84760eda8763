"""All settings of the search for a structure, and of the fits before and after it, in one frozen object.

`SearchSettings` holds small groups of settings. `learn(X, y, settings=SearchSettings())` uses them, and the fitted
model keeps them. To change a setting, build its group:

    SearchSettings(growing=GrowingSettings(rounds=1))

The docstring below each setting gives its meaning and, in brackets, its unit and the origin of its value: a measurement
(see `git show <commit>`) or "by judgement". `SearchSettings.describe` reads these docstrings. Variances and weights are
for a target with variance one; lengths and locations are for standardised inputs.
"""

from dataclasses import asdict, dataclass
from typing import Any, final

from farrier.search.candidate_settings import (
    CandidateSettings,
    ColumnSettings,
    PeriodSettings,
    PriorSettings,
    ShareSettings,
    StartSettings,
)
from farrier.search.described import Setting, described
from farrier.search.inducing_settings import BlockSettings, InducingSettings
from farrier.search.long_settings import LongSettings
from farrier.search.stacking_settings import StackingSettings


@final
@dataclass(frozen=True)
class RowSettings:
    """The rows of the search, and the limit of exact inference."""

    exact: int = 1000
    """Most rows for which exact inference is used with `method="auto"`. [rows; by judgement]"""
    search: int = 300
    """Most rows of one input that the search uses; it uses all of fewer. A structural model is fitted to as many, the
    last ones; where they hold too few of the longest season (`periods.repeats`), to every second (third, ...) row of a
    longer time. [rows; by judgement]"""
    part: int = 400
    """Most rows of a table that the search uses; more rows are predicted by interactions of all orders too, which on
    yacht and servo raised the error. [rows; commit 27ef618: time of concrete, 193 s before, 56 s after]"""
    fit: int = 800
    """Most rows of a table to which the members of the average are fitted; all rows predict.
    [rows; by judgement]"""
    exact_table: int = 2000
    """Most rows of a table for which exact inference is used with `method="auto"`. [rows; by judgement]"""
    predict: int = 10_000
    """Most rows given which the pools of a larger table predict: a Cholesky factor of 9 s and 800 MB each.
    [rows; measured on one core]"""
    pieces: int = 4
    """Contiguous pieces of a long series among the rows of the search, the last at its end; and neighbourhoods among
    the rows to which the members of a large table are fitted.
    [pieces; by judgement]"""


@final
@dataclass(frozen=True)
class FitSettings:
    """How long the bound is optimised, and with how many draws of the weights."""

    start_noise: float = 0.1
    """Noise variance at the start of a fit. [variance of y; by judgement]"""
    iterations: int = 35
    """Most L-BFGS iterations of a fit in the search, of a known structure to other rows, and to the rows of a long
    series or a sample of a large table. [iterations; by judgement]"""
    tolerance: float = 0.2
    """Gain of five iterations below which a fit in the search ends.
    [nats; commit 3c12d3f: evaluations to the maximum for airline, radio and call centre]"""
    short_iterations: int = 10
    """Most L-BFGS iterations after a component is removed or simplified. [iterations; by judgement]"""
    final_iterations: int = 80
    """Most L-BFGS iterations for the first pool of candidates and for models that predict.
    [iterations; by judgement]"""
    final_tolerance: float = 0.05
    """Gain of five iterations below which these fits end. [nats; commit 7863919: score on 11 splits of five tables]"""
    given_tolerance: float = 0.005
    """Gain of five iterations below which a fit of given kernels ends. [nats; measured on 12 made series of 36 to 400
    rows: bounds end within 0.004 nats of the maximum, standard deviations of predictions within 0.2 %; with 0.002 nats
    per row, the tolerance of stochastic training, up to 7 nats below it and 10 %]"""
    newton_part: float = 0.1
    """Gain of a step of Newton's method, with which a fit ends, below which no other step is made.
    [part of the tolerance; measured on 30 series, whose forecasts stay with another ninth digit of y]"""
    final_draws: int = 4
    """Draws of the weights in the fit of the pool that predicts. [draws, a power of two; by judgement]"""
    bound_draws: int = 64
    """Draws of the weights with which bounds of pools are compared, averaged and reported: with 4 draws in 20
    dimensions reported bounds were 1.7 to 7.2 nats above their values with 4,096.
    [draws, a power of two; measured for version 0.1.0]"""
    collapsed_rounds: int = 2
    """Times that inducing points are chosen during the collapsed fit of the pool that predicts.
    [rounds; by judgement]"""
    curvature_rows: int = 200
    """Rows of a table at which the curvature of the log posterior is computed; that of more rows is in proportion.
    [rows; measured on boston: with all rows it took 60 % of the time of a search]"""


@final
@dataclass(frozen=True)
class ScreeningSettings:
    """The values at which a candidate is evaluated, with all other parameters fixed, before it is fitted."""

    squared_weights: tuple[float, ...] = (0.03, 0.3, 2.0)
    """Squared weights at which a candidate is tried. [parts of three times the noise variance; by judgement]"""
    noise_factors: tuple[float, ...] = (1.0, 0.4)
    """Noise variances at which a candidate is tried. [parts of the noise variance; by judgement]"""
    ranked: int = 12
    """Additional components that are evaluated after a score test has ranked all. [components; by judgement]"""
    probes: int = 16
    """Vectors of random signs that estimate the information of a score test. [vectors; by judgement]"""
    latent_variance: float = 0.3
    """Replaces the noise variance in the squared weights if each row has its own known noise.
    [variance of the latent function; by judgement]"""


@final
@dataclass(frozen=True)
class GrowingSettings:
    """Which components are added to a structure, replaced and dropped."""

    work: float = 2e10
    """Evaluations, each times the cube of the rows, after which the search ends with what it has found.
    [evaluations times rows cubed, some 3 s, reached by series of more than 200 rows; by judgement]"""
    rounds: int = 9
    """Most rounds in which a component is added. [rounds; by judgement]"""
    tries_beside: int = 2
    """Candidates fitted in a round as an additional component. [fits; by judgement]"""
    tries_in_place: int = 1
    """Candidates fitted in a round in place of a component.
    [fits; commit 944a31d: score on 56 public and made series]"""
    refit_gain: float = 0.5
    """Gain of log evidence below which a structure that has the same components as before is not a new one.
    [nats; by judgement]"""
    strong_evidence: float = 5.0
    """Log evidence that a structure of a series needs against noise alone and against a random walk, a level that
    returns to its mean against one that wanders, two sides of a split against one simple kernel, and a rough component
    that only all rows of a long series show; for a table in a file, the log posterior density of each thousand rows
    that the ordinary candidates need beside the structure. Odds of 150 to 1 are called very strong by Kass and Raftery
    (1995). [nats; by judgement]"""
    noise_factor: float = 0.7
    """Noise variance at the start of a fit with an added component. [parts of the variance before; by judgement]"""
    prune_margin: float = 3.0
    """Loss of score against the structure before, up to which a grown structure is pruned.
    [nats; by judgement]"""
    hopeless_margin: float = 6.0
    """Loss of score against the structure before, from which a move is not fitted further; and against the best end of
    a search, or the best scale of the target, from which another one is not searched further.
    [nats; measured for ends on 122 learn series, of which one became the best from further below; else by judgement]"""
    doubtful_margin: float = 4.0
    """Loss of log evidence without a component, minus its price, below which a fit without it is tried.
    [nats; by judgement]"""
    doubtful_tries: int = 2
    """Components whose removal is fitted in one pass, those with the smallest loss first. [fits; by judgement]"""
    smallest_size: float = 0.03
    """Standard deviation over the rows below which a component of the first pool is dropped.
    [standard deviations of y; by judgement]"""
    most_kept: int = 8
    """Most components of the first pool that are kept as a start. [components; by judgement]"""
    start_margin: float = 15.0
    """Difference to the best score, within which a search goes on from two regimes.
    [nats; by judgement]"""
    flat_lengthscales: tuple[float, ...] = (5.0, 10.0, 20.0)
    """Lengthscales above which the kernel is tried without that input.
    [standard deviations of the input; commit 7863919: score on 11 splits of five tables]"""


@final
@dataclass(frozen=True)
class ChangepointSettings:
    """The locations at which changepoints are tried."""

    splits: tuple[float, ...] = tuple(k / 10 for k in range(2, 9))
    """Locations of a single changepoint between two simple kernels. [part of the rows; by judgement]"""
    split_noise: tuple[float, ...] = (0.05, 0.3)
    """Noise variances at which the two sides of a split are compared. [variance of y; by judgement]"""
    split_weight: float = 0.7
    """Weight at which each side of a split starts. [standard deviations of y; by judgement]"""
    split_fits: int = 2
    """Splits that are fitted, those of the highest evidence first. [fits; by judgement]"""
    places: int = 60
    """Locations at which a changepoint that was found is tried again. [locations; by judgement]"""


@final
@dataclass(frozen=True)
class ScaleSettings:
    """The choice of the scale of the target: identity, logarithm or square root."""

    pool_margin: float = 30.0
    """Difference to the best bound, within which a scale is searched, and within which the first pool may predict too.
    [nats; by judgement]"""
    log_preference: float = 1.0
    """Prior log odds of the logarithm against the identity: positive values with a wide range mostly vary in per cent.
    [nats; by judgement]"""
    square_root_preference: float = -8.0
    """Prior log odds of the square root against the identity: components on a square root scale are hard to read.
    [nats; by judgement]"""
    smallest_ratio: float = 1.5
    """Largest over smallest value of y below which only the identity is tried. [ratio; by judgement]"""

    def preference(self, name: str) -> float:
        """Prior log odds of a scale against the identity."""
        return {"log": self.log_preference, "square root": self.square_root_preference}.get(name, 0.0)


@final
@dataclass(frozen=True)
class AveragingSettings:
    """The structures that predict together, weighted by their evidence."""

    draws: int = 24
    """Draws of all parameters from Laplace's approximation over which predictions average, beside the modes; each
    structure has its share of them. [draws, even; by judgement]"""
    table_draws: int = 8
    """The same for a table with more rows than `rows.search`. [draws, even; by judgement]"""
    explaining_share: float = 0.25
    """Draws for the structure that explains. [part of `draws`; by judgement]"""
    smallest_share: float = 0.02
    """Share of the evidence below which a structure does not predict. [part; by judgement]"""
    flattery: float = 8.0
    """Difference in log evidence that does not count between kinds of models: structures that a search has chosen,
    whose evidence is flattered by the choice, and the structural models. A search compares some 200 structures, and
    chance alone favours the best of them by up to log 200 = 5. From 8 to 12, log score and MASE are the same; with 5 %
    of the whole difference in its place the lynx were forecast to be up to 1e9.
    [nats; measured on 178 learn series of M1 and M4]"""
    rest_weight: float = 0.05
    """Prior scale, and weight at the start, of ordinary candidates beside the components that were found.
    [standard deviations of y; by judgement]"""


@final
@dataclass(frozen=True)
class PosteriorSettings:
    """The posterior that predicts."""

    draws: int = 8
    """Draws of the weights over which predictions integrate. [draws, a power of two; by judgement]"""


@final
@dataclass(frozen=True)
class SiteSettings:
    """Likelihoods that are not Gaussian, approximated by Gaussian sites."""

    searches: int = 2
    """Searches for the structure; the second one uses the sites after the first. [searches; by judgement]"""
    fits: int = 2
    """Times that parameters and sites are fitted alternately. [fits; by judgement]"""
    steps: int = 8
    """Natural-gradient steps of the sites after a fit. [steps; by judgement]"""
    later_steps: int = 2
    """Natural-gradient steps of the sites after each but the first fit of the pool that predicts.
    [steps; by judgement]"""
    step: float = 0.7
    """Size of a natural-gradient step; 1 sets the sites to their optimum for the current posterior.
    [part of the way; by judgement]"""
    degrees: float = 4.0
    """Degrees of freedom of Student's t. [degrees of freedom; by judgement]"""


@final
@dataclass(frozen=True)
class OutlierSettings:
    """When Student's t is tried for the noise, and which rows count as outliers."""

    degrees: tuple[float, ...] = (2.5, 3.0, 4.0, 6.0, 10.0)
    """Degrees of freedom that leave-one-out residuals choose between. [degrees of freedom; by judgement]"""
    margin: float = 8.0
    """Log density of the leave-one-out residuals that Student's t must gain over a normal, beyond the price of a
    parameter, to be tried. [nats; measured on M1 monthly series, part learn: below it forecasts do not improve]"""
    table_margin: float = 0.1
    """The same for a table, for each of its rows: an average of structures has heavy tails of its own, and the error
    of predictions was higher with Student's t. [nats for each row; measured on inner splits of servo]"""
    minimum_gain: float = 6.0
    """Log evidence that Student's t must gain to be kept. [nats; measured on the same series]"""
    suspicious: float = 3.5
    """Leave-one-out residual beyond which the search for the structure does not see a row, if Student's t is tried.
    [robust standard deviations, 1.4826 times the median absolute residual; by judgement]"""
    distant: float = 7.0
    """The same for the distance of a row from its leave-one-out prediction, whatever the standard deviation of that.
    [robust standard deviations of these distances; by judgement]"""
    most: float = 0.2
    """Largest part of the rows that may be suspicious; if more are, they are no outliers, and none is.
    [part of the rows; by judgement]"""
    tied: float = 0.5
    """Part of the rows with one and the same value from which Student's t is not tried: sales that are mostly zero have
    no outliers. [part of the rows; by judgement]"""
    searches: int = 3
    """Most searches for the structure; each but the first leaves out what is suspicious for the one before.
    [searches; by judgement]"""
    listed: float = 4.0
    """Distance from its expected value beyond which a row is called an outlier.
    [standard deviations of the leave-one-out prediction; by judgement]"""
    rounds: int = 3
    """Times that the structural model and the precisions of its rows are fitted alternately. [rounds; by judgement]"""


@final
@dataclass(frozen=True)
class StructuralSettings:
    """The structural model, which is fitted without a search."""

    smallest_share: float = 1e-3
    """Share of the variance of all components below which one is not told. [part of the variance; by judgement]"""
    least_curvature: float = 0.3
    """Lowest curvature of the log posterior density in any direction: where it is flatter, draws go no further.
    [nats for each squared unit of a logarithm; by judgement]"""


@final
@dataclass(frozen=True)
class AppraisalSettings:
    """Intervals and errors of the components."""

    difference: float = 1e-3
    """Step of the differences that give the curvature of the log posterior density.
    [parts of the typical posterior deviation of a parameter; by judgement]"""
    noise_factors: tuple[float, ...] = tuple(4.0**k for k in range(8))
    """Noise variances that are tried for the leave-one-out error without some of the components.
    [parts of the noise variance; by judgement]"""


@final
@dataclass(frozen=True)
class SearchSettings:
    """All settings of the search, in groups."""

    rows: RowSettings = RowSettings()
    """Rows of the search."""
    fits: FitSettings = FitSettings()
    """Fits of a structure."""
    starts: StartSettings = StartSettings()
    """Starting values of kernels that the user names."""
    periods: PeriodSettings = PeriodSettings()
    """Periods of a series."""
    columns: ColumnSettings = ColumnSettings()
    """Columns of a table."""
    candidates: CandidateSettings = CandidateSettings()
    """Kernels that are tried."""
    priors: PriorSettings = PriorSettings()
    """Priors that were not learned."""
    screening: ScreeningSettings = ScreeningSettings()
    """First evaluation of candidates."""
    growing: GrowingSettings = GrowingSettings()
    """Moves from structure to structure."""
    changepoints: ChangepointSettings = ChangepointSettings()
    """Locations of changepoints."""
    scales: ScaleSettings = ScaleSettings()
    """Scale of the target."""
    averaging: AveragingSettings = AveragingSettings()
    """Pools that predict together."""
    stacking: StackingSettings = StackingSettings()
    """Members of a table's average."""
    inducing: InducingSettings = InducingSettings()
    """Inducing points."""
    blocks: BlockSettings = BlockSettings()
    """Tables that are read in blocks."""
    posterior: PosteriorSettings = PosteriorSettings()
    """The posterior that predicts."""
    long: LongSettings = LongSettings()
    """Long series of one input."""
    sites: SiteSettings = SiteSettings()
    """Likelihoods that are not Gaussian."""
    outliers: OutlierSettings = OutlierSettings()
    """Outliers, and the choice of Student's t."""
    structural: StructuralSettings = StructuralSettings()
    """The structural model."""
    shares: ShareSettings = ShareSettings()
    """Shares of the variance of a table's function."""
    appraisal: AppraisalSettings = AppraisalSettings()
    """Intervals and errors of components."""

    def describe(self) -> list[Setting]:
        """Every setting: name (such as "growing.rounds"), value, unit, meaning and the origin of its default."""
        return described(self)

    def changed(self) -> list[Setting]:
        """The settings whose value is not the default."""
        defaults = {setting.name: setting.value for setting in described(SearchSettings())}
        return [setting for setting in described(self) if setting.value != defaults[setting.name]]

    def to_dict(self) -> dict[str, Any]:
        """The values by group and name."""
        return asdict(self)
