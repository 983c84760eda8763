"""Laws of training in two stages: shrunk kernels leave, the needed ones stay, and all rows count in the end."""

import jax
import numpy as np
import pytest

from farrier.baselines.weight_priors import NoPrior
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Gaussian
from farrier.kernels.registry import Linear, SquaredExponential
from farrier.paper.inducing import spread_points
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.objective import Model
from farrier.paper.pool import stack
from farrier.paper.selection import Selection, component_shares, kept_groups, needed_groups, train_in_stages
from farrier.paper.training import Settings

RNG = np.random.default_rng(0)
X = np.linspace(-2.0, 2.0, 60)[:, None]
Y = X[:, 0] + 0.1 * RNG.standard_normal(60)
POOL = stack([Linear(0.0), SquaredExponential(0.1), SquaredExponential(0.05) * Linear(0.0)], 1)


def start(prior):
    return Model(prior, Gaussian(0.1), MultiSVGP.initial(POOL, spread_points(X, 8)))


def test_shares_are_the_variances_of_the_components_in_parts_of_the_noise():
    with jax.enable_x64(True):
        shares = component_shares(start(NoPrior.initial(3)), X)
    w2 = np.asarray(NoPrior.initial(3).draw(np.zeros((1, 0)))[0]) ** 2
    expected = w2 * np.array([np.mean(X**2), 1.0, np.mean(X**2)]) / 0.1
    np.testing.assert_allclose(shares, expected, rtol=1e-6)


@pytest.mark.parametrize("prior", [Horseshoe.initial(3), NoPrior.initial(3)], ids=["horseshoe", "no prior"])
def test_only_the_largest_groups_are_kept_with_their_own_weights(prior):
    with jax.enable_x64(True):
        model = start(prior)
        fewer = kept_groups(model, needed_groups(model, X, Selection(kept=2)), X[::6])
    assert [str(kernel) for kernel in fewer.posterior.pool] == [str(POOL[0]), str(POOL[2])]
    np.testing.assert_allclose(fewer.prior.quantile(0.5), model.prior.quantile(0.5)[[0, 2]])
    assert fewer.posterior.Z.shape == (2, 10, 1)


def test_the_points_of_kernels_that_leave_go_to_those_that_stay():
    first = Selection(rows=40, steps=50, points=8, kept=2, least=0.0, handed_on=True)
    with jax.enable_x64(True):
        model, _ = train_in_stages(
            [start(Horseshoe.initial(3))],
            X,
            Y,
            Settings(iterations=50, tolerance=0.0),
            jax.random.key(0),
            points=5,
            seed=0,
            selection=first,
        )
    assert model.posterior.Z.shape == (2, 12, 1)


def test_a_line_is_left_with_the_kernel_of_a_line():
    first = Selection(rows=40, steps=100, points=8, kept=1)
    settings = Settings(iterations=50, tolerance=0.0)
    with jax.enable_x64(True):
        model, history = train_in_stages(
            [start(Horseshoe.initial(3))], X, Y, settings, jax.random.key(0), points=12, seed=0, selection=first
        )
    assert [kernel.formula() for kernel in model.posterior.pool] == ["Lin"]
    assert history.bound.shape == (50,)
    assert history.bound[-1] > 20.0
