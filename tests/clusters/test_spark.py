"""The recipes for Spark in local mode give the numbers of the local run."""

import os
import sys

import pytest

import farrier
from tests.clusters.conftest import NAMED, assert_the_same

pyarrow = pytest.importorskip("pyarrow")
sql = pytest.importorskip("pyspark.sql")

pytestmark = pytest.mark.filterwarnings("default")

SCHEMA = "shop string, month timestamp_ntz, mean double, median double, low_80 double, high_80 double, error string"


@pytest.fixture(scope="module")
def spark():
    """Spark with two threads on this machine."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1"}
    builder = sql.SparkSession.builder.master("local[2]").config(map=options)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def table(spark, shops):
    """The rows in Spark."""
    rows = list(
        zip(shops["shop"], [month.to_pydatetime() for month in shops["month"]], shops["sales"].tolist(), strict=True)
    )
    return spark.createDataFrame(rows, "shop string, month timestamp_ntz, sales double")


def one_shop(rows):
    """The forecast of the rows of one group, a pandas frame."""
    return farrier.fleet.forecast(rows, **NAMED)


def one_partition(batches):
    """The forecasts of all series of a partition; a series may lie in several of its batches."""
    batches = list(batches)
    if batches:
        yield from farrier.fleet.forecast(pyarrow.Table.from_batches(batches), **NAMED).to_batches()


def test_groups_as_pandas(table, expected):
    assert_the_same(table.groupBy("shop").applyInPandas(one_shop, SCHEMA).toPandas(), expected)


def test_partitions_as_arrow(table, expected):
    assert_the_same(table.repartition("shop").mapInArrow(one_partition, SCHEMA).toPandas(), expected)
