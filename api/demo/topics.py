"""Writing the input topics, and seeing how far the views have come."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from api.demo.generate import Change
from api.demo.tables import TABLES
from connectors.files.reader import TopicReader
from connectors.files.writer import TopicWriter

Offsets = Mapping[str, Mapping[str, int]]


class Inputs:
    """The demo's input topics, one partition each; `written` counts the records of each."""

    def __init__(self, root: Path) -> None:
        self._writers = {table: TopicWriter(root, table) for table in TABLES}
        self.written: Counter[str] = Counter()

    def append(self, changes: Iterable[Change], ts_ms: int) -> None:
        """Append these changes as of `ts_ms`."""
        lines: dict[str, list[bytes]] = {}
        for change in changes:
            lines.setdefault(change.table, []).append(change.line(ts_ms))
        self.append_lines(lines)

    def append_lines(self, lines: Mapping[str, list[bytes]]) -> None:
        """Append records, by table."""
        for table, records in lines.items():
            self._writers[table].append(records)
            self.written[table] += len(records)

    @property
    def total(self) -> int:
        """Records written to all topics."""
        return self.written.total()


class Progress:
    """Follows the frontier records of one view's delta topic."""

    def __init__(self, root: Path, view: str) -> None:
        self._reader = TopicReader(root, f"deltas.{view}")
        self._position = 0
        self.covered: dict[str, int] = {}

    def refresh(self) -> int:
        """Read what is new; returns how many input records are reflected."""
        while lines := self._reader.read(0, self._position, 10_000):
            self._position += len(lines)
            for line in lines:
                if line.startswith(b'{"frontier"'):
                    self._cover(orjson.loads(line)["offsets"])
        return sum(self.covered.values())

    def _cover(self, offsets: Offsets) -> None:
        for table, partitions in offsets.items():
            self.covered[table] = partitions.get("0", 0)


def wait_until(
    progress: Progress,
    enough: int,
    alive: Callable[[], bool],
    show: Callable[[int], None],
    seconds: float = 180,
) -> float:
    """Follow `progress` until `enough` records are reflected; returns the time.monotonic() of that.

    Raises TimeoutError, also when the service has ended.
    """
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while (seen := progress.refresh()) < enough:
        show(seen)
        if not alive() or time.monotonic() > deadline:
            raise TimeoutError(f"{seen} of {enough} records are reflected, and no more come")
        pause.wait(0.01)
    show(seen)
    return time.monotonic()


def paced(
    inputs: Inputs,
    changes: list[Change],
    rate: int,
    progress: Progress,
    show: Callable[[int], None],
) -> NDArray[np.float64]:
    """Append `changes` at `rate` per second; the latency in seconds of each, append to delta.

    A record's latency ends when a frontier record that covers it can be read from the delta topic.
    """
    sent: list[tuple[str, int, int, float]] = []  # table, end offset, records, when
    done = threading.Event()
    thread = threading.Thread(target=_send, args=(inputs, changes, rate, sent, done))
    thread.start()
    latencies: list[NDArray[np.float64]] = []
    pause, seen = threading.Event(), 0
    deadline = time.monotonic() + len(changes) / rate + 60
    while not (done.is_set() and seen == len(sent)):
        if time.monotonic() > deadline:
            raise TimeoutError("the views do not keep up with the paced changes")
        show(progress.refresh())
        now = time.monotonic()
        while seen < len(sent) and progress.covered.get(sent[seen][0], 0) >= sent[seen][1]:
            _, _, count, when = sent[seen]
            latencies.append(np.full(count, now - when))
            seen += 1
        pause.wait(0.005)
    thread.join()
    return np.concatenate(latencies)


def _send(
    inputs: Inputs,
    changes: list[Change],
    rate: int,
    sent: list[tuple[str, int, int, float]],
    done: threading.Event,
) -> None:
    """Append in small groups, each when it is due."""
    group = max(rate // 100, 1)
    pause = threading.Event()
    began = time.monotonic()
    for first in range(0, len(changes), group):
        due = began + first / rate
        pause.wait(max(due - time.monotonic(), 0))
        before = Counter(inputs.written)
        inputs.append(changes[first : first + group], time.time_ns() // 1_000_000)
        when = time.monotonic()
        for table, end in inputs.written.items():
            if end > before[table]:
                sent.append((table, end, end - before[table], when))
    done.set()
