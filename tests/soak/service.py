"""Run the whole service under a steady load for long, and see that nothing of it grows.

    python -m tests.soak.service [--minutes 60] [--rate 50000] [--keys 100000] [--page FILE]

Accounts change in a Kafka topic, as many of them as before at all times. One view of them goes out
on a Kafka topic, one on a file topic; both have retention, as a service that runs for months has.
Memory of the service, of its JVM and of Spark's workers is sampled, the bytes of the data
directory, and how many changes the service is behind. Over the second half of the run a line fitted
to each must not rise by more than `RISES` of its level, and the service must keep up. Exits with 1
otherwise.
"""

import json
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Annotated

import matplotlib.pyplot as plt
import numpy as np
import typer
from confluent_kafka import Producer
from rich.console import Console
from rich.progress import BarColumn, Progress, TimeRemainingColumn
from rich.table import Table

from api.demo.ports import free_ports
from api.demo.service import Service, descendants
from benchmarks.bounds import Machine, machine
from benchmarks.report import save
from ivm_client.service import ServiceClient
from tests.kafka.broker import Broker
from tests.soak.trend import rise

TOPIC = "accounts"
PER_CUSTOMER = 10
SAMPLES = 240
# By which part of its level each figure may rise over the second half.
RISES = {"service": 0.05, "jvm": 0.05, "workers": 0.05, "files": 0.10}
# The service may be so many seconds of changes behind at the end.
BEHIND_SECONDS = 10.0

COLUMNS = {"id": "int64", "customer": "int64", "balance": "decimal128(12, 2)"}
BY_CUSTOMER = "SELECT customer, count(*) AS many, sum(balance) AS total FROM accounts GROUP BY 1"
LARGE = "SELECT id, balance FROM accounts WHERE balance > 9000"

# The broker keeps of each partition what a reader needs who comes back within moments.
KEPT = {"retention.bytes": str(256 << 20), "segment.bytes": str(64 << 20)}
BROKER = {"log.retention.check.interval.ms": "10000"}
# Of file topics likewise; a checkpoint is what they are cut to.
SETTINGS = {
    "IVM_CHECKPOINT_SECONDS": "60",
    "IVM_DELTA_RETENTION_BYTES": str(128 << 20),
    "IVM_DELTA_SEGMENT_BYTES": str(32 << 20),
}


class Feeder:
    """Appends changes of accounts at a rate, on a thread of its own, until it is stopped."""

    def __init__(self, address: str, keys: int, rate: int) -> None:
        options = {"bootstrap.servers": address, "linger.ms": 20, "compression.type": "lz4"}
        self._producer = Producer(options)
        self._changes = cycle(list(changes(keys)))
        self._rate = rate
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feeder", daemon=True)
        self.sent = 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Append no more; all that was appended is acknowledged then."""
        self._stopped.set()
        self._thread.join()
        self._producer.flush()
        self._producer.close()

    def _run(self) -> None:
        started = time.monotonic()
        while not self._stopped.wait(0.02):
            due = int((time.monotonic() - started) * self._rate) - self.sent
            for _ in range(due):
                key, value = next(self._changes)
                while True:
                    try:
                        self._producer.produce(TOPIC, value, key)
                        break
                    except BufferError:
                        self._producer.poll(0.1)
            self.sent += due
            self._producer.poll(0)


def changes(keys: int) -> Iterator[tuple[bytes, bytes]]:
    """Some changes for each key in turn, each time to another balance: the record's key, value."""
    random = np.random.default_rng(1)
    for _ in range(5):
        for key in random.permutation(keys).tolist():
            cents = int(random.integers(1_000_000))
            row = (key, key // PER_CUSTOMER, cents // 100, cents % 100)
            after = b'{"id":%d,"customer":%d,"balance":"%d.%02d"}' % row
            yield b'{"id":%d}' % key, b'{"op":"u","before":null,"after":%b}' % after


class Soak:
    """A broker, a service on it with two views, and a feeder."""

    def __init__(self, directory: Path, broker: Broker, keys: int, rate: int) -> None:
        self._data = directory / "data"
        self._data.mkdir()
        connections = {"main": {"bootstrap_servers": broker.address}}
        settings = {"IVM_CONNECTIONS": json.dumps(connections), **SETTINGS}
        self._service = Service(self._data, free_ports(1)[0], settings)
        self._client = ServiceClient(self._service.url)
        self._feeder = Feeder(broker.address, keys, rate)

    def start(self) -> None:
        """Let changes come (raises DemoFailed)."""
        self._service.start()
        self._service.wait_ready()
        columns = [{"name": n, "type": t, "nullable": False} for n, t in COLUMNS.items()]
        source = {"connector": "kafka", "connection": "main", "columns": columns, "key": ["id"]}
        self._client.put(f"/v1/sources/{TOPIC}", source)
        sink = {"connector": "kafka", "connection": "main", "topic": "totals", "config": KEPT}
        self._client.put("/v1/views/totals", {"query": BY_CUSTOMER, "sink": sink})
        self._client.put("/v1/views/large", {"query": LARGE})
        self._feeder.start()

    def sample(self) -> dict[str, float]:
        """Bytes in memory by kind of process and in files, and the changes that are behind."""
        found = {"service": 0.0, "jvm": 0.0, "workers": 0.0}
        for pid in descendants(self._service.pid):
            kind, held = held_by(pid, self._service.pid)
            found[kind] += held
        files = [path for path in self._data.rglob("*") if path.is_file()]
        found["files"] = float(sum(map(size, files)))
        offsets = self._client.get(f"/v1/sources/{TOPIC}")["offsets"]
        found["behind"] = float(self._feeder.sent - sum(offsets.values()))
        return found

    def stop(self) -> None:
        """Stop feeder and service."""
        self._feeder.stop()
        self._client.close()
        self._service.stop()


def held_by(pid: int, service: int) -> tuple[str, float]:
    """The kind of a process, and the bytes that it alone holds and its share of others."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return "workers", 0.0
    kind = "service" if pid == service else "jvm" if b"java" in command[0] else "workers"
    held = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kind, float(held << 10)


def size(path: Path) -> int:
    """The bytes of a file, none if it has gone."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def run(
    minutes: float, rate: int, keys: int, samples: int, console: Console
) -> dict[str, list[float]]:
    """The figures by name, at `samples` moments of a run (raises DemoFailed)."""
    figures: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="ivm-soak-") as made:
        directory = Path(made)
        with Broker.started(directory / "broker", settings=BROKER) as broker:
            broker.create_topic(TOPIC, 2, KEPT)
            soak = Soak(directory, broker, keys, rate)
            try:
                soak.start()
                bar = Progress(BarColumn(), TimeRemainingColumn(), console=console)
                with bar:
                    for _ in bar.track(range(samples)):
                        time.sleep(minutes * 60 / samples)  # the load's own time
                        for name, figure in soak.sample().items():
                            figures.setdefault(name, []).append(figure)
            finally:
                soak.stop()
    return figures


