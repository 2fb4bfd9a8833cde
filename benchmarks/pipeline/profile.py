"""`python -m benchmarks pipeline --profile`: the processor time of a change, by part of its path.

A service of three tables and two views stands still while its topics are filled, and is then let
go: so nothing but the path itself runs, and a change's time is what was spent until all are
applied, over their number. Each course is another way in and out: file topics or Kafka, JSON or
Avro, deltas or upserts.
"""

import os
import signal
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import fastavro
import orjson
from confluent_kafka import Producer
from rich.console import Console

from api.demo.ports import free_ports
from api.demo.service import Service, descendants
from benchmarks.comparison import Result
from benchmarks.pipeline.feeder import SEED
from benchmarks.pipeline.records import (
    ITEMS,
    REVENUE,
    SENT,
    SOURCES,
    Change,
    changes,
    declaration,
    stock,
)
from benchmarks.pipeline.samples import PARTS, extensions_of, sampled
from connectors.files.writer import TopicWriter
from ivm_client.service import ServiceClient
from tests.kafka.broker import Broker
from tests.kafka.registry import Registry

Write = Callable[[str, bytes, bytes], object]

CONNECTION = "bench"
ROOT = Path.cwd()


@dataclass(frozen=True, slots=True)
class Course:
    """A way in and out; without a `sink` the deltas go to file topics alone."""

    name: str
    connector: str = "kafka"
    format: str = "json"
    sink: str | None = "delta"
    sink_format: str = "json"


COURSES = (
    Course("files", connector="files", sink=None),
    Course("kafka json to deltas"),
    Course("kafka json to upserts", sink="upsert"),
    Course("kafka avro to deltas in avro", format="avro", sink_format="avro"),
)


