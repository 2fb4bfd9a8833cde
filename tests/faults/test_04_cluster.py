"""A service whose shards run on Spark's executors: what is killed or frozen there, and rescaling.

Rows 2, 4, 7 and 24 of the matrix, on Spark standalone.
"""

import json
import math
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.demo.ports import free_ports
from api.demo.service import Service
from ivm_client.client import Client
from tests.faults.load.system import LOADS, Load, System
from tests.faults.test_service_under_load import expect_all
from tests.kafka.broker import Broker
from tests.kafka.java import await_true
from tests.spark_cluster import SparkCluster

LOST_SECONDS = 5
CHANGES = 1_000
SECRET = "canary-of-clusters"


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    """Two workers with two slots each."""
    directory = tmp_path_factory.mktemp("spark")
    with SparkCluster.started(directory, workers=2, cores=2) as cluster:
        yield cluster


@pytest.fixture
def load() -> Load:
    """Changes until the system is judged: few, since it begins anew several times meanwhile."""
    loads = {**LOADS, "short": replace(LOADS["short"], rate=100)}
    return replace(loads[os.environ.get("IVM_TEST_LOAD", "short")], seconds=math.inf)


def on(spark: SparkCluster, shards: int) -> Mapping[str, str]:
    """The settings of a service with so many shards."""
    cluster = {"shards": shards, "lost_seconds": LOST_SECONDS, "wait_seconds": 10}
    return {"IVM_SPARK_MASTER": spark.master, "IVM_CLUSTER": json.dumps(cluster)}


def test_04_shards_executors_and_a_worker_are_killed_and_none_of_their_changes_lost(
    tmp_path: Path, broker: Broker, spark: SparkCluster, load: Load
) -> None:
    system = System(tmp_path, broker, load, on(spark, shards=2))
    system.start()
    try:
        await_changes(system)
        with begins_anew(system.service):
            os.kill(shards(system)[1]["process"], signal.SIGKILL)
        await_changes(system)
        with begins_anew(system.service):
            os.kill(spark.executors()[0], signal.SIGKILL)
        await_changes(system)
        with begins_anew(system.service):
            spark.kill_worker(0)
            spark.add_worker(2)
        assert len(shards(system)) == 2
        expect_all(system)
    finally:
        system.stop()


def test_04_deltas_go_on_while_the_master_is_away_and_once_it_has_come_back(
    tmp_path: Path, broker: Broker, spark: SparkCluster, load: Load
) -> None:
    system = System(tmp_path, broker, load, on(spark, shards=2))
    system.start()
    try:
        await_changes(system)
        before = beginnings(system.service)
        spark.kill_master()
        await_deltas(system)
        spark.start_master()
        await_deltas(system)
        assert beginnings(system.service) == before
        with begins_anew(system.service):
            os.kill(spark.executors()[0], signal.SIGKILL)
        expect_all(system)
    finally:
        system.stop()


def test_04_a_master_that_comes_back_and_has_forgotten_all_lets_the_service_begin_anew(
    tmp_path: Path, broker: Broker, spark: SparkCluster, load: Load
) -> None:
    system = System(tmp_path, broker, load, on(spark, shards=2))
    system.start()
    try:
        await_changes(system)
        with begins_anew(system.service):
            spark.kill_master()
            spark.forget()
            spark.start_master()
        assert len(shards(system)) == 2
        expect_all(system)
    finally:
        system.stop()


def test_04_an_executor_that_dies_while_the_master_is_away_waits_for_it(
    tmp_path: Path, broker: Broker, spark: SparkCluster, load: Load
) -> None:
    system = System(tmp_path, broker, load, on(spark, shards=2))
    system.start()
    try:
        await_changes(system)
        spark.kill_master()
        os.kill(spark.executors()[0], signal.SIGKILL)
        await_true("Spark has given up", lambda: beginnings(system.service) == 2)
        await_true("the setting is named", lambda: "spark_master" in told(system.service))
        spark.start_master()
        system.await_ready()
        expect_all(system)
    finally:
        system.stop()


def test_07_a_shard_that_was_frozen_is_given_up_and_ends_when_it_goes_on(
    tmp_path: Path, broker: Broker, spark: SparkCluster, load: Load
) -> None:
    system = System(tmp_path, broker, load, on(spark, shards=2))
    system.start()
    frozen = shards(system)[0]["process"]
    try:
        await_changes(system)
        with begins_anew(system.service):
            os.kill(frozen, signal.SIGSTOP)
        with suppress(ProcessLookupError):  # its executor has ended, and it with that
            os.kill(frozen, signal.SIGCONT)
        await_true("the zombie has ended", lambda: not Path(f"/proc/{frozen}").exists())
        expect_all(system)
    finally:
        system.stop()


