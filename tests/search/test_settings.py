"""Laws of the settings: each is explained, none stands elsewhere, and what is set is what is used and kept."""

import ast
import inspect
import json
import pickle
from dataclasses import FrozenInstanceError, astuple, fields, replace
from pathlib import Path

import numpy as np
import pytest
from farrier.model.learning import fit_given, learn
from farrier.model.robust import learn_robust
from farrier.search.candidate_settings import CandidateSettings, PeriodSettings, PriorSettings
from farrier.search.search import Search
from farrier.search.settings import (
    FitSettings,
    GrowingSettings,
    OutlierSettings,
    PosteriorSettings,
    RowSettings,
    ScaleSettings,
    SearchSettings,
    SiteSettings,
)

import farrier
from farrier.evaluation.covariance import covariance_of
from farrier.kernels.registry import Linear, SquaredExponential
from farrier.search import described
from farrier.search.periods import find_periods

SOURCE = Path(farrier.__file__).parent
MODULES = [path for folder in ("search", "data", "model") for path in sorted((SOURCE / folder).glob("*.py"))]
MATHEMATICS = {
    "Z95": "a quantile of the normal distribution",
    "HALVINGS": "bisections until a double is exact",
    "STEPS": "steps in a season: the calendar",
    "SHOWN": "characters of a name in an error",
    "LINE": "characters of an error of another library",
}
"""Constants that nobody would set, and why."""

X = np.linspace(-1.7, 1.7, 40)[:, None]
Y = X[:, 0] + np.sin(2.0 * np.pi * X[:, 0] / 0.4) + 0.2 * np.random.default_rng(0).standard_normal(40)
ONE_ROUND = SearchSettings(growing=GrowingSettings(rounds=1))


# what is said of them


@pytest.mark.parametrize("setting", SearchSettings().describe(), ids=lambda setting: setting.name)
def test_every_setting_has_a_meaning_a_unit_and_an_origin(setting):
    assert setting.meaning.endswith(".")
    assert len(setting.meaning) > 10
    assert setting.unit
    assert setting.origin == "by judgement" or setting.origin.startswith(("commit ", "measured "))


def test_every_setting_is_described_once_by_group_and_name():
    settings = SearchSettings()
    names = [setting.name for setting in settings.describe()]
    assert len(set(names)) == len(names) > 80
    assert {name.split(".")[0] for name in names} == {field.name for field in fields(settings)}
    rounds = next(setting for setting in settings.describe() if setting.name == "growing.rounds")
    told = "growing.rounds", 9, "rounds", "Most rounds in which a component is added.", "by judgement"
    assert astuple(rounds) == told


def test_without_the_source_names_and_values_are_left(monkeypatch):
    def unreadable(settings):
        raise OSError

    monkeypatch.setattr(inspect, "getsource", unreadable)
    monkeypatch.setattr(described, "_texts", described._texts.__wrapped__)
    first = SearchSettings().describe()[0]
    assert astuple(first) == ("rows.exact", 1000, "", "", "")


def test_changed_settings_are_listed():
    assert SearchSettings().changed() == []
    (only,) = ONE_ROUND.changed()
    assert (only.name, only.value) == ("growing.rounds", 1)


def test_as_a_dictionary_they_are_plain_values():
    told = ONE_ROUND.to_dict()
    assert told["growing"]["rounds"] == 1
    assert told["inducing"]["limits"]["together"] == 900
    assert json.loads(json.dumps(told))["scales"] == told["scales"]


# one place


def constants(path):
    """The upper-case names at the top of a module whose value is made of numbers alone."""
    found = []
    for node in ast.parse(path.read_text()).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
        inside = list(ast.walk(node.value))
        numbers = any(isinstance(one, ast.Constant) and isinstance(one.value, int | float) for one in inside)
        if numbers and not any(isinstance(one, ast.Call | ast.Lambda) for one in inside):
            found += [name for name in names if name.isupper()]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_module_keeps_a_number_of_its_own(path):
    assert set(constants(path)) <= set(MATHEMATICS)


def test_every_setting_is_read():
    definitions = ("settings.py", "candidate_settings.py", "long_settings.py", "inducing_settings.py")
    modules = [path for path in MODULES if path.name not in definitions]
    modules += [SOURCE / "inference" / name for name in ("inducing_points.py", "linear_plan.py")]
    modules += [SOURCE / "search" / "settings.py"]
    modules += [SOURCE / "out_of_core" / "fitting.py", SOURCE / "estimators" / "large_tables.py"]
    nodes = [node for path in modules for node in ast.walk(ast.parse(path.read_text()))]
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert [setting.name for setting in SearchSettings().describe() if setting.name.split(".")[-1] not in read] == []


