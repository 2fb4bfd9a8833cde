"""Kafka Connect as a process, and Debezium's connector for PostgreSQL, or others, in it.

A distributed worker of one: its connectors, offsets and states are in Kafka, so that one which was
killed and started again goes on where it was.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Self

import httpx

from api.demo.ports import free_ports
from tests.kafka.java import JavaProcess, await_true
from tests.postgres import Publisher

Converter = Literal["json", "json with schemas", "avro", "avro with headers"]

_JSON = "org.apache.kafka.connect.json.JsonConverter"
_AVRO = "io.apicurio.registry.utils.converter.AvroConverter"


class Connect:
    """A worker in `directory`, whose records go to the broker at `address`."""

    def __init__(self, directory: Path, address: str, jars: str = "connect") -> None:
        directory.mkdir(parents=True, exist_ok=True)
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        self._statuses = f"{self.url}/connectors?expand=status"
        properties = directory / "connect.properties"
        settings = {
            "bootstrap.servers": address,
            "group.id": directory.name,
            "listeners": f"{self.url}",
            "key.converter": _JSON,
            "value.converter": _JSON,
            "offset.flush.interval.ms": "500",
            "scheduled.rebalance.max.delay.ms": "0",
            "plugin.discovery": "service_load",
            **{
                f"{kind}.storage.{name}": value
                for kind in ("config", "offset", "status")
                for name, value in {
                    "topic": f"{directory.name}-{kind}",
                    "replication.factor": "1",
                    **({} if kind == "config" else {"partitions": "1"}),
                }.items()
            },
        }
        lines = (f"{name}={value}\n" for name, value in settings.items())
        properties.write_text("".join(lines))
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        self.process = JavaProcess(directory, jars, main, [properties])

    @classmethod
    @contextmanager
    def started(cls, directory: Path, address: str, jars: str = "connect") -> Iterator[Self]:
        """A worker that runs, and is stopped in the end."""
        connect = cls(directory, address, jars)
        connect.start()
        try:
            yield connect
        finally:
            connect.kill()

    def start(self) -> None:
        """Start it, for the first time or again, and wait until it answers."""
        self.process.start(self._answers)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()

    def create(self, name: str, config: Mapping[str, str]) -> None:
        """Create a connector or configure it anew, and wait until it runs."""
        self._request("PUT", f"connectors/{name}/config", dict(config))
        self.await_state(name, "RUNNING")

    def await_state(self, name: str, state: str) -> None:
        """Wait until a connector and its tasks are in `state` (raises TimeoutError)."""
        await_true(f"{name} {state}", lambda: self._is_in(name, state))

    def await_snapshot(self, name: str) -> None:
        """Wait until a connector has noted that its snapshot is over.

        One that is killed before makes another, which does not tell what was deleted meanwhile.
        """
        await_true(f"the snapshot of {name}", lambda: self._has_noted_its_snapshot(name))

    def pause(self, name: str) -> None:
        """Let a connector pause, and wait until it does."""
        self._request("PUT", f"connectors/{name}/pause")
        self.await_state(name, "PAUSED")

    def resume(self, name: str) -> None:
        """Let a paused connector go on."""
        self._request("PUT", f"connectors/{name}/resume")
        self.await_state(name, "RUNNING")

    def restart_failed(self) -> None:
        """Start failed tasks again, as an operator does.

        Debezium may read a row by the types that its table had before the row's transaction
        altered it (seen on a busy machine); then its task fails, and reads it rightly once it is
        started again.
        """
        for name, found in httpx.get(self._statuses, timeout=30).json().items():
            if any(task["state"] == "FAILED" for task in found["status"]["tasks"]):
                self._request(
                    "POST", f"connectors/{name}/restart?includeTasks=true&onlyFailed=true"
                )

    def states(self) -> str:
        """The states of all connectors and tasks, as the worker tells them."""
        return httpx.get(self._statuses, timeout=30).text

    def delete(self, name: str) -> None:
        """Delete a connector."""
        self._request("DELETE", f"connectors/{name}")

    def _has_noted_its_snapshot(self, name: str) -> bool:
        response = httpx.get(f"{self.url}/connectors/{name}/offsets", timeout=30)
        noted = [each["offset"] for each in response.json()["offsets"]]
        return any("snapshot" not in offset or offset["snapshot_completed"] for offset in noted)

    def _is_in(self, name: str, state: str) -> bool:
        response = httpx.get(f"{self.url}/connectors/{name}/status", timeout=30)
        if not response.is_success:
            return False
        status = response.json()
        tasks = status["tasks"]
        failed = [task["trace"] for task in tasks if task["state"] == "FAILED"]
        if failed and state != "FAILED":
            raise RuntimeError(f"{name} failed: {failed[0]}")
        return bool(tasks) and {each["state"] for each in (status["connector"], *tasks)} == {state}

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/connectors", timeout=5).is_success
        except httpx.TransportError:
            return False

    def _request(self, method: str, path: str, body: Any = None) -> None:
        response = httpx.Response(httpx.codes.CONFLICT)

        def is_taken() -> bool:
            nonlocal response
            response = httpx.request(method, f"{self.url}/{path}", json=body, timeout=120)
            # The worker is about to take its connectors anew.
            return response.status_code != httpx.codes.CONFLICT

        await_true(f"{method} {path}", is_taken)
        if response.is_error:
            raise RuntimeError(f"{method} {path}: {response.text}\n{self.process.tail()}")


def debezium(
    publisher: Publisher,
    prefix: str,
    tables: str,
    converter: Converter = "json",
    registry: str | None = None,
    **more: str,
) -> dict[str, str]:
    """How to capture `tables` (a list of `schema.table`) into topics `prefix.schema.table`.

    `registry` is the native address of an Apicurio registry, for Avro: a record begins with its
    schema's id as Confluent's do, or has it in a header. In `more`, `_` stands for a dot.
    """
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "tasks.max": "1",
        "plugin.name": "pgoutput",
        "database.hostname": publisher.host,
        "database.port": str(publisher.port),
        "database.user": publisher.user,
        "database.password": "none is asked for",
        "database.dbname": publisher.database,
        "topic.prefix": prefix,
        "slot.name": prefix,
        "publication.name": prefix,
        "publication.autocreate.mode": "filtered",
        "table.include.list": tables,
        "topic.creation.default.replication.factor": "1",
        "topic.creation.default.partitions": "1",
        # Truncations are left out unless they are asked for.
        "skipped.operations": "none",
        "poll.interval.ms": "50",
        **_converters(converter, registry),
        **{name.replace("_", "."): value for name, value in more.items()},
    }


def _converters(converter: Converter, registry: str | None) -> dict[str, str]:
    settings: dict[str, str] = {}
    for side in ("key", "value"):
        prefix = f"{side}.converter"
        if converter.startswith("avro"):
            assert registry is not None
            in_header = str(converter == "avro with headers").lower()
            settings |= {
                prefix: _AVRO,
                f"{prefix}.apicurio.registry.url": registry,
                f"{prefix}.apicurio.registry.auto-register": "true",
                f"{prefix}.apicurio.registry.find-latest": "true",
                f"{prefix}.apicurio.registry.as-confluent": "true",
                f"{prefix}.apicurio.registry.headers.enabled": in_header,
                f"{prefix}.apicurio.registry.use-id": "contentId",
            }
        else:
            schemas = str(converter == "json with schemas").lower()
            settings |= {prefix: _JSON, f"{prefix}.schemas.enable": schemas}
    return settings