class Stage:
    """The service of one course, with whatever belongs to it."""

    def __init__(self, course: Course, rows: tuple[int, int, int], stack: ExitStack) -> None:
        self.course = course
        self._rows = rows
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ivm-profile-")))
        self.directory = directory
        self._topics = directory / "topics"
        settings = {"IVM_TOPICS": str(self._topics)}
        if course.connector == "kafka":
            self._broker = stack.enter_context(Broker.started(directory / "broker"))
            self._registry = stack.enter_context(Registry.started())
            connection = {
                "bootstrap_servers": self._broker.address,
                "schema_registry_url": self._registry.url,
            }
            settings["IVM_CONNECTIONS"] = orjson.dumps({CONNECTION: connection}).decode()
            for topic in SOURCES:
                self._broker.create_topic(topic, 2)
        data = directory / "data"
        data.mkdir()
        self.service = Service(data, free_ports(1)[0], settings)
        self.client = ServiceClient(self.service.url)
        stack.callback(self.service.stop)
        self._lines: dict[str, list[bytes]] = defaultdict(list)
        self._flush: Callable[[], object] = self._append
        self._write = self._writers()
        self.fed = 0

    def start(self) -> None:
        """Start the service, fill its tables and declare its views."""
        self.service.start()
        self.service.wait_ready()
        for table in SOURCES:
            body = declaration(table, CONNECTION) | {"format": self.course.format}
            if self.course.connector == "files":
                body = {n: v for n, v in body.items() if n != "connection"}
            self.client.put(f"/v1/sources/{table}", body | {"connector": self.course.connector})
        self.feed(stock(*self._rows))
        self.await_applied()
        for name, query, key in (
            ("revenue", REVENUE, ["segment", "status"]),
            ("sent", SENT, ["id"]),
        ):
            view: dict[str, Any] = {"query": query, "key": key}
            if self.course.sink is not None:
                view["sink"] = {
                    "connector": "kafka",
                    "connection": CONNECTION,
                    "topic": f"out.{name}",
                    "envelope": self.course.sink,
                    "format": self.course.sink_format,
                }
            self.client.put(f"/v1/views/{name}", view)

    def feed(self, given: Iterable[Change]) -> None:
        """Write changes to the topics; they are there on return."""
        for topic, key, before, after in given:
            tail = b"%d}%b" % (time.time_ns() // 1000, after) if topic == ITEMS else after
            self._write(topic, key, before + tail)
            self.fed += 1
        self._flush()

    def await_applied(self) -> None:
        """Wait until the views reflect all that was fed."""
        while True:
            sources = self.client.get("/v1/sources")["sources"]
            if sum(sum(source["offsets"].values()) for source in sources) >= self.fed:
                return
            time.sleep(0.05)

    def pids(self) -> Mapping[str, list[int]]:
        """The service's processes by kind."""
        found: dict[str, list[int]] = defaultdict(list)
        for pid in descendants(self.service.pid):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            kind = (
                "service"
                if pid == self.service.pid
                else "jvm"
                if b"java" in command[0]
                else "decode"
            )
            found[kind].append(pid)
        return found

    def _writers(self) -> Write:
        if self.course.connector == "files":
            return lambda topic, key, value: self._lines[topic].append(value)
        options = {"bootstrap.servers": self._broker.address, "linger.ms": 5}
        producer = Producer(
            options | {"compression.type": "lz4", "queue.buffering.max.messages": 10**7}
        )
        self._flush = producer.flush
        if self.course.format == "json":
            return lambda topic, key, value: producer.produce(topic, value, key)
        schemas = {table: _Avro(table, self._registry) for table in SOURCES}
        return lambda topic, key, value: producer.produce(topic, schemas[topic].of(value), key)

    def _append(self) -> None:
        for topic, lines in self._lines.items():
            with_topic = TopicWriter(self._topics, topic)
            with_topic.append(lines)
            with_topic.close()
        self._lines.clear()


class _Avro:
    """Envelopes of one table in Avro, as a registry's client frames them."""

    def __init__(self, table: str, registry: Registry) -> None:
        kinds = {"int64": "long", "utf8": "string", "decimal128(12, 2)": "string"}
        fields = [{"name": n, "type": kinds[t]} for n, t in SOURCES[table].items()]
        row = {"type": "record", "name": "Value", "fields": fields}
        source = [{"name": n, "type": "string"} for n in ("connector", "schema", "table")]
        schema = {
            "type": "record",
            "name": "Envelope",
            "fields": [
                {"name": "before", "type": ["null", row]},
                {"name": "after", "type": ["null", "Value"]},
                {"name": "source", "type": {"type": "record", "name": "S", "fields": source}},
                {"name": "op", "type": "string"},
            ],
        }
        number = registry.register(f"{table}-value", schema)
        self._schema = fastavro.parse_schema(schema)
        self._frame = b"\0" + number.to_bytes(4, "big")

    def of(self, value: bytes) -> bytes:
        """The same envelope as this JSON text."""
        into = BytesIO()
        into.write(self._frame)
        fastavro.schemaless_writer(into, self._schema, orjson.loads(value))
        return into.getvalue()


def run_profile(scale: str, console: Console, names: Sequence[str] = ()) -> list[Result]:
    """The figures of all courses, or of those whose names begin with one of `names`."""
    rows, count = (
        ((2_000, 20_000, 40_000), 400_000)
        if scale == "tiny"
        else ((20_000, 200_000, 400_000), 1_000_000)
    )
    found = []
    for course in COURSES:
        if names and not course.name.startswith(tuple(names)):
            continue
        for case, unit, figure in _profiled(course, rows, count):
            found.append(
                Result(
                    "profile", f"{course.name}: {case}", scale, 1, unit, figure, None, None, None, 0
                )
            )
            console.print(f"{course.name}: {case}: {figure:,.2f} {unit}")
    return found


def _profiled(
    course: Course, rows: tuple[int, int, int], count: int
) -> Iterator[tuple[str, str, float]]:
    with ExitStack() as stack:
        stage = Stage(course, rows, stack)
        stage.start()
        given = changes(*rows, SEED)
        stage.feed(islice(given, count // 2))
        stage.await_applied()  # once for the JVM to get warm
        every = [pid for pids in stage.pids().values() for pid in pids]
        for pid in every:
            os.kill(pid, signal.SIGSTOP)
        stage.feed(islice(given, count))
        with sampled(stage.pids, extensions_of(ROOT), stage.directory / "perf") as found:
            for pid in every:
                os.kill(pid, signal.SIGCONT)
            started = time.monotonic()
            stage.await_applied()
            passed = time.monotonic() - started
        yield "throughput", "changes/s", count / passed
        total = 0.0
        for kind, parts in found.seconds.items():
            for part in PARTS:
                if parts.get(part, 0.0) > 0:
                    total += parts[part]
                    yield f"{kind}, {part}", "µs/change", 1e6 * parts[part] / count
        yield "all processor time", "µs/change", 1e6 * total / count
