"""Checks: p-values are uniform where there is nothing to find, and small where there is; verdicts say which."""

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import signal, stats

from farrier.explain import checks as checks_module
from farrier.explain.checks import checks, holm
from farrier.explain.facts import Axis

WOBBLE = np.random.default_rng(4).uniform(-0.3, 0.3, 900)
NAMES = ["residual autocorrelation", "residual periodogram", "normality of residuals", "calibration"]


def series(z, calibration=None, x=None, **arguments):
    """The checks of a series by name."""
    x = np.arange(len(z), dtype=float) if x is None else x
    return {check.name: check for check in checks(z, x, calibration, None, **arguments)}


def noise(n, seed=0):
    return np.random.default_rng(seed).standard_normal(n)


def persistent(n, seed=0, memory=0.6):
    return np.asarray(signal.lfilter([1.0], [1.0, -memory], noise(n + 50, seed)))[50:]


# nothing to find


@pytest.fixture(scope="module", params=["permuted", "analytic"])
def null_p_values(request):
    """p-values of a few hundred cases in which all is well: below and above the most points that are permuted."""
    rng = np.random.default_rng(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks_module, "DRAWS", 199)
        if request.param == "analytic":
            patch.setattr(checks_module, "MOST_PERMUTED", 0)
        n, cases = (40, 300) if request.param == "permuted" else (300, 150)
        found = [series(rng.standard_normal(n), rng.random(n), x=np.cumsum(rng.random(n))) for _ in range(cases)]
    return request.param, {name: np.array([case[name].p for case in found]) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_p_values_are_uniform_when_all_is_well(null_p_values, name):
    how, p_values = null_p_values
    p = p_values[name]
    if how == "permuted" or name in NAMES[:1] + NAMES[2:3]:
        assert stats.kstest(p, "uniform").pvalue > 0.01
    else:  # bounds, sharp for small p alone: never too many alarms
        assert np.mean(p < 0.05) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / len(p))


def test_a_good_model_gets_good_marks():
    found = series(noise(200), np.random.default_rng(5).random(100))
    assert list(found) == NAMES
    assert [check.verdict for check in found.values()] == ["good"] * 4
    assert all(check.sentence.endswith(").") for check in found.values())
    assert "The residuals look normal (p = " in found["normality of residuals"].sentence
    assert "The intervals are about right: the 95 % interval holds " in found["calibration"].sentence


def test_the_same_data_give_the_same_answer():
    z = noise(60)
    assert checks(z, None, None, None) == checks(z, None, None, None)
    assert series(z) == series(z)


# something to find


@pytest.mark.parametrize("n", [150, 1500])
def test_memory_is_found(n):
    check = series(persistent(n))["residual autocorrelation"]
    assert check.verdict == "bad"
    assert check.statistic == pytest.approx(0.6, abs=0.15)
    assert check.sentence.startswith("Structure in time is left over: residuals 1 apart are alike, with an autocorr")


def test_alternation_is_found():
    check = series(persistent(150, memory=-0.6))["residual autocorrelation"]
    assert check.verdict == "bad"
    assert "residuals 1 apart fall on opposite sides, with an autocorrelation of -0." in check.sentence


@pytest.mark.parametrize("n", [140, 1400])
def test_a_period_is_found_and_named(n):
    t = np.arange(n, dtype=float)
    z = noise(n) + np.sin(2 * np.pi * t / 7)
    check = series(z, say_length=lambda length: f"{length:.1f} days")["residual periodogram"]
    assert check.verdict == "bad"
    assert check.sentence.startswith("A period near 7.0 days is left over: it carries 3")


def test_a_period_is_found_between_uneven_times():
    rng = np.random.default_rng(3)
    x = np.cumsum(rng.exponential(1.0, 150))
    check = series(noise(150) + 1.2 * np.sin(2 * np.pi * x / 11.3), x=x)["residual periodogram"]
    assert check.verdict == "bad"
    assert "A period near 11." in check.sentence


