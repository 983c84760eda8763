"""The suite horseshoe: with scales of one its variational q(w) is the library's; what its tables say."""

import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.competition_data import Series
from benchmarks.horseshoe import scores, tables
from benchmarks.weight_methods import METHODS, TAU_LEVELS, ScaledHorseshoe
from numpy.testing import assert_allclose

from benchmarks import weight_methods
from farrier.evaluation.covariance import covariance_of
from farrier.inference.horseshoe import Horseshoe, PointHorseshoe
from farrier.inference.weight_priors import quasi_normal
from farrier.kernels.registry import Linear, SquaredExponential
from farrier.search.beliefs import Beliefs
from farrier.search.scoring import Evaluator

NOISE = quasi_normal(8, 4)
RNG = np.random.default_rng(0)


def scaled(scale, shrunk):
    return ScaledHorseshoe.around(PointHorseshoe(np.asarray(scale) * 0.7, np.asarray(scale), np.asarray(shrunk)))


def test_with_scales_of_one_it_is_the_horseshoe():
    q = scaled([1.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    usual = Horseshoe(q.mu_tau, q.v_tau, q.mu, q.v)
    ours, theirs = q.weigh(q.vector(), NOISE), usual.weigh(usual.vector(), NOISE)
    dw2 = RNG.standard_normal(ours.w2.shape)
    assert_allclose(ours.w2, theirs.w2)
    assert_allclose(ours.kl, theirs.kl)
    assert_allclose(ours.pull(dw2), theirs.pull(dw2))
    assert_allclose(q.draw(NOISE) ** 2, theirs.w2)


def test_the_derivative_is_that_of_the_squared_weights_and_the_divergence():
    q = scaled([0.3, 2.0, 1.0], [1.0, 1.0, 0.0])
    u, dw2, step = q.vector() + 0.1 * RNG.standard_normal(8), RNG.standard_normal((8, 3)), 1e-6
    analytic = q.weigh(u, NOISE).pull(dw2)

    def value(u):
        found = q.weigh(u, NOISE)
        return float(np.vdot(dw2, found.w2)) - found.kl

    numeric = [(value(u + step * e) - value(u - step * e)) / (2.0 * step) for e in np.eye(len(u))]
    assert_allclose(analytic, numeric, rtol=1e-5, atol=1e-6)


def test_a_level_has_no_part_in_tau():
    q = scaled([1.0, 1.0], [1.0, 0.0])
    wider = q.with_vector(q.vector() + np.eye(6)[0])
    before, after = (one.draw(quasi_normal(8, 3)) for one in (q, wider))
    assert_allclose(after[:, 1], before[:, 1])
    assert_allclose(after[:, 0], before[:, 0] * np.exp(0.5))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_a_line_and_its_noise(method, monkeypatch):
    monkeypatch.setattr(weight_methods, "JUDGE", replace(weight_methods.JUDGE, draws=40, warm=40))
    x = np.linspace(-1.7, 1.7, 40)[:, None]
    y = x[:, 0] + 0.3 * np.random.default_rng(0).standard_normal(40)
    evaluator = Evaluator(x, (y - y.mean()) / y.std(), covariance_of(x), beliefs=Beliefs.of(x))
    parts = [evaluator.part(kernel, 0.5) for kernel in (Linear(0.0), SquaredExponential(0.5))]
    found = METHODS[method](evaluator, parts)
    weights = np.median([model.prior.quantile(0.5) for model in found.models], axis=0)
    assert 0.03 < found.noise < 0.16
    assert weights[0] > 3.0 * weights[1]
    assert found.tau == sorted(found.tau)
    assert len(found.tau) == (0 if method == "half-cauchy" else len(TAU_LEVELS))


def test_the_scores_of_a_forecast_are_scaled_by_the_seasonal_error():
    series = Series("a", np.array([0.0, 2.0, 0.0, 2.0]), np.array([1.0, 1.0]))
    quantiles = np.array([[-1.0, -1.0], [0.0, 2.0], [1.0, 3.0], [2.0, 4.0], [3.0, 5.0]])
    found = scores(quantiles, np.zeros(2), series, 1)
    assert found["mase"] == 0.5
    assert found["inside_80"] == 0.5
    assert found["inside_95"] == 1.0
    assert found["log_score"] == np.log(2.0)


def test_a_table_compares_the_noise_with_that_of_the_sampler(tmp_path):
    usual = {"mase": 1.0, "inside_80": 0.8, "inside_95": 0.95, "msis": 7.0, "log_score": -1.5}
    lines = []
    for method, noise, tau in (
        ("laplace", 0.2, [0.3, 0.9, 2.0]),
        ("half-cauchy", 0.05, []),
        ("sampler", 0.1, [0, 1, 2]),
    ):
        settings = {"set": "m1_monthly", "series": "a", "method": method}
        figures = {**usual, "noise": noise, "tau": tau}
        lines.append({"settings": settings, "seed": 0, "figures": figures, "cpu_seconds": 0.5})
    lines.append({"settings": {"rows": "two sines", "method": "laplace"}, "seed": 0, "figures": {"noise": 0.01}})
    path = tmp_path / "horseshoe.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    said = tables(path)
    assert "| laplace | 1 | 1.000 | 0.800 | 0.950 | 7.00 | -1.500 | 0.50 | 2.00 | 0.90 (0.30 to 2.00) |" in said
    assert "| half-cauchy | 1 | 1.000 | 0.800 | 0.950 | 7.00 | -1.500 | 0.50 | 0.50 | none |" in said
    assert "| laplace | 1 | 0.01 | 0.01 | 0.01 | 1 |" in said
