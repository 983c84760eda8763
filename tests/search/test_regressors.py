"""Laws of the effects of regressors: each has one, nothing mixes them with time, and curves need strong evidence."""

import numpy as np
import pytest

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import CentredPeriodic, Linear, RandomWalk, SquaredExponential
from farrier.search.beliefs import PRIOR_SCALE, Beliefs
from farrier.search.candidates import acts_on, curves_for, lines, straight
from farrier.search.rows import Rows, series_moves
from farrier.search.scoring import Evaluator, noise_beside

RNG = np.random.default_rng(0)
TIME = np.linspace(-1.7, 1.7, 70)
YEAR = 3.4 / 6
PRICE, PROMO = RNG.standard_normal(70), (RNG.random(70) < 0.2).astype(float)
X = np.column_stack([TIME, PRICE, PROMO])
COLUMNS = ["day", "price", "promo"]


def formulas(kernels):
    return [kernel.formula(COLUMNS) for kernel in kernels]


def evaluator_of(y, X=X):
    y = (y - y.mean()) / y.std()
    beliefs = Beliefs.of(X, [YEAR], timed=True)
    return Evaluator(X, y, covariance_of(X, timed=True), known=[YEAR], beliefs=beliefs)


def test_a_line_for_each_regressor_without_an_effect():
    assert formulas(lines(3, [])) == ["Lin[price]", "Lin[promo]"]
    assert formulas(lines(3, [SquaredExponential(1.0, dims=(1,)), Linear(0.0, dims=(0,))])) == ["Lin[promo]"]
    both = Linear(0.0, dims=(1,)) * Linear(0.0, dims=(2,))
    assert formulas(lines(3, [both])) == ["Lin[price]", "Lin[promo]"]
    assert lines(1, []) == []
    assert [acts_on(one) for one in (both, Linear(0.0), Linear(0.0, dims=(0,)))] == [(1, 2), (), ()]


def test_only_a_number_of_more_than_two_values_may_have_a_curve_and_each_curve_a_line_in_its_place():
    line, off = lines(3, [])
    assert set(formulas(curves_for(line, X))) == {"SE[price]"}
    assert curves_for(off, X) == []
    assert curves_for(Linear(0.0, dims=(0,)), X) == curves_for(line * off, X) == []
    assert formulas(straight(curves_for(line, X)[0])) == ["Lin[price]"]
    assert straight(line) == straight(SquaredExponential(1.0, dims=(0,))) == []


def test_the_noise_at_the_start_is_that_of_neighbours_whatever_the_trend_and_the_effects():
    order, noise = RNG.permutation(70), 0.3 * np.random.default_rng(2).standard_normal(70)
    y = noise + np.sin(TIME) + 5.0 * PROMO - 2.0 * PRICE
    assert noise_beside(X[order], y[order]) == pytest.approx(np.var(noise), rel=0.3)
    assert noise_beside(X, np.tile([1.0, -1.0], 35)) == pytest.approx(1.0)


def test_candidates_for_time_act_on_time_alone():
    evaluator = evaluator_of(RNG.standard_normal(70))
    parts = [evaluator.part(k, 0.5) for k in (SquaredExponential(1.0), Linear(0.0, dims=(1,)))]
    found = evaluator.fit(parts, 0.3, 2)
    moves = series_moves(evaluator, found)
    kernels = [
        *Rows().ordinary(evaluator, [YEAR], []),
        *(move.kernel for move in moves),
        *(part.kernel for part in found.parts),
    ]
    columns = [{d for factor in kernel.products()[0] for d in factor.dims or (None,)} for kernel in kernels]
    assert all(one == {0} or 0 not in one for one in columns)
    assert None not in set().union(*columns)
    assert {"RW[day]", "Damp[day]", "Lin[day]", "Mat12[day]", "SE[price]", "Lin[promo]"} <= set(formulas(kernels))
    # what was found grows, and a line may become a curve
    assert "Lin[day] * SE[day]" in formulas(move.kernel for move in moves if move.place == 0)
    assert [move.kernel.formula(COLUMNS) for move in moves if move.place == 1] == ["SE[price]"] * 2


def test_kernels_that_were_made_for_time_keep_its_learned_priors_and_lines_of_regressors_have_none():
    alone, beliefs = Beliefs.of(X[:, :1], [YEAR], timed=True), Beliefs.of(X, [YEAR], timed=True)
    walk = beliefs.walk
    assert walk is not None
    for kernel in (walk, CentredPeriodic(YEAR, 1.0), Linear(0.0)):
        part, other = beliefs.part(kernel, 0.3, 3), alone.part(kernel, 0.3, 1)
        assert formulas([part.kernel]) == [f"{kernel.formula()}[day]"]
        assert part.scale == other.scale
        assert beliefs.log_structure([part], 3) == alone.log_structure([other], 1)
    assert beliefs.part(Linear(0.0, dims=(1,)), 0.3, 3).scale == PRIOR_SCALE
    assert isinstance(beliefs.part(walk, 0.3, 3).kernel, RandomWalk)


@pytest.mark.parametrize(("effect", "formula"), [(PRICE, "Lin[price]"), (PRICE**2, "SE[price]")], ids=["line", "curve"])
def test_a_curve_takes_the_place_of_a_line_where_the_evidence_is_strong(effect, formula):
    evaluator = evaluator_of(2.0 * effect + 0.5 * TIME + 0.5 * np.random.default_rng(1).standard_normal(70))
    whole = Rows().pool(evaluator)
    assert [one for one in formulas(part.kernel for part in whole.parts) if "price" in one] == [formula]
    # another model of the same rows starts with that decision
    again = Rows().pool(evaluator, whole)
    assert [one for one in formulas(part.kernel for part in again.parts) if "price" in one] == [formula]
