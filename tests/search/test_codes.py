"""Laws of candidates where some inputs are codes: only categories act on codes, and what is found comes first."""

import numpy as np
import pytest

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import Category, Linear
from farrier.search.beliefs import Beliefs
from farrier.search.projection import Projection, explaining
from farrier.search.rows import Rows
from farrier.search.scoring import Evaluator
from farrier.search.table_candidates import Warps, additional, ordinary
from farrier.search.table_moves import Columns


def columns(kernel, family):
    return {d for f in kernel.products()[0] if isinstance(f, family) for d in f.positions(4)}


@pytest.mark.parametrize("coded", [(1, 3), (0,), (0, 1, 2, 3)])
def test_only_categories_act_on_codes(coded):
    warps = Warps.none(4, coded)
    fresh = [*additional(warps, coded, [], [], [3, 2, 1, 0]), *ordinary(warps, [])]
    for kernel in fresh:
        assert columns(kernel, Category) <= set(coded)
        for factor in kernel.products()[0]:
            if not isinstance(factor, Category):
                assert not set(factor.positions(4)) & set(coded)
    assert {c for kernel in fresh for c in columns(kernel, Category)} == set(coded)


def test_pairs_of_what_is_found_come_first_and_their_number_is_limited():
    found = [Category(dims=(20,)), Linear(0.0, dims=(2,))]
    coded = tuple(range(20, 40))
    fresh = additional(Warps.none(40, coded), coded, found, [], list(range(40)))
    products = [kernel for kernel in fresh if len(kernel.products()[0]) > 1 and "Cat" in str(kernel)]
    assert len(products) <= 40
    assert str(products[0]) == "Lin[2] * Cat[20]"


def searched(X, y, coded):
    beliefs = Beliefs.of(X, coded=coded)
    evaluator, kind = (
        Evaluator(X, (y - y.mean()) / y.std(), covariance_of(X), beliefs=beliefs),
        Rows(Columns(Warps.none(X.shape[1], coded))),
    )
    whole = kind.pool(evaluator)
    structure = explaining(evaluator, Projection.of(evaluator, whole), whole, kind, [])
    return {str(part.kernel) for part in structure.parts}


def test_an_effect_that_differs_between_levels_is_found_as_such():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.standard_normal(120), rng.integers(0, 4, 120)])
    slope = np.array([-2.0, 0.5, 1.0, 2.0])[X[:, 1].astype(int)]
    assert searched(X, slope * X[:, 0] + 0.2 * rng.standard_normal(120), (1,)) == {"Lin[0] * Cat[1]"}


def test_a_category_alone_is_a_table_and_noise_has_none():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, (80, 1)).astype(float)
    noise = rng.standard_normal(80)
    assert searched(X, X[:, 0] % 3 + 0.2 * noise, (0,)) == {"Cat"}
    assert searched(X, noise, (0,)) == set()
