"""Laws of Student-t noise for tables: outliers are found and hardly move the effects, at little cost."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import farrier
from farrier import Regressor
from farrier.inference import noise
from farrier.inference.mixtures import moments
from farrier.model.problem import Problem
from farrier.model.tables import RobustTable
from farrier.search.evidence import VERY_STRONG

ROWS = 120
NOISE = 0.2


def made(seed, outliers):
    """Two additive effects; some rows are moved by ten standard deviations of the noise."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(-2.0, 2.0, (ROWS, 3))
    truth = X[:, 0] + X[:, 1] ** 2
    y = truth + NOISE * generator.standard_normal(ROWS)
    rows = np.sort(generator.choice(ROWS, outliers, replace=False))
    y[rows] += 10.0 * NOISE * generator.choice([-1.0, 1.0], outliers)
    return X, y, truth, rows


@pytest.fixture(scope="module")
def spoilt():
    X, y, truth, rows = made(0, 6)
    return Regressor().fit(X, y), X, y, truth, rows


def test_all_outliers_are_found_and_no_other_row(spoilt):
    model, _, _, _, rows = spoilt
    assert model.likelihood_ == "student-t"
    assert sorted(model.outliers()["row"]) == rows.tolist()
    (decision,) = [one for one in model.record_ if one.formula == "noise: Student-t"]
    assert decision.action == "kept"
    assert decision.gain > VERY_STRONG


def test_outliers_hardly_move_the_effects(spoilt):
    model, X, y, truth, _ = spoilt
    misled = Regressor(likelihood="gaussian").fit(X, y)
    errors = [np.sqrt(np.mean((one.predict(X) - truth) ** 2)) for one in (model, misled)]
    assert errors[0] < 0.6 * errors[1]


def test_noise_is_that_of_ordinary_rows(spoilt):
    fitted = spoilt[0].result_.fitted
    assert_allclose(np.sqrt(fitted.noise_variance) * fitted.scale.sd, NOISE, rtol=0.3)


def test_outliers_have_a_large_noise_variance_of_their_own(spoilt):
    model, _, _, _, rows = spoilt
    for member in model.result_.fitted.members:
        noise = member.posterior.posteriors[0].noise
        assert noise[rows].min() > 5.0 * np.median(noise)


def test_variances_of_rows_are_those_that_the_posterior_expects(spoilt, monkeypatch):
    _, X, y, _, _ = spoilt
    gaussian = Regressor(likelihood="gaussian").fit(X, y).result_
    monkeypatch.setattr(noise, "ROBUST_ROUNDS", 60)
    member = RobustTable.of(gaussian.fitted, Problem(gaussian.inputs, y), 4.0).members[0]
    posterior, scale2 = member.posterior.posteriors[0], member.noises[0]
    mean, variance = moments(*posterior.draws(gaussian.inputs))
    square = (member.scale.forward(y) - mean) ** 2 + variance
    # EM at its fixed point, with the posterior computed directly
    assert_allclose(posterior.noise, (4.0 * scale2 + square) / 5.0, rtol=1e-3)
    assert_allclose(scale2, np.mean(square * scale2 / posterior.noise), rtol=1e-3)


def test_it_comes_back_from_a_file(spoilt, tmp_path):
    model, X, _, _, _ = spoilt
    again = farrier.load(model.save(tmp_path / "table.farrier"))
    assert again.outliers()["row"].tolist() == model.outliers()["row"].tolist()
    assert_allclose(again.predict(X), model.predict(X), rtol=1e-10)


def test_ordinary_rows_keep_gaussian_noise():
    X, y, _, _ = made(1, 0)
    model = Regressor().fit(X, y)
    assert model.likelihood_ == "gaussian"
    assert len(model.outliers()["row"]) == 0


def test_a_students_t_that_is_asked_for_is_kept():
    X, y, _, _ = made(2, 0)
    model = Regressor(likelihood="student-t").fit(X, y)
    assert model.likelihood_ == "student-t"
    assert model.record_[-1].reason == "asked for"


def test_after_outliers_are_found_the_structure_is_searched_for_again():
    # three outliers of 15 standard deviations, with which a search that takes the noise for Gaussian finds three steps
    generator = np.random.default_rng(3)
    X = generator.uniform(-3.0, 3.0, (150, 3))
    truth = np.sin(2.0 * X[:, 0])
    y = truth + 0.2 * generator.standard_normal(150)
    rows = generator.choice(150, 3, replace=False)
    y[rows] += 15.0 * 0.2 * np.where(generator.random(3) < 0.5, -1.0, 1.0)
    misled, model = (Regressor(likelihood=one).fit(X, y) for one in ("gaussian", "auto"))
    assert len(misled.pool_) > 1
    assert model.likelihood_ == "student-t"
    assert [kernel.formula() for kernel in model.pool_] in (["SE[0]"], ["RQ[0]"])
    assert sorted(model.outliers()["row"]) == sorted(rows)
    assert np.sqrt(np.mean((model.predict(X) - truth) ** 2)) < 0.1
