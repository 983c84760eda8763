"""The Gaussian log density, once: log N(y; 0, C), with its derivative, and what it says of rows that are left out.

log N(y; 0, C) = -(y'C^-1 y + log|C| + n log 2 pi) / 2,     d/dC = (a a' - C^-1) / 2  with  a = C^-1 y
"""

from functools import lru_cache

import numpy as np
from scipy.linalg.blas import dsyr  # pyright: ignore[reportAttributeAccessIssue]
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtrs  # pyright: ignore[reportAttributeAccessIssue]

from farrier.inference.linalg import jitter

LOG_2PI = float(np.log(2.0 * np.pi))


def log_normal(quadratic: float, log_determinant: float, n: float) -> float:
    """log N(y; 0, C) from y'C^-1 y, log|C| and the number of rows."""
    return float(-0.5 * (quadratic + log_determinant + n * LOG_2PI))


def log_density(C: np.ndarray, y: np.ndarray) -> float:
    """log N(y; 0, C); minus infinity where C is not positive definite. C is used up."""
    L, failed = dpotrf(C.T, lower=1, overwrite_a=1)
    if failed:
        return -np.inf
    e, _ = dtrtrs(L, y, lower=1)
    return log_normal(e @ e, 2.0 * np.log(np.diagonal(L)).sum(), len(y))


def log_density_and_slope(C: np.ndarray, diagonal: np.ndarray, filled: np.ndarray, y: np.ndarray) -> float | None:
    """log N(y; 0, C + diag), or None if that is not positive definite; `filled` says which rows are real.

    C, whose rows lie one after the other, is used up: it then holds the derivative by its lower triangle, an entry
    of which stands for two, so that of G = (a a' - C^-1) / 2 the entries beside the diagonal are doubled.
    """
    n = len(y)
    on_diagonal = C.reshape(-1)[:: n + 1]
    # a row that is not real is independent of all others, with variance one
    on_diagonal += np.where(filled, diagonal + jitter(C), 1.0)
    # LAPACK counts along columns: what is upper to it is lower here
    U, failed = dpotrf(C.T, lower=0, overwrite_a=1)
    if failed:
        return None
    log_determinant = 2.0 * np.log(on_diagonal).sum()
    a, _ = dpotrs(U, y, lower=0)
    inverse, failed = dpotri(U, lower=0, overwrite_c=1)
    if failed:
        return None
    np.multiply(inverse.T, _lower(n), out=C)
    dsyr(1.0, a, lower=0, a=C.T, overwrite_a=1)
    on_diagonal -= np.where(filled, 0.5 * a**2, on_diagonal)
    return log_normal(a @ y, log_determinant, filled.sum())


@lru_cache(maxsize=4)
def _lower(n: int) -> np.ndarray:
    """Minus one below the diagonal, half of it on it."""
    return 0.5 * np.eye(n) - np.tri(n)


def leave_one_out(C: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray] | None:
    """log N(y; 0, C), and y less its mean given all other rows; None where C is not positive definite.

    With a = C^-1 y the residual of row n, had it not been seen, is a_n / (C^-1)_nn.
    """
    sign, log_determinant = np.linalg.slogdet(C)
    if sign <= 0:
        return None
    inverse = np.linalg.inv(C)
    a = inverse @ y
    return log_normal(float(y @ a), float(log_determinant), len(y)), a / np.diagonal(inverse)
