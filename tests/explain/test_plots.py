"""Pictures show the numbers of the story."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

matplotlib.use("Agg")
from matplotlib import pyplot as plt

import farrier
from farrier.kernels.registry import CentredPeriodic, Linear, SquaredExponential


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def series():
    x = 2000.0 + (np.arange(60) + 0.5) / 12.0
    y = 3.0 * (x - 2000.0) + 6.0 * np.sin(2 * np.pi * x) + np.random.default_rng(0).normal(size=60)
    return farrier.Regressor([CentredPeriodic(1.0, 1.0), Linear(2002.5)], iterations=60).fit(x[:, None], y)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.uniform(0.0, 10.0, (60, 2)), columns=["age", "dose"])
    kernels = [Linear(5.0, dims="dose"), SquaredExponential(3.0)]
    return farrier.Regressor(kernels, iterations=30).fit(frame, 2.0 * frame["dose"] + np.sin(frame["age"]))


def drawn(ax, label):
    return next(line for line in ax.get_lines() if line.get_label() == label)


def test_the_fit_runs_through_the_data(series):
    ax = series.plot(horizon=6)
    assert_allclose(drawn(ax, "data").get_ydata(), series.result_.target)
    median = series.predict_quantiles(drawn(ax, "fit").get_xdata()[:, None], [0.5])[:, 0]
    assert_allclose(drawn(ax, "fit").get_ydata(), median, rtol=1e-6)
    assert len(drawn(ax, "forecast").get_xdata()) == 7
    ax.figure.draw_without_rendering()


def test_axes_of_ones_own_are_drawn_into(series):
    _, ax = plt.subplots()
    assert series.plot(ax=ax) is ax
    assert all(line.get_label() != "forecast" for line in ax.get_lines())
    assert series.plot_weights(ax=ax) is ax


def test_every_component_has_a_panel(series, table):
    for model, panels in ((series, 2), (table, 2)):
        axes = model.plot_components()
        assert len(axes) == panels
        assert all(ax.get_title(loc="left") for ax in axes)
        axes[0].figure.draw_without_rendering()


def test_tables_show_observed_against_fitted(table):
    ax = table.plot()
    assert ax.get_xlabel() == "fitted y"
    assert ax.get_ylabel() == "observed y"


def test_every_candidate_has_a_weight(series):
    ax = series.plot_weights()
    assert {text.get_text() for text in ax.get_yticklabels()} == {"Per0", "Lin"}
    assert ax.get_xscale() == "log"
    ax.figure.draw_without_rendering()
