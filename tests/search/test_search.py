"""Laws of the search: it finds what the data were made of and nothing where there is nothing, and says what it did."""

from dataclasses import replace

import numpy as np
import pytest
from farrier.search.search import Search
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from farrier.evaluation.covariance import covariance_of
from farrier.evaluation.products import Products
from farrier.kernels.registry import CentredPeriodic, Linear, SquaredExponential, Step, Weekend
from farrier.search.appraisal import appraise
from farrier.search.beliefs import Beliefs
from farrier.search.clock import Clock
from farrier.search.structure import Move, Part

N = 64
X = np.linspace(-1.7, 1.7, N)[:, None]


def noise(size, seed=0):
    return size * np.random.default_rng(seed).standard_normal(N)


SERIES = {
    "line and season": X[:, 0] + np.sin(2.0 * np.pi * X[:, 0] / 0.31) + noise(0.4),
    "white": noise(1.0, 3),
    "step": np.where(X[:, 0] > 0.4, 1.0, 0.0) + noise(0.15, 1),
}


def searching(y, **settings):
    return Search(X, (y - y.mean()) / y.std(), covariance_of(X), beliefs=Beliefs(Clock.of(X[:, 0])), **settings)


@pytest.fixture(scope="module")
def found():
    """The search and what it found, for each series, and what it told on the way."""
    results = {}
    for name, y in SERIES.items():
        told = []
        search = searching(y, tell=lambda what, bound, told=told: told.append((what, bound)))
        results[name] = search, search.run(), told
    return results


def formulas(structure):
    return sorted(str(part.kernel) for part in structure.parts)


def part(kernel, weight=0.5):
    return Part(kernel, kernel, weight)


def test_a_line_and_a_season_are_found(found):
    _, structure, _ = found["line and season"]
    assert formulas(structure) == ["Lin", "Per0"]
    cycle = next(part.kernel for part in structure.parts if str(part.kernel) == "Per0")
    assert_allclose(float(cycle.period), 0.31, rtol=0.02)


def test_white_noise_has_no_component(found):
    search, structure, _ = found["white"]
    assert structure.parts == ()
    assert structure.score == search.empty().score
    assert_allclose(search.residual(structure), search.y, rtol=1e-12)
    assert search.losses(structure).shape == search.refitted_losses(structure).shape == (0,)


def test_a_change_of_level_is_found_where_it_is(found):
    _, structure, _ = found["step"]
    (only,) = structure.parts
    assert str(only.kernel) in ("Step", "(1 - Step)")
    # between the two rows beside 0.4
    assert abs(float(only.kernel.location) - 0.4) < 3.4 / 63


def test_a_component_is_kept_on_one_side_of_a_change_that_another_has():
    generator = np.random.default_rng(1)
    before, after = X[:, 0] < 0.2, X[:, 0] >= 0.2
    y = np.where(before, np.sin(2.0 * X[:, 0]) + 1.5, 0.0) + np.where(after, np.sin(2 * np.pi * X[:, 0] / 0.25), 0.0)
    search = searching(y + 0.1 * generator.standard_normal(len(y)))
    step = Step(0.2, 0.01)
    start = search.fit([part(SquaredExponential(0.8)), part(step * CentredPeriodic(0.25))], 0.1)
    places = [(move.place, str(move.kernel)) for move in search.moves(start)]
    assert (0, "SE * (1 - Step)") in places
    assert all(formula.count("Step") == 1 for place, formula in places if place == 1)


@pytest.mark.parametrize("name", SERIES)
def test_the_record_has_every_decision_of_every_round(found, name):
    search, structure, _ = found[name]
    rounds = [decision.round for decision in search.record]
    assert sorted(set(rounds)) == list(range(1, max(rounds) + 1))
    kept = [decision for decision in search.record if decision.action == "kept"]
    assert all(decision.gain > 0.0 for decision in kept)
    # one is kept in each round but the last
    assert [decision.round for decision in kept] == list(range(1, max(rounds)))
    assert all(decision.gain <= 0.0 for decision in search.record if decision.action == "tried")
    assert all(decision.reason for decision in search.record)
    assert len(structure.parts) <= len(kept)


@pytest.mark.parametrize("name", SERIES)
def test_scores_rise_by_what_the_record_says(found, name):
    search, structure, told = found[name]
    scores = [bound for what, bound in told if what.startswith("growing")]
    assert np.all(np.diff(scores) > 0.0)
    gains = [decision.gain for decision in search.record if decision.action == "kept"]
    assert_allclose(structure.score, search.empty().score + sum(gains), rtol=1e-9)
    assert search.steps > 0 or not gains


