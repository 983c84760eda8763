"""Laws of tables in which little is found: predictions are as wide as the noise, and intervals hold what they say."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.plain_tables import Kind, measure

import farrier
from farrier.data.tables import Scale
from farrier.model.held_out import folds_of, left_out_of
from farrier.model.problem import Problem
from farrier.model.tables import fit_table
from farrier.model.target_scale import TargetScale

KINDS = {
    "five inputs, 50 rows": (Kind(50, 5), 4),
    "ten inputs, 100 rows": (Kind(100, 10), 1),
    "two inputs, 400 rows": (Kind(400, 2), 1),
    "categories": (Kind(300, 1, categories=2), 1),
    "skewed y": (Kind(300, 2, "skewed"), 1),
    "half of y equal": (Kind(400, 2, "half equal"), 2),
    "a weak line": (Kind(200, 2, effect="line"), 2),
    "a weak curve": (Kind(300, 2, effect="curve"), 1),
    "Student-t noise": (Kind(200, 2, "heavy tails", settings=(("likelihood", "student-t"),)), 2),
    "collapsed inference": (Kind(600, 2, settings=(("method", "collapsed"),)), 1),
    "collapsed inference in blocks": (Kind(1000, 2, blocks=True), 1),
}
"""Tables, and how many of each: what a few rows say of a standard deviation differs by more than the law allows."""


@pytest.mark.parametrize("name", KINDS)
def test_predictions_are_as_wide_as_the_noise_and_intervals_hold_what_they_say(name):
    kind, count = KINDS[name]
    found = [measure(kind, seed) for seed in range(count)]
    sd, inside_80, inside_95 = (np.mean([one[figure] for one in found]) for figure in ("sd", "inside_80", "inside_95"))
    assert sd == pytest.approx(1.0, abs=0.1)
    assert inside_95 == pytest.approx(0.95, abs=0.04)
    # no row lies below half of them: an interval whose lower end is there holds what is above it too
    assert 0.76 <= inside_80 <= (0.94 if kind.noise == "half equal" else 0.84)


def test_many_rows_of_noise_are_predicted_as_wide_as_they_are():
    generator = np.random.default_rng(3)
    X, y = generator.standard_normal((800, 2)), generator.standard_normal(800)
    fitted = fit_table(Problem(X, y, engine="collapsed"), likelihood="gaussian")
    assert fitted.tier == "collapsed"
    new = generator.standard_normal(2000)
    low, high = fitted.quantiles(generator.standard_normal((2000, 2)), [0.025, 0.975])
    assert np.mean((new > low) & (new < high)) == pytest.approx(0.95, abs=0.04)


@pytest.mark.parametrize("rows", [50, 300])
def test_what_weighs_the_prediction_of_a_row_does_not_depend_on_its_y(rows):
    generator = np.random.default_rng(rows)
    X, y = generator.standard_normal((rows, 2)), generator.standard_normal(rows)
    scale = Scale.of(X, y)
    z, folds = scale.target(y), folds_of(rows, 5)
    (member, *_) = fit_table(Problem(scale.inputs(X), z), likelihood="gaussian").members
    member = replace(member, scale=TargetScale())
    other = z.copy()
    other[folds[0]] += 3.0 * generator.standard_normal(len(folds[0]))
    posteriors = tuple(replace(one, y=other) for one in member.posterior.posteriors)
    moved = replace(member, posterior=replace(member.posterior, posteriors=posteriors))
    before, after = (left_out_of(one, values, folds, ()).level for one, values in ((member, z), (moved, other)))
    np.testing.assert_allclose(after[folds[0]], before[folds[0]], atol=1e-9)
    assert np.abs(after[folds[1]] - before[folds[1]]).max() > 1e-3


def test_standard_deviations_agree_with_quantiles_where_noise_is_normal():
    generator = np.random.default_rng(2)
    X = generator.uniform(1.0, 5.0, (200, 2))
    y = 20.0 + 3.0 * X[:, 0] + 2.0 * np.sin(2.0 * X[:, 1]) + generator.standard_normal(200)
    model = farrier.Regressor().fit(X, y)
    _, std = model.predict(X, return_std=True)
    low, high = model.predict_quantiles(X, [0.1587, 0.8413]).T
    apart = np.abs(0.5 * (high - low) / std - 1.0)
    # at the edges the members disagree, and a mixture is no normal distribution
    assert np.quantile(apart, 0.95) < 0.1
    assert apart.max() < 0.2
