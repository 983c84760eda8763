"""The smallest data: inputs with few distinct values, short series, ties and targets that hardly vary.

Everything is finite, nothing warns (warnings are errors in this suite) and nothing is printed.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import farrier
from farrier.series.observed import MIN_ROWS

TARGETS = {
    "noise": lambda x, rng: rng.normal(size=len(x)),
    "a line with noise": lambda x, rng: x + 0.1 * rng.normal(size=len(x)),
    "an exact line": lambda x, rng: 2.0 * x + 1.0,
    "one value apart from the others": lambda x, rng: np.eye(1, len(x), len(x) // 2)[0],
    "nearly constant": lambda x, rng: 5.0 + 1e-9 * rng.normal(size=len(x)),
    "skewed": lambda x, rng: np.exp(2.0 * rng.normal(size=len(x))),
    "counts": lambda x, rng: np.arange(len(x)) % 2 + rng.poisson(3.0, len(x)),
}


def some_targets(case: int, count: int) -> list[str]:
    """A few of the targets, others for each case, so that all come up in some case."""
    names = list(TARGETS)
    return [names[(case * count + i) % len(names)] for i in range(count)]


def all_finite(*values: object) -> bool:
    return all(np.isfinite(np.asarray(value, float)).all() for value in values)


def printed_nothing(capfd: pytest.CaptureFixture[str]) -> bool:
    """Also not by LAPACK, which writes past Python."""
    return capfd.readouterr() == ("", "")


SHAPES = [(2, 1), (2, 20), (3, 1), (3, 7), (4, 5), (5, 2), (6, 3), (7, 1), (9, 2)]
"""Distinct values, and how often each comes."""
REGRESSIONS = [(*shape, name) for case, shape in enumerate(SHAPES) for name in some_targets(case, 2)]


@pytest.mark.parametrize(("distinct", "repeats", "name"), REGRESSIONS)
def test_an_input_with_few_distinct_values_is_fitted_and_explained(distinct, repeats, name, capfd):
    rng = np.random.default_rng(distinct)
    x = np.repeat(np.arange(float(distinct)), repeats)
    y = TARGETS[name](x, rng)
    model = farrier.Regressor().fit(x[:, None], y)
    new = np.linspace(-1.0, distinct, 7)[:, None]
    mean, sd = model.predict(new, return_std=True)
    assert all_finite(mean, sd, model.log_density(x[:, None], y), model.predict_quantiles(new, (0.1, 0.9)))
    assert np.all(sd > 0.0)
    assert "nan" not in str(model.explain()).split()
    assert printed_nothing(capfd)


@pytest.mark.parametrize("doses", [2, 3, 5])
def test_the_prediction_at_each_dose_is_the_mean_of_its_rows(doses):
    rng = np.random.default_rng(0)
    x = np.repeat(np.arange(float(doses)), 20)
    y = 3.0 * x + 0.5 * rng.normal(size=len(x))
    mean, sd = farrier.Regressor().fit(x[:, None], y).predict(np.arange(float(doses))[:, None], return_std=True)
    # four standard errors of a mean of 20 rows
    assert_allclose(mean, y.reshape(doses, 20).mean(axis=1), atol=4.0 * 0.5 / np.sqrt(20))
    assert np.all((sd > 0.35) & (sd < 0.75))


SERIES = [(length, name) for case, length in enumerate(range(MIN_ROWS, 12)) for name in some_targets(case, 1)]


@pytest.mark.parametrize(("length", "name"), SERIES)
def test_every_series_from_the_least_number_of_values_is_forecast_and_explained(length, name, capfd):
    x = np.arange(float(length))
    model = farrier.Forecaster().fit(x, TARGETS[name](x, np.random.default_rng(length)))
    table = model.forecast(3, levels=(80,))
    assert all_finite(table["mean"], table["low_80"], table["high_80"])
    assert np.all(table["low_80"] < table["high_80"])
    assert "nan" not in str(model.explain()).split()
    assert printed_nothing(capfd)


@pytest.mark.parametrize("length", range(1, MIN_ROWS))
def test_a_shorter_series_is_refused_in_one_line_that_states_the_least_number(length):
    with pytest.raises(ValueError, match=rf"^series: {length} values?: give at least {MIN_ROWS}\.$"):
        farrier.Forecaster().fit(np.arange(float(length)), np.arange(float(length)))


def test_one_row_is_refused():
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        farrier.Regressor().fit([[1.0]], [1.0])
