"""Settings for a process of our own. Import this before numpy or jax; the library itself never does.

One BLAS thread: the matrices are small and many, and on one thread they are many times faster than on several,
above all when the machine is busy.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
