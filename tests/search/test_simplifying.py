"""Laws of simplifying: what is tried, how far it is fitted, and when a component or a factor goes.

Here scores are given, by the components of a structure: those of a short fit, and those of a fit to the end.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest
from farrier.search.search import Search
from farrier.search.settings import GrowingSettings, SearchSettings

from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import (
    CentredPeriodic,
    DampedTrend,
    Linear,
    Matern12,
    RandomWalk,
    SquaredExponential,
    Step,
)
from farrier.search.beliefs import Beliefs
from farrier.search.clock import Clock
from farrier.search.structure import Part, Structure
from farrier.search.warps import Warps

X = np.linspace(-1.0, 1.0, 8)[:, None]
GROWING = GrowingSettings(hopeless_margin=6.0, doubtful_margin=4.0, doubtful_tries=2)
A, B, C = Linear(0.0), SquaredExponential(0.5), CentredPeriodic(0.4, 1.0)
HOPELESS = defaultdict(lambda: (-20.0, None))
"""Scores of structures of which none does as well."""
NAMES = {"Lin": "A", "SE": "B", "Per0": "C"}


@dataclass
class Given(Search):
    """A search whose fits give the scores of a table."""

    scores: dict = field(default_factory=dict)
    """For the components, joined: the score after a short fit, and after a whole one."""
    worth: dict = field(default_factory=dict)
    """The loss without each component minus its price; large where nothing is said."""
    finished: bool = False
    """Whether a short fit ends by itself."""
    fits: list = field(default_factory=list)
    """Components, whether it was short, and the least likelihood, of each fit."""

    def fit(self, parts, noise, iterations=None, tolerance=None, least=-np.inf):
        short = iterations == self.settings.fits.short_iterations
        name = named(parts)
        self.fits.append((name, short, least))
        found = structure_of(parts, self.scores[name][0 if short else 1])
        return replace(found, finished=self.finished or not short)

    def losses(self, structure):
        return np.array([self.worth.get(one, 50.0) + 2.0 for one in named(structure.parts)])

    def prices(self, structure):
        return np.full(len(structure.parts), 2.0)


def named(parts):
    return "".join(NAMES.get(str(part.kernel), str(part.kernel)) for part in parts)


def structure_of(parts, score):
    return Structure(tuple(parts), 0.1, score, terms=SimpleNamespace(evidence=score + 30.0))


def start(*kernels, score=0.0):
    return structure_of([Part(kernel, kernel, 0.5) for kernel in kernels], score)


def given(scores, worth=None, **fields):
    fields = {"beliefs": Beliefs(Clock.of(X[:, 0])), "settings": SearchSettings(growing=GROWING)} | fields
    x = fields.pop("x", X)
    return Given(x, np.zeros(len(x)), covariance_of(x), scores=scores, worth=worth or {}, **fields)


def tried(search):
    return [(name, short) for name, short, _ in search.fits]


# components


@pytest.mark.parametrize("score", [0.1, 3.0])
def test_a_component_goes_if_the_score_without_it_is_higher(score):
    search = given({"A": (score, None)}, {"B": 1.0})
    pruned = search.prune(start(A, B), 3)
    assert (named(pruned.parts), pruned.score) == ("A", score)
    assert tried(search) == [("A", True)]
    (decision,) = search.record
    assert (decision.round, decision.action, decision.formula, decision.gain) == (3, "dropped", "SE", score)


@pytest.mark.parametrize(("whole", "left"), [(0.1, "A"), (0.0, "AB"), (-2.0, "AB")])
def test_a_promising_removal_is_fitted_to_the_end(whole, left):
    search = given({"A": (-3.0, whole)}, {"B": 1.0})
    assert named(search.prune(start(A, B), 1).parts) == left
    assert tried(search) == [("A", True), ("A", False)]


def test_a_promising_removal_whose_fit_has_ended_is_not_fitted_again():
    search = given({"A": (-3.0, 9.0)}, {"B": 1.0}, finished=True)
    assert named(search.prune(start(A, B), 1).parts) == "AB"
    assert tried(search) == [("A", True)]


@pytest.mark.parametrize("score", [0.0, -6.0, -20.0])
def test_a_removal_that_just_loses_or_is_hopeless_is_not_fitted_further(score):
    search = given({"A": (score, 9.0)}, {"B": 1.0})
    assert named(search.prune(start(A, B), 1).parts) == "AB"
    assert tried(search) == [("A", True)]
    assert search.record == []


def test_a_fit_without_a_component_must_reach_the_likelihood_minus_its_price_and_the_margin():
    search = given({"A": (-20.0, None)}, {"B": 1.0})
    search.prune(start(A, B), 1)
    # the likelihood of the start is 30, the price of each component is 2, the margin is 6
    assert search.fits[0][2] == 30.0 - 2.0 - 6.0


def test_only_doubtful_components_are_tried_the_least_needed_first_and_not_all():
    scores = {"AB": (-20.0, None), "BC": (-20.0, None), "AC": (-20.0, None)}
    search = given(scores, {"B": 4.0, "C": 3.9})
    search.prune(start(A, B, C), 1)
    assert [name for name, _ in tried(search)] == ["AB"]
    search = given(scores, {"A": 3.0, "B": 2.0, "C": 1.0})
    search.prune(start(A, B, C), 1)
    assert [name for name, _ in tried(search)] == ["AB", "AC"]
    search = given(scores, {"A": 3.0, "B": 40.0, "C": 1.0})
    search.prune(start(A, B, C), 1, thoroughly=True)
    assert [name for name, _ in tried(search)] == ["AB", "BC", "AC"]


def test_after_a_removal_the_others_are_compared_anew_and_the_last_one_stays():
    search = given({"AB": (1.0, None), "B": (2.0, None)}, {"A": 2.0, "B": 3.0, "C": 1.0})
    pruned = search.prune(start(A, B, C), 1)
    assert (named(pruned.parts), pruned.score) == ("B", 2.0)
    assert tried(search) == [("AB", True), ("B", True)]
    assert [decision.gain for decision in search.record] == [1.0, 1.0]


def test_rows_are_a_table_if_there_are_several_inputs_or_codes():
    two = np.column_stack([X[:, 0], X[::-1, 0]])
    table = given({}, x=two, beliefs=Beliefs())
    assert [given({}).of_table, given({}, coded=(0,)).of_table, table.of_table] == [False, True, True]
    # a series has a clock, and its further inputs are regressors
    assert not given({}, x=two).of_table


def test_a_table_loses_inputs_along_which_a_kernel_is_flat():
    two = np.column_stack([X[:, 0], X[::-1, 0]])
    wide = SquaredExponential(np.array([0.5, 1000.0]))
    for coded, left in (((), "SE[0]"), ((1,), "SE[0]")):
        search = given({"SE[0]": (None, 0.0)}, x=two, beliefs=Beliefs(), coded=coded)
        assert named(search.prune(start(wide), 1).parts) == left


# factors


def simplified(kernel, scores, **fields):
    search = given(scores, **fields)
    return search, search.simplify(start(kernel), 2)


def test_a_product_loses_the_factor_without_which_the_score_rises():
    search, found = simplified(A * B, {"B": (-9.0, None), "A": (0.1, None)})
    assert (named(found.parts), found.score) == ("A", 0.1)
    (decision,) = search.record
    assert (decision.round, decision.action, decision.formula, decision.gain) == (2, "simplified", "Lin * SE", 0.1)
    assert decision.reason == "Lin does as well"


@pytest.mark.parametrize("score", [0.0, -6.0, -9.0])
def test_a_simpler_kernel_that_is_only_as_good_or_hopeless_is_not_fitted_further_nor_taken(score):
    search, found = simplified(A * B, {"B": (score, 9.0), "A": (-20.0, None)})
    assert named(found.parts) == str(A * B)
    assert tried(search) == [("B", True), ("A", True)]
    assert {least for _, _, least in search.fits} == {30.0 - 2.0 - 6.0}


@pytest.mark.parametrize(("whole", "left"), [(0.5, "B"), (0.0, "Lin * SE"), (-0.5, "Lin * SE")])
def test_a_promising_kernel_is_fitted_to_the_end(whole, left):
    search, found = simplified(A * B, {"B": (-3.0, whole), "A": (-20.0, None)})
    assert named(found.parts) == left
    assert tried(search)[:2] == [("B", True), ("B", False)]


def test_after_a_simpler_kernel_the_simplifying_goes_on_and_tries_nothing_twice():
    product = A * B * C
    scores = {
        "Lin * SE": (-20.0, None),
        "Lin * Per0": (1.0, None),
        "SE * Per0": (-20.0, None),
        "A": (2.0, None),
        "C": (-20.0, None),
    }
    search, found = simplified(product, scores)
    assert (named(found.parts), found.score) == ("A", 2.0)
    assert len(tried(search)) == len(set(tried(search)))
    assert [decision.gain for decision in search.record] == [1.0, 1.0]


def test_only_the_component_that_is_made_simpler_changes_and_each_is_tried():
    search = given({"BLin * Per0": (-20.0, None), "Lin * SELin": (-20.0, None), "BC": (-20.0, None)})
    search.scores |= {name: (-20.0, None) for name in ("ALin * Per0", "Lin * SEC", "Lin * SEA")}
    found = search.simplify(start(A * B, A * C), 1)
    assert named(found.parts) == "Lin * SELin * Per0"
    assert {name for name, _ in tried(search)} == {"ALin * Per0", "BLin * Per0", "Lin * SEA", "Lin * SEC"}
    assert tried(search).count(("ALin * Per0", True)) == 1


def test_moves_that_failed_are_not_tried_again_after_another_component_became_simpler():
    failing = {"BLin * Per0": (-20.0, None), "ALin * Per0": (-20.0, None), "Lin * SEC": (-20.0, None)}
    search = given(failing | {"Lin * SEA": (1.0, None)})
    found = search.simplify(start(A * B, A * C), 1)
    assert named(found.parts) == "Lin * SEA"
    assert sorted(name for name, _ in tried(search)) == sorted([*failing, "Lin * SEA"])


@pytest.mark.parametrize(
    ("kernel", "scores"),
    [
        (Matern12(0.3), {"RW": (-30.0, None), "B": (-0.5, -0.5)}),
        (DampedTrend(0.3, -1.2, 1.0), {"RW": (-0.5, -0.5), "A": (-30.0, None)}),
    ],
    ids=str,
)
def test_other_simpler_kernels_must_have_more_evidence(kernel, scores):
    search, found = simplified(kernel, scores)
    assert [type(part.kernel) for part in found.parts] == [type(kernel)]
    assert {name for name, _ in tried(search)} == set(scores)


@pytest.mark.parametrize(("score", "kind"), [(-4.9, RandomWalk), (-5.0, Matern12), (-5.5, Matern12)])
def test_a_level_that_returns_needs_strong_evidence_against_one_that_wanders(score, kind):
    search, found = simplified(Matern12(0.3), {"RW": (score, score), "B": (-30.0, None)})
    assert [type(part.kernel) for part in found.parts] == [kind]
    assert GROWING.strong_evidence == 5.0
    assert any(name == "RW" for name, _ in tried(search))


def test_a_curve_of_a_table_may_become_a_line_a_jump_or_a_bend_only_where_inputs_are_warped():
    x = np.column_stack([np.linspace(-1.0, 1.0, 40), np.tile([0.0, 1.0], 20)])
    curve = SquaredExponential(0.5, dims=(0,))
    y = np.where(x[:, 0] > 0.1, 1.0, -1.0)
    whole = Search(x, y, covariance_of(x), warps=Warps.none(2))
    structure = whole.fit([whole.part(curve, 0.5)], 0.1)
    search = given({}, x=x, beliefs=Beliefs(), warps=Warps.none(2))
    search = replace(search, y=y)
    search.scores = {name: (-20.0, None) for name in ("Lin[0]", "Step[0]", "(1 - Step)[0]", "Step[0] * Lin[0]")}
    search.scores |= {name: (-20.0, None) for name in ("(1 - Step[0])", "(1 - Step[0]) * Lin[0]", "Lin[0] * Step[0]")}
    search.simplify(replace(structure, score=0.0), 1)
    names = [name for name, _ in tried(search)]
    assert "Lin[0]" in names
    assert any("Step" in name for name in names)
    plain = replace(search, warps=None, fits=[])
    plain.simplify(replace(structure, score=0.0), 1)
    assert not any("Step" in name for name, _ in tried(plain))


@pytest.mark.parametrize(
    ("kernel", "simple", "score", "of_table", "taken"),
    [
        (A * B, "A", -4.9, True, True),
        (A * B, "A", -5.0, True, False),
        (A * B, "A", -1.0, False, False),
        (B * C, "B", -1.0, True, False),
    ],
)
def test_a_curve_of_a_table_and_nothing_else_needs_strong_evidence_against_a_line(
    kernel, simple, score, of_table, taken
):
    search, found = simplified(kernel, HOPELESS | {simple: (score, score)}, coded=(0,) if of_table else ())
    assert (named(found.parts) == simple) == taken
    assert any(name == simple for name, _ in tried(search))


def test_a_component_of_negative_price_does_not_raise_the_likelihood_that_is_asked_for(monkeypatch):
    search = given(HOPELESS)
    monkeypatch.setattr(search, "prices", lambda structure: np.full(len(structure.parts), -3.0))
    search.simplify(start(A * B), 1)
    assert {least for _, _, least in search.fits} == {30.0 - 6.0}


def test_longer_periods_are_tried_only_in_a_series_whose_seasons_are_not_known():
    short = CentredPeriodic(0.25, 1.0)
    unknown, _ = simplified(short, HOPELESS)
    assert tried(unknown) == [("C", True)]
    dated, _ = simplified(short, HOPELESS, beliefs=Beliefs(Clock.of(X[:, 0], [])))
    assert tried(dated) == []
    table, _ = simplified(short, HOPELESS, coded=(0,))
    assert tried(table) == []


def test_a_component_is_tried_on_each_side_of_a_change_unless_rows_are_a_table_or_the_work_is_done():
    for fields, sides in (({}, 2), ({"coded": (0,)}, 0), ({"work": 1e30}, 0)):
        search = given(HOPELESS, **fields)
        search.simplify(start(B, Step(0.1, 0.02)), 1)
        assert len(search.fits) == sides


class Moving(Given):
    """Fits that move a hyperparameter of the first component, so that what is simpler than it is new as well."""

    def fit(self, parts, noise, iterations=None, tolerance=None, least=-np.inf):
        moved = replace(parts[0], kernel=A * SquaredExponential(0.5 + 0.01 * len(self.fits)))
        return super().fit([moved if named(parts[:1]) == "Lin * SE" else parts[0], *parts[1:]], noise, iterations)


@pytest.mark.parametrize(("work", "rounds"), [(0.0, 2), (1e30, 1)])
def test_a_search_that_has_done_its_work_ends_with_the_first_round(work, rounds):
    plain = given(HOPELESS | {"Lin * SEA": (1.0, None)}, work=work)
    search = Moving(X, plain.y, plain.covariance, scores=plain.scores, beliefs=plain.beliefs, work=work)
    found = search.simplify(start(A * B, A * C), 1)
    assert named(found.parts) == "Lin * SEA"
    assert [name for name, _ in tried(search)].count("BLin * Per0") == 1
    assert [name for name, _ in tried(search)].count("BA") == rounds - 1


def test_the_kernels_of_these_tests_have_the_names_that_scores_are_given_for():
    assert [str(kernel) for kernel in (A, B, C, Step(0.1, 0.1))] == ["Lin", "SE", "Per0", "Step"]