def test_a_slow_wave_is_no_period():
    t = np.arange(120.0)
    check = series(noise(120) + np.sin(2 * np.pi * t / 120))["residual periodogram"]
    assert check.verdict == "bad"
    assert check.sentence.startswith("Slow variation is left over: a wave of about 120, longer than half of the data,")


def test_heavy_tails_are_found():
    z = np.random.default_rng(2).standard_t(2, 200)
    check = series(z)["normality of residuals"]
    assert check.verdict == "bad"
    assert check.sentence.startswith("The residuals have heavy tails: ")
    assert "lie beyond three standard deviations, where 0.3 % would" in check.sentence


@pytest.mark.parametrize(("sign", "words"), [(1, "to the right"), (-1, "to the left")])
def test_skew_is_found(sign, words):
    check = series(sign * np.random.default_rng(2).exponential(1.0, 200))["normality of residuals"]
    assert check.verdict == "bad"
    assert f"skewed {words}" in check.sentence


def test_light_tails_are_found():
    check = series(np.random.default_rng(2).uniform(-1, 1, 300))["normality of residuals"]
    assert check.verdict == "bad"
    assert "light tails" in check.sentence


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize(
    ("mean", "sd", "words"),
    [
        (0.0, 2.0, "The intervals are too narrow: the 95 % interval holds "),
        (0.0, 0.5, "The intervals are too wide: the 95 % interval holds 100 % of "),
        (1.0, 1.0, "The predictions run too low: "),
        (-1.0, 1.0, "The predictions run too high: "),
    ],
)
def test_wrong_intervals_are_found(n, mean, sd, words):
    check = series(noise(50), stats.norm.cdf(mean + sd * noise(n, 7)))["calibration"]
    assert check.verdict == "bad"
    assert check.sentence.startswith(words)


def test_the_direction_is_that_of_the_share_that_is_quoted():
    # most values are a little above their median, the others far below
    u = np.where(np.arange(400) % 100 < 62, 0.56, 0.02)
    assert series(noise(50), u)["calibration"].sentence.startswith(
        "The predictions run too low: 62 % of what came lies above"
    )


def test_coverage_is_counted():
    z = np.concatenate([np.full(60, 0.5), np.full(25, 1.5), np.full(15, 3.0)]) * np.tile([1, -1], 50)
    sentence = series(noise(50), stats.norm.cdf(z))["calibration"].sentence
    assert "the 95 % interval holds 85 % of 100 held-out points, the 80 % interval 60 %" in sentence


def test_a_trifle_is_never_worse_than_doubtful():
    check = series(persistent(10_000, memory=0.07))["residual autocorrelation"]
    assert check.p_corrected is not None
    assert check.p_corrected < 0.001
    assert check.verdict == "doubtful"


# the parts


def test_holm_agrees_with_an_example_by_hand():
    # 0.01 * 4, then 0.02 * 3, then max(0.06, 0.03 * 2), then max(0.06, 0.04 * 1)
    assert_allclose(holm([0.03, 0.01, 0.04, 0.02]), [0.06, 0.04, 0.06, 0.06])
    assert_allclose(holm([0.5, 0.6]), [1.0, 1.0])
    assert holm([]) == []


def test_corrected_values_are_those_of_the_checks_made():
    found = checks(noise(100), np.arange(100.0), None, None)
    made = [check.p for check in found if check.p is not None]
    assert len(made) == 3
    assert [check.p_corrected for check in found] == [*holm(made), None]


def test_autocorrelations_are_those_of_the_definition():
    z = noise(50)
    centred = z - z.mean()
    plot = series(z)["residual autocorrelation"].plot
    r = [np.sum(centred[k:] * centred[:-k]) / np.sum(centred**2) for k in plot["x"]]
    assert_allclose(plot["y"], r, atol=1e-12)


