"""The story of `python -m benchmarks streams`: each system in turn, on one query after the other.

For each run the topics are filled with the same messages, most of them in a transaction that is
open; the system is started, and once it has taken the first ones and waits for more the transaction
is committed. The clock goes from then
until the last message has come that made the rows of its results what they stay: those of DuckDB.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from api.demo.service import MemoryPeak, descendants
from benchmarks.errors import BenchmarkError
from benchmarks.pipeline.samples import spent
from benchmarks.streams.events import Events, events
from benchmarks.streams.outputs import Results, followed
from benchmarks.streams.queries import QUERIES, Query, Row, same
from benchmarks.streams.systems import OURS, PEERS, Running, System, Task
from benchmarks.streams.topics import Filling, Messages
from tests.kafka.broker import Broker
from tests.kafka.java import NoJars

SCALES = {"tiny": 100_000, "small": 1_000_000}
"""How many events there are."""
CORES = 2

_LIMIT_SECONDS = 600.0
_LOOK_SECONDS = 0.25
_STAYS_SECONDS = 2.0
_IDLE_SECONDS = 2.0  # for which it has to be idle
_IDLE_CORES = 0.5  # polling is no work
_IDLE_LIMIT_SECONDS = 120.0
# Tests give their broker the lesser compiler and little memory.
_BROKER = ("-XX:TieredStopAtLevel=4", "-Xmx512m")


@dataclass(frozen=True, slots=True)
class Figure:
    """One run: so many changes in so many seconds, and the bytes of all processes at their peak.

    `processor` has the seconds of processors that these have spent; `messages` were read of its
    results.
    """

    system: str
    query: str
    changes: int
    seconds: float
    bytes: int
    processor: float
    messages: int

    @property
    def rate(self) -> float:
        """Changes per second."""
        return self.changes / self.seconds


@dataclass(frozen=True, slots=True)
class Found:
    """All figures; `load` is the machine's load average before, `seconds` how long all took."""

    scale: str
    load: float
    figures: Sequence[Figure]
    seconds: float


def run_streams(scale: str, peer: str | None, console: Console) -> Found:
    """Run all systems, or this service and one peer, on all queries (raises BenchmarkError)."""
    if scale not in SCALES:
        raise BenchmarkError(f"streams has no scale {scale!r}, but {', '.join(SCALES)}")
    if peer is not None and peer not in PEERS:
        raise BenchmarkError(f"no peer {peer!r} in streams: there are {', '.join(PEERS)}")
    systems = [OURS, *(PEERS.values() if peer is None else [PEERS[peer]])]
    load, began = os.getloadavg()[0], time.monotonic()
    figures: list[Figure] = []
    with _progress(console) as progress, _cores(CORES):
        task = progress.add_task("", total=len(systems) * len(QUERIES))

        def step(what: str, advance: int) -> None:
            progress.update(task, description=what, advance=advance)

        try:
            for figure in measure(SCALES[scale], systems, QUERIES, step):
                figures.append(figure)
                progress.console.print(_line(figure), highlight=False)
        except NoJars as error:
            raise BenchmarkError(str(error)) from error
    return Found(scale, load, figures, time.monotonic() - began)


def measure(
    count: int,
    systems: Sequence[System],
    queries: Sequence[Query],
    step: Callable[[str, int], None],
) -> Iterator[Figure]:
    """The figure of each system on each query, over `count` events (raises BenchmarkError).

    `step` hears what is done, and 1 once a run is over.
    """
    commands = {}
    for system in systems:
        step(f"installing {system.name}", 0)
        commands[system.name] = system.prepare()
    step("making events", 0)
    given = events(count)
    messages = {table: [*given.messages(table)] for table in given.columns}
    with tempfile.TemporaryDirectory(prefix="ivm-bench-") as directory:
        home = Path(directory)
        with Broker.started(home / "broker", options=_BROKER) as broker:
            for query in queries:
                expected = query.answer(given)
                for system in systems:
                    step(f"{query.name}: {system.name}", 0)
                    run = Run(broker, given, messages, system, query, expected)
                    yield run.measure(commands[system.name], home)
                    step(f"{query.name}: {system.name}", 1)


