"""The paper's method on tables has kernels without lines, and a run is the equal mixture of its members."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from farrier.baselines.starting_kernels import paper_kernels
from farrier.baselines.tables import FreeTables, HorseshoeTables, StagedTableSVGP
from farrier.kernels.registry import Periodic, SquaredExponential
from farrier.paper.selection import Selection

fixed = np.random.default_rng(4)
X = fixed.uniform(0.0, 4.0, (40, 2))
y = 50.0 + 9.0 * np.sin(2.0 * X[:, 0]) + 0.5 * fixed.normal(size=40)


@pytest.fixture
def small(monkeypatch):
    """Two kernels for twelve: compiling is what takes the time."""

    def kernels(X, y, initialisation, seed, *, lines):
        return [SquaredExponential(0.7 + 0.1 * (seed > 0)), SquaredExponential(2.0)]

    monkeypatch.setattr("farrier.baselines.tables.paper_kernels", kernels)


def test_half_of_the_paper_s_kernels_have_no_line_and_start_as_among_all():
    every = [repr(kernel) for kernel in paper_kernels(X, None, "both", 0)]
    kernels = [repr(kernel) for kernel in paper_kernels(X, None, "both", 0, lines=False)]
    assert len(kernels) == 12
    assert kernels == [kernel for kernel in every if "Linear" not in kernel]


def test_periods_of_the_data_go_to_the_kernels_that_have_no_line():
    days = np.arange(2000.0)[:, None] / 24.0
    load = np.sin(2.0 * np.pi * days[:, 0]) + 0.8 * np.sin(2.0 * np.pi * days[:, 0] / 7.0)
    kernels = paper_kernels(days, load, "strong", 0, lines=False)
    cycles = [factor for kernel in kernels for factor in kernel.products()[0] if isinstance(factor, Periodic)]
    periods = np.concatenate([cycle.period for cycle in cycles])
    assert_allclose(periods[:2], [1.0, 7.0], rtol=0.01)
    # in turn, none left out
    assert_allclose(periods, np.resize(periods[: len(np.unique(periods))], len(periods)))


@pytest.mark.parametrize("kind", [HorseshoeTables, FreeTables])
def test_a_run_is_the_equal_mixture_of_its_members(small, kind):
    model = kind(members=2, points=6, iterations=50, learning_rate=0.1).fit(X, y)
    mean, sd = model.predict(X[:5])
    scaled = (X[:5] - X.mean(axis=0)) / X.std(axis=0)
    parts = [member.predict(scaled) for member in model.members_]
    means = np.stack([m for m, _ in parts]) * y.std() + y.mean()
    sds = np.stack([s for _, s in parts]) * y.std()
    assert_allclose(mean, means.mean(axis=0), rtol=1e-9)
    assert_allclose(sd**2, np.mean(sds**2, axis=0) + means.var(axis=0), rtol=1e-6)
    assert np.abs(mean - y[:5]).max() < 2.0 * y.std()
    assert 0.0 < model.noise_variance_ < y.var()
    assert model.elbo_ == max(member.elbo_ for member in model.members_)


def test_in_two_stages_the_kernels_that_stay_have_all_inducing_points(small):
    first = Selection(rows=30, points=5, steps=50, kept=1, handed_on=True)
    model = StagedTableSVGP(selection=first, iterations=50, learning_rate=0.1).fit(X, y)
    assert model.model_.posterior.Z.shape == (1, 10, 2)
    mean, _ = model.predict(X)
    assert np.sqrt(np.mean((mean - y) ** 2)) < 0.5 * y.std()
