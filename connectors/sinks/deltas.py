"""Deltas of views as lines of file topics, one topic per view.

Lines are as `connectors.sinks.json` makes them: deltas, and after those of a time its frontier
record. Change feeds read them, so every view has such a topic, whatever other sinks it has. Times
rise along a topic, also where one frontier record is for several.

Exactly once: a topic is cut to the end that the journal committed whenever it is opened. The
journal's commit says that a time is published everywhere, so this sink commits after all others.
"""

import shutil
import threading
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np

from connectors.files.writer import TopicWriter
from connectors.progress.journal import Journal
from connectors.sinks.json import delta_lines, frontier_line
from connectors.sinks.sink import Changes, Output, Reached

# Topics that are made durable at once: the filesystem writes them together.
SYNCING = 8


class DeltaSink:
    """Fulfils `connectors.sinks.sink.Sink`; safe to call from several threads.

    `published` has the committed end of every view's topic.
    """

    def __init__(self, root: Path, journal: Journal, prefix: str = "deltas.") -> None:
        """`root` holds the topics; view `v` is published on topic `prefix + v`."""
        self._root = root
        self._journal = journal
        self._prefix = prefix
        self._lock = threading.Lock()
        self._syncing = ThreadPoolExecutor(SYNCING, "sync")
        self._writers: dict[str, TopicWriter] = {}
        self._written: set[str] = set()
        self._durable: dict[str, int] = {}
        self.published: dict[str, int] = dict(journal.published)

    def topic(self, view: str) -> str:
        """The name of the topic of `view`."""
        return self._prefix + view

    def owns(self, topic: str) -> bool:
        """Whether `topic` is, or may become, the topic of a view."""
        return topic.startswith(self._prefix)

    def open(self, output: Output) -> None:
        """Publish a new view: its topic is empty."""
        self._open(output.name, 0)

    def restore(self, output: Output) -> None:
        """Go on after the committed end of a view's topic; lines beyond it are cut off.

        Raises TopicTruncated when the topic has less than that.
        """
        self._open(output.name, self.published.get(output.name, 0))

    def has(self, view: str, time: int) -> bool:
        """Whether the deltas at `time` are committed."""
        return time <= self._journal.committed_time

    def write(self, view: str, changes: Changes, reached: Reached) -> None:
        """Append the deltas of `view` and the frontier record; not durable before `prepare`."""
        lines = _by_time(delta_lines(changes), changes)
        lines.append(frontier_line(reached.time, reached.offsets))
        with self._lock:
            self._writers[view].append(lines)
            self._written.add(view)

    def skip(self, view: str, changes: Changes) -> None:
        """Do nothing: the deltas stand in the topic."""

    def prepare(self, reached: Reached) -> None:
        """Make the written lines durable."""
        with self._lock:
            self._sync([self._writers[view] for view in self._written])
            self._durable |= {view: self._writers[view].end for view in self._written}
            self._written.clear()

    def commit(self, reached: Reached) -> None:
        """Tell the journal that all sinks have this time, and where the topics end."""
        ends, self._durable = self._durable, {}
        if ends or reached.time > self._journal.committed_time:
            self._journal.commit(reached.time, ends)
            self.published.update(ends)

    def tend(self) -> None:
        """Nothing is put off."""

    def drop(self, view: str) -> None:
        """Stop publishing `view`, if it is, and delete its topic, or its remains after a crash."""
        with self._lock:
            writer = self._writers.pop(view, None)
            if writer is not None:
                writer.close()
            self._written.discard(view)
            self._durable.pop(view, None)
        topic = self._root / self.topic(view)
        if topic.exists():
            shutil.rmtree(topic)
        self.published.pop(view, None)
        # At the end: while the journal knows the view, a restart finds the topic to delete.
        self._journal.drop_view(view)

    def close(self) -> None:
        """Sync and release the files."""
        with self._lock:
            for writer in self._writers.values():
                writer.close()
            self._writers.clear()
        self._syncing.shutdown()

    def _sync(self, writers: Collection[TopicWriter]) -> None:
        """Make their lines durable; none is being synced any more where that raises (OSError)."""
        syncing = [self._syncing.submit(writer.sync) for writer in writers]
        wait(syncing)
        for one in syncing:
            one.result()

    def _open(self, view: str, end: int) -> None:
        writer = TopicWriter(self._root, self.topic(view))
        writer.truncate(end)
        with self._lock:
            self._writers[view] = writer


def _by_time(lines: list[bytes], changes: Changes) -> list[bytes]:
    """The lines of `changes`, those of rows and then those of errors, in the order of times."""
    times = np.concatenate((changes.times, changes.error_times))
    if (times[1:] >= times[:-1]).all():
        return lines
    return [lines[i] for i in np.argsort(times, kind="stable").tolist()]
