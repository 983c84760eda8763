"""Laws of the candidates of a table: each input, all together, and the interactions that the residual shows."""

import numpy as np
import pytest

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import SquaredExponential
from farrier.search.beliefs import Beliefs
from farrier.search.rows import Rows
from farrier.search.scoring import Evaluator
from farrier.search.starting_values import INPUT_LENGTHSCALE
from farrier.search.table_candidates import Warps, additional, interaction, ordinary, sets_of_inputs, simpler
from farrier.search.table_moves import Columns

RNG = np.random.default_rng(1)
X = RNG.uniform(-1.7, 1.7, (120, 4))
PLAIN = Warps.none(4)


def evaluator_of(y):
    y = y + 0.2 * RNG.standard_normal(len(y))
    return Evaluator(X, (y - y.mean()) / y.std(), covariance_of(X), beliefs=Beliefs.of(X))


@pytest.mark.parametrize("inputs", [(0, 2), (1, 2, 3)])
def test_a_product_of_symmetric_inputs_has_the_highest_score(inputs):
    evaluator = evaluator_of(np.prod(X[:, inputs], axis=1))
    sets = sets_of_inputs(range(4))
    scores = evaluator.interaction_scores(evaluator.empty(), sets)
    assert sets[int(np.argmax(scores))] == inputs
    tried = [move.kernel.formula() for move in Columns(warps=PLAIN).moves(evaluator, evaluator.empty())]
    assert " * ".join(f"Lin[{d}]" for d in inputs) in tried


def test_main_effects_are_no_interactions():
    straight, product = evaluator_of(X[:, 0] + X[:, 1] ** 2), evaluator_of(X[:, 0] * X[:, 1])
    scores = [one.interaction_scores(one.empty(), [(0, 1)])[0] for one in (straight, product)]
    assert scores[0] < 0.05 * scores[1]


def test_an_interaction_is_tried_as_lines_as_a_line_and_a_curve_and_as_a_surface():
    tried = [kernel.formula() for kernel in interaction(PLAIN, (1, 3))]
    assert tried == ["Lin[1] * Lin[3]", "SE[1] * Lin[3]", "Lin[1] * SE[3]", "SE[1, 3]"]


def test_a_table_offers_each_input_and_all_together():
    tried = [kernel.formula() for kernel in additional(PLAIN, (), [], [])]
    assert {f"Lin[{d}]" for d in range(4)} | {f"SE[{d}]" for d in range(4)} | {"RQ", "Mat12"} == set(tried)


def test_ordinary_candidates_leave_out_what_was_found():
    found = [SquaredExponential(INPUT_LENGTHSCALE, dims=(1,))]
    assert "SE[1]" not in [kernel.formula() for kernel in ordinary(PLAIN, found)]


def test_triples_get_no_score_where_they_are_many():
    assert all(len(one) == 2 for one in sets_of_inputs(range(24)))


def test_a_curve_may_be_a_line_and_a_surface_a_product_of_lines():
    assert [one.formula() for one in simpler(SquaredExponential(1.0, dims=(2,)))] == ["Lin[2]"]
    of_two = [one.formula() for one in simpler(SquaredExponential(np.ones(2), dims=(0, 2)))]
    assert of_two[0] == "Lin[0] * Lin[2]"
    assert "SE[0, 2]" not in of_two
    assert simpler(SquaredExponential(np.ones(4))) == []


def test_interactions_of_all_orders_stand_beside_all_numbers_together_and_categories():
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.standard_normal((40, 2)), generator.integers(0, 3, 40)])
    y = X[:, 0] + 0.1 * generator.standard_normal(40)
    evaluator = Evaluator(X, y / y.std(), covariance_of(X), beliefs=Beliefs.of(X, coded=(2,)))
    columns = Columns(Warps.none(3, (2,)))
    whole = Rows(columns).pool(evaluator)
    formulas = [part.kernel.formula() for part in columns.all_orders(evaluator, whole)]
    assert formulas == ["All", "RQ[0, 1]", "Mat12[0, 1]", "Cat[2]"]


def test_of_many_rows_a_kernel_of_all_inputs_reaches_beyond_the_rows():
    far = SquaredExponential(2.0 * np.sqrt(3.0) * np.ones(3)).formula()
    for rows, there in ((399, False), (400, True)):
        X = np.random.default_rng(0).standard_normal((rows, 3))
        evaluator = Evaluator(X, X[:, 0], covariance_of(X), beliefs=Beliefs.of(X))
        found = Columns(warps=Warps.none(3)).ordinary(evaluator, [])
        assert (far in [kernel.formula() for kernel in found]) == there
