"""What every test runs under: one BLAS thread, 64 bits, strict broadcasting, shapes checked in jax's signatures."""

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

SHAPED = ("kernels", "pool", "inducing", "posterior", "multisvgp", "objective", "training", "linalg")
"""The modules of paper/ whose signatures say shapes; no other folder says them."""
jaxtyping.install_import_hook([f"farrier.paper.{name}" for name in SHAPED], "beartype.beartype")