def test_24_another_number_of_shards_takes_over_what_there_is(
    tmp_path: Path, broker: Broker, spark: SparkCluster, load: Load
) -> None:
    system = System(tmp_path, broker, load, on(spark, shards=2))
    system.start()
    try:
        for count in (1, 3):
            await_changes(system)
            system.service.stop()
            system.restart(on(spark, shards=count))
            assert len(shards(system)) == count
        system.service.stop()
        system.restart({})
        assert shards(system) == []
        expect_all(system)
    finally:
        system.stop()


def test_with_too_few_slots_there_are_fewer_shards(tmp_path: Path, spark: SparkCluster) -> None:
    with served(tmp_path, on(spark, shards=7)) as service:
        service.wait_ready()
        with Client(service.url) as client:
            assert len(client.cluster()) == 3
        assert b"fewer shards than cluster.shards" in service.log.read_bytes()


def test_with_a_secret_its_parts_let_one_another_in_and_nobody_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IVM_CLUSTER_SECRET", SECRET)
    with SparkCluster.started(tmp_path / "spark", workers=1, cores=3) as spark:
        cluster = json.dumps({"shards": 2, "secret": SECRET})
        settings = {"IVM_SPARK_MASTER": spark.master, "IVM_CLUSTER": cluster}
        with served(tmp_path, settings) as service:
            service.wait_ready()
            assert not [each for each in commands() if SECRET in each]
            with Client(service.url) as client:
                assert [shard["shard"] for shard in client.cluster()] == [0, 1]
                client.create_table("people", {"id": "bigint", "city": "text"}, ["id"])
                client.create_view("cities", "SELECT city, count(*) AS n FROM people GROUP BY 1")
                rows = [{"id": number, "city": f"city {number % 3}"} for number in range(9)]
                client.wait("cities", client.write("people", rows).at_least or ())
                found = client.query("SELECT n FROM cities").table
                assert found["n"].to_pylist() == [3, 3, 3]


def test_a_master_that_is_not_there_is_named(tmp_path: Path) -> None:
    [port] = free_ports(1)
    settings = {"IVM_SPARK_MASTER": f"spark://127.0.0.1:{port}", "IVM_CLUSTER": '{"shards": 2}'}
    with served(tmp_path, settings) as service:
        service.wait_alive()
        await_true("the setting is named", lambda: "spark_master" in told(service))


@contextmanager
def served(data: Path, settings: Mapping[str, str]) -> Iterator[Service]:
    """A service of these settings, which is stopped in the end."""
    service = Service(data, free_ports(1)[0], settings)
    service.start()
    try:
        yield service
    finally:
        service.stop()


def shards(system: System) -> list[dict[str, Any]]:
    """The shards of the service."""
    with Client(system.service.url) as client:
        return client.cluster()


def await_changes(system: System) -> None:
    """Wait until a thousand changes more were applied."""
    with Client(system.service.url) as client:
        before = reflected(client)
        await_true("changes", lambda: reflected(client) >= before + CHANGES)


def await_deltas(system: System) -> None:
    """Wait until a thousand changes more were applied, and a topic has deltas of them."""
    before = len(system.broker.read_committed("paid"))
    await_changes(system)
    await_true("deltas", lambda: len(system.broker.read_committed("paid")) > before)


def reflected(client: Client) -> int:
    """How many records of all sources are reflected."""
    return sum(sum(source["offsets"].values()) for source in client.sources())


def told(service: Service) -> str:
    """What a service says of its readiness; nothing while it begins anew."""
    try:
        return httpx.get(f"{service.url}/readyz", timeout=30).text
    except httpx.TransportError:
        return ""


@contextmanager
def begins_anew(service: Service) -> Iterator[None]:
    """Wait until the service has begun anew after what is done here, and is ready."""
    before = beginnings(service)
    yield
    await_true("a new beginning", lambda: beginnings(service) > before)
    service.wait_ready()


def beginnings(service: Service) -> int:
    """How often the service has begun anew."""
    return service.log.read_bytes().count(b"beginning anew")


def commands() -> Iterator[str]:
    """The arguments of all processes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            yield path.read_text(errors="replace")
