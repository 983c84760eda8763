"""The error of a training whose bound is not finite: which kernel causes it, and what to try."""

import numpy as np

from farrier.kernels.parameters import POSITIVE
from farrier.paper.linalg import cholesky
from farrier.paper.multisvgp import MultiSVGP
from farrier.paper.objective import Batch, Model
from farrier.paper.pool import Pool
from farrier.paper.trees import constraint_of


class TrainingError(ArithmeticError):
    """The bound became NaN or infinite."""


def diagnosis(model: Model, batch: Batch, step: int) -> str:
    """The error for a bound that is not finite: the kernel that causes it, and what to try."""
    advice = "Try a smaller learning_rate, fewer inducing points, or take the kernel out of the pool."
    pool, posterior = model.posterior.pool, model.posterior
    Z = posterior.Z if isinstance(posterior, MultiSVGP) else posterior.inducing.Z
    factors = cholesky(pool.gram(Z, Z))
    suspects = {
        "has parameters that are not finite": ~_sound_parameters(pool),
        "has values that are not finite at the data": ~np.isfinite(pool.gram(Z, batch.X)).all(axis=(1, 2)),
        "gives a covariance of inducing points that is not positive definite": ~np.isfinite(factors).all(axis=(1, 2)),
    }
    for reason, guilty in suspects.items():
        if guilty.any():
            i = int(np.flatnonzero(guilty)[0])
            return f"The bound is not finite after step {step}: kernel {i}, {_name(pool, i)}, {reason}. {advice}"
    largest = int(np.argmax(np.asarray(model.prior.quantile(0.5))))
    return (
        f"The bound is not finite after step {step}, though every kernel is; the largest weight is that of "
        f"kernel {largest}, {pool[largest]!r}. Check that y has no extreme values. {advice}"
    )


def _sound_parameters(pool: Pool) -> np.ndarray:
    """Whether the parameters of each kernel are finite, and positive where they must be."""
    sound = np.ones(len(pool), bool)
    for stack in pool.stacks:
        for name, value in stack.factors.parameters().items():
            within = np.isfinite(value) & (
                (np.asarray(value) > 0) | (constraint_of(stack.factors, name) is not POSITIVE)
            )
            sound[list(stack.owners)] &= within.all(axis=1)
    return sound


def _name(pool: Pool, i: int) -> str:
    """The kernel with its parameters, or its formula if the parameters are invalid."""
    try:
        return repr(pool[i])
    except ValueError:
        return " * ".join(stack.factors.symbol for stack in pool.stacks if i in stack.owners)
