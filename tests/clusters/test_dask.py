"""The recipes for Dask give the numbers of the local run; a panel runs on a cluster by joblib's backend."""

import pandas as pd
import pytest

import farrier
from tests.clusters.conftest import NAMED, assert_the_same

dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def client():
    """Two worker processes."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def test_partitions_of_a_dask_frame(client, shops, expected):
    table = dd.from_pandas(shops, npartitions=3).shuffle("shop", npartitions=3)
    schema = farrier.fleet.forecast(table.head(0), **NAMED)
    assert_the_same(table.map_partitions(farrier.fleet.forecast, **NAMED, meta=schema).compute(), expected)


def test_a_panel_on_a_cluster(client, shops, expected):
    from joblib import parallel_config

    with parallel_config("dask"), pytest.warns(UserWarning, match="1 of 5 series could not be fitted"):
        forecaster = farrier.Forecaster(n_jobs=-1).fit(shops, id="shop", time="month", target="sales")
    found = forecaster.forecast(2, levels=(80,)).sort_values(["shop", "month"], ignore_index=True)
    local = expected[expected["error"].isna()].drop(columns="error").reset_index(drop=True)
    pd.testing.assert_frame_equal(found, local, check_dtype=False, check_exact=True)