def failures(figures: dict[str, list[float]], rate: int) -> list[str]:
    """A line for each figure that rises too much, and for a service that does not keep up."""
    found = [
        f"{name} rises by {rise(figures[name]):.1%}, {most:.0%} is allowed"
        for name, most in RISES.items()
        if rise(figures[name]) > most
    ]
    behind = float(np.median(figures["behind"][-5:]))
    if behind > BEHIND_SECONDS * rate:
        found.append(f"the service is {behind:,.0f} changes behind at the end")
    return found


def draw(figures: dict[str, list[float]], minutes: float, path: Path) -> None:
    """Draw the figures over time."""
    figure, axes = plt.subplots(3, 1, figsize=(7, 8), sharex=True)
    at = np.linspace(minutes / len(figures["files"]), minutes, len(figures["files"]))
    for name in ("service", "jvm", "workers"):
        axes[0].plot(at, np.array(figures[name]) / 2**20, label=name)
    axes[0].set(ylabel="memory, MiB", ylim=(0, None))
    axes[0].legend()
    axes[1].plot(at, np.array(figures["files"]) / 2**20)
    axes[1].set(ylabel="data directory, MiB", ylim=(0, None))
    axes[2].plot(at, figures["behind"])
    axes[2].set(ylabel="changes behind", xlabel="minutes", ylim=(0, None))
    for axis in axes:
        axis.grid(alpha=0.3)
    save(figure, path)


def page(figures: dict[str, list[float]], minutes: float, rate: int, keys: int, on: Machine) -> str:
    """The figures as Markdown."""
    rows = [f"| {' | '.join(row)} |" for row in shown(figures)]
    lines = [
        "# The service under a steady load",
        "",
        f"{rate:,} changes a second of {keys:,} keys for {minutes:g} minutes, measured on {on}.",
        "Memory is the sum of what processes hold alone and their share of what they hold together;"
        " `rise` is that of a fitted line over the second half, as a part of its level.",
        "",
        "`python -m tests.soak.service --page benchmarks/soak.md` makes this page.",
        "",
        "| figure | first | middle | last | rise | allowed |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *rows,
        "",
        "![Memory, files and changes behind over time](soak.svg)",
    ]
    return "\n".join(lines) + "\n"


def shown(figures: dict[str, list[float]]) -> Iterator[list[str]]:
    """A row of text for each figure."""
    for name, figure in figures.items():
        values = [figure[0], figure[len(figure) // 2], figure[-1]]
        if name in RISES:
            texts = [f"{value / 2**20:,.0f} MiB" for value in values]
            yield [name, *texts, f"{rise(figure):+.1%}", f"{RISES[name]:+.0%}"]
        else:
            yield [name, *(f"{value:,.0f}" for value in values), "", ""]


def main(
    minutes: Annotated[float, typer.Option(min=0.1)] = 60.0,
    rate: Annotated[int, typer.Option(min=1)] = 50_000,
    keys: Annotated[int, typer.Option(min=PER_CUSTOMER)] = 100_000,
    page_file: Annotated[Path | None, typer.Option("--page")] = None,
) -> None:
    """Run, print the figures, and exit with 1 where something is not as it should be."""
    console = Console()
    figures = run(minutes, rate, keys, SAMPLES, console)
    table = Table("figure", "first", "middle", "last", "rise", "allowed")
    for row in shown(figures):
        table.add_row(*row)
    console.print(table)
    if page_file is not None:
        draw(figures, minutes, page_file.with_suffix(".svg"))
        page_file.write_text(page(figures, minutes, rate, keys, machine(None, [])))
    if found := failures(figures, rate):
        console.print("\n".join(found))
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
