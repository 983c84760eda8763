"""Draws from a posterior density by Hamiltonian Monte Carlo (Neal 2011), preconditioned by Laplace's approximation.

With u = u* + V q / sqrt(values), where H = V diag(values) V' is the curvature at the mode u*, the density of q is close
to a standard normal, and

    p <- p + (step / 2) dL/dq,   q <- q + step p,   p <- p + (step / 2) dL/dq

follows its contours. An end point is accepted with probability min(1, exp(L - |p|^2 / 2) / exp(L_0 - |p_0|^2 / 2)).
Where Laplace's normal approximation reaches too far along flat directions, the draws do not. Nothing outside the limits
of the parameters is accepted.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from farrier.inference.laplace import Differentiable, Laplace

WANTED = 0.8
"""Part of the end points that should be accepted; the step is adapted to it (Beskos et al. 2013: 0.65 to 0.9)."""
ADAPTATION = 0.3
"""How fast the log of the step follows the acceptance, by judgement. [log for each trajectory]"""
UNEVEN = 0.2
"""Relative spread of the steps about their mean: it keeps trajectories from closing on themselves (Neal 2011)."""


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
