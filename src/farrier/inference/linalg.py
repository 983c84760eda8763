"""The only jitter in the library.

A Gram matrix of smooth functions is singular to working precision, so a Cholesky factor needs a little noise on its
diagonal. It is scaled by the matrix and the precision, and nothing else in Farrier adds any. Used on the covariance of
inducing variables the jitter is harmless to the bound: it only means that u is the function plus a tiny independent
noise.
"""

import numpy as np


def relative_jitter(dtype: np.dtype) -> float:
    """Jitter as a part of the mean of the diagonal: the root of the precision of the numbers."""
    return float(np.sqrt(np.finfo(dtype).eps))


def least_jitter(dtype: np.dtype) -> float:
    """The jitter of a matrix of zeros: its factor can be inverted, and differentiated, without overflow."""
    return float(np.sqrt(np.finfo(dtype).tiny))


def jitter(C: np.ndarray) -> float:
    """What to add to the diagonal of a matrix (N, N) before it is factorised."""
    return relative_jitter(C.dtype) * float(np.trace(C)) / len(C)


def cholesky(K: np.ndarray) -> np.ndarray:
    """L with L L' = K + jitter I."""
    return np.linalg.cholesky(K + max(jitter(K), least_jitter(K.dtype)) * np.eye(len(K)))
