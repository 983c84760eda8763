"""What every test runs under: one BLAS thread, 64 bits, strict broadcasting, shapes checked in signatures."""

import os

# Before anyone imports numpy or jax: many threads on small matrices are slow, and asynchronous dispatch is
# suspected of hanging on CPUs.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["JAX_CPU_ENABLE_ASYNC_DISPATCH"] = "0"
# Tiny shapes: nearly all the time goes into compiling, so let the compiler not try hard.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")

import jax
import jaxtyping

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")

# The mathematics only: the edge (estimators, command line) must meet bad input with its own words; and functions that
# are made while others run (evaluation/products.py) would be checked anew each time.
CORE = tuple(
    f"paper.{name}" for name in ("pool", "inducing", "posterior", "multisvgp", "objective", "training", "linalg")
)
jaxtyping.install_import_hook([f"farrier.{part}" for part in CORE], "beartype.beartype")
