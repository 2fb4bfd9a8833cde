"""Debezium's JDBC sink keeps a table of PostgreSQL that is a view, as docs/consumers.md says."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.kafka.client import Kafka
from tests.kafka.connect import Connect
from tests.kafka.java import NoJars, await_true
from tests.postgres import Judge, NoServer, Publisher, publishing
from tests.unit.api.orders import order
from tests.unit.api.test_kafka_sinks import Service, service

__all__ = ["service"]

PAGE = (Path(__file__).parents[2] / "docs" / "consumers.md").read_text()
VIEW, CONNECTOR = map(json.loads, re.findall(r"^```json\n(.*?)^```$", PAGE, re.M | re.S))
TYPED = """
    SELECT id, customer, amount, day, amount > 1 AS large,
        CAST(amount AS double precision) AS about,
        CAST(day AS timestamp) + interval '1.5 seconds' AS at,
        CAST('2024-02-29 12:00:00+02' AS timestamptz) AS zoned,
        CAST('12:34:56.789' AS time) AS time,
        jsonb_build_object('n', id) AS doc,
        CAST('6f1c9a52-8f3b-4c65-9b0e-3d0c3f6f0a11' AS uuid) AS token,
        CAST(NULL AS numeric(5, 1)) AS nothing
    FROM orders
"""


@dataclass(frozen=True, slots=True)
class Target:
    """A database, and a worker whose connector writes it."""

    connect: Connect
    publisher: Publisher
    database: Judge

    def write(self, topic: str, table: str) -> None:
        """Let the page's connector keep `table` by a topic."""
        host, port = self.publisher.host, self.publisher.port
        at = {
            "topics": topic,
            "connection.url": f"jdbc:postgresql://{host}:{port}/{self.publisher.database}",
            "connection.username": self.publisher.user,
            "collection.name.format": table,
        }
        self.connect.create(table, CONNECTOR | at)

    def await_rows(self, query: str, rows: list[tuple[Any, ...]]) -> None:
        """Wait until a query of the database answers these rows, told as texts."""
        found: list[tuple[Any, ...]] = []

        def agree() -> bool:
            self.connect.restart_failed()
            try:
                found[:] = self.database.execute(query.encode()).fetchall()
            except psycopg.errors.UndefinedTable:  # it is made with the first record
                return False
            return found == rows

        try:
            await_true(query, agree)
        except TimeoutError as error:
            states = self.connect.states()
            raise TimeoutError(f"{error}: {found} of {states}") from error


@pytest.fixture(scope="module")
def target(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    directory = tmp_path_factory.mktemp("jdbc")
    with ExitStack() as stack:
        try:
            publisher = stack.enter_context(publishing())
            connect = stack.enter_context(Connect.started(directory, kafka.address, "jdbc"))
        except (NoServer, NoJars) as reason:
            pytest.skip(str(reason))
        yield Target(connect, publisher, stack.enter_context(publisher.connect()))


def put(service: Service, name: str, query: str, **sink: str) -> str:
    """Publish a view by the page's sink: its topic."""
    topic = f"{service.name}.{name}"
    body = VIEW | {"query": query, "sink": VIEW["sink"] | {"topic": topic, **sink}}
    answer = service.client.put(f"/v1/views/{name}", json=body)
    assert answer.status_code == 201, answer.text
    return topic


@pytest.mark.parametrize("envelope", ["upsert", "debezium"])
def test_a_table_follows_the_view(service: Service, target: Target, envelope: str) -> None:
    rows = [(order(1, "ada", "1"), 1), (order(2, "ada", "2.50"), 1), (order(3, "bob", "4"), 1)]
    service.pipeline.deliver("orders", *rows)
    table = f"totals_{envelope}"
    target.write(put(service, table, VIEW["query"], envelope=envelope), table)
    query = f"SELECT customer, orders::text, total::text FROM {table} ORDER BY customer"
    target.await_rows(query, [("ada", "2", "3.50"), ("bob", "1", "4.00")])
    service.pipeline.deliver("orders", (order(3, "bob", "4"), -1), (order(4, "ada", "1"), 1))
    target.await_rows(query, [("ada", "3", "4.50")])
    target.connect.delete(table)


def test_columns_keep_their_types_and_values(service: Service, target: Target) -> None:
    service.pipeline.deliver("orders", (order(1, "ada", "-12.50"), 1))
    target.write(put(service, "typed", TYPED), "typed")
    query = (
        "SELECT id::text, customer, amount::text, day::text, large::text, about::text, at::text, "
        "(zoned AT TIME ZONE 'UTC')::text, time::text, doc ->> 'n', token::text, nothing::text "
        "FROM typed"
    )
    shown = ("1", "ada", "-12.50", "2024-01-01", "false", "-12.5", "2024-01-01 00:00:01.5")
    later = ("2024-02-29 10:00:00", "12:34:56.789", "1", "6f1c9a52-8f3b-4c65-9b0e-3d0c3f6f0a11")
    target.await_rows(query, [(*shown, *later, None)])
    target.connect.delete("typed")
