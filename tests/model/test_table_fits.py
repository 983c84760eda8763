"""Laws of the model of a table: parts of known tables are named right, and all scales predict together."""

import re
from functools import cache

import numpy as np
import pytest

from farrier import Regressor
from farrier.model import rows as rows_module
from farrier.model.members import Contender, stacked_members
from farrier.model.problem import Problem
from farrier.model.rows import fitting_rows
from farrier.model.table_fits import projected_table
from farrier.model.tables import fit_table

ROWS = 120
MADE = {
    "straight": (lambda X: 2.0 * X[:, 0], {"Lin[0]"}),
    "U-shaped": (lambda X: X[:, 1] ** 2, {"SE[1]"}),
    "product": (lambda X: X[:, 0] * X[:, 2], {"Lin[0] * Lin[2]"}),
    "step": (lambda X: (X[:, 2] > 0.4).astype(float), {"Step[2]"}),
    "three-way": (lambda X: X[:, 0] * X[:, 1] * X[:, 2], {"Lin[0] * Lin[1] * Lin[2]"}),
}


@cache
def inputs(columns=4):
    return np.random.default_rng(3).uniform(-1.7, 1.7, (ROWS, columns))


def found(y, X):
    noisy = y + 0.2 * y.std() * np.random.default_rng(4).standard_normal(len(y))
    return fit_table(Problem(X, noisy), likelihood="gaussian")


def scales_of(X, y, transform):
    return projected_table(Problem(X, y, scale=transform))


@pytest.mark.parametrize("name", MADE)
def test_the_parts_of_known_tables_are_named(name):
    make, expected = MADE[name]
    fitted = found(make(inputs()), inputs())
    assert {kernel.formula() for kernel in fitted.kernels[: fitted.survivors]} == expected


def test_inputs_without_effect_stay_out():
    X = inputs(12)
    fitted = found(X[:, 0] + np.sin(2.0 * X[:, 5]), X)
    assert {kernel.formula() for kernel in fitted.kernels[: fitted.survivors]} == {"Lin[0]", "SE[5]"}


def test_pools_of_all_scales_may_predict_and_shares_add_up():
    X = inputs()
    y = np.exp(0.8 * X[:, 0] + 0.1 * np.random.default_rng(5).standard_normal(ROWS))
    assert [one.scale.transform.name for one in scales_of(X, y, "auto")] == ["log", "identity"]
    fitted = fit_table(Problem(X, y), likelihood="gaussian")
    assert np.isclose(fitted.share + sum(one.share for one in fitted.others), 1.0)
    assert fitted.scale.transform.name == "log"


def test_stacking_prefers_what_predicts_left_out_rows():
    X = inputs()
    y = np.sin(2.0 * X[:, 0]) + 0.1 * np.random.default_rng(6).standard_normal(ROWS)
    (scaled,) = scales_of(X, y, "identity")
    search, pool = scaled.pools[0].evaluator, scaled.pools[0].structure
    rivals = [Contender("", structure, search, scaled.scale, y) for structure in (search.empty(), pool)]
    shares, _, _ = stacked_members(rivals, X, y)
    assert shares[1] > 0.9


def few_rows(monkeypatch):
    monkeypatch.setattr(rows_module, "FITTED_ROWS", 48)
    monkeypatch.setattr(rows_module, "EXACT_TABLE_ROWS", 100)


def test_members_of_many_rows_are_fitted_to_a_part_of_them(monkeypatch):
    few_rows(monkeypatch)
    X = np.random.default_rng(0).standard_normal((400, 2))
    assert len(fitting_rows(X[:40])) == 40
    assert len(np.unique(fitting_rows(X[:90]))) == 48


def test_of_large_tables_neighbours_are_among_the_rows_of_a_fit(monkeypatch):
    few_rows(monkeypatch)
    X = np.random.default_rng(0).standard_normal((400, 2))
    some = fitting_rows(X)
    assert len(np.unique(some)) == 48

    def nearest(rows):
        apart = np.linalg.norm(X[rows][:, None] - X[rows][None], axis=2) + 9.0 * np.eye(len(rows))
        return np.quantile(apart.min(axis=1), 0.25)

    assert nearest(some) < 0.7 * nearest(np.arange(0, 400, 8))


def test_interactions_of_categories_and_numbers_are_predicted_for_few_rows_too():
    generator = np.random.default_rng(0)
    signs, slopes = np.array([1.0, -1.0, 0.5, 2.0]), np.array([1.0, -1.0, 0.3])
    codes = [generator.integers(0, len(one), 460) for one in (signs, slopes)]
    x = generator.uniform(-1.7, 1.7, 460)
    truth = signs[codes[0]] * slopes[codes[1]] * np.sin(1.5 * x)
    X, y = np.column_stack([*codes, x]), truth + 0.1 * generator.standard_normal(460)
    mean, _ = fit_table(Problem(X[:160], y[:160], coded=(0, 1)), likelihood="gaussian").moments(X[160:])
    # effects of one or two inputs explain nothing here: their error is the standard deviation of the function
    assert np.sqrt(np.mean((mean - truth[160:]) ** 2)) < 0.3 * truth.std()


def test_what_repeats_over_two_inputs_fills_a_hole_in_a_texture():
    i, j = (one.ravel().astype(float) for one in np.meshgrid(np.arange(18), np.arange(14), indexing="ij"))
    hole = (np.abs(i - 8.5) < 3) & (np.abs(j - 6.5) < 3)
    y = np.cos(2 * np.pi * i / 4.5 + 0.1) * np.cos(2 * np.pi * j / 4.0)
    y += 0.1 * np.random.default_rng(7).standard_normal(len(i))
    X = np.stack([i, j], axis=1)
    model = Regressor(likelihood="gaussian").fit(X[~hole], y[~hole])
    assert np.sqrt(np.mean((model.predict(X[hole]) - y[hole]) ** 2)) < 0.3 * y[hole].std()
    assert re.search(
        "periodic in x0 every 4.[45].* and periodic in x1 every [34]", " ".join(str(model.explain()).split())
    )
