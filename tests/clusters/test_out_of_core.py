"""One table in Parquet, Arrow, a memory map or Dask arrays: a cluster gives the numbers of one process."""

import os
import signal
import threading

import numpy as np
import pytest

from farrier import Regressor
from farrier.out_of_core import fit, predict
from farrier.out_of_core.rows import Survey
from farrier.out_of_core.runners import DaskRunner, Here
from farrier.out_of_core.sources import open_rows
from tests.out_of_core.rows import X, Y

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")

TABLE = pyarrow.table({"a": X[:, 0], "b": X[:, 1], "kind": ["u", "v", None] * 50, "price": Y})
ROWS = 40


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    parquet.write_table(TABLE, path, row_group_size=70)
    return path


def cells_of(source):
    found = [block.cells() for block in source.blocks]
    return {name: [cell for one in found for cell in one[name]] for name in found[0]}


def test_files_and_folders_hold_the_same_cells(path, tmp_path):
    expected = cells_of(open_rows(path, rows=ROWS))
    assert expected["kind"] == TABLE["kind"].to_pylist()
    np.testing.assert_array_equal(expected["a"], X[:, 0])
    feather.write_feather(TABLE, str(tmp_path / "rows.arrow"), chunksize=64, compression="lz4")
    folder = tmp_path / "folder"
    folder.mkdir()
    for i in range(3):
        parquet.write_table(TABLE.slice(50 * i, 50), folder / f"part-{i}.parquet")
    (folder / "_digest.json").write_text("{}")
    for other in (tmp_path / "rows.arrow", folder):
        assert cells_of(open_rows(other, rows=ROWS)) == expected


def test_a_fit_on_a_cluster_is_that_of_one_process_to_the_bit(path, client):
    here = fit(open_rows(path, "price", rows=ROWS), scale="identity")
    there = fit(open_rows(path, "price", rows=ROWS), client=client, scale="identity")
    new = TABLE.select(["a", "b", "kind"])
    assert here.predict(new).tobytes() == there.predict(new).tobytes()
    assert here.elbo_ == there.elbo_
    blocks = list(predict(here, open_rows(path, rows=ROWS), client=client))
    np.testing.assert_allclose(np.concatenate([one["mean"] for one in blocks]), here.predict(new), rtol=1e-9, atol=1e-9)


def test_a_dask_array_is_fitted_where_it_is(client):
    rows = da.from_array(X, chunks=(60, 1)), da.from_array(Y, chunks=25)
    found = Regressor(scale="identity").fit(*rows)
    assert found.result_.sampled_from == 150
    assert np.sqrt(np.mean((found.predict(X) - Y) ** 2)) < 0.2


def test_a_dask_frame_has_the_sample_of_its_rows(client):
    frame = dd.from_pandas(TABLE.to_pandas(), npartitions=3)
    source = open_rows(frame, "price")
    here, there = (Survey.of(source, runner, 1000) for runner in (Here(), DaskRunner(client)))
    assert here.count == there.count == 150
    np.testing.assert_array_equal(here.y, there.y)
    np.testing.assert_array_equal(here.cells["a"][:-2], X[:, 0])


def slow(block, cells, seconds):
    import time

    time.sleep(seconds)
    return block.number, float(cells["a"].sum()), os.getpid()


def test_a_worker_that_is_killed_costs_time_and_not_the_result(path, cluster, client):
    source = open_rows(path, rows=10)
    victim = next(iter(cluster.workers.values())).pid
    threading.Timer(1.0, os.kill, (victim, signal.SIGKILL)).start()
    found = list(DaskRunner(client).map(slow, source.blocks, 0.4))
    assert [number for number, _, _ in found] == list(range(len(source.blocks)))
    assert sum(total for _, total, _ in found) == pytest.approx(X[:, 0].sum())
    assert len({pid for _, _, pid in found}) > 1


BY_MINIBATCHES = {"method": "stochastic", "kernels": ["SE", "Lin"], "inducing": 12, "batch_size": 64}


def test_minibatches_of_a_file_give_the_model_of_the_frame(path):
    settings = BY_MINIBATCHES | {"iterations": 600, "learning_rate": 0.03}
    frame = TABLE.drop_columns("price").to_pandas()
    whole, model = Regressor(**settings).fit(frame, Y), fit(path, "price", **settings)
    assert (model.tier_, model.result_.sampled_from) == ("stochastic", len(Y))
    mean, std = whole.predict(frame, return_std=True)
    assert np.sqrt(np.mean((model.predict(frame) - mean) ** 2)) < 0.3 * np.median(std)
    assert abs(model.elbo_ - whole.elbo_) < 0.2 * len(Y)
    blocks = list(predict(model, path))
    np.testing.assert_allclose(np.concatenate([one["mean"] for one in blocks]), model.predict(frame), rtol=1e-9)


def test_minibatches_that_a_cluster_reads_have_the_bits_of_one_process(path, client):
    settings = BY_MINIBATCHES | {"iterations": 50}
    one, other = fit(path, "price", **settings), fit(path, "price", client=client, **settings)
    assert one.elbo_ == other.elbo_
