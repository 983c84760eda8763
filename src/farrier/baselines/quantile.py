"""Black-box quantile kernels (Tompkins, Senanayake, Morere and Ramos, AISTATS 2019): kernels with a learned spectrum.

A stationary kernel is the characteristic function of a distribution of frequencies. Frequencies are drawn through the
quantile function of that distribution, one for each input, and make Fourier features:

    omega_rd = Q_d(u_rd),     phi(x) = (cos omega_1'x, sin omega_1'x, ..., cos omega_R'x, sin omega_R'x)
    y = phi(x)'b + noise,     b ~ N(0, v / R)

u are quasi-random points, so phi is a smooth function of the parameters of Q. Q is a monotone cubic interpolation of
knots at fixed probabilities, whose heights are learned. A spectrum is symmetric, so Q(1/2 + h) = -Q(1/2 - h) and the
knots cover one half. All parameters maximise the marginal likelihood of the linear regression. The kernel of one input
is composed with lines, as kernels by features can be: with Lin(x, x') = x x' the sum

    v k(x, x') + v_1 Lin(x, x') + v_2 Lin(x, x')^2 + v_3 Lin(x, x') k(x, x')

is a regression on phi(x), x, x^2 and x phi(x). Without them a series that rises falls back to its mean.

Deviations: L-BFGS from several starts (smooth kernels of different lengths and, for one input, the spectrum that the
data show) instead of Bayesian optimisation; the probabilities of the knots are not learned. Above `train_rows` the
parameters are learned on random rows; the regression then uses all rows.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float
from scipy.signal import lombscargle
from scipy.special import ndtri
from scipy.stats import qmc

from farrier.baselines.common import START_NOISE, Baseline, maximise_module, some_rows
from farrier.paper.linalg import log_determinant, solve_lower
from farrier.paper.trees import as_array, fixed, positive

LENGTHS = (0.05, 0.15, 0.5, 1.5)
"""Lengthscales of the smooth starts, times the square root of the number of inputs; by judgement."""
START_LINE = 0.1
"""The variances of lines and of growing waves at the start, for x and y with variance 1; by judgement."""
BLOCK_ROWS = 4096
"""Rows of features in one block, by judgement."""


def probabilities_of_knots(count: int) -> np.ndarray:
    """Probabilities from 0 to 1, closer together in the tail."""
    return 1.0 - (1.0 - np.linspace(0.0, 1.0, count)) ** 1.5


def monotone(p: Float[Array, "R"], at: Float[np.ndarray, "k"], heights: Float[Array, "k"]) -> Float[Array, "R"]:
    """Monotone cubic interpolation of rising knots (Fritsch and Butland 1984)."""
    steps = np.diff(at)
    slopes = jnp.diff(heights) / steps
    # at inner knots the harmonic mean of the slopes on both sides, at the ends the slope there
    left, right = 2.0 * steps[1:] + steps[:-1], steps[1:] + 2.0 * steps[:-1]
    inner = (left + right) / (left / slopes[:-1] + right / slopes[1:])
    tangents = jnp.concatenate([slopes[:1], inner, slopes[-1:]])
    i = jnp.clip(jnp.searchsorted(jnp.asarray(at), p, side="right") - 1, 0, len(steps) - 1)
    t = (p - jnp.asarray(at)[i]) / jnp.asarray(steps)[i]
    h = jnp.asarray(steps)[i]
    rise = heights[i + 1] - heights[i]
    bend = (3.0 * t**2 - 2.0 * t**3) * rise
    return heights[i] + bend + h * ((t - 2.0 * t**2 + t**3) * tangents[i] + (t**3 - t**2) * tangents[i + 1])


@final
class Spectrum(eqx.Module):
    """The quantile functions of all inputs, the points u, and the variances of the regression."""

    increments: Float[Array, "D k"] = positive()
    """The increase of |frequency| from knot to knot, the first from zero."""
    variance: Float[Array, ""] = positive()
    noise: Float[Array, ""] = positive()
    line: Float[Array, "g"] = positive()
    """The variances of x, x^2 and x phi(x) for one input; empty for several."""
    points: Float[Array, "R D"] = fixed()

    def quantiles(self, p: Float[Array, "D R"]) -> Float[Array, "D R"]:
        """The quantiles of |frequency| in each input."""
        D, k = self.increments.shape
        heights = jnp.cumsum(jnp.asarray(self.increments), axis=1)
        return jnp.stack([monotone(p[d], probabilities_of_knots(k), heights[d]) for d in range(D)])

    def frequencies(self) -> Float[Array, "R D"]:
        """omega, of both signs."""
        u = jnp.asarray(self.points).T
        return (jnp.sign(u - 0.5) * self.quantiles(jnp.abs(2.0 * u - 1.0))).T

    def features(self, X: Float[Array, "N D"]) -> Float[Array, "N f"]:
        """phi(x) times the standard deviation of b."""
        angles = X @ self.frequencies().T
        waves = jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], axis=1) / jnp.sqrt(angles.shape[1])
        if self.line.shape[0] == 0:
            return jnp.sqrt(jnp.asarray(self.variance)) * waves
        line, square, growth = jnp.sqrt(jnp.asarray(self.line))
        parts = [jnp.sqrt(jnp.asarray(self.variance)) * waves, line * X, square * X**2, growth * X * waves]
        return jnp.concatenate(parts, axis=1)


def log_evidence(model: Spectrum, X: Float[Array, "N D"], y: Float[Array, "N"]) -> Float[Array, ""]:
    """log N(y; 0, Phi Phi' + noise I), by the smaller of two equivalent matrices."""
    Phi, noise = model.features(X), jnp.asarray(model.noise)
    N, f = Phi.shape
    if f >= N:
        L = jnp.linalg.cholesky(Phi @ Phi.T + noise * jnp.eye(N))
        e = solve_lower(L, y[:, None])[:, 0]
        return -0.5 * (e @ e + log_determinant(L) + N * jnp.log(2.0 * jnp.pi))
    L, c = _regressed(Phi.T @ Phi, Phi.T @ y, noise)
    # |Phi Phi' + s I| = s^N |B|,  B = I + Phi'Phi / s
    return -0.5 * (y @ y / noise - c @ c + log_determinant(L) + N * jnp.log(2.0 * jnp.pi * noise))


def _regressed(gram: Array, moments: Array, noise: Array) -> tuple[Array, Array]:
    """The factor L of B = I + Phi'Phi / s, and c = L^-1 Phi'y / s."""
    L = jnp.linalg.cholesky(jnp.eye(gram.shape[0]) + gram / noise)
    return L, solve_lower(L, moments[:, None])[:, 0] / noise


_features = eqx.filter_jit(lambda model, X: model.features(X))
_quantiles = eqx.filter_jit(lambda model, p: model.quantiles(p))


@dataclass(kw_only=True)
class QuantileKernel(Baseline):
    """Bayesian regression on `features` pairs of Fourier features with a learned spectrum of `knots` knots an input."""

    name: ClassVar[str] = "bbq"
    features: int = 128
    knots: int = 12
    iterations: int = 150
    train_rows: int = 2000

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        some = some_rows(len(X), self.train_rows, self.seed)
        rows, target = jnp.asarray(X[some]), jnp.asarray(y[some])
        found = [
            maximise_module(log_evidence, start, rows, target, iterations=self.iterations)
            for start in self._starts(X[some], y[some])
        ]
        self.model_, self.evidence_ = max(found, key=lambda one: one[1])
        gram, moments = 0.0, 0.0
        for start in range(0, len(X), BLOCK_ROWS):
            Phi = np.asarray(_features(self.model_, jnp.asarray(X[start : start + BLOCK_ROWS])))
            gram, moments = gram + Phi.T @ Phi, moments + Phi.T @ y[start : start + BLOCK_ROWS]
        self._L, self._c = _regressed(jnp.asarray(gram), jnp.asarray(moments), jnp.asarray(self.model_.noise))

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        V = solve_lower(self._L, _features(self.model_, jnp.asarray(X)).T)
        return np.asarray(V.T @ self._c), np.asarray(jnp.sum(V**2, axis=0)) + float(self.model_.noise)

    def quantiles(self, p: np.ndarray) -> np.ndarray:
        """The quantiles of |frequency| in each input (D, len(p)), in radians for each unit of that input."""
        with jax.enable_x64(True):
            learned = np.asarray(_quantiles(self.model_, jnp.tile(jnp.asarray(p), (len(self._scale.x_scale), 1))))
        return learned / self._scale.x_scale[:, None]

    def _starts(self, X: np.ndarray, y: np.ndarray) -> list[Spectrum]:
        D = X.shape[1]
        sobol = qmc.Sobol(D, scramble=True, rng=np.random.default_rng(self.seed))
        points = sobol.random_base2((self.features - 1).bit_length())[: self.features]
        # u and 1 - u give the same pair of features: one input needs only half of them
        points = as_array(0.5 + 0.5 * points if D == 1 else points)
        probabilities = probabilities_of_knots(self.knots)
        # the quantile at 1 is infinite: take points slightly inside
        ends = np.concatenate([probabilities[1:2] / 4.0, probabilities[1:-1], 0.5 + 0.5 * probabilities[-2:-1]])
        half_normal = ndtri(0.5 + 0.5 * ends)
        curves = [np.tile(half_normal / (length * np.sqrt(D)), (D, 1)) for length in LENGTHS]
        if D == 1:
            curves.append(spectrum(X[:, 0], y, ends)[None, :])
        rises = [as_array(np.maximum(np.diff(curve, axis=1, prepend=0.0), 1e-3)) for curve in curves]
        line = as_array(np.full(3 if D == 1 else 0, START_LINE))
        return [Spectrum(rise, as_array(1.0), as_array(START_NOISE), line, points) for rise in rises]


def spectrum(x: np.ndarray, y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The quantiles of |frequency| if the periodogram of the data is the distribution."""
    extent = np.ptp(x)
    frequencies = np.arange(0.25, len(x) / 2.0, 0.25) * 2.0 * np.pi / extent
    power = lombscargle(x, y - y.mean(), frequencies)
    share = np.cumsum(power) / power.sum()
    return np.interp(p, share, frequencies)
