"""`python -m benchmarks`: sets up the process, then hands over to cli.py.

Small matrices want one BLAS thread, and numpy reads that when it is first imported; asynchronous dispatch has been
seen to hang on CPUs. Everything is measured in 64 bits.
"""

import os
import sys


def main() -> int:
    """Settle what must be settled before numpy and jax are imported, then run the command."""
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    os.environ.setdefault("JAX_CPU_ENABLE_ASYNC_DISPATCH", "0")

    import jax

    jax.config.update("jax_enable_x64", True)

    from benchmarks import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
