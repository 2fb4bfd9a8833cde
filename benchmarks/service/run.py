"""The story of `python -m benchmarks service`: what a service's users wait for, and what it costs.

One service on file topics, with the tables of `bank`: look-ups while nothing, something and as much
as possible changes; queries; a replacement; feeds; and what it takes when nobody asks. Then two
services, one with keys and grants, in turn.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import httpx
import numpy as np
from rich.console import Console

from api.demo.ports import free_ports
from api.demo.service import DemoFailed, Service
from api.security.keyring import add_key
from api.security.keys import ApiKey, create_secret, hashed, written
from api.security.principal import Role
from benchmarks.comparison import Result
from benchmarks.errors import BenchmarkError
from benchmarks.pipeline.processes import spent
from benchmarks.service.bank import (
    ACCOUNTS,
    BALANCES,
    BY_CUSTOMER,
    BY_KEY,
    CUSTOMERS,
    JOINED,
    OTHERWISE,
    PER_CUSTOMER,
    TABLES,
    customers,
    declaration,
    opened,
    renamed,
)
from benchmarks.service.feeds import Feeds
from connectors.files.writer import TopicWriter
from ivm_client.service import ServiceClient

RATE = 20_000
"""Changes a second, where they are not as many as can be."""
CONNECTIONS = 4
TURNS = 5
"""How often the services with and without keys are asked, in turn."""

_POLL_SECONDS = 0.1
_PATIENCE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Size:
    """Rows, and how long or how much each phase takes."""

    accounts: int
    seconds: int
    queries: int
    feeds: int
    changes: int
    views: int


SIZES = {
    "tiny": Size(2_000, 2, 20, 10, 50, 5),
    "small": Size(100_000, 10, 200, 200, 1_000, 200),
    "full": Size(1_000_000, 30, 500, 200, 1_000, 200),
}


@dataclass(slots=True)
class Figures:
    """The results so far, and the milliseconds of each look-up by what went on meanwhile.

    `load` is the machine's load average before.
    """

    scale: str
    console: Console
    load: float
    results: list[Result] = field(default_factory=list)
    taken: dict[str, list[float]] = field(default_factory=dict)

    def record(self, case: str, unit: str, figure: float) -> None:
        """Add a figure, and show it."""
        result = Result("service", case, self.scale, 1, unit, figure, None, None, None, 0)
        self.results.append(result)
        self.console.print(f"{case}: {figure:,.3g} {unit}", highlight=False)


class Bank:
    """A service with the tables and views of `bank`."""

    def __init__(self, directory: Path, size: Size, **settings: str) -> None:
        self.size = size
        self.port = free_ports(1)[0]
        self.topics = directory / "topics"
        self.service = Service(directory, self.port, settings)
        self.api_key = ""
        self.client = ServiceClient(self.service.url)

    def use(self, api_key: str) -> None:
        """Send a key with each request."""
        self.api_key = api_key
        self.client = ServiceClient(self.service.url, key=api_key)

    def start(self) -> float:
        """Start the service: the seconds until it is ready (raises BenchmarkError)."""
        started = time.monotonic()
        self.service.start()
        try:
            self.service.wait_ready()
        except DemoFailed as error:
            raise BenchmarkError(str(error)) from error
        return time.monotonic() - started

    def open(self) -> None:
        """Declare tables and views, and fill them."""
        for table in TABLES:
            self.client.put(f"/v1/sources/{table}", declaration(table))
        for name, query in (("balances", BALANCES), ("by_customer", BY_CUSTOMER)):
            self.client.put(f"/v1/views/{name}", {"query": query})
        self.append(CUSTOMERS, customers(self.size.accounts))
        self.append(ACCOUNTS, opened(self.size.accounts))

    def append(self, table: str, records: list[bytes]) -> None:
        """Append records to a topic that nothing else writes now, and wait until all are read."""
        writer = TopicWriter(self.topics, table)
        writer.append(records)
        end = writer.end
        writer.close()
        self.wait(lambda: self.applied(table) >= end)

    def applied(self, table: str) -> int:
        """How many records of a table are reflected."""
        return int(self.client.get(f"/v1/sources/{table}")["offsets"].get("0", 0))

    def wait(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so (raises BenchmarkError)."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not is_so():
            if not self.service.is_running or time.monotonic() > deadline:
                raise BenchmarkError(f"the service does not go on:\n{self.service.tail()}")
            time.sleep(_POLL_SECONDS)

    @contextmanager
    def feeding(self, rate: int) -> Iterator[None]:
        """Let accounts change meanwhile, at a rate or (0) as fast as the service takes it."""
        command = [sys.executable, "-m", "benchmarks.service.feeder", str(self.topics)]
        arguments = [self.service.url, str(self.size.accounts), str(rate)]
        feeder = subprocess.Popen([*command, *arguments])
        try:
            yield
        finally:
            feeder.kill()
            feeder.wait()

    def ask(self, seconds: int) -> list[float]:
        """The milliseconds of look-ups for so long."""
        arguments = [str(n) for n in (self.port, CONNECTIONS, seconds, self.size.accounts)]
        command = [sys.executable, "-m", "benchmarks.service.asker", *arguments]
        command += [self.api_key] if self.api_key else []
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        taken: list[float] = json.loads(done.stdout)
        return taken

    def own_seconds(self) -> float:
        """Processor seconds of the service's own process so far."""
        return spent(self.service.pid).service

    def close(self) -> None:
        """Stop the service."""
        self.client.close()
        self.service.stop()


