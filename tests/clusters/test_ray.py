"""The recipes for Ray give the numbers of the local run."""

import os

import pytest

import farrier
from tests.clusters.conftest import NAMED, assert_the_same

ray = pytest.importorskip("ray")

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Two processors on this machine."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_groups_of_a_dataset(shops, expected):
    data = pytest.importorskip("ray.data")
    table = data.from_pandas(shops)
    found = table.groupby("shop").map_groups(farrier.fleet.forecast, batch_format="pandas", fn_kwargs=NAMED)
    assert_the_same(found.to_pandas(), expected)


def test_a_panel_by_the_backend_of_ray(shops, expected):
    from joblib import parallel_config
    from ray.util.joblib import register_ray

    register_ray()
    with parallel_config("ray"), pytest.warns(UserWarning, match="1 of 5 series could not be fitted"):
        forecaster = farrier.Forecaster(n_jobs=2).fit(shops, id="shop", time="month", target="sales")
    found = forecaster.forecast(2, levels=(80,)).sort_values(["shop", "month"])
    local = expected[expected["error"].isna()]
    assert found["mean"].to_numpy().tobytes() == local["mean"].to_numpy().tobytes()
