"""The systems that maintain a query: this service, and peers as programs of their own.

A peer's program is `python -m benchmarks.peers.NAME.streams ADDRESS QUERY RUN DIRECTORY`, with the
packages of its own lock. It reads the topics `TABLE.RUN`, writes to `results.RUN`, and prints a
line once nothing is left to do but to wait for records.
"""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from api.demo.ports import free_ports
from api.demo.service import STOP_SECONDS, DemoFailed, Service, descendants
from benchmarks.errors import BenchmarkError
from benchmarks.nexmark.data import QUERIES as SQL
from benchmarks.sides import HERE, package
from benchmarks.streams.events import TABLES
from benchmarks.streams.outputs import Fold, Latest, Sums
from benchmarks.streams.queries import Query
from ivm_client.errors import ClientError
from ivm_client.service import ServiceClient

_CONNECTION = "bench"
_READY_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Task:
    """A query over the topics of a run, whose files are in `directory`."""

    address: str
    query: Query
    run: str
    directory: Path


class Running(Protocol):
    """A system that maintains a query."""

    pid: int

    def check(self) -> None:
        """Raise BenchmarkError with the end of its log, if it has ended."""

    def stop(self) -> None:
        """End it, with all that it started."""


@dataclass(frozen=True, slots=True)
class System:
    """A system by its name; `prepare` installs it, `start` returns once it waits for records.

    `fold` is the form of a query's results. Where it `closes` windows, those of closing records
    stay open, and are not in them.
    """

    name: str
    about: str
    prepare: Callable[[], list[str]]
    start: Callable[[Sequence[str], Task], Running]
    fold: Callable[[Query], Fold]
    closes: bool = False


class Ours:
    """The service, with a table for each topic and a view whose deltas go to Kafka."""

    def __init__(self, task: Task) -> None:
        """Start it and declare all (raises BenchmarkError)."""
        connections = {_CONNECTION: {"bootstrap_servers": task.address}}
        given = {"IVM_CONNECTIONS": json.dumps(connections), "IVM_SERVICE": task.run}
        self._service = Service(task.directory, free_ports(1)[0], {**SETTINGS, **given})
        self._client = ServiceClient(self._service.url)
        self._service.start()
        self.pid = self._service.pid
        try:
            self._declare(task)
        except (DemoFailed, ClientError) as error:
            self.stop()
            raise BenchmarkError(str(error)) from error
        except BaseException:  # an interrupt: it would go on by itself
            self.stop()
            raise

    def _declare(self, task: Task) -> None:
        self._service.wait_ready()
        for table in task.query.tables:
            self._client.put(f"/v1/sources/{table}", declaration(table, task.run))
        self._client.put(f"/v1/views/{task.query.name}", _view(task))

    def check(self) -> None:
        """Raise BenchmarkError if it has ended."""
        if not self._service.is_running:
            raise BenchmarkError(f"the service ended; its log ends:\n{self._service.tail()}")

    def stop(self) -> None:
        """End it."""
        self._client.close()
        self._service.kill()
        self._service.stop()


SETTINGS: Mapping[str, str] = {"IVM_WORKERS": "2"}
"""The settings of the service that are not the default."""


def declaration(table: str, run: str) -> dict[str, object]:
    """The body that declares a table whose rows are only added."""
    columns = [
        {"name": field.name, "type": str(field.type), "nullable": False}
        for field in TABLES[table].schema
    ]
    times = {each["name"]: "ms" for each in columns if str(each["type"]).startswith("timestamp")}
    return {
        "connector": "kafka",
        "connection": _CONNECTION,
        "topic": f"{table}.{run}",
        "envelope": "append",
        "columns": columns,
        "key": [],
        "encodings": times,
    }


def text(query: Query) -> str:
    """The SQL of our view, which DuckDB's is too, unless there is one that counts less."""
    own = HERE / "streams" / f"{query.name}.sql"
    return own.read_text() if own.exists() else SQL[query.file]


def _view(task: Task) -> dict[str, object]:
    topic = f"results.{task.run}"
    sink = {"connector": "kafka", "connection": _CONNECTION, "topic": topic}
    return {"query": text(task.query), "lookups": False, "sink": sink}


class Program:
    """A peer's program, and what it prints."""

    def __init__(self, command: Sequence[str], task: Task) -> None:
        """Start it and wait until it says that it is ready (raises BenchmarkError)."""
        self._run = task.run
        self._log = task.directory / "log"
        arguments = [task.address, task.query.name, task.run, str(task.directory)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, *arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=HERE.parent,
                text=True,
            )
        self.pid = self._process.pid
        try:
            is_ready = self._says_ready()
        except BaseException:  # an interrupt: it would go on by itself
            self.stop()
            raise
        if not is_ready:
            self.stop()
            raise BenchmarkError(f"{task.run} is not ready; its log ends:\n{self._tail()}")

    def check(self) -> None:
        """Raise BenchmarkError if it has ended."""
        if self._process.poll() is not None:
            raise BenchmarkError(f"{self._run} ended; its log ends:\n{self._tail()}")

    def stop(self) -> None:
        """End it, with all that it started."""
        for pid in descendants(self.pid):
            _end(pid)
        self._process.wait(STOP_SECONDS)

    def _says_ready(self) -> bool:
        impatient = threading.Timer(_READY_SECONDS, self.stop)
        impatient.start()
        assert self._process.stdout is not None
        try:
            return any(line == "ready\n" for line in self._process.stdout)
        finally:
            impatient.cancel()

    def _tail(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-15:])


def _end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _sums(query: Query) -> Fold:
    return Sums(query.columns)


def _numbered(query: Query) -> Fold:
    """Pathway's results, whose columns cannot be called `id`."""
    return Sums(["number" if column == "id" else column for column in query.columns])


def _latest(query: Query) -> Fold:
    return Latest(query.columns)


def _added_or_latest(query: Query) -> Fold:
    """Flink's results: windows are only added, once they are closed."""
    return Latest(query.columns) if query.window is None else Sums(query.columns)


OURS = System(
    "ivm",
    "tables with envelope `append`, a view in SQL without look-ups, deltas exactly once; two"
    " threads of the engine, checkpoints and all else as they are by default",
    list,
    lambda _, task: Ours(task),
    _sums,
)
PEERS: Mapping[str, System] = {
    "flink": System(
        "Flink",
        "Flink SQL 2.2 of PyPI in one JVM: windows as table-valued functions, parallelism 2, state"
        " on the heap, mini-batches, object reuse, two-phase aggregates; without checkpoints, which"
        " cost it time, so that its results are there at least once",
        partial(package, "flink", "streams"),
        Program,
        _added_or_latest,
        closes=True,
    ),
    "pathway": System(
        "Pathway",
        "two threads; expressions, groups and joins of its engine, so that no function of Python is"
        " called for a row; a commit each half second",
        partial(package, "pathway", "streams"),
        Program,
        _numbered,
    ),
    "bytewax": System(
        "Bytewax",
        "two processes, batches of 5,000 messages, orjson, and stateful operators that take a batch"
        " at once; its window operators take messages one by one and drop those that come late",
        partial(package, "bytewax", "streams"),
        Program,
        _latest,
    ),
}
