"""`python -m benchmarks`: sets up the process, then hands over to cli.py.

Small matrices want one BLAS thread, and numpy reads that when it is first imported; asynchronous dispatch has been
seen to hang on CPUs. Everything is measured in 64 bits.
"""

import os
import sys

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ.setdefault("JAX_CPU_ENABLE_ASYNC_DISPATCH", "0")
os.environ.setdefault("MPLBACKEND", "Agg")

import jax

jax.config.update("jax_enable_x64", True)

from benchmarks.cli import main

sys.exit(main())
