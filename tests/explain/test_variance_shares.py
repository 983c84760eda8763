"""Laws of the shares of variance: known functions have known shares, which add up to one."""

import numpy as np
import pytest

import farrier
from farrier.explain.variance_shares import variance_shares
from farrier.model.problem import Problem
from farrier.model.tables import fit_table

X = np.random.default_rng(8).uniform(-np.sqrt(3.0), np.sqrt(3.0), (120, 3))
NOISE = 0.05 * np.random.default_rng(9).standard_normal(120)


@pytest.mark.parametrize(
    ("y", "truth"),
    [
        (2.0 * X[:, 0] + X[:, 1], {(0,): 0.8, (1,): 0.2}),
        (X[:, 0] * X[:, 2], {(0, 2): 1.0}),
        (X[:, 0] + X[:, 1] * X[:, 2], {(0,): 0.5, (1, 2): 0.5}),
    ],
    ids=["two lines", "a product", "a line and a product"],
)
def test_shares_of_known_functions(y, truth):
    found = variance_shares(fit_table(Problem(X, y + NOISE), likelihood="gaussian"), X)
    for share in found.shares:
        assert abs(share.value - truth.get(share.inputs, 0.0)) < 0.12
        assert share.low - 1e-9 <= share.value <= share.high + 1e-9
    assert np.isclose(sum(one.value for one in found.shares) + found.rest, 1.0)
    assert {one.inputs for one in found.shares[: len(truth)]} == set(truth)


def test_the_report_and_the_explanation_say_what_carries_the_variance(tmp_path):
    model = farrier.Regressor(likelihood="gaussian").fit(X, 2.0 * X[:, 0] + X[:, 1] + NOISE)
    found = model.explain().variance_shares()
    assert found["shares"][0]["inputs"] == ["x0"]
    assert found["sentence"].startswith("Of the variance of what is predicted, x0 carries ")
    page = model.report(tmp_path / "report.html").read_text()
    assert "What carries the variance" in page
    assert "x0 carries" in page


def test_a_series_has_no_shares():
    x = np.arange(30.0)
    assert farrier.Regressor(likelihood="gaussian").fit(x[:, None], np.sin(x)).explain().variance_shares() is None
