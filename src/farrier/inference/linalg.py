"""Jitter for Cholesky factors; no other place of the library defines any.

The Gram matrix of a smooth kernel is singular to working precision, so a small multiple of the identity is added before
it is factorised. Jitter is proportional to the diagonal and depends on the dtype. For inducing variables the bound
stays valid: u is then the function plus a tiny independent noise.
"""

from functools import cache

import numpy as np


@cache
def relative_jitter(dtype: np.dtype) -> float:
    """Jitter relative to the mean of the diagonal: the square root of the machine epsilon."""
    return float(np.sqrt(np.finfo(dtype).eps))


def least_jitter(dtype: np.dtype) -> float:
    """Jitter for a matrix of zeros, large enough that its factor can be inverted without overflow."""
    return float(np.sqrt(np.finfo(dtype).tiny))


def jitter(C: np.ndarray) -> float:
    """The jitter to add to the diagonal of a matrix (N, N) before it is factorised."""
    return relative_jitter(C.dtype) * float(np.trace(C)) / len(C)


def cholesky(K: np.ndarray) -> np.ndarray:
    """L with L L' = K + jitter I."""
    return np.linalg.cholesky(K + max(jitter(K), least_jitter(K.dtype)) * np.eye(len(K)))
