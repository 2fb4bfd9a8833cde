"""The whole path as processes: PostgreSQL, Kafka Connect with Debezium, a registry, the service."""

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import httpx
import orjson
from confluent_kafka import KafkaException

from api.demo.ports import free_ports
from api.demo.service import Service
from ivm_client.service import ServiceClient
from tests.kafka.apicurio import Apicurio
from tests.kafka.client import Kafka
from tests.kafka.connect import Connect
from tests.kafka.java import JARS, NotStarted, await_true, classpath
from tests.postgres import publishing

CONNECTION = "main"
READY_SECONDS = 300.0

# A row as its columns' values, each spelled as in the JSON of deltas.
Rows = Counter[tuple[str, ...]]


class Stack:
    """All parts, started; views are judged by PostgreSQL's answer to the same query."""

    def __init__(self, kafka: Kafka, directory: Path, parts: ExitStack) -> None:
        self.kafka = kafka
        self.publisher = parts.enter_context(publishing())
        self.database = parts.enter_context(self.publisher.connect())
        self.registry = parts.enter_context(Apicurio.started(directory))
        connect = Connect.started(directory / f"connect-{directory.name}", kafka.address)
        self.connect = parts.enter_context(connect)
        connection = {
            "bootstrap_servers": kafka.address,
            "schema_registry_url": self.registry.url,
        }
        classpath("spark")
        settings = {
            "IVM_CONNECTIONS": json.dumps({CONNECTION: connection}),
            "IVM_SPARK_JARS": str(JARS / "spark"),
            "IVM_SERVICE": directory.name,
            "IVM_ON_ERROR": "quarantine",
        }
        self._topics = directory / "topics"
        (port,) = free_ports(1)
        self.service = Service(directory, port, settings)
        parts.callback(self.service.stop)
        self.client = ServiceClient(self.service.url)
        parts.callback(self.client.close)
        self.start_service()

    @classmethod
    @contextmanager
    def started(cls, kafka: Kafka) -> Iterator[Self]:
        """A stack in a directory of its own (raises NoServer, NoJars)."""
        directory = Path(tempfile.mkdtemp(prefix="ivm-stack-"))
        try:
            with ExitStack() as parts:
                yield cls(kafka, directory, parts)
        finally:
            shutil.rmtree(directory)

    def start_service(self) -> None:
        """Start the service, for the first time or again, and wait until it is ready.

        With all the other parts beside it, that takes long on a busy machine.
        """
        self.service.start()
        await_true("the service is ready", self._is_ready, READY_SECONDS)

    def _is_ready(self) -> bool:
        if not self.service.is_running:
            raise NotStarted(f"the service ended:\n{self.service.tail()}")
        try:
            return httpx.get(f"{self.service.url}/readyz", timeout=30).is_success
        except httpx.TransportError:
            return False

    def execute_each(self, script: str) -> None:
        """Execute the statements of a script, each in a transaction of its own.

        No text in it may hold a semicolon. A transaction may reach Debezium before others see it as
        committed. Of one that alters a table, Debezium would look up the table as it was before,
        and read its rows by that.
        """
        for statement in filter(str.strip, script.split(";")):
            self.database.execute(statement.encode())

    def await_topic(self, topic: str) -> None:
        """Wait until a topic is there."""
        admin = self.kafka.admin()
        await_true(f"topic {topic}", lambda: topic in admin.list_topics(timeout=30).topics)

    def put_view(self, name: str, query: str, key: list[str]) -> None:
        """Register a view, published to the topic of its name."""
        sink = {"connector": "kafka", "connection": CONNECTION, "topic": name}
        self.client.put(f"/v1/views/{name}", {"query": query, "key": key, "sink": sink})

    def await_answer(self, view: str, query: str) -> None:
        """Wait until the view is PostgreSQL's answer to `query`, wherever it is read.

        That is its look-ups, the sum of its file deltas, and the sum of its deltas in Kafka.
        Raises TimeoutError that tells where it differs, and how the parts are.
        """
        expected = self.answer(query)
        found: dict[str, Rows] = {}

        def agree() -> bool:
            found["look-ups"] = self.rows(view)
            found["file topic"] = folded(self._lines(view))
            found["topic"] = folded(self._records(view))
            return all(rows == expected for rows in found.values())

        try:
            self.await_true(view, agree)
        except TimeoutError as error:
            wrong = "; ".join(
                f"{place} has {dict(rows - expected)} too much and lacks {dict(expected - rows)}"
                for place, rows in found.items()
                if rows != expected
            )
            raise TimeoutError(f"{wrong}; {error}") from error

    def await_true(self, what: str, condition: Callable[[], object]) -> None:
        """Wait until `condition` holds (raises TimeoutError that tells how the parts are)."""

        def holds() -> bool:
            self.connect.restart_failed()
            return bool(condition())

        try:
            await_true(what, holds)
        except TimeoutError as error:
            put_aside = self.client.get("/v1/quarantine")["records"]
            raise TimeoutError(
                f"{error}; the service says {self.readiness()}, quarantined are {put_aside}, its "
                f"log ends:\n{self.service.tail()}\nthe connectors are {self.connect.states()}, "
                f"they read {self._slots()}, their log ends:\n{self.connect.process.tail()}"
            ) from error

    def _slots(self) -> list[tuple[object, ...]]:
        """How far PostgreSQL's log is, and how far what reads it."""
        return self.database.execute(
            "SELECT slot_name, active, state, confirmed_flush_lsn, sent_lsn, pg_current_wal_lsn()"
            " FROM pg_replication_slots LEFT JOIN pg_stat_replication ON pid = active_pid"
        ).fetchall()

    def readiness(self) -> str:
        """What the service says is wrong with it, if anything is."""
        return httpx.get(f"{self.service.url}/readyz", timeout=30).text

    def answer(self, query: str) -> Rows:
        """PostgreSQL's rows."""
        return Counter(tuple(map(str, row)) for row in self.database.execute(query.encode()))

    def rows(self, view: str) -> Rows:
        """The rows of a view by look-up."""
        found = self.client.get(f"/v1/views/{view}/rows", scan="true", limit="10000")["rows"]
        return Counter(map(spelled, found))

    def _lines(self, view: str) -> Iterator[bytes]:
        for segment in sorted((self._topics / f"deltas.{view}").glob("*/*.jsonl")):
            lines = segment.read_bytes().splitlines(keepends=True)
            yield from (line for line in lines if line.endswith(b"\n"))  # the last may be half

    def _records(self, view: str) -> Iterator[bytes]:
        try:
            for message in self.kafka.read_committed(view):
                yield message.value() or b""
        except KafkaException:  # the topic is not there yet
            return


def folded(deltas: Iterator[bytes]) -> Rows:
    """The sum of deltas; rows that come to nothing are left out, those below are not."""
    rows: Rows = Counter()
    for delta in map(orjson.loads, deltas):
        if "row" in delta:
            rows[spelled(delta["row"])] += delta["diff"]
    return Counter({row: count for row, count in rows.items() if count})


def spelled(row: Mapping[str, Any]) -> tuple[str, ...]:
    """A row of JSON as PostgreSQL's driver gives and Python spells it."""
    return tuple(map(str, row.values()))
