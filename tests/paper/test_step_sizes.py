"""Laws of the sizes of steps: a period moves in cycles, inducing points by their distance, everything else fully."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.testing import assert_allclose

from farrier.inference.horseshoe import Horseshoe
from farrier.inference.likelihoods import Gaussian
from farrier.kernels.registry import Periodic, SquaredExponential
from farrier.paper.inducing import SharedPoints, spread_points
from farrier.paper.multisvgp import SVGP, MultiSVGP
from farrier.paper.objective import Model
from farrier.paper.pool import stack
from farrier.paper.step_sizes import POINTS, relative_steps
from farrier.paper.training import Settings, train
from farrier.paper.trees import free

RNG = np.random.default_rng(0)
X = np.linspace(0.0, 30.0, 120)[:, None]
POOL = stack([Periodic(1.0), Periodic(60.0) * SquaredExponential(5.0), SquaredExponential(2.0)], 1)


def sizes(posterior):
    model = Model(Horseshoe.initial(3), Gaussian(0.1), posterior)
    with jax.enable_x64(True):
        return relative_steps(free(model), jnp.asarray(X))


def test_the_step_of_a_period_is_the_same_number_of_cycles_whatever_the_period():
    found = sizes(MultiSVGP.initial(POOL, X[::10]))
    periods = found.posterior.pool.stacks[[type(s.factors) for s in found.posterior.pool.stacks].index(Periodic)]
    # 30 cycles over the range, and less than one cycle
    assert_allclose(np.ravel(periods.factors.period), [1.0 / 30.0, 1.0], rtol=1e-9)
    assert_allclose(np.ravel(periods.factors.lengthscale), [1.0, 1.0])


def test_other_parameters_take_the_whole_step_and_points_a_part_of_their_distance():
    Z = spread_points(X, 61)
    for posterior in (MultiSVGP.initial(POOL, Z), SVGP.initial(POOL, SharedPoints(Z))):
        found = sizes(posterior)
        assert_allclose(np.concatenate([np.ravel(found.prior.mu), np.ravel(found.likelihood.variance)]), 1.0)
        points = found.posterior.Z if isinstance(posterior, MultiSVGP) else found.posterior.inducing.Z
        assert_allclose(points, min(1.0, POINTS * 30.0 / 61.0), rtol=1e-9)


def test_a_season_under_a_strong_trend_keeps_the_period_it_starts_with():
    # 30 cycles whose variance is a hundredth of the trend's: a full step would lose the period in the first steps
    x = (X - X.mean()) / X.std()
    year = 1.0 / X.std()
    y = x[:, 0] + 0.1 * np.sin(2.0 * np.pi * X[:, 0]) + 0.02 * RNG.standard_normal(len(x))
    pool = stack([SquaredExponential(3.0), SquaredExponential(3.0) * Periodic(year)], 1)
    start = Model(Horseshoe.initial(2), Gaussian(0.1), MultiSVGP.initial(pool, spread_points(x, 20)))
    with jax.enable_x64(True):
        model, _ = train(start, x, y, Settings(iterations=150, learning_rate=0.1, tolerance=0.0), jax.random.key(0))
    periods = [float(np.ravel(s.factors.period)[0]) for s in model.posterior.pool.stacks if type(s.factors) is Periodic]
    assert_allclose(periods, [year], rtol=0.01)
