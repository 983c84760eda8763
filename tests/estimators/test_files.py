"""A saved model predicts and explains as before; other files are refused in one line, and nothing in a file is run."""

import json
import zipfile
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

import farrier
from farrier.estimators import archive, files
from farrier.estimators.archive import FORMAT, HEADER
from farrier.estimators.files import TREE
from farrier.kernels.registry import CentredPeriodic, Linear, SquaredExponential
from farrier.model import result
from farrier.model.explaining import explained
from tests.estimators import damaged_files

X = 2000.0 + (np.arange(60)[:, None] + 0.5) / 12.0
Y = 3.0 * (X[:, 0] - 2000.0) + 6.0 * np.sin(2 * np.pi * X[:, 0]) + np.random.default_rng(0).normal(size=60)
QUICK: dict[str, Any] = {"kernels": ["Lin", "Per0"], "iterations": 10}


@pytest.fixture(scope="module")
def model():
    told = []
    model = farrier.Regressor([CentredPeriodic(1.0, 1.0), Linear(2002.5)], iterations=40, progress=told.append)
    return model.fit(X, Y).describe(title="Mine", target_name="sales")


@pytest.fixture
def saved(model, tmp_path) -> Path:
    return model.save(tmp_path / "sales.farrier")


def test_a_loaded_model_is_the_same(model, saved):
    loaded = farrier.load(saved)
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert str(loaded.explain()) == str(model.explain())
    assert loaded.explain().to_dict()["title"] == "Mine"
    assert loaded.progress is None
    assert model.progress is not None
    assert repr(loaded.kernels) == repr(model.kernels)
    assert loaded.get_params()["random_state"] == 0
    assert list(saved.parent.iterdir()) == [saved]


def _fitted(kind: str) -> Any:
    match kind:
        case "collapsed":
            return farrier.Regressor(**QUICK, method="collapsed").fit(X, Y)
        case "log scale":
            return farrier.Regressor(**QUICK, scale="log").fit(X, np.exp(Y / 10.0))
        case "found":
            return farrier.Regressor().fit(X, Y)
        case "student-t":
            return farrier.Regressor(likelihood="student-t").fit(X[:30], Y[:30])
        case "names":
            return farrier.Regressor(**QUICK, random_state=np.random.RandomState(3)).fit(
                pd.DataFrame(X, columns=["t"]), Y
            )
        case "stochastic":
            kernels: Any = [Linear(2002.5), SquaredExponential(3.0)]
            return farrier.Regressor(kernels, method="stochastic", iterations=3, inducing=4).fit(X, Y)
    return farrier.Classifier().fit(X[:40], np.where(Y > 6.0, "high", "low")[:40])


@pytest.mark.parametrize("kind", ["collapsed", "log scale", "found", "student-t", "names", "stochastic", "classes"])
def test_every_tier_and_likelihood_comes_back(kind, tmp_path):
    fitted = _fitted(kind)
    rows = pd.DataFrame(X[:5], columns=["t"]) if kind == "names" else X[:5]
    loaded = farrier.load(fitted.save(tmp_path / "model.farrier"))
    if kind == "classes":
        assert_array_equal(loaded.predict_proba(rows), fitted.predict_proba(rows))
        assert_array_equal(loaded.predict(rows), fitted.predict(rows))
    else:
        assert_array_equal(loaded.predict(rows, return_std=True), fitted.predict(rows, return_std=True))
    assert str(loaded.explain()) == str(fitted.explain())
    assert str(loaded.components_) == str(fitted.components_)