def test_the_order_of_the_rows_does_not_matter(found):
    search, structure, _ = found["line and season"]
    order = np.random.default_rng(5).permutation(N)
    shuffled = Search(X[order], search.y[order], covariance_of(X[order]), beliefs=search.beliefs)
    assert_allclose(shuffled.covariance_at(structure), search.covariance_at(structure)[np.ix_(order, order)], atol=1e-9)
    assert_allclose(shuffled.residual(structure), search.residual(structure)[order], atol=1e-7)
    assert_allclose(shuffled.losses(structure), search.losses(structure), rtol=1e-6)
    assert_allclose(shuffled.change(structure), search.change(structure), rtol=1e-6)
    fitted, again = (one.fit([part(Linear(0.0))], 0.5, iterations=5) for one in (search, shuffled))
    assert_allclose(again.score, fitted.score, rtol=1e-8)


def test_losses_are_differences_of_densities(found):
    search, structure, _ = found["line and season"]
    C = search.covariance_at(structure) + structure.noise * np.eye(N)
    pool = Products.of([part.kernel for part in structure.parts], 1)
    grams = search.covariance.grams(pool)
    whole = multivariate_normal(np.zeros(N), C).logpdf(search.y)
    for loss, one, K in zip(search.losses(structure), structure.parts, grams, strict=False):
        without = multivariate_normal(np.zeros(N), C - one.weight**2 * K).logpdf(search.y)
        assert_allclose(loss, whole - without, rtol=1e-6)
    # fitted again, the others take over what they can
    assert np.all(search.refitted_losses(structure) > 10.0)


def test_no_changepoint_is_between_rows_with_equal_inputs():
    x = np.repeat([-1.0, 0.0, 1.0], 8)[:, None]
    search = Search(x, np.where(np.arange(24) < 12, -1.0, 1.0), covariance_of(x))
    place, gain = search.change(search.empty())
    assert place in (-0.5, 0.5)
    assert gain > 0.0


def test_the_screen_likes_what_is_there():
    search = searching(SERIES["line and season"])
    kernels = [CentredPeriodic(0.31, 1.0), CentredPeriodic(0.47, 1.0), Linear(0.0), SquaredExponential(1.0)]
    empty = search.empty()
    gains = search.screen(empty, [Move(kernel) for kernel in kernels])
    assert gains[2] > 5.0
    assert gains[0] > gains[1] + 3.0
    # each gain is that of the best of a few weights and noises
    best = -np.inf
    K = search.covariance.grams(Products.of(kernels, 1))[0]
    for weight in (0.03, 0.3, 2.0):
        for left in (1.0, 0.4):
            size = 3.0 * weight * empty.noise / np.mean(np.diagonal(K))
            C = search.covariance_at(empty) + size * K + left * empty.noise * np.eye(N)
            best = max(best, multivariate_normal(np.zeros(N), C).logpdf(search.y))
    whole = search.covariance_at(empty) + empty.noise * np.eye(N)
    assert_allclose(gains[0], best - multivariate_normal(np.zeros(N), whole).logpdf(search.y), rtol=1e-6)


def test_the_screen_of_an_exchange_has_one_component_in_the_place_of_another(found):
    search, structure, _ = found["line and season"]
    place = next(i for i, one in enumerate(structure.parts) if str(one.kernel) == "Per0")
    old = structure.parts[place]
    new = old.kernel * SquaredExponential(6.8)
    K_old, K_new = search.covariance.grams(Products.of([old.kernel, new], 1))
    C = search.covariance_at(structure) + old.weight**2 * (K_new - K_old)
    whole = multivariate_normal(np.zeros(N), search.covariance_at(structure) + structure.noise * np.eye(N))
    changed = max(
        multivariate_normal(np.zeros(N), C + k * structure.noise * np.eye(N)).logpdf(search.y) for k in (1, 0.4)
    )
    gain = changed - whole.logpdf(search.y)
    assert_allclose(search.screen(structure, [Move(new, place)]), [gain], rtol=1e-6)


def test_a_cycle_is_replaced_by_a_growing_one():
    # its size is that of a line: no cycle of one size is needed beside it
    y = (X[:, 0] + 2.2) * np.sin(2.0 * np.pi * X[:, 0] / 0.31) + noise(0.2)
    search = searching(y)
    steady = search.fit([part(CentredPeriodic(0.31, 1.0))], 0.3)
    grown = search.grow(steady, 1)
    assert formulas(grown) == ["Lin * Per0"]
    assert search.record[-1].action == "kept"
    assert search.record[-1].reason == "more evidence, in place of Per0"


def test_a_fit_that_is_asked_for_again_is_not_done_again():
    search = searching(SERIES["line and season"])
    parts = [part(Linear(0.0)), part(CentredPeriodic(0.31, 1.0))]
    first, steps = search.fit(parts, 0.3), search.steps
    assert search.fit(list(parts), 0.3) is first
    assert search.steps == steps
    assert search.fit(parts, 0.2) is not first
    # of other rows nothing is known
    other = replace(search, y=-2.0 * search.y)
    assert other.fit(parts, 0.3) is not first


def test_the_gain_of_a_change_is_that_of_the_best_weight():
    search = searching(SERIES["step"])
    place, gain = search.change(search.empty())
    assert abs(place - 0.4) < 3.4 / 63
    s = (X[:, 0] > place).astype(float)

    C = search.covariance_at(search.empty()) + search.empty().noise * np.eye(N)

    def density(w2):
        return multivariate_normal(np.zeros(N), C + w2 * np.outer(s, s)).logpdf(search.y)

    values = [density(w2) - density(0.0) for w2 in np.geomspace(0.01, 100.0, 400)]
    assert_allclose(gain, max(values), atol=1e-3)


