"""The demo's story: start, load, kill, recover, pace, look up, verify."""

import http.client
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from api.demo.changes import Change
from api.demo.ports import free_ports
from api.demo.queries import FIFTH, FIRST_FOUR, REVENUE, SOURCES, DemoView
from api.demo.report import Report
from api.demo.service import DemoFailed, Service
from api.demo.shop import SEGMENTS
from api.demo.topics import Topics
from api.demo.verify import Judge
from api.demo.workload import Workload, make_workload
from connectors.ingest.meter import quantile
from ivm_client.service import ServiceClient

PACED_PER_SECOND = 10_000
PACED_SECONDS = 15
PHASE_SECONDS = 150.0
LOOKUP_PAUSE = 0.01
POLL_SECONDS = 0.1


class Demo:
    """One run on a data directory of its own."""

    def __init__(self, changes: int, data: Path, console: Console) -> None:
        self._changes = changes
        self._console = console
        self._topics_root = data / "topics"
        self._service = Service(data, free_ports(1)[0])
        self._client = ServiceClient(self._service.url)
        self._topics = Topics(self._topics_root)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
        )
        self.report = Report()

    def run(self) -> Report:
        """Tell the story and return its figures."""
        started = time.monotonic()
        try:
            with self._progress:
                self._tell()
        finally:
            self._client.close()
            self._service.stop()
            self._topics.close()
        self.report.peak_memory = self._service.memory.bytes
        self.report.seconds = time.monotonic() - started
        return self.report

    def _tell(self) -> None:
        self._service.start()
        self._service.memory.start()
        self._say("generating changes from a fixed seed")
        paced = min(PACED_SECONDS * PACED_PER_SECOND, self._changes // 3)
        workload = make_workload(self._changes, paced)
        self._say("starting the service, and Spark in it")
        self._service.wait_ready()
        self._register()
        self._load(workload)
        self._kill_amid(workload.killed)
        self._pace(workload.paced)
        self._verify()

    def _register(self) -> None:
        for name, source in SOURCES.items():
            self._client.put(f"/v1/sources/{name}", source)
        for view in FIRST_FOUR:
            self._put_view(view)

    def _load(self, workload: Workload) -> None:
        self._topics.append(workload.stock)
        self._follow("loading customers and products")
        started = time.monotonic()
        self._topics.append(workload.bulk)
        self._follow("changing the shop and the graph")
        self.report.changes_per_second = len(workload.bulk) / (time.monotonic() - started)

    def _kill_amid(self, changes: Sequence[Change]) -> None:
        """Kill the service while it applies `changes`, and start it again."""
        half = len(changes) // 2
        before = self._applied()
        self._topics.append(changes[:half])
        _until(lambda: self._applied() > before, "a batch of the phase with the kill")
        self._topics.append(changes[half:])
        self._service.kill()
        self._say("SIGKILL to the service and its JVM; starting it again")
        started = time.monotonic()
        self._service.start()
        self._service.wait_alive()
        self._follow("catching up")
        self._service.wait_ready()
        self.report.recovery_seconds = time.monotonic() - started

    def _pace(self, changes: Sequence[Change]) -> None:
        """Changes at a steady rate, with a new view and look-ups on the way."""
        self.report.latency_rate = PACED_PER_SECOND
        before = self._latencies()
        writer = threading.Thread(
            target=self._topics.append_at, args=(changes, PACED_PER_SECOND), name="writer"
        )
        self._say(f"{PACED_PER_SECOND:,} changes/s, with look-ups and a fifth view")
        writer.start()
        time.sleep(min(1.0, len(changes) / PACED_PER_SECOND / 2))
        started = time.monotonic()
        installed = self._put_view(FIFTH)
        self.report.fifth_view_ms = (time.monotonic() - started) * 1000
        self.report.fifth_view_created = installed["installed"]["created"]
        self._look_up(writer)
        self._follow("catching up")
        counts = self._latencies() - before
        self.report.latency_p50 = quantile(counts, 0.5)
        self.report.latency_p99 = quantile(counts, 0.99)

    def _look_up(self, writer: threading.Thread) -> None:
        """Point look-ups over one connection until the writer is done."""
        connection = http.client.HTTPConnection(urlsplit(self._service.url).netloc, timeout=30)
        paths = [f"/v1/views/{REVENUE.name}/rows?segment={segment}" for segment in SEGMENTS]
        seconds: list[float] = []
        while writer.is_alive() or len(seconds) < 100:
            started = time.perf_counter()
            connection.request("GET", paths[len(seconds) % len(paths)])
            response = connection.getresponse()
            response.read()
            seconds.append(time.perf_counter() - started)
            if response.status != http.client.OK:
                raise DemoFailed(f"a look-up was answered by {response.status}")
            time.sleep(LOOKUP_PAUSE)
        connection.close()
        self.report.lookup_p50_ms = float(np.quantile(seconds, 0.5)) * 1000
        self.report.lookup_p99_ms = float(np.quantile(seconds, 0.99)) * 1000

    def _verify(self) -> None:
        views = (*FIRST_FOUR, FIFTH)
        self.report.changes = self._topics.ends.total()
        self.report.arrangements = self._client.get("/v1/arrangements")["arrangements"]
        offsets = self._client.get(f"/v1/views/{REVENUE.name}/rows", scan="true")["offsets"]
        task = self._progress.add_task("verifying with DuckDB", total=len(views))
        judge = Judge(self._topics_root, offsets)
        for view in views:
            self.report.views.append(judge.verdict(view, self._client))
            self._progress.advance(task)

    # --- the service ---

    def _follow(self, text: str) -> None:
        """Show progress until every appended record is reflected in the views."""
        total = self._topics.ends.total()
        task = self._progress.add_task(text, total=total)

        def is_reflected() -> bool:
            applied = self._applied()
            self._progress.update(task, completed=applied)
            return applied >= total

        _until(is_reflected, text)

    def _applied(self) -> int:
        """The number of input records that the views reflect."""
        sources = self._client.get("/v1/sources")["sources"]
        return sum(sum(source["offsets"].values()) for source in sources)

    def _latencies(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The service's histogram of record-to-delta latencies, by `BOUNDS`."""
        text = self._client.text("/metrics")
        families = {family.name: family for family in text_string_to_metric_families(text)}
        samples = families["ivm_latency_seconds"].samples
        cumulative = [sample.value for sample in samples if sample.name.endswith("_bucket")]
        return np.diff(np.array(cumulative), prepend=0).astype(np.int64)

    def _put_view(self, view: DemoView) -> Any:
        return self._client.put(f"/v1/views/{view.name}", {"query": view.query})

    def _say(self, text: str) -> None:
        self._progress.console.print(f"[bold]·[/] {text}")


def run_demo(changes: int, console: Console) -> Report:
    """Run the demo in a temporary directory and show its tables."""
    with tempfile.TemporaryDirectory(prefix="ivm-demo-") as directory:
        demo = Demo(changes, Path(directory), console)
        report = demo.run()
    report.show(console)
    return report


def _until(holds: Callable[[], bool], what: str) -> None:
    """Poll until `holds` (raises DemoFailed naming `what` after `PHASE_SECONDS`)."""
    deadline = time.monotonic() + PHASE_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise DemoFailed(f"gave up after {PHASE_SECONDS:g} s: {what}")
        time.sleep(POLL_SECONDS)
