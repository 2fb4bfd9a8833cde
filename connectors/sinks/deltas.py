"""Deltas of views as lines of file topics, one topic per view.

Lines are as `connectors.sinks.json` makes them: deltas, and after those of a time its frontier
record. Change feeds read them, so every view has such a topic, whatever other sinks it has. Times
rise along a topic, also where one frontier record is for several. Of a time at which a view did not
change there is no line, or a frontier, as `connectors.sinks.frontiers` says.

What is older, or more, than retention keeps is compacted (`connectors.sinks.compaction`) or
deleted, beside the writer: that concerns closed segments alone.

Exactly once: a topic is cut to the end that the journal committed whenever it is opened. The
journal's commit says that a time is published everywhere, so this sink commits after all others:
once its lines are on the disk, where they go while those others commit.
"""

import shutil
import threading
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import orjson
import structlog

from connectors.files.layout import partition_directory
from connectors.files.retention import KEPT, Storage, beyond, remove
from connectors.files.writer import TopicWriter
from connectors.health import PartFault
from connectors.progress.journal import Journal
from connectors.sinks.compaction import finish, is_whole, is_worthwhile, write_snapshot
from connectors.sinks.frontiers import Frontiers
from connectors.sinks.json import delta_blocks, delta_lines, frontier_line
from connectors.sinks.sink import Changes, Output, Reached, Redefined

# Topics that are made durable at once: the filesystem writes them together.
SYNCING = 8

log = structlog.get_logger()