def test_the_periodogram_is_that_of_scipy():
    rng = np.random.default_rng(0)
    x, z = np.cumsum(rng.random(60)), noise(60)
    plot = series(z, x=x)["residual periodogram"].plot
    frequency = 2 * np.pi / np.array(plot["x"])
    expected = signal.lombscargle(x, z - z.mean(), frequency, normalize=True)
    assert_allclose(plot["y"], expected, atol=1e-9)


@pytest.mark.parametrize(("x", "slack"), [(np.arange(900.0), 0.02), (1.3 * (np.arange(900) + WOBBLE), 0.1)])
def test_the_fast_periodogram_agrees_with_the_slow_one(x, slack):
    z = noise(900)
    frequency, fast = checks_module._fast_power(z, x, 900 * x[1], 0.5 / x[1])
    slow = checks_module._power(z[None], x, frequency)[0]
    assert_allclose(fast, slow, atol=slack * slow.max())
    assert np.argmax(fast) == np.argmax(slow)


def test_anderson_darling_is_that_of_scipy():
    z = noise(80)
    expected: Any = stats.anderson(z, "norm", method="interpolate")
    assert series(z)["normality of residuals"].statistic == pytest.approx(expected.statistic, rel=1e-10)


def test_lags_are_said_in_units_where_steps_are_even_and_in_rows_where_not():
    z = persistent(120)
    axis = Axis("depth", 0.0, 60.0, unit="mm")
    even = checks(z, 0.5 * np.arange(120), None, axis)[0]
    assert "residuals 0.5 mm apart" in even.sentence
    uneven = checks(z, np.cumsum(np.random.default_rng(0).exponential(1, 120)), None, None)[0]
    assert "residuals 1 row apart" in uneven.sentence
    assert uneven.sentence.endswith(" Distances count rows, as the times are not evenly spaced.")


def test_a_few_gaps_leave_times_even():
    x = np.delete(np.arange(124.0), [5, 50, 51, 90])
    assert "rows" not in series(persistent(120), x=x)["residual autocorrelation"].sentence


def test_rows_without_order_have_two_checks():
    assert [check.name for check in checks(noise(50), None, np.full(20, 0.5), None)] == NAMES[2:]


def test_residuals_that_are_missing_are_left_out():
    z = noise(100)
    x = np.arange(100.0)
    z[[3, 60]] = np.nan
    keep = np.isfinite(z)
    assert checks(z, x, None, None) == checks(z[keep], x[keep], None, None)


@pytest.mark.parametrize(
    ("z", "sentence"),
    [
        (noise(19), "Not checked: there are 19 residuals, and fewer than 20 say little."),
        (np.zeros(30), "Not checked: the residuals are all the same."),
    ],
)
def test_too_little_gives_no_verdict(z, sentence):
    *residual, calibration = checks(z, np.arange(len(z)), np.full(4, 0.5), None)
    for check in residual:
        assert (check.verdict, check.p, check.p_corrected, check.statistic) == ("none", None, None, None)
        assert check.sentence == sentence
    assert calibration.verdict == "none"
    assert calibration.sentence == (
        "Not checked: 4 points were held out, and fewer than 10 say little of the intervals."
    )


@pytest.mark.parametrize("n", [30, 2000])
def test_checks_are_plain_and_their_pictures_have_matching_lengths(n):
    found = checks(noise(n), np.arange(n) / 12, np.random.default_rng(0).random(n), None)
    assert [check.plot["kind"] for check in found] == ["acf", "periodogram", "qq", "calibration"]
    assert json.loads(json.dumps([asdict(check) for check in found], allow_nan=False))
    for check in found:
        lengths = {len(check.plot[side]) for side in ("x", "y", "low", "high")}
        assert len(lengths) == 1
        assert 0 < lengths.pop() <= 400


def test_most_of_a_good_model_lies_within_the_bands():
    found = checks(noise(300), np.arange(300.0), np.random.default_rng(0).random(300), None)
    for check in found:
        y, low, high = (np.array(check.plot[side]) for side in ("y", "low", "high"))
        assert np.mean((y >= low) & (y <= high)) > 0.9
    assert_array_equal(found[0].plot["x"], np.arange(1, 41))
