"""The derivative of the log evidence of the linear tier, from the posterior of a pass over the rows (linear.py).

Features have backward passes of their own (linear_plan.Group). The one hyperparameter of a Markov process, such as its
lengthscale, enters through a, b, its bridge and its steps, whose derivatives are taken by central differences.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from farrier.inference.linear_blocks import Assembled, Chain, Chunk, LinearModel
from farrier.inference.markov_blocks import Bridged, bridged
from farrier.inference.markov_chain import Smoothed

DIFFERENCE = 1e-4
"""Step of the differences in the logarithm of a hyperparameter: errors of its square and of rounding are both small."""


@final
@dataclass
class Slopes:
    """Derivatives of the log evidence with respect to hyperparameters, squared weights and the noise variance."""

    model: LinearModel
    numbers: np.ndarray
    w2: np.ndarray
    noise: float = 0.0

    @classmethod
    def of(
        cls,
        model: LinearModel,
        solution: Any,
        states: Smoothed,
        kept: list[tuple[Chunk, Assembled, np.ndarray]],
        start: float,
    ) -> "Slopes":
        """From a pass over the rows, with all that it computed."""
        found = cls(model, np.zeros(len(model.numbers)), np.zeros(len(model.w2)))
        beta, S = solution.mean, solution.covariance
        # data columns are features and y: E[x | beta] = m_y - m_Phi beta
        J = states.mean[..., :-1]
        mean = states.mean[..., -1] - J @ beta
        JS = J @ S
        covariance = states.covariance + JS @ np.swapaxes(J, 1, 2)
        dT = found.by_steps(solution.T, states, mean, covariance, JS, beta)
        for chunk, made, W in kept:
            where = 1 + chunk.which
            found.add_rows(chunk, made, W, beta, S, (mean[where], covariance[where], JS[where]), dT[where])
        if model.d:
            _, begin = model.start(start)
            for place, (i, process) in enumerate(zip(model.states, begin, strict=True)):
                form = model.forms[i]
                assert form is not None
                away = np.array([0.0 if form.origin is None else max(start - form.origin, 0.0)])
                nothing = Bridged(*(np.zeros_like(one) for one in process))
                found.add_process(i, np.zeros((1, 1)), away, found.with_step(place, i, dT[:1], nothing))
        for group in model.groups:
            group.pull_factor(found.numbers)
        return found

    def by_steps(
        self,
        T: np.ndarray,
        states: Smoothed,
        mean: np.ndarray,
        covariance: np.ndarray,
        JS: np.ndarray,
        beta: np.ndarray,
    ) -> np.ndarray:
        """dL/dT of every block, (B, d, 2d)."""
        h, H = states.towards, states.later
        # E[(h_y - h_Phi beta - H T x) x']
        left = h[..., -1] - h[..., :-1] @ beta - (H @ T @ mean[..., None])[..., 0]
        return left[:, :, None] * mean[:, None, :] + h[..., :-1] @ np.swapaxes(JS, 1, 2) - H @ T @ covariance

    def add_rows(
        self,
        chunk: Chunk,
        made: Assembled,
        W: np.ndarray,
        beta: np.ndarray,
        S: np.ndarray,
        posterior: tuple[np.ndarray, np.ndarray, np.ndarray],
        dT: np.ndarray,
    ) -> None:
        """Add the derivatives from the rows of a chunk."""
        G, d = self.model.G, self.model.d
        mean, covariance, JS = posterior
        K, M = chunk.y.shape
        W_u = np.concatenate([W[..., :G], W[..., G + 1 :]], axis=2)
        u = np.concatenate([np.broadcast_to(beta, (K, G)), mean], axis=1)
        Sigma = np.empty((K, G + 2 * d, G + 2 * d))
        Sigma[:, :G, :G], Sigma[:, G:, G:] = S, covariance
        Sigma[:, G:, :G], Sigma[:, :G, G:] = -JS, -np.swapaxes(JS, 1, 2)
        e = W[..., G] - (W_u @ u[..., None])[..., 0]
        WS = W_u @ Sigma
        back = np.swapaxes(made.inverse, 1, 2)
        dY = back @ (e[..., None] * u[:, None, :] - WS)
        inner = e[..., None] * e[:, None, :] + WS @ np.swapaxes(W_u, 1, 2)
        place = np.arange(M)
        inner[:, place, place] -= 1.0
        dC = 0.5 * (back @ inner @ made.inverse)
        filled = chunk.filled
        dC *= filled[:, :, None] & filled[:, None, :]
        dspread = dC[:, place, place]
        self.noise += float(np.sum(dspread * chunk.noise))
        self.w2 += np.sum(dspread * made.left, axis=(1, 2))
        self._features(chunk, made, dY[..., :G] * filled[..., None], dspread)
        for order, chain in enumerate(made.chains):
            self._chain(order, chain, chunk, dY[..., G:], dC, dT)

    def _features(self, chunk: Chunk, made: Assembled, dPhi: np.ndarray, dspread: np.ndarray) -> None:
        """Add the derivatives through features of products that are no chains."""
        model = self.model
        for i, own in model.features.items():
            w = np.sqrt(model.w2[i])
            phi = made.plain[..., own]
            by_w = float(np.sum(dPhi[..., own] * phi))
            self.w2[i] += 0.5 * by_w / w if w > 0 else 0.0
            flat = (-1, phi.shape[-1])
            dleft = (model.w2[i] * dspread).ravel()
            model.groups[i].pull(chunk.X, phi.reshape(flat), (w * dPhi[..., own]).reshape(flat), dleft, self.numbers)

    def _chain(self, order: int, chain: Chain, chunk: Chunk, dZ: np.ndarray, dC: np.ndarray, dT: np.ndarray) -> None:
        """Add the derivatives through one product that is a chain."""
        model, i, phi, process = self.model, chain.piece, chain.phi, chain.process
        own, w2, d = model.states[i], model.w2[i], model.d
        w, shape = np.sqrt(w2), (*phi.shape, process.a.shape[-1])
        filled = chunk.filled[..., None]
        by_a = dZ[:, :, own].reshape(shape) * filled[..., None]
        by_b = dZ[:, :, d + own.start : d + own.stop].reshape(shape) * filled[..., None]
        both = phi @ np.swapaxes(phi, 1, 2)
        by_both = dC * process.bridge
        dphi = w * (np.sum(by_a * process.a[..., None, :], axis=-1) + np.sum(by_b * process.b[..., None, :], axis=-1))
        self.w2[i] += 0.5 * float(np.sum(dphi * phi)) / max(w2, 1e-300) + float(np.sum(by_both * both))
        dphi = dphi + 2.0 * w2 * (by_both @ phi)
        flat = (-1, phi.shape[-1])
        form, place = model.forms[i], np.arange(dC.shape[1])
        assert form is not None
        dleft = (w2 * dC[:, place, place] if form.origin is None else np.zeros(phi.shape[:2])).ravel()
        model.groups[i].pull(chunk.X, phi.reshape(flat), dphi.reshape(flat), dleft, self.numbers)
        da, db = (w * np.einsum("knr,knrd->knd", phi, by) for by in (by_a, by_b))
        derivative = Bridged(da, db, w2 * both * dC, np.zeros_like(process.A), np.zeros_like(process.E))
        if len(chunk.h) == 1:
            derivative = Bridged(*(one.sum(axis=0, keepdims=True) for one in derivative))
            dT = dT.sum(axis=0, keepdims=True)
        self.add_process(i, chunk.h, chunk.gap, self.with_step(order, i, dT, derivative))

    def with_step(self, order: int, i: int, dT: np.ndarray, derivative: Bridged) -> Bridged:
        """The derivatives of a process with those of its own part of T."""
        own, d = self.model.states[i], self.model.d
        form = self.model.forms[i]
        assert form is not None
        size = len(form.observation)
        A, E = np.zeros((len(dT), size, size)), np.zeros((len(dT), size, size))
        for start in range(own.start, own.stop, size):
            at = slice(start, start + size)
            A += dT[:, at, at]
            E += dT[:, at, d + start : d + start + size]
        return Bridged(derivative.a, derivative.b, derivative.bridge, A, E)

    def add_process(self, i: int, h: np.ndarray, gap: np.ndarray, derivative: Bridged) -> None:
        """Add the derivative with respect to the hyperparameters of a process, by central differences."""
        piece, numbers = self.model.pieces[i], self.model.numbers
        assert piece.chain is not None
        for place in piece.chain.places.values():
            ends = []
            for sign in (1.0, -1.0):
                moved = numbers.copy()
                moved[place] *= np.exp(sign * DIFFERENCE)
                ends.append(bridged(piece.form(moved), h, gap))
            by_log = sum(np.vdot(by, up - down) for by, up, down in zip(derivative, *ends, strict=True))
            self.numbers[place] += float(by_log) / (2.0 * DIFFERENCE * numbers[place])