class DeltaSink:
    """Fulfils `connectors.sinks.sink.Sink`; safe to call from several threads.

    `published` has the committed end of every view's topic; `complete` is a time up to which these
    ends hold all deltas, whether a view has a frontier of it or not.
    """

    def __init__(
        self,
        root: Path,
        journal: Journal,
        prefix: str = "deltas.",
        progress_seconds: float = 0.0,
        storage: Storage = KEPT,
    ) -> None:
        """`root` holds the topics; view `v` is published on topic `prefix + v`.

        Between two frontiers of a view that does not change are `progress_seconds` at least.
        """
        self._root = root
        self._journal = journal
        self._prefix = prefix
        self._lock = threading.Lock()
        self._syncing = ThreadPoolExecutor(SYNCING, "sync")
        self._syncs: dict[str, Future[None]] = {}
        self._writers: dict[str, TopicWriter] = {}
        self._written: set[str] = set()
        self._durable: dict[str, int] = {}
        self._is_awaited = False
        self._frontiers = Frontiers(progress_seconds)
        self._storage = storage
        # Held while a view's closed segments are cleaned, so that they are not dropped meanwhile.
        self._pausing = threading.Lock()
        self._cleaning: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self.published: dict[str, int] = dict(journal.published)
        self.complete: Reached | None = None

    def topic(self, view: str) -> str:
        """The name of the topic of `view`."""
        return self._prefix + view

    def owns(self, topic: str) -> bool:
        """Whether `topic` is, or may become, the topic of a view."""
        return topic.startswith(self._prefix)

    def open(self, output: Output) -> None:
        """Publish a new view: its topic is empty."""
        self._frontiers.watch(output)
        self._open(output.name, 0)

    def restore(self, output: Output) -> None:
        """Go on after the committed end of a view's topic; lines beyond it are cut off.

        Raises TopicTruncated when the topic has less than that.
        """
        self._frontiers.watch(output)
        writer = self._open(output.name, self.published.get(output.name, 0))
        if (last := writer.last()) is not None:
            line = orjson.loads(last)
            line.pop("frontier", None)
            self._frontiers.recall(output.name, line)

    def has(self, view: str, time: int) -> bool:
        """Whether the deltas at `time` are committed."""
        return time <= self._journal.committed_time

    def write(self, view: str, changes: Changes, reached: Reached) -> None:
        """Append the deltas of `view` and the frontier record; not durable before `commit`.

        Where there are no deltas, the frontier may have to wait.
        """
        count = _count(changes)
        if count or self._frontiers.is_due(view, reached):
            self._append(view, _by_time(changes), count, reached)

    def _append(self, view: str, blocks: list[bytes], count: int, reached: Reached) -> None:
        """Append so many lines, and the frontier record."""
        frontier = frontier_line(reached.time, reached.offsets) + b"\n"
        with self._lock:
            self._writers[view].append_blocks([*blocks, frontier], count + 1)
            self._written.add(view)
        self._frontiers.note(view, reached)

    def skip(self, view: str, changes: Changes) -> None:
        """Do nothing: the deltas stand in the topic."""

    def expect(self, output: Output) -> None:
        """Lines of any columns follow one another."""

    def redefine(self, redefined: Redefined, reached: Reached) -> None:
        """Append the difference; the time that has it is waited for on the disk, once committed."""
        self._frontiers.watch(redefined.output)
        if not self.has(redefined.output.name, reached.time):
            blocks = [block for part in redefined.parts for block in delta_blocks(part)]
            count = sum(map(_count, redefined.parts))
            self._append(redefined.output.name, blocks, count, reached)
            self._is_awaited = True

    def prepare(self, reached: Reached) -> None:
        """Begin to make the written lines durable, beside what the other sinks do."""
        with self._lock:
            self._await_syncs()
            for view in self._written:
                self._syncs[view] = self._syncing.submit(self._writers[view].sync)
            self._durable |= {view: self._writers[view].end for view in self._written}
            self._written.clear()

    def commit(self, reached: Reached) -> None:
        """Tell the journal that all sinks have this time, and where the topics end.

        That is once the lines are durable (raises OSError).
        """
        self._await_syncs()
        ends, self._durable = self._durable, {}
        if ends or reached.time > self._journal.committed_time:
            self._journal.commit(reached.time, ends, sync=self._is_awaited)
            self._is_awaited = False
            self.published.update(ends)
        self.complete = reached

    def tend(self, reached: Reached) -> bool:
        """Append the frontiers that had to wait; the deltas up to `reached` are committed."""
        if self._written or self._durable or reached.time != self._journal.committed_time:
            return False  # it is not, or not all of it
        due = self._frontiers.due(self._writers, reached)
        if not due:
            return False
        try:
            for view in due:
                self._append(view, [], 0, reached)
            self.prepare(reached)
            self.commit(reached)
        except OSError as error:  # the next time tells them, if there is room for it
            log.warning("frontiers were not written", error=str(error))
        return True

    def faults(self) -> Sequence[PartFault]:
        """Files are there, or raise."""
        return ()

    def expect_answers(self) -> None:
        """Nobody is asked."""

    def drop(self, view: str) -> None:
        """Stop publishing `view`, if it is, and delete its topic, or its remains after a crash."""
        with self._cleaning[view], self._lock:
            writer = self._writers.pop(view, None)
            if (sync := self._syncs.pop(view, None)) is not None:
                wait([sync])
            if writer is not None:
                writer.close()
            self._written.discard(view)
            self._durable.pop(view, None)
        self._frontiers.forget(view)
        topic = self._root / self.topic(view)
        if topic.exists():
            shutil.rmtree(topic)
        self.published.pop(view, None)
        # At the end: while the journal knows the view, a restart finds the topic to delete.
        self._journal.drop_view(view)

    def clean(self) -> None:
        """Delete or compact what is beyond retention; on any thread, beside the writer.

        A disk that is full is logged: what could not be done is due the next time.
        """
        with self._lock:
            writers = dict(self._writers)
        for view, writer in writers.items():
            with self._pausing, self._cleaning[view]:
                if self._writers.get(view) is writer:
                    try:
                        self._clean(view, writer.directory)
                    except OSError as error:
                        log.warning("retention failed", view=view, error=str(error))

    def paused(self) -> threading.Lock:
        """A context in which nothing is cleaned: segments that are there stay."""
        return self._pausing

    def _clean(self, view: str, directory: Path) -> None:
        storage = self._storage
        segments = beyond(directory, storage.retention, self.published.get(view, 0))
        if not segments:
            return
        if storage.cleanup == "delete" or not is_whole(segments[0]):
            remove(segments)
        elif is_worthwhile(segments) and write_snapshot(segments) is not None:
            finish(directory)
        else:
            return
        done = {"view": view, "before": segments[-1].end, "bytes": sum(s.size for s in segments)}
        log.info("retention", cleanup=storage.cleanup, **done)

    def close(self) -> None:
        """Sync and release the files."""
        with self._lock:
            wait(self._syncs.values())
            for writer in self._writers.values():
                writer.close()
            self._writers.clear()
        self._syncing.shutdown()

    def _await_syncs(self) -> None:
        """Wait until what was prepared is durable; what is not, where that raises, is written."""
        syncs, self._syncs = self._syncs, {}
        wait(syncs.values())
        failures = {view: error for view, sync in syncs.items() if (error := sync.exception())}
        for view in failures:
            self._written.add(view)
            del self._durable[view]
        for error in failures.values():
            raise error

    def _open(self, view: str, end: int) -> TopicWriter:
        finish(partition_directory(self._root, self.topic(view), 0))
        segments = self._storage.segment_bytes, self._storage.segment_seconds
        writer = TopicWriter(self._root, self.topic(view), 0, *segments)
        writer.truncate(end)
        with self._lock:
            self._writers[view] = writer
        return writer


def _count(changes: Changes) -> int:
    """The number of deltas."""
    return len(changes.diffs) + len(changes.error_diffs)


def _by_time(changes: Changes) -> list[bytes]:
    """The lines of `changes`, those of rows and then those of errors, in the order of times."""
    times = np.concatenate((changes.times, changes.error_times))
    if (times[1:] >= times[:-1]).all():
        return delta_blocks(changes)
    lines = delta_lines(changes)
    return [lines[i] + b"\n" for i in np.argsort(times, kind="stable").tolist()]
