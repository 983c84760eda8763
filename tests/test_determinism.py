"""The same data, seed and version give the same bits: with one and two BLAS threads, in threads and in processes.

tests/clusters/test_dask.py compares the numbers of a Dask cluster with those of this process, to the last bit.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed

from farrier.data.tables import Scale
from tests.determinism import CASES, digest

SMALL = ("series", "long series", "table", "table fitted again", "classes", "classes of many rows")
"""Cases that take a second."""


@pytest.fixture(scope="module")
def here():
    """The digests in this process, which has one BLAS thread."""
    return {name: digest(name) for name in SMALL}


def test_a_process_with_two_blas_threads_and_another_order_of_sets_gives_the_bits_of_this_one(here):
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    environment = os.environ | threads | {"PYTHONHASHSEED": "7"}
    words = [sys.executable, "-m", "tests.determinism", *SMALL]
    root = Path(__file__).parent.parent
    said = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=True, timeout=240)
    assert dict(line.split(",") for line in said.stdout.splitlines()) == here


@pytest.mark.parametrize("name", SMALL)
def test_what_ran_before_in_the_process_does_not_matter(here, name):
    random = np.random.default_rng(0)
    # holes of all sizes in memory, so that arrays begin elsewhere
    kept = [bytearray(int(size)) for size in random.integers(1, 300_000, 400)]
    del kept[::2]
    with np.errstate(all="ignore"):
        digest("table" if name == "series" else "series")
    assert digest(name) == here[name]


def test_threads_at_the_same_time_give_the_bits_of_one(here):
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(digest, ["series"] * 3)) == [here["series"]] * 3


def test_processes_give_the_bits_of_this_one(here):
    found = Parallel(n_jobs=2)(delayed(digest)("series") for _ in range(2))
    assert found == [here["series"]] * 2


def test_the_digest_sees_a_last_bit(monkeypatch, here):
    values = CASES["series"]()
    values[0, 0] *= 1.0 + 2.0**-52
    monkeypatch.setitem(CASES, "series", lambda: values)
    assert digest("series") != here["series"]


def test_the_order_of_an_array_in_memory_does_not_matter():
    X = np.random.default_rng(0).standard_normal((57, 3)) * 1e3 + 7.0
    by_columns = np.asfortranarray(X)
    one, other = Scale.of(X), Scale.of(by_columns)
    np.testing.assert_array_equal(one.x_mean, other.x_mean)
    np.testing.assert_array_equal(one.x_scale, other.x_scale)
    assert other.inputs(by_columns).flags.c_contiguous
    np.testing.assert_array_equal(one.inputs(X), other.inputs(by_columns))
