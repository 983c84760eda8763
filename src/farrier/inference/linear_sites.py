"""New rows of a series together with the blocks of the linear tier that they fall into (linear_posterior.py)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from farrier.inference.linear_blocks import Chunk, LinearModel, loaded
from farrier.inference.markov_blocks import after, loadings
from farrier.kernels.markov import MarkovForm


class Process(NamedTuple):
    """One product that is a chain, at new rows."""

    loads: np.ndarray
    """Its loadings on x, (K, P, 2 R d), in the order of its states."""
    cross: np.ndarray
    """The covariance of its bridge with the rows of the block, (K, M, P)."""
    own: np.ndarray
    """The covariance of its bridge between the new rows, (K, P, P)."""


@final
@dataclass(frozen=True, eq=False)
class Site:
    """P new rows in each of K blocks."""

    model: LinearModel
    blocks: np.ndarray
    """The number of each block."""
    X: np.ndarray
    """The new rows, (K, P, D)."""
    rows: np.ndarray
    """Their indices, (K, P)."""
    filled: np.ndarray
    """Which of these exist, (K, P)."""
    Phi: np.ndarray
    """Weighted features of the new rows, (K, P, G)."""
    left: np.ndarray
    """The variance that the features of each product do not explain, weighted, (m, K, P)."""
    processes: dict[int, Process]
    inverse: np.ndarray
    """L^-1 of the blocks, (K or 1, M, M)."""
    W: np.ndarray
    """L^-1 Y, (K, M, G + 2d)."""
    e: np.ndarray
    """L^-1 (y - Y m), (K, M)."""
    mean: np.ndarray
    """The posterior mean of u, (K, G + 2d)."""
    beta: np.ndarray
    """The posterior covariance of beta, (G, G)."""
    J: np.ndarray
    within: np.ndarray

    @cached_property
    def covariance(self) -> np.ndarray:
        """The posterior covariance of u, (K, G + 2d, G + 2d)."""
        G, size = self.model.G, self.mean.shape[1]
        S = np.empty((len(self.mean), size, size))
        JS = self.J @ self.beta
        S[:, :G, :G] = self.beta
        S[:, G:, :G], S[:, :G, G:] = -JS, -np.swapaxes(JS, 1, 2)
        S[:, G:, G:] = self.within + JS @ np.swapaxes(self.J, 1, 2)
        return S

    def of(self, chosen: np.ndarray) -> "View":
        """The sum of some components, given by a row of 0 and 1."""
        model, G, d = self.model, self.model.G, self.model.d
        Y = np.zeros((*self.rows.shape, G + 2 * d))
        for i, own in model.features.items():
            if chosen[i]:
                Y[..., own] = self.Phi[..., own]
        left = np.tensordot(chosen, self.left, axes=1)
        some = [i for i in self.processes if chosen[i]]
        for i in some:
            own = model.states[i]
            count = own.stop - own.start
            Y[..., G + own.start : G + own.stop] = self.processes[i].loads[..., :count]
            Y[..., G + d + own.start : G + d + own.stop] = self.processes[i].loads[..., count:]
        if not some:
            return View(self, chosen, Y, left, None, None)
        cross = sum((self.processes[i].cross for i in some[1:]), start=self.processes[some[0]].cross)
        own = sum((self.processes[i].own for i in some[1:]), start=self.processes[some[0]].own)
        return View(self, chosen, Y, left, self.inverse @ cross, own)


@final
@dataclass(frozen=True, eq=False)
class View:
    """Some components at new rows."""

    site: Site
    chosen: np.ndarray
    Y: np.ndarray
    left: np.ndarray
    A: np.ndarray | None
    """L^-1 c, (K, M, P); None if no component is a chain."""
    bridge: np.ndarray | None

    @cached_property
    def mean(self) -> np.ndarray:
        """(K, P)."""
        mean = (self.Y @ self.site.mean[..., None])[..., 0]
        return mean if self.A is None else mean + (np.swapaxes(self.A, 1, 2) @ self.site.e[..., None])[..., 0]

    @cached_property
    def g(self) -> np.ndarray:
        """(K, P, G + 2d)."""
        return self.Y if self.A is None else self.Y - np.swapaxes(self.A, 1, 2) @ self.site.W

    @cached_property
    def variance(self) -> np.ndarray:
        """(K, P)."""
        if self.A is None:
            used = np.flatnonzero(np.any(self.Y[..., : self.site.model.G], axis=(0, 1)))
            F = self.Y[..., used]
            return self.left + np.sum(F * (F @ self.site.beta[np.ix_(used, used)]), axis=2)
        assert self.bridge is not None
        known = np.sum(self.g * (self.g @ self.site.covariance), axis=2) - np.sum(self.A**2, axis=1)
        return self.left + np.diagonal(self.bridge, axis1=1, axis2=2) + known

    def own(self, k: int) -> np.ndarray:
        """The covariance between the new rows of block k that does not pass through u, (P, P)."""
        own = np.diag(self.left[k])
        if self.site.W.shape[1] == 0:
            # far from all rows, features explain little of a smooth curve, and what they leave is smooth too
            model, X = self.site.model, self.site.X[k]
            some = [i for i in model.features if self.chosen[i]]
            own = sum((model.w2[i] * model.groups[i].residual(X) for i in some), start=np.zeros((len(X), len(X))))
        if self.A is None:
            return own
        assert self.bridge is not None
        return own + self.bridge[k] - self.A[k].T @ self.A[k]


def inside_the_rows(draw: Any, X: np.ndarray, rows: np.ndarray, filled: np.ndarray, chunk: Chunk) -> Site:
    """New rows between the first and the last row, at `rows` (K, P) of X, in the blocks of a chunk."""
    model, made = draw.model, draw.model.assemble(chunk)
    K, P = rows.shape
    plain, copies, left = model.feature_rows(X[rows.ravel()])
    u = np.concatenate([np.broadcast_to(draw.beta, (K, model.G)), draw.mean[chunk.which]], axis=1)
    W = made.inverse @ np.concatenate([made.Phi, made.Z], axis=2)
    e = (made.inverse @ chunk.y[..., None])[..., 0] - (W @ u[..., None])[..., 0]
    away = X[rows, 0] - (chunk.X[:, 0].reshape(K, -1)[:, :1] - chunk.h[:, :1])
    h, there, gap = (np.broadcast_to(one, (K, one.shape[1])) for one in (chunk.h, away, chunk.gap[:, None]))
    processes = {}
    for (i, _), phi, chain in zip(model.states.items(), copies, made.chains, strict=True):
        form, w2 = model.forms[i], model.w2[i]
        phi = phi.reshape(K, P, -1)
        a, b, _, _ = loadings(form, there, gap[:, 0])
        loads = np.sqrt(w2) * np.concatenate([loaded(phi, a), loaded(phi, b)], axis=2)
        turned, process = np.swapaxes(b, 1, 2), chain.process
        cross = after(form, h, there, process.a, a) - process.b @ turned
        own = after(form, there, there, a, a) - b @ turned
        cross = w2 * cross * (chain.phi @ np.swapaxes(phi, 1, 2)) * chunk.filled[..., None]
        processes[i] = Process(loads, cross, w2 * own * (phi @ np.swapaxes(phi, 1, 2)))
    return Site(
        model=model,
        blocks=chunk.which,
        X=X[rows],
        rows=rows,
        filled=filled,
        Phi=plain.reshape(K, P, -1) * model.feature_weights,
        left=(model.w2[:, None] * left).reshape(-1, K, P),
        processes=processes,
        inverse=made.inverse,
        W=W,
        e=e,
        mean=u,
        beta=draw.covariance,
        J=draw.J[chunk.which],
        within=draw.within[chunk.which],
    )


def beyond_the_rows(draw: Any, X: np.ndarray, rows: np.ndarray, border: int, at: float) -> Site:
    """New rows left of the first border or right of the last one, which is at `at`: no rows are in their block."""
    model: LinearModel = draw.model
    P, none = len(rows), np.array([border])
    there = X[rows, 0]
    plain, copies, left = model.feature_rows(X[rows])
    u = np.concatenate([draw.beta, draw.mean[border]])[None]
    processes = {}
    for (i, own), phi in zip(model.states.items(), copies, strict=True):
        form, w2 = model.forms[i], model.w2[i]
        assert form is not None
        a, covariance = _forward(form, there - at) if border else _before(form, there, at)
        loads = np.zeros((1, P, 2 * (own.stop - own.start)))
        loads[..., : own.stop - own.start] = np.sqrt(w2) * loaded(phi[None], a[None])
        processes[i] = Process(loads, np.zeros((1, 0, P)), (w2 * covariance * (phi @ phi.T))[None])
    return Site(
        model=model,
        blocks=none,
        X=X[rows][None],
        rows=rows[None],
        filled=np.ones((1, P), bool),
        Phi=(plain * model.feature_weights)[None],
        left=(model.w2[:, None] * left)[:, None],
        processes=processes,
        inverse=np.zeros((1, 0, 0)),
        W=np.zeros((1, 0, u.shape[1])),
        e=np.zeros((1, 0)),
        mean=u,
        beta=draw.covariance,
        J=draw.J[none],
        within=draw.within[none],
    )


def _forward(form: MarkovForm, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Right of a border: loadings on the state there (P, d), and the covariance of what is left, (P, P)."""
    A, _ = form.steps(h)
    a = form.observation @ A
    return a, after(form, h[None], h[None], a[None], a[None])[0]