@dataclass(frozen=True, slots=True)
class Run:
    """One system on one query, whose result has to be `expected`."""

    broker: Broker
    events: Events
    messages: Messages
    system: System
    query: Query
    expected: Sequence[Row]

    def measure(self, command: Sequence[str], home: Path) -> Figure:
        """Let the system maintain the query over new topics (raises BenchmarkError)."""
        name = f"{self.query.name}.{self.system.name.lower()}"
        directory = home / name
        directory.mkdir()
        topics = {table: self.messages[table] for table in self.query.tables}
        filling = Filling(self.broker, name, topics)
        self.broker.create_topic(f"results.{name}")
        system = self.system.start(command, Task(self.broker.address, self.query, name, directory))
        try:
            with followed(
                self.broker, f"results.{name}", lambda: self.system.fold(self.query)
            ) as results:
                self._await_opened(system, results)
                figure = self._timed(system, filling, results)
        finally:
            system.stop()
            for topic in (*(f"{table}.{name}" for table in topics), f"results.{name}"):
                self.broker.delete_topic(topic)
        return figure

    def _await_opened(self, system: Running, results: Results) -> None:
        """Wait until opening records are answered, unless a window is open, and all is idle."""
        opening = self.query.answer(self.events.opening())
        if not self.system.closes or self.query.window is None:
            self._await_answer(system, results, opening)
        _await_idle(system)

    def _timed(self, system: Running, filling: Filling, results: Results) -> Figure:
        memory = MemoryPeak()
        memory.pid = system.pid
        memory.start()
        before = _spent(system.pid)
        began = filling.commit()
        self._await_answer(system, results, self.expected)
        ended, after = results.changed, _spent(system.pid)
        time.sleep(_STAYS_SECONDS)
        memory.stop()
        if not self._is_right(results, self.expected):
            raise BenchmarkError(f"{self.system.name}, {self.query.name}: the result went away")
        return Figure(
            self.system.name,
            self.query.name,
            self.query.changes(self.events),
            max(ended, results.changed) - began,
            memory.bytes,
            after - before,
            results.messages,
        )

    def _await_answer(self, system: Running, results: Results, expected: Sequence[Row]) -> None:
        began, seen = time.monotonic(), 0.0
        while True:
            system.check()
            if results.changed != seen:
                seen = results.changed
                if self._is_right(results, expected):
                    return
            if time.monotonic() - began > _LIMIT_SECONDS:
                found = len(self._shown(results.rows()))
                raise BenchmarkError(
                    f"{self.system.name}, {self.query.name}: {found:,} rows after"
                    f" {_LIMIT_SECONDS:.0f} s are not DuckDB's {len(self._shown(expected)):,}"
                )
            time.sleep(_LOOK_SECONDS)

    def _is_right(self, results: Results, expected: Sequence[Row]) -> bool:
        return same(self._shown(results.rows()), self._shown(expected))

    def _shown(self, rows: Sequence[Row]) -> Sequence[Row]:
        return self.query.closed(rows, self.events.closing) if self.system.closes else rows


def _await_idle(system: Running) -> None:
    """Wait until a system has nothing to do but to ask for records (raises BenchmarkError)."""
    limit = time.monotonic() + _IDLE_LIMIT_SECONDS
    while time.monotonic() < limit:
        system.check()
        before, began = _spent(system.pid), time.monotonic()
        time.sleep(_IDLE_SECONDS)
        if _spent(system.pid) - before < _IDLE_CORES * (time.monotonic() - began):
            return
    raise BenchmarkError(f"a system is busy without records for {_IDLE_LIMIT_SECONDS:.0f} s")


def _spent(pid: int) -> float:
    """Processor seconds of a process and all below it."""
    each = map(spent, descendants(pid))
    return sum(own.user + own.kernel for own in each)


@contextmanager
def _cores(count: int) -> Iterator[None]:
    """Keep this process, and all that it starts, on so many cores."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def _line(figure: Figure) -> str:
    return (
        f"{figure.query} {figure.system}: {figure.rate:,.0f} changes/s in {figure.seconds:.2f} s,"
        f" {figure.bytes / 2**20:,.0f} MiB, {figure.processor:.1f} s of processors,"
        f" {figure.messages:,} messages"
    )


def _progress(console: Console) -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    return Progress(*columns, TimeElapsedColumn(), console=console)
