"""The journal of progress: which logical time covers which input offsets, and what was published.

An append-only file of lines `crc32 json`, each on disk before the call that wrote it returns.
Times rise strictly, and within a table's life the ranges of a partition adjoin: replaying the
entries in order therefore feeds every record once, under the time that it had. A torn last line
is an append that never returned and is cut off; damage before it raises JournalCorrupt.
"""

import fcntl
import os
import threading
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from connectors.batches import Range
from connectors.errors import JournalCorrupt, JournalInUse, OffsetGap
from connectors.files.durable import append, cut, sync_directory


@dataclass(frozen=True, slots=True)
class Entry:
    """One logical time, the records that it covers, and the moment at which it was given.

    The moment is in microseconds since the epoch.
    """

    time: int
    ranges: tuple[Range, ...]
    moment: int


class Journal:
    """Open journal of one service; safe to call from several threads."""

    def __init__(self, path: Path) -> None:
        """Open or create the journal at `path`, whose directory exists.

        It is ours until `close` or the end of the process. Raises JournalCorrupt, JournalInUse.
        """
        self._path = path
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._born: dict[str, int] = {}
        self._epochs: dict[str, int] = {}
        self._positions: dict[tuple[str, int], int] = {}
        self._topics: dict[str, str] = {}
        self._published: dict[str, int] = {}
        self._failed: dict[str, str] = {}
        self._last_time = self._last_moment = 0
        self._committed_time = self._committed_moment = self._ticked_time = 0
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            self._reserve()
            sync_directory(path.parent)
            self._size = self._load()
        except Exception:
            os.close(self._file)
            raise

    @property
    def last_time(self) -> int:
        """The greatest time prepared (0: none)."""
        return self._last_time

    @property
    def committed_time(self) -> int:
        """The greatest time whose deltas are published (0: none)."""
        return self._committed_time

    @property
    def ticked_time(self) -> int:
        """The committed time if it has no ranges, and so is not replayed; else 0."""
        return self._ticked_time

    @property
    def committed_moment(self) -> int:
        """The moment at which the committed time was given (0: none)."""
        return self._committed_moment

    @property
    def published(self) -> Mapping[str, int]:
        """The end of every view's delta topic as of the last commit; nothing beyond it counts."""
        with self._lock:
            return dict(self._published)

    @property
    def failed(self) -> Mapping[str, str]:
        """Why each view that failed did; its delta topic ends there."""
        with self._lock:
            return dict(self._failed)

    @property
    def tables(self) -> Mapping[str, str]:
        """The topic of every table with a recorded range."""
        with self._lock:
            return dict(self._topics)

    def positions(self) -> Mapping[tuple[str, int], int]:
        """The offset after the last one prepared, by (table, partition)."""
        with self._lock:
            return dict(self._positions)

    def epoch(self, table: str) -> int:
        """How often `table` was dropped: tells the lives of a name apart."""
        with self._lock:
            return self._epochs.get(table, 0)

    def entries(self) -> Sequence[Entry]:
        """Every prepared time with ranges, in order, without those of tables dropped since."""
        with self._lock:
            born = self._born
            return [
                replace(e, ranges=tuple(r for r in e.ranges if e.time > born.get(r.table, 0)))
                for e in self._entries
            ]

    def prepare(self, time: int, ranges: Iterable[Range], moment: int) -> None:
        """Tie `time` to `ranges` and `moment`, durably, before it is applied (raises OffsetGap).

        A time without ranges says that it has become later, and no more.
        """
        entry = Entry(time, tuple(ranges), moment)
        with self._lock:
            assert time > self._last_time, "times rise"
            for r in entry.ranges:
                known = self._positions.get((r.table, r.partition))
                if known is not None and known != r.first:
                    raise OffsetGap(
                        f"table {r.table!r}, topic {r.topic!r}, partition {r.partition}: "
                        f"the next offset is {known}, the batch begins at {r.first}"
                    )
            listed = [astuple(r) for r in entry.ranges]
            self._append({"prepared": time, "ranges": listed, "moment": moment})

    def commit(self, time: int, published: Mapping[str, int]) -> None:
        """Say that all deltas up to `time` are durable, views' topics ending at `published`.

        `published` may name only the views that changed; the others keep their ends. Also called,
        with the present time, after the first deltas of a new view.
        """
        with self._lock:
            assert time <= self._last_time, "only a prepared time is committed"
            self._append({"committed": time, "views": dict(published)})

    def drop_table(self, table: str) -> None:
        """Forget the positions of `table`: its former ranges are never replayed."""
        with self._lock:
            self._append({"dropped_table": table, "time": self._last_time})

    def fail_view(self, view: str, reason: str) -> None:
        """Say that `view` publishes nothing more, until it is dropped."""
        with self._lock:
            self._append({"failed_view": view, "reason": reason})

    def drop_view(self, view: str) -> None:
        """Forget the published end of `view`, and whether it failed."""
        with self._lock:
            self._append({"dropped_view": view})

    def close(self) -> None:
        """Release the file."""
        os.close(self._file)

    def _reserve(self) -> None:
        """Keep a second service, or one that was thought dead, from appending beside this one."""
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalInUse(f"{self._path} is open in another process") from error

    def _append(self, record: dict[str, Any]) -> None:
        line = _line(record)
        append(self._file, self._size, line)
        self._size += len(line)
        self._apply(record)

    def _load(self) -> int:
        """Apply every whole line and return their length in bytes."""
        # Not by the path: closing another descriptor of the file would give the lock away.
        content = os.pread(self._file, os.fstat(self._file).st_size, 0)
        size = 0
        lines = content.splitlines(keepends=True)
        for number, line in enumerate(lines, start=1):
            record = _parse(line)
            if record is None:
                if number < len(lines):
                    raise JournalCorrupt(
                        f"{self._path}, line {number}: the checksum does not hold. Restore the "
                        "file, or remove it together with the delta topics to begin anew"
                    )
                cut(self._file, size)
                break
            self._apply(record)
            size += len(line)
        return size

    def _apply(self, record: dict[str, Any]) -> None:
        match record:
            case {"prepared": time, "ranges": ranges}:
                moment = record.get("moment", 0)  # a journal may begin before times had one
                entry = Entry(time, tuple(Range(*r) for r in ranges), moment)
                if entry.ranges:
                    self._entries.append(entry)
                self._last_time, self._last_moment = time, moment
                for r in entry.ranges:
                    self._positions[r.table, r.partition] = r.end
                    self._topics[r.table] = r.topic
            case {"committed": time, "views": views}:
                self._committed_time = max(time, self._committed_time)
                if time == self._last_time:
                    self._committed_moment = self._last_moment
                    covered = bool(self._entries) and self._entries[-1].time == time
                    self._ticked_time = 0 if covered else time
                self._published.update(views)
            case {"dropped_table": table, "time": time}:
                self._born[table] = time
                self._epochs[table] = self._epochs.get(table, 0) + 1
                self._topics.pop(table, None)
                for key in [k for k in self._positions if k[0] == table]:
                    del self._positions[key]
            case {"dropped_view": view}:
                self._published.pop(view, None)
                self._failed.pop(view, None)
            case {"failed_view": view, "reason": reason}:
                self._failed[view] = reason
            case _:
                raise JournalCorrupt(f"{self._path}: a record of unknown kind: {sorted(record)}")


def _line(record: dict[str, Any]) -> bytes:
    body = orjson.dumps(record)
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _parse(line: bytes) -> dict[str, Any] | None:
    """The record of one line, or None if it is torn or damaged."""
    checksum, _, body = line.partition(b" ")
    if not body.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(body[:-1]):
        return None
    record: dict[str, Any] = orjson.loads(body)
    return record