def _before(form: MarkovForm, x: np.ndarray, at: float) -> tuple[np.ndarray, np.ndarray]:
    """Left of a border: the same, by conditioning on the state at the border.

    Left of its origin a process that starts there is its mirror image, with the same slope at the origin.
    """
    o = form.observation
    if form.origin is None:
        A, _ = form.steps(at - x)
        to_state = o @ form.initial @ np.swapaxes(A, 1, 2)
        state, prior = form.initial, _correlated(form, x)
    else:
        h, right = np.abs(x - form.origin), x >= form.origin
        A, Q = form.steps(h)
        ((A_s,), (Q_s,)), (A_on, _) = form.steps(np.array([max(at - form.origin, 0.0)])), form.steps(at - x)
        state = A_s @ form.initial @ A_s.T + Q_s
        loads = (o @ A) * np.where(right[:, None], 1.0, np.where(np.arange(len(o)) == 0, 1.0, -1.0))
        # between the origin and the border, the noise since the origin goes on to the border
        since = np.where(right[:, None], (A_on @ (Q @ o)[..., None])[..., 0], 0.0)
        to_state = loads @ form.initial @ A_s.T + since
        own = after(form, h[None], h[None], (o @ A)[None], (o @ A)[None])[0]
        prior = np.where(right[:, None] == right, own, 0.0) + loads @ form.initial @ loads.T
    a = to_state @ np.linalg.pinv(state, rcond=1e-12, hermitian=True)
    return a, prior - a @ state @ a.T


def _correlated(form: MarkovForm, x: np.ndarray) -> np.ndarray:
    assert form.correlation is not None
    return form.correlation(np.abs(x[:, None] - x))
