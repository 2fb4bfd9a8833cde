"""Flink's tables over topics that views are published to, as docs/consumers.md declares them."""

import re
from pathlib import Path

import pytest

from tests.kafka.client import Kafka
from tests.kafka.java import NoJars, compiled, run
from tests.unit.api.conftest import TOTALS
from tests.unit.api.orders import order
from tests.unit.api.test_kafka_sinks import Service, service

__all__ = ["service"]

PAGE = (Path(__file__).parents[2] / "docs" / "consumers.md").read_text()
TABLES = re.findall(r"^```sql\n(CREATE TABLE .*?)^```$", PAGE, re.M | re.S)
# Flink may look into the JDK's own classes.
OPTIONS = ("--add-opens=java.base/java.util=ALL-UNNAMED",)
BOUND = "/*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */"

QUERIES = {
    "rows by key": f"SELECT * FROM totals {BOUND}",
    "rows by images": f"SELECT * FROM totals_changes {BOUND}",
    "a sum over them": f"SELECT sum(total), count(*) FROM totals {BOUND}",
}


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with the program that runs Flink's statements."""
    try:
        return compiled("FlinkQuery", "flink", tmp_path_factory.mktemp("flink"))
    except NoJars as reason:
        pytest.skip(str(reason))


def publish(service: Service, name: str, envelope: str) -> None:
    sink = service.sink(envelope=envelope, topic=f"{service.name}.{name}")
    answer = service.client.put(f"/v1/views/{name}", json={**TOTALS, "sink": sink})
    assert answer.status_code == 201, answer.text


def of_this_test(table: str, service: Service, kafka: Kafka) -> str:
    """A table of the page, over a topic of the service."""
    named = re.sub(r"'topic' = '(\w+)'", rf"'topic' = '{service.name}.\1'", table)
    return named.replace("localhost:9092", kafka.address)


def test_tables_of_flink_are_the_view_whose_rows_come_change_and_go(
    service: Service, kafka: Kafka, classes: Path
) -> None:
    publish(service, "totals", "upsert")
    publish(service, "totals_changes", "debezium")
    rows = [(order(1, "ada", "1"), 1), (order(2, "bob", "2.50"), 1), (order(3, "eve", "4"), 1)]
    service.pipeline.deliver("orders", *rows)
    service.pipeline.deliver("orders", (order(3, "eve", "4"), -1), (order(4, "ada", "1.25"), 1))
    tables = [of_this_test(table, service, kafka) for table in TABLES]
    answers = run(
        "flink", "FlinkQuery", *tables, *QUERIES.values(), options=OPTIONS, classes=classes
    )
    found = dict(zip(QUERIES, answers.split("\n\n"), strict=False))
    assert found == {
        "rows by key": "ada\t2\t2.25\nbob\t1\t2.50",
        "rows by images": "ada\t2\t2.25\nbob\t1\t2.50",
        "a sum over them": "4.75\t2",
    }
