"""Laplace's approximation: the parameters are normal about the top of the log posterior, with its curvature.

    u ~ N(u*, H^-1),   H = -d^2 L / du^2     evidence = L(u*) + (P log 2 pi - log|H|) / 2

Predictions are averages over draws of u, in antithetic pairs (posteriors.LaplacePosterior). Where the normal reaches
too far along flat directions, draws come from Hamiltonian Monte Carlo (Neal 2011), preconditioned by it. With
u = u* + V q / sqrt(values), where H = V diag(values) V', the density of q is close to a standard normal, and

    p <- p + (step / 2) dL/dq,   q <- q + step p,   p <- p + (step / 2) dL/dq

follows its contours. An end point is accepted with probability min(1, exp(L - |p|^2 / 2) / exp(L_0 - |p_0|^2 / 2)).
Nothing outside the limits of the parameters is accepted.
"""

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from farrier.inference.exact import LOG_2PI
from farrier.inference.parameter_vector import Terms

WANTED = 0.8
"""Part of the end points that should be accepted; the step is adapted to it (Beskos et al. 2013: 0.65 to 0.9)."""
ADAPTATION = 0.3
"""How fast the log of the step follows the acceptance, by judgement. [log for each trajectory]"""
UNEVEN = 0.2
"""Relative spread of the steps about their mean: it keeps trajectories from closing on themselves (Neal 2011)."""


class Differentiable(Protocol):
    """A log density with its gradient."""

    def terms(self, numbers: np.ndarray) -> tuple[Terms, np.ndarray]:
        """The terms of the log density, and its gradient."""
        ...


def curvature(
    objective: Differentiable, u: np.ndarray, which: np.ndarray, steps: np.ndarray, slope: np.ndarray | None = None
) -> np.ndarray:
    """H at u for some parameters, by differences of the gradient, with `steps` of all of them.

    `slope` is the gradient at u, if it is known.
    """
    here = (objective.terms(u)[1] if slope is None else slope)[which]
    rows = np.zeros((len(which), len(which)))
    for i, place in enumerate(which):
        ahead = u.copy()
        ahead[place] += steps[place]
        rows[i] = (here - objective.terms(ahead)[1][which]) / steps[place]
    return 0.5 * (rows + rows.T)


@final
@dataclass(frozen=True, eq=False)
class Laplace:
    """The normal approximation; where the curvature is flatter than the prior's, the prior stands in."""

    mode: np.ndarray
    values: np.ndarray
    """Eigenvalues of H."""
    vectors: np.ndarray

    @classmethod
    def of(cls, mode: np.ndarray, H: np.ndarray, least: float) -> "Laplace":
        """From the curvature at the mode; no eigenvalue is below `least`, the precision of the widest prior."""
        values, vectors = np.linalg.eigh(H)
        return cls(mode, np.maximum(values, least), vectors)

    @property
    def H(self) -> np.ndarray:
        """The curvature."""
        return (self.vectors * self.values) @ self.vectors.T

    def newton(self, slope: np.ndarray) -> np.ndarray:
        """The step of Newton's method from the mode to where the gradient is expected to vanish."""
        return self.vectors @ ((self.vectors.T @ slope) / self.values)

    def expected_gain(self, slope: np.ndarray) -> float:
        """The gain of such a step if the log posterior were quadratic."""
        return 0.5 * float(slope @ self.newton(slope))

    @property
    def log_volume(self) -> float:
        """What the evidence has beyond the log posterior at its top: (P log 2 pi - log|H|) / 2."""
        return 0.5 * float(len(self.values) * LOG_2PI - np.log(self.values).sum())

    def draws(self, count: int, seed: int = 0) -> np.ndarray:
        """An even number of draws of u in antithetic pairs, (count, P), the same every time.

        They are made with the symmetric root of the inverse of H, a smooth function of H: eigenvectors can change their
        signs and order with the last digit of a number.
        """
        noise = np.random.default_rng(seed).standard_normal((count // 2, len(self.mode)))
        steps = noise @ (self.vectors / np.sqrt(self.values)) @ self.vectors.T
        return self.mode + np.concatenate([steps, -steps])

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of each parameter."""
        return np.sqrt(np.einsum("ij,j,ij->i", self.vectors, 1.0 / self.values, self.vectors))


@final
@dataclass(frozen=True)
class Trajectories:
    """How many trajectories there are, and how long they are."""

    draws: int
    """Draws that are kept, one from each of so many equal stretches of the chain."""
    apart: int
    """Trajectories from one kept draw to the next."""
    warm: int
    """Trajectories before the first draw, during which the step is adapted."""
    steps: int
    """Steps of a trajectory."""
    step: float
    """Length of the first step, in standard deviations of Laplace's approximation."""


def sampled(
    objective: Differentiable,
    u: np.ndarray,
    moving: np.ndarray,
    laplace: Laplace,
    limits: np.ndarray,
    wanted: Trajectories,
    seed: int = 0,
) -> np.ndarray:
    """Draws of all parameters, (draws, P), from a chain that starts at the mode u; the same every time."""
    generator = np.random.default_rng(seed)
    stretch = laplace.vectors / np.sqrt(laplace.values)

    def place(q: np.ndarray) -> np.ndarray:
        whole = u.copy()
        whole[moving] = laplace.mode + stretch @ q
        return whole

    def density(q: np.ndarray) -> tuple[float, np.ndarray]:
        whole = place(q)
        if np.any(whole < limits[:, 0]) or np.any(whole > limits[:, 1]):
            return -np.inf, np.zeros_like(q)
        terms, slope = objective.terms(whole)
        return terms.total, stretch.T @ slope[moving]

    q, log_step = np.zeros(len(moving)), float(np.log(wanted.step))
    height, slope = density(q)
    kept: list[np.ndarray] = []
    for i in range(wanted.warm + wanted.draws * wanted.apart):
        p = generator.standard_normal(len(q))
        step = float(np.exp(log_step)) * (1.0 + UNEVEN * generator.uniform(-1.0, 1.0))
        there, energy = (q, height, slope), height - 0.5 * float(p @ p)
        for _ in range(wanted.steps):
            p = p + 0.5 * step * there[2]
            moved = there[0] + step * p
            there = (moved, *density(moved))
            if not np.isfinite(there[1]):
                break
            p = p + 0.5 * step * there[2]
        change = there[1] - 0.5 * float(p @ p) - energy
        chance = float(np.exp(min(change, 0.0))) if np.isfinite(change) else 0.0
        if generator.uniform() < chance:
            q, height, slope = there
        if i < wanted.warm:
            log_step += ADAPTATION * (chance - WANTED)
        elif (i - wanted.warm) % wanted.apart == wanted.apart - 1:
            kept.append(place(q))
    return np.array(kept)
