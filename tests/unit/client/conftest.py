"""A service that listens, reads the tables that are written, and can be started again."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from api.app import create_app
from api.protocol import BoundedProtocol
from api.runtime import Runtime
from connectors.files.writer import TopicWriter
from ivm_client import Client
from tests.unit.api.filed import FilePipeline, make_runtime, pipeline_of

COLUMNS = {"id": "bigint", "customer": "text", "amount": "numeric(12, 2)"}
TOTALS = "SELECT customer, count(*) AS orders, sum(amount) AS total FROM orders GROUP BY customer"


class Listening:
    """A service on one port and one data directory."""

    def __init__(self, data: Path) -> None:
        self._data = data
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self._port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self.start()

    @property
    def pipeline(self) -> FilePipeline:
        return pipeline_of(self._runtime)

    def start(self) -> None:
        """Begin, or begin again, once it is ready."""
        self._runtime: Runtime = make_runtime(self._data)
        config = uvicorn.Config(
            create_app(self._runtime),
            port=self._port,
            loop="asyncio",  # as the service itself
            http=BoundedProtocol,
            log_level="error",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._serving = threading.Thread(target=self._server.run)
        self._serving.start()
        self._runtime.readiness.wait()

    def put_record(self, topic: str, record: bytes) -> None:
        """Append a record to a file topic."""
        writer = TopicWriter(self._data / "topics", topic)
        writer.append([record])
        writer.close()

    def stop(self) -> None:
        """End, and cut off who follows."""
        self._server.should_exit = True
        self._serving.join()


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Listening]:
    listening = Listening(tmp_path)
    yield listening
    listening.stop()


@pytest.fixture
def client(listening: Listening) -> Iterator[Client]:
    """A client of a service with the table `orders` and the view `totals`."""
    with Client(listening.url) as client:
        client.create_table("orders", COLUMNS, key=["id"])
        client.create_view("totals", TOTALS)
        yield client
