"""The board folds the delta topic of the components as it grows.

A step of the window is some records of the input topics; it is reflected once a frontier record of
the delta topic covers them all. What lies between is the step's latency: Spark, the views, and the
delta topic.
"""

import time
from collections import Counter, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from api.demo.service import DemoFailed
from api.mentions.frontiers import reflected
from api.mentions.views import MENTIONS, TOPICS, WINDOW
from connectors.files.reader import TopicReader

AT_ONCE = 100_000  # records


class Board:
    """The components that the delta topic tells of, and the steps of the window in it."""

    def __init__(self, topics: Path) -> None:
        self._reader = TopicReader(topics, f"deltas.{TOPICS}")
        self._read = 0
        self._rows: Counter[tuple[Any, ...]] = Counter()
        self._steps: deque[tuple[float, Mapping[str, int]]] = deque()
        self._offsets: Mapping[str, int] = {MENTIONS: 0, WINDOW: 0}
        self.latencies: list[float] = []
        self.deltas = 0

    @property
    def lag(self) -> int:
        """The number of steps that were taken and are not reflected yet."""
        return len(self._steps)

    @property
    def mentions(self) -> int:
        """The number of mentions that are reflected."""
        return self._offsets[MENTIONS]

    def step(self, due: float, ends: Mapping[str, int]) -> None:
        """Count a step that was due at `due`, in monotonic seconds; its records end at `ends`."""
        self._steps.append((due, ends))

    def largest(self, count: int) -> list[tuple[int, int, str | None, int | None]]:
        """The largest components: least member, members, top hashtag, its uses."""
        return sorted(self._rows, key=lambda row: (-row[1], row[0]))[:count]

    @property
    def components(self) -> int:
        """The number of components."""
        return len(self._rows)

    def quantile(self, q: float) -> float:
        """The `q`-quantile of the steps' latencies, in seconds; NaN before the first."""
        return float(np.quantile(self.latencies, q)) if self.latencies else float("nan")

    def refresh(self) -> None:
        """Fold what the topic has got since the last call (raises DemoFailed for a row's error)."""
        while lines := self._reader.read(0, self._read, AT_ONCE):
            self._read += len(lines)
            for line in map(orjson.loads, lines):
                self._fold(line)

    def _fold(self, line: Mapping[str, Any]) -> None:
        if "frontier" in line:
            self._reach(reflected(line))
        elif "row" in line:
            row = tuple(line["row"].values())
            self._rows[row] += line["diff"]
            self.deltas += 1
            if not self._rows[row]:
                del self._rows[row]
        else:
            raise DemoFailed(f"a row could not be computed: {line}")

    def _reach(self, offsets: Mapping[str, int]) -> None:
        now = time.monotonic()
        self._offsets = offsets
        while self._steps:
            due, ends = self._steps[0]
            if any(offsets[topic] < end for topic, end in ends.items()):
                return
            self._steps.popleft()
            self.latencies.append(now - due)
