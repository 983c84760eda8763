"""The Gaussian log density log N(y; 0, C), its derivative with respect to C, and leave-one-out residuals.

log N(y; 0, C) = -(y'C^-1 y + log|C| + n log 2 pi) / 2,     d/dC = (a a' - C^-1) / 2  with  a = C^-1 y
"""

from functools import lru_cache

import numpy as np
from scipy.linalg.blas import dsyr  # pyright: ignore[reportAttributeAccessIssue]
from scipy.linalg.lapack import dlauum, dpotrf, dpotrs, dtrtrs  # pyright: ignore[reportAttributeAccessIssue]

from farrier.inference.linalg import inverse_of_upper, jitter

LOG_2PI = float(np.log(2.0 * np.pi))


def log_normal(quadratic: float, log_determinant: float, n: float) -> float:
    """log N(y; 0, C) from y'C^-1 y, log|C| and the number of rows."""
    return float(-0.5 * (quadratic + log_determinant + n * LOG_2PI))


def log_density(C: np.ndarray, y: np.ndarray) -> float:
    """log N(y; 0, C); minus infinity if C is not positive definite. C is overwritten."""
    L, failed = dpotrf(C.T, lower=1, overwrite_a=1)
    if failed:
        return -np.inf
    e, _ = dtrtrs(L, y, lower=1)
    return log_normal(e @ e, 2.0 * np.log(np.diagonal(L)).sum(), len(y))


def log_density_and_slope(C: np.ndarray, diagonal: np.ndarray, filled: np.ndarray, y: np.ndarray) -> float | None:
    """log N(y; 0, C + diag), or None if the matrix is not positive definite.

    `filled` is 0 for empty grid places, which have no part in the density. C (row-major) is overwritten by the
    derivative G = (a a' - C^-1) / 2 as a lower triangle: entries below the diagonal are doubled, as each counts for
    its mirror image too.
    """
    n = len(y)
    on_diagonal = C.reshape(-1)[:: n + 1]
    # an empty place is independent of all rows, with variance one
    on_diagonal += np.where(filled, diagonal + jitter(C), 1.0)
    # LAPACK is column-major: its upper triangle is the lower one here
    U, failed = dpotrf(C.T, lower=0, overwrite_a=1)
    if failed:
        return None
    log_determinant = 2.0 * np.log(on_diagonal).sum()
    a, _ = dpotrs(U, y, lower=0)
    inverse, _ = dlauum(inverse_of_upper(U), lower=0, overwrite_c=1)
    np.multiply(inverse.T, _lower(n), out=C)
    dsyr(1.0, a, lower=0, a=C.T, overwrite_a=1)
    on_diagonal -= np.where(filled, 0.5 * a**2, on_diagonal)
    return log_normal(a @ y, log_determinant, filled.sum())


@lru_cache(maxsize=4)
def _lower(n: int) -> np.ndarray:
    """A matrix with -1 below the diagonal and -1/2 on it."""
    return 0.5 * np.eye(n) - np.tri(n)


def leave_one_out(C: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray] | None:
    """log N(y; 0, C) and the leave-one-out residuals; None if C is not positive definite.

    With a = C^-1 y, the residual of row n predicted from all other rows is a_n / (C^-1)_nn.
    """
    density = log_density(C.copy(), y)
    if density == -np.inf:
        return None
    inverse = np.linalg.inv(C)
    return density, inverse @ y / np.diagonal(inverse)
