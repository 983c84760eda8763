"""Kept results. Their last digits are those of one BLAS thread, which is set before numpy is loaded."""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