@contextmanager
def _bank(directory: Path, size: Size, **settings: str) -> Iterator[Bank]:
    directory.mkdir()
    bank = Bank(directory, size, **settings)
    try:
        yield bank
    finally:
        bank.close()


def run_service(scale: str, console: Console) -> Figures:
    """All phases (raises BenchmarkError)."""
    if scale not in SIZES:
        raise BenchmarkError(f"service has no scale {scale!r}, but {', '.join(SIZES)}")
    size, found = SIZES[scale], Figures(scale, console, os.getloadavg()[0])
    with tempfile.TemporaryDirectory(prefix="ivm-bench-") as directory:
        followers = {"IVM_MAX_FOLLOWERS_PER_CLIENT": str(size.feeds)}
        with _bank(Path(directory, "one"), size, **followers) as bank:
            found.record("start to ready", "s", bank.start())
            _console(bank, found)
            bank.open()
            for phase in (_look_ups, _queries, _replacement, _feeds, _idle):
                phase(bank, found)
        _guarded(Path(directory), found)
    return found


def _console(bank: Bank, found: Figures) -> None:
    for case in ("first console page", "console page"):
        started = time.monotonic()
        httpx.get(f"{bank.service.url}/console/", timeout=60).raise_for_status()
        found.record(case, "s", time.monotonic() - started)


def _look_ups(bank: Bank, found: Figures) -> None:
    bank.ask(1)  # once for what is made at the first look
    before = bank.own_seconds()
    _asked(bank, found, "idle")
    each = (bank.own_seconds() - before) / len(found.taken["idle"])
    found.record("look-ups on one core, idle", "1/s", 1 / each)
    for meanwhile, rate in ((f"{RATE:,} changes/s", RATE), ("full speed", 0)):
        with bank.feeding(rate):
            bank.ask(bank.size.seconds)  # until changes go at their pace
            first, started = bank.applied(ACCOUNTS), time.monotonic()
            _asked(bank, found, meanwhile)
            applied, seconds = bank.applied(ACCOUNTS) - first, time.monotonic() - started
        found.record(f"changes, {meanwhile}", "1/s", applied / seconds)
        bank.append(ACCOUNTS, [])


def _asked(bank: Bank, found: Figures, meanwhile: str) -> None:
    taken = bank.ask(bank.size.seconds)
    found.taken[meanwhile] = taken
    found.record(f"look-ups, {meanwhile}", "1/s", len(taken) / bank.size.seconds)
    for q in (50, 99):
        found.record(f"look-up, {meanwhile}, p{q}", "ms", float(np.percentile(taken, q)))