def test_prune_drops_a_twin():
    search = searching(SERIES["line and season"])
    twins = [part(Linear(0.0)), part(CentredPeriodic(0.31, 1.0)), part(CentredPeriodic(0.312, 0.8), 0.3)]
    whole = search.fit(twins, 0.2)
    pruned = search.prune(whole, 1)
    assert formulas(pruned) == ["Lin", "Per0"]
    assert pruned.score > whole.score
    assert [decision.action for decision in search.record] == ["dropped"]


def test_prune_keeps_what_is_needed(found):
    search, structure, _ = found["line and season"]
    fresh = searching(SERIES["line and season"])
    assert fresh.prune(structure, 1) is structure
    assert fresh.record == []
    assert search.y == pytest.approx(fresh.y)


def test_a_shrunk_pool_is_a_start_that_growing_alone_misses():
    # a smooth curve explains all of it, and a search one step at a time would stop there
    y = X[:, 0] + np.sin(2.0 * np.pi * X[:, 0] / 0.6) + noise(0.2)
    search = searching(y)
    start = search.shrunk(search.whole([0.6]))
    assert any("Per0" in formula for formula in formulas(start))
    assert {"Lin", "Damp", "RW"} & set(formulas(start))
    assert {decision.action for decision in search.record} <= {"shrunk", "dropped"}
    best = search.best(start)
    assert any("Per0" in formula for formula in formulas(best))
    assert best.score > search.fit([part(SquaredExponential(0.2))], 0.1).score
    assert best.score >= start.score


def test_an_appraisal_leaves_out_components_and_rows(found):
    search, structure, _ = found["line and season"]
    told = appraise(search, structure)
    assert_allclose(told.losses, search.refitted_losses(structure), rtol=1e-12)
    assert told.order == tuple(np.argsort(told.sizes)[::-1])
    assert_allclose(told.sizes, search.sizes(structure), rtol=1e-9)
    # without any component, with the larger one, with both
    assert told.errors[0] == search.y.std()
    assert told.errors[0] > told.errors[1] > told.errors[2]
    # each row predicted from all others, at the noise variance of highest evidence
    grams = search.covariance.grams(structure.model.pool)[:2]
    K = sum(one.weight**2 * K for one, K in zip(structure.parts, grams, strict=True))
    factors = search.settings.appraisal.noise_factors
    noise = structure.noise * max(
        factors, key=lambda k: multivariate_normal(np.zeros(N), K + k * structure.noise * np.eye(N)).logpdf(search.y)
    )
    others = [np.delete(np.arange(N), n) for n in range(N)]
    means = [
        K[n, o] @ np.linalg.solve(K[np.ix_(o, o)] + noise * np.eye(N - 1), search.y[o]) for n, o in enumerate(others)
    ]
    assert_allclose(told.errors[-1], np.sqrt(np.mean((search.y - means) ** 2)), rtol=1e-6)
    # the interval of the period holds the fit and the truth
    place = [str(one.kernel) for one in structure.parts].index("Per0")
    low, fit, high = (float(one.period) for one in (told.low[place], structure.parts[place].kernel, told.high[place]))
    assert low < fit < high
    assert low < 0.31 < high


def test_nothing_found_is_appraised_as_nothing(found):
    search, structure, _ = found["white"]
    told = appraise(search, structure)
    assert (told.low, told.losses, told.order, told.errors) == ((), (), (), (search.y.std(),))


DAYS = np.arange(35.0)
CALENDAR = (Weekend().rescale(1 / 10.0, -1.7),)


def test_a_set_of_steps_gives_way_to_the_week_that_comes_round():
    x = (DAYS / 10.0 - 1.7)[:, None]
    y = np.where((DAYS + 3) % 7 >= 5, -1.0, 0.0) + 0.2 * np.random.default_rng(0).standard_normal(35)
    search = Search(x, (y - y.mean()) / y.std(), covariance_of(x), calendar=CALENDAR)
    step = Step(x[20, 0], 0.02)
    stepped = search.fit([Part(step, step, 0.3)], 0.5)
    rival = search.dated(stepped)
    assert "Weekend" in formulas(rival)
    assert not any("Step" in formula for formula in formulas(rival))
    assert rival.score > stepped.score
    assert search.dated(rival) is None
    assert replace(search, calendar=()).dated(stepped) is None


def test_a_week_is_found_as_a_week():
    x = (DAYS / 10.0 - 1.7)[:, None]
    y = np.where((DAYS + 3) % 7 >= 5, -1.0, 0.0) + 0.2 * np.random.default_rng(1).standard_normal(35)
    search = Search(x, (y - y.mean()) / y.std(), covariance_of(x), calendar=CALENDAR)
    assert formulas(search.best(search.run())) == ["Weekend"]