DAYS = [date(2020, 1, 1) + timedelta(days=i) for i in range(60)]
MOMENTS = [datetime(2020, 3, 1, 12) + timedelta(hours=i) for i in range(60)]
COLUMNS = {
    "months in a zone": pd.date_range("2000-01-31", periods=60, freq="ME", tz="Europe/Berlin"),
    "hours over a change of clocks": pd.date_range("2020-03-28", periods=60, freq="h", tz="Europe/Berlin"),
    "periods": pd.period_range("2000-01", periods=60, freq="M", name="when"),
    "numbers of pandas": pd.Index(np.arange(60), name="n"),
    "text of pandas": pd.Index([day.isoformat() for day in DAYS]),
    "datetime64": np.array(DAYS, "M8[D]"),
    "numbers": X[:, 0],
    "text": [f"{2000 + i // 12}-{i % 12 + 1:02d}" for i in range(60)],
    "dates": DAYS,
    "moments": MOMENTS,
    "moments in a zone": [moment.replace(tzinfo=ZoneInfo("Asia/Kolkata")) for moment in MOMENTS],
    "moments in UTC": [moment.replace(tzinfo=UTC) for moment in MOMENTS],
    "moments at an offset": [moment.replace(tzinfo=timezone(timedelta(hours=-3))) for moment in MOMENTS],
    "polars dates": pl.Series("day", DAYS),
    "polars moments in a zone": pl.Series("t", MOMENTS).dt.replace_time_zone("America/New_York"),
    "polars text": pl.Series("t", [day.isoformat() for day in DAYS]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_series_of_any_type_of_times_goes_on_as_before(kind, tmp_path):
    forecaster = farrier.Forecaster(**QUICK).fit(COLUMNS[kind], Y)
    loaded = farrier.load(forecaster.save(tmp_path / "series.farrier"))
    for before, after in (
        (forecaster.forecast(3), loaded.forecast(3)),
        (forecaster.predict_in_sample(), loaded.predict_in_sample()),
    ):
        assert list(before) == list(after)
        for name in before:
            assert type(after[name]) is type(before[name])
            assert_array_equal(np.asarray(after[name]), np.asarray(before[name]))
            assert str(after[name][:1]) == str(before[name][:1])
    assert str(loaded.explain()) == str(forecaster.explain())


def test_the_step_and_the_weights_of_a_series_come_back(tmp_path):
    weights = 1.0 + np.arange(60) % 2
    irregular = [date(2020, 1, 1) + timedelta(days=i**2 // 9 + i) for i in range(60)]
    forecaster = farrier.Forecaster(**QUICK, step="week").fit(irregular, Y, sample_weight=weights)
    loaded = farrier.load(forecaster.save(tmp_path / "series.farrier"))
    assert_array_equal(loaded.forecast(3)["time"], forecaster.forecast(3)["time"])
    assert_array_equal(loaded.fitted_.observed.weights, weights)


def test_what_explains_comes_back_if_it_was_made(tmp_path):
    model = farrier.Regressor().fit(X, Y)
    before = farrier.load(model.save(tmp_path / "before.farrier"))
    assert not before.result_.fitted.explanations
    text = str(model.explain())
    after = farrier.load(model.save(tmp_path / "after.farrier"))
    assert after.result_.fitted.explanations
    assert str(after.explain()) == text == str(before.explain())


def test_what_explains_is_made_once_and_comes_back_with_a_forecaster(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(result, "explained", lambda *given: calls.append(given) or explained(*given))
    forecaster = farrier.Forecaster().fit(DAYS, Y)
    text, components = str(forecaster.explain()), forecaster.components_
    assert len(calls) == 1
    loaded = farrier.load(forecaster.save(tmp_path / "series.farrier"))
    assert str(loaded.explain()) == text
    assert str(loaded.components_) == str(components)
    assert len(calls) == 1
    forecaster.update([DAYS[-1] + timedelta(days=1)], [Y[-1]]).explain()
    assert len(calls) == 2


def test_a_pandas_series_comes_back_with_its_index(tmp_path):
    forecaster = farrier.Forecaster(**QUICK).fit(pd.Series(Y, COLUMNS["months in a zone"], name="sales"))
    loaded = farrier.load(forecaster.save(tmp_path / "series.farrier"))
    pd.testing.assert_frame_equal(loaded.forecast(3), forecaster.forecast(3))


def test_a_panel_comes_back_with_its_errors(tmp_path):
    ids = ["a"] * 60 + [7] * 60 + ["short"] * 2
    when = [*DAYS, *DAYS, *DAYS[:2]]
    frame = pd.DataFrame({"unique_id": ids, "ds": pd.to_datetime(when), "y": [*Y, *(2.0 * Y), 1.0, 2.0]})
    with pytest.warns(UserWarning, match="could not be fitted"):
        panel = farrier.Forecaster(**QUICK).fit(frame)
    loaded = farrier.load(panel.save(tmp_path / "panel.farrier"))
    pd.testing.assert_frame_equal(loaded.forecast(3), panel.forecast(3))
    assert list(loaded.series_) == ["a", 7]
    assert {name: (type(error), str(error)) for name, error in loaded.errors_.items()} == {
        name: (type(error), str(error)) for name, error in panel.errors_.items()
    }
    assert str(loaded["a"].explain()) == str(panel["a"].explain())
    more = pd.DataFrame({"unique_id": ["a"], "ds": pd.to_datetime([date(2020, 3, 1)]), "y": [10.0]})
    pd.testing.assert_frame_equal(loaded.update(more).forecast(2), panel.update(more).forecast(2))


def test_a_file_says_what_it_is(saved):
    with zipfile.ZipFile(saved) as file:
        header = json.loads(file.read(HEADER))
        names = set(file.namelist())
    assert {key: header[key] for key in ("name", "format", "farrier", "model")} == {
        "name": "farrier model",
        "format": FORMAT,
        "farrier": farrier.__version__,
        "model": "Regressor",
    }
    assert names == {HEADER, *header["members"]}


def test_the_members_are_json_and_plain_arrays(saved):
    with zipfile.ZipFile(saved) as file:
        for name in file.namelist():
            with file.open(name) as member:
                if name.endswith(".npy"):
                    assert np.load(member, allow_pickle=False).size > 0
                else:
                    json.load(member)


def test_the_same_model_gives_the_same_bytes_whatever_it_was_asked(model, saved):
    before = saved.read_bytes()
    model.predict(X)
    assert model.save(saved).read_bytes() == before


OLD = {HEADER: '{"format": 1, "farrier": "0.1.0", "model": "Regressor"}', "model.pickle": "cos\nsystem\n(S'false'\ntR."}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (None, "is not a model that Farrier can read"),
        ({}, "is not a model that Farrier can read"),
        ({"word/document.xml": "<w/>"}, "is not a model that Farrier can read"),
        ({HEADER: "[]"}, "is not a model that Farrier can read"),
        ({HEADER: "[" * 100_000}, "is not a model that Farrier can read"),
        (
            {HEADER: '{"format": 3, "farrier": "0.3.0", "name": "farrier model"}'},
            "is not a model that Farrier can read",
        ),
        (
            {HEADER: '{"format": 0, "farrier": "0.2.0", "name": "farrier model"}'},
            "is not a model that Farrier can read",
        ),
        ({HEADER: '{"format": 2, "farrier": "0.2.0"}', TREE: ""}, r"saved by Farrier 0\.2\.0.*fit again and save"),
        ({HEADER: '{"format": 99, "farrier": "9.0"}', TREE: ""}, r"saved by Farrier 9\.0.*upgrade Farrier"),
        (OLD, r"saved by Farrier 0\.1\.0 in a format that could run code.*fit again and save"),
    ],
)
def test_other_files_are_refused(tmp_path, members, message):
    path = tmp_path / "other.farrier"
    if members is None:
        path.write_text("month,passengers\n")
    else:
        with zipfile.ZipFile(path, "w") as file:
            for name, text in members.items():
                file.writestr(name, text)
    with pytest.raises(ValueError, match=message):
        farrier.load(path)


def test_a_bomb_is_refused_before_it_is_inflated(tmp_path, monkeypatch):
    path = tmp_path / "bomb.farrier"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(HEADER, bytes(2**25))
    with monkeypatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("it was inflated"))
        with pytest.raises(ValueError, match="or it is damaged"):
            farrier.load(path)


def test_more_members_than_a_model_has_are_refused(saved, monkeypatch):
    monkeypatch.setattr(archive, "MOST_MEMBERS", 2)
    with pytest.raises(ValueError, match="or it is damaged"):
        farrier.load(saved)


def test_an_encrypted_or_doubled_member_is_refused(saved):
    whole = bytearray(saved.read_bytes())
    with zipfile.ZipFile(saved) as file:
        directory = file.start_dir
    whole[directory + 8] |= 1  # the flag of encryption in the first entry of the directory
    saved.write_bytes(whole)
    with pytest.raises(ValueError, match="or it is damaged"):
        farrier.load(saved)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is not a regular file"):
        farrier.load(tmp_path)


def _changed(saved: Path, change: Any) -> Path:
    """With the tree changed, and all checksums made again."""
    with zipfile.ZipFile(saved) as file:
        members = {name: file.read(name) for name in file.namelist() if name != HEADER}
    tree = json.loads(members[TREE])
    del tree["sha256"]
    change(tree)
    saved.write_bytes(archive.pack("Regressor", {**members, TREE: files.sealed(tree)}))
    return saved


def _unknown_kind(tree: Any) -> None:
    tree["model"]["fitted"]["more_"] = [{"kind": "Popen", "args": ["false"]}]


def _unknown_estimator(tree: Any) -> None:
    tree["model"]["estimator"] = "load"


def _unknown_family(tree: Any) -> None:
    tree["model"]["fitted"]["result_"]["fitted"]["kernels"][0]["family"] = "Popen"


def _unknown_prior(tree: Any) -> None:
    tree["model"]["fitted"]["result_"]["fitted"]["prior"]["type"] = "Kernel"


def _unknown_key(tree: Any) -> None:
    tree["model"]["fitted"]["result_"]["fitted"]["posterior"]["more"] = 1.0


def _missing_key(tree: Any) -> None:
    del tree["model"]["fitted"]["result_"]["fitted"]["survivors"]


def _wrong_value(tree: Any) -> None:
    tree["model"]["fitted"]["result_"]["columns"] = 3


def _wrong_shape(tree: Any) -> None:
    tree["model"]["fitted"]["result_"]["fitted"]["posterior"]["products"].pop()


def _method(tree: Any) -> None:
    tree["model"]["fitted"]["predict"] = 3


def _too_deep(tree: Any) -> None:
    for _ in range(300):
        tree["model"]["fitted"]["context_"] = [tree["model"]["fitted"]["context_"]]


def _another_number(tree: Any) -> None:
    for node in damaged_files._places(tree["model"]):
        if node[1] == "mean":
            node[0]["mean"] *= 1.0 + 1e-6
            return
    pytest.fail("there is no mean")


FORGED = [_unknown_kind, _unknown_estimator, _unknown_family, _unknown_prior, _unknown_key, _missing_key, _wrong_value]
FORGED += [_wrong_shape, _method, _too_deep, _another_number]


@pytest.mark.parametrize("change", FORGED)
def test_a_forged_tree_is_refused(saved, change):
    with pytest.raises(ValueError, match="or it is damaged"):
        farrier.load(_changed(saved, change))


def test_a_tree_that_was_only_packed_again_is_read(model, saved):
    assert_array_equal(farrier.load(_changed(saved, lambda tree: None)).predict(X), model.predict(X))


@pytest.fixture(scope="module")
def tiny() -> dict[str, Any]:
    return damaged_files.tiny_models()


def test_damaged_files_give_one_clear_error_or_the_same_predictions(tmp_path, tiny, capfd):
    result = damaged_files.run(400, 1, tmp_path, tiny)
    assert result.wrong == []
    assert result.counts["raw", "error"] > 100
    assert result.counts["forged", "error"] > 50
    said = capfd.readouterr()
    assert said.out + said.err == ""


def test_places_that_are_not_there_are_named(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        farrier.load(tmp_path / "missing.farrier")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.save(tmp_path / "missing" / "sales.farrier")