def _queries(bank: Bank, found: Figures) -> None:
    accounts = bank.size.accounts
    cases: dict[str, Callable[[int], str]] = {
        "query by key": lambda n: BY_KEY.format(key=n * 37 % accounts),
        "query asked again": lambda n: BY_KEY.format(key=1),
        "query that joins": lambda n: JOINED.format(key=n * 37 % (accounts // PER_CUSTOMER)),
    }
    for case, query in cases.items():
        taken = []
        for n in range(bank.size.queries):
            started = time.perf_counter()
            rows = bank.client.post("/v1/query", {"query": query(n)})["rows"]
            taken.append(1_000 * (time.perf_counter() - started))
            if len(rows) != 1:
                raise BenchmarkError(f"{query(n)} answers {rows}")
        for q in (50, 99):
            found.record(f"{case}, p{q}", "ms", float(np.percentile(taken, q)))


def _replacement(bank: Bank, found: Figures) -> None:
    view = "/v1/views/balances"
    bank.client.put(view, {"query": OTHERWISE, "replace": True})
    bank.wait(lambda: bank.client.get(f"{view}/replacement")["status"] != "hydrating")
    preview = bank.client.get(f"{view}/replacement")
    started = time.perf_counter()
    bank.client.post(f"{view}/approve", {"version": preview["version"]})
    found.record(
        f"switch of a replacement over {bank.size.accounts:,} rows",
        "ms",
        1_000 * (time.perf_counter() - started),
    )


def _feeds(bank: Bank, found: Figures) -> None:
    query = "SELECT id, name FROM customers"
    bank.client.put("/v1/views/names", {"query": query})
    expected = 2 * bank.size.changes  # one that takes the former row back, and one of the new one
    with Feeds(bank.port, "names", bank.size.feeds) as feeds:
        gauge = f"\nivm_followers {float(bank.size.feeds)}"
        bank.wait(lambda: gauge in bank.client.text("/metrics"))
        started = time.monotonic()
        bank.append(CUSTOMERS, renamed(bank.size.changes))
        counts = feeds.counted(expected, _PATIENCE_SECONDS)
        seconds = time.monotonic() - started
    found.record(
        f"deltas missing of {bank.size.feeds} feeds", "", expected * len(counts) - sum(counts)
    )
    found.record(f"deltas to {bank.size.feeds} feeds", "1/s", sum(counts) / seconds)


def _idle(bank: Bank, found: Figures) -> None:
    for n in range(bank.size.views):
        query = f"SELECT id, length(name) + {n} AS long FROM customers WHERE id < 1000"
        bank.client.put(f"/v1/views/view_{n}", {"query": query})
    before = spent(bank.service.pid)
    time.sleep(bank.size.seconds)
    after = spent(bank.service.pid)
    for kind in ("service", "jvm"):
        share = (getattr(after, kind) - getattr(before, kind)) / bank.size.seconds
        found.record(f"idle with {bank.size.views} views, {kind}", "% of a core", 100 * share)


def _guarded(directory: Path, found: Figures) -> None:
    """Two services with few rows, of which one asks for keys, in turn."""
    size = SIZES["tiny"]
    with (
        _bank(directory / "open", size) as without,
        _bank(directory / "keys", size, IVM_ACCESS="keys") as guarded,
    ):
        guarded.use(_key(guarded, Role.admin))
        for bank in (without, guarded):
            bank.start()
            bank.open()
        guarded.api_key = _key(guarded, Role.read, "cust*", "bal*")
        time.sleep(1)  # within which it is taken up
        ratios = []
        for turn in range(TURNS):
            banks = [without, guarded][:: 1 if turn % 2 else -1]
            p99 = {bank: float(np.percentile(bank.ask(size.seconds), 99)) for bank in banks}
            ratios.append(p99[guarded] / p99[without])
    found.record("p99 with keys and grants, over that without", "ratio", median(ratios))


def _key(bank: Bank, role: Role, *grants: str) -> str:
    """Make a key of a service, and return it."""
    named, secret = create_secret()
    key = ApiKey(
        id=named,
        hash=hashed(secret),
        name="bench",
        role=role,
        grants=grants or None,
        created=datetime.now(UTC),
    )
    add_key(bank.service.log.parent / "keys.json", key)
    return written(named, secret)
