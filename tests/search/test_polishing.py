"""Laws of polishing: a change is made only for more evidence, the best one first, and of two as good the plainer."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import CentredPeriodic, Linear, Matern12, SquaredExponential
from farrier.search.beliefs import Beliefs
from farrier.search.evidence import VERY_STRONG
from farrier.search.polishing import LEAST_GAIN, TRIES, plainest, polished, worth
from farrier.search.rows import series_moves
from farrier.search.scoring import Evaluator
from farrier.search.structure import Move, Part, Structure
from tests.search.made_series import (
    LINE_AND_SEASON,
    SIZE,
    STEP,
    WHITE,
    X,
    fitted,
    formulas,
    noise,
    of_curve,
    of_months,
)

# made series


def test_a_cycle_is_replaced_by_a_growing_one():
    # its size is that of a line: no cycle of one size is needed beside it
    evaluator = of_curve((X[:, 0] + 2.2) * np.sin(2.0 * np.pi * X[:, 0] / 0.31) + noise(0.2))
    record = []
    steady = fitted(evaluator, CentredPeriodic(0.31, 1.0))
    grown = polished(evaluator, steady, series_moves, record)
    assert formulas(grown) == ["Lin * Per0"]
    assert (record[0].action, record[0].formula) == ("changed", "Lin * Per0 for Per0")
    assert grown.score == pytest.approx(steady.score + sum(decision.gain for decision in record))


def test_a_twin_goes_and_what_is_needed_stays():
    evaluator = of_curve(LINE_AND_SEASON)
    twins = fitted(evaluator, Linear(0.0), CentredPeriodic(0.31, 1.0), CentredPeriodic(0.312, 0.8))
    found = polished(evaluator, twins, series_moves)
    assert formulas(found) == ["Lin", "Per0"]
    assert found.score > twins.score
    assert polished(evaluator, found, series_moves) is found


def test_a_change_of_level_comes_where_it_is():
    evaluator = of_curve(STEP)
    found = polished(evaluator, evaluator.empty(), series_moves)
    (only,) = found.parts
    assert only.kernel.formula() in ("Step", "(1 - Step)")
    assert abs(float(only.kernel.location) - 0.4) < SIZE


def test_a_curve_of_a_regressor_that_is_nearly_a_line_becomes_one():
    price = np.random.default_rng(0).standard_normal(len(X))
    inputs, y = np.column_stack([X[:, 0], price]), 2.0 * price + noise(0.5, 1)
    beliefs = Beliefs.of(inputs, [12 * SIZE], timed=True)
    evaluator = Evaluator(inputs, y / y.std(), covariance_of(inputs, timed=True), beliefs=beliefs)
    curve = SquaredExponential(4.0, dims=(1,))
    start = evaluator.fit([evaluator.part(curve, 1.0)], 0.1)
    assert formulas(polished(evaluator, start, series_moves)) == ["Lin[1]"]


@pytest.mark.parametrize("of", [of_curve, of_months])
def test_white_noise_is_noise_and_a_walk_is_a_walk(of):
    evaluator = of(WHITE)
    found = fitted(evaluator, SquaredExponential(0.3))
    assert plainest(evaluator, found).parts == ()
    walk = of_months(np.cumsum(WHITE))
    plain = plainest(walk, fitted(walk, Linear(0.0), SquaredExponential(0.3)))
    assert formulas(plain) == ["RW"]
    strong = of_curve(LINE_AND_SEASON)
    both = fitted(strong, Linear(0.0), CentredPeriodic(0.31, 1.0))
    assert plainest(strong, both) is both


# given scores

A, B, C = Linear(0.0), SquaredExponential(0.5), CentredPeriodic(0.4, 1.0)
NAMES = {"Lin": "A", "SE": "B", "Per0": "C"}


@dataclass
class Given(Evaluator):
    """Fits with the scores of a table, and losses and gains at fixed parameters that promise what is said."""

    scores: dict = field(default_factory=dict)
    promises: dict = field(default_factory=dict)
    """By a component what its removal promises, by (place, component) what a move does; little by default."""
    fits: list = field(default_factory=list)

    def fit(self, parts, noise, iterations=None, least=-np.inf):
        self.fits.append(named(parts))
        return structure_of(parts, self.scores[named(parts)])

    def losses(self, structure):
        return np.array([2.0 - self.promises.get(named([part]), -50.0) for part in structure.parts])

    def prices(self, structure):
        return np.full(len(structure.parts), 2.0)

    def screen(self, structure, moves):
        return np.array([self.promises.get((move.place, move.kernel.formula()), -50.0) for move in moves])


def named(parts):
    return "".join(NAMES.get(part.kernel.formula(), part.kernel.formula()) for part in parts)


def structure_of(parts, score):
    return Structure(tuple(parts), 0.1, score, terms=SimpleNamespace(evidence=score + 30.0))


def start(*kernels):
    return structure_of([Part(kernel, kernel, 0.5) for kernel in kernels], 0.0)


TABLE = np.column_stack([X[:, 0], X[::-1, 0] ** 2])


def given(scores, promises):
    """For a table, whose structures have no changepoints to move."""
    return Given(TABLE, np.zeros(len(X)), covariance_of(TABLE), scores=scores, promises=promises)


def no_moves(evaluator, structure):
    return []


@pytest.mark.parametrize(("gain", "left"), [(LEAST_GAIN + 0.01, "A"), (LEAST_GAIN - 0.01, "AB"), (-3.0, "AB")])
def test_a_component_goes_if_that_gains_evidence(gain, left):
    evaluator = given({"A": gain}, {"B": 1.0})
    record = []
    found = polished(evaluator, start(A, B), no_moves, record)
    assert named(found.parts) == left
    assert set(evaluator.fits) == {"A"}
    assert [decision.gain for decision in record] == ([gain] if left == "A" else [])


def test_what_promises_nothing_is_not_fitted_and_of_many_only_the_best_are():
    evaluator = given({}, {})
    assert named(polished(evaluator, start(A, B), no_moves).parts) == "AB"
    assert evaluator.fits == []
    many = [Linear(float(k), dims=(0,)) * SquaredExponential(0.1 * k, dims=(1,)) for k in range(1, TRIES + 4)]
    evaluator = given({f"A{many[0].formula()}": -9.0}, {(None, many[0].formula()): 9.0})
    polished(evaluator, start(A), lambda evaluator, structure: [Move(kernel) for kernel in many])
    assert len(evaluator.fits) == TRIES


def test_the_best_of_a_round_is_taken_and_nothing_is_tried_twice():
    scores = {"AB": 1.0, "BC": 3.0, "AC": -20.0, "B": 2.0, "C": -20.0}
    evaluator = given(scores, {"A": 1.0, "C": 2.0, "B": 0.0})
    found = polished(evaluator, start(A, B, C), no_moves)
    assert (named(found.parts), found.score) == ("BC", 3.0)
    tried = [name for name, after in zip(evaluator.fits, [None, *evaluator.fits], strict=False) if name != after]
    assert len(tried) == len(set(tried)) == 5


def test_more_factors_must_promise_more_before_a_fit():
    def moves(evaluator, structure):
        return [Move(A * B, 0)] if len(structure.parts[0].kernel.products()[0]) == 1 else []

    for promise, fits in ((-3.9, 1), (-4.1, 0)):
        evaluator = given({"Lin * SE": -9.0}, {(0, "Lin * SE"): promise})
        polished(evaluator, start(A), moves)
        assert len(set(evaluator.fits)) == fits


@pytest.mark.parametrize(
    ("kernel", "doubted"),
    [
        (SquaredExponential(1.0, dims=(0,)), True),
        (Linear(0.0, dims=(0,)), False),
        (SquaredExponential(np.ones(2)), False),
        (Linear(0.0, dims=(0,)) * SquaredExponential(1.0, dims=(1,)), False),
    ],
    ids=lambda one: one.formula() if hasattr(one, "formula") else str(one),
)
def test_a_curve_of_one_column_needs_strong_evidence(kernel, doubted):
    structure = start(kernel)
    assert worth(given({}, {}), structure) == structure.score - VERY_STRONG * doubted


def test_a_level_that_returns_needs_strong_evidence_in_a_series():
    evaluator = of_curve(WHITE)
    for kernel, doubted in ((Matern12(0.3), True), (SquaredExponential(0.3), False), (Matern12(0.3) * C, False)):
        assert worth(evaluator, replace(start(kernel), score=7.0)) == 7.0 - VERY_STRONG * doubted
