"""One BLAS thread for the processes of the command line. Import this before numpy or jax.

The matrices are small and many: one thread is many times faster than several, above all on a busy machine. The library
never imports this file, since the number of threads is a setting of the whole process.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
