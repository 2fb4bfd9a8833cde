"""The story of `python -m benchmarks pipeline`: throughput, latency, recovery, each by itself.

Broker, Spark, pool, producer and reader share one machine. *Throughput* feeds a three-table join
with an aggregate, the producer staying ahead of it; *latency* sends changes at a rate and reads
each from the committed end of a delta topic, once for each trigger; *recovery* kills the service
with SIGKILL over a large table.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from api.demo.ports import free_ports
from api.demo.service import Service
from benchmarks.comparison import Result
from benchmarks.errors import BenchmarkError
from benchmarks.pipeline.processes import Spent, spent
from benchmarks.pipeline.reader import Reader
from benchmarks.pipeline.records import REVENUE, SENT, SOURCES, declaration
from ivm_client.service import ServiceClient
from tests.kafka.broker import Broker

Rows = tuple[int, int, int]
Record = Callable[[str, str, float], None]

CONNECTION = "bench"
AHEAD = 400_000
"""How many changes the producer stays ahead at most; half as many at least."""

# Asking costs the service and the broker something, too.
_POLL_SECONDS = 0.25
_SAMPLE_SECONDS = 2.0


class Size:
    """Rows of the three tables, and how long or how much each phase takes."""

    def __init__(self, scale: str) -> None:
        small = scale == "tiny"
        self.rows = (2_000, 20_000, 40_000) if small else (20_000, 200_000, 400_000)
        self.seconds = 10.0 if small else 120.0
        self.rate = 1_000 if small else 5_000
        self.paced = self.rate * (5 if small else 30)
        self.recovered = 50_000 if small else 5_000_000
        self.tail = self.recovered // 50


class Bench:
    """One service on a broker, and the producer beside it."""

    def __init__(
        self, broker: Broker, data: Path, rows: Rows, partitions: int, settings: dict[str, str]
    ) -> None:
        for topic in SOURCES:
            broker.create_topic(topic, partitions)
        self._address = broker.address
        connections = {CONNECTION: {"bootstrap_servers": broker.address}}
        environment = {"IVM_CONNECTIONS": json.dumps(connections), **settings}
        self.service = Service(data, free_ports(1)[0], environment)
        self.client = ServiceClient(self.service.url)
        arguments = [broker.address, *map(str, rows)]
        self._feeder = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.pipeline.feeder", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.fed = 0

    def start(self) -> None:
        """Start the service and declare the tables."""
        self.service.start()
        self.service.wait_ready()
        for table in SOURCES:
            self.client.put(f"/v1/sources/{table}", declaration(table, CONNECTION))

    def put_view(self, name: str, query: str) -> Reader:
        """Register a view with a sink, and follow its delta topic."""
        sink = {"connector": "kafka", "connection": CONNECTION, "topic": f"out.{name}"}
        self.client.put(f"/v1/views/{name}", {"query": query, "sink": sink})
        return Reader(self._address, f"out.{name}")

    def order(self, line: str, changes: int) -> None:
        """Give the producer an order that makes so many changes; `await_fed` waits for it."""
        assert self._feeder.stdin is not None
        print(line, file=self._feeder.stdin, flush=True)
        self.fed += changes

    def await_fed(self) -> None:
        """Wait until one more order is carried out (raises BenchmarkError)."""
        assert self._feeder.stdout is not None
        if self._feeder.stdout.readline() != "done\n":
            raise BenchmarkError("the producer ended")

    def applied(self) -> int:
        """How many records the views reflect."""
        sources = self.client.get("/v1/sources")["sources"]
        return sum(sum(source["offsets"].values()) for source in sources)

    def stages(self) -> dict[str, float]:
        """Seconds that the thread of deliveries has spent in each stage."""
        prefix = 'ivm_stage_seconds_total{stage="'
        lines = self.client.text("/metrics").splitlines()
        found = [line[len(prefix) :].split('"} ') for line in lines if line.startswith(prefix)]
        return {stage: float(seconds) for stage, seconds in found}

    def metric(self, name: str) -> float:
        """A gauge or counter of the service that has no labels."""
        lines = self.client.text("/metrics").splitlines()
        return next(float(x.split(" ")[1]) for x in lines if x.startswith(f"{name} "))

    def close(self) -> None:
        """Stop the producer and the service."""
        self._feeder.kill()
        self._feeder.wait()
        self.client.close()
        self.service.stop()


def run_pipeline(scale: str, console: Console) -> list[Result]:
    """All phases, each on a broker and a data directory of its own."""
    size = Size(scale)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    found: list[Result] = []
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:

        def record(case: str, unit: str, figure: float) -> None:
            found.append(Result("pipeline", case, scale, 1, unit, figure, None, None, None, 0))
            progress.console.print(f"{case}: {figure:,.1f} {unit}")

        for phase in (_throughput, _latency, _realtime, _recovery):
            with tempfile.TemporaryDirectory(prefix="ivm-bench-") as directory:
                phase(size, Path(directory), progress, record)
    return found


@contextmanager
def _bench(rows: Rows, directory: Path, partitions: int = 2, **settings: str) -> Iterator[Bench]:
    data = directory / "data"
    data.mkdir()
    with Broker.started(directory / "broker") as broker:
        bench = Bench(broker, data, rows, partitions, settings)
        try:
            bench.start()
            yield bench
        finally:
            bench.close()


def _stock(bench: Bench, rows: Rows, progress: Progress) -> None:
    total = sum(rows)
    bench.order("stock", total)
    bench.await_fed()
    _follow(bench, progress, "loading the tables")


def _follow(bench: Bench, progress: Progress, what: str) -> None:
    """Until everything fed is applied."""
    task = progress.add_task(what, total=bench.fed)
    while (applied := bench.applied()) < bench.fed:
        progress.update(task, completed=applied)
        _alive(bench)
        time.sleep(_POLL_SECONDS)
    progress.update(task, completed=applied)


def _alive(bench: Bench) -> None:
    if not bench.service.is_running:
        raise BenchmarkError(f"the service ended; its log ends:\n{bench.service.tail()}")


def _throughput(size: Size, directory: Path, progress: Progress, record: Record) -> None:
    with _bench(size.rows, directory) as bench:
        _stock(bench, size.rows, progress)
        reader = bench.put_view("revenue", REVENUE)
        memory: list[int] = []
        task = progress.add_task("as fast as they go", total=int(size.seconds))
        before, stages, first = spent(bench.service.pid), bench.stages(), bench.applied()
        started = time.monotonic()
        while (passed := time.monotonic() - started) < size.seconds:
            if bench.fed - bench.applied() < AHEAD // 2:
                bench.order(f"more {AHEAD // 2}", AHEAD // 2)
                bench.await_fed()
            if passed > len(memory) * _SAMPLE_SECONDS:
                memory.append(bench.service.memory.now())
            progress.update(task, completed=int(passed))
            _alive(bench)
            time.sleep(_POLL_SECONDS)
        count = bench.applied() - first
        seconds = time.monotonic() - started
        record("throughput", "changes/s", count / seconds)
        third = max(1, len(memory) // 3)
        growth = np.mean(memory[-third:]) / np.mean(memory[third : 2 * third])
        record("memory, last third over second", "ratio", float(growth))
        record("deltas read", "deltas/s", reader.deltas / seconds)
        reader.close()
        for stage, total in _by_stage(before, spent(bench.service.pid), stages, bench.stages()):
            record(f"spent: {stage}", "µs/change", 1e6 * total / count)


def _by_stage(
    before: Spent, after: Spent, stages: dict[str, float], later: dict[str, float]
) -> Iterator[tuple[str, float]]:
    """Processor seconds of the processes, and wall seconds of the stages of the delivery thread."""
    yield "source (the JVM, processor)", after.jvm - before.jvm
    yield "decode (Spark's Python, processor)", after.workers - before.workers
    yield "the service's process (processor)", after.service - before.service
    for stage, seconds in later.items():
        yield f"{stage} (delivery thread, wall)", seconds - stages.get(stage, 0.0)


def _latency(size: Size, directory: Path, progress: Progress, record: Record) -> None:
    _paced(size, directory, progress, record, "micro-batch")


def _realtime(size: Size, directory: Path, progress: Progress, record: Record) -> None:
    _paced(size, directory, progress, record, "real-time")


def _paced(size: Size, directory: Path, progress: Progress, record: Record, trigger: str) -> None:
    settings = {"IVM_TRIGGER": trigger}
    if trigger == "real-time":  # a task for each partition
        settings["IVM_SPARK_MASTER"] = f"local[{len(SOURCES)}]"
    with _bench(size.rows, directory, partitions=1, **settings) as bench:
        _stock(bench, size.rows, progress)
        reader = bench.put_view("sent", SENT)
        for measured in (False, True):  # once for the JVM to get warm
            reader.latencies.clear()
            bench.order(f"pace {size.paced} {size.rate}", size.paced)
            bench.await_fed()
            _follow(bench, progress, f"{size.rate:,} changes/s, {trigger}")
            if measured:
                time.sleep(1.0)  # for the reader
                milliseconds = 1000 * np.array(reader.latencies)
                for q in (50, 99):
                    figure = float(np.percentile(milliseconds, q))
                    record(f"{trigger} at {size.rate:,} changes/s, p{q}", "ms", figure)
        reader.close()


def _recovery(size: Size, directory: Path, progress: Progress, record: Record) -> None:
    total = size.recovered
    rows = total // 100, total // 10, total - total // 10 - total // 100
    with _bench(rows, directory, IVM_CHECKPOINT_SECONDS="5") as bench:
        reader = bench.put_view("revenue", REVENUE)
        _stock(bench, rows, progress)
        _await_checkpoint(bench, progress)
        bench.order(f"more {size.tail}", size.tail)
        bench.await_fed()
        _follow(bench, progress, "changing what no checkpoint holds")
        bench.service.kill()
        started = time.monotonic()
        bench.service.start()
        bench.service.wait_ready()
        record(f"recovery of {total:,} rows", "s", time.monotonic() - started)
        _follow(bench, progress, "going on")
        reader.close()


def _await_checkpoint(bench: Bench, progress: Progress) -> None:
    """Until a checkpoint holds everything that is applied."""
    task = progress.add_task("waiting for a checkpoint", total=None)
    while bench.metric("ivm_checkpoint_time") < bench.metric("ivm_time"):
        _alive(bench)
        time.sleep(0.2)
    progress.update(task, total=1, completed=1)
