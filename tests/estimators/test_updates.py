"""After an update everything tells of all rows: the structure stays, and the numbers are those of a fresh fit."""

import pickle

import jax
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import farrier
from farrier import Forecaster
from farrier.model import series
from tests.estimators.test_forecaster import FAST, STAMPS, VALUES, N, made, months


@pytest.fixture(scope="module", params=[0, 1])
def searched(request):
    times, y = made(request.param, 96)
    return times, y, Forecaster(scale="identity").fit(times[:72], y[:72])


def test_update_keeps_the_structure_agrees_with_a_fresh_fit_and_makes_no_pool(searched, monkeypatch):
    times, y, first = searched
    with monkeypatch.context() as patch:
        patch.setattr(series, "_fits", None)
        patch.setattr(series, "Rows", None)
        updated = pickle.loads(pickle.dumps(first)).update(times[72:84], y[72:84])
    assert [row.formula for row in updated.components_] == [row.formula for row in first.components_]
    fresh = Forecaster(scale="identity").fit(times[:84], y[:84])
    ours, theirs = updated.forecast(12), fresh.forecast(12)
    assert_array_equal(ours["time"], theirs["time"])
    width = theirs["high_95"] - theirs["low_95"]
    assert (np.abs(ours["mean"] - theirs["mean"]) < 0.2 * width).all()
    assert_allclose(ours["high_95"] - ours["low_95"], width, rtol=0.3)


def test_update_of_given_takes_frames_and_fills_in_what_was_missing():
    stamps = STAMPS["month ends"]
    values = np.append(VALUES, [7.0, 8.0])
    holes = values[:N].copy()
    holes[-1] = np.nan
    frame = pd.DataFrame({"when": stamps[:N], "sold": holes})
    forecaster = Forecaster(kernels=["Lin", "SE"], iterations=200).fit(frame)
    forecaster.update(pd.DataFrame({"when": stamps[N - 1 : N + 2], "sold": values[N - 1 :]}))
    assert forecaster.forecast(1)["when"][0] == stamps[N + 2]
    assert_array_equal(forecaster.predict_in_sample()["sold"], values)
    fresh = Forecaster(kernels=["Lin", "SE"], iterations=200).fit(stamps[: N + 2], values)
    assert_allclose(forecaster.forecast(1)["mean"], fresh.forecast(1)["mean"], atol=0.3)


@pytest.fixture
def drawing():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    yield plt
    plt.close("all")


PATHS = {
    "a search": ("exact", {"scale": "identity"}),
    "a search through inducing points": ("collapsed", {"scale": "identity", "method": "collapsed"}),
    "given kernels": ("exact", FAST),
    "given kernels through inducing points": ("collapsed", {**FAST, "method": "collapsed"}),
    "another prior": ("exact", {**FAST, "prior": "softmax"}),
    "the log scale": ("exact", {**FAST, "scale": "log"}),
    "Student's t": ("exact", {"likelihood": "student-t"}),
    "the stochastic tier": ("stochastic", {"kernels": ["SE"], "iterations": 5, "method": "stochastic"}),
}


@pytest.mark.parametrize(("tier", "settings"), PATHS.values(), ids=PATHS)
def test_after_an_update_everything_tells_of_all_rows(tier, settings, tmp_path, drawing):
    times, y = made(0, 48)
    with jax.numpy_dtype_promotion("standard"):  # optax
        forecaster = Forecaster(**settings).fit(times[:42], y[:42]).update(times[42:], y[42:])
    assert forecaster.model_.tier_ == tier
    assert_array_equal(forecaster.result_.target, y)
    assert len(forecaster.result_.rows) == 48
    assert "48 rows" in str(forecaster.explain())
    story = forecaster.explain().to_dict(horizon=3)
    assert story["series"]["y"] == y.tolist()
    assert story["series"]["future"]["label"] == ["2016-03", "2016-04", "2016-05"]
    assert_allclose(story["series"]["future"]["mean"], forecaster.forecast(3)["mean"], rtol=1e-6)
    assert "48 rows" in forecaster.report(tmp_path / "report.html").read_text(encoding="utf-8")
    drawn = {line.get_label(): line.get_ydata() for line in forecaster.plot(horizon=3).get_lines()}
    assert_array_equal(drawn["data"], y)
    assert len(forecaster.plot_components()) >= len(story["components"]) - 1
    assert forecaster.decompose().mean.shape[1] == 48
    again = farrier.load(forecaster.save(tmp_path / "sales.farrier"))
    assert_array_equal(again.forecast(3)["mean"], forecaster.forecast(3)["mean"])
    assert str(again.explain()) == str(forecaster.explain())


def test_update_of_students_t_agrees_with_a_fresh_fit_and_bears_new_outliers():
    times, y = made(0, 84)
    y[[9, 33, 60, 80]] += [30.0, -25.0, 28.0, 40.0]
    updated = Forecaster(likelihood="student-t").fit(times[:72], y[:72])
    before = [row.formula for row in updated.components_]
    updated.update(times[72:], y[72:])
    assert [row.formula for row in updated.components_] == before
    fresh = Forecaster(likelihood="student-t").fit(times, y)
    ours, theirs = updated.forecast(12), fresh.forecast(12)
    width = theirs["high_95"] - theirs["low_95"]
    assert (np.abs(ours["mean"] - theirs["mean"]) < 0.2 * width).all()
    # the update keeps its scale, a fresh fit may choose another one
    assert_allclose(ours["high_95"] - ours["low_95"], width, rtol=0.4)
    assert_allclose(updated.result_.fitted.bound, fresh.result_.fitted.bound, atol=8.0)


def test_update_refuses_times_that_are_there_and_times_of_another_calendar():
    forecaster = Forecaster(**FAST).fit(months(N), np.exp(0.1 * VALUES))
    with pytest.raises(ValueError, match="'2014-02-01' comes twice"):
        forecaster.update(months(1, "2014-02"), [1.0])
    with pytest.raises(ValueError, match="the times were monthly and would become irregular"):
        forecaster.update(np.array(["2014-03-05", "2014-03-06"], "M8[D]"), [1.0, 2.0])
    with pytest.raises(ValueError, match="numbers where the times so far are dates"):
        forecaster.update([1.0, 2.0], [1.0, 2.0])


def test_update_refuses_values_that_the_scale_does_not_have():
    forecaster = Forecaster(**FAST, scale="log").fit(months(N), np.exp(0.1 * VALUES))
    with pytest.raises(ValueError, match="-1 is not possible on the log scale"):
        forecaster.update(months(1, "2014-03"), [-1.0])
