"""Learning priors: what series share is learned, absent components count no lower than a floor, the table is read."""

import numpy as np
from benchmarks.learn_priors import LOWEST, START, learned, parameters, pooled, table
from benchmarks.learn_priors import fits as fits_of

from farrier.search.learned_priors import PARAMETERS, LogNormal

RNG = np.random.default_rng(0)
BOTH = {"identity": dict(START), "log": dict(START)}


def seasonal(amplitude):
    t = np.arange(48)
    return 10.0 + amplitude * np.sin(2.0 * np.pi * t / 12) + 0.3 * RNG.standard_normal(48)


def test_a_large_season_is_learned_as_large():
    large, small = (learned([seasonal(size) for _ in range(4)], 12, BOTH)["identity"] for size in (3.0, 0.01))
    assert large["season"].mean > small["season"].mean + 0.5
    assert small["noise"].mean > large["noise"].mean
    assert small["season"].mean >= LOWEST
    assert large["level"] == START["level"]


def test_parameters_are_counted_in_seasons_and_as_standard_deviations():
    (first, *_) = (fit for _, fit in fits_of(seasonal(3.0), 12, BOTH))
    found = {name: value for name, value, _ in parameters(first)}
    assert set(found) == set(PARAMETERS) - {"levels", "levels_drift"}
    model = first.structure.model
    assert np.isclose(found["noise"], 0.5 * np.log(model.noise))
    trend = model.pool.kernels[1][0]
    assert np.isclose(found["damping"], np.log(float(trend.damping) * 12.0 / np.std(np.arange(48))))


def test_the_table_holds_every_frequency_and_parameter():
    kinds = {("line", "log", "monthly"): dict(START), ("nothing", "identity", "other"): pooled([START, START])}
    text = table(kinds, {"m1_monthly": 7}, "3 rounds")
    assert "7 of m1_monthly" in text
    assert text.count("\nline,log,monthly,") == len(PARAMETERS) == text.count("\nnothing,identity,other,")


def test_growth_that_fades_to_nothing_has_no_line():
    with_line, without = (
        {name for _, fit in fits_of(seasonal(3.0), 12, BOTH, growth) for name, _, _ in parameters(fit)}
        for growth in ("line", "nothing")
    )
    assert with_line - without == {"line"}


def test_a_series_counts_on_the_scale_to_which_it_belongs():
    growing = np.exp(0.05 * np.arange(60) + 0.05 * RNG.standard_normal(60))
    after = learned([growing], 1, BOTH)
    assert after["log"]["noise"].mean < BOTH["log"]["noise"].mean
    assert after["identity"] == BOTH["identity"]


def test_what_differs_between_frequencies_widens_the_prior_of_all():
    apart = {name: LogNormal(one.mean + 1.0, one.sd) for name, one in START.items()}
    assert pooled([dict(START), apart])["trend"].sd > START["trend"].sd