def test_constants_are_seen(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('A = 1\nB, C = 1.0, 2.0\nD: float = -1.0\nE = {"a": 0.5}\nF = (1.0, 2 / 3)\nword = 1\nG = "text"\n')
    assert constants(path) == ["A", "B", "C", "D", "E", "F"]


def test_nothing_in_them_can_be_changed():
    with pytest.raises(FrozenInstanceError):
        SearchSettings().growing.rounds = 1  # pyright: ignore[reportAttributeAccessIssue]
    assert hash(ONE_ROUND) != hash(SearchSettings())


def test_derived_settings_follow():
    scales = ScaleSettings(log_preference=2.0, square_root_preference=-5.0)
    assert [scales.preference(name) for name in ("identity", "log", "square root")] == [0.0, 2.0, -5.0]


# what is set is used


@pytest.fixture(scope="module")
def usual():
    return learn(X, Y, transform="identity")


@pytest.fixture(scope="module")
def short():
    return learn(X, Y, transform="identity", settings=ONE_ROUND)


def test_one_round_leaves_a_shorter_record(usual, short):
    assert 0 < len(short.record) < len(usual.record)


def test_what_was_learned_keeps_its_settings(usual, short):
    assert usual.settings == SearchSettings()
    assert short.settings is ONE_ROUND
    assert pickle.loads(pickle.dumps(short.settings)) == ONE_ROUND


def test_a_structure_must_have_the_evidence_that_is_set():
    dear = SearchSettings(growing=GrowingSettings(strong_evidence=1e6))
    assert learn(X, Y, transform="identity", settings=dear).survivors == 0


def test_priors_are_those_that_are_set():
    settings = replace(ONE_ROUND, priors=PriorSettings(scale=0.07))
    fitted = learn(X, Y, transform="identity", settings=settings)
    assert fitted.beliefs.settings is settings.priors
    assert fitted.beliefs.scale(SquaredExponential(1.0)) == 0.07


def test_rows_draws_and_scales_are_those_that_are_set():
    settings = replace(
        ONE_ROUND,
        rows=RowSettings(exact=30, search=30, part=20),
        posterior=PosteriorSettings(draws=4),
        scales=ScaleSettings(smallest_ratio=1e9),
    )
    learned = learn(X, np.exp(Y), tier="collapsed", settings=settings)
    assert learned.tier == "collapsed"
    assert learned.posterior.weights.shape[0] == 4
    # no other scale was worth trying
    assert learned.scale.transform.name == "identity"
    assert not any("scale" in decision.formula for decision in learned.record)


def test_kernels_that_are_given_are_fitted_as_is_set():
    settings = SearchSettings(rows=RowSettings(exact=10), fits=FitSettings(start_noise=0.5))
    kernels = [Linear(0.0), SquaredExponential(0.2)]
    learned = fit_given(kernels, X, Y, iterations=2, settings=settings)
    assert learned.tier == "linear"
    assert learned.settings is settings
    assert fit_given(kernels, X, Y, iterations=2).noise_variance != learned.noise_variance


def test_a_students_t_takes_the_degrees_that_are_set():
    outliers = OutlierSettings(degrees=(7.0,))
    settings = replace(ONE_ROUND, sites=SiteSettings(fits=1, steps=2), outliers=outliers)
    fitted = learn_robust(X, Y, chosen=True, settings=settings)
    assert float(fitted.likelihood.degrees) == 7.0
    assert fitted.settings is settings


def test_a_students_t_is_tried_as_is_set():
    def tried(settings):
        return [d.action for d in learn_robust(X, Y, settings=settings).record if d.formula == "noise: Student-t"]

    eager = replace(ONE_ROUND, outliers=OutlierSettings(margin=-np.inf, minimum_gain=np.inf, suspicious=1.5, most=1.0))
    assert tried(eager) == ["dropped"]
    assert tried(ONE_ROUND) == []


def test_periods_repeat_as_often_as_is_set():
    x, y = X[:, 0], np.sin(2.0 * np.pi * X[:, 0] / 0.8)
    assert find_periods(x, y, 1) == pytest.approx([0.8], rel=0.02)
    assert all(period < 0.7 for period in find_periods(x, y, 1, settings=PeriodSettings(repeats=5.0)))


@pytest.mark.parametrize("count", [0, 1])
def test_no_more_periods_are_tried_than_are_set(count):
    settings = SearchSettings(candidates=CandidateSettings(most_periods=count))
    search = Search(X, Y, covariance_of(X), settings=settings)
    assert len(search.periods()) == count
    assert any("Per" in kernel.formula() for kernel in search.propose(search.empty())) == (count > 0)
