"""Which targets are counts: whole and small; measurements, ratings, large counts and exact patterns are not."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

import farrier
from farrier.model.counting import left_out_of, may_be_counts, whole_number_score

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (RNG.poisson(2.0, 50), True),
        (RNG.poisson(400.0, 50), False),
        ((RNG.random(60) < 0.3) * RNG.poisson(90.0, 60), True),
        (RNG.poisson(2.0, 50) + 0.5, False),
        (RNG.poisson(2.0, 50) - 3.0, False),
        (RNG.random(50) < 0.5, False),
        (np.eye(40)[3] * 9.0, False),
    ],
)
def test_counts_are_whole_not_negative_and_small_or_often_zero(y, expected):
    assert may_be_counts(np.asarray(y, float)) is expected


def days(y):
    return pd.Series(np.asarray(y, float), pd.date_range("2024-01-01", periods=len(y), freq="D"), name="y")


def test_ratings_keep_gaussian_noise():
    y = np.rint(np.random.default_rng(1).normal(6.0, 0.7, 120))
    assert farrier.Forecaster().fit(days(y)).model_.likelihood_ == "gaussian"


def test_an_exact_pattern_keeps_gaussian_noise():
    y = np.tile([7.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0], 12)
    assert farrier.Forecaster().fit(days(y)).model_.likelihood_ == "gaussian"


def test_a_scale_or_weights_that_are_asked_for_keep_gaussian_noise():
    y = np.random.default_rng(2).poisson(1.5, 60).astype(float)
    X = np.arange(60.0)[:, None]
    assert farrier.Regressor(scale="identity").fit(X, y).likelihood_ == "gaussian"
    assert farrier.Regressor().fit(X, y, np.arange(1.0, 61.0)).likelihood_ == "gaussian"


def test_a_table_and_a_curve_of_counts_are_recognised():
    generator = np.random.default_rng(3)
    x = np.sort(generator.uniform(0.0, 6.0, 120))
    y = generator.poisson(np.exp(np.sin(x))).astype(float)
    assert farrier.Regressor().fit(x[:, None], y).likelihood_ == "poisson"
    X = generator.uniform(-1.0, 1.0, (120, 2))
    counts = generator.poisson(np.exp(1.2 * X[:, 0])).astype(float)
    model = farrier.Regressor().fit(X, counts)
    assert model.likelihood_ in ("poisson", "negative-binomial")
    found = model.predict_quantiles(X, [0.9])
    assert np.array_equal(found, np.rint(found))


def test_the_score_of_whole_numbers_is_the_mass_around_them():
    generator = np.random.default_rng(4)
    y, X = generator.poisson(3.0, 40).astype(float), np.linspace(-1.5, 1.5, 40)[:, None]
    fitted = farrier.Regressor(likelihood="gaussian", scale="identity").fit(X, y).result_.fitted
    total = np.zeros(40)
    for one in fitted.members:
        (mean,), (variance,) = one.posterior.posteriors[0].left_out()
        mean, sd = one.scale.inverse(mean), one.scale.sd * np.sqrt(variance + one.noises[0])
        low = np.where(y > 0.0, norm.cdf(y - 0.5, mean, sd), 0.0)
        total += one.share * (norm.cdf(y + 0.5, mean, sd) - low)
    assert_allclose(whole_number_score(left_out_of(fitted, farrier_rows(X), y), y), np.log(total).sum(), rtol=1e-9)


def farrier_rows(X):
    """Rows on the scale of a model."""
    return (X - X.mean(axis=0)) / X.std(axis=0)
