"""The demonstration's steps: start, load, move the window at a pace, verify."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import SystemRandom

import orjson
from rich.console import Console
from rich.live import Live

from api.demo.answers import answers
from api.demo.ports import free_ports
from api.demo.service import DemoFailed, Service
from api.mentions.board import Board
from api.mentions.course import course
from api.mentions.judge import Judge
from api.mentions.report import Report
from api.mentions.screen import Screen
from api.mentions.stream import Mention, Stream
from api.mentions.views import COMPONENTS, MENTIONS, SOURCES, TOPICS, VIEWS, WINDOW
from connectors.files.writer import TopicWriter
from ivm_client.service import ServiceClient

PHASE_SECONDS = 600.0
POLL_SECONDS = 0.01
FRAMES = 8  # a second
CUTS = 4


class Demonstration:
    """One run over a stream, on a data directory of its own.

    The window is `width` seconds wide and takes `steps` steps, `pace` in a second.
    """

    def __init__(
        self, stream: Stream, width: int, steps: int, pace: float, data: Path, console: Console
    ) -> None:
        self._stream = stream
        self._width = width
        self._console = console
        self._data = data / "topics"
        self._service = Service(data, free_ports(1)[0])
        self._client = ServiceClient(self._service.url)
        self._writers = {topic: TopicWriter(self._data, topic) for topic in SOURCES}
        self._board = Board(self._data)
        self._screen = Screen(self._board, stream.name)
        self._head = stream.first - 1  # mentions up to this second are in the topic
        self._window = range(0)
        self.report = Report(window=width, steps=steps, pace=pace)

    def run(self) -> Report:
        """Run all steps and return their figures."""
        started = time.monotonic()
        try:
            self._run()
        finally:
            self._client.close()
            self._service.stop()
            for writer in self._writers.values():
                writer.close()
        self.report.peak_memory = self._service.memory.bytes
        self.report.seconds = time.monotonic() - started
        return self.report

    def _run(self) -> None:
        self._service.start()
        self._service.memory.start()
        self._say("starting the service, and Spark in it")
        self._service.wait_ready()
        for name, source in SOURCES.items():
            self._client.put(f"/v1/sources/{name}", source)
        for name, view in VIEWS.items():
            self._client.put(f"/v1/views/{name}", view)
        start = self._stream.first + self._width - 1
        self._load(start)
        with Live(self._screen, console=self._console, refresh_per_second=FRAMES):
            self._move(start)
        if not self._console.is_terminal:
            self._console.line()
        self._measure()
        self._verify()

    def _load(self, last: int) -> None:
        """Put the first window in, and wait for its components."""
        self._say(f"loading {len(self._stream.between(self._stream.first, last)):,} mentions")
        self._step(last, time.monotonic())
        self._await()
        self.report.load_seconds = self._board.latencies.pop()

    def _move(self, start: int) -> None:
        """Take the steps at the pace, each at the moment at which it is due."""
        began, before = time.monotonic(), start
        for number, last in enumerate(course(start, self._stream.last, self.report.steps)):
            due = began + number / self.report.pace
            while (left := due - time.monotonic()) > 0:
                time.sleep(min(left, POLL_SECONDS))
                self._board.refresh()
            self._screen.arrow = "→" if last > before else "←"
            self._step(last, due)
            self.report.most_lag = max(self.report.most_lag, self._board.lag)
            before = last
        self._await()

    def _step(self, last: int, due: float) -> None:
        """Append the mentions that are new, and what leads to the window that ends with `last`."""
        if last > self._head:
            new = self._stream.between(self._head + 1, last)
            self._writers[MENTIONS].append([*map(orjson.dumps, new)])
            self._head = last
        before, after = self._window, range(last - self._width + 1, last + 1)
        changes = [_moment(second, True) for second in before if second not in after]
        changes += [_moment(second, False) for second in after if second not in before]
        self._writers[WINDOW].append(changes)
        self._window = self._screen.window = after
        self._board.step(due, self._ends())

    def _await(self) -> None:
        """Fold the delta topic until it reflects every step (raises DemoFailed)."""
        deadline = time.monotonic() + PHASE_SECONDS
        while self._board.lag:
            if time.monotonic() > deadline or not self._service.is_running:
                raise DemoFailed(f"the window was not reflected:\n{self._service.tail()}")
            time.sleep(POLL_SECONDS)
            self._board.refresh()

    def _measure(self) -> None:
        report, board = self.report, self._board
        report.mentions = board.mentions
        report.users = len({user for m in self._reflected() for user in (m.author, m.mentioned)})
        report.latency_p50, report.latency_p99 = board.quantile(0.5), board.quantile(0.99)
        report.components, report.deltas = board.components, board.deltas
        report.largest = max((members for _, members, *_ in board.largest(1)), default=0)

    def _reflected(self) -> Sequence[Mention]:
        return self._stream.between(self._stream.first, self._head)

    def _verify(self) -> None:
        self._say("verifying with networkx at random cuts")
        judge = Judge(self._data, SystemRandom())
        self.report.cuts = [*judge.verdicts(CUTS)]
        _, _, components, topics = judge.expected(self._ends())
        for view, expected in ((COMPONENTS, components), (TOPICS, topics)):
            answered = [tuple(row.values()) for row in answers(self._client, view)]
            if len(answered) != expected.total() or set(answered) != set(expected):
                self.report.faults.append(f"{view}: the answers are not what they must be")

    def _ends(self) -> dict[str, int]:
        return {topic: writer.end for topic, writer in self._writers.items()}

    def _say(self, text: str) -> None:
        self._console.print(f"[bold]·[/] {text}")


def _moment(second: int, is_deleted: bool) -> bytes:
    """The record that takes a second out of the window, or puts it in."""
    return orjson.dumps({"second": second, "__deleted": str(is_deleted).lower()})


def run_mentions(stream: Stream, width: int, steps: int, pace: float, console: Console) -> Report:
    """Run the demonstration in a temporary directory and show its tables."""
    with tempfile.TemporaryDirectory(prefix="ivm-mentions-") as directory:
        data = Path(directory)
        report = Demonstration(stream, width, steps, pace, data, console).run()
    report.show(console)
    return report
