"""docs/consumers.md: its programs read what a view has published to a real broker."""

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.client import Kafka
from tests.kafka.java import await_true
from tests.unit.api.conftest import TOTALS
from tests.unit.api.orders import order
from tests.unit.api.test_kafka_sinks import Service, service

__all__ = ["service"]

PAGE = (Path(__file__).parents[3] / "docs" / "consumers.md").read_text()
FOLDING, STORING, MAPPING = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
# Before and after one row changes and one goes.
FIRST = {"ada": "3.00", "bob": "4.00"}
THEN = {"ada": "8.00"}


@pytest.fixture
def published(service: Service, kafka: Kafka) -> Service:
    """A service that publishes a view of two customers."""
    assert service.put(envelope="delta").status_code == 201
    by_key = service.sink(envelope="upsert", topic=topic_of(service, "totals_by_key"))
    body = {**TOTALS, "sink": by_key}
    assert service.client.put("/v1/views/totals_by_key", json=body).status_code == 201
    rows = [(order(1, "ada", "1"), 1), (order(2, "ada", "2"), 1), (order(3, "bob", "4"), 1)]
    service.pipeline.deliver("orders", *rows)
    await_true("the topic is decided", lambda: kafka.is_decided(topic_of(service, "totals")))
    return service


def topic_of(service: Service, name: str) -> str:
    return f"{service.name}.{name}"


def change(service: Service, kafka: Kafka) -> None:
    """A row changes, and one goes."""
    service.pipeline.deliver("orders", (order(4, "ada", "5"), 1), (order(3, "bob", "4"), -1))
    await_true("the topic is decided", lambda: kafka.is_decided(topic_of(service, "totals")))


def run(program: str, service: Service, kafka: Kafka) -> dict[str, Any]:
    """The names of a program of the page, which reads the service's topics, once it has run."""
    names: dict[str, Any] = {}
    here = program.replace("localhost:9092", kafka.address)
    here = re.sub(r'"(totals(?:_by_key)?)", ', rf'"{service.name}.\1", ', here)
    exec(here, names)
    return names


def totals(rows: Any) -> dict[str, str]:
    return {row["customer"]: row["total"] for row in rows}


def test_deltas_fold_into_the_rows(published: Service, kafka: Kafka) -> None:
    assert totals(run(FOLDING, published, kafka)["folded"].rows) == FIRST
    change(published, kafka)
    found = run(FOLDING, published, kafka)["folded"]
    assert (totals(found.rows), found.time) == (THEN, 2)


def test_a_database_goes_on_where_it_was(
    published: Service, kafka: Kafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def stored() -> dict[str, str]:
        with sqlite3.connect("totals.db") as database:
            return dict(database.execute("SELECT customer, total FROM totals").fetchall())

    assert run(STORING, published, kafka)["place"] is None
    assert stored() == FIRST
    last = kafka.read_committed(topic_of(published, "totals"))[-1].offset()
    change(published, kafka)
    assert run(STORING, published, kafka)["place"] == ((last or 0) + 1,)
    assert stored() == THEN


def test_the_last_message_of_each_key_is_its_row(published: Service, kafka: Kafka) -> None:
    change(published, kafka)
    assert totals(run(MAPPING, published, kafka)["rows"].values()) == THEN
