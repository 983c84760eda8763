"""Laws of the beliefs: learned medians, known periods, densities that integrate to one, in any unit of time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from farrier.evaluation.covariance import covariance_of
from farrier.inference.noise import Noise
from farrier.inference.parameter_vector import NOISE_CENTRE, NOISE_SPREAD, ParameterVector
from farrier.kernels.algebra import Kernel
from farrier.kernels.registry import (
    CentredPeriodic,
    Constant,
    DampedTrend,
    Linear,
    Matern12,
    RandomWalk,
    SquaredExponential,
    Step,
    Weekend,
)
from farrier.search.beliefs import PRIOR_SCALE, VOCABULARY, Beliefs
from farrier.search.learned_priors import Clock, LogNormal, priors_for
from farrier.search.scoring import Evaluator
from farrier.search.structure import LEVEL, Part

N = 36
X = np.linspace(-1.7, 1.7, N)[:, None]
STEP = float(X[1, 0] - X[0, 0])
YEAR = 12.0 * STEP
RANGE = 3.4
Y = 0.7 * X[:, 0] + 0.6 * np.sin(2.0 * np.pi * X[:, 0] / YEAR) + 0.3 * np.random.default_rng(0).standard_normal(N)
SERIES = Beliefs(Clock.of(X[:, 0], [YEAR]))
TABLE = Beliefs()
PRIORS = priors_for("monthly")
KERNELS = {
    "trend": DampedTrend(0.3, -1.8, YEAR),
    "walk": RandomWalk(-1.8, YEAR),
    "ar": Matern12(0.3),
    "season": Matern12(9.0) * CentredPeriodic(YEAR, 1.0),
    "level": Constant(),
}
HYPERPARAMETERS = [
    ("damping", "trend", 0, 1.0 / YEAR),
    ("ar_length", "ar", 0, YEAR),
    ("drift", "season", 0, YEAR),
    ("shape", "season", 2, 1.0),
]
"""Learned parameter, the component that has it, its place in the layout, and its unit."""
STARTS = {"trend": [0.3], "ar": [0.3], "season": [9.0, YEAR, 1.0]}


def median(name):
    return float(np.exp(PRIORS[name].mean))


def one_model(kernel, beliefs=SERIES, **settings):
    return beliefs.model([beliefs.part(kernel, 0.4, 1)], 0.2, 1, **settings)


# learned priors


@pytest.mark.parametrize("name", KERNELS)
def test_weights_of_ordinary_components_have_the_learned_scale(name):
    assert SERIES.scale(KERNELS[name]) == pytest.approx(median(name))
    assert one_model(KERNELS[name]).prior.scale == pytest.approx([median(name)])
    assert TABLE.scale(KERNELS[name]) == PRIOR_SCALE


@pytest.mark.parametrize(("name", "component", "place", "unit"), HYPERPARAMETERS)
def test_their_hyperparameters_have_learned_medians_in_units_of_the_season(name, component, place, unit):
    model = one_model(KERNELS[component])
    assert_allclose(np.exp(model.centre[place]), median(name) * unit, rtol=1e-12)
    assert model.spread[place] == PRIORS[name].sd
    # a fit starts from the kernel's own value
    assert_allclose(model.pool.numbers[place], STARTS[component][place])


def test_what_was_not_learned_is_centred_at_its_start_with_the_spread_of_its_family():
    model = one_model(SquaredExponential(0.7))
    assert_allclose(np.exp(model.centre), [0.7])
    assert_array_equal(model.spread, one_model(SquaredExponential(0.7), TABLE).spread)
    assert model.prior.scale == pytest.approx([PRIOR_SCALE])


def test_a_table_learned_nothing():
    for kernel in KERNELS.values():
        part = TABLE.part(kernel, 0.3, 1)
        assert part == Part(kernel, kernel, 0.3, PRIOR_SCALE)
    assert TABLE.noise == pytest.approx(np.exp(NOISE_CENTRE))


def test_given_priors_replace_the_learned_ones():
    given = PRIORS | {"ar": LogNormal(np.log(0.11), 0.5), "ar_length": LogNormal(np.log(3.0), 0.2)}
    beliefs = Beliefs(SERIES.clock, given)
    assert beliefs.scale(Matern12(1.0)) == pytest.approx(0.11)
    assert_allclose(one_model(Matern12(1.0), beliefs).spread, [0.2])
    assert_allclose(np.exp(one_model(Matern12(1.0), beliefs).centre), [3.0 * YEAR])


def test_noise_is_learned_as_a_standard_deviation_and_used_as_a_variance():
    sd = PRIORS["noise"]
    assert SERIES.noise == pytest.approx(np.exp(sd.mean) ** 2)
    assert one_model(Constant()).noise_scale == pytest.approx(np.exp(sd.mean))
    assert one_model(Constant(), TABLE).noise_scale is None
    assert one_model(Constant(), TABLE).noise_prior == (NOISE_CENTRE, NOISE_SPREAD)


def test_a_scale_that_is_given_and_the_smallest_weight_are_kept():
    assert SERIES.part(Matern12(1.0), 0.3, 1, 0.05).scale == 0.05
    model = Beliefs().model([Part(Constant(), Constant(), 0.0)], 0.1, 1)
    assert_array_equal(model.prior.w, [0.001])


def test_what_series_are_made_of_is_at_the_medians():
    line, trend, walk, rough, season = SERIES.structural([YEAR])
    assert (type(line), float(line.location), float(line.scale)) == (Linear, 0.0, 1.0)
    assert_allclose([trend.damping * YEAR, rough.lengthscale / YEAR], [median("damping"), median("ar_length")])
    assert (float(trend.origin), float(walk.origin)) == (SERIES.clock.origin,) * 2
    model = one_model(season)
    assert_allclose(model.pool.unbounded, model.centre, rtol=1e-12)
    assert [SERIES.ordinary(kernel) for kernel in (line, trend, walk, rough, season)] == [True] * 5
    others = SquaredExponential(1.0), Step(0.1, 0.1), SquaredExponential(1.0) * CentredPeriodic(YEAR)
    assert not any(SERIES.ordinary(kernel) for kernel in others)
    assert not any(TABLE.ordinary(kernel) for kernel in (trend, walk, rough, season))


def test_ordinary_are_single_components_and_seasons_of_the_calendar_that_may_drift():
    ordinary = [Linear(0.3), Matern12(0.3), CentredPeriodic(YEAR, 1.0), Matern12(2.0) * CentredPeriodic(YEAR, 1.0)]
    others = [
        Linear(0.3) * Matern12(0.3),
        CentredPeriodic(1.1 * YEAR, 1.0),
        CentredPeriodic(YEAR, 1.0) * CentredPeriodic(1.1 * YEAR, 1.0),
        Linear(0.3) * CentredPeriodic(YEAR, 1.0),
    ]
    assert [SERIES.ordinary(kernel) for kernel in (*ordinary, *others)] == [True] * 4 + [False] * 4


def test_rows_are_a_series_if_time_is_said_or_one_input_is_no_code():
    two = np.column_stack([X[:, 0], X[::-1, 0]])
    assert Beliefs.of(two).clock is None
    assert Beliefs.of(X, coded=(0,)).clock is None
    assert Beliefs.of(two, [YEAR], timed=True).clock == Clock.of(X[:, 0], [YEAR])
    assert Beliefs.of(X).clock == Clock.of(X[:, 0], of_time=False)
    assert [one.of_time for one in (TABLE, Beliefs.of(X), Beliefs.of(X, timed=True))] == [False, False, True]
    assert [one.walk is None for one in (TABLE, Beliefs.of(X), Beliefs.of(X, timed=True))] == [True, True, False]
    assert TABLE.structural([YEAR]) == []


def test_growth_fades_to_a_line_or_to_nothing():
    kinds = [type(kernel) for kernel in Beliefs(SERIES.clock, growth="nothing", given=PRIORS).structural([])]
    assert kinds == [DampedTrend, RandomWalk, Matern12]


def test_a_pattern_of_the_calendar_has_the_scale_of_a_season_and_a_product_that_was_not_learned_the_usual_one():
    assert SERIES.scale(Weekend()) == pytest.approx(median("season"))
    assert SERIES.scale(Weekend() * Matern12(1.0)) == pytest.approx(median("season"))
    for kernel in (Linear(0.0) * Matern12(1.0), Matern12(1.0) * SquaredExponential(1.0), Step(0.1, 0.1)):
        assert SERIES.scale(kernel) == PRIOR_SCALE


def test_lengthscales_beside_a_season_drift_and_others_were_not_learned():
    for slow in (Matern12(9.0), SquaredExponential(9.0)):
        model = one_model(slow * CentredPeriodic(YEAR, 1.0))
        assert PRIORS["drift"].sd in model.spread
    model = one_model(Matern12(9.0) * SquaredExponential(0.7))
    assert_allclose(np.sort(np.exp(model.centre)), [0.7, 9.0])


@pytest.mark.parametrize("beliefs", [SERIES, TABLE], ids=["series", "table"])
def test_named_parameters_become_the_logarithms_of_the_learned_priors(beliefs):
    kernels = [DampedTrend(0.3, -1.8, YEAR), Matern12(0.3), KERNELS["season"], SquaredExponential(0.7)]
    model = beliefs.model([beliefs.part(kernel, 0.4, 1) for kernel in kernels], 0.2, 1)
    unit = YEAR if beliefs is SERIES else 1.0
    u = ParameterVector(model, np.zeros((1, 0))).start()
    named = [
        None if one is None else (one[0], (value + one[1]) * one[2])
        for one, value in zip(beliefs.names(model), u, strict=True)
    ]
    expected = {
        "trend": 0.4, "ar": 0.4, "season": 0.4, "noise": np.sqrt(0.2),
        "damping": 0.3 * unit, "ar_length": 0.3 / unit, "drift": 9.0 / unit, "shape": 1.0,
    }  # fmt: skip
    found = {name: np.exp(value) for name, value in filter(None, named)}
    assert found == pytest.approx(expected)
    # the weight and the lengthscale of the curve, and the period, have no names
    assert sum(one is None for one in named) == 3


# periods


def test_one_of_several_seasons_is_known():
    beliefs = Beliefs(Clock.of(X[:, 0], [YEAR, 0.25 * YEAR]))
    assert [one_model(CentredPeriodic(part * YEAR, 1.0), beliefs).spread[0] for part in (1.0, 0.25, 0.5)] == [
        0.0,
        0.0,
        np.inf,
    ]


def test_the_period_of_the_calendar_is_known_and_others_are_not():
    for kernel in (CentredPeriodic(YEAR, 1.0), CentredPeriodic(YEAR * (1.0 + 1e-9), 1.0)):
        model = one_model(kernel)
        assert model.spread[0] == 0.0
        limits = ParameterVector(model, np.zeros((1, 0))).limits()
        assert limits[2, 0] == limits[2, 1]
    assert one_model(CentredPeriodic(1.01 * YEAR, 1.0)).spread[0] == np.inf
    assert one_model(CentredPeriodic(YEAR, 1.0), TABLE).spread[0] == np.inf


def test_a_fit_does_not_move_a_known_period_and_moves_a_found_one():
    evaluator = Evaluator(X, Y, covariance_of(X), beliefs=SERIES)
    known, found = (
        evaluator.fit([evaluator.part(CentredPeriodic(period, 1.0), 0.5)], 0.2) for period in (YEAR, 1.05 * YEAR)
    )
    assert float(known.parts[0].kernel.period) == pytest.approx(YEAR, rel=1e-12)
    assert abs(float(found.parts[0].kernel.period) / (1.05 * YEAR) - 1.0) > 1e-4
    assert len(found.mode.moving) == len(known.mode.moving) + 1


def test_a_line_by_itself_does_not_move_its_zero_and_one_in_a_product_does():
    alone, product = one_model(Linear(0.2)), one_model(Linear(0.2) * Matern12(0.3))
    assert alone.spread[0] == 0.0
    assert 0.0 < max(product.spread) < np.inf
    assert one_model(Linear(0.2), TABLE).spread[0] > 0.0


@pytest.mark.parametrize("step", [Step(0.2, 0.1), 1 - Step(0.2, 0.1)], ids=str)
def test_the_place_of_a_step_is_chosen_in_a_table_and_fitted_in_a_series(step):
    places = [number.name for number in one_model(step, TABLE).pool.layout].index("location")
    assert one_model(step, TABLE).spread[places] == 0.0
    assert one_model(step).spread[places] == np.inf
    assert np.count_nonzero(one_model(step, TABLE).spread == 0.0) == 1


# densities


def test_the_noise_of_a_table_is_log_normal():
    density = TABLE.log_densities(one_model(Constant(), TABLE), RANGE, STEP)[1]
    assert density == pytest.approx(norm.logpdf(np.log(0.2), NOISE_CENTRE, NOISE_SPREAD))


def density(model, u, place):
    at = ParameterVector(model, np.zeros((1, 0))).model(u)
    return np.exp(SERIES.log_densities(at, RANGE, STEP)[place])


@pytest.mark.parametrize(
    "kernel",
    [
        Matern12(0.3),
        DampedTrend(0.3, -1.8, YEAR),
        SquaredExponential(0.4) * CentredPeriodic(YEAR, 1.0),
        Linear(0.2) * Matern12(0.3),
    ],
    ids=str,
)
def test_every_density_integrates_to_one(kernel):
    model = one_model(kernel)
    start = ParameterVector(model, np.zeros((1, 0))).start()
    fitted = np.flatnonzero(np.concatenate([[1.0, 1.0], model.spread]))
    assert len(fitted) >= 3
    for place in fitted:
        grid = np.linspace(-40.0, 40.0, 801)
        values = [density(model, np.where(np.arange(len(start)) == place, u, start), place) for u in grid]
        assert_allclose(np.trapezoid(values, grid), 1.0, rtol=1e-6)


def test_a_period_is_uniform_on_its_logarithm_from_two_steps_to_half_the_range():
    period = SERIES.log_densities(one_model(CentredPeriodic(0.77, 1.0)), RANGE, STEP)[2]
    assert_allclose(np.exp(period) * (np.log(0.5 * RANGE) - np.log(2.0 * STEP)), 1.0)


def test_the_range_of_periods_is_never_less_than_a_factor_of_e():
    model = one_model(CentredPeriodic(0.77, 1.0))
    assert SERIES.log_densities(model, 4.0 * STEP, STEP)[2] == 0.0


def test_the_location_of_a_change_is_uniform_over_the_range():
    location = SERIES.log_densities(one_model(Step(0.3, 0.1)), RANGE, STEP)[2]
    assert_allclose(np.exp(location) * RANGE, 1.0)


def test_what_is_known_has_no_density():
    assert SERIES.log_densities(one_model(CentredPeriodic(YEAR, 1.0)), RANGE, STEP)[2] == 0.0
    assert (
        SERIES.log_densities(one_model(Constant(), row_noise=Noise(np.full(N, 0.1), known=True)), RANGE, STEP)[1] == 0.0
    )


# structures


def test_the_prior_of_a_structure_chooses_a_family_and_an_input_for_every_factor():
    def log_prior(*kernels, inputs):
        return TABLE.log_structure([Part(kernel, kernel, 0.5) for kernel in kernels], inputs)

    one = SquaredExponential(1.0, dims=(0,)) * Linear(0.0, dims=(2,))
    choices = len(VOCABULARY)
    assert log_prior(inputs=3) == 0.0
    assert_allclose(np.exp(log_prior(one, inputs=3)), 1.0 / (choices * 3) ** 2)
    assert_allclose(np.exp(log_prior(Linear(0.0), inputs=1)), 1.0 / choices)
    assert_allclose(log_prior(one, one, inputs=3), 2.0 * log_prior(one, inputs=3))


def log_prior(kernel, inputs, rows, beliefs=TABLE):
    return beliefs.log_structure([Part(kernel, kernel, 0.5)], inputs, rows)


@pytest.mark.parametrize("step", [Step(0.1, 0.01, dims=(0,)), 1 - Step(0.1, 0.01, dims=(0,))], ids=str)
def test_in_a_table_a_jump_is_at_one_of_the_rows_and_a_bend_at_one_of_a_few_places(step):
    one, other = Linear(0.0, dims=(0,)), Linear(0.0, dims=(1,))
    choice, places = np.log(len(VOCABULARY) * 2), np.log(10.0)
    assert_allclose(log_prior(step, 2, 50), -choice - np.log(50))
    # a line of another input has a choice of its own, one of the same input is a bend with the step
    assert_allclose(log_prior(step * other, 2, 50), -2.0 * choice - np.log(50))
    assert_allclose(log_prior(step * one, 2, 50), -choice - places)
    assert_allclose(log_prior(step * one, 2, 4), -choice - np.log(4))
    assert_allclose(log_prior(step * one * other, 2, 50), -2.0 * choice - places)


def test_the_prior_of_a_structure_of_a_series_does_not_know_the_rows():
    for kernel, factors in ((Step(0.1, 0.01), 1), (Step(0.1, 0.01) * Linear(0.0), 2)):
        assert_allclose(log_prior(kernel, 1, 50, SERIES), -factors * np.log(len(VOCABULARY)))


def test_a_factor_of_several_inputs_is_of_any_number_of_them_and_any_such_set():
    surface = SquaredExponential(np.ones(2), dims=(0, 2))
    assert_allclose(np.exp(-log_prior(surface, 4, 9)), len(VOCABULARY) * 4 * 6)
    assert_allclose(np.exp(-log_prior(SquaredExponential(np.ones(4)), 4, 9)), len(VOCABULARY) * 4)
    assert_allclose(np.exp(-log_prior(SquaredExponential(np.ones(2)), 2, 9)), len(VOCABULARY) * 2)


@pytest.mark.parametrize("factor", [0.01, 30.0])
def test_the_evidence_is_the_same_in_other_units_of_time(factor):
    def evidence(x, season):
        beliefs = Beliefs(Clock.of(x[:, 0], [season]))
        evaluator = Evaluator(x, Y, covariance_of(x), beliefs=beliefs)
        # a line has its size over standardised inputs
        others = [kernel for kernel in beliefs.structural([season]) if not isinstance(kernel, Linear)]
        kernels: list[Kernel] = [*others, SquaredExponential(1.5 * season)]
        parts = [evaluator.part(kernel, beliefs.scale(kernel)) for kernel in kernels]
        return evaluator.fit(parts, beliefs.noise, 100).score

    assert_allclose(evidence(factor * X, factor * YEAR), evidence(X, YEAR), atol=0.02)


def test_the_level_is_in_every_model():
    model = SERIES.model([SERIES.part(KERNELS["walk"], 0.2, 1), LEVEL], 0.3, 1)
    assert [str(kernel) for kernel in model.pool][-1] == "1"
    assert_allclose(model.prior.w, [0.2, LEVEL.weight])
    assert_allclose(model.prior.scale, [median("walk"), LEVEL.scale])
    assert model.noise == 0.3
