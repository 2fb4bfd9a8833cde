"""The demo's course: generate, register, load, add a view, kill, restart, pace, look up, verify."""

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bar

from api.demo.generate import Change, Shop
from api.demo.queries import FIFTH, VIEWS, DemoView
from api.demo.report import Report, ViewResult
from api.demo.service import Service
from api.demo.tables import TABLES, source
from api.demo.topics import Inputs, Progress, paced, wait_until
from api.demo.verify import Judge, fold

PACED_RATE = 10_000
PACED_SHARE = 0.25  # of the changes, at most `PACED_SECONDS` worth of them
PACED_SECONDS = 15
LOOKUPS = 500


def run(changes: int, console: Console) -> Report:
    """Run the demo with about `changes` changes (raises ServiceFailed, TimeoutError)."""
    with tempfile.TemporaryDirectory(prefix="ivm-demo-") as directory:
        data, topics = Path(directory), Path(directory, "topics")
        bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
        )
        with bar, Service(data, topics) as service:
            return Demo(changes, service, Inputs(topics), bar).run()


class Demo:
    """One run; its steps are in the order of `run`."""

    def __init__(self, changes: int, service: Service, inputs: Inputs, bar: Bar) -> None:
        self._service = service
        self._inputs = inputs
        self._bar = bar
        self._progress = Progress(service.topics, VIEWS[0].name)
        self.report = Report(changes=changes, paced_rate=PACED_RATE)

    def run(self) -> Report:
        """All steps; the report is complete when they are through."""
        slow_count = min(int(self.report.changes * PACED_SHARE), PACED_RATE * PACED_SECONDS)
        fast, slow = self._generate(self.report.changes - slow_count, slow_count)
        self._start()
        half = len(fast) * 6 // 10
        self._load(fast[:half])
        self._load_through_a_kill(fast[half:])
        self._pace(slow)
        self._look_up()
        self.report.arrangements = self._service.get("/v1/arrangements")["arrangements"]
        self._verify()
        self.report.peak_bytes = self._service.peak_bytes
        return self.report

    def _task(self, title: str, total: int) -> Callable[[int], None]:
        task = self._bar.add_task(title, total=total)
        return lambda done: self._bar.update(task, completed=min(done, total))

    def _generate(self, fast: int, slow: int) -> tuple[list[Change], list[Change]]:
        show = self._task("generate changes", fast + slow)
        made: list[Change] = []
        for change in Shop().changes(fast + slow):
            made.append(change)
            if len(made) % 4096 == 0:
                show(len(made))
        show(len(made))
        return made[:fast], made[fast:]

    def _start(self) -> None:
        show = self._task("start the service, register tables and views", 1 + len(TABLES) + 4)
        self.report.start_seconds = self._service.start()
        show(1)
        for done, table in enumerate(TABLES, 2):
            self._service.put(f"/v1/sources/{table}", source(table))
            show(done)
        for done, view in enumerate(VIEWS, 2 + len(TABLES)):
            self._register(view)
            show(done)

    def _register(self, view: DemoView) -> Any:
        body = {"query": view.query, "language": "sql", "key": list(view.key)}
        return self._service.put(f"/v1/views/{view.name}", body)

    def _load(self, changes: list[Change]) -> None:
        """As fast as it goes, with the fifth view added on the way; measures the rate."""
        now = time.time_ns() // 1_000_000
        lines: dict[str, list[bytes]] = {}
        for change in changes:
            lines.setdefault(change.table, []).append(change.line(now))
        show = self._task("load, and add a fifth view", len(changes))
        began = time.monotonic()
        self._inputs.append_lines(lines)
        wait_until(self._progress, len(changes) // 3, self._service.is_running, show)
        asked = time.perf_counter()
        installed = self._register(FIFTH)["installed"]
        self.report.fifth_view_ms = (time.perf_counter() - asked) * 1000
        self.report.fifth_view_reused = installed["reused"]
        ended = wait_until(self._progress, len(changes), self._service.is_running, show)
        self.report.changes_per_second = len(changes) / (ended - began)

    def _load_through_a_kill(self, changes: list[Change]) -> None:
        """SIGKILL once a third of `changes` is reflected, then restart and go on to the end."""
        before = self._inputs.total
        end = before + len(changes)
        show = self._task("load, SIGKILL, restart, replay, load on", end)
        size = max(len(changes) // 8, 1)
        for first in range(0, len(changes), size):
            self._inputs.append(changes[first : first + size], time.time_ns() // 1_000_000)
            if self._inputs.total - before > len(changes) // 3 and not self.report.restart_seconds:
                wait_until(self._progress, before + 1, self._service.is_running, show)
                self._service.kill()
                self.report.restart_seconds = self._service.start()
        wait_until(self._progress, end, self._service.is_running, show)

    def _pace(self, changes: list[Change]) -> None:
        before = self._inputs.total
        show = self._task(f"{PACED_RATE:,} changes/s", len(changes))
        latencies = paced(
            self._inputs,
            changes,
            PACED_RATE,
            self._progress,
            lambda done: show(done - before),
        )
        self.report.p50_ms, self.report.p99_ms = (
            float(q) for q in np.quantile(latencies, [0.5, 0.99]) * 1000
        )

    def _look_up(self) -> None:
        """Point look-ups by key into the view of customers without orders."""
        show = self._task("look up", LOOKUPS)
        draw = random.Random(1)
        took = []
        for done in range(LOOKUPS):
            began = time.perf_counter()
            self._service.get(
                f"/v1/views/customers_without_orders/rows?id={draw.randrange(20_000)}"
            )
            took.append((time.perf_counter() - began) * 1000)
            show(done + 1)
        self.report.lookup_p50_ms, self.report.lookup_p99_ms = (
            float(q) for q in np.quantile(took, [0.5, 0.99])
        )

    def _verify(self) -> None:
        """Fold each delta topic and compare it with DuckDB at the same offsets."""
        show = self._task("verify with DuckDB", len(VIEWS) + 1)
        for done, view in enumerate((*VIEWS, FIFTH), 1):
            self.report.views.append(self._verified(view))
            show(done)

    def _verified(self, view: DemoView) -> ViewResult:
        seen = fold(self._service.topics, view.name, ())
        judge = Judge(self._service.topics, seen.offsets)
        columns, truth = judge.answer(view)
        folded = fold(self._service.topics, view.name, columns)
        missing, extra = truth - folded.rows, folded.rows - truth
        negative = [row for row, n in folded.rows.items() if n < 0]
        everything = {t: p.get("0", 0) for t, p in folded.offsets.items()}
        behind = everything != dict(self._inputs.written)
        difference = ""
        if missing or extra or negative:
            difference = (
                f"missing {list(missing.items())[:3]}, too many {list(extra.items())[:3]},"
                f" negative {negative[:3]}"
            )
        elif behind:
            difference = f"reflects {everything} of {dict(self._inputs.written)}"
        return ViewResult(
            view.name, view.title, folded.rows.total(), folded.deltas, not difference, difference
        )
