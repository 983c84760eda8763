"""The figures that suites report.

Between Gaussians the Wasserstein-2 distance is

    W2^2 = |a - b|^2 + tr A + tr B - 2 tr (A^1/2 B A^1/2)^1/2

whose last trace is the sum of the singular values of F'G for any roots F F' = A and G G' = B: taken so, it loses no
digits where both covariances are nearly singular.

The participation ratio (sum_i p_i)^2 / sum_i p_i^2 of p_i = w_i^2 says how many kernels share the variance: m when all
are alike, 1 when one has it all.
"""

import numpy as np


def wasserstein2(a: np.ndarray, A: np.ndarray, b: np.ndarray, B: np.ndarray) -> tuple[float, float, float]:
    """W2 between N(a, A) and N(b, B), and what it would be if only the means or only the covariances differed."""
    cross = np.linalg.svd(_root(A).T @ _root(B), compute_uv=False).sum()
    means = float(np.sum((a - b) ** 2))
    covariances = max(0.0, float(np.trace(A) + np.trace(B) - 2.0 * cross))
    return float(np.sqrt(means + covariances)), float(np.sqrt(means)), float(np.sqrt(covariances))


def _root(A: np.ndarray) -> np.ndarray:
    """F with F F' = A, negative eigenvalues (rounding) taken as zero."""
    eigenvalues, vectors = np.linalg.eigh((A + A.T) / 2.0)
    return vectors * np.sqrt(np.maximum(eigenvalues, 0.0))


def participation_ratio(w: np.ndarray) -> float:
    """(sum w^2)^2 / sum w^4."""
    p = np.asarray(w) ** 2
    return float(p.sum() ** 2 / (p**2).sum())


def below(w: np.ndarray, fraction: float = 0.1) -> int:
    """How many weights are below this fraction of the largest."""
    return int(np.sum(np.asarray(w) < fraction * np.max(w)))


def middle(values: np.ndarray) -> dict[str, float]:
    """Median, 10 % and 90 % quantile."""
    low, median, high = np.quantile(values, [0.1, 0.5, 0.9])
    return {"median": float(median), "p10": float(low), "p90": float(high)}
