"""The only jitter in the library.

A Gram matrix of smooth functions is singular to working precision, so a Cholesky factor needs a little noise on its
diagonal. It is scaled by the matrix and the precision, and nothing else in Farrier adds any. Used on the covariance of
inducing variables the jitter is harmless to the bound: it only means that u is the function plus a tiny independent
noise.
"""

import numpy as np

ROOT_EPSILON = float(np.sqrt(np.finfo(np.float64).eps))
"""Jitter as a part of the mean of the diagonal: the root of the machine's precision."""
FLOOR = float(np.sqrt(np.finfo(np.float64).tiny))
"""The least jitter, for a matrix of zeros: its factor can be inverted without overflow."""


def jitter(C: np.ndarray) -> float:
    """What to add to the diagonal of a matrix (N, N) before it is factorised."""
    return float(np.sqrt(np.finfo(C.dtype).eps) * np.trace(C) / len(C))


def cholesky(K: np.ndarray) -> np.ndarray:
    """L with L L' = K + jitter I."""
    return np.linalg.cholesky(K + max(jitter(K), FLOOR) * np.eye(len(K)))
