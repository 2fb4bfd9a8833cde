"""The data source `ivm` of PySpark, in a session of Spark against a running service."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from api.demo.ports import free_ports
from api.demo.service import Service
from ivm_client import Client
from ivm_client.spark import Service as Connection
from ivm_client.spark import ViewReader, register

COLUMNS = {"id": "bigint", "city": "text", "spent": "numeric(12, 2)", "at": "timestamp"}
VIEW = "SELECT city, count(*) AS people, sum(spent) AS spent FROM people GROUP BY city"
ROWS = [
    {"id": 1, "city": "rome", "spent": "1.50", "at": "2026-01-01T10:00:00"},
    {"id": 2, "city": "rome", "spent": "2.00", "at": None},
    {"id": 3, "city": "oslo", "spent": None, "at": None},
]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of a service with the table `people` and views of it."""
    data = Path(tempfile.mkdtemp(prefix="ivm-test-"))
    [port] = free_ports(1)
    service = Service(data, port)
    service.start()
    service.wait_ready()
    with Client(service.url) as client:
        client.create_table("people", COLUMNS, key=["id"])
        client.create_view("by_city", VIEW)
        client.create_view("everyone", "SELECT id, city, spent, at FROM people")
        client.wait("by_city", client.write("people", ROWS).at_least or "")
        yield client
    service.stop()
    shutil.rmtree(data)


@pytest.fixture(autouse=True)
def _registered(spark: SparkSession) -> None:
    register(spark)


def read(spark: SparkSession, client: Client, view: str) -> DataFrame:
    return spark.read.format("ivm").option("url", client.url).option("view", view).load()


def test_a_view_is_read_and_joined(spark: SparkSession, client: Client) -> None:
    cities = spark.createDataFrame([("rome", "it"), ("oslo", "no")], "city string, land string")
    found = read(spark, client, "by_city").join(cities, "city").collect()
    assert sorted((r.land, r.people, r.spent and str(r.spent)) for r in found) == [
        ("it", 2, "3.50"),
        ("no", 1, None),
    ]


def test_a_view_is_read_by_several_tasks_each_a_part_of_its_keys(
    spark: SparkSession, client: Client
) -> None:
    client.create_table("numbers", {"id": "bigint", "half": "bigint"}, key=["id"])
    client.create_view("halves", "SELECT half FROM numbers")
    rows = [{"id": n, "half": n // 2} for n in range(400)]
    client.wait("halves", client.write("numbers", rows).at_least or "")
    reader = spark.read.format("ivm").option("url", client.url).option("view", "halves")
    found = reader.option("partitions", "4").load()
    assert found.rdd.getNumPartitions() == 4
    parts = found.rdd.glom().collect()
    assert min(map(len, parts)) > 50
    assert Counter(r.half for part in parts for r in part) == Counter(n // 2 for n in range(400))
    keys = [{r.half for r in part} for part in parts]
    assert sum(map(len, keys)) == len(set().union(*keys))


@pytest.mark.parametrize("view", ["people", "tags"])
def test_tasks_that_come_late_read_the_time_of_the_others(client: Client, view: str) -> None:
    kind, one, other = {
        "people": ("text", "rome", "oslo"),
        "tags": ("text[]", ["a", "b"], ["c"]),
    }[view]
    table, name = f"late_{view}", f"later_{view}"
    client.create_table(table, {"id": "bigint", "value": kind}, key=["id"])
    client.create_view(name, f"SELECT value FROM {table}")
    rows = [{"id": n, "value": one} for n in range(5)]
    client.wait(name, client.write(table, rows).at_least or "")
    reader = ViewReader(Connection(client.url, None), name, None, 2)
    parts = reader.partitions()
    changes: list[dict[str, object]] = [
        {"delete": {"id": 0}},
        {"update": {"id": 1, "value": other}},
    ]
    changes.append({"insert": {"id": 9, "value": other}})
    client.wait(name, client.write(table, changes, changes=True).at_least or "")

    def read() -> list[object]:
        batches = [batch for part in reader.partitions() for batch in reader.read(part)]
        return [row["value"] for batch in batches for row in batch.to_pylist()]

    early = [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]
    assert [row["value"] for row in early] == [one] * 5
    assert sorted(read(), key=str) == sorted([one] * 3 + [other] * 2, key=str)


def test_types_are_sparks(spark: SparkSession, client: Client) -> None:
    types = dict(read(spark, client, "everyone").dtypes)
    assert types == {
        "id": "bigint",
        "city": "string",
        "spent": "decimal(12,2)",
        "at": "timestamp_ntz",
    }


def test_changes_are_streamed_once_over_restarts(
    spark: SparkSession, client: Client, tmp_path: Path
) -> None:
    def run() -> None:
        stream = (
            spark.readStream.format("ivm_changes")
            .option("url", client.url)
            .option("view", "everyone")
            .load()
        )
        query = (
            stream.writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "changes"))
        )
        query.awaitTermination()

    run()
    guest = {"id": 4, "city": "bonn", "spent": "9.00", "at": None}
    client.wait("everyone", client.write("people", [guest]).at_least or "")
    run()
    counts: Counter[int] = Counter()
    for row in spark.read.parquet(str(tmp_path / "changes")).collect():
        counts[row.id] += row.ivm_diff
    assert counts == {1: 1, 2: 1, 3: 1, 4: 1}


def test_a_stream_is_written_once_for_each_batch(
    spark: SparkSession, client: Client, tmp_path: Path
) -> None:
    client.create_table("guests", {"id": "bigint", "name": "text"})
    client.create_view("all_guests", "SELECT id, name FROM guests")

    def run() -> None:
        rows = spark.readStream.schema("id bigint, name string").json(str(tmp_path / "in"))
        query = (
            rows.writeStream.format("ivm")
            .option("url", client.url)
            .option("table", "guests")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    def written() -> int:
        return len(client.query("SELECT id FROM guests").table)

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"id":1,"name":"ada"}\n{"id":2,"name":"bob"}\n')
    run()
    shutil.rmtree(tmp_path / "checkpoint" / "commits")  # as if Spark had died before it
    run()
    (tmp_path / "in" / "b.json").write_text('{"id":3,"name":"eve"}\n')
    run()
    offset = client.write("guests", [{"id": 4, "name": "kim"}]).at_least or ""
    client.wait("all_guests", offset)
    assert (written(), offset) == (4, "guests:0:3")


def test_a_batch_is_written(spark: SparkSession, client: Client) -> None:
    client.create_table("cities", {"city": "text", "land": "text"}, key=["city"])
    client.create_view("all_cities", "SELECT city, land FROM cities")
    rows = spark.createDataFrame([("rome", "it"), ("oslo", "no")], "city string, land string")
    rows.write.format("ivm").option("url", client.url).option("table", "cities").mode(
        "append"
    ).save()
    client.wait("all_cities", "cities:0:1")
    assert {row["land"] for row in client.rows("all_cities")} == {"it", "no"}
